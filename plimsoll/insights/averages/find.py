"""Averages that mislead: means of signals that come in bursts, have a long tail, or alternate between two levels.

"Analyzing averages over a long period of time will not be useful in finding bottlenecks" (OCS 2007 on HP BladeSystem,
Test results). The study's example: of 2,331 samples of a database disk's writes only 190 are not zero; these 190
average 462/s and reach 1,230/s. (The study prints 32/s for all samples, but 190 x 462 / 2,331 is 37.7, which is used
here.)
"""

from typing import Literal

import numpy as np

from plimsoll.insights.leading_signals import find_smallest_change, list_leading, list_plain_signals, list_upper_limits
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.review.review import Review
from plimsoll.review.statistics import Figures, compute_figures, compute_weights
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

Kind = Literal["bursts", "tail", "two levels"]
_FEWEST_SAMPLES = 60
_MOST_NONZERO = 0.25  # the share of samples that are not zero in bursts
_FEWEST_NONZERO = 10  # samples; fewer are single events
_FEWEST_FOR_TAIL = 200  # samples; of fewer, 1 % is hardly one
_TAIL = 5.0  # p99 is so many times the mean
_EACH_LEVEL = 0.15  # the least share of the samples at one of two levels
_EXPLAINED = 0.9  # of the variance, by two levels
_BETWEEN = 0.02  # the most samples that are near the mean
_SWITCHES = 6  # from level to level; fewer are phases
_MOST = 10


@dataclass(frozen=True)
class MisleadingAverage:
    """A signal whose mean misleads.

    With two levels, `low` and `high` are the mean values at the levels, and `share` is the share of samples at `high`;
    for the kinds `bursts` and `tail`, `low`, `high` and `share` are None.
    """

    kind: Kind
    name: str
    signal: Signal
    subject: Subject
    figures: Figures
    low: float | None = None
    high: float | None = None
    share: float | None = None


def find_misleading_averages(review: Review) -> tuple[MisleadingAverage, ...]:
    """Return the averages that mislead most: averages that hide a crossed limit, then averages of bursts, then others.

    Averages of equal rank are sorted by how far the values that they hide are from the mean.
    """
    limits = {
        (finding.rule.signal, subject.key): limit for finding, subject, limit in reversed(list_upper_limits(review))
    }

    def rank(average: MisleadingAverage) -> tuple[bool, bool, float]:
        values = {"bursts": average.figures.nonzero_mean, "tail": average.figures.p99, "two levels": average.high}
        mean, hidden = average.figures.mean or 0.0, values[average.kind] or 0.0
        hides = mean <= limits.get((average.name, average.subject.key), float("inf")) < hidden
        return hides, average.kind == "bursts", (hidden - mean) / find_smallest_change(average.signal.unit)

    averages = (
        average
        for name, signal in list_plain_signals(review.question.signals)
        if not name.startswith("process.")
        for subject, samples in list_leading(review, name)
        if (average := _describe_misleading(name, signal, subject, samples))
    )
    first: dict[object, MisleadingAverage] = {}
    for average in sorted(averages, key=rank, reverse=True):  # reads and transfers of a disk tell the same
        first.setdefault((average.subject.key, average.signal.unit), average)
    return tuple(first.values())[:_MOST]


def _describe_misleading(name: str, signal: Signal, subject: Subject, samples: Samples) -> MisleadingAverage | None:
    """Return how a signal's mean misleads, with the signal's figures; None if the mean does not mislead."""
    values = samples.present.values
    if len(values) < _FEWEST_SAMPLES:
        return None
    smallest, mean, highest = find_smallest_change(signal.unit), float(values.mean()), float(values.max())
    if highest - mean < smallest:
        return None
    share = np.count_nonzero(values) / len(values)
    if share <= _MOST_NONZERO:
        many = share * len(values) >= _FEWEST_NONZERO and mean / share - mean >= smallest
        kind: Kind | None = "bursts" if many else None
    else:
        p99 = float(np.partition(values, at := int(0.99 * (len(values) - 1)))[at])
        long = len(values) >= _FEWEST_FOR_TAIL
        kind = "tail" if long and p99 >= _TAIL * mean and p99 - mean >= smallest else None
    levels = _find_two_levels(values) if share > _MOST_NONZERO and not kind else None
    if levels and levels[1] - levels[0] >= smallest:
        kind = "two levels"
    if kind is None:
        return None
    all_figures = compute_figures(samples, compute_weights(samples), None, None)
    return MisleadingAverage(kind, name, signal, subject, all_figures, *(levels or ()))


def _find_two_levels(values: Values) -> tuple[float, float, float] | None:
    """Return the mean values at a lower and a higher level, and the share of values at the higher; None without levels.

    Values have two levels if hardly any lie between, and if the values change level several times. The border between
    the levels is where it explains most of the variance (Otsu, "A threshold selection method from gray-level
    histograms", IEEE Transactions on Systems, Man and Cybernetics 9, 1979).
    """
    mean, deviation = float(values.mean()), float(values.std())
    if deviation == 0 or float((np.abs(values - mean) < 0.25 * deviation).mean()) > _BETWEEN:
        return None
    ordered = np.sort(values)
    rows = np.arange(1, len(ordered))
    sums = np.cumsum(ordered)[:-1]
    low, high = sums / rows, (ordered.sum() - sums) / (len(ordered) - rows)
    explained = rows * (len(ordered) - rows) * (high - low) ** 2 / len(ordered) ** 2
    at = int(np.argmax(explained))
    share = 1 - (at + 1) / len(ordered)
    above = values > ordered[at]
    if explained[at] < _EXPLAINED * deviation**2 or not _EACH_LEVEL <= share <= 1 - _EACH_LEVEL:
        return None
    if np.count_nonzero(above[1:] != above[:-1]) < _SWITCHES:
        return None
    return float(low[at]), float(high[at]), share
