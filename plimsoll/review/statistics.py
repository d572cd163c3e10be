"""Statistics of every series, over the whole run and in each phase.

Long averages hide spikes ("analyzing averages over a long period of time will not be useful in finding bottlenecks",
OCS 2007 on HP BladeSystem, Test results), so the share of samples that are not zero and their mean are given as well.
If the recorder changed its interval, samples are weighted by the interval: five minutes sampled every second count as
five minutes, not as most of a day that was otherwise sampled every minute.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log, Times, Values, mark_within
from plimsoll.model.run import Phase
from plimsoll.model.samples import Recorded, Samples
from plimsoll.model.series import Series

WHOLE_RUN = "whole run"


@dataclass(frozen=True, slots=True)
class Figures:
    """Statistics of a series over a span of time, in the counter's own unit; None without samples."""

    samples: int
    missing: int
    mean: float | None = None
    minimum: float | None = None
    p1: float | None = None
    p5: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    maximum: float | None = None
    nonzero_share: float | None = None
    nonzero_mean: float | None = None


@dataclass(frozen=True, slots=True)
class Statistic:
    """The statistics of one series in one phase, or over the whole run."""

    series: Series
    phase: str
    figures: Figures


def compute_statistics(
    logs: Sequence[Log], phases: Sequence[Phase], start: int | None, end: int | None
) -> Iterator[Statistic]:
    """Yield the statistics of every series over the run, limited to `start` and `end` (UTC ns), and in each phase."""
    recorded = Recorded(logs)
    weights_of_rows = Weights()
    for series in recorded.series:
        samples = recorded.samples(series)
        weights = weights_of_rows(samples)
        yield Statistic(series, WHOLE_RUN, compute_figures(samples, weights, start, end))
        for phase in phases:
            yield Statistic(series, phase.name, compute_figures(samples, weights, phase.start, phase.end))


class Weights:
    """Computes the weights of samples once for each recording, as most series of a recording share their times."""

    def __init__(self) -> None:
        self._by_times: dict[int, tuple[Times, Values | None]] = {}

    def __call__(self, samples: Samples) -> Values | None:
        """Return the weight of each row, its sampling interval (ns); None if all rows have the same interval."""
        if id(samples.times) not in self._by_times:
            self._by_times[id(samples.times)] = samples.times, compute_weights(samples)
        return self._by_times[id(samples.times)][1]


def compute_weights(samples: Samples) -> Values | None:
    """Return the weight of each row, its sampling interval (ns); None if all rows have the same interval."""
    if samples.interval is None or not samples.other_intervals:
        return None
    weights = np.full(len(samples.times), float(samples.interval))
    for part in samples.other_intervals:
        weights[mark_within(samples.times, [part.span])] = part.interval
    return weights


def compute_figures(samples: Samples, weights: Values | None, start: int | None, end: int | None) -> Figures:
    """Return the statistics from `start` to `end` (UTC ns, both included); `weights` has a weight for each sample."""
    rows = samples.between(start, end)
    values = rows.present.values
    missing = len(rows.values) - len(values)
    if not len(values):
        return Figures(0, missing)
    if weights is None:
        ordered = np.sort(values)
    else:
        order = np.argsort(values)
        ordered, weights = values[order], weights[np.searchsorted(samples.times, rows.present.times)][order]
    nonzero = ordered != 0
    p1, p5, median, p95, p99 = _compute_quantiles(ordered, weights, (0.01, 0.05, 0.5, 0.95, 0.99))
    return Figures(
        samples=len(values),
        missing=missing,
        mean=_compute_mean(ordered, weights),
        minimum=float(ordered[0]),
        p1=p1,
        p5=p5,
        median=median,
        p95=p95,
        p99=p99,
        maximum=float(ordered[-1]),
        nonzero_share=_compute_mean(nonzero.astype(float), weights),
        nonzero_mean=_compute_mean(ordered[nonzero], None if weights is None else weights[nonzero])
        if nonzero.any()
        else None,
    )


def _compute_mean(values: Values, weights: Values | None) -> float:
    return float(values.mean() if weights is None else np.average(values, weights=weights))


def _compute_quantiles(ordered: Values, weights: Values | None, shares: Sequence[float]) -> list[float]:
    """Return the quantiles `shares` (0 to 1) of ascending samples, interpolated linearly between neighbours.

    Of n samples, sample k (from 0) is at position k; with weights, at k times its weight plus n - 1 times the sum of
    the weights before it.
    """
    places = np.arange(len(ordered), dtype=np.float64)
    if weights is not None:
        places = places * weights + (len(ordered) - 1) * (np.cumsum(weights) - weights)
    return np.interp(np.array(shares) * places[-1], places, ordered).tolist()
