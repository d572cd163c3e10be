"""up.toml: whom `plimsoll up` notifies and when, which hosts it expects, what it checks, how long it keeps samples.

It lies in the data folder and holds secrets: addresses with passwords and tokens. Only its owner may be able to write
it. docs/alerts.md is the reference.
"""

import ipaddress
import os
import re
import stat
import sys
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, field_validator, model_validator

from plimsoll.alerting.host_inventory import SILENT_AFTER
from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.model import user_files
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.private_folder import check_private
from plimsoll.model.strict_toml import decoded, parsed
from plimsoll.model.times import SECOND
from plimsoll.notify.settings import (
    FILE_NAME,
    Duration,
    Name,
    NotifySettings,
    Strict,
)
from plimsoll.receive.exporters.scrape import ScrapeTarget
from plimsoll.receive.line_protocol.series_names import Bounds
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.store.duck.duck_store import DAYS as DAYS_KEPT
from plimsoll.store.duck.duck_store import RAW_DAYS, SIZE_LIMIT
from plimsoll.store.victoriametrics.address import names_victoriametrics

RoleName = Literal["viewer", "operator", "admin"]
_BOUNDS = Bounds()
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(MB|GB|TB)")
_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


def _parse_size(value: object) -> object:
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("is not a size; write it like 20 GB")
    return round(float(match[1]) * _UNITS[match[2]])


def _parse_network(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return ipaddress.ip_network(value)
    except ValueError:
        raise ValueError("is no address of a proxy; write 10.0.0.7, or 10.0.0.0/28") from None


def _check_http(address: str) -> None:
    if not re.match(r"https?://[^/\s]+", address):
        raise ValueError("is not an http:// or https:// address")


_Size = Annotated[int, BeforeValidator(_parse_size)]  # bytes
_Network = Annotated[ipaddress.IPv4Network | ipaddress.IPv6Network, BeforeValidator(_parse_network)]
_Header = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$")]


class RosterSettings(Strict):
    """The hosts that are expected even if they never sent, and when a host is silent."""

    hosts: tuple[str, ...] = ()
    silent_after: Duration = SILENT_AFTER

    @field_validator("silent_after")
    @classmethod
    def _check_silent_after(cls, silent_after: int) -> int:
        if silent_after < 30 * SECOND:
            raise ValueError("is shorter than 30s, within which samples are still on their way")
        return silent_after


class HeartbeatSettings(Strict):
    """An address that is requested every minute while everything works."""

    url: SecretStr

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: SecretStr) -> SecretStr:
        _check_http(url.get_secret_value())
        return url


class StoreSettings(Strict):
    """How long samples are kept: all of them, then one minute's minimum, maximum, mean and count; and how much.

    `address`: of the InfluxDB or VictoriaMetrics that keeps them in place of the data folder, by its own rules.
    `runs`: the folder of runs that belongs to the VictoriaMetrics.
    """

    address: str | None = None
    runs: Name | None = None
    raw_days: int = Field(default=RAW_DAYS, ge=1)
    days: int = Field(default=DAYS_KEPT, ge=1)
    size: _Size = SIZE_LIMIT

    @field_validator("address")
    @classmethod
    def _check_address(cls, address: str | None) -> str | None:
        if address is not None and not names_victoriametrics(address):
            _check_http(address)
        return address


