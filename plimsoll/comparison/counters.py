"""The counters without a signal, compared all the same: what nobody judges must not be called the same.

Nothing says in which direction such a counter is worse, but its name may: times, errors and queues that grew.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plimsoll.analysis.bootstrap import Difference, estimate
from plimsoll.analysis.significance import equal_means, rank_test
from plimsoll.comparison.hosts import Hosts
from plimsoll.comparison.levels import CommonPhase
from plimsoll.comparison.run_to_run import Band
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
_COSTS_NOT = re.compile(r"up ?time|time ?stamp|idle|time in use|real time", re.I)


@dataclass(frozen=True)
class Counter:
    """A counter of both runs, with its means; of one that only grows, by how much from sample to sample.

    `peaks`: it is not the means that differ but the 99th percentiles, which these are.
    """

    series: Series
    before: float
    after: float
    grows: bool
    chance: float
    peaks: bool = False

    @property
    def costs(self) -> bool:
        """Whether it rose by half or more, a queue to twice, and its name says that this is worse."""
        name = _short(self.series)
        if "queue" in name.casefold():
            return _is_cost(name) and self.after > max(_QUEUE_GROWN * self.before, self.before + _WAITING)
        return _is_cost(name) and self.after > _GROWN * self.before

    @property
    def label(self) -> str:
        r"""`\Application(_Total)\Response Time of WEB1`."""
        return f"{self.name} of {self.series.host}"

    @property
    def name(self) -> str:
        """Its path; without one, its measurement and field."""
        return self.series.path or f"{self.series.measurement} {self.series.field}"


@dataclass(frozen=True)
class Counters:
    """The counters without a signal: those that changed, and how many there are of each kind."""

    changed: tuple[Counter, ...]
    compared: int
    constant: int
    too_few: int
    only_first: tuple[Series, ...]
    only_second: tuple[Series, ...]

    @cached_property
    def costs(self) -> tuple[Counter, ...]:
        """Those of which the name says that they are worse, the largest change first."""
        items = [counter for counter in self.changed if counter.costs]
        return tuple(sorted(items, key=lambda counter: counter.before / counter.after if counter.after else 1.0))


def counters(first: Review, second: Review, hosts: Hosts, phase: CommonPhase, expected: Band) -> Counters:
    """Compare every counter without a signal. `expected` is what the load lets expect of what waits."""
    here = {unused_counter.key: unused_counter for unused_counter in first.signals.unused_counters()}
    entries = {_key(unused_counter, hosts): unused_counter for unused_counter in second.signals.unused_counters()}
    items: list[Counter] = []
    pairs: list[tuple[Series, Values, Values]] = []
    constant = too_few = 0
    for key, series in here.items():
        if key not in entries:
            continue
        values = _values(first, series, phase.first), _values(second, entries[key], phase.second)
        if min(map(len, values)) < _FEWEST:
            too_few += 1
        elif all(np.ptp(value) == 0 for value in values):
            constant += 1
        else:
            items.append(_compared(series, *values))
            pairs.append((series, *values))
    changed = [counter for counter in items if _differs(counter, len(items), expected)]
    same = {counter.series.key for counter in items} - {counter.series.key for counter in changed}
    changed += _peaks([pair for pair in pairs if pair[0].key in same], len(items), expected)
    return Counters(
        tuple(changed),
        len(items),
        constant,
        too_few,
        tuple(series for key, series in here.items() if key not in entries),
        tuple(series for key, series in entries.items() if key not in here),
    )


def _compared(series: Series, first: Values, second: Values) -> Counter:
    grows = all((np.diff(values) >= 0).all() for values in (first, second))
    if grows:
        first, second = np.diff(first), np.diff(second)
    before, after = float(first.mean()), float(second.mean())
    apart = abs(after - before) > _MATTERS * abs(before)
    chance = rank_test(equal_means(first, _PARTS), equal_means(second, _PARTS)).chance if apart else 1.0
    return Counter(series, before, after, grows, chance)


def _differs(counter: Counter, count: int, expected: Band) -> bool:
    """Return whether it differs for certain (Bonferroni), and by more than the load explains."""
    if counter.chance * count >= _CERTAIN:
        return False
    low, high = expected.ends(counter.before)
    matters = _MATTERS * abs(counter.before)
    return not low - matters <= counter.after <= high + matters


def _peaks(pairs: Sequence[tuple[Series, Values, Values]], count: int, expected: Band) -> Iterator[Counter]:
    """Counters whose names say that more is worse, with means alike and far higher peaks."""
    for series, first, second in pairs:
        grows = all((np.diff(values) >= 0).all() for values in (first, second))
        if grows or not _is_cost(_short(series)) or min(len(first), len(second)) < _FEWEST_OF_PEAKS:
            continue
        before, after = (float(np.quantile(values, _PEAK)) for values in (first, second))
        limit = max(_GROWN * before, expected.ends(before)[1])
        higher = Difference.of(*(estimate((values > limit).astype(float)) for values in (first, second)))
        if after > limit and higher.value > 0 and higher.chance * count < _CERTAIN:
            yield Counter(series, before, after, grows, higher.chance, peaks=True)


def _short(series: Series) -> str:
    return series.path.rpartition("\\")[2] or series.field


def _is_cost(name: str) -> bool:
    return bool(_COSTS.search(name)) and not _COSTS_NOT.search(name)


def _values(review: Review, series: Series, phase: Phase | None) -> Values:
    samples = review.signals.counter(series)
    return (samples.between(phase.start, phase.end) if phase else samples).present.values


def _key(series: Series, hosts: Hosts) -> tuple[object, ...]:
    """Return what the first run would call a series of the second."""
    host, measurement, tags, field = series.key
    first = hosts.in_first((host, None))[0]
    named = [
        (name, hosts.in_first((host, value.casefold()))[1] if name == "instance" else value) for name, value in tags
    ]
    return first, measurement, tuple(named), field
