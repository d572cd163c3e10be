"""Finds the phases of a run from its load, for runs without phases set by hand.

Rules for a phase are judged in the found steady state if it is certain. As a wrong phase must not hide crossings, only
the part before the steady state is left out: a load that falls afterwards may be a consequence of a crossed limit. At
most half of the run is left out; at most a quarter if the load before the steady state was higher than in it, as while
everybody logs on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import get_args

import numpy as np

from plimsoll.analysis.filters import EqualParts
from plimsoll.analysis.levels.plateaus import Plateau, find_plateaus
from plimsoll.analysis.levels.ramp_fit import NEAR
from plimsoll.analysis.phases import Boundary, NotSteady, SteadyState, find_in_longest_test, find_steady_state
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.model.remark import format_count
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.model.value_text import format_percent
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import REQUESTS, USERS, list_tests
from plimsoll.review.recording.host_spans import LONG_PAUSE, find_pause_lengths
from plimsoll.rules.schema import field_types
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.rules.subjects import Subject

_FALLBACK = "cpu.busy"
_MOVED = ("network.sent", "network.received")
_COVERED = 0.8  # our choice: subjects recorded for less of the time are left out of the sum


@dataclass(frozen=True, eq=False)
class Load:
    """One load signal of a run.

    `kind` is None for processor time, which is used if no load was recorded. `samples` are the sum over the `subjects`,
    or the mean if the unit is %.
    """

    kind: field_types.Load | None
    name: str
    signal: Signal
    subjects: tuple[Subject, ...]
    samples: Samples

    @cached_property
    def plateaus(self) -> tuple[Plateau, ...]:
        """The levels of a stepped load; empty if the load was not stepped.

        Bytes and processor time rise for many reasons, so their levels count only if they rise, fall, or rise and then
        fall.
        """
        levels = find_plateaus(self.samples)
        is_clear = (
            self.kind in ("connections", "operations") or _count_turns([plateau.level for plateau in levels]) <= 1
        )
        return levels if is_clear else ()

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts over which the load is summed."""
        return tuple(dict.fromkeys(subject.host for subject in self.subjects))


STEADY, RAMP_UP = "steady", "ramp-up"
_MOST_TRIED = 4  # load signals; the first that has an answer counts
_PROCESSOR_TIME = 0.5  # of the confidence is left where only processor time was recorded
_SUREST = 0.9995  # the highest confidence that is shown, as no estimate is certain
SURE = 0.95  # the confidence from which rules are judged by the phases
_VARIED_PARTS, _VARIED = 20, 2.5  # means of the run; the highest, in times the lowest; our choice
_FEWEST_STEPS = 3  # levels: of stairs, none of which may be as long as a steady state
_LONGEST_RAMP = 0.5  # of the run; these three are our choice
_LONGEST_STORM = 0.25  # of the run: a load that is higher than the steady one
_HIGHER = 1.1  # times the level
# Our choices: of the level, in all but a few of the samples after a steady state, there is no load, and no ramp-down.
_IDLE, _IDLE_QUANTILE, _FEWEST_IDLE = 0.1, 0.95, 5
_NONE, _IDLE_AT_FIRST = 0.01, 0.8  # of the level: no load; of the samples before a steady state
_RETURNS = 0.6  # of the level, in the second half of what follows: a load that came again
_PARTS, _AS_MANY = 8, 0.85  # of a steady state, each with at least so much of the most requests; our choice
_END, _FALLS = 10, 0.4  # part of a ramp-down that shows its end; of its fall, in its first half (0.75 if straight)


@dataclass(frozen=True)
class FoundPhases:
    """The phases found from a load; none if the load has no steady state.

    Attributes:
        confidence: The lowest probability that a boundary is right to within 2 % of the run's length.
        signal: The name of the load's signal; empty if no load was recorded.
        title: The title of the load's signal, with the number of hosts.
        boundaries: The start and the end of the steady state; None where the run begins or ends in it.
        is_certain: Whether it is certain that the run has, or has not, a steady state.
        fallback: Whether the phases were found from processor time, as no load was recorded.
        ramped: Whether the part before the steady state is short enough for a ramp-up.
        tests: How many tests the log seems to have; 0 for a single test.
        other: How long (ns) there was another load after the steady state, neither gone nor in a ramp-down.
    """

    phases: tuple[Phase, ...]
    confidence: float | None
    sentence: str
    signal: str = ""
    title: str = ""
    boundaries: tuple[Boundary | None, Boundary | None] = (None, None)
    is_certain: bool = True
    fallback: bool = False
    ramped: bool = True
    tests: int = 0
    other: int = 0

    @property
    def sure(self) -> bool:
        """Whether the phases are sure enough to judge rules for a phase in them."""
        return bool(self.phases) and self.ramped and (self.confidence or 0) >= SURE

    @property
    def steady(self) -> Phase | None:
        """The steady state; None if none was found."""
        return next((phase for phase in self.phases if phase.name == STEADY), None)

    @property
    def ramp_down(self) -> int | None:
        """When (UTC ns) the ramp-down began; None if there was no ramp-down."""
        return next((phase.start for phase in self.phases if phase.name == "ramp-down"), None)

    def to_judge_by(self, start: int, end: int) -> tuple[Phase, ...]:
        """Return the phases in which rules are judged: the ramp-up, and everything after the ramp-up as steady state.

        The run lasts from `start` to `end` (UTC ns). The steady state includes the last evaluation, which may be after
        `end`.
        """
        end += EVALUATION_INTERVAL
        begin = self.boundaries[0]
        if begin is None:
            return (Phase(STEADY, start, end),)
        return Phase(RAMP_UP, start, begin.at - 1), Phase(STEADY, begin.at, end)

    @property
    def unsure(self) -> tuple[tuple[int, int], ...]:
        """The intervals (UTC ns) that contain the start and the end of the steady state with a probability of 95 %."""
        return tuple((boundary.low, boundary.high) for boundary in self.boundaries if boundary)


