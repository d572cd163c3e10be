"""The results of judging a rule: reduced value, condition and state at each evaluation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values
from plimsoll.rules.crossings import CrossingColumns, EvaluationMatrix
from plimsoll.rules.schema.field_types import Healthy, mark_healthy
from plimsoll.rules.signal_finder import ResolvedSource
from plimsoll.rules.states import EVALUATION_INTERVAL, FALSE, NO_DATA, States, Truths
from plimsoll.rules.subjects import Subject

_Value = TypeVar("_Value")


class _Cell(Generic[_Value]):
    """A descriptor that returns one subject's row of an attribute of `EvaluationMatrix`, and keeps it in the subject's
    evaluation, which many read several times.
    """

    def __init__(self, attribute: str) -> None:
        self._attribute = attribute

    def __set_name__(self, _: type["RuleEvaluation"], name: str) -> None:
        self._name = name

    def __get__(self, track: "RuleEvaluation", _: type["RuleEvaluation"]) -> _Value:
        value = vars(track)[self._name] = getattr(track.matrix, self._attribute)[track.row]
        return value


@dataclass(frozen=True, eq=False)
class RuleEvaluation:
    """The evaluations of a rule for one subject: a row of an `EvaluationMatrix`, which explains further attributes."""

    subject: Subject
    matrix: EvaluationMatrix
    row: int
    is_phase_determined: bool = True
    other_windows: Sequence[int] = ()

    healthy = _Cell[Healthy]("healthy")
    window = _Cell[int]("windows")
    values = _Cell[Values]("values")
    truths = _Cell[Truths]("truths")
    states = _Cell[States]("states")
    other_conditions_hold = _Cell[NDArray[np.bool_]]("other_conditions_hold")
    impossible = _Cell[Values]("impossible")
    judged = _Cell[int]("judged")
    longest_stretch = _Cell[int]("longest_stretch")
    longest_crossing = _Cell[int]("longest_crossing")
    last_crossing = _Cell[int]("last_crossing")
    last_judged = _Cell[int]("last_judged")
    worst = _Cell[float]("worst")
    nearest = _Cell[float]("nearest")

    @property
    def times(self) -> Times:
        """The times of the evaluations (UTC ns)."""
        return self.matrix.times

    @property
    def time_crossed(self) -> int:
        """The total time (ns) for which the condition was true."""
        return self.matrix.true[self.row] * EVALUATION_INTERVAL

    @property
    def share_of_time(self) -> float | None:
        """The share (0 to 1) of evaluations with data at which the condition was true; None without data."""
        return self.matrix.true[self.row] / self.judged if self.judged else None

    @property
    def longest_fired(self) -> int | None:
        """The duration (ns) of the longest crossing that fired; None if none fired."""
        longest = self.matrix.longest_fired[self.row]
        return longest if longest >= 0 else None

    @property
    def crossings(self) -> CrossingColumns:
        """All crossings of the subject, in time order."""
        return self.matrix.crossings_of(self.row)


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions of a rule for one subject, with one element for each evaluation.

    Attributes:
        healthy: The limit, scaled for this subject.
        times: The evaluations (UTC ns).
        values: The reduced values of the rule's own signal; NaN for no data.
        enter: Whether the condition for leaving OK is met.
        stay: Whether the condition for remaining pending or firing is met; differs from `enter` only with `recover`.
    """

    healthy: Healthy
    times: Times
    values: Values
    enter: Truths
    stay: Truths


@dataclass(frozen=True, eq=False)
class ConditionMatrix:
    """The conditions of a rule for several subjects: a row for each subject, a column for each evaluation."""

    subjects: Sequence[tuple[Subject, ResolvedSource]]
    healthy: Sequence[Healthy]
    times: Times
    values: Values
    enter: Truths
    stay: Truths
    other_conditions_hold: NDArray[np.bool_]
    impossible: Values

    def row(self, at: int) -> Conditions:
        """Return the conditions of the subject in row `at`."""
        return Conditions(self.healthy[at], self.times, self.values[at], self.enter[at], self.stay[at])

    def without(self, hidden: NDArray[np.bool_]) -> "ConditionMatrix":
        """Return a copy of the matrix without data where the mask `hidden` is true."""
        return replace(
            self,
            values=np.where(hidden, np.nan, self.values),
            enter=np.where(hidden, NO_DATA, self.enter),
            stay=np.where(hidden, NO_DATA, self.stay),
            impossible=np.where(hidden, np.nan, self.impossible),
        )


class RowLimits(NamedTuple):
    """The limits of several rows; all limits have the same operator."""

    limits: Sequence[Healthy]
    values: Values

    @classmethod
    def of(cls, limits: Sequence[Healthy]) -> "RowLimits":
        """Build from the limits of the rows, in order."""
        return cls(limits, np.array([limit.limit for limit in limits])[:, np.newaxis])

    def hold(self, values: Values) -> NDArray[np.bool_]:
        """Return a mask of the values on the healthy side of their row's limit; False for NaN."""
        return mark_healthy(self.limits[0].operator, values, self.values)


def compute_truths(values: Values, breached: NDArray[np.bool_], idle: NDArray[np.bool_]) -> Truths:
    """Return a condition's truths: FALSE where `idle` (no requests), else NO_DATA where NaN, else as in `breached`."""
    truths = breached.astype(np.int8)
    truths[np.isnan(values)] = NO_DATA
    if idle.any():
        truths[idle] = FALSE
    return truths


def join_truths(truths: Sequence[Truths]) -> Truths:
    """Return conditions joined by AND: FALSE where any is false, else NO_DATA where any lacks data, else TRUE."""
    if len(truths) == 1:
        return truths[0]
    stacked = np.stack(truths)
    joined = stacked.min(axis=0)  # no data where any lacks data, unless one is false
    joined[(stacked == FALSE).any(axis=0)] = FALSE
    return joined


def find_true_spans(inside: np.ndarray) -> list[slice]:
    """Return the runs of consecutive true elements of a mask, as slices."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], inside, [False])).astype(np.int8)))
    return [slice(first, last) for first, last in edges.reshape(-1, 2).tolist()]
