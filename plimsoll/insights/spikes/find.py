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
        return tuple(limit for limit in self.limits if limit.passed)


def periodic_spikes(review: Review) -> tuple[PeriodicSpikes, ...]:
    """Return the rhythms of a run, those that pass limits first, then those that raise most."""
    groups: list[list[SignalSpikes]] = []
    for signal_spikes in sorted(_all_spikes(review), key=_importance, reverse=True):
        group = next(
            (
                signal_spikes_list
                for signal_spikes_list in groups
                if signal_spikes_list[0].events.together(signal_spikes.events)
            ),
            None,
        )
        if group is None:
            groups.append([signal_spikes])
        else:
            group.append(signal_spikes)
    groups.sort(key=lambda group: _height(group[0]), reverse=True)
    periodic_spikes_list = [_described(review, group) for group in groups[:_MOST]]
    return tuple(
        sorted(
            periodic_spikes_list,
            key=lambda periodic_spikes: (-len(periodic_spikes.passed), -_height(periodic_spikes.main)),
        )
    )


def _described(review: Review, group: list[SignalSpikes]) -> PeriodicSpikes:
    main = group[0]
    risings = rising(review, main.events, {main.name: {main.subject}})
    hosts = {host_key(signal_spikes.subject.host) for signal_spikes in group}
    with_them: dict[str, set[Subject]] = {}
    for item in (*group, *risings):
        with_them.setdefault(item.name, set()).add(item.subject)
    used, limits = processes(review, main.events, hosts), limits_in_spikes(review, main.events, with_them)
    return PeriodicSpikes(main, tuple(group[1:]), risings, used, limits)


def _all_spikes(review: Review) -> Iterator[SignalSpikes]:
    """Yield the regular spikes of each recorded signal that are worth telling."""
    for name, signal in plain(review.question.signals):
        for subject, samples in leading(review, name):
            current = samples.present
            if len(current.times) < _FEWEST_SAMPLES or not _may_have_spikes(current.values):
                continue
            seconds = (current.times - current.times[0]) / SECOND
            result = regular_spikes(seconds, current.values)
            if result is not None:
                signal_spikes = SignalSpikes(name, signal, subject, _events(current, result), result)
                if _worth_telling(signal_spikes):
                    yield signal_spikes


def _events(samples: Samples, result: RegularSpikes) -> Events:
    starts: Times = samples.times[result.first]
    return Events(starts, int(result.width_s * SECOND), int(result.period_s * SECOND))


def _may_have_spikes(values: Values) -> bool:
    """Return whether values, or their changes, reach much further up than usual: a quick look before the search."""
    low, middle = len(values) // 6, len(values) // 2
    ordered = np.partition(values, (low, middle))
    if values.max() - ordered[middle] > _FAR * (ordered[middle] - ordered[low]):
        return True
    changes = np.abs(np.diff(values))
    high = len(changes) * 5 // 6
    return bool(changes.max() > _FAR * np.partition(changes, high)[high])


def _worth_telling(signal_spikes: SignalSpikes) -> bool:
    level = signal_spikes.spikes.level
    enough = signal_spikes.typical - level >= smallest_change(signal_spikes.signal.unit)
    return enough and (signal_spikes.signal.unit == "%" or signal_spikes.typical >= _HIGHER * level)


def _importance(signal_spikes: SignalSpikes) -> tuple[bool, bool, float]:
    """Which of several signals stands for a rhythm: one of work done before one of its effects, a host before one of
    its processors, and then the clearest.
    """
    work = signal_spikes.signal.unit in ("/s", "bytes/s", "%") and not signal_spikes.name.startswith("process.")
    whole = signal_spikes.subject.instance is None or signal_spikes.signal.unit != "%"
    return work, whole, len(signal_spikes.events.starts) * signal_spikes.spikes.agreement * _contrast(signal_spikes)


def _contrast(signal_spikes: SignalSpikes) -> float:
    return (signal_spikes.typical - signal_spikes.spikes.level) / signal_spikes.typical


def _height(signal_spikes: SignalSpikes) -> float:
    return (signal_spikes.typical - signal_spikes.spikes.level) / smallest_change(signal_spikes.signal.unit)
