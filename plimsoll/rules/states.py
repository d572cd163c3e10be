"""The state machine of alerts, with `for` and hysteresis (`recover`).

Live alerting calls `step` at each evaluation; a review calls `run` for all evaluations at once.
"""

from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times
from plimsoll.model.parameters import Parameter
from plimsoll.model.times import SECOND, convert_to_datetime, format_duration

EVALUATION_INTERVAL = 10 * SECOND
_MOST_EVALUATIONS = 20_000_000


class Truth(IntEnum):
    """Whether a condition is met at one evaluation."""

    NO_DATA = -1
    FALSE = 0
    TRUE = 1


class State(IntEnum):
    """The state of one rule for one subject. FIRING without data is also called stale."""

    OK = 0
    PENDING = 1
    FIRING = 2
    NO_DATA = 3
    NOT_JUDGED = 4


# As numbers, since Python 3.11 takes long to get a member of an enumeration, and numpy to convert it.
NO_DATA, FALSE, TRUE = map(np.int8, Truth)
OK, PENDING, FIRING, LACKING, _ = map(np.int8, State)
Truths: TypeAlias = NDArray[np.int8]
States: TypeAlias = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Status:
    """A state, and since when (UTC ns) the condition has been true; `since` is None if neither pending nor firing."""

    state: State = State.OK
    since: int | None = None


def step(states: States, since: Times, at: int, enter: Truths, stay: Truths, hold: int) -> tuple[States, Times]:
    """Return the states of subjects after the evaluation at `at`, and since when (UTC ns) each condition has been true.

    `states` and `since` are those after the previous evaluation; `since` is 0 for subjects neither pending nor firing.
    `enter` is the condition for leaving OK, `stay` the condition for remaining pending or firing; they differ only if
    the rule has a `recover` limit. `hold` is the rule's `for` in ns.
    """
    was_firing = states == FIRING
    active = was_firing | (states == PENDING)
    truths, begun = np.where(active, stay, enter), np.where(active, since, at)
    true, missing = truths == TRUE, truths == NO_DATA
    firing = (true & (at - begun >= hold)) | (was_firing & (true | missing))
    after = np.where(firing, FIRING, np.where(true, PENDING, np.where(missing, LACKING, OK)))
    return after, np.where(firing | true, begun, 0)


def run(times: Times, enter: Truths, stay: Truths, hold: int) -> States:
    """Return the states of subjects (rows) at every evaluation (columns).

    The result equals calling `step` at every evaluation, but is computed from runs of equal conditions, for all rows at
    once. Only rows in which somewhere `enter` is true but `stay` is not (because of `recover`) are stepped through.
    """
    states = np.where(enter == Truth.NO_DATA, np.int8(State.NO_DATA), np.int8(State.OK))
    crossed = (enter == Truth.TRUE).any(axis=1)
    if stay is not enter:
        contradicts = ((enter == Truth.TRUE) & (stay != Truth.TRUE)).any(axis=1)
        if contradicts.any():
            crossed &= ~contradicts
            states[contradicts] = _step_runs(times, enter[contradicts], stay[contradicts], hold)
    if crossed.all():
        return _run_crossed(times, enter, stay, hold)
    if crossed.any():
        states[crossed] = _run_crossed(times, enter[crossed], enter[crossed] if stay is enter else stay[crossed], hold)
    return states


def _step_runs(times: Times, enter: Truths, stay: Truths, hold: int) -> States:
    columns = np.empty(enter.shape, dtype=np.int8)
    states, since = np.zeros(len(enter), dtype=np.int8), np.zeros(len(enter), dtype=np.int64)
    for column, at in enumerate(times.tolist()):
        states, since = step(states, since, at, enter[:, column], stay[:, column], hold)
        columns[:, column] = states
    return columns


def _run_crossed(times: Times, enter: Truths, stay: Truths, hold: int) -> States:
    """Return the states of rows with at least one crossing, computed run by run; a run changes state at most once."""
    changed = np.ones(enter.shape, dtype=np.bool_)
    changed[:, 1:] = enter[:, 1:] != enter[:, :-1]
    if stay is not enter:
        changed[:, 1:] |= stay[:, 1:] != stay[:, :-1]
    starts = np.flatnonzero(changed)
    lengths = np.diff(starts, append=enter.size)
    first = starts % len(times)
    on, off, opens = enter.ravel()[starts], stay.ravel()[starts], first == 0
    # First without firing alerts: true runs begin an alert, all others end it.
    pending = (on == Truth.TRUE)[_find_latest((on == Truth.TRUE) | (off != Truth.TRUE) | opens)]
    begun = times[first[_find_latest(pending & (opens | ~_shift_runs(pending)))]]
    fires_at = np.maximum(np.searchsorted(times, begun + hold) - first, 0)
    fires = pending & (fires_at < lengths)
    # A firing alert continues, even without data, until its condition is false.
    number = np.arange(len(starts))
    last_fired = np.maximum.accumulate(np.where(fires, number, -1))
    firing = np.concatenate(([-1], last_fired[:-1])) >= _find_latest((off == Truth.FALSE) | opens)
    active = pending | firing
    leaves = ~active & ~opens & _shift_runs(active)
    inactive = np.where(on == Truth.NO_DATA, State.NO_DATA, State.OK)
    left = np.where(off == Truth.NO_DATA, State.NO_DATA, State.OK)
    begins = np.where(firing, State.FIRING, np.where(pending, State.PENDING, np.where(leaves, left, inactive)))
    ends = np.where(active, State.FIRING, inactive)
    until = np.where(firing, lengths, np.where(fires, fires_at, np.where(leaves, 1, lengths)))
    parts = np.column_stack((until, lengths - until)).ravel()
    return np.repeat(np.column_stack((begins, ends)).astype(np.int8).ravel(), parts).reshape(enter.shape)


def _find_latest(decisive: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return, for each run, the index of the last decisive run up to and including it; the first must be decisive."""
    return np.maximum.accumulate(np.where(decisive, np.arange(len(decisive)), 0))


def _shift_runs(runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return, for each run, whether the mask `runs` marks the run before it; False for the first run."""
    return np.concatenate(([False], runs[:-1]))


def list_evaluation_times(times: Times, interval: int = EVALUATION_INTERVAL, reach: int = 0) -> Times:
    """Return the evaluation times of a recording: multiples of `interval`, from first to last sample, both rounded up.

    In a pause longer than `reach` (the longest window) only the first evaluation without data is kept, as the others
    change no state. Raise Unusable if there are still too many evaluations for memory.
    """
    if not len(times):
        return np.empty(0, dtype=np.int64)
    pauses = np.flatnonzero(np.diff(times) > reach + 2 * interval)
    starts = -(-times[np.concatenate(([0], pauses + 1))] // interval) * interval
    ends = np.concatenate((times[pauses] + reach + interval, [-(-times[-1] // interval) * interval]))
    counts = (ends - starts) // interval + 1
    if counts.sum() > _MOST_EVALUATIONS:
        raise Unusable(
            f"the samples lie too far apart to be judged every {format_duration(interval)}: {len(times)} rows from "
            f"{convert_to_datetime(int(times[0])):%Y-%m-%d} to {convert_to_datetime(int(times[-1])):%Y-%m-%d}; choose "
            f"a part with {Parameter.FROM} and {Parameter.TO}"
        )
    return np.concatenate([np.arange(s, e + 1, interval) for s, e in zip(starts.tolist(), ends.tolist(), strict=True)])
