"""One operation of the API: how its address, query and body are read, and how its answer and errors are written."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from plimsoll.alerting.alerts_file import NotKept
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.pages.shared.form_words import with_fields
from plimsoll.serve.guard.access import PUBLIC

MOST_AT_ONCE = 1000
_USUAL_AT_ONCE = 100
_AGAIN_S = "10"
_SHOWN_MISTAKES = 5
_NAMES = re.compile(r"\{(\w+)(?::\w+)?\}")


class Problem(BaseModel):
    """Why there is no other answer."""

    error: str = Field(description="What is wrong.")
    where: str = Field(default="", description="The parameter, the field of the body, or the path that it is about.")
    hint: str = Field(default="", description="What to do about it.")


class Refused(Exception):
    """An answer other than the usual one: its status and problem."""

    def __init__(self, status: HTTPStatus, error: str, where: str = "", hint: str = "") -> None:
        super().__init__(error)
        self.status = status
        self.problem = Problem(error=error, where=where, hint=hint)


class Query(BaseModel):
    """The parameters of an address. One that is misspelt is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PageQuery(Query):
    """Which part of a list is asked for."""

    limit: int = Field(default=_USUAL_AT_ONCE, ge=1, le=MOST_AT_ONCE, description="How many entries at most.")
    offset: int = Field(default=0, ge=0, le=10**9, description="How many entries to leave out first.")


class Body(BaseModel):
    """What is sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Nothing(Body):
    """No body."""


Item = TypeVar("Item")
Q = TypeVar("Q", bound=Query)
B = TypeVar("B", bound=Body)


class Page(BaseModel, Generic[Item]):
    """A part of a list."""

    items: Sequence[Item]
    total: int = Field(description="How many entries the whole list has.")
    next: int | None = Field(description="The offset of the next part; null: this is the last one.")

    @classmethod
    def of(cls, every: Sequence[Any], query: PageQuery, made: Callable[[Any], Item]) -> "Page[Item]":
        """The part of a list that is asked for; only its entries are made."""
        part = every[query.offset : query.offset + query.limit]
        return cls(items=[made(one) for one in part], total=len(every), next=after(query, len(part), len(every)))


def after(query: PageQuery, shown: int, total: int) -> int | None:
    """The offset of the part after one that has so many entries."""
    reached = query.offset + shown
    return reached if shown and reached < total else None


@dataclass(frozen=True)
class Call(Generic[Q, B]):
    """A call of an operation, whose parameters and body are valid."""

    request: Request
    query: Q
    body: B

    def name(self, parameter: str) -> Any:
        """A part of the path."""
        return self.request.path_params[parameter]


@dataclass(frozen=True)
class Operation(Generic[Q, B]):
    """An operation.

    Attributes:
        method: Of HTTP.
        path: Below /api/v1, as Starlette writes it: `/hosts/{host:path}`.
        id: Its name for programs that make clients.
        summary: What it does, in a line.
        answer: The model of what it answers.
        handle: Makes the answer, in a thread. Raises Refused, Unusable, Unreachable or NotKept.
        query: The model of its parameters.
        body: The model of what is sent.
        status: That of the answer.
        media: Other media types that it answers in.
        path_names: What the names in the path are.
        underway: The model of the answer 202, while what is asked for is being made.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    id: str
    summary: str
    answer: type[BaseModel]
    handle: Callable[[Call[Q, B]], BaseModel | Response]
    query: type[Q]
    body: type[B]
    status: HTTPStatus = HTTPStatus.OK
    media: Sequence[str] = ()
    path_names: Mapping[str, str] = field(default_factory=dict[str, str])
    underway: type[BaseModel] | None = None

    @property
    def address(self) -> str:
        """Its path as OpenAPI writes it: `/api/v1/hosts/{host}`."""
        return PUBLIC + _NAMES.sub(r"{\1}", self.path)

    def read(self, request: Request, body: bytes) -> Call[Q, B]:
        """A call. Refused if a parameter or the body is wrong."""
        query = _query(self.query, request.query_params)
        return Call(request, query, self._body(request, body))

    def answered(self, call: Call[Q, B]) -> Response:
        """The answer to a call, or what is wrong."""
        try:
            made = self.handle(call)
        except Refused as refused:
            return refusal(refused)
        except Unusable as error:
            return problem(HTTPStatus.UNPROCESSABLE_ENTITY, with_fields(str(error)), self.address)
        except (Unreachable, NotKept) as error:
            text = with_fields(str(error))
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, text, self.address, "ask again later", _AGAIN_S)
        if isinstance(made, Response):
            return made
        return Response(made.model_dump_json(by_alias=True), self.status, media_type="application/json")

    def _body(self, request: Request, body: bytes) -> B:
        if self.body is Nothing:
            return self.body()
        sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if sent != "application/json":
            # Which pages of other sites can send only if this server allows it.
            raise Refused(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                f"{sent or 'no type'}: is no JSON",
                "Content-Type",
                "application/json",
            )
        try:
            return self.body.model_validate_json(body)
        except ValidationError as error:
            raise _invalid(error, "the body") from None


def _query(model: type[Q], asked: QueryParams) -> Q:
    """The parameters of an address; those that may be repeated are lists."""
    given: dict[str, Any] = {}
    lists = {one.alias or name for name, one in model.model_fields.items() if "Sequence" in str(one.annotation)}
    for name in asked:
        values = asked.getlist(name)
        if name in lists:
            given[name] = values
        elif len(values) > 1:
            raise Refused(HTTPStatus.BAD_REQUEST, f"{name[:100]}: is given {len(values)} times", name[:100], "give one")
        else:
            given[name] = values[0]
    try:
        return model.model_validate(given)
    except ValidationError as error:
        known = ", ".join(one.alias or name for name, one in model.model_fields.items())
        raise _invalid(error, "the query", f"known parameters: {known}" if known else "it takes none") from None


def _invalid(error: ValidationError, what: str, hint: str = "") -> Refused:
    """The mistakes that pydantic found, each with its place."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    places = [".".join(str(part)[:100] for part in one["loc"]) or what for one in found]
    told = [f"{place}: {one['msg']}" for place, one in zip(places, found, strict=True)][:_SHOWN_MISTAKES]
    return Refused(HTTPStatus.BAD_REQUEST, "; ".join(told), places[0], hint or "/api/docs describes it")


def refusal(refused: Refused) -> Response:
    """The answer of an operation that was refused."""
    return JSONResponse(refused.problem.model_dump(), refused.status)


def problem(status: HTTPStatus, error: str, where: str, hint: str = "", again_s: str = "") -> Response:
    """A problem as an answer."""
    headers = {"Retry-After": again_s} if again_s else {}
    return JSONResponse(Problem(error=error, where=where, hint=hint).model_dump(), status, headers)