def find_phases(loads: Sequence[Load], start: int, end: int, zone: Zone) -> FoundPhases:
    """Return the phases that the first conclusive load of a run shows, with a sentence on the phases.

    A load is conclusive if it has a steady state, or certainly has none; if no load is, the first load counts. The run
    lasts from `start` to `end` (UTC ns). Times in the sentence are in `zone`.
    """
    if not loads:
        return FoundPhases((), None, "Phases are not known: no load was recorded.", is_certain=False)
    tried: list[tuple[Load, SteadyState | NotSteady]] = []
    for load in loads[:_MOST_TRIED]:
        if tried and load.kind != "operations" and _is_varied(loads[0]):
            break
        tried.append((load, _find_state(load)))
        if not isinstance(tried[-1][1], NotSteady) or tried[-1][1].is_certain:
            result = _describe_phases(*tried[-1], start, end, zone)
            users = _find_steady_users(load, loads) if result.other or not result.phases else None
            return _describe_phases(*users, start, end, zone) if users else result
    return _describe_phases(*tried[0], start, end, zone)


def _is_varied(load: Load) -> bool:
    """Return whether a load is operations whose rate changes so much that a steady state of another load is none."""
    parts = np.array_split(load.samples.present.values, _VARIED_PARTS)
    means = [float(part.mean()) for part in parts if len(part)]
    return load.kind == "operations" and max(means) >= _VARIED * min(means)


def _find_steady_users(work: Load, loads: Sequence[Load]) -> tuple[Load, SteadyState] | None:
    """Return the users of a load driver, and their steady state, in which they had about as many requests answered.

    Requests become a little fewer where responses take longer: that is no other load. Return None if it is otherwise.
    """
    users = next((load for load in loads if work.name == REQUESTS and load.name == USERS), None)
    state = _find_state(users) if users else None
    if users is None or not isinstance(state, SteadyState) or state.tests:
        return None
    first, last = (edge.at if edge else None for edge in (state.begin, state.end))
    done = work.samples.present
    rates = EqualParts(first or int(done.times[0]), last or int(done.times[-1]), _PARTS).means(done)
    return (users, state) if np.nanmin(rates) >= _AS_MANY * np.nanmax(rates) else None


def _find_state(load: Load) -> SteadyState | NotSteady:
    """Return the steady state of a load, or of its longest test where a load driver paused between tests."""
    samples = load.samples.present
    state = find_steady_state(samples.times, samples.values, load.plateaus)
    tests = list_tests(samples) if load.name == REQUESTS else []
    if isinstance(state, NotSteady) and len(tests) > 1 and not state.tests:
        rows = [tuple(samples.times.searchsorted((test.start, test.end + 1)).tolist()) for test in tests]
        return find_in_longest_test(samples.times, samples.values, rows)
    return state


