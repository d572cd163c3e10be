"""The range of time of a page, as its address names it: `from=now-6h&to=now`, or ms since 1970."""

import re
import time
from dataclasses import dataclass
from datetime import datetime

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND, Zone, duration_text, instant, parse_duration

MILLISECOND = 1_000_000
USUAL = "now-1h"
NOW = "now"
# What the pages offer: the text of the address, and for people.
LAST = (
    ("now-15m", "15 min"),
    ("now-1h", "1 h"),
    ("now-6h", "6 h"),
    ("now-24h", "24 h"),
    ("now-7d", "7 d"),
    ("now-30d", "30 d"),
)
_AGO = re.compile(r"now(?:-(\d+(?:s|m|h|d)))?")
_FURTHEST = 2**62


@dataclass(frozen=True)
class TimeRange:
    """From one instant to another (UTC ns), and as the address has both. It is `live` if it ends now."""

    start: int
    end: int
    start_text: str
    end_text: str

    @property
    def live(self) -> bool:
        """Whether it moves with the clock."""
        return self.end_text == NOW

    @classmethod
    def parse(cls, start: str | None, end: str | None, zone: Zone, now: int | None = None) -> "TimeRange":
        """Read both ends; without them the last hour. Unusable if one cannot be read or nothing is between them."""
        at = time.time_ns() if now is None else now
        start, end = start or USUAL, end or NOW
        first, last = instant_of(start, zone, at), instant_of(end, zone, at)
        if last <= first:
            raise Unusable(f"{start} to {end} is no range of time: the first has to be before the second")
        return cls(first, last, start, end)

    def words(self, zone: Zone) -> str:
        """The range for people: `Last 6 h`, or both ends on the zone's clock."""
        if self.live and self.start_text.startswith(NOW):
            return f"Last {duration_text(self.end - self.start)}"
        return zone.span(self.start, self.end)

    def moved(self, by: float) -> "TimeRange":
        """The range moved by a share of its length, as ms."""
        step = round((self.end - self.start) * by)
        first, last = self.start + step, self.end + step
        return TimeRange(first, last, str(first // MILLISECOND), str(last // MILLISECOND))


def instant_of(text: str, zone: Zone, now: int) -> int:
    """An instant (UTC ns) as an address has it. Unusable if it cannot be read."""
    found = _AGO.fullmatch(text)
    if found:
        try:
            at = now - (parse_duration(found[1]) if found[1] else 0)
        except ValueError as error:
            raise Unusable(str(error)) from None
    elif re.fullmatch(r"-?\d{1,16}", text):
        at = int(text) * MILLISECOND
    else:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise Unusable(
                f'"{text[:40]}" is no time: write it like now-6h, 2026-03-01T10:22, or ms since 1970'
            ) from None
        at = instant(moment if moment.tzinfo else moment.replace(tzinfo=zone.rule))
    if abs(at) > _FURTHEST:
        raise Unusable(f'"{text[:40]}" is too far away')
    return at


def clock_text(at: int, zone: Zone) -> str:
    """An instant as a field of a form has it, to the second."""
    return zone.local(at // SECOND * SECOND).strftime("%Y-%m-%dT%H:%M:%S")
