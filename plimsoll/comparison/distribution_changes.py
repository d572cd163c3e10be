"""Changes of distributions that means hide: stalls, failed requests in bursts, higher peaks, more noise.

The kind of a signal decides which changes are sought (`shape` in run_to_run.yaml). A change counts if it exceeds the
spread between runs of one build and what the load explains. Noise is the deviation of samples from the median of their
neighbours; ramps, slow drifts, rare bursts and changes that follow the load are not noise.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from plimsoll.analysis.bootstrap import Difference, estimate, estimate_independent_mean
from plimsoll.analysis.filters import compute_median, filter_median, find_runs
from plimsoll.analysis.significance import correct_by_hochberg
from plimsoll.comparison.compared_signal import FALSE_ALARMS, Compared, ComparisonOutcome
from plimsoll.comparison.levels import SignalLevel
from plimsoll.comparison.loads import LoadComparison
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND

MANY = 20.0  # % of the requests; our choice
_BURST_LASTS = 60 * SECOND  # our choice
_TIMES = 10  # how much longer it is than the longest burst of the baseline, as bursts vary in length; our choice
_CHANCE = 0.001  # of a false alarm, of a signal of which there is one in a run
Shape = Literal["stalls", "failures", "peaks", "noise"]
# Our choices. Of the usual load: below the first it stalls, if that lasts, and from the second on there is work.
_STALLED, _WORKS = 0.2, 0.5
_REACHED = 0.9  # the quantile from which what is usual is taken, as most of a run may be a stall
_LASTS = 20 * SECOND
_FEWEST_STALLS = 2
_LONG_STALL = 110 * SECOND  # one of these alone counts: two minutes, less what noise hides of them
_FEWEST_ROWS = 20
_SLOWER = 5.0  # times as slow as at other times, during stalls; our choice
_FEWEST_MISSED = 30  # operations that a stall lacks: fewer may come together by chance
_HIGHER = 1.5  # times the 99th percentile of the baseline: what is above it is a peak of another kind
_PEAK = 0.99
_SUSTAINED = 0.1  # of the time, above what is a peak of another kind, that no chance explains; our choice
_STEADY = 10.0  # independent samples of a baseline that does not drift by itself; our choice
# Deviations are larger from so many times those of the baseline on, and more by so many times what the level of runs of
# one build differs by; our choice: those of runs of one build differ by less.
_LARGER, _SPREADS = 1.05, 6.0
_NEIGHBOURS = 31  # samples, from whose median deviations are taken
_OF_LEAST = 0.25  # of the least amount that matters in a mean; our choice
_BURST = 2.5  # times the usual deviation: more may be a burst, and counts as so much
_FEWEST = 100  # samples


@dataclass(frozen=True, eq=False)
class Reshaped:
    """A change of a signal's distribution: more stalls, failures, peaks or noise (`shape`) than in the baseline.

    `before` and `after` depend on `shape`: the share of the time in stalls, the longest burst of failed requests (s),
    the 99th percentile, or the median deviation. `times` are the start and end (ns) of each stall,
    and `slow` is what was slow in just these times, with its mean at other times and in them.
    """

    shape: Shape
    compared: Compared
    before: float
    after: float
    times: tuple[tuple[int, int], ...] = ()
    slow: tuple[Compared, float, float] | None = None


def find_distribution_changes(signals: list[Compared]) -> list[Reshaped]:
    """Return the signals whose peaks or noise grew significantly."""
    enough = [c for c in signals if min(len(level.values) for level in (*c.baselines, c.second)) >= _FEWEST]
    peaking = [compared for compared in enough if compared.treatment.shape in ("all", "sustained")]
    noisy = [compared for compared in enough if compared.treatment.shape in ("all", "noise")]
    return [
        *_select_significant(peaking, "peaks", _compare_peaks),
        *_select_significant(noisy, "noise", _compare_noise),
    ]


def find_stalls(loads: Sequence[LoadComparison]) -> list[Reshaped]:
    """Return the load signals that stalled more than twice as often, or more than twice as long, as in every baseline.

    `loads` are the comparisons of the load with each baseline, the last baseline last.
    """
    stalls: list[Reshaped] = []
    for compared in loads[-1].telling:
        after = _find_stalls(compared.second, loads[-1].users and loads[-1].users.second)
        before = [
            _find_stalls(other.first, load.users and load.users.first)
            for load in loads
            for other in load.signals
            if other.name == compared.name
        ]
        many = after.stalls >= _FEWEST_STALLS and all(2 * other.frequency < after.frequency for other in before)
        long = after.longest >= _LONG_STALL and all(2 * other.longest < after.longest for other in before)
        if many or long:
            stalls.append(Reshaped("stalls", compared, max(other.share for other in before), after.share, after.times))
    return stalls


def find_slow(stall: Reshaped, compareds: Sequence[Compared]) -> Reshaped:
    """Return the stall with what was slowest of a host, relative to other times, while it lasted."""
    slow_resources: list[tuple[float, Compared, float, float]] = []
    for compared in compareds:
        is_slow = compared.treatment.load == "waiting" and compared.signal.unit in ("s", "ms")
        if not is_slow or compared.name.startswith("client."):  # what its users saw is the effect, not the cause
            continue
        times, values = compared.second.samples.times, compared.second.values
        inside = np.zeros(len(times), dtype=bool)
        for start, end in stall.times:
            inside |= (times >= start) & (times <= end)
        if inside.any() and not inside.all():
            slow, usual = float(np.mean(values[inside])), float(np.mean(values[~inside]))
            if slow > _SLOWER * usual + compared.treatment.smallest:
                slow_resources.append((slow / max(usual, compared.treatment.smallest), compared, usual, slow))
    return replace(stall, slow=max(slow_resources, key=lambda entry: entry[0])[1:]) if slow_resources else stall


class _Stalled(NamedTuple):
    """The number of stalls, the longest (ns), their share of the working time, their number per ns, and their times."""

    stalls: int = 0
    longest: float = 0
    share: float = 0
    frequency: float = 0
    times: tuple[tuple[int, int], ...] = ()


def _find_stalls(load: SignalLevel, users: SignalLevel | None) -> _Stalled:
    """Return the stalls of a load between its first and its last work, except pauses without users."""
    values, times = load.values, load.samples.times
    usual = compute_median(values[values >= _STALLED * np.quantile(values, _REACHED)])
    if len(values) < _FEWEST_ROWS or usual <= 0:
        return _Stalled()
    step = compute_median(np.diff(times))
    active, low = values >= _WORKS * usual, values < _STALLED * usual
    if users is not None:
        asking = np.interp(times, users.samples.times, users.values) / users.highest
        active, low = active | (asking >= _WORKS), low & (asking >= _STALLED)
    first, last = np.flatnonzero(active)[[0, -1]]
    low[:first] = low[last + 1 :] = False
    missing = step * (1 - values / usual).clip(0)  # a stall that begins within a sample also lowers its neighbour
    runs = find_runs(low)
    lengths = [float(missing[max(0, start - 1) : end + 1].sum()) for start, end in runs]
    shortest = max(_LASTS, _FEWEST_MISSED / usual * SECOND)
    stalls = [length for length in lengths if length >= shortest]
    when = tuple(
        (int(times[start]), int(times[end - 1]))
        for (start, end), length in zip(runs, lengths, strict=True)
        if length >= shortest
    )
    span = float(times[last] - times[first] + step)
    return _Stalled(len(stalls), max(stalls, default=0), sum(stalls) / span, len(stalls) / span, when)


class _Judged(NamedTuple):
    """A figure of the baseline and of the second run, and the p-value of their difference."""

    before: float
    after: float
    chance: float


def _select_significant(
    compareds: list[Compared], shape: Shape, judge: Callable[[Compared], _Judged]
) -> Iterator[Reshaped]:
    """Yield the signals whose distribution changed significantly, by p-values corrected for the number of signals."""
    judged = [judge(compared) for compared in compareds]
    chances = correct_by_hochberg(np.array([signal.chance for signal in judged])) if judged else ()
    for compared, signal, chance in zip(compareds, judged, chances, strict=True):
        if chance < FALSE_ALARMS:
            yield Reshaped(shape, compared, signal.before, signal.after)


def _compare_peaks(compared: Compared) -> _Judged:
    """Return the change of peaks since the baseline from which the change is least significant."""
    return max(
        (_compare_peaks_against(compared, level) for level in compared.baselines), key=lambda judged: judged.chance
    )


def _compare_peaks_against(compared: Compared, level: SignalLevel) -> _Judged:
    first, second, shape = level.values, compared.second.values, compared.treatment.shape
    usual = float(np.quantile(first, _PEAK))
    limit = _HIGHER * max(1.0, compared.expected.high) * usual + compared.treatment.smallest
    above = [(values > limit).astype(float) for values in (first, second)]
    share = float(above[1].mean())
    chance = 1.0
    if shape != "sustained" or compared.is_worse:
        if share >= _SUSTAINED and level.mean.effective >= _STEADY:
            chance = 0.0
        elif shape != "sustained" and share > above[0].mean():
            chance = Difference.of(*map(estimate, above)).chance
    return _Judged(usual, float(np.quantile(second, _PEAK)) if chance < FALSE_ALARMS else usual, chance)


def _compare_noise(compared: Compared) -> _Judged:
    """Return the change of noise, without noise that follows the load; `before` is the noisiest baseline's noise."""
    loads = compared.loads if compared.treatment.shape == "all" else ()
    beside = [load.first if load else None for load in loads] or [None] * len(compared.baselines)
    first = [np.abs(_compute_roughness(*pair)) for pair in zip(compared.baselines, beside, strict=True)]
    second = np.abs(_compute_roughness(compared.second, loads[-1].second if loads and loads[-1] else None))
    before, after = max(compute_median(values) for values in first), compute_median(second)
    if after <= before:
        return _Judged(before, after, 1.0)
    usual = compute_median(np.concatenate(first))
    most = _BURST * usual if usual else np.inf
    factor = (_LARGER + _SPREADS * compared.treatment.spread) * max(1.0, compared.expected.high)
    larger = factor * np.concatenate(first) + _OF_LEAST * compared.treatment.smallest
    estimates = (estimate(np.minimum(values, most)) for values in (larger, second))
    return _Judged(before, after, _compute_p_value(Difference.of(*estimates)))


