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
        """Whether both have the same period and most spikes of the one come with a spike of the other."""
        if abs(self.period - other.period) > 0.03 * max(self.period, other.period):
            return False
        few, many = sorted((self, other), key=lambda one: len(one.starts))
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
    found: list[tuple[float, float, Rising]] = []
    tested = 0
    for name, signal in plain(review.question.signals):
        for subject, samples in leading(review, name) if not name.startswith("process.") else ():
            if subject in but.get(name, ()):
                continue
            tested += 1
            one = _rising(name, signal, subject, samples, events)
            found += [one] if one else []
    return tuple(one for _, chance, one in sorted(found, key=lambda x: -x[0]) if chance <= _CHANCE / tested)


def processes(review: Review, events: Events, hosts: set[HostKey]) -> tuple[Rising, ...]:
    """The processes of these hosts whose processor time rises with the spikes, the strongest first."""
    signal = review.question.signals.get(PROCESS)
    if signal is None:
        return ()
    every = [(s, x) for s, x in review.signals.of(PROCESS).items() if host_key(s.host) in hosts]
    found = [one for s, x in every if (one := _rising(PROCESS, signal, s, x, events))]
    found = [one for one in found if one[1] <= _CHANCE / len(every)]
    return tuple(one for _, _, one in sorted(found, key=lambda x: x[2].between - x[2].inside))


def _rising(
    name: str, signal: Signal, subject: Subject, samples: Samples, events: Events
) -> tuple[float, float, Rising] | None:
    there = samples.present
    if samples.interval is None:
        return None
    one = raised(events.starts, events.width, events.period, there.times, there.values, samples.interval)
    if one is None or one.inside < _TIMES * one.between or one.inside - one.between < smallest_change(signal.unit) / 2:
        return None
    strength = (one.inside - one.between) / smallest_change(signal.unit)
    return strength, one.chance, Rising(name, signal, subject, one.inside, one.between)


def limits_in_spikes(
    review: Review, events: Events, with_them: Mapping[str, Set[Subject]]
) -> tuple[LimitInSpikes, ...]:
    """The limits of the signals `with_them`, those that were passed in most spikes first.

    A limit that is passed as often between the spikes has nothing to do with them and is left out.
    """
    nearest: dict[tuple[str, Subject], Finding] = {}
    for one in review.findings:
        if one.track and one.severe and one.subject and one.subject in with_them.get(one.rule.signal, ()):
            key = one.rule.signal, one.subject
            if limit_of(one).worse == "higher" and (
                key not in nearest or limit_of(one).limit < limit_of(nearest[key]).limit
            ):
                nearest[key] = one
    found: list[LimitInSpikes] = []
    for (name, subject), finding in nearest.items():
        there = review.signals.of(name)[subject].present
        past = there.values > limit_of(finding).limit
        inside = within(there.times, events.spans)
        if not inside.any() or (past.any() and past[inside].mean() < _OFTENER * past[~inside].mean()):
            continue
        passed = len(set((np.searchsorted(events.starts, there.times[past & inside], side="right") - 1).tolist()))
        highest = float(there.values[inside].max())
        found.append(LimitInSpikes(finding.rule.id, name, finding.signal, subject, limit_of(finding), highest, passed))
    return tuple(sorted(found, key=lambda one: (-one.passed, -one.highest / (one.limit.limit or 1))))
