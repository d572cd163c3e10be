"""The time range of a page, from the page's address: `from=now-6h&to=now`, or ms since 1970."""

import re
import time
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from starlette.requests import Request

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND, Zone, convert_to_instant, format_duration, parse_duration

_KEYS = ("from", "to")


@dataclass(frozen=True)
class PageRange:
    """A time range (UTC ns), and the texts of its begin and end in the address."""

    start: int
    end: int
    start_text: str
    end_text: str

    @property
    def live(self) -> bool:
        """Whether the range ends now, and so moves with the clock."""
        return self.end_text == NOW

    @classmethod
    def parse(cls, start: str | None, end: str | None, zone: Zone, now: int | None = None) -> "PageRange":
        """Parse the texts of a range; `start` is `now-1h` and `end` is `now` by default.

        Raise Unusable if a text is invalid, or the range is empty.
        """
        at = time.time_ns() if now is None else now
        start, end = start or USUAL, end or NOW
        first, last = parse_relative_time(start, zone, at), parse_relative_time(end, zone, at)
        if last <= first:
            raise Unusable(f"{start} to {end} is no range of time: the first has to be before the second")
        return cls(first, last, start, end)

    def words(self, zone: Zone) -> str:
        """Return the range as text: `Last 6 h`, or begin and end in the zone."""
        if self.live and self.start_text.startswith(NOW):
            return f"Last {format_duration(self.end - self.start)}"
        return zone.span(self.start, self.end)


@dataclass(frozen=True)
class RangePicker:
    """The time range of a page, and links to the page with different ranges.

    `problem` says why the range in the address is invalid, so that the last hour is shown; empty if it is valid.
    """

    request: Request
    zone: Zone
    chosen: PageRange
    problem: str = ""

    @classmethod
    def of(cls, request: Request, zone: Zone) -> "RangePicker":
        """Return the picker for the range of a request."""
        query = request.query_params
        try:
            return cls(request, zone, PageRange.parse(query.get("from"), query.get("to"), zone))
        except Unusable as error:
            return cls(request, zone, PageRange.parse(None, None, zone), str(error))

    def last(self) -> list[tuple[str, str, bool]]:
        """Return the offered ranges that end now: text, link, and whether it is the range of the page."""
        chosen = self.chosen.start_text if self.chosen.live else ""
        return [(text, self._link(start, NOW), start == chosen) for start, text in LAST]

    def moved(self, share: float) -> str:
        """Return the link to the range moved by a share of its length; -1 gives the preceding range."""
        step = round((self.chosen.end - self.chosen.start) * share)
        start, end = ((at + step) // MILLISECOND for at in (self.chosen.start, self.chosen.end))
        return self._link(str(start), str(end))

    def ends(self) -> tuple[str, str]:
        """Return begin and end of the range as `2026-03-01T10:22:00` in the zone, for the fields of a form."""
        start, end = (self.zone.local(at // SECOND * SECOND) for at in (self.chosen.start, self.chosen.end))
        return start.strftime("%Y-%m-%dT%H:%M:%S"), end.strftime("%Y-%m-%dT%H:%M:%S")

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The names and values of the URL parameters other than the range, for hidden fields of a form."""
        return [(name, value) for name, value in self.request.query_params.multi_items() if name not in _KEYS]

    @property
    def parameters(self) -> dict[str, str]:
        """The URL parameters that set this range; empty for the default range."""
        query = self.request.query_params
        return {} if self.problem else {name: query[name] for name in _KEYS if query.get(name)}

    def _link(self, start: str, end: str) -> str:
        return f"?{urlencode([*self.kept, ('from', start), ('to', end)])}"


MILLISECOND = 1_000_000
USUAL = "now-1h"
NOW = "now"
# The offered ranges: the text in the address, and the text for people.
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


def parse_relative_time(text: str, zone: Zone, now: int) -> int:
    """Return the time (UTC ns) that a text such as `now-6h` means at `now`. Raise Unusable if the text is invalid."""
    match = _AGO.fullmatch(text)
    if match:
        try:
            at = now - (parse_duration(match[1]) if match[1] else 0)
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
        at = convert_to_instant(moment if moment.tzinfo else moment.replace(tzinfo=zone.rule))
    if abs(at) > _FURTHEST:
        raise Unusable(f'"{text[:40]}" is too far away')
    return at