def _compute_roughness(level: SignalLevel, load: SignalLevel | None) -> Values:
    """Return the deviation of each sample from the median of its neighbours, less what follows the load."""
    deviations = _compute_deviations(level.values)
    if load is None:
        return deviations
    of_load = _compute_deviations(np.interp(level.samples.times, load.samples.times, load.values))
    weight = float(of_load @ of_load)
    return deviations - (float(deviations @ of_load) / weight) * of_load if weight else deviations


def _compute_deviations(values: Values) -> Values:
    return values - filter_median(values, _NEIGHBOURS, "symmetric")


def _compute_p_value(difference: Difference) -> float:
    return difference.chance if difference.value > 0 else 1.0


def find_failure_bursts(compareds: list[Compared]) -> list[Reshaped]:
    """Return the shares of failed requests whose longest burst of failures in the second run is too long for chance.

    Shares that are regressions are left out, as reports show them anyway; so are operations if all requests together
    show a burst.
    """
    shares = [compared for compared in compareds if compared.treatment.shape == "failures"]
    hidden = [compared for compared in shares if compared.outcome != ComparisonOutcome.REGRESSION]
    bursts = [failures for compared in hidden if (failures := _compare_failures(compared))]
    return [failures for failures in bursts if failures.compared.subject.instance is None] or bursts


