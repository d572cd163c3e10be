"""Instants (int64 ns since 1970-01-01 UTC), durations and zones. Output for people uses the zone of the log."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, reset_tzpath

from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_dataclass import dataclass

# Rules come from the package tzdata, equal on every machine: a system's own may be years old.
reset_tzpath(())
SECOND = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_OFFSET = re.compile(r"([+-])(\d{1,2}):?([0-5]\d)")
_LONGEST_S = 100 * 365.25 * 86_400


def parse_duration(text: str | float) -> int:
    """Parse `1m`, `90s`, `1h30m` or a number of seconds to nanoseconds. Raise ValueError if invalid or too long."""
    if isinstance(text, int | float):
        return _convert_to_nanoseconds(text, str(text))
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f'"{text}" is not a duration; write it like 30s, 5m or 1h30m')
    return _convert_to_nanoseconds(sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts), text)


def _convert_to_nanoseconds(seconds: float, text: str) -> int:
    if not abs(seconds) <= _LONGEST_S:  # NaN neither
        raise ValueError(f'"{text[:40]}" is too long: at most 100 years')
    return round(seconds * SECOND)


def format_duration(duration: float) -> str:
    """Return a duration (ns) for people: `41 min`, `1 h 24 min`, `30 s`."""
    seconds = duration / SECOND
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    first = next(i for i, (n, _) in enumerate(parts) if n)
    return " ".join(f"{n} {unit}" for n, unit in parts[first : first + 2] if n)


def convert_to_instant(moment: datetime) -> int:
    """Return the instant (UTC ns) of an aware datetime."""
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def convert_to_datetime(nanoseconds: int) -> datetime:
    """Return an instant as an aware datetime in UTC, cut to microseconds."""
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def format_iso(nanoseconds: int) -> str:
    """Return an instant as ISO 8601 in UTC with milliseconds, for other programs."""
    return convert_to_datetime(nanoseconds).strftime("%Y-%m-%dT%H:%M:%S.") + f"{nanoseconds // 1_000_000 % 1000:03}Z"


def format_offset(minutes: int) -> str:
    """Return an offset (minutes ahead of UTC) in the form that `Zone.parse` reads: `+05:30`, `-04:00`."""
    hours, minutes_left = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{minutes_left:02}"


@dataclass(frozen=True)
class Zone:
    """The time zone of a log: a name for people, and the rule for converting to UTC.

    `is_specified` is False if neither the log nor the user gives the zone. Times are then shown as recorded, and
    treated as UTC.
    """

    name: str
    rule: tzinfo
    is_specified: bool = True

    @classmethod
    def from_bias(cls, name: str, bias_minutes: int) -> "Zone":
        """Return the zone of a Perfmon header: UTC = local + bias. The name is only for display."""
        return cls(name, timezone(timedelta(minutes=-bias_minutes)))

    @classmethod
    def unknown(cls) -> "Zone":
        """Return the zone of a log that does not give one."""
        return cls("the log's own time, zone not recorded", UTC, is_specified=False)

    @classmethod
    def parse(cls, text: str) -> "Zone":
        """Parse `Europe/Berlin`, `UTC`, `Z` or `+01:00`. Raise Unusable for any other text."""
        if text.upper() in ("UTC", "Z"):
            text = "UTC"
        if match := _OFFSET.fullmatch(text):
            sign, hours, minutes = match.groups()
            offset = timedelta(hours=int(hours), minutes=int(minutes))
            if offset < timedelta(hours=24):
                return cls(text, timezone(-offset if sign == "-" else offset))
        try:
            if text.casefold() == "factory":  # "local time zone must be set"
                raise ZoneInfoNotFoundError(text)
            return cls(text, ZoneInfo(text))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise Unusable(
                f'zone "{text}" is not known: give a name such as Europe/Berlin, or an offset such as +01:00'
            ) from None

    def local(self, nanoseconds: int) -> datetime:
        """Return an instant on this zone's clock."""
        return convert_to_datetime(nanoseconds).astimezone(self.rule)

    def clock(self, nanoseconds: int, *, date: bool = True) -> str:
        """Return an instant on this zone's clock, to the second, for people."""
        return self.local(nanoseconds).strftime("%Y-%m-%d %H:%M:%S" if date else "%H:%M:%S")

    def span(self, start: int, end: int) -> str:
        """Return a range on this zone's clock: `2008-01-15 10:22:00–12:32:00`, with both dates if they differ.

        If the clock was changed in between, the offset at the end follows: `01:00:00–02:59:45 UTC+0100`.
        """
        first, last = self.local(start), self.local(end)
        offset = last.strftime(" UTC%z") if first.utcoffset() != last.utcoffset() else ""
        return f"{self.clock(start)}–{self.clock(end, date=first.date() != last.date())}{offset}"

    def label(self, nanoseconds: int) -> str:
        """Return the label of the zone next to times: its name, and its offset unless the name is an offset."""
        if not self.is_specified:
            return self.name
        offset = self.local(nanoseconds).strftime("%z")
        offset = f"UTC{offset[:3]}:{offset[3:5]}" if offset != "+0000" else "UTC"
        return offset if self.name in ("", "UTC", offset, offset[3:]) else f"{self.name}, {offset}"
