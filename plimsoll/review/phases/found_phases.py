"""The phases of a run, found from its load where they are not set by hand.

Where the steady state is sure, rules for a phase are judged by it. A phase that was found wrongly must not hide what
was crossed. So only what was before it is left out, as a load that falls may be the consequence of what was crossed;
and at most half of the run, or a quarter if the load was higher there, as it is while everybody logs on.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.levels.ramp_fit import NEAR
from plimsoll.analysis.phases import Boundary, NotSteady, SteadyState, steady_state
from plimsoll.model.remark import counted
from plimsoll.model.run import Phase
from plimsoll.model.times import duration_text
from plimsoll.model.value_text import percent
from plimsoll.review.phases.load import Load
from plimsoll.rules.states import EVALUATION_INTERVAL

STEADY, RAMP_UP = "steady", "ramp-up"
_MOST_TRIED = 4  # load signals; the first that tells is believed
_PROCESSOR_TIME = 0.5  # of the confidence is left where only processor time was recorded
_SUREST = 0.9995  # that is said: no estimate is certain
SURE = 0.95  # the confidence from which rules are judged by the phases
_FEWEST_STEPS = 3  # levels: of stairs, none of which may be as long as a steady state
_LONGEST_RAMP = 0.5  # of the run; these three are our choice
_LONGEST_STORM = 0.25  # of the run: a load that is higher than the steady one
_HIGHER = 1.1  # times the level


@dataclass(frozen=True)
class FoundPhases:
    """The phases that a load tells; none if it has no steady state.

    `signal` is the load's name and `title` what it is called, with its hosts; both are empty if none was recorded.
    `confidence` is the least of the probabilities that a boundary is within 2 % of the run's length; `boundaries` are
    those of the steady state, None where the run begins or ends in it. `known` is False where it cannot be told whether
    there was a steady state; `fallback`: from processor time, as no load was recorded; `ramped`: what is before the
    steady state, if anything, is short enough for a ramp-up.
    """

    phases: tuple[Phase, ...]
    confidence: float | None
    sentence: str
    signal: str = ""
    title: str = ""
    boundaries: tuple[Boundary | None, Boundary | None] = (None, None)
    known: bool = True
    fallback: bool = False
    ramped: bool = True

    @property
    def sure(self) -> bool:
        """Whether rules for a phase can be judged by them."""
        return bool(self.phases) and self.ramped and (self.confidence or 0) >= SURE

    @property
    def steady(self) -> Phase | None:
        """The steady state."""
        return next((phase for phase in self.phases if phase.name == STEADY), None)

    def to_judge_by(self, start: int, end: int) -> tuple[Phase, ...]:
        """The phases of a run from `start` to `end` for its rules: the steady state is all that follows the ramp-up.

        It includes the last evaluation, which may be after the last sample.
        """
        end += EVALUATION_INTERVAL
        begin = self.boundaries[0]
        if begin is None:
            return (Phase(STEADY, start, end),)
        return Phase(RAMP_UP, start, begin.at - 1), Phase(STEADY, begin.at, end)

    @property
    def unsure(self) -> tuple[tuple[int, int], ...]:
        """The times in which the boundaries are with a probability of 95 %."""
        return tuple((boundary.low, boundary.high) for boundary in self.boundaries if boundary)

    @property
    def worth_telling(self) -> bool:
        """Whether the sentence is of use to readers: not if there was no load to look at."""
        return bool(self.signal) and (self.known or not self.fallback)


def find_phases(loads: Sequence[Load], start: int, end: int) -> FoundPhases:
    """Return the phases of a run from `start` to `end` (UTC ns), from the first of its loads that tells."""
    if not loads:
        return FoundPhases((), None, "Phases are not known: no load was recorded.", known=False)
    tried: list[tuple[Load, SteadyState | NotSteady]] = []
    for load in loads[:_MOST_TRIED]:
        tried.append((load, steady_state(load.samples.times, load.samples.values, load.plateaus)))
        if not isinstance(tried[-1][1], NotSteady) or tried[-1][1].known:
            return _describe_phases(*tried[-1], start, end)
    return _describe_phases(*tried[0], start, end)


def _describe_phases(load: Load, state: SteadyState | NotSteady, start: int, end: int) -> FoundPhases:
    title = load.signal.title + (f" of {counted(len(load.hosts), 'host')}" if len(load.hosts) > 1 else "")
    no_load = "; no load was recorded, so this is from processor time" if load.kind is None else ""
    if isinstance(state, NotSteady):
        if state.known and len(load.plateaus) >= _FEWEST_STEPS:
            state = NotSteady("the load changes in steps")
        answer = "No steady state was found" if state.known else "It is not known whether there was a steady state"
        return FoundPhases(
            (),
            None,
            f"{answer}: {state.why} ({title}){no_load}.",
            load.name,
            title,
            known=state.known,
            fallback=load.kind is None,
        )
    first, last = _recorded(load, start, end)
    begin = state.begin.at if state.begin else first
    finish = state.end.at if state.end else last
    spans = ((RAMP_UP, first, begin - 1), (STEADY, begin, finish), ("ramp-down", finish + 1, last))
    phases = tuple(Phase(*span) for span in spans if span[2] > span[1])
    boundaries = (state.begin, state.end)
    confidence = state.confidence * (_PROCESSOR_TIME if load.kind is None else 1)
    parts = ", ".join(f"{_NAMES[phase.name]} {duration_text(_seconds(phase))}" for phase in phases)
    return FoundPhases(
        phases,
        confidence,
        f"Phases found from {title}: {parts}; confidence {percent(min(confidence, _SUREST))}{no_load}.",
        load.name,
        title,
        boundaries,
        fallback=load.kind is None,
        ramped=state.begin is None or _is_ramp(load, state, (begin - start) / (end - start)),
    )


_NAMES = {RAMP_UP: "ramp-up", STEADY: "steady state", "ramp-down": "ramp-down"}


def _is_ramp(load: Load, state: SteadyState, share: float) -> bool:
    """Return whether the load before a steady state, for this share of the run, is a ramp-up."""
    present = load.samples.present
    before = present.values[: np.searchsorted(present.times, state.begin.at)] if state.begin else present.values[:0]
    highest = float(np.quantile(before, SURE)) if len(before) else 0.0
    return share <= (_LONGEST_STORM if highest > _HIGHER * state.level else _LONGEST_RAMP)


def _recorded(load: Load, start: int, end: int) -> tuple[int, int]:
    """Return the time that phases can cover: the run, without what is clearly before or after the load's recording."""
    times = load.samples.present.times
    near = NEAR * (end - start)
    first, last = int(times[0]), int(times[-1])
    return first if first - start > near else start, last if end - last > near else end


def _seconds(phase: Phase) -> int:
    second = 10**9
    return round((phase.end - phase.start) / second) * second
