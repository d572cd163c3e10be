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
        """The range of a request."""
        asked = request.query_params
        try:
            return cls(request, zone, TimeRange.parse(asked.get("from"), asked.get("to"), zone))
        except Unusable as error:
            return cls(request, zone, TimeRange.parse(None, None, zone), str(error))

    @property
    def words(self) -> str:
        """The range for people."""
        return self.chosen.words(self.zone)

    @property
    def last(self) -> list[tuple[str, str, bool]]:
        """The ranges that end now: text, link, and whether it is the chosen one."""
        return [
            (text, self._link(start, NOW), self.chosen.live and self.chosen.start_text == start) for start, text in LAST
        ]

    @property
    def back(self) -> str:
        """The link to the range before."""
        return self._moved(-0.5)

    @property
    def forward(self) -> str:
        """The link to the range after."""
        return self._moved(0.5)

    @property
    def start(self) -> str:
        """The start, for a field of a form."""
        return clock_text(self.chosen.start, self.zone)

    @property
    def end(self) -> str:
        """The end, for a field of a form."""
        return clock_text(self.chosen.end, self.zone)

    @property
    def kept(self) -> list[tuple[str, str]]:
        """The parameters of the address but for the range, for hidden fields of a form."""
        return [(name, value) for name, value in self.request.query_params.multi_items() if name not in _KEYS]

    @property
    def parameters(self) -> dict[str, str]:
        """The range as parameters of an address; none if it is the usual one."""
        asked = self.request.query_params
        return {} if self.problem else {name: asked[name] for name in _KEYS if asked.get(name)}

    def _moved(self, by: float) -> str:
        moved = self.chosen.moved(by)
        return self._link(moved.start_text, moved.end_text)

    def _link(self, start: str, end: str) -> str:
        return f"?{urlencode([*self.kept, ('from', start), ('to', end)])}"
