"""Comparison of the counters that no signal reads, so that their changes do not go unnoticed.

No document says which direction is worse for such a counter, but its name may: more time, errors or queues are worse.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from plimsoll.analysis.bootstrap import Difference, estimate
from plimsoll.analysis.significance import compute_block_means, rank_test
from plimsoll.comparison.hosts import Hosts
from plimsoll.comparison.levels import CommonPhase
from plimsoll.comparison.signal_settings import LoadEffect
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.run import Phase
from plimsoll.model.series import Series
from plimsoll.review.review import Review

_PARTS = 16  # of a phase, the means of which are ranked
_FEWEST = 48  # samples
_PEAK, _FEWEST_OF_PEAKS = 0.99, 200
_MATTERS = 0.25  # of the baseline; our choice: more than runs of one build differ by in whatever it may be
_GROWN, _QUEUE_GROWN = 1.5, 2.0  # times the baseline; our choice
_WAITING = 0.5  # on average, as of queues that are signals (defaults.yaml)
_CERTAIN = 0.02  # the chance that any counter is called different although none is
_COSTS = re.compile(
    r"time|latency|delay|duration|elapsed|error|fail|exception|reject|queue|wait|retr|drop|lost|abort", re.I
)
_IDLE = re.compile(r"\\Process\((idle|_total|system idle process)\)", re.I)  # no work, and the sum with it
_COSTS_NOT = re.compile(r"up ?time|time ?stamp|idle|time in use|real time", re.I)


@dataclass(frozen=True)
class Counter:
    """A counter of both runs with its mean in each run; if it never falls (`grows`), with the means of its increases.

    With `peaks`, `before` and `after` are 99th percentiles instead, as the means do not differ.
    """

    series: Series
    before: float
    after: float
    grows: bool
    chance: float
    peaks: bool = False

    @property
    def costs(self) -> bool:
        """Whether the name says that more is worse, and the counter rose by more than half (a queue to over twice)."""
        limit = _GROWN * self.before
        if "queue" in _shorten_name(self.series).casefold():
            limit = max(_QUEUE_GROWN * self.before, self.before + _WAITING)
        return _is_cost(self.series) and self.after > limit

    @property
    def label(self) -> str:
        r"""The name and the host: `\Application(_Total)\Response Time of WEB1`."""
        return f"{self.name} of {self.series.host}"

    @property
    def name(self) -> str:
        """The path of the counter; measurement and field if it has no path."""
        return self.series.path or f"{self.series.measurement} {self.series.field}"


@dataclass(frozen=True)
class Counters:
    """The counters that no signal reads: the changed counters, how many were compared, and how many not and why."""

    changed: tuple[Counter, ...]
    compared: int
    constant: int
    too_few: int
    only_first: tuple[Series, ...]
    only_second: tuple[Series, ...]

    @cached_property
    def costs(self) -> tuple[Counter, ...]:
        """The counters that rose although their names say that more is worse, the largest change first."""
        worse = [counter for counter in self.changed if counter.costs]
        return tuple(sorted(worse, key=lambda counter: counter.before / counter.after if counter.after else 1.0))


def compare_counters(first: Review, second: Review, hosts: Hosts, phase: CommonPhase, effect: LoadEffect) -> Counters:
    """Compare all counters that no signal reads; `effect` is the difference of the load."""
    of_first = {series.key: series for series in first.signals.unused_counters()}
    of_second = {_make_key(series, hosts): series for series in second.signals.unused_counters()}
    compared: list[tuple[Counter, Values, Values]] = []
    constant = too_few = 0
    for key, series in of_first.items():
        if key not in of_second:
            continue
        values = _list_values(first, series, phase.first), _list_values(second, of_second[key], phase.second)
        if min(map(len, values)) < _FEWEST:
            too_few += 1
        elif all(np.ptp(value) == 0 for value in values):
            constant += 1
        else:
            compared.append((_compare_counter(series, *values), *values))
    differs = [_is_different(counter, len(compared), effect) for counter, *_ in compared]
    changed = [counter for (counter, *_), is_different in zip(compared, differs, strict=True) if is_different]
    same = [counter for counter, is_different in zip(compared, differs, strict=True) if not is_different]
    changed += _find_higher_peaks(same, len(compared), effect)
    only_first = tuple(series for key, series in of_first.items() if key not in of_second)
    only_second = tuple(series for key, series in of_second.items() if key not in of_first)
    return Counters(tuple(changed), len(compared), constant, too_few, only_first, only_second)


def _compare_counter(series: Series, first: Values, second: Values) -> Counter:
    grows = all((np.diff(values) >= 0).all() for values in (first, second))
    if grows:
        first, second = np.diff(first), np.diff(second)
    before, after = float(first.mean()), float(second.mean())
    apart = abs(after - before) > _MATTERS * abs(before)
    chance = rank_test(compute_block_means(first, _PARTS), compute_block_means(second, _PARTS)).chance if apart else 1.0
    return Counter(series, before, after, grows, chance)


def _is_different(counter: Counter, count: int, effect: LoadEffect) -> bool:
    """Return whether a counter differs significantly (Bonferroni), and by more than the load explains."""
    if counter.chance * count >= _CERTAIN:
        return False
    low, high = _expect_range(counter, effect, counter.before)
    matters = _MATTERS * abs(counter.before)
    return not low - matters <= counter.after <= high + matters


def _expect_range(counter: Counter, effect: LoadEffect, level: float) -> tuple[float, float]:
    """Return the lowest and the highest value expected at the load of the second run; `level` is the baseline's.

    A counter is taken as a queue if its name says so, else as a waiting time.
    """
    growth = "queue" if "queue" in _shorten_name(counter.series).casefold() else "waiting"
    low, high = sorted(effect.band(growth, level=level).ends(level))
    return low, high


def _find_higher_peaks(
    compared: Sequence[tuple[Counter, Values, Values]], count: int, effect: LoadEffect
) -> Iterator[Counter]:
    """Yield the counters with similar means and far higher peaks, if their names say that a rise is worse."""
    for counter, first, second in compared:
        if counter.grows or not _is_cost(counter.series) or min(len(first), len(second)) < _FEWEST_OF_PEAKS:
            continue
        before, after = (float(np.quantile(values, _PEAK)) for values in (first, second))
        limit = max(_GROWN * before, _expect_range(counter, effect, before)[1])
        if after <= limit:
            continue
        higher = Difference.of(*(estimate((values > limit).astype(float)) for values in (first, second)))
        if higher.value > 0 and higher.chance * count < _CERTAIN:
            yield Counter(counter.series, before, after, counter.grows, higher.chance, peaks=True)


def _shorten_name(series: Series) -> str:
    return series.path.rpartition("\\")[2] or series.field


def _is_cost(series: Series) -> bool:
    return (
        not _IDLE.search(series.path)
        and bool(_COSTS.search(_shorten_name(series)))
        and not _COSTS_NOT.search(_shorten_name(series))
    )


def _list_values(review: Review, series: Series, phase: Phase | None) -> Values:
    samples = review.signals.counter(series)
    values = (samples.between(phase.start, phase.end) if phase else samples).values
    return values[np.isfinite(values)]


def _make_key(series: Series, hosts: Hosts) -> tuple[object, ...]:
    """Return the key of a series of the second run, with the names that its host and instance have in the first run."""
    host, measurement, tags, field = series.key
    first = hosts.in_first((host, None))[0]
    named = [
        (name, hosts.in_first((host, value.casefold()))[1] if name == "instance" else value) for name, value in tags
    ]
    return first, measurement, tuple(named), field
