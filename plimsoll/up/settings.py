"""The settings of `plimsoll up` in up.toml: notifications, expected hosts, checks, and how long samples are kept.

The file is in the data folder, and contains secrets: addresses with passwords and tokens. Only its owner may be able to
write it. docs/alerts.md is the reference.
"""

import ipaddress
import os
import re
import stat
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, field_validator, model_validator

from plimsoll.alerting.host_inventory import SILENT_AFTER
from plimsoll.alerting.maintenance import Maintenance
from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.model import user_files
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.private_folder import check_private
from plimsoll.model.strict_toml import decode_text, parse_toml
from plimsoll.model.times import SECOND, Zone
from plimsoll.notify import target_overlay
from plimsoll.notify.settings import DAYS, FILE_NAME, Clock, Day, Duration, Name, NotifySettings, Strict, ZoneName
from plimsoll.receive.exporters.scrape import ScrapeTarget
from plimsoll.receive.line_protocol.series_names import Bounds
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.store.duck.duck_store import DAYS as DAYS_KEPT
from plimsoll.store.duck.duck_store import RAW_DAYS, SIZE_LIMIT
from plimsoll.store.victoriametrics.address import is_victoriametrics

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


def _require(is_valid: Callable[[Any], object], why: str) -> AfterValidator:
    """Return a pydantic validator that refuses values for which `is_valid` is false, with the reason `why`."""

    def check(value: Any) -> Any:
        if not is_valid(value):
            raise ValueError(why)
        return value

    return AfterValidator(check)


def _is_http(address: str) -> object:
    return re.match(r"https?://[^/\s]+", address)


def _parse_scrape_address(target: str) -> str:
    """Return the URL of a scrape target, with the usual path if the target has none."""
    url = target if "://" in target else f"http://{target}"
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or "@" in url or re.search(r"\s", url):
        raise ValueError(f'"{target}" is no target; write it like app01:9100, or http://app01:9100/metrics')
    return url if urlsplit(url).path not in ("", "/") else f"{url.rstrip('/')}/metrics"


_NO_HTTP = "is not an http:// or https:// address"
_Size = Annotated[int, BeforeValidator(_parse_size)]  # bytes
_Network = Annotated[ipaddress.IPv4Network | ipaddress.IPv6Network, BeforeValidator(_parse_network)]
_Header = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$")]


class RosterSettings(Strict):
    """The hosts that are expected even if they never sent samples, and after what time a host counts as silent."""

    hosts: tuple[str, ...] = ()
    silent_after: Annotated[
        Duration,
        _require(
            lambda length: length >= 30 * SECOND, "is shorter than 30s, within which samples are still on their way"
        ),
    ] = SILENT_AFTER


class HeartbeatSettings(Strict):
    """An address that is requested every minute while `plimsoll up` works, so that an outside service can watch it."""

    url: Annotated[SecretStr, _require(lambda url: _is_http(url.get_secret_value()), _NO_HTTP)]


class StoreSettings(Strict):
    """Where samples are stored, and how long.

    Samples are kept unchanged for `raw_days`, then as minutes until they are `days` old; the oldest days are dropped
    earlier if the store exceeds `size`. `address` names an InfluxDB or VictoriaMetrics that stores samples instead,
    with its own retention; `runs` is the folder of runs beside a VictoriaMetrics.
    """

    address: Annotated[
        str | None, _require(lambda text: text is None or is_victoriametrics(text) or _is_http(text), _NO_HTTP)
    ] = None
    runs: Name | None = None
    raw_days: int = Field(default=RAW_DAYS, ge=1)
    days: int = Field(default=DAYS_KEPT, ge=1)
    size: _Size = SIZE_LIMIT


