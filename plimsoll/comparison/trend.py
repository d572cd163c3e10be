"""The means of signals over a series of runs (such as nightly builds), and the runs at which their level changed."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from plimsoll.analysis.bootstrap import Difference, Interval, estimate_independent_mean
from plimsoll.analysis.change_points import FEWEST_VALUES, ChangePoint, compute_visible_change, find_change_points
from plimsoll.comparison.hosts import Key
from plimsoll.comparison.levels import SignalLevel
from plimsoll.comparison.signal_settings import Treatment, Treatments, load_weight
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.run import AcceptedChange
from plimsoll.review.review import Review
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject

FALSE_ALARMS = 0.02  # the chance that any critical signal is said to have changed although none did
FEWEST = FEWEST_VALUES  # runs
FEWEST_BEFORE = 3  # runs before a change, and since
_STEADY = "steady"
_VISIBLE = 0.25  # our choice: of the level; where only larger changes could be seen, it is not known that none was


@dataclass(frozen=True, eq=False)
class RunMeans:
    """A run of a series, with the means of its load and signals in the steady phase, else in the whole run."""

    name: str
    start: int | None
    means: Mapping[tuple[str, Key], float]
    subjects: Mapping[tuple[str, Key], tuple[Signal, Subject]]
    load: tuple[str, float] | None

    @classmethod
    def of(cls, name: str, review: Review) -> "RunMeans":
        """Return the means of the signals of a run."""
        phase = next((phase for phase in review.phases if phase.name == _STEADY), None)
        means: dict[tuple[str, Key], float] = {}
        subjects: dict[tuple[str, Key], tuple[Signal, Subject]] = {}
        for title, signal in review.question.signals.items():
            for subject, samples in review.signals.of(title).items():
                if (level := SignalLevel.of(samples, phase)) is not None:
                    means[title, subject.key] = level.mean.mean
                    subjects[title, subject.key] = signal, subject
        work = next((load for load in review.loads if load.kind == "operations"), None)
        level = SignalLevel.of(work.samples, phase) if work else None
        load = (work.name, level.mean.mean) if work and level and level.mean.mean > 0 else None
        return cls(name, review.start, means, subjects, load)


@dataclass(frozen=True, eq=False)
class Change:
    """A change of a signal's level: the first run of the new level, and the 95 % interval of the difference."""

    name: str
    signal: Signal
    subject: Subject
    treatment: Treatment
    run: RunMeans
    point: ChangePoint
    interval: Interval

    @property
    def is_worse(self) -> bool:
        """Whether the signal changed in the direction that is worse."""
        return self.treatment.worse == ("higher" if self.point.after > self.point.before else "lower")


@dataclass(frozen=True, eq=False)
class Course:
    """A signal over the runs: its mean in each run, and its changes in order.

    If the signal grows with the load, `values` are scaled to the mean load. `visible` is the smallest change that would
    be found after the last change; infinite with too few runs.
    """

    name: str
    signal: Signal
    subject: Subject
    treatment: Treatment
    values: Values
    changes: tuple[Change, ...]
    visible: float


@dataclass(frozen=True, eq=False)
class HistoryTrend:
    """The changes over a series of runs, the latest first, and the courses of the signals that all runs have.

    `partly` are the signals that only some of the runs have.
    """

    runs: tuple[RunMeans, ...]
    changes: tuple[Change, ...]
    courses: tuple[Course, ...]
    partly: tuple[tuple[str, Signal, Subject], ...]

    def visible(self, share: float) -> float:
        """Return the least change, as a share of the level, that would be found in this share of the signals."""
        sizes = [course.visible / max(abs(float(course.values.mean())), 1e-12) for course in self.courses]
        return float(np.quantile(sizes, share, method="higher")) if sizes else float("inf")

    @property
    def can_tell(self) -> bool:
        """Whether there are enough runs to say that nothing changed: most signals would show a change that matters."""
        return self.visible(0.5) <= _VISIBLE


