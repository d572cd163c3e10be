"""What judging a rule gives, evaluation by evaluation: its values, conditions and states."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.rules.origins import Origin
from plimsoll.rules.runs import Runs
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.states import States, Truth, Truths
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True, eq=False)
class Track:
    """A rule judged for one subject, with one row per evaluation.

    Attributes:
        subject: The host or instance.
        healthy: The limit, scaled for this subject.
        window: The window (ns) after widening.
        times: The evaluations (UTC ns).
        values: The rule's own reduced values; NaN for no data.
        truths: The condition; false where only `recover` keeps an alert firing.
        states: The state after each evaluation.
        others_hold: Whether all other conditions of the rule held.
        impossible: Reduced values that the signal cannot have, which are no data; NaN elsewhere.
        phase_known: Whether the phases of the run were known, if the rule is for one.
        other_windows: Windows (ns) of parts of the log that were sampled at another interval.
    """

    subject: Subject
    healthy: Healthy
    window: int
    times: Times
    values: Values
    truths: Truths
    states: States
    others_hold: NDArray[np.bool_]
    impossible: Values
    phase_known: bool = True
    other_windows: Sequence[int] = ()

    @cached_property
    def runs(self) -> Runs:
        """The runs of equal truth."""
        return Runs.of(self.truths, self.states)

    @cached_property
    def judged(self) -> int:
        """How many evaluations had data."""
        return self.runs.count(Truth.TRUE) + self.runs.count(Truth.FALSE)


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions of a rule for one subject, with one row per evaluation.

    Attributes:
        healthy: The limit, scaled for this subject.
        times: The evaluations (UTC ns).
        values: The rule's own reduced values; NaN for no data.
        enter: The condition for leaving OK.
        stay: The condition for remaining pending or firing; differs from `enter` if the rule has a `recover` limit.
        others_hold: Whether all other conditions of the rule held.
        impossible: Reduced values that the signal cannot have, which are no data; NaN elsewhere.
    """

    healthy: Healthy
    times: Times
    values: Values
    enter: Truths
    stay: Truths
    others_hold: NDArray[np.bool_]
    impossible: Values


@dataclass(frozen=True, eq=False)
class Matrix:
    """The conditions of a rule for several subjects: a row each, a column for each evaluation."""

    subjects: Sequence[tuple[Subject, Origin]]
    healthy: Sequence[Healthy]
    times: Times
    values: Values
    enter: Truths
    stay: Truths
    others_hold: NDArray[np.bool_]
    impossible: Values

    def row(self, at: int) -> Conditions:
        """The conditions for one subject."""
        columns = self.values[at], self.enter[at], self.stay[at], self.others_hold[at], self.impossible[at]
        return Conditions(self.healthy[at], self.times, *columns)
