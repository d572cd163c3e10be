"""A review and what the signals of its run tell beyond their thresholds.

The insights stand here in the order in which the outputs have them. A new one takes a folder, and a line in FOLDERS.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from itertools import groupby
from typing import Any, Generic, Literal, TypeVar

from plimsoll.model.document import Block, Section
from plimsoll.model.times import Zone
from plimsoll.review.findings import Doubt
from plimsoll.review.review import Review
from plimsoll.review.verdict import Verdict
from plimsoll.rules.schema.field_types import Healthy

F = TypeVar("F")


SubjectKey = tuple[str, str | None]


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


BESIDE_LIMITS = Heading(
    "spikes-and-trends",
    "Spikes, trends and averages",
    "Spikes and trends",
    "beside",
    note="What the signals show beside their limits; none of it changes the verdict.",
)


BRIEF = 3  # statements on a terminal, and charts on a page


MOST_STATEMENTS = 5


@dataclass(frozen=True)
class JsonField:
    """A field of the JSON: its name and type, which is filled from what the insight finds."""

    name: str
    type: Any
    description: str


@dataclass(frozen=True)
class LimitedValue:
    """A value that an insight rests on, and the limit it is held against: its `description`."""

    value: float
    unit: str
    healthy: Healthy
    description: str


@dataclass(frozen=True)
class News:
    """What a run shows and the run before it did not: the signal's title, and a sentence."""

    title: str
    sentence: str


@dataclass(frozen=True)
class Insight(Generic[F]):
    """One kind of insight.

    Attributes:
        name: Its folder; the JSON's models are in its module `json`, imported where the JSON is asked for.
        heading: What it stands under.
        find: Finds it in a review.
        blocks: What is said of it: its part of the document; nothing if there is nothing to say.
        cause: Of the second of two runs, what makes it worse than the first, in a sentence; empty if that is not known.
        news: What the second of two runs shows and must not, and the first does not; subjects of the second are named
            as in the first by the function.
        summary: What it tells of the cause in one sentence, for the first screen; empty if nothing.
        short: The resource that it names as the cause, and its host.
        ahead: What no crossed limit shows, such as a limit that will be crossed, each in a sentence, for the headline.
        step: What to do about it, in a sentence or two; empty if that is not known.
        doubt: Why a run of which no limit was crossed is not known to be healthy; empty if it is no reason.
        doubted_value: The value that its doubt rests on.
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
        """Its field of the JSON."""
        return import_module(f"{__package__}.{self.name}.json").FIELD


FOLDERS = ("bottleneck", "spikes", "trends", "averages", "load_steps")


@cache
def insights() -> tuple[Insight[Any], ...]:
    """Return the INSIGHT of each folder's module `insight`."""
    return tuple(import_module(f"plimsoll.insights.{folder}.insight").INSIGHT for folder in FOLDERS)


@dataclass(frozen=True)
class Insights:
    """A review and its insights, each found when it is first asked for. The outputs are made from this.

    `judged` is the review by its limits alone. `review` has the last word on the verdict: it also has the doubts that
    insights raise.
    """

    judged: Review
    _results: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @cached_property
    def review(self) -> Review:
        """The review with what lies ahead, and the doubts of the insights; a run that is not healthy needs none."""
        ahead = tuple(text for insight in insights() if insight.ahead for text in insight.ahead(self.of(insight)))
        not_healthy = self.judged.verdict == Verdict.NOT_HEALTHY
        texts = [] if not_healthy else [insight.doubt(self.of(insight)) for insight in insights() if insight.doubt]
        doubts = tuple(Doubt(text) for text in texts if text)
        return replace(self.judged, insight_doubts=doubts, ahead=ahead) if doubts or ahead else self.judged

    def of(self, insight: Insight[F]) -> F:
        """Return what one kind of insight finds in the review."""
        if insight.name not in self._results:
            self._results[insight.name] = insight.find(self.judged)
        return self._results[insight.name]

    def sections(self, place: Literal["causes", "beside"], zone: Zone) -> Iterator[Section]:
        """Yield the sections of a place, one for each heading under which something is said."""
        of_place = (insight for insight in insights() if insight.heading.place == place)
        for heading, group in groupby(of_place, lambda insight: insight.heading):
            blocks = tuple(b for insight in group for b in insight.blocks(self.of(insight), self.review, zone))
            if blocks:
                yield Section(heading.title, blocks, anchor=heading.anchor, menu=heading.menu, note=heading.note)
