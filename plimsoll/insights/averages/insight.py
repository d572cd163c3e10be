"""Sentences about averages that mislead."""

from plimsoll.insights.averages.find import MisleadingAverage, find_misleading_averages
from plimsoll.insights.insights import BESIDE_LIMITS, Insight, build_statements
from plimsoll.model.document import Section, Statement
from plimsoll.model.times import Zone
from plimsoll.model.value_text import format_percent, format_value
from plimsoll.review.review import Review
from plimsoll.review.sentences import add_subject


def _build_blocks(averages: tuple[MisleadingAverage, ...], review: Review, zone: Zone) -> tuple[Section, ...]:
    """Return a section with a sentence on each of the most misleading averages; an empty tuple without averages."""
    return build_statements(
        "Averages that mislead", averages, lambda average, _: Statement((describe_average(average),))
    )


def describe_average(average: MisleadingAverage) -> str:
    """Return a sentence on why an average says little, with the figures that say more."""

    def text(value: float | None) -> str:
        return format_value(float("nan") if value is None else value, average.signal.unit)

    figures = average.figures
    start = f"The average of {add_subject(average.signal.title, average.subject)} is {text(figures.mean)}, but "
    if average.kind == "bursts":
        rest = figures.nonzero_share or 0.0
        return (
            f"{start}{format_percent(1 - rest)} of the samples are zero; the other {format_percent(rest)} average "
            f"{text(figures.nonzero_mean)}, at most {text(figures.maximum)}."
        )
    if average.kind == "tail":
        half = f"at most {text(figures.median)}" if figures.median else "zero"
        highest = f"1 % are above {text(figures.p99)}, at most {text(figures.maximum)}"
        highest = highest if figures.p99 != figures.maximum else f"1 % and more are {text(figures.maximum)}"
        return f"{start}half of the samples are {half}, and {highest}."
    share = average.share or 0.0
    return (
        f"{start}it is hardly ever near that: {format_percent(share)} of the samples are around {text(average.high)}, "
        f"the others around {text(average.low)}."
    )


INSIGHT = Insight("averages", BESIDE_LIMITS, find_misleading_averages, _build_blocks)
