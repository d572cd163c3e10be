"""A diagnosis: what the signals of a reviewed run tell beyond its thresholds."""

from dataclasses import dataclass
from functools import cached_property

from diagnosis.limit import Limit, what_limits
from review.review import Review


@dataclass(frozen=True)
class Diagnosis:
    """A review and what else its signals tell. The outputs are made from this."""

    review: Review

    @cached_property
    def limit(self) -> Limit | None:
        """What limits the run; None if it has no samples."""
        return what_limits(self.review)
