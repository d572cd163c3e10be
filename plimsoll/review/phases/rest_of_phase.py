"""The rest of the phase that contains a crossing: values in the crossing are compared with those."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times
from plimsoll.model.run import Phase
from plimsoll.rules.crossings import Crossing

_LEAST = 0.05  # our choice: of the samples in a phase; the few that may be left at its end tell nothing of it


def phase_of(crossings: Sequence[Crossing], phases: Sequence[Phase]) -> str | None:
    """The name of the phase that contains all of the crossings; None if no single phase does."""
    names = {_containing(one, phases) for one in crossings}
    return names.pop() if len(names) == 1 else None


def in_rest_of_phase(
    times: Times, name: str, crossings: Sequence[Crossing], phases: Sequence[Phase]
) -> NDArray[np.bool_]:
    """Which times are in the phases of this name but in none of the crossings; none if hardly any are left."""
    inside = np.zeros(len(times), dtype=bool)
    for phase in phases:
        if phase.name == name:
            inside |= (times >= phase.start) & (times <= phase.end)
    rest = inside & ~in_crossings(times, crossings)
    return rest if rest.sum() > _LEAST * inside.sum() else np.zeros_like(rest)


def in_crossings(times: Times, crossings: Sequence[Crossing]) -> NDArray[np.bool_]:
    """Which times are in one of the crossings; those are in time order."""
    if not crossings:
        return np.zeros(len(times), dtype=bool)
    starts = np.array([one.start for one in crossings], dtype=np.int64)
    ends = np.array([one.end for one in crossings], dtype=np.int64)
    at = np.searchsorted(starts, times, side="right") - 1
    return (at >= 0) & (times <= ends[np.maximum(at, 0)])


def _containing(crossing: Crossing, phases: Sequence[Phase]) -> str | None:
    return next((p.name for p in phases if p.start <= crossing.start and crossing.end <= p.end), None)
