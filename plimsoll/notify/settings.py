"""The settings of notifications in up.toml: the targets, the alerts for each, and quiet hours."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import time, timedelta
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from plimsoll.model.errors import Unusable
from plimsoll.model.times import Zone, format_duration, parse_duration
from plimsoll.rules.schema.field_types import Severity

FILE_NAME = "up.toml"
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
DAYS: tuple[Day, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def _parse_zone(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return Zone.parse(value)
    except Unusable as error:
        raise ValueError(str(error)) from None


def _parse_clock(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
        return time.fromisoformat(value)
    if isinstance(value, time):
        return value
    raise ValueError("is not a time of the day; write it like 22:00")


Duration = Annotated[
    int, BeforeValidator(lambda value: parse_duration(value) if isinstance(value, str | int | float) else value)
]  # ns
Name = Annotated[str, Field(min_length=1)]
Clock = Annotated[time, BeforeValidator(_parse_clock)]
ZoneName = Annotated[Zone, BeforeValidator(_parse_zone)]


class Strict(BaseModel):
    """The base of sections of up.toml; an unknown setting is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, hide_input_in_errors=True)


class QuietWindow(Strict):
    """A time of day, on some days of the week, in which alerts are held back; by default the whole day.

    The window begins on each of `days`, and ends on the next day if `end` is before `begin`. It is the whole day if
    `begin` and `end` are equal.
    """

    days: tuple[Day, ...] = Field(default=DAYS, min_length=1)
    begin: Clock = Field(default=time(), alias="from")
    end: Clock = Field(default=time(), alias="to")

    def covers(self, today: str, yesterday: str, clock: time) -> bool:
        """Return whether the time `clock` on the weekday `today` is in the window, which may have begun `yesterday`."""
        if self.begin < self.end:
            return today in self.days and self.begin <= clock < self.end
        if self.begin == self.end:
            return today in self.days
        return (today in self.days and clock >= self.begin) or (yesterday in self.days and clock < self.end)


class QuietSettings(Strict):
    """The quiet hours in up.toml, and the severity of alerts that targets are notified of even in quiet hours."""

    passes: Literal["critical", "nothing"] = "critical"
    hours: tuple[QuietWindow, ...] = ()


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Quiet hours, and the time zone of their times of day."""

    zone: Zone
    settings: QuietSettings = field(default_factory=QuietSettings)

    def hold(self, severity: Severity, at: int) -> bool:
        """Return whether an alert of this severity is held back at the time `at` (UTC ns)."""
        passes = severity == "critical" and self.settings.passes == "critical"
        moment = self.zone.local(at)
        today, yesterday = (DAYS[day.weekday()] for day in (moment, moment - timedelta(days=1)))
        return not passes and any(window.covers(today, yesterday, moment.time()) for window in self.settings.hours)


class TargetSettings(Strict):
    """The settings of a notification target. `url` is an address as apprise writes it.

    `after`: only alerts that nobody has acknowledged for this many ns are sent. `quiet`: the target's own quiet hours.
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
        """The alerts that a target gets, in words: `critical; hosts web*; after 15 min without an acknowledgement`."""
        labels = [f"{name} = {value}" for name, value in self.labels.items()]
        filters = [("hosts", self.hosts), ("packs", self.packs), ("labels", labels)]
        parts = [", ".join(self.severities), *(f"{name} {', '.join(values)}" for name, values in filters if values)]
        if self.after:
            parts.append(f"after {format_duration(self.after)} without an acknowledgement")
        return "; ".join(parts)


class NotifySettings(Strict):
    """The sections of up.toml on notifications."""

    zone: ZoneName = Zone.parse("UTC")
    notify: dict[str, TargetSettings] = Field(default={})
    quiet: QuietSettings = QuietSettings()

    @property
    def secrets(self) -> Sequence[SecretStr]:
        """All addresses and passwords of notifications, which must not be shown."""
        return [target.url for target in self.notify.values()]

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses and passwords of notifications in plain text, to be hidden elsewhere."""
        return tuple(secret.get_secret_value() for secret in self.secrets)