def find_change_for_the_worse(
    runs: Sequence[RunMeans], treatments: Treatments, accepted: Sequence[AcceptedChange] = ()
) -> Change | None:
    """Return the earliest change for the worse that lasts; None if there is none.

    A change lasts if it holds for two runs or more, the signal did not improve later, and nobody accepted the change. A
    baseline ends before this change, so that a regression does not become the usual level.
    """
    if len(runs) < FEWEST:
        return None
    lasting: list[Change] = []
    names = [run.name for run in runs]
    for course in compute_history_trend(runs, treatments, since=2).courses:
        better = max((at for at, change in enumerate(course.changes) if not change.is_worse), default=-1)
        lasting += [change for change in course.changes[better + 1 :] if not _is_accepted(change, accepted, names)][:1]
    return min(lasting, key=lambda change: runs.index(change.run), default=None)


def _is_accepted(change: Change, accepted: Sequence[AcceptedChange], names: Sequence[str]) -> bool:
    """Return whether the change was accepted at its run or a neighbouring run, as the run of a change is uncertain."""
    of_signal = [names.index(other.run) for other in accepted if other.signal == change.name and other.run in names]
    return any(abs(at - names.index(change.run.name)) <= 1 for at in of_signal)


def compute_history_trend(runs: Sequence[RunMeans], treatments: Treatments, since: int = FEWEST_BEFORE) -> HistoryTrend:
    """Return the changes of level that exceed their tolerance, over runs in order of time.

    Signals that grow with the load are compared per operation. A change near the end counts if the new level lasts for
    at least `since` runs.
    """
    alike = [key for key in runs[0].means if all(key in run.means for run in runs)]
    looked = {key: treatments.of(key[0], runs[0].subjects[key][0]) for key in alike}
    judged = {key: treatment for key, treatment in looked.items() if treatment.critical and not treatment.integrates}
    chance = FALSE_ALARMS / max(1, len(judged))
    courses = [_compute_course(runs, key, treatment, chance, since) for key, treatment in judged.items()]
    changes = [change for course in courses for change in course.changes]
    changes.sort(key=lambda change: (-runs.index(change.run), change.treatment.place, not change.is_worse))
    partly = sorted(_list_partly_recorded(runs, alike, treatments), key=lambda pair: (pair[0], str(pair[2])))
    return HistoryTrend(tuple(runs), tuple(changes), tuple(courses), tuple(partly))


def _compute_course(
    runs: Sequence[RunMeans], key: tuple[str, Key], treatment: Treatment, chance: float, since: int
) -> Course:
    """Return the course of a signal over the runs, with the changes of its level."""
    values = _list_values(runs, key, treatment)
    level = float(values.mean())
    prior = treatment.between_runs(level, level)  # of memory, as if as much were in use as is available
    points = find_change_points(values, chance, prior, load_weight(), since)
    edges = [0, *(change_point.first for change_point in points), len(values)]
    signal, subject = runs[-1].subjects[key]
    changes: list[Change] = []
    for at, point in enumerate(points):
        if abs(point.after - point.before) > treatment.tolerated_in_series(point.before):
            parts = values[edges[at] : point.first], values[point.first : edges[at + 2]]
            interval = Difference.of(*map(estimate_independent_mean, parts)).interval()
            changes.append(Change(key[0], signal, subject, treatment, runs[point.first], point, interval))
    visible = compute_visible_change(values[edges[-2] :], chance, prior, load_weight())
    return Course(key[0], signal, subject, treatment, values, tuple(changes), visible)


def _list_partly_recorded(
    runs: Sequence[RunMeans], alike: Sequence[tuple[str, Key]], treatments: Treatments
) -> Iterator[tuple[str, Signal, Subject]]:
    """Yield the critical signals that are left out because only some of the runs recorded them."""
    entries = {key: subject for run in runs for key, subject in run.subjects.items()}
    for key in entries.keys() - set(alike):
        signal, subject = entries[key]
        treatment = treatments.of(key[0], signal)
        if treatment.critical and not treatment.integrates:
            yield key[0], signal, subject


def _list_values(runs: Sequence[RunMeans], key: tuple[str, Key], treatment: Treatment) -> Values:
    """Return the mean of a signal in each run; scaled to the mean load if the signal grows with the load."""
    values = np.array([run.means[key] for run in runs])
    loads = [run.load for run in runs if run.load]
    names = {name for name, _ in loads}
    if treatment.load != "proportion" or len(loads) < len(runs) or len(names) > 1 or key[0] in names:
        return values
    rates = np.array([rate for _, rate in loads])
    return values * rates.mean() / rates
