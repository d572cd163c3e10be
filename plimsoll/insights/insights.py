"""Insights: what a review shows beyond its limits. FOLDERS lists the insights in the order of the outputs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from functools import cache, cached_property
from importlib import import_module
from itertools import groupby
from typing import Any, Generic, Literal, TypeVar

from plimsoll.model.document import Block, Section, Statement
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.times import Zone
from plimsoll.review.findings import Doubt
from plimsoll.review.review import Review
from plimsoll.review.verdict import Verdict
from plimsoll.rules.schema.field_types import Healthy

F = TypeVar("F")
SubjectKey = tuple[str, str | None]


@dataclass(frozen=True)
class Heading:
    """A heading of the outputs; neighbouring insights with the same heading share it.

    `place` is the place of the section: with the causes of crossed limits, or (`beside`) after the limits that were not
    crossed.
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
    """An insight's field in the JSON: its name, its description, and its type, which reads the insight's result."""

    name: str
    type: Any
    description: str


@dataclass(frozen=True)
class LimitedValue:
    """A value on which an insight rests, its limit, and a description of the value."""

    value: float
    unit: str
    healthy: Healthy
    description: str


@dataclass(frozen=True)
class News:
    """A fact that only the second of two compared runs shows: the title of its signal, and a sentence."""

    title: str
    sentence: str


@dataclass(frozen=True)
class Insight(Generic[F]):
    """The functions of an insight, which find something in a review and word the result for the outputs.

    Attributes:
        name: The folder; the models of the JSON are in its module `json`, which is imported only for the JSON.
        heading: The heading of the insight's section.
        find: Returns the result of the insight for a review.
        blocks: Returns the part of the document on a result; empty if there is nothing to say.
        cause: Returns, in a sentence, what makes the second of two runs worse than the first; empty if unknown.
        news: Returns the harmful facts that only the second of two runs shows. The first argument returns the result
            for the first run, which is seldom needed; the last translates subjects of the second run to subjects of
            the first.
        summary: Returns the cause of trouble in one sentence, for the first screen; empty if there is none.
        short: Returns the resource that the insight names as the cause, and its host; None if there is none.
        ahead: Returns sentences for the headline on what no crossed limit shows, such as a limit soon to be crossed.
        step: Returns the next step for the reader, in a sentence or two; empty if unknown.
        doubt: Returns why a run without a crossed limit is not known to be healthy; empty if there is no doubt.
        doubted_value: Returns the value on which the doubt rests; None if there is none.
    """

    name: str
    heading: Heading
    find: Callable[[Review], F]
    blocks: Callable[[F, Review, Zone], Sequence[Block]]
    cause: Callable[[F, F], str] | None = None
    news: Callable[[Callable[[], F], F, Callable[[SubjectKey], SubjectKey]], Sequence[News]] | None = None
    summary: Callable[[F], str] | None = None
    doubt: Callable[[F], str] | None = None
    short: Callable[[F], tuple[str, str] | None] | None = None
    ahead: Callable[[F], Sequence[str]] | None = None
    doubted_value: Callable[[F], LimitedValue | None] | None = None
    step: Callable[[F], str] | None = None

    @property
    def json(self) -> JsonField:
        """The insight's field in the JSON."""
        return import_module(f"{__package__}.{self.name}.json").FIELD


FOLDERS = ("bottleneck", "spikes", "trends", "averages", "load_steps")


@cache
def load_insights() -> tuple[Insight[Any], ...]:
    """Return the INSIGHT of each folder, in the order of FOLDERS."""
    return tuple(import_module(f"plimsoll.insights.{folder}.insight").INSIGHT for folder in FOLDERS)


@dataclass(frozen=True)
class Insights:
    """A review and the insights on it, from which the outputs are made; each insight is computed when first needed.

    `judged` is the review by its limits alone; `review` includes the doubts of insights, and decides the verdict.
    """

    judged: Review
    _results: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @cached_property
    def review(self) -> Review:
        """The review with sentences on limits soon reached, and with doubts unless its verdict is Not healthy."""
        ahead = tuple(text for insight in load_insights() if insight.ahead for text in insight.ahead(self.of(insight)))
        not_healthy = self.judged.verdict == Verdict.NOT_HEALTHY
        texts = [] if not_healthy else [insight.doubt(self.of(insight)) for insight in load_insights() if insight.doubt]
        doubts = tuple(Doubt(text) for text in texts if text)
        return replace(self.judged, insight_doubts=doubts, ahead=ahead) if doubts or ahead else self.judged

    def of(self, insight: Insight[F]) -> F:
        """Return the result of an insight for the review by its limits alone."""
        if insight.name not in self._results:
            self._results[insight.name] = insight.find(self.judged)
        return self._results[insight.name]

    def sections(self, place: Literal["causes", "beside"], zone: Zone) -> Iterator[Section]:
        """Yield the sections that stand at `place`, one for each heading that has content."""
        of_place = (insight for insight in load_insights() if insight.heading.place == place)
        for heading, group in groupby(of_place, lambda insight: insight.heading):
            blocks = tuple(b for insight in group for b in insight.blocks(self.of(insight), self.review, zone))
            if blocks:
                yield Section(heading.title, blocks, anchor=heading.anchor, menu=heading.menu, note=heading.note)


def build_statements(
    title: str, results: Sequence[F], statement: Callable[[F, bool], Statement]
) -> tuple[Section, ...]:
    """Return a section with statements on the first results; an empty tuple without results.

    `statement` makes the statement on a result; its second argument says whether to add a chart.
    """
    shown = tuple(statement(result, at < BRIEF) for at, result in enumerate(results[:_MOST_STATEMENTS]))
    section = Section(title, shown, level=3, style="told", brief=BRIEF, hidden=len(results) - len(shown))
    return (section,) if shown else ()
