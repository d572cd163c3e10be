"""The phases that two runs have in common."""

from dataclasses import dataclass

from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter
from plimsoll.model.run import Phase
from plimsoll.review.review import Review
from plimsoll.review.statistics import WHOLE_RUN

_STEADY = "steady"


@dataclass(frozen=True)
class CommonPhase:
    """A phase of both runs; None for the whole run."""

    name: str
    first: Phase | None = None
    second: Phase | None = None


def common_phases(first: Review, second: Review) -> tuple[CommonPhase, ...]:
    """The phases both runs have, the steady one first, then the longest; the whole run last."""
    there = {one.name: one for one in reversed(second.phases)}
    here = {one.name: one for one in reversed(first.phases)}
    shared = [CommonPhase(name, one, there[name]) for name, one in here.items() if name in there]
    shared.sort(key=lambda one: (one.name != _STEADY, -_length(one)))
    return (*shared, CommonPhase(WHOLE_RUN))


def chosen_phase(phases: tuple[CommonPhase, ...], name: str | None) -> CommonPhase:
    """The phase to judge by: the one named, else the steady one, else the whole run. Unusable if none has the name."""
    if name is None:
        return phases[0] if phases[0].name == _STEADY else phases[-1]
    found = next((one for one in phases if one.name.casefold() == name.casefold()), None)
    if found is None:
        raise Unusable(
            f'{Parameter.PHASE} "{name}": the runs do not both have it; they have {", ".join(p.name for p in phases)}'
        )
    return found


def _length(one: CommonPhase) -> int:
    lengths = [phase.end - phase.start for phase in (one.first, one.second) if phase]
    return min(lengths, default=0)
