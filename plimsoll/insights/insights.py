"""A review with its insights: what the signals of a run show beyond their thresholds.

FOLDERS has the insights in the order of the outputs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from itertools import groupby
from typing import Any, Generic, Literal, TypeVar

from plimsoll.model.document import Block, Section, Statement
from plimsoll.model.times import Zone
from plimsoll.review.findings import Doubt
from plimsoll.review.review import Review
from plimsoll.review.verdict import Verdict
from plimsoll.rules.schema.field_types import Healthy

F = TypeVar("F")
SubjectKey = tuple[str, str | None]


@dataclass(frozen=True)
class Heading:
    """A heading of the outputs; neighbouring insights with the same heading stand under it together.

    `place`: the outputs have it with the causes of crossed limits, or after the limits that were kept (`beside`).
    """

    anchor: str
    title: str
    menu: str
    place: Literal["causes", "beside"]
    note: str = ""


BESIDE_LIMITS = Heading(
    "spikes-and-trends",
    "Spikes, trends and averages",
    "Spikes and trends",
    "beside",
    note="What the signals show beside their limits; none of it changes the verdict.",
)
BRIEF = 3  # statements on a terminal, and charts on a page
_MOST_STATEMENTS = 5


@dataclass(frozen=True)
class JsonField:
    """A field of the JSON: its name, and its type, which is filled from the result of the insight."""

    name: str
    type: Any
    description: str


@dataclass(frozen=True)
class LimitedValue:
    """A value that an insight rests on, the limit it is compared with, and a description of the value."""

    value: float
    unit: str
    healthy: Healthy
    description: str


@dataclass(frozen=True)
class News:
    """Something that a run shows and the run before it did not: the title of its signal, and a sentence."""

    title: str
    sentence: str


@dataclass(frozen=True)
class Insight(Generic[F]):
    """One kind of insight.

    Attributes:
        name: The folder; the models of the JSON are in its module `json`, which is imported only for the JSON.
        heading: The heading that it stands under.
        find: Returns the insight of a review.
        blocks: Returns its part of the document; empty if there is nothing to say.
        cause: Returns what makes the second of two runs worse than the first, in a sentence; empty if not known.
        news: Returns what the second of two runs shows, and the first does not, that must not be. The function given
            translates subjects of the second run to those of the first.
        summary: Returns the cause in one sentence, for the first screen; empty if there is none.
        short: Returns the resource that it names as the cause, and its host.
        ahead: Returns sentences for the headline on what no crossed limit shows, such as a limit that will be crossed.
        step: Returns what to do about it, in a sentence or two; empty if not known.
        doubt: Returns why a run without a crossed limit is not known to be healthy; empty if it is no reason.
        doubted_value: Returns the value that its doubt rests on.
    """

    name: str
    heading: Heading
    find: Callable[[Review], F]
    blocks: Callable[[F, Review, Zone], Sequence[Block]]
    cause: Callable[[F, F], str] | None = None
    news: Callable[[F, F, Callable[[SubjectKey], SubjectKey]], Sequence[News]] | None = None
    summary: Callable[[F], str] | None = None
    doubt: Callable[[F], str] | None = None
    short: Callable[[F], tuple[str, str] | None] | None = None
    ahead: Callable[[F], Sequence[str]] | None = None
    doubted_value: Callable[[F], LimitedValue | None] | None = None
    step: Callable[[F], str] | None = None

    @property
    def json(self) -> JsonField:
        """The field of the JSON."""
        return import_module(f"{__package__}.{self.name}.json").FIELD


FOLDERS = ("bottleneck", "spikes", "trends", "averages", "load_steps")


@cache
def insights() -> tuple[Insight[Any], ...]:
    """Return the INSIGHT of each folder's module `insight`."""
    return tuple(import_module(f"plimsoll.insights.{folder}.insight").INSIGHT for folder in FOLDERS)


@dataclass(frozen=True)
class Insights:
    """A review and its insights, from which the outputs are made; each insight is computed when first needed.

    `judged` is the review by its limits alone, `review` that with the doubts of insights, which decides the verdict.
    """

    judged: Review
    _results: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @cached_property
    def review(self) -> Review:
        """The review with the sentences on what lies ahead and, unless it is Not healthy anyway, with doubts."""
        ahead = tuple(text for insight in insights() if insight.ahead for text in insight.ahead(self.of(insight)))
        not_healthy = self.judged.verdict == Verdict.NOT_HEALTHY
        texts = [] if not_healthy else [insight.doubt(self.of(insight)) for insight in insights() if insight.doubt]
        doubts = tuple(Doubt(text) for text in texts if text)
        return replace(self.judged, insight_doubts=doubts, ahead=ahead) if doubts or ahead else self.judged

    def of(self, insight: Insight[F]) -> F:
        """Return the result of an insight for the review."""
        if insight.name not in self._results:
            self._results[insight.name] = insight.find(self.judged)
        return self._results[insight.name]

    def sections(self, place: Literal["causes", "beside"], zone: Zone) -> Iterator[Section]:
        """Yield the sections of a place, one for each heading that has content."""
        of_place = (insight for insight in insights() if insight.heading.place == place)
        for heading, group in groupby(of_place, lambda insight: insight.heading):
            blocks = tuple(b for insight in group for b in insight.blocks(self.of(insight), self.review, zone))
            if blocks:
                yield Section(heading.title, blocks, anchor=heading.anchor, menu=heading.menu, note=heading.note)


def statements(
    title: str, results: Sequence[F], statement: Callable[[F, bool], Statement], charts: int = BRIEF
) -> tuple[Section, ...]:
    """Return a section of statements on the first results, by `statement`, whose second argument asks for a chart.

    There is no section without results.
    """
    shown = tuple(statement(result, at < charts) for at, result in enumerate(results[:_MOST_STATEMENTS]))
    section = Section(title, shown, level=3, style="told", brief=BRIEF, hidden=len(results) - len(shown))
    return (section,) if shown else ()
