"""up.toml as a whole."""

from typing import Literal

from pydantic import Field, field_validator

from plimsoll.collect.checks.settings import CheckSettings
from plimsoll.model.times import Zone
from plimsoll.notify.quiet_hours import QuietHours, Window
from plimsoll.notify.settings.fields import Strict, ZoneField
from plimsoll.notify.settings.people import ProxySettings
from plimsoll.notify.settings.scraping import ScrapeSettings
from plimsoll.notify.settings.sections import (
    HeartbeatSettings,
    LimitsSettings,
    QuietSettings,
    RosterSettings,
    StoreSettings,
    TargetSettings,
)
from plimsoll.receive.exporters.scrape import Target

_UTC = Zone.parse("UTC")


class UpSettings(Strict):
    """The contents of up.toml. Field names here are the names in the file."""

    zone: ZoneField = _UTC
    notify: dict[str, TargetSettings] = Field(default={})
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