class LimitsSettings(Strict):
    """How many hosts are judged, how many series are taken, and how many of them from one address."""

    hosts: int = Field(default=_BOUNDS.hosts, ge=1)
    series: int = Field(default=_BOUNDS.series, ge=1)
    writer_hosts: int = Field(default=_BOUNDS.writer_hosts, ge=1)
    writer_series: int = Field(default=_BOUNDS.writer_series, ge=1)

    @property
    def bounds(self) -> Bounds:
        """The same for what is received; names may take more memory where there are more series."""
        names = max(_BOUNDS.names, self.series * _BOUNDS.names // _BOUNDS.series)
        return Bounds(self.series, self.hosts, self.writer_series, self.writer_hosts, names)


class ProxySettings(Strict):
    """A reverse proxy that people log in at, and that says in the header `user` who asks.

    It is at one of the `addresses`, and sends the `secret` as X-Plimsoll-Proxy. `roles` are by the values of the header
    `groups`, between which is `separator`; `role` is that of people who are no users and have none of these.
    """

    addresses: tuple[_Network, ...] = Field(min_length=1)
    user: _Header
    secret: SecretStr = SecretStr("")
    groups: _Header | None = None
    separator: Name = ","
    roles: dict[RoleName, tuple[Name, ...]] = Field(default={})
    role: RoleName | None = None

    @field_validator("secret")
    @classmethod
    def _check_secret(cls, secret: SecretStr) -> SecretStr:
        text = secret.get_secret_value()
        if text and not re.fullmatch(r"[\x21-\x7e]{20,200}", text):
            raise ValueError("has 20 to 200 characters, without spaces")
        return secret

    @model_validator(mode="after")
    def _check(self) -> Self:
        if any(address.is_loopback for address in self.addresses) and not self.secret.get_secret_value():
            raise ValueError("needs a secret: every program on this machine is at a loopback address")
        if bool(self.roles) != bool(self.groups):
            raise ValueError("groups names the header whose values roles has: both are needed, or none")
        return self


class ScrapeSettings(Strict):
    """Exporters of Prometheus that are asked for their metrics: `app01:9100`, or an address of HTTP.

    `labels` are added to each metric; the label `host` names the host. `host_label`: the label of one of the metrics
    whose value names it. By default it is the name in the address.
    """

    targets: tuple[Name, ...] = Field(min_length=1)
    labels: dict[str, str] = Field(default={})
    interval: Duration = EVALUATION_INTERVAL
    host_label: Name | None = None
    user: str = ""
    password: SecretStr | None = None
    token: SecretStr | None = None
    ca: Name | None = None

    @field_validator("targets")
    @classmethod
    def _check_targets(cls, targets: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(_scrape_address, targets))

    @field_validator("interval")
    @classmethod
    def _check_interval(cls, interval: int) -> int:
        if interval < EVALUATION_INTERVAL or interval % EVALUATION_INTERVAL or interval > 300 * SECOND:
            raise ValueError("is no multiple of 10s up to 5m")
        return interval

    @model_validator(mode="after")
    def _check(self) -> Self:
        if "host" in self.labels and len(self.targets) > 1:
            raise ValueError("labels.host names one host, and there are several targets; give each its own [[scrape]]")
        if self.token and self.password:
            raise ValueError("has a token and a password; an exporter takes one of them")
        return self

    def scrape_targets(self) -> Iterator[ScrapeTarget]:
        """Yield what is to be asked."""
        authorization = ""
        if self.token:
            authorization = f"Bearer {self.token.get_secret_value()}"
        elif self.password:
            pair = f"{self.user}:{self.password.get_secret_value()}".encode()
            authorization = f"Basic {b64encode(pair).decode()}"
        for url in self.targets:
            yield ScrapeTarget(url, self.interval, self.labels, self.host_label, authorization, self.ca)


def _scrape_address(target: str) -> str:
    """Return the address of a target, with the path that is usual where it has none."""
    url = target if "://" in target else f"http://{target}"
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or "@" in url or re.search(r"\s", url):
        raise ValueError(f'"{target}" is no target; write it like app01:9100, or http://app01:9100/metrics')
    return url if urlsplit(url).path not in ("", "/") else f"{url.rstrip('/')}/metrics"


class UpSettings(NotifySettings):
    """The contents of up.toml. Field names here are the names in the file."""

    roster: RosterSettings = RosterSettings()
    heartbeat: HeartbeatSettings | None = None
    check: tuple[CheckSettings, ...] = ()
    store: StoreSettings = StoreSettings()
    limits: LimitsSettings = LimitsSettings()
    login: Literal["elsewhere", "always"] = "elsewhere"
    proxy: ProxySettings | None = None
    scrape: tuple[ScrapeSettings, ...] = ()

    @property
    def targets(self) -> tuple[ScrapeTarget, ...]:
        """The exporters that are asked for metrics."""
        return tuple(target for section in self.scrape for target in section.scrape_targets())

    @property
    def expected(self) -> tuple[str, ...]:
        """The hosts that are expected even if they never sent: those that are named, and those that are asked."""
        return tuple(dict.fromkeys((*self.roster.hosts, *(target.host for target in self.targets if target.host))))

    @property
    def secrets(self) -> Sequence[SecretStr]:
        """All addresses and passwords, which nobody may see."""
        heartbeat = [self.heartbeat.url] if self.heartbeat else []
        exporters = [secret for section in self.scrape for secret in (section.token, section.password) if secret]
        return [*super().secrets, *heartbeat, *exporters]

    @field_validator("check")
    @classmethod
    def _check_titles(cls, checks: tuple[CheckSettings, ...]) -> tuple[CheckSettings, ...]:
        titles = [check.title for check in checks]
        if twice := next((title for title in titles if titles.count(title) > 1), None):
            raise ValueError(f'two checks are named "{twice}"; give each a name')
        return checks


def load(folder: Path) -> UpSettings:
    """Read the settings of a data folder; the defaults if it has no up.toml.

    Unusable, naming the file and the setting, if it is invalid, or if others than its owner may have written it.
    """
    path = folder / FILE_NAME
    if not os.path.lexists(path):
        return UpSettings()
    _check_owner(path)
    settings = parse(user_files.read(path), path)
    if settings.addresses or (settings.proxy and settings.proxy.secret.get_secret_value()):
        _check_unreadable(path)
    return settings


def parse(data: bytes, path: Path) -> UpSettings:
    """Parse the content of `path`. Unusable, naming the setting and never an address, if it is invalid."""
    return parsed(decoded(data, path), path, UpSettings)


def _check_owner(path: Path) -> None:
    check_private(path.parent, option=Parameter.STORE)
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise Unusable(f"{path}: is not a regular file; put the file itself there")
    if sys.platform == "win32":
        return  # the user's application data are the user's alone
    if status.st_uid not in (os.geteuid(), 0):
        raise Unusable(f"{path}: belongs to another user, who could have addresses of theirs notified; chown it")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Unusable(f"{path}: others may write it, and have addresses of theirs notified: chmod 600 {path}")


def _check_unreadable(path: Path) -> None:
    """Unusable if others can read addresses, which hold passwords; the group may where the file is root's."""
    if sys.platform == "win32":
        return
    status = path.lstat()
    closed = stat.S_IROTH | (stat.S_IRGRP if status.st_uid == os.geteuid() else 0)
    if status.st_mode & closed:
        raise Unusable(f"{path}: others may read it, and it has passwords or tokens: chmod 600 {path}")
