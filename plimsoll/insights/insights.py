"""A review and what the signals of its run tell beyond their thresholds.

The insights stand here in the order in which the outputs have them. A new one takes a folder, and a line in FOLDERS.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from itertools import groupby
from typing import Any, Literal

from plimsoll.insights.insight import F, Insight
from plimsoll.model.document import Section
from plimsoll.model.times import Zone
from plimsoll.review.findings import Doubt
from plimsoll.review.review import Review
from plimsoll.review.verdict import Verdict

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
