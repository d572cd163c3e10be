"""A review and what the signals of its run tell beyond their thresholds."""

from dataclasses import dataclass, field
from typing import Any

from plimsoll.insights.insight import F, Insight
from plimsoll.review.review import Review


@dataclass(frozen=True)
class Insights:
    """A review and its insights, each found when it is first asked for. The outputs are made from this."""

    review: Review
    _found: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    def of(self, insight: Insight[F]) -> F:
        """What one kind of insight finds in the review."""
        if insight.name not in self._found:
            self._found[insight.name] = insight.find(self.review)
        return self._found[insight.name]
