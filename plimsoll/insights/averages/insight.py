"""Sentences about averages that mislead."""

from plimsoll.insights.averages.find import MisleadingAverage, misleading_averages
from plimsoll.insights.insights import BESIDE_LIMITS, Insight, statements
from plimsoll.model.document import Section, Statement
from plimsoll.model.times import Zone
from plimsoll.model.value_text import percent, quantity
from plimsoll.review.review import Review
from plimsoll.review.sentences import titled


def _blocks(averages: tuple[MisleadingAverage, ...], review: Review, zone: Zone) -> tuple[Section, ...]:
    """Return a section with a sentence on each of the most misleading averages; an empty tuple without averages."""
    return statements("Averages that mislead", averages, lambda average, _: Statement((sentence(average),)))


def sentence(average: MisleadingAverage) -> str:
    """Return a sentence on why an average says little, with the figures that say more."""

    def text(value: float | None) -> str:
        return quantity(float("nan") if value is None else value, average.signal.unit)

    figures = average.figures
    start = f"The average of {titled(average.signal.title, average.subject)} is {text(figures.mean)}, but "
    if average.kind == "bursts":
        rest = figures.nonzero_share or 0.0
        return (
            f"{start}{percent(1 - rest)} of the samples are zero; the other {percent(rest)} average "
            f"{text(figures.nonzero_mean)}, at most {text(figures.maximum)}."
        )
    if average.kind == "tail":
        half = f"at most {text(figures.median)}" if figures.median else "zero"
        highest = f"1 % are above {text(figures.p99)}, at most {text(figures.maximum)}"
        highest = highest if figures.p99 != figures.maximum else f"1 % and more are {text(figures.maximum)}"
        return f"{start}half of the samples are {half}, and {highest}."
    share = average.share or 0.0
    return (
        f"{start}it is hardly ever near that: {percent(share)} of the samples are around {text(average.high)}, the "
        f"others around {text(average.low)}."
    )


INSIGHT = Insight("averages", BESIDE_LIMITS, misleading_averages, _blocks)
