"""A diagnosis: what the signals of a reviewed run tell beyond its thresholds."""

from dataclasses import dataclass
from functools import cached_property

from diagnosis.load_steps import LoadSteps, load_steps
from review.review import Review


@dataclass(frozen=True)
class Diagnosis:
    """A review and what else its signals tell. The outputs are made from this."""

    review: Review

    @cached_property
    def load_steps(self) -> LoadSteps | None:
        """The steps of the run's load, and what they show; None if it was not stepped."""
        return load_steps(self.review)
