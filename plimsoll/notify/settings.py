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
from collections.abc import Iterator
from datetime import time
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator, model_validator

from plimsoll.alerting.roster import SILENT_AFTER
from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.hosts.toml_file import decoded, parsed
from plimsoll.model import user_files
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.times import SECOND, Zone, duration_text, parse_duration
from plimsoll.native.private import check_private
from plimsoll.notify.quiet_hours import DAYS, Day, QuietHours, Window
from plimsoll.receive.exporters.scrape import Target
from plimsoll.receive.line_protocol.series_names import Bounds
from plimsoll.rules.grid import EVERY
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.schema.strict_yaml import suggest
from plimsoll.store.duck.store import DAYS as DAYS_KEPT
from plimsoll.store.duck.store import RAW_DAYS, SIZE_LIMIT
from plimsoll.store.victoriametrics.address import names_victoriametrics

FILE_NAME = "up.toml"
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(MB|GB|TB)")
_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, hide_input_in_errors=True)


def _duration(value: object) -> object:
    return parse_duration(value) if isinstance(value, str | int | float) else value


def _zone(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return Zone.parse(value)
    except Unusable as error:
        raise ValueError(str(error)) from None


def _size(value: object) -> object:
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("is not a size; write it like 20 GB")
    return round(float(match[1]) * _UNITS[match[2]])


def _clock(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
        return time.fromisoformat(value)
    if isinstance(value, time):
        return value
    raise ValueError("is not a time of the day; write it like 22:00")


def _network(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return ipaddress.ip_network(value)
    except ValueError:
        raise ValueError("is no address of a proxy; write 10.0.0.7, or 10.0.0.0/28") from None


Network = Annotated[ipaddress.IPv4Network | ipaddress.IPv6Network, BeforeValidator(_network)]
Duration = Annotated[int, BeforeValidator(_duration)]  # ns
Size = Annotated[int, BeforeValidator(_size)]  # bytes
Clock = Annotated[time, BeforeValidator(_clock)]
Name = Annotated[str, Field(min_length=1)]
ZoneField = Annotated[Zone, BeforeValidator(_zone)]
_UTC = Zone.parse("UTC")
_BOUNDS = Bounds()


def _check_http(address: str) -> None:
    if not re.match(r"https?://[^/\s]+", address):
        raise ValueError("is not an http:// or https:// address")


class QuietWindow(_Strict):
    """A part of certain days in which alerts are held back; a whole day by default."""

    days: tuple[Day, ...] = Field(default=DAYS, min_length=1)
    begin: Clock = Field(default=time(), alias="from")
    end: Clock = Field(default=time(), alias="to")


class QuietSettings(_Strict):
    """Quiet hours, and what is notified in them."""

    passes: Literal["critical", "nothing"] = "critical"
    hours: tuple[QuietWindow, ...] = ()


class TargetSettings(_Strict):
    """Somebody to notify. `url` is an address as apprise has them.

    `after` (ns): only of what nobody has acknowledged for so long. `quiet`: the target's own quiet hours.
    """

    url: SecretStr
    severities: tuple[Severity, ...] = Field(default=("critical", "warning"), min_length=1)
    hosts: tuple[Name, ...] = ()
    packs: tuple[Name, ...] = ()
    labels: dict[str, Name] = {}
    after: Duration = 0
    quiet: QuietSettings | None = None

    @property
    def wants(self) -> str:
        """Of what it is told, in words: `critical; hosts web*; after 15 min without an acknowledgement`."""
        labels = [f"{name} = {value}" for name, value in self.labels.items()]
        parts = [("hosts", self.hosts), ("packs", self.packs), ("labels", labels)]
        found = [", ".join(self.severities), *(f"{what} {', '.join(some)}" for what, some in parts if some)]
        if self.after:
            found.append(f"after {duration_text(self.after)} without an acknowledgement")
        return "; ".join(found)


class RosterSettings(_Strict):
    """The hosts that are expected even if they never sent, and when a host is silent."""

    hosts: tuple[str, ...] = ()
    silent_after: Duration = SILENT_AFTER

    @field_validator("silent_after")
    @classmethod
    def _long_enough(cls, silent_after: int) -> int:
        if silent_after < 30 * SECOND:
            raise ValueError("is shorter than 30s, within which samples are still on their way")
        return silent_after


class HeartbeatSettings(_Strict):
    """An address that is requested every minute while everything works."""

    url: SecretStr

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: SecretStr) -> SecretStr:
        _check_http(url.get_secret_value())
        return url


class StoreSettings(_Strict):
    """How long samples are kept: all of them, then one minute's minimum, maximum, mean and count; and how much.

    `address`: of the InfluxDB or VictoriaMetrics that keeps them in place of the data folder, by its own rules.
    """

    address: str | None = None
    raw_days: int = Field(default=RAW_DAYS, ge=1)
    days: int = Field(default=DAYS_KEPT, ge=1)
    size: Size = SIZE_LIMIT

    @field_validator("address")
    @classmethod
    def _is_http(cls, address: str | None) -> str | None:
        if address is not None and not names_victoriametrics(address):
            _check_http(address)
        return address


class ScrapeSettings(_Strict):
    """Exporters of Prometheus that are asked for their metrics: `app01:9100`, or an address of HTTP.

    `labels` are added to each metric; the label `host` names the host. `host_label`: the label of one of the metrics
    whose value names it. By default it is the name in the address.
    """

    targets: tuple[Name, ...] = Field(min_length=1)
    labels: dict[str, str] = {}
    interval: Duration = EVERY
    host_label: Name | None = None
    user: str = ""
    password: SecretStr | None = None
    token: SecretStr | None = None
    ca: Name | None = None

    @field_validator("targets")
    @classmethod
    def _are_addresses(cls, targets: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_scraped(target) for target in targets)

    @field_validator("interval")
    @classmethod
    def _on_the_grid(cls, interval: int) -> int:
        if interval < EVERY or interval % EVERY or interval > 300 * SECOND:
            raise ValueError("is no multiple of 10s up to 5m")
        return interval

    @model_validator(mode="after")
    def _is_clear(self) -> "ScrapeSettings":
        if "host" in self.labels and len(self.targets) > 1:
            raise ValueError("labels.host names one host, and there are several targets; give each its own [[scrape]]")
        if self.token and self.password:
            raise ValueError("has a token and a password; an exporter takes one of them")
        return self

    @property
    def asked(self) -> Iterator[Target]:
        """What is to be asked."""
        authorization = ""
        if self.token:
            authorization = f"Bearer {self.token.get_secret_value()}"
        elif self.password:
            pair = f"{self.user}:{self.password.get_secret_value()}".encode()
            authorization = f"Basic {b64encode(pair).decode()}"
        for url in self.targets:
            yield Target(url, self.interval, self.labels, self.host_label, authorization, self.ca)


def _scraped(target: str) -> str:
    """The address of a target, with the path that is usual where it has none."""
    url = target if "://" in target else f"http://{target}"
    try:
        parts = urlsplit(url)
        named = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        named = False
    if not named or "@" in url or re.search(r"\s", url):
        raise ValueError(f'"{target}" is no target; write it like app01:9100, or http://app01:9100/metrics')
    return url if urlsplit(url).path not in ("", "/") else f"{url.rstrip('/')}/metrics"


class LimitsSettings(_Strict):
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


class ProxySettings(_Strict):
    """A reverse proxy that people log in at, and that says in the header `user` who asks.

    It is at one of the `addresses`, and sends the `secret` as X-Plimsoll-Proxy. `role`: of people who are no users.
    """

    addresses: tuple[Network, ...] = Field(min_length=1)
    user: str = Field(pattern=r"^[A-Za-z0-9-]{1,100}$")
    secret: SecretStr = SecretStr("")
    role: Literal["viewer", "operator", "admin"] | None = None

    @field_validator("secret")
    @classmethod
    def _is_long(cls, secret: SecretStr) -> SecretStr:
        found = secret.get_secret_value()
        if found and not re.fullmatch(r"[\x21-\x7e]{20,200}", found):
            raise ValueError("has 20 to 200 characters, without spaces")
        return secret

    @model_validator(mode="after")
    def _needs_secret(self) -> Self:
        if any(one.is_loopback for one in self.addresses) and not self.secret.get_secret_value():
            raise ValueError("needs a secret: every program on this machine is at a loopback address")
        return self


class UpSettings(_Strict):
    """The contents of up.toml. Field names here are the names in the file."""

    zone: ZoneField = _UTC
    notify: dict[str, TargetSettings] = {}
    quiet: QuietSettings = QuietSettings()
    roster: RosterSettings = RosterSettings()
    heartbeat: HeartbeatSettings | None = None
    check: tuple[CheckSettings, ...] = ()
    store: StoreSettings = StoreSettings()
    limits: LimitsSettings = LimitsSettings()
    login: Literal["elsewhere", "always"] = "elsewhere"
    proxy: ProxySettings | None = None
    scrape: tuple[ScrapeSettings, ...] = ()

    @property
    def targets(self) -> tuple[Target, ...]:
        """The exporters that are asked for metrics."""
        return tuple(target for one in self.scrape for target in one.asked)

    @property
    def expected(self) -> tuple[str, ...]:
        """The hosts that are expected even if they never sent: those that are named, and those that are asked."""
        asked = (one.host for one in self.targets)
        return tuple(dict.fromkeys((*self.roster.hosts, *(one for one in asked if one))))

    @field_validator("check")
    @classmethod
    def _told_apart(cls, checks: tuple[CheckSettings, ...]) -> tuple[CheckSettings, ...]:
        titles = [one.title for one in checks]
        if twice := next((one for one in titles if titles.count(one) > 1), None):
            raise ValueError(f'two checks are named "{twice}"; give each a name')
        return checks

    @property
    def quiet_hours(self) -> QuietHours:
        """The quiet hours by the clock of the zone."""
        return self._hours(self.quiet)

    def quiet_hours_of(self, target: str) -> QuietHours:
        """Those of a target: its own if it has some."""
        own = self.notify[target].quiet
        return self._hours(self.quiet if own is None else own)

    def _hours(self, quiet: QuietSettings) -> QuietHours:
        windows = [Window(frozenset(one.days), one.begin, one.end) for one in quiet.hours]
        return QuietHours(self.zone, windows, quiet.passes == "critical")

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses and passwords, which no one may see."""
        found = [one.url for one in self.notify.values()] + ([self.heartbeat.url] if self.heartbeat else [])
        found += [secret for one in self.scrape for secret in (one.token, one.password) if secret]
        return tuple(one.get_secret_value() for one in found)


def load(folder: Path) -> UpSettings:
    """The settings of a data folder; the defaults if it has no up.toml.

    Unusable, naming the file and the setting, if it is invalid, or if others than its owner may have written it.
    """
    path = folder / FILE_NAME
    if not os.path.lexists(path):
        return UpSettings()
    _check_owner(path)
    found = parse(user_files.read(path), path)
    if found.addresses or (found.proxy and found.proxy.secret.get_secret_value()):
        _check_unreadable(path)
    return found


def parse(data: bytes, path: Path) -> UpSettings:
    """Parse the content of `path`. Unusable, naming the setting and never an address, if it is invalid."""
    return parsed(decoded(data, path), path, UpSettings, _unusual)


def _check_owner(path: Path) -> None:
    check_private(path.parent, option=Parameter.STORE)
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise Unusable(f"{path}: is not a regular file; put the file itself there")
    if sys.platform == "win32":
        return  # the user's application data are the user's alone
    if found.st_uid not in (os.geteuid(), 0):
        raise Unusable(f"{path}: belongs to another user, who could have addresses of theirs notified; chown it")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Unusable(f"{path}: others may write it, and have addresses of theirs notified: chmod 600 {path}")


def _check_unreadable(path: Path) -> None:
    """Unusable if others can read addresses, which hold passwords; the group may where the file is root's."""
    if sys.platform == "win32":
        return
    found = path.lstat()
    closed = stat.S_IROTH | (stat.S_IRGRP if found.st_uid == os.geteuid() else 0)
    if found.st_mode & closed:
        raise Unusable(f"{path}: others may read it, and it has passwords or tokens: chmod 600 {path}")


def _unusual(detail: Any) -> str | None:
    if detail["type"] == "extra_forbidden":
        return f": unknown setting{suggest(str(detail['loc'][-1]), _names())}"
    return " is missing" if detail["type"] == "missing" else None


def _names() -> list[str]:
    models = (UpSettings, TargetSettings, QuietSettings, QuietWindow, RosterSettings, HeartbeatSettings, StoreSettings)
    models = (*models, LimitsSettings, ScrapeSettings, CheckSettings, ProxySettings)
    return [field.alias or name for model in models for name, field in model.model_fields.items()]
