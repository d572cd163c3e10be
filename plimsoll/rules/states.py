"""The state machine of alerts. Live alerting calls `step`; a review calls `run` on whole columns."""

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Times
from plimsoll.model.parameters import Parameter
from plimsoll.model.times import SECOND, duration_text, utc

EVALUATION_INTERVAL = 10 * SECOND


_MOST_EVALUATIONS = 20_000_000


class Truth(IntEnum):
    """Whether a condition holds at one evaluation."""

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


Truths: TypeAlias = NDArray[np.int8]
States: TypeAlias = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Status:
    """A state, and the evaluation (UTC ns) from which the condition has been true."""

    state: State = State.OK
    since: int | None = None


_OK = Status()
_WITHOUT_DATA = Status(State.NO_DATA)
_ACTIVE = State.PENDING, State.FIRING


def step(status: Status, at: int, enter: int, stay: int, hold: int) -> Status:
    """The status after the evaluation at `at`.

    `enter` is the condition for leaving OK, `stay` the one for remaining pending or firing; they differ only if the
    rule has a `recover` limit. `hold` is the rule's `for` in ns.
    """
    active = _is_active(status)
    truth = stay if active else enter
    if truth == Truth.FALSE:
        return _OK
    if truth == Truth.NO_DATA:
        return status if status.state == State.FIRING else _WITHOUT_DATA
    if status.state == State.FIRING:
        return status
    since = status.since if active and status.since is not None else at
    return Status(State.FIRING if at - since >= hold else State.PENDING, since)


def settled(states: States, since: Times, at: int, enter: Truths, stay: Truths, hold: int) -> NDArray[np.bool_]:
    """Of which subjects `step` would change nothing at `at`: they stay pending or firing, or neither of both.

    `since` counts where the state is pending.
    """
    pending, firing = states == State.PENDING, states == State.FIRING
    waits = pending & (stay == Truth.TRUE) & (at - since < hold)
    return waits | (firing & (stay != Truth.FALSE)) | (~(pending | firing) & (enter != Truth.TRUE))


def _is_active(status: Status) -> bool:
    return status.state in _ACTIVE


def run(times: Times, enter: Truths, stay: Truths, hold: int, status: Status | None = None) -> tuple[States, Status]:
    """The state at every evaluation, and the status after the last: `step` folded over columns.

    Equal to calling `step` at every evaluation, but faster: while the condition does not change, the status can
    only change when `for` has passed, so only those evaluations are stepped.
    """
    status = status or Status()
    if not len(times):
        return np.empty(0, dtype=np.int8), status
    changed = enter[1:] != enter[:-1]
    if stay is not enter:
        changed |= stay[1:] != stay[:-1]
    starts = np.concatenate(([0], np.flatnonzero(changed) + 1))
    bounds = [*starts.tolist(), len(times)]
    begin, entered, stayed = times[starts].tolist(), enter[starts].tolist(), stay[starts].tolist()
    at: list[int] = []  # where a state begins, and which
    states: list[State] = []
    for first, last, now, on, off in zip(bounds, bounds[1:], begin, entered, stayed, strict=False):
        before, place = status, first
        status = step(status, now, on, off, hold)
        at.append(place)
        states.append(status.state)
        # The next evaluation uses `stay` instead of `enter`, or the reverse.
        while on != off and _is_active(status) != _is_active(before) and place + 1 < last:
            before, place = status, place + 1
            status = step(status, int(times[place]), on, off, hold)
            at.append(place)
            states.append(status.state)
        if status.state == State.PENDING and status.since is not None:
            place = max(place + 1, int(np.searchsorted(times[first:last], status.since + hold)) + first)
            if place < last:
                status = step(status, int(times[place]), on, off, hold)
                at.append(place)
                states.append(status.state)
    return np.repeat(np.array(states, dtype=np.int8), np.diff([*at, len(times)])), status


def run_rows(times: Times, enter: Truths, stay: Truths, hold: int) -> States:
    """The states of several subjects, a row each; of those whose condition is never true no evaluation is stepped."""
    states = np.where(enter == Truth.NO_DATA, np.int8(State.NO_DATA), np.int8(State.OK))
    for row in np.flatnonzero((enter == Truth.TRUE).any(axis=1)).tolist():
        states[row], _ = run(times, enter[row], enter[row] if stay is enter else stay[row], hold)
    return states


def evaluation_times(times: Times, interval: int = EVALUATION_INTERVAL, reach: int = 0) -> Times:
    """The evaluations of a recording: from the first grid point at or after the first sample to the
    first at or after the last.

    Of a pause longer than `reach` (the longest window) only the first evaluation without data is kept: the others
    change no state. Unusable if there are still too many evaluations to hold in memory.
    """
    if not len(times):
        return np.empty(0, dtype=np.int64)
    pauses = np.flatnonzero(np.diff(times) > reach + 2 * interval)
    starts = -(-times[np.concatenate(([0], pauses + 1))] // interval) * interval
    ends = np.concatenate((times[pauses] + reach + interval, [-(-times[-1] // interval) * interval]))
    counts = (ends - starts) // interval + 1
    if counts.sum() > _MOST_EVALUATIONS:
        raise Unusable(
            f"the samples lie too far apart to be judged every {duration_text(interval)}: {len(times)} rows from "
            f"{utc(int(times[0])):%Y-%m-%d} to {utc(int(times[-1])):%Y-%m-%d}; choose a part "
            f"with {Parameter.FROM} and {Parameter.TO}"
        )
    return np.concatenate([np.arange(s, e + 1, interval) for s, e in zip(starts.tolist(), ends.tolist(), strict=True)])
