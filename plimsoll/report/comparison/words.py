"""Words that the outputs of a comparison share."""

from plimsoll.comparison.judging import Compared, Outcome
from plimsoll.comparison.sentences import change_text
from plimsoll.model.value_text import number, quantity

TITLES = {
    Outcome.REGRESSION: "Worse",
    Outcome.IMPROVEMENT: "Better",
    Outcome.CHANGE: "Changed",
    Outcome.LOAD: "As the load lets expect",
    Outcome.SPREAD: "Differs, as runs of one build may",
    Outcome.WITHIN: "Differs, but by less than the tolerance",
    Outcome.UNCLEAR: "Too few samples to tell",
    Outcome.SAME: "No difference that matters",
}


def difference_unit(one: Compared) -> str:
    """The unit of differences: percentages differ by points."""
    return "points" if one.signal.unit == "%" else one.signal.unit


def interval_text(one: Compared) -> str:
    """`−7,134 s, −7,900 s to −6,300 s`: the difference and its interval."""
    low, high = one.difference.interval()
    unit = difference_unit(one)
    return f"{signed(low, unit)} to {signed(high, unit)}"


def signed(value: float, unit: str) -> str:
    """`+12 /s`, `−3 points`."""
    return f"{'+' if value > 0 else '−' if value < 0 else '±'}{quantity(abs(value), unit)}"


def effective_text(one: Compared) -> str:
    """`35 and 1,561 of 1,561`: how many independent samples each run has."""
    first, second = one.first.mean, one.second.mean
    counts = number(round(first.effective)), number(round(second.effective))
    return f"{counts[0]} and {counts[1]}"


def cells(one: Compared) -> tuple[str, str, str, str, str]:
    """Baseline, other run, change, interval of the difference, effective samples."""
    unit = one.signal.unit
    first, second = quantity(one.before, unit), quantity(one.second.mean.mean, unit)
    return first, second, change_text(one), interval_text(one), effective_text(one)
