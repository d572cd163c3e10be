"""The settings of `[[check]]` in up.toml."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from plimsoll.model.times import SECOND, parse_duration

KINDS = ("service", "process", "ping", "tcp", "http", "certificate")
_LONGEST = 9 * SECOND  # less than the 10 s between two runs
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*")
_SERVICE = re.compile(r"[^\s/\\-][^/\\]*")
_URL = re.compile(r"https?://[^/\s@]+(/\S*)?")


def _require_match(pattern: re.Pattern[str], meaning: str) -> Callable[[object], object]:
    def check(value: object) -> object:
        if isinstance(value, str) and not pattern.fullmatch(value):
            raise ValueError(f"is not {meaning}")
        return value

    return check


def _check_address(value: object) -> object:
    if isinstance(value, str):
        host, colon, port = value.rpartition(":")
        if not colon or not _HOST.fullmatch(host.strip("[]")) or not port.isdecimal() or not 0 < int(port) < 65536:
            raise ValueError("is not a name and a port; write it like db.example.org:5432")
    return value


def _parse_duration(value: object) -> object:
    return parse_duration(value) if isinstance(value, str | int | float) else value


Address = Annotated[str, BeforeValidator(_check_address)]


class CheckSettings(BaseModel):
    """The settings of one check, of which exactly one kind (`service`, `process`, `ping` and so on) is set.

    `timeout` is in ns. For the kind `http`, `status` and `contains` are the status and text that the answer must have.
    `ca` is a file of certificates to trust besides the system's certificates.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field(default="", max_length=100)
    service: Annotated[str, BeforeValidator(_require_match(_SERVICE, "the name of a service"))] | None = None
    process: Annotated[str, Field(min_length=1)] | None = None
    ping: Annotated[str, BeforeValidator(_require_match(_HOST, "a name or an address"))] | None = None
    tcp: Address | None = None
    http: (
        Annotated[str, BeforeValidator(_require_match(_URL, "an http:// or https:// address without a password"))]
        | None
    ) = None
    certificate: Address | None = None
    status: int | None = Field(default=None, ge=100, le=599)
    contains: str | None = Field(default=None, min_length=1)
    timeout: Annotated[int, BeforeValidator(_parse_duration)] = 5 * SECOND
    ca: Path | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> "CheckSettings":
        if sum(getattr(self, kind) is not None for kind in KINDS) != 1:
            raise ValueError(f"a check is exactly one of {', '.join(KINDS)}")
        if self.http is None and (self.status is not None or self.contains is not None):
            raise ValueError("status and contains are for http")
        if not SECOND <= self.timeout <= _LONGEST:
            raise ValueError("timeout is 1s to 9s")
        return self

    @property
    def kind(self) -> str:
        """The kind of the check, such as `service`."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def target(self) -> str:
        """The target of the check: the name of the service or process, or the address."""
        return str(getattr(self, self.kind))

    @property
    def title(self) -> str:
        """The name of the check for users, by default its target."""
        return self.name or self.target

    @property
    def timeout_s(self) -> float:
        """The timeout in seconds."""
        return self.timeout / SECOND
