"""What rises with regular spikes: other signals, processes by name, and limits that are reached in them."""

from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.regular_spikes import raised
from plimsoll.insights.leading_signals import leading, plain, smallest_change
from plimsoll.model.log import Times
from plimsoll.model.samples import Samples
from plimsoll.model.sampling import within
from plimsoll.model.series import HostKey, host_key
from plimsoll.review.findings import Finding
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of
from plimsoll.rules.schema.healthy import Healthy
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
