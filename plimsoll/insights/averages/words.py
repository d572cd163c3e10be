"""Averages that mislead, in words."""

from plimsoll.insights.averages.find import MisleadingAverage
from plimsoll.insights.beside_limits import told as told_beside
from plimsoll.insights.insight import Told
from plimsoll.model.times import Zone
from plimsoll.model.value_text import percent, quantity
from plimsoll.review.sentences import titled


def told(found: tuple[MisleadingAverage, ...], zone: Zone) -> Told:
    """The first of them."""
    return told_beside([(sentence(one),) for one in found])


def sentence(one: MisleadingAverage) -> str:
    """Why an average says little, with what says more."""

    def shown(value: float | None) -> str:
        return quantity(float("nan") if value is None else value, one.signal.unit)

    figures = one.figures
    start = f"The average of {titled(one.signal.title, one.subject)} is {shown(figures.mean)}, but "
    if one.kind == "bursts":
        rest = figures.nonzero_share or 0.0
        return (
            f"{start}{percent(1 - rest)} of the samples are zero; the other {percent(rest)} average "
            f"{shown(figures.nonzero_mean)}, at most {shown(figures.maximum)}."
        )
    if one.kind == "tail":
        half = f"at most {shown(figures.median)}" if figures.median else "zero"
        highest = f"1 % are above {shown(figures.p99)}, at most {shown(figures.maximum)}"
        return f"{start}half of the samples are {half}, and {highest}."
    share = one.share or 0.0
    return (
        f"{start}it is hardly ever near that: {percent(share)} of the samples are around {shown(one.high)}, the "
        f"others around {shown(one.low)}."
    )
