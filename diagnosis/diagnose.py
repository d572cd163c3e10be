"""A diagnosis: what the signals of a reviewed run tell beyond its thresholds."""

from dataclasses import dataclass

from review.review import Review


@dataclass(frozen=True)
class Diagnosis:
    """A review and what else its signals tell. The outputs are made from this."""

    review: Review
