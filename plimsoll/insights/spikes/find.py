"""Regular spikes of a run: which signals rise at intervals, and which signals, processes and limits rise with them."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.filters import median
from plimsoll.analysis.regular_spikes import RegularSpikes, raised, regular_spikes
from plimsoll.insights.leading_signals import leading, plain, smallest_change
from plimsoll.model.log import Times, Values, within
from plimsoll.model.samples import Samples
from plimsoll.model.series import HostKey, host_key
from plimsoll.model.times import SECOND
from plimsoll.review.findings import Finding
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

PROCESS = "process.cpu"


_CHANCE = 0.01  # of any false one in a run: divided by the number of signals that are tested


_TIMES = 1.2  # the least ratio of the mean in spikes to that between them


_OFTENER = 3.0  # a limit has to do with the spikes if it is passed so much more often in them


@dataclass(frozen=True, eq=False)
class Events:
    """The spikes of one rhythm: their starts (UTC ns), how long one usually lasts, and their period (ns)."""

    starts: Times
    width: int
    period: int

    @property
    def spans(self) -> list[tuple[int, int]]:
        """From the start to the end of each spike, the end excluded."""
        return [(start, start + self.width) for start in self.starts.tolist()]

    def together(self, other: "Events") -> bool:
        """Return whether both have the same period and most spikes of the one come with a spike of the other."""
        if abs(self.period - other.period) > 0.03 * max(self.period, other.period):
            return False
        few, many = sorted((self, other), key=lambda item: len(item.starts))
        near = max(self.width, other.width, self.period // 20)
        at = np.searchsorted(many.starts, few.starts).clip(1, len(many.starts) - 1)
        distance = np.minimum(np.abs(many.starts[at] - few.starts), np.abs(many.starts[at - 1] - few.starts))
        return float((distance <= near).mean()) >= 0.7


@dataclass(frozen=True)
class Rising:
    """A signal that is higher in the spikes: its mean in them, and between them."""

    name: str
    signal: Signal
    subject: Subject
    inside: float
    between: float


@dataclass(frozen=True)
class LimitInSpikes:
    """The nearest limit of a signal that rises in spikes, as it was applied.

    `highest` is its highest sample in the spikes, `passed` in how many of them a sample was past the limit.
    """

    rule: str
    name: str
    signal: Signal
    subject: Subject
    limit: Healthy
    highest: float
    passed: int


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


def rising(review: Review, events: Events, but: Mapping[str, set[Subject]]) -> tuple[Rising, ...]:
    """The recorded signals that rise with the spikes, the strongest first, without those of `but` and processes."""
    items: list[tuple[float, float, Rising]] = []
    tested = 0
    for name, signal in plain(review.question.signals):
        for subject, samples in leading(review, name) if not name.startswith("process.") else ():
            if subject in but.get(name, ()):
                continue
            tested += 1
            pair = _rising(name, signal, subject, samples, events)
            items += [pair] if pair else []
    return tuple(rising for _, chance, rising in sorted(items, key=lambda x: -x[0]) if chance <= _CHANCE / tested)


def processes(review: Review, events: Events, hosts: set[HostKey]) -> tuple[Rising, ...]:
    """Return the processes of these hosts whose processor time rises with the spikes, the strongest first."""
    signal = review.question.signals.get(PROCESS)
    if signal is None:
        return ()
    items = [(s, x) for s, x in review.signals.of(PROCESS).items() if host_key(s.host) in hosts]
    entries = [rising for s, x in items if (rising := _rising(PROCESS, signal, s, x, events))]
    entries = [pair for pair in entries if pair[1] <= _CHANCE / len(items)]
    return tuple(rising for _, _, rising in sorted(entries, key=lambda x: x[2].between - x[2].inside))


def _rising(
    name: str, signal: Signal, subject: Subject, samples: Samples, events: Events
) -> tuple[float, float, Rising] | None:
    result = samples.present
    if samples.interval is None:
        return None
    item = raised(events.starts, events.width, events.period, result.times, result.values, samples.interval)
    if (
        item is None
        or item.inside < _TIMES * item.between
        or item.inside - item.between < smallest_change(signal.unit) / 2
    ):
        return None
    strength = (item.inside - item.between) / smallest_change(signal.unit)
    return strength, item.chance, Rising(name, signal, subject, item.inside, item.between)


def limits_in_spikes(
    review: Review, events: Events, with_them: Mapping[str, Set[Subject]]
) -> tuple[LimitInSpikes, ...]:
    """Return the limits of the signals `with_them`, those that were passed in most spikes first.

    A limit that is passed as often between the spikes has nothing to do with them and is left out.
    """
    nearest: dict[tuple[str, Subject], Finding] = {}
    for item in review.findings:
        if item.track and item.severe and item.subject and item.subject in with_them.get(item.rule.signal, ()):
            key = item.rule.signal, item.subject
            if limit_of(item).worse == "higher" and (
                key not in nearest or limit_of(item).limit < limit_of(nearest[key]).limit
            ):
                nearest[key] = item
    limit_in_spikes_list: list[LimitInSpikes] = []
    for (name, subject), finding in nearest.items():
        samples = review.signals.of(name)[subject].present
        past = samples.values > limit_of(finding).limit
        inside = within(samples.times, events.spans)
        if not inside.any() or (past.any() and past[inside].mean() < _OFTENER * past[~inside].mean()):
            continue
        passed = len(set((np.searchsorted(events.starts, samples.times[past & inside], side="right") - 1).tolist()))
        highest = float(samples.values[inside].max())
        limit_in_spikes_list.append(
            LimitInSpikes(finding.rule.id, name, finding.signal, subject, limit_of(finding), highest, passed)
        )
    return tuple(
        sorted(
            limit_in_spikes_list,
            key=lambda limit_in_spikes: (
                -limit_in_spikes.passed,
                -limit_in_spikes.highest / (limit_in_spikes.limit.limit or 1),
            ),
        )
    )
