"""Run lengths: a column of truths as the runs of evaluations over which it does not change."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plimsoll.rules.states import State, States, Truth, Truths

NOT_JUDGED = -2  # where a truth of -1 is no data


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of equal truth, in order of time; neighbours differ.

    Attributes:
        bounds: The first evaluation of each run, and the number of evaluations.
        truths: The truth of each, `NOT_JUDGED` outside the phases of the rule.
    """

    bounds: NDArray[np.intp]
    truths: NDArray[np.int8]

    @classmethod
    def of(cls, truths: Truths, states: States) -> "Runs":
        """The runs of a column of truths."""
        outside = states == State.NOT_JUDGED
        column = np.where(outside, np.int8(NOT_JUDGED), truths) if outside.any() else truths
        starts = np.flatnonzero(np.concatenate((column[:1] == column[:1], column[1:] != column[:-1])))
        return cls(np.append(starts, len(column)), column[starts])

    def between(self, truth: Truth) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The first evaluation of each run of this truth, and the one after its last."""
        at = np.flatnonzero(self.truths == truth)
        return self.bounds[at], self.bounds[at + 1]

    def count(self, truth: Truth) -> int:
        """How many evaluations have this truth."""
        first, stop = self.between(truth)
        return int((stop - first).sum())

    def judged(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The stretches judged without a break: true and false ones that follow each other, together."""
        judged = np.concatenate(([False], self.truths >= Truth.FALSE, [False])).astype(np.int8)
        edges = np.flatnonzero(np.diff(judged)).reshape(-1, 2)
        return self.bounds[edges[:, 0]], self.bounds[edges[:, 1]]
