"""A review and what the signals of its run tell beyond their thresholds."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from plimsoll.insights.insight import F, Insight
from plimsoll.insights.registry import insights
from plimsoll.review.doubts import Doubt
from plimsoll.review.review import Review
from plimsoll.review.verdict import Verdict


@dataclass(frozen=True)
class Insights:
    """A review and its insights, each found when it is first asked for. The outputs are made from this.

    `judged` is the review by its limits alone. `review` has the last word on the verdict: it also has the doubts that
    insights raise.
    """

    judged: Review
    _found: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @cached_property
    def review(self) -> Review:
        """The review with what lies ahead, and the doubts of the insights; a run that is not healthy needs none."""
        ahead = tuple(text for one in insights() if one.ahead for text in one.ahead(self.of(one)))
        sick = self.judged.verdict == Verdict.NOT_HEALTHY
        raised = [] if sick else [one.doubt(self.of(one)) for one in insights() if one.doubt]
        told = tuple(Doubt(text) for text in raised if text)
        return replace(self.judged, told=told, ahead=ahead) if told or ahead else self.judged

    def of(self, insight: Insight[F]) -> F:
        """What one kind of insight finds in the review."""
        if insight.name not in self._found:
            self._found[insight.name] = insight.find(self.judged)
        return self._found[insight.name]
