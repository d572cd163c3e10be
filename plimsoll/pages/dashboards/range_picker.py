"""The choice of a time range, as links and a form; every link keeps the rest of the address."""

from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request

from plimsoll.model.errors import Unusable
from plimsoll.model.times import Zone
from plimsoll.pages.shared.time_range import LAST, NOW, TimeRange, clock_text

_KEYS = ("from", "to")


@dataclass(frozen=True)
class RangePicker:
    """What a page shows of its range. `problem` says why the address' own range is not used."""

    request: Request
    zone: Zone
    chosen: TimeRange
    problem: str = ""

    @classmethod
    def of(cls, request: Request, zone: Zone) -> "RangePicker":
        """Return the picker for the range of a request."""
        query = request.query_params
        try:
            return cls(request, zone, TimeRange.parse(query.get("from"), query.get("to"), zone))
        except Unusable as error:
            return cls(request, zone, TimeRange.parse(None, None, zone), str(error))

    def last(self) -> list[tuple[str, str, bool]]:
        """Return the ranges that end now: text, link, and whether it is the chosen one."""
        chosen = self.chosen.start_text if self.chosen.live else ""
        return [(text, self._link(start, NOW), start == chosen) for start, text in LAST]

    def moved(self, share: float) -> str:
        """Return the link to the range moved by a share of its length."""
        span = self.chosen.moved(share)
        return self._link(span.start_text, span.end_text)

    def ends(self) -> tuple[str, str]:
        """Return both ends, for fields of a form."""
        return clock_text(self.chosen.start, self.zone), clock_text(self.chosen.end, self.zone)

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The parameters of the address but for the range, for hidden fields of a form."""
        return [(name, value) for name, value in self.request.query_params.multi_items() if name not in _KEYS]

    @property
    def parameters(self) -> dict[str, str]:
        """The range as parameters of an address; none if it is the usual one."""
        query = self.request.query_params
        return {} if self.problem else {name: query[name] for name in _KEYS if query.get(name)}

    def _link(self, start: str, end: str) -> str:
        return f"?{urlencode([*self.kept, ('from', start), ('to', end)])}"