def _describe_phases(load: Load, state: SteadyState | NotSteady, start: int, end: int, zone: Zone) -> FoundPhases:
    """Return the phases that a load shows, with a sentence on the phases and the load."""
    title = load.signal.title + (f" of {format_count(len(load.hosts), 'host')}" if len(load.hosts) > 1 else "")
    no_load = "; no load was recorded, so this is from processor time" if load.kind is None else ""
    if isinstance(state, NotSteady):
        if state.is_certain and len(load.plateaus) >= _FEWEST_STEPS:
            state = NotSteady("the load changes in steps")
        answer = "No steady state was found" if state.is_certain else "It is not known whether there was a steady state"
        return FoundPhases(
            (),
            None,
            f"{answer}: {state.why} ({title}){no_load}.{_describe_tests(state.tests, None, zone)}",
            load.name,
            title,
            is_certain=state.is_certain,
            fallback=load.kind is None,
            tests=len(state.tests),
        )
    test = _find_test_of_phases(state)
    first, last = test or _find_phase_bounds(load, start, end)
    begin = state.begin.at if state.begin else first
    finish = state.end.at if state.end else last
    spans = ((RAMP_UP, first, begin - 1), (STEADY, begin, finish), ("ramp-down", finish + 1, last))
    phases = tuple(Phase(*span) for span in spans if span[2] > span[1])
    after = (
        "" if state.tests or len(phases) < 2 or phases[-1].name == STEADY else _load_after(load, state, finish, last)
    )
    phases = phases[:-1] if after else phases
    boundaries = (state.begin, state.end)
    confidence = state.confidence * (_PROCESSOR_TIME if load.kind is None else 1)
    shown = min(confidence, _SUREST if confidence >= SURE else SURE - 0.001)  # not rounded to what is sure enough
    ramped = state.begin is None or _is_ramp(load, state, (begin - start) / (end - start))
    before = _select_before(load, state)
    is_idle = len(before) >= _FEWEST_IDLE and np.quantile(before, _IDLE_AT_FIRST) < _IDLE * state.level
    first_load = "little load at first" if is_idle else _NAMES[RAMP_UP] if ramped else "other load at first"
    names = _NAMES | {RAMP_UP: first_load}
    parts = ", ".join(f"{names[phase.name]} {_describe_recorded(load, phase)}" for phase in phases)
    return FoundPhases(
        phases,
        confidence,
        f"Phases found from {title} (confidence {format_percent(shown)}): {parts}{after}{no_load}."
        f"{_describe_tests(state.tests, test, zone)}",
        load.name,
        title,
        boundaries,
        fallback=load.kind is None,
        ramped=ramped,
        tests=len(state.tests),
        other=last - finish if after and not after.startswith((_NO_LOAD, _LITTLE)) else 0,
    )


_NO_LOAD, _LITTLE = ", no load", ", little load"
_NAMES = {RAMP_UP: "ramp-up", STEADY: "steady state", "ramp-down": "ramp-down"}


def _describe_recorded(load: Load, phase: Phase) -> str:
    """Return how long a phase was recorded, without breaks in the load's samples; and in how many parts, if several."""
    times = load.samples.between(phase.start, phase.end).present.times
    steps = np.diff(times)
    breaks = steps[steps > np.maximum(find_pause_lengths(times), LONG_PAUSE)] if len(steps) else steps
    lasted = format_duration(round((phase.end - phase.start - int(breaks.sum())) / SECOND) * SECOND)
    return f"{lasted} in {len(breaks) + 1} parts" if len(breaks) else lasted


def _find_test_of_phases(state: SteadyState) -> tuple[int, int] | None:
    """Return the start and end (UTC ns) of the test with the steady state; None if the log has a single test."""
    begin, end = (boundary.at if boundary else None for boundary in (state.begin, state.end))
    return next((test for test in state.tests if (begin or 0) < test[1] and (end is None or end > test[0])), None)


def _describe_tests(tests: Sequence[tuple[int, int]], test: tuple[int, int] | None, zone: Zone) -> str:
    """Return a sentence on when the tests of a log were, and which has the phases; empty for a single test."""
    if not tests:
        return ""
    is_dated = zone.local(tests[0][0]).date() != zone.local(tests[-1][1]).date()
    spans = ["–".join(zone.clock(at, date=is_dated)[: 16 if is_dated else 5] for at in span) for span in tests]
    ordinals = "first", "second", "third", *(f"{at}th" for at in range(4, len(spans) + 1))
    judged = f"; the phases are those of the {ordinals[tests.index(test)]}" if test else ""
    return f" The log seems to have {len(spans)} tests, {', '.join(spans[:-1])} and {spans[-1]}{judged}."


