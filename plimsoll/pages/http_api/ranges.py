"""Ranges of time in the queries of the API."""

from http import HTTPStatus

from pydantic import Field

from plimsoll.model.errors import Unusable
from plimsoll.model.times import Zone
from plimsoll.pages.http_api.operation import Query, Refused
from plimsoll.pages.shared.time_range import TimeRange, instant_of

_UTC = Zone.parse("UTC")
_LIKE = "now-6h, 2026-03-01T10:22Z (without a zone: UTC), or ms since 1970"


class RangeQuery(Query):
    """From when to when."""

    start: str = Field(default="now-1h", alias="from", max_length=40, description=f"From when: {_LIKE}.")
    end: str = Field(default="now", alias="to", max_length=40, description="To when.")

    def range(self, now: int) -> tuple[int, int]:
        """Both ends (UTC ns). Refused if one cannot be read, or nothing is between them."""
        try:
            found = TimeRange.parse(self.start, self.end, _UTC, now)
        except Unusable as error:
            raise Refused(HTTPStatus.BAD_REQUEST, str(error), "from", f"write it like {_LIKE}") from None
        return found.start, found.end


def instant(text: str, now: int, where: str) -> int:
    """An instant (UTC ns). Refused if it cannot be read."""
    try:
        return instant_of(text, _UTC, now)
    except Unusable as error:
        raise Refused(HTTPStatus.BAD_REQUEST, str(error), where, f"write it like {_LIKE}") from None