def is_gathered(compared: Compared) -> bool:
    """Return whether a share of failed requests is worse, and significantly so if samples are taken as independent."""
    if compared.treatment.shape != "failures" or not compared.is_worse:
        return False
    second = estimate_independent_mean(compared.second.values)
    return all(
        Difference.of(estimate_independent_mean(level.values), second).chance < _CHANCE for level in compared.baselines
    )


def _compare_failures(compared: Compared) -> Reshaped | None:
    rows, after = _find_longest_burst(compared.second.samples)
    most, before = max(_find_longest_burst(level.samples) for level in compared.baselines)
    alike = most > 1 and _TIMES * before > after
    if after < _BURST_LASTS or alike or compared.difference.value <= 0:
        return None
    usual = np.concatenate([level.values for level in compared.baselines])
    share = (np.count_nonzero(usual >= MANY) + 1) / (len(usual) + 1)
    by_chance = len(compared.second.values) * share**rows  # expected number of bursts as long, of independent samples
    return Reshaped("failures", compared, before / SECOND, after / SECOND) if by_chance < _CHANCE else None


def _find_longest_burst(samples: Samples) -> tuple[int, float]:
    """Return the number of samples and the duration (ns) of the longest burst of samples with 20 % failures or more."""
    if len(samples.times) < 2:
        return 0, 0.0
    rows = max((end - start for start, end in find_runs(samples.values >= MANY)), default=0)
    return rows, float(rows * compute_median(np.diff(samples.times)))
