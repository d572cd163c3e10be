"""What an insight offers the outputs: how it is found, told, written as JSON and drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from plimsoll.model.styled import Line
from plimsoll.model.times import Zone
from plimsoll.review.review import Review
from plimsoll.rules.schema.healthy import Healthy

if TYPE_CHECKING:  # only the HTML report needs charts
    from plimsoll.charts.chart import Charts

F = TypeVar("F")
SubjectKey = tuple[str, str | None]


class Part(BaseModel):
    """A part of the JSON of a review."""

    model_config = ConfigDict(frozen=True, defer_build=True)


@dataclass(frozen=True)
class Heading:
    """A heading of the outputs; insights in a row that have the same one stand under it together.

    `place` is where the HTML report and the JSON have it: with the causes of what was crossed, or after what held.
    """

    anchor: str
    title: str
    menu: str
    place: Literal["causes", "beside"]
    note: str = ""


@dataclass(frozen=True)
class Told:
    """What a terminal shows of an insight. `hidden` is how many more `what` there are."""

    lines: tuple[Line, ...] = ()
    hidden: int = 0
    what: str = ""


@dataclass(frozen=True)
class Section:
    """What the template `section.html.j2` of an insight shows. `hidden` is how many more are in the JSON."""

    shown: object
    hidden: int = 0


@dataclass(frozen=True)
class JsonField(Generic[F]):
    """A field of the JSON: its type, and how it is filled."""

    name: str
    type: Any
    description: str
    fill: Callable[[F], Any]


@dataclass(frozen=True)
class Shown:
    """A value that an insight rests on, and the limit it is held against: `what` it is, in words."""

    value: float
    unit: str
    healthy: Healthy
    what: str


@dataclass(frozen=True)
class News:
    """What a run shows and the run before it did not: the signal's title, and a sentence."""

    title: str
    sentence: str


@dataclass(frozen=True)
class Insight(Generic[F]):
    """One kind of insight. Its modules `json` and `html` are imported where an output asks for them.

    Attributes:
        name: Its folder.
        heading: What it stands under.
        find: Finds it in a review.
        told: Tells it on a terminal.
        cause: Of the second of two runs, what makes it worse than the first, in a sentence; empty if that is not known.
        news: What the second of two runs shows and must not, and the first does not; subjects of the second are named
            as in the first by the function.
        summary: What it tells of the cause in one sentence, for the first screen; empty if nothing.
        short: The resource that it names as the cause, and its host.
        ahead: What no crossed limit shows, such as a limit that will be crossed, each in a sentence, for the headline.
        step: What to do about it, in a sentence or two; empty if that is not known.
        doubt: Why a run of which no limit was crossed is not known to be healthy; empty if it is no reason.
        shown: The value that its doubt rests on.
    """

    name: str
    heading: Heading
    find: Callable[[Review], F]
    told: Callable[[F, Zone], Told]
    cause: Callable[[F, F], str] | None = None
    news: Callable[[F, F, Callable[[SubjectKey], SubjectKey]], Sequence[News]] | None = None
    summary: Callable[[F], str] | None = None
    doubt: Callable[[F], str] | None = None
    short: Callable[[F], tuple[str, str] | None] | None = None
    ahead: Callable[[F], Sequence[str]] | None = None
    shown: Callable[[F], Shown | None] | None = None
    step: Callable[[F], str] | None = None

    @property
    def json(self) -> JsonField[F]:
        """Its field of the JSON."""
        return self._module("json").FIELD

    def section(self, review: Review, found: F, charts: "Charts | None", zone: Zone) -> Section | None:
        """Its section of the HTML report; None if there is nothing to show."""
        return self._module("html").section(review, found, charts, zone)

    def _module(self, name: str) -> Any:
        return import_module(f"{__package__}.{self.name}.{name}")
