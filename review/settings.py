"""plimsoll.toml: what is known of a run and its hosts beside the logs."""

import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from model.errors import Unusable
from model.run import Phase, Run
from model.times import instant
from review.facts import GivenFacts
from rules.source import suggest

FILE_NAME = "plimsoll.toml"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _aware(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError("has no offset; write it like 2008-01-15T10:02:00+01:00")
    return value


Moment = Annotated[datetime, BeforeValidator(_aware)]


class PhaseSettings(_Strict):
    """A phase of the run; both ends belong to it."""

    name: str
    start: Moment = Field(alias="from")
    end: Moment = Field(alias="to")

    @model_validator(mode="after")
    def _ordered(self) -> "PhaseSettings":
        if self.end < self.start:
            raise ValueError(f'phase "{self.name}" ends before it begins')
        return self


class RunSettings(_Strict):
    """The `[run]` table."""

    name: str | None = None
    simulated: bool = False
    labels: dict[str, str] = {}
    phases: tuple[PhaseSettings, ...] = ()


class InstanceFacts(_Strict):
    """Facts of one instance of a host."""

    spindles: float | None = Field(default=None, gt=0)
    link_bits: float | None = Field(default=None, gt=0)


class HostFacts(InstanceFacts):
    """Facts of a host, and of its instances where they differ."""

    processors: float | None = Field(default=None, gt=0)
    clock_mhz: float | None = Field(default=None, gt=0)
    memory_mb: float | None = Field(default=None, gt=0)
    instances: dict[str, InstanceFacts] = {}


class Settings(_Strict):
    """plimsoll.toml as a whole."""

    run: RunSettings = RunSettings()
    hosts: dict[str, HostFacts] = {}

    def described_run(self) -> Run:
        """The run as the other rooms know it."""
        phases = tuple(Phase(p.name, instant(p.start), instant(p.end)) for p in self.run.phases)
        return Run(self.run.name, dict(self.run.labels), phases, self.run.simulated)

    def facts(self) -> GivenFacts:
        """The facts by case-folded host and instance."""
        given: dict[tuple[str, str | None], Mapping[str, float]] = {}
        for host, facts in self.hosts.items():
            given[host.casefold(), None] = _numbers(facts)
            for instance, own in facts.instances.items():
                given[host.casefold(), instance] = _numbers(own)
        return given


def find(logs: Sequence[Path], named: Path | None) -> Path | None:
    """The settings file to use: the one named, else the one beside the logs."""
    if named is not None:
        return named
    beside = {log.parent / FILE_NAME for log in logs}
    return next(iter(beside)) if len(beside) == 1 and next(iter(beside)).is_file() else None


def load(path: Path) -> Settings:
    """Read plimsoll.toml. Unusable, naming the file and the setting, if it is not right."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unusable(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Unusable(f"{path}: not valid TOML: {error}") from None
    try:
        return Settings.model_validate(data)
    except ValidationError as error:
        raise Unusable("\n".join(_explain(path, detail) for detail in error.errors())) from None


def _numbers(facts: BaseModel) -> dict[str, float]:
    return {name: value for name, value in facts.model_dump().items() if isinstance(value, float)}


def _explain(path: Path, detail: Any) -> str:
    place = ".".join(str(part + 1) if isinstance(part, int) else part for part in detail["loc"])
    if detail["type"] == "extra_forbidden":
        known = ["run", "hosts", "name", "simulated", "labels", "phases", "from", "to", "processors", "clock_mhz"]
        known += ["memory_mb", "spindles", "link_bits", "instances"]
        return f"{path}: {place}: unknown setting{suggest(str(detail['loc'][-1]), known)}"
    message = str(detail["ctx"]["error"]) if detail["type"] == "value_error" else detail["msg"]
    return f"{path}: {place}: {message[:1].lower()}{message[1:]}"
