"""Parts that the operations of the API share: dependencies, parameters, pages of lists, times and errors."""

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from plimsoll.model.errors import Unusable
from plimsoll.model.times import Zone
from plimsoll.pages.shared.time_range import PageRange, instant_of
from plimsoll.up.watched import Watched

MOST_AT_ONCE = 1000
UTC = Zone.parse("UTC")
PROGRAM = "a program"
_TIME_FORMS = "now-6h, 2026-03-01T10:22Z (without a zone: UTC), or ms since 1970"
Item = TypeVar("Item")


class ApiProblem(BaseModel):
    """The answer to a request that cannot be fulfilled."""

    error: str = Field(description="What is wrong.")
    where: str = Field(default="", description="The parameter, the field of the body, or the path that it is about.")
    hint: str = Field(default="", description="What to do about it.")


class ApiFault(Exception):
    """A request that is answered with a problem; `retry_after_s` says when to try again."""

    def __init__(
        self, status: HTTPStatus, error: str, where: str = "", hint: str = "", *, retry_after_s: int | None = None
    ) -> None:
        super().__init__(error)
        self.status = status
        self.problem = ApiProblem(error=error, where=where, hint=hint)
        self.headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}


class Body(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PageQuery(BaseModel):
    """Which part of a list is asked for."""

    limit: int = Field(default=100, ge=1, le=MOST_AT_ONCE, description="How many entries at most.")
    offset: int = Field(default=0, ge=0, le=10**9, description="How many entries to leave out first.")


class RangeQuery(BaseModel):
    """From when to when."""

    start: str = Field(default="now-1h", alias="from", max_length=40, description=f"From when: {_TIME_FORMS}.")
    end: str = Field(default="now", alias="to", max_length=40, description="To when.")

    def range(self, now: int) -> tuple[int, int]:
        """Return both ends (UTC ns). Raises ApiFault if one cannot be read, or nothing is between them."""
        try:
            chosen = PageRange.parse(self.start, self.end, UTC, now)
        except Unusable as error:
            raise ApiFault(HTTPStatus.BAD_REQUEST, str(error), "from", f"write it like {_TIME_FORMS}") from None
        return chosen.start, chosen.end


class Page(BaseModel, Generic[Item]):
    """A part of a list."""

    items: Sequence[Item]
    total: int = Field(description="How many entries the whole list has.")
    next: int | None = Field(description="The offset of the next part; null: this is the last one.")

    @classmethod
    def of(cls, entries: Sequence[Any], query: PageQuery, make_item: Callable[[Any], Item]) -> "Page[Item]":
        """Return the part of a list that is asked for; only its entries are made into items."""
        return cls.at(entries[query.offset : query.offset + query.limit], len(entries), query, make_item)

    @classmethod
    def at(cls, part: Sequence[Any], total: int, query: PageQuery, make_item: Callable[[Any], Item]) -> "Page[Item]":
        """Return a part of a list of `total` entries that was read as such."""
        end = query.offset + len(part)
        return cls(items=[*map(make_item, part)], total=total, next=end if part and end < total else None)


def parse_instant(text: str, now: int, where: str) -> int:
    """Return an instant (UTC ns). Raises ApiFault if it cannot be read."""
    try:
        return instant_of(text, UTC, now)
    except Unusable as error:
        raise ApiFault(HTTPStatus.BAD_REQUEST, str(error), where, f"write it like {_TIME_FORMS}") from None


async def _watched(request: Request) -> Watched:
    return request.app.state.watched


WatchedDependency = Annotated[Watched, Depends(_watched)]
