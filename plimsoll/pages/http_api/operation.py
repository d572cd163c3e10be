"""What the operations of the HTTP API share: how they read requests; parameters, lists, times and errors."""

from collections.abc import Callable, Coroutine, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Generic, TypeVar, cast, get_origin

from fastapi import Depends
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from plimsoll.model.errors import Unusable
from plimsoll.model.times import Zone
from plimsoll.pages.shared.time_range import PageRange, parse_relative_time
from plimsoll.up.watched import Watched

MOST_AT_ONCE = 1000
UTC = Zone.parse("UTC")
PROGRAM = "a program"
_TIME_FORMS = "now-6h, 2026-03-01T10:22Z (without a zone: UTC), or ms since 1970"
Item = TypeVar("Item")


class ApiProblem(BaseModel):
    """The answer to a request that cannot be fulfilled."""

    error: str = Field(description="What is wrong.")
    where: str = Field(default="", description="The parameter, the field of the body, or the path that is wrong.")
    hint: str = Field(default="", description="What to do about it.")


class ApiFault(Exception):
    """The error that answers a request with `problem`; the client may try again after `retry_after_s` seconds."""

    def __init__(
        self, status: HTTPStatus, error: str, where: str = "", hint: str = "", *, retry_after_s: int | None = None
    ) -> None:
        super().__init__(error)
        self.status = status
        self.problem = ApiProblem(error=error, where=where, hint=hint)
        self.headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}


class Body(BaseModel):
    """The base of request bodies; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PageQuery(BaseModel):
    """The requested part of a list."""

    limit: int = Field(default=100, ge=1, le=MOST_AT_ONCE, description="The largest number of entries to return.")
    offset: int = Field(default=0, ge=0, le=10**9, description="The number of entries to skip.")


class RangeQuery(BaseModel):
    """A range of time."""

    start: str = Field(default="now-1h", alias="from", max_length=40, description=f"From when: {_TIME_FORMS}.")
    end: str = Field(default="now", alias="to", max_length=40, description="The end of the range, in the same forms.")

    def range(self, now: int) -> tuple[int, int]:
        """Return both ends (UTC ns). Raise ApiFault if an end is invalid, or the range is empty."""
        try:
            chosen = PageRange.parse(self.start, self.end, UTC, now)
        except Unusable as error:
            raise ApiFault(HTTPStatus.BAD_REQUEST, str(error), "from", f"write it like {_TIME_FORMS}") from None
        return chosen.start, chosen.end


class Page(BaseModel, Generic[Item]):
    """A part of a list."""

    items: Sequence[Item]
    total: int = Field(description="The number of entries in the whole list.")
    next: int | None = Field(description="The offset of the next part; null for the last part.")

    @classmethod
    def of(cls, entries: Sequence[Any], query: PageQuery, make_item: Callable[[Any], Item]) -> "Page[Item]":
        """Return the requested part of a list. `make_item` converts only the entries of that part."""
        return cls.at(entries[query.offset : query.offset + query.limit], len(entries), query, make_item)

    @classmethod
    def at(cls, part: Sequence[Any], total: int, query: PageQuery, make_item: Callable[[Any], Item]) -> "Page[Item]":
        """Return a page of a list of `total` entries; `part` has only the entries on the page."""
        end = query.offset + len(part)
        return cls(items=[*map(make_item, part)], total=total, next=end if part and end < total else None)


async def _find_watched(request: Request) -> Watched:
    return request.app.state.watched


WatchedDependency = Annotated[Watched, Depends(_find_watched)]
LONGEST_BODY = 32 << 10


class Operation(APIRoute):
    """A route of the HTTP API. The docstring of its function is its OpenAPI summary, unless `summary` is set."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.summary = self.summary or self.description.rstrip(".")

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, which checks a request before the operation runs."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            async with request.app.state.bodies.read(request, LONGEST_BODY) as body:
                self._check_query(request)
                sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
                if self.body_field and sent != "application/json":
                    # Pages of other sites can send other types of bodies without this server's consent (CORS).
                    error, hint = f"{sent or 'no type'}: is no JSON", "application/json"
                    raise ApiFault(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, error, "Content-Type", hint)
                message: Message = {"type": "http.request", "body": bytes(body)}

                async def receive() -> Message:
                    return message

                return await handle(Request(request.scope, receive))

        return answer

    def _check_query(self, request: Request) -> None:
        models = [cast("type[BaseModel]", query.field_info.annotation) for query in self.dependant.query_params]
        fields = {field.alias or name: field for model in models for name, field in model.model_fields.items()}
        for name in request.query_params:
            count, where = len(request.query_params.getlist(name)), name[:100]
            if name not in fields:
                hint = f"known parameters: {', '.join(fields)}" if fields else "it takes none"
                raise ApiFault(HTTPStatus.BAD_REQUEST, f"{where}: is no parameter", where, hint)
            if count > 1 and get_origin(fields[name].annotation) is not Sequence:
                raise ApiFault(HTTPStatus.BAD_REQUEST, f"{where}: is given {count} times", where, "give one")


def parse_instant(text: str, now: int, where: str) -> int:
    """Return an instant (UTC ns). Raise ApiFault, which names the parameter `where`, if the text is invalid."""
    try:
        return parse_relative_time(text, UTC, now)
    except Unusable as error:
        raise ApiFault(HTTPStatus.BAD_REQUEST, str(error), where, f"write it like {_TIME_FORMS}") from None
