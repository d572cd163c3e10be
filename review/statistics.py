"""What every series did, over the whole run and in each phase.

Long averages hide spikes ("analyzing averages over a long period of time will not be useful in
finding bottlenecks", OCS 2007 on HP BladeSystem, Test results): the share and the mean of the
samples that are not zero stand beside the mean of all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from model.log import Log
from model.run import Phase
from model.samples import Recorded, Samples
from model.series import Series

WHOLE_RUN = "whole run"


@dataclass(frozen=True, slots=True)
class Statistic:
    """One series in one phase. Values are in the counter's own unit; None where there is no sample."""

    series: Series
    phase: str
    samples: int
    missing: int
    mean: float | None = None
    minimum: float | None = None
    median: float | None = None
    p95: float | None = None
    p99: float | None = None
    maximum: float | None = None
    nonzero_share: float | None = None
    nonzero_mean: float | None = None


def statistics(logs: Sequence[Log], phases: Sequence[Phase], start: int | None, end: int | None) -> Iterator[Statistic]:
    """Every series over the whole run (or the chosen part of it) and in each phase."""
    recorded = Recorded(logs)
    for series in recorded.series:
        samples = recorded.samples(series).between(start, end)
        yield _statistic(series, WHOLE_RUN, samples)
        for phase in phases:
            yield _statistic(series, phase.name, samples.between(phase.start, phase.end))


def _statistic(series: Series, phase: str, samples: Samples) -> Statistic:
    values = samples.present.values
    missing = len(samples.values) - len(values)
    if not len(values):
        return Statistic(series, phase, 0, missing)
    ordered = np.sort(values)
    nonzero = ordered[ordered != 0]
    return Statistic(
        series,
        phase,
        samples=len(values),
        missing=missing,
        mean=float(ordered.mean()),
        minimum=float(ordered[0]),
        median=_quantile(ordered, 0.5),
        p95=_quantile(ordered, 0.95),
        p99=_quantile(ordered, 0.99),
        maximum=float(ordered[-1]),
        nonzero_share=len(nonzero) / len(ordered),
        nonzero_mean=float(nonzero.mean()) if len(nonzero) else None,
    )


def _quantile(ordered: np.ndarray, share: float) -> float:
    """The value at a share of the ordered samples, interpolated linearly between neighbours."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))
