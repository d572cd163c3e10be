"""The level of a signal in a phase of one run: its mean with error, its spread, its peaks."""

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from plimsoll.analysis.bootstrap import Estimate, Quantile, estimate, estimate_quantile, estimate_row_means
from plimsoll.analysis.significance import compute_independent_means
from plimsoll.comparison.signal_settings import LEAST_GROWTH
from plimsoll.model.errors import Unusable
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values
from plimsoll.model.parameters import Parameter
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.review.review import Review
from plimsoll.review.statistics import WHOLE_RUN, Weights

_STEADY = "steady"


@dataclass(frozen=True)
class CommonPhase:
    """A phase that both runs have; for the whole run, `first` and `second` are None."""

    name: str
    first: Phase | None = None
    second: Phase | None = None


# A pause longer than this many sampling intervals and this many ns interrupts a series.
_PAUSE = 20
_LEAST_PAUSE = 600 * 10**9
_AT_ONCE = 2**17  # samples, so that the arrays fit into the cache of a processor
_WITHIN = 2.0  # standard errors of a slope
_FOLLOWS = 0.05  # of the variance: what explains less makes the error of a mean hardly smaller


@dataclass(frozen=True, eq=False)
class SignalLevel:
    """The samples (at least one) of one signal of one subject in one phase; `weights` is None if all weigh the same."""

    samples: Samples
    weights: Values | None
    _latest: list[Any] = field(default_factory=list[Any], init=False, repr=False)

    @classmethod
    def of(cls, samples: Samples, phase: Phase | None, weights_of: Weights | None = None) -> "SignalLevel | None":
        """Return the level of the samples in a phase, or of all samples if `phase` is None; None without samples."""
        weights = (weights_of or Weights())(samples)
        rows = samples.between(phase.start, phase.end) if phase else samples
        present = rows.present
        if not len(present.times):
            return None
        if weights is not None:
            weights = weights[np.searchsorted(samples.times, present.times)]
            weights = None if (weights == weights[0]).all() else weights
        return cls(present, weights)

    @property
    def values(self) -> Values:
        """The sampled values."""
        return self.samples.values

    @cached_property
    def mean(self) -> Estimate:
        """The mean and its error."""
        return estimate(self.values, self.weights, self.breaks)

    @cached_property
    def blocks(self) -> Values:
        """The means of blocks of samples that are long enough to be independent of each other."""
        return compute_independent_means(self.values, self.mean.correlation_time, self.weights, self.breaks)

    def beside(self, load: "SignalLevel | None") -> Estimate:
        """Return the mean, and its error without the part of the noise that follows the load (a control variate).

        Slow noise leaves few degrees of freedom, as in Bartlett's window (Priestley, 1981).
        """
        estimated = self.mean
        if load is not None:
            slope, of_load, squares = self._find_slope(load)
            if slope**2 * squares > _FOLLOWS * len(self.values) * self.mean.variance:
                estimated = estimate(self.values - slope * of_load, self.weights, self.breaks)
        independent = estimated.samples / estimated.correlation_time
        return estimated._replace(mean=self.mean.mean, freedom=max(1.0, min(estimated.freedom, independent / 2 - 1)))

    def growth(self, load: "SignalLevel | None") -> float:
        """Return the least exponent by which the signal grows with the load, as samples show: 0.5 to 1."""
        if load is None or not self.mean.mean:
            return LEAST_GROWTH
        slope, of_load, squares = self._find_slope(load)
        weight = squares / len(of_load)
        error = estimate(self.values - slope * of_load).error / np.sqrt(weight) if weight else np.inf
        exponent = (slope - _WITHIN * error) * load.mean.mean / self.mean.mean
        return float(np.clip(exponent, LEAST_GROWTH, 1.0))

    def _find_slope(self, load: "SignalLevel") -> tuple[float, Values, float]:
        """Return the signal's slope over the load, and what the load's `_deviate_at` returns for the signal's times."""
        of_load, squares = load._deviate_at(self.samples.times)
        return float(self.values @ of_load) / squares if squares else 0.0, of_load, squares

    def _deviate_at(self, times: Times) -> tuple[Values, float]:
        """Return the deviations of the values at other times from their mean there, and the sum of their squares.

        They are kept for the latest times, as most signals of a run have the same.
        """
        if not self._latest or not np.array_equal(self._latest[0], times):
            deviations = np.interp(times, self.samples.times, self.values)
            deviations -= deviations.mean()
            self._latest[:] = times, deviations, float(deviations @ deviations)
        _, deviations, squares = self._latest
        return deviations, squares

    @cached_property
    def p5(self) -> Quantile:
        """The 5th percentile and its interval."""
        return estimate_quantile(self.values, 0.05, self.weights)

    @cached_property
    def p95(self) -> Quantile:
        """The 95th percentile and its interval."""
        return estimate_quantile(self.values, 0.95, self.weights)

    @property
    def lowest(self) -> float:
        """The lowest sampled value."""
        return float(self.values.min())

    @property
    def highest(self) -> float:
        """The highest sampled value."""
        return float(self.values.max())

    @cached_property
    def breaks(self) -> Sequence[int]:
        """The indices of the samples that follow a long pause of the recording."""
        steps = np.diff(self.samples.times)
        if not len(steps) or int(steps.max()) <= _LEAST_PAUSE:
            return ()
        interval = self.samples.interval or 0
        return (np.flatnonzero(steps > max(_LEAST_PAUSE, _PAUSE * interval)) + 1).tolist()


def estimate_means(levels: Sequence[SignalLevel]) -> None:
    """Compute and cache the means of many levels; levels of equal length are computed together."""
    alike = group_pairs((len(level.values), level) for level in levels if level.weights is None and not level.breaks)
    for rows, group in alike.items():
        most = max(1, _AT_ONCE // rows)
        for part in (group[at : at + most] for at in range(0, len(group), most)):
            for level, mean in zip(part, estimate_row_means(np.stack([level.values for level in part])), strict=True):
                level.__dict__["mean"] = mean  # as its property would


def list_common_phases(first: Review, second: Review) -> tuple[CommonPhase, ...]:
    """Return the phases that both runs have: the steady phase, the other phases by falling length, the whole run."""
    of_first, of_second = ({phase.name: phase for phase in reversed(run.phases)} for run in (first, second))
    shared = [(name, phase, of_second[name]) for name, phase in of_first.items() if name in of_second]
    shared.sort(key=lambda both: (both[0] != _STEADY, -min(phase.end - phase.start for phase in both[1:])))
    return (*(CommonPhase(*both) for both in shared), CommonPhase(WHOLE_RUN))


def choose_phase(phases: tuple[CommonPhase, ...], name: str | None) -> CommonPhase:
    """Return the phase called `name`, or raise Unusable; without a name the steady phase, else the whole run."""
    if name is None:
        return phases[0] if phases[0].name == _STEADY else phases[-1]
    phase = next((phase for phase in phases if phase.name.casefold() == name.casefold()), None)
    if phase is None:
        raise Unusable(
            f'{Parameter.PHASE} "{name}": the runs do not both have it; they have {", ".join(p.name for p in phases)}'
        )
    return phase