def _load_after(load: Load, state: SteadyState, finish: int, last: int) -> str:
    """Return a clause on the time after a steady state: how long there was no load, or another load.

    The time is from `finish` to `last` (UTC ns). Return an empty text for a ramp-down: a load that still falls in the
    second half of the time.
    """
    rest = load.samples.between(finish + 1, last).present.values[2:]
    if len(rest) < _FEWEST_IDLE:
        return ""
    lasts = format_duration(round((last - finish) / SECOND) * SECOND)
    idle = float(np.quantile(rest, _IDLE_QUANTILE))
    if idle < _IDLE * state.level:
        return f"{_LITTLE if idle >= _NONE * state.level else _NO_LOAD} {lasts}"
    end = float(np.median(rest[-max(_FEWEST_IDLE, len(rest) // _END) :]))
    still = float(rest[: len(rest) // 2].mean()) - end
    if float(np.quantile(rest[len(rest) // 2 :], SURE)) > _RETURNS * state.level:
        return f", other load {lasts}"
    return "" if still >= _FALLS * (state.level - end) else f", a lower load {lasts}"


def _is_ramp(load: Load, state: SteadyState, share: float) -> bool:
    """Return whether the part before a steady state, this `share` of the run, is short enough for a ramp-up."""
    before = _select_before(load, state)
    highest = float(np.quantile(before, SURE)) if len(before) else 0.0
    return share <= (_LONGEST_STORM if highest > _HIGHER * state.level else _LONGEST_RAMP)


def _select_before(load: Load, state: SteadyState) -> Values:
    """Return the values of a load before its steady state; empty if it begins with the recording."""
    present = load.samples.present
    return present.values[: np.searchsorted(present.times, state.begin.at)] if state.begin else present.values[:0]


def _find_phase_bounds(load: Load, start: int, end: int) -> tuple[int, int]:
    """Return where phases begin and end (UTC ns): with the run, or with the load's recording if clearly shorter."""
    times = load.samples.present.times
    near = NEAR * (end - start)
    first, last = int(times[0]), int(times[-1])
    return first if first - start > near else start, last if end - last > near else end


def find_loads(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> tuple[Load, ...]:
    """Return the load signals of a run: first operations, then connections, then bytes.

    Loads of one kind are sorted by mean, the highest first. Without any load, processor time is used if it was
    recorded.
    """
    candidates = list(_list_loads(recorded, {name: signal for name, signal in signals.items() if signal.load}))
    kinds = [None, *get_args(field_types.Load)]
    candidates.sort(key=lambda load: (kinds.index(load.kind), -float(load.samples.present.values.mean())))
    return tuple(candidates or _list_loads(recorded, {_FALLBACK: signals[_FALLBACK]} if _FALLBACK in signals else {}))


def find_moved_bytes(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> tuple[Load, ...]:
    """Return bytes sent and bytes received as loads, for runs in which no other signal shows the load."""
    candidates = _list_loads(recorded, {name: signals[name] for name in _MOVED if name in signals})
    return tuple(replace(load, kind="bytes") for load in candidates)


def _list_loads(recorded: RecordedSignals, signals: Mapping[str, Signal]) -> Iterator[Load]:
    for name, signal in signals.items():
        if by_subject := recorded.of(name):
            subjects, samples = combine_series(by_subject, mean=signal.unit == "%")
            if len(samples.present.times) and samples.present.values.any():
                yield Load(signal.load, name, signal, subjects, samples)


def combine_series(entries: Mapping[Subject, Samples], *, mean: bool = False) -> tuple[tuple[Subject, ...], Samples]:
    """Return the sum (or mean) of several series in steps of the longest sampling interval, and the subjects included.

    A step is missing if any included series has no sample in it. Series with samples in less than 80 % of the steps are
    left out; if all would be, the series with most samples is used alone.
    """
    if len(entries) == 1:
        [(subject, samples)] = entries.items()
        return (subject,), samples
    present = {subject: samples.present for subject, samples in entries.items()}
    intervals = [samples.interval or 0 for samples in entries.values()]
    step = max(intervals, default=0)
    if not step:
        subject = max(present, key=lambda subject: len(present[subject].times))
        return (subject,), entries[subject]
    start = min(int(samples.times[0]) for samples in present.values())
    edge = start - step // 2 if min(intervals) == step else start  # samples that jitter stay in steps of their own
    rows = max((int(samples.times[-1]) - edge) // step for samples in present.values()) + 1
    means = {subject: average_on_grid(samples, edge, step, rows) for subject, samples in present.items()}
    covered = {subject: float(np.isfinite(values).mean()) for subject, values in means.items()}
    chosen = [subject for subject, share in covered.items() if share >= _COVERED]
    chosen = chosen or [max(covered, key=lambda subject: covered[subject])]
    stacked = np.array([means[subject] for subject in chosen])
    times = start + np.arange(rows, dtype=np.int64) * step
    return tuple(chosen), Samples(times, stacked.mean(axis=0) if mean else stacked.sum(axis=0))


def average_on_grid(samples: Samples, start: int, step: int, rows: int) -> Values:
    """Return the mean of the samples in each of `rows` steps (ns) from `start` (UTC ns) on; NaN without samples."""
    at = (samples.times - start) // step
    counts = np.bincount(at, minlength=rows)
    sums = np.bincount(at, weights=samples.values, minlength=rows)
    return np.divide(sums, counts, out=np.full(rows, np.nan), where=counts > 0)


def _count_turns(levels: Sequence[float]) -> int:
    """Return how often levels turn from rising to falling or back, ignoring changes below a tenth of their range."""
    tenth = 0.1 * float(np.ptp(levels)) if levels else 0.0
    rises = [other > level for level, other in pairwise(levels) if abs(other - level) > tenth]
    return sum(rise != other for rise, other in pairwise(rises))
