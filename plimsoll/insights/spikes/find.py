"""Regular spikes of a run: the signals that spike at intervals, and the signals and limits that are affected."""

from collections.abc import Iterator, Mapping, Set

import numpy as np

from plimsoll.analysis.filters import compute_median
from plimsoll.analysis.regular_spikes import (
    EventParts,
    RegularSpikes,
    compare_during_events,
    find_regular_spikes,
    split_events,
)
from plimsoll.insights.leading_signals import find_smallest_change, list_leading, list_plain_signals, list_upper_limits
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values, mark_within
from plimsoll.model.samples import Samples
from plimsoll.model.series import HostKey, make_host_key
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
_OFTENER = 3.0  # times as often as between the spikes a limit is passed in them, to have to do with them


@dataclass(frozen=True, eq=False)
class Events:
    """The spikes of one rhythm: their starts (UTC ns), their usual duration, and their period (ns)."""

    starts: Times
    width: int
    period: int

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The start and the end of each spike, the end excluded."""
        return [(start, start + self.width) for start in self.starts.tolist()]

    def together(self, other: "Events") -> bool:
        """Return whether two rhythms have the same period, and most spikes of the rarer are near the other's spikes."""
        if abs(self.period - other.period) > 0.03 * max(self.period, other.period):
            return False
        few, many = sorted((self, other), key=lambda events: len(events.starts))
        near = max(self.width, other.width, self.period // 20)
        at = np.searchsorted(many.starts, few.starts).clip(1, len(many.starts) - 1)
        distance = np.minimum(np.abs(many.starts[at] - few.starts), np.abs(many.starts[at - 1] - few.starts))
        return float((distance <= near).mean()) >= 0.7


@dataclass(frozen=True)
class Rising:
    """A signal that is higher during spikes than between: its mean during the spikes, and its mean between them."""

    name: str
    signal: Signal
    subject: Subject
    inside: float
    between: float


@dataclass(frozen=True)
class LimitInSpikes:
    """The nearest limit of a signal that rises in spikes, as applied to the run.

    `highest` is the highest sample in the spikes, and `passed` the number of spikes with a sample past the limit.
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
_FAR = 4.0  # in usual deviations
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
        """The number of spikes."""
        return len(self.events.starts)

    @property
    def typical(self) -> float:
        """The usual highest value of a spike."""
        return compute_median(self.spikes.tops)

    @property
    def highest(self) -> float:
        """The highest value of all spikes."""
        return float(self.spikes.tops.max())


@dataclass(frozen=True, eq=False)
class PeriodicSpikes:
    """A rhythm of the run: simultaneous spikes of one or several signals.

    Attributes:
        main: The signal that shows the rhythm best.
        same: The other signals with regular spikes of their own in this rhythm.
        rising: The other signals that are higher in the spikes, the strongest first.
        processes: The processes whose processor time rises with the spikes.
        limits: The limits of the signals that rise; limits passed in most spikes are first.
    """

    main: SignalSpikes
    same: tuple[SignalSpikes, ...]
    rising: tuple[Rising, ...]
    processes: tuple[Rising, ...]
    limits: tuple[LimitInSpikes, ...]

    @property
    def first(self) -> int:
        """The time of the first sample of the first spike (UTC ns)."""
        return int(self.main.events.starts[0])

    @property
    def last(self) -> int:
        """The time of the first sample of the last spike (UTC ns)."""
        return int(self.main.events.starts[-1])


def find_periodic_spikes(review: Review) -> tuple[PeriodicSpikes, ...]:
    """Return the rhythms of spikes in a run: first rhythms with most limits passed, then with the highest spikes."""
    groups: list[list[SignalSpikes]] = []
    for spikes in sorted(_find_all_spikes(review), key=_rank_importance, reverse=True):
        for group in groups:
            if group[0].events.together(spikes.events):
                group.append(spikes)
                break
        else:
            groups.append([spikes])
    groups.sort(key=lambda group: _compute_height(group[0]), reverse=True)
    rhythms = [_describe_rhythm(review, group) for group in groups[:_MOST]]

    def order(rhythm: PeriodicSpikes) -> tuple[int, float]:
        return -sum(limit.passed > 0 for limit in rhythm.limits), -_compute_height(rhythm.main)

    return tuple(sorted(rhythms, key=order))


def _describe_rhythm(review: Review, group: list[SignalSpikes]) -> PeriodicSpikes:
    main = group[0]
    risings = find_rising_signals(review, main.events, {main.name: {main.subject}})
    hosts = {make_host_key(spikes.subject.host) for spikes in group}
    with_them: dict[str, set[Subject]] = {}
    for higher in (*group, *risings):
        with_them.setdefault(higher.name, set()).add(higher.subject)
    used, limits = (
        find_rising_processes(review, main.events, hosts),
        find_limits_in_spikes(review, main.events, with_them),
    )
    return PeriodicSpikes(main, tuple(group[1:]), risings, used, limits)


def _find_all_spikes(review: Review) -> Iterator[SignalSpikes]:
    """Yield the regular spikes of each recorded signal that are high enough to be reported."""
    for name, signal in list_plain_signals(review.question.signals):
        for subject, samples in list_leading(review, name):
            recorded = samples.present
            if len(recorded.times) < _FEWEST_SAMPLES or not _may_have_spikes(recorded.values):
                continue
            regular = find_regular_spikes((recorded.times - recorded.times[0]) / SECOND, recorded.values)
            if regular is None:
                continue
            width, period = int(regular.width_s * SECOND), int(regular.period_s * SECOND)
            spikes = SignalSpikes(name, signal, subject, Events(recorded.times[regular.first], width, period), regular)
            relative = signal.unit != "%" and spikes.typical < _HIGHER * regular.level
            if spikes.typical - regular.level >= find_smallest_change(signal.unit) and not relative:
                yield spikes


def _may_have_spikes(values: Values) -> bool:
    """Return whether the highest values or changes are unusually high: a cheap check before the search for spikes."""
    ordered, changes = np.sort(values), np.sort(np.abs(np.diff(values)))
    middle = ordered[len(ordered) // 2]
    if ordered[-1] - middle > _FAR * (middle - ordered[len(ordered) // 6]):
        return True
    return bool(changes[-1] > _FAR * changes[len(changes) * 5 // 6])


def _rank_importance(spikes: SignalSpikes) -> tuple[bool, bool, float]:
    """Return a sort key for choosing the signal that represents a rhythm.

    Signals of work rank above signals of its effects, a host above its processors, then the signal with the clearest
    spikes.
    """
    work = spikes.signal.unit in ("/s", "bytes/s", "%") and not spikes.name.startswith("process.")
    whole = spikes.subject.instance is None or spikes.signal.unit != "%"
    contrast = (spikes.typical - spikes.spikes.level) / spikes.typical
    return work, whole, len(spikes.events.starts) * spikes.spikes.agreement * contrast


def _compute_height(spikes: SignalSpikes) -> float:
    return (spikes.typical - spikes.spikes.level) / find_smallest_change(spikes.signal.unit)


def find_rising_signals(review: Review, events: Events, but: Mapping[str, set[Subject]]) -> tuple[Rising, ...]:
    """Return the signals that rise with the spikes, the strongest first; processes are left out.

    `but` are subjects, by signal, that are left out too.
    """
    signals = [
        (name, signal)
        for name, signal in list_plain_signals(review.question.signals)
        if not name.startswith("process.")
    ]
    tested = [
        (name, signal, subject, samples)
        for name, signal in signals
        for subject, samples in list_leading(review, name)
        if subject not in but.get(name, ())
    ]
    return _select_rising(tested, events)


def find_rising_processes(review: Review, events: Events, hosts: set[HostKey]) -> tuple[Rising, ...]:
    """Return the processes of these hosts whose processor time rises with the spikes, the strongest first."""
    signal = review.question.signals.get(PROCESS)
    recorded = review.signals.of(PROCESS).items() if signal else ()
    return _select_rising(
        [(PROCESS, signal, s, x) for s, x in recorded if signal and make_host_key(s.host) in hosts], events
    )


def _select_rising(tested: list[tuple[str, Signal, Subject, Samples]], events: Events) -> tuple[Rising, ...]:
    risings: list[tuple[float, Rising]] = []
    # Most signals share the times of their recording. The times are kept, so that no other array gets their id.
    parts_of_times: dict[tuple[int, int], tuple[Times, EventParts | None]] = {}
    for name, signal, subject, samples in tested:
        at, step = samples.present, samples.interval or 0
        if (key := (id(at.times), step)) not in parts_of_times:
            parts = split_events(events.starts, events.width, events.period, at.times, step)
            parts_of_times[key] = at.times, parts
        _, parts = parts_of_times[key]
        higher = compare_during_events(parts, at.values) if parts else None
        if higher is None or higher.chance > _CHANCE / len(tested) or higher.inside < _TIMES * higher.between:
            continue
        strength = (higher.inside - higher.between) / find_smallest_change(signal.unit)
        if strength >= 0.5:
            risings.append((strength, Rising(name, signal, subject, higher.inside, higher.between)))
    return tuple(rising for _, rising in sorted(risings, key=lambda pair: -pair[0]))


def find_limits_in_spikes(
    review: Review, events: Events, with_them: Mapping[str, Set[Subject]]
) -> tuple[LimitInSpikes, ...]:
    """Return the limits of signals (`with_them`: subjects by signal); limits passed in most spikes are first.

    A limit that is passed as often between the spikes is unrelated and left out.
    """
    nearest: dict[tuple[str, Subject], Finding] = {}
    for finding, subject, _ in list_upper_limits(review):
        if subject in with_them.get(finding.rule.signal, ()):
            nearest.setdefault((finding.rule.signal, subject), finding)
    limits: list[LimitInSpikes] = []
    for (name, subject), finding in nearest.items():
        samples, limit = review.signals.of(name)[subject].present, limit_of(finding)
        past = samples.values > limit.limit
        inside = mark_within(samples.times, events.spans)
        if not inside.any() or (past.any() and past[inside].mean() < _OFTENER * past[~inside].mean()):
            continue
        passed = len(set((np.searchsorted(events.starts, samples.times[past & inside], side="right") - 1).tolist()))
        highest = float(samples.values[inside].max())
        limits.append(LimitInSpikes(finding.rule.id, name, finding.signal, subject, limit, highest, passed))
    return tuple(sorted(limits, key=lambda limit: (-limit.passed, -limit.highest / (limit.limit.limit or 1))))
