"""The state machine of alerts. Live alerting calls `step`; a review calls `run` on whole columns."""

import itertools
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times


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


def step(status: Status, at: int, enter: Truth, stay: Truth, hold: int) -> Status:
    """The status after the evaluation at `at`.

    `enter` is the condition for leaving OK, `stay` the one for remaining pending or firing; they differ only if the
    rule has a `recover` limit. `hold` is the rule's `for` in ns.
    """
    active = _is_active(status)
    truth = stay if active else enter
    if truth == Truth.FALSE:
        return Status(State.OK)
    if truth == Truth.NO_DATA:
        return status if status.state == State.FIRING else Status(State.NO_DATA)
    if status.state == State.FIRING:
        return status
    since = status.since if active and status.since is not None else at
    return Status(State.FIRING if at - since >= hold else State.PENDING, since)


def _is_active(status: Status) -> bool:
    return status.state in (State.PENDING, State.FIRING)


def run(times: Times, enter: Truths, stay: Truths, hold: int, status: Status | None = None) -> tuple[States, Status]:
    """The state at every evaluation, and the status after the last: `step` folded over columns.

    Equal to calling `step` at every evaluation, but faster: while the condition does not change, the status can
    only change when `for` has passed, so only those evaluations are stepped.
    """
    status = status or Status()
    states = np.empty(len(times), dtype=np.int8)
    changed = np.flatnonzero((enter[1:] != enter[:-1]) | (stay[1:] != stay[:-1])) + 1
    bounds = [0, *changed.tolist(), len(times)] if len(times) else [0]
    for first, last in itertools.pairwise(bounds):
        at = first
        while at < last:
            before = status
            status = step(status, int(times[at]), Truth(int(enter[at])), Truth(int(stay[at])), hold)
            if _is_active(status) != _is_active(before):
                until = at + 1  # the next evaluation uses `stay` instead of `enter`, or the reverse
            elif status.state == State.PENDING and status.since is not None:
                until = min(last, max(at + 1, int(np.searchsorted(times, status.since + hold))))
            else:
                until = last
            states[at:until] = status.state
            at = until
    return states, status
