"""The sections of up.toml, but those of exporters and of checks."""

from datetime import time
from typing import Literal

from pydantic import Field, SecretStr, field_validator

from plimsoll.alerting.host_inventory import SILENT_AFTER
from plimsoll.model.times import SECOND, duration_text
from plimsoll.notify.quiet_hours import DAYS, Day
from plimsoll.notify.settings.fields import Clock, Duration, Name, Size, Strict, check_http
from plimsoll.receive.line_protocol.series_names import Bounds
from plimsoll.rules.schema.field_types import Severity
from plimsoll.store.duck.store import DAYS as DAYS_KEPT
from plimsoll.store.duck.store import RAW_DAYS, SIZE_LIMIT
from plimsoll.store.victoriametrics.address import names_victoriametrics

_BOUNDS = Bounds()


class QuietWindow(Strict):
    """A part of certain days in which alerts are held back; a whole day by default."""

    days: tuple[Day, ...] = Field(default=DAYS, min_length=1)
    begin: Clock = Field(default=time(), alias="from")
    end: Clock = Field(default=time(), alias="to")


class QuietSettings(Strict):
    """Quiet hours, and what is notified in them."""

    passes: Literal["critical", "nothing"] = "critical"
    hours: tuple[QuietWindow, ...] = ()


class TargetSettings(Strict):
    """Somebody to notify. `url` is an address as apprise has them.

    `after` (ns): only of what nobody has acknowledged for so long. `quiet`: the target's own quiet hours.
    """

    url: SecretStr
    severities: tuple[Severity, ...] = Field(default=("critical", "warning"), min_length=1)
    hosts: tuple[Name, ...] = ()
    packs: tuple[Name, ...] = ()
    labels: dict[str, Name] = Field(default={})
    after: Duration = 0
    quiet: QuietSettings | None = None

    @property
    def wants(self) -> str:
        """Which alerts it is notified of, in words: `critical; hosts web*; after 15 min without an acknowledgement`."""
        labels = [f"{name} = {value}" for name, value in self.labels.items()]
        parts = [("hosts", self.hosts), ("packs", self.packs), ("labels", labels)]
        found = [", ".join(self.severities), *(f"{what} {', '.join(some)}" for what, some in parts if some)]
        if self.after:
            found.append(f"after {duration_text(self.after)} without an acknowledgement")
        return "; ".join(found)


class RosterSettings(Strict):
    """The hosts that are expected even if they never sent, and when a host is silent."""

    hosts: tuple[str, ...] = ()
    silent_after: Duration = SILENT_AFTER

    @field_validator("silent_after")
    @classmethod
    def _long_enough(cls, silent_after: int) -> int:
        if silent_after < 30 * SECOND:
            raise ValueError("is shorter than 30s, within which samples are still on their way")
        return silent_after


class HeartbeatSettings(Strict):
    """An address that is requested every minute while everything works."""

    url: SecretStr

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: SecretStr) -> SecretStr:
        check_http(url.get_secret_value())
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
    size: Size = SIZE_LIMIT

    @field_validator("address")
    @classmethod
    def _is_http(cls, address: str | None) -> str | None:
        if address is not None and not names_victoriametrics(address):
            check_http(address)
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