class LimitsSettings(Strict):
    """How many hosts are judged, and how many series are accepted in all and from one address."""

    hosts: int = Field(default=_BOUNDS.hosts, ge=1)
    series: int = Field(default=_BOUNDS.series, ge=1)
    writer_hosts: int = Field(default=_BOUNDS.writer_hosts, ge=1)
    writer_series: int = Field(default=_BOUNDS.writer_series, ge=1)

    @property
    def bounds(self) -> Bounds:
        """The bounds on received series, hosts and names; the bound on names grows with the number of series."""
        names = max(_BOUNDS.names, self.series * _BOUNDS.names // _BOUNDS.series)
        return Bounds(self.series, self.hosts, self.writer_series, self.writer_hosts, names)


class ProxySettings(Strict):
    """A reverse proxy at which people log in, and which sends their name in the header `user`.

    The proxy has one of the `addresses`, and sends `secret` in the header X-Plimsoll-Proxy. The header `groups` lists a
    person's groups, divided by `separator`. `roles` maps each role to its groups; `role` is the role of people in none
    of these groups.
    """

    addresses: tuple[_Network, ...] = Field(min_length=1)
    user: _Header
    secret: Annotated[
        SecretStr,
        _require(
            lambda secret: re.fullmatch(r"(?:[\x21-\x7e]{20,200})?", secret.get_secret_value()),
            "has 20 to 200 characters, without spaces",
        ),
    ] = SecretStr("")
    groups: _Header | None = None
    separator: Name = ","
    roles: dict[RoleName, tuple[Name, ...]] = Field(default={})
    role: RoleName | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if any(address.is_loopback for address in self.addresses) and not self.secret.get_secret_value():
            raise ValueError("needs a secret: every program on this machine is at a loopback address")
        if bool(self.roles) != bool(self.groups):
            raise ValueError("groups names the header whose values roles has: both are needed, or none")
        return self


class ScrapeSettings(Strict):
    """Prometheus exporters to scrape: `app01:9100`, or a URL.

    `labels` are added to each metric. The host of a metric is the label `host` in `labels`; without it, the metric's
    label `host_label`; without that, the host in the exporter's address.
    """

    targets: tuple[Annotated[Name, AfterValidator(_parse_scrape_address)], ...] = Field(min_length=1)
    labels: dict[str, str] = Field(default={})
    interval: Annotated[
        Duration,
        _require(
            lambda length: length in range(EVALUATION_INTERVAL, 300 * SECOND + 1, EVALUATION_INTERVAL),
            "is no multiple of 10s up to 5m",
        ),
    ] = EVALUATION_INTERVAL
    host_label: Name | None = None
    user: str = ""
    password: SecretStr | None = None
    token: SecretStr | None = None
    ca: Name | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if "host" in self.labels and len(self.targets) > 1:
            raise ValueError("labels.host names one host, and there are several targets; give each its own [[scrape]]")
        if self.token and self.password:
            raise ValueError("has a token and a password; an exporter takes one of them")
        return self

    def scrape_targets(self) -> Iterator[ScrapeTarget]:
        """Yield the targets of this section."""
        authorization = ""
        if self.token:
            authorization = f"Bearer {self.token.get_secret_value()}"
        elif self.password:
            pair = f"{self.user}:{self.password.get_secret_value()}".encode()
            authorization = f"Basic {b64encode(pair).decode()}"
        for url in self.targets:
            yield ScrapeTarget(url, self.interval, self.labels, self.host_label, authorization, self.ca)


class MaintenanceSettings(Strict):
    """Recurring maintenance: at certain times of day, on days of the week or dates of the month.

    `weeks` limits `days` to, for example, the first and third such day of a month.
    """

    reason: Name
    begin: Clock = Field(alias="from")
    end: Clock = Field(alias="to")
    days: tuple[Day, ...] = Field(default=DAYS, min_length=1)
    weeks: tuple[Annotated[int, Field(ge=1, le=5)], ...] = ()
    dates: tuple[Annotated[int, Field(ge=1, le=31)], ...] = ()
    until: date | None = None
    zone: ZoneName | None = None
    rule: Name = "*"
    host: Name = "*"
    labels: dict[str, Name] = Field(default={})

    @model_validator(mode="after")
    def _check_days(self) -> Self:
        if self.dates and (self.weeks or self.days != DAYS):
            raise ValueError("dates are days of the month: give them, or days (and weeks)")
        return self

    def plan(self, zone: Zone) -> Maintenance:
        """Return the maintenance; `zone` is the time zone if these settings name none."""
        fields = {name: getattr(self, name) for name in type(self).model_fields if name != "zone"}
        return Maintenance(zone=self.zone or zone, **fields)


class UpSettings(NotifySettings):
    """The settings in up.toml; the field names are the names in the file."""

    roster: RosterSettings = RosterSettings()
    heartbeat: HeartbeatSettings | None = None
    check: tuple[CheckSettings, ...] = ()
    store: StoreSettings = StoreSettings()
    limits: LimitsSettings = LimitsSettings()
    login: Literal["elsewhere", "always"] = "elsewhere"
    proxy: ProxySettings | None = None
    scrape: tuple[ScrapeSettings, ...] = ()
    maintenance: tuple[MaintenanceSettings, ...] = ()

    @property
    def plans(self) -> tuple[Maintenance, ...]:
        """The recurring maintenance, with its time zones."""
        return tuple(settings.plan(self.zone) for settings in self.maintenance)

    @property
    def targets(self) -> tuple[ScrapeTarget, ...]:
        """The exporters to scrape."""
        return tuple(target for section in self.scrape for target in section.scrape_targets())

    @property
    def expected(self) -> tuple[str, ...]:
        """The hosts that are expected even if they never sent samples: hosts listed in up.toml, and scraped hosts."""
        return tuple(dict.fromkeys((*self.roster.hosts, *(target.host for target in self.targets if target.host))))

    @property
    def secrets(self) -> Sequence[SecretStr]:
        """All notification addresses and passwords; they must not be shown."""
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
    """Return the settings of a data folder, with the targets that were added on a page; defaults without up.toml.

    Raise Unusable, naming file and setting, if up.toml is invalid; also if anybody but its owner can write it, or can
    read it although it has secrets. The group may read a file that root owns.
    """
    if os.path.lexists(folder / target_overlay.FILE_NAME):
        _check_owner(folder / target_overlay.FILE_NAME)
    settings = _load_file(folder / FILE_NAME)
    return settings.model_copy(update={"notify": {**target_overlay.load_added(folder), **settings.notify}})


def _load_file(path: Path) -> UpSettings:
    if not os.path.lexists(path):
        return UpSettings()
    _check_owner(path)
    settings = parse(user_files.read(path), path)
    if sys.platform != "win32" and (
        settings.addresses or (settings.proxy and settings.proxy.secret.get_secret_value())
    ):
        status = path.lstat()
        if status.st_mode & (stat.S_IROTH | (stat.S_IRGRP if status.st_uid == os.geteuid() else 0)):
            raise Unusable(f"{path}: others may read it, and it has passwords or tokens: chmod 600 {path}")
    return settings


def parse(data: bytes, path: Path) -> UpSettings:
    """Parse up.toml. If it is invalid, raise Unusable with the name of the setting, but never with an address."""
    return parse_toml(decode_text(data, path), path, UpSettings)


def _check_owner(path: Path) -> None:
    check_private(path.parent, option=Parameter.STORE)
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise Unusable(f"{path}: is not a regular file; put the file itself there")
    if sys.platform == "win32":
        return  # on Windows, only the user can access their application data
    if status.st_uid not in (os.geteuid(), 0):
        raise Unusable(f"{path}: belongs to another user, who could have addresses of theirs notified; chown it")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Unusable(f"{path}: others may write it, and have addresses of theirs notified: chmod 600 {path}")
