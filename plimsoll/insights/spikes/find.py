"""Regular spikes of a run: which signals rise at intervals, what rises with them, and whether it matters."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.filters import median
from plimsoll.analysis.regular_spikes import RegularSpikes, regular_spikes
from plimsoll.insights.leading_signals import leading, plain, smallest_change
from plimsoll.insights.spikes.rising import Events, LimitInSpikes, Rising, limits_in_spikes, processes, rising
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import host_key
from plimsoll.model.times import SECOND
from plimsoll.review.review import Review
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

_HIGHER = 1.5  # the least ratio of a spike to the level between, unless the unit is %
_FEWEST_SAMPLES = 40
_FAR = 4.0  # times the usual deviation
_MOST = 5


@dataclass(frozen=True, eq=False)
class SignalSpikes:
    """The regular spikes of one signal of one subject."""

    name: str
    signal: Signal
    subject: Subject
    events: Events
    spikes: RegularSpikes

    @property
    def count(self) -> int:
        """How many spikes there are."""
        return len(self.events.starts)

    @property
    def typical(self) -> float:
        """The usual highest value of a spike."""
        return median(self.spikes.tops)

    @property
    def highest(self) -> float:
        """The highest value of all spikes."""
        return float(self.spikes.tops.max())


@dataclass(frozen=True, eq=False)
class PeriodicSpikes:
    """A rhythm of the run.

    Attributes:
        main: The signal that shows it best.
        same: The other signals with spikes of their own in this rhythm.
        rising: What else is higher in the spikes, the strongest first.
        processes: The processes whose processor time rises with them.
        limits: The limits of the signals that rise, those that were passed in most spikes first.
    """

    main: SignalSpikes
    same: tuple[SignalSpikes, ...]
    rising: tuple[Rising, ...]
    processes: tuple[Rising, ...]
    limits: tuple[LimitInSpikes, ...]

    @property
    def period_s(self) -> float:
        """The time from one spike to the next."""
        return self.main.spikes.period_s

    @property
    def count(self) -> int:
        """How many spikes there are."""
        return self.main.count

    @property
    def first(self) -> int:
        """The first sample of the first spike (UTC ns)."""
        return int(self.main.events.starts[0])

    @property
    def last(self) -> int:
        """The first sample of the last spike (UTC ns)."""
        return int(self.main.events.starts[-1])

    @property
    def passed(self) -> tuple[LimitInSpikes, ...]:
        """The limits that samples passed in some of the spikes."""
        return tuple(one for one in self.limits if one.passed)


def periodic_spikes(review: Review) -> tuple[PeriodicSpikes, ...]:
    """The rhythms of a run, those that pass limits first, then those that raise most."""
    groups: list[list[SignalSpikes]] = []
    for one in sorted(_every(review), key=_importance, reverse=True):
        group = next((some for some in groups if some[0].events.together(one.events)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    groups.sort(key=lambda group: _height(group[0]), reverse=True)
    found = [_described(review, group) for group in groups[:_MOST]]
    return tuple(sorted(found, key=lambda one: (-len(one.passed), -_height(one.main))))


def _described(review: Review, group: list[SignalSpikes]) -> PeriodicSpikes:
    main = group[0]
    more = rising(review, main.events, {main.name: {main.subject}})
    hosts = {host_key(one.subject.host) for one in group}
    with_them: dict[str, set[Subject]] = {}
    for one in (*group, *more):
        with_them.setdefault(one.name, set()).add(one.subject)
    used, limits = processes(review, main.events, hosts), limits_in_spikes(review, main.events, with_them)
    return PeriodicSpikes(main, tuple(group[1:]), more, used, limits)


def _every(review: Review) -> Iterator[SignalSpikes]:
    """The regular spikes of each recorded signal that are worth telling."""
    for name, signal in plain(review.question.signals):
        for subject, samples in leading(review, name):
            there = samples.present
            if len(there.times) < _FEWEST_SAMPLES or not _may_have_spikes(there.values):
                continue
            seconds = (there.times - there.times[0]) / SECOND
            found = regular_spikes(seconds, there.values)
            if found is not None:
                one = SignalSpikes(name, signal, subject, _events(there, found), found)
                if _worth_telling(one):
                    yield one


def _events(there: Samples, found: RegularSpikes) -> Events:
    starts: Times = there.times[found.first]
    return Events(starts, int(found.width_s * SECOND), int(found.period_s * SECOND))


def _may_have_spikes(values: Values) -> bool:
    """Whether values, or their changes, reach much further up than usual: a quick look before the search."""
    low, middle = len(values) // 6, len(values) // 2
    ordered = np.partition(values, (low, middle))
    if values.max() - ordered[middle] > _FAR * (ordered[middle] - ordered[low]):
        return True
    changes = np.abs(np.diff(values))
    high = len(changes) * 5 // 6
    return bool(changes.max() > _FAR * np.partition(changes, high)[high])


def _worth_telling(one: SignalSpikes) -> bool:
    level = one.spikes.level
    enough = one.typical - level >= smallest_change(one.signal.unit)
    return enough and (one.signal.unit == "%" or one.typical >= _HIGHER * level)


def _importance(one: SignalSpikes) -> tuple[bool, bool, float]:
    """Which of several signals stands for a rhythm: one of work done before one of its effects, a host before one of
    its processors, and then the clearest.
    """
    work = one.signal.unit in ("/s", "bytes/s", "%") and not one.name.startswith("process.")
    whole = one.subject.instance is None or one.signal.unit != "%"
    return work, whole, len(one.events.starts) * one.spikes.agreement * _contrast(one)


def _contrast(one: SignalSpikes) -> float:
    return (one.typical - one.spikes.level) / one.typical


def _height(one: SignalSpikes) -> float:
    return (one.typical - one.spikes.level) / smallest_change(one.signal.unit)
