"""The life of a run in a store, and who may work on it.

    absent -> loading -> complete -> deleting -> absent

A load that was cut off is continued, a deletion can begin at any time, and a run whose deletion was cut off can be
saved and loaded anew: in each state, to load the logs again leads to all values, and to delete the run leads to none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The state of a run that is in a store. Only a complete one has all its values."""

    LOADING = "loading"
    COMPLETE = "complete"
    DELETING = "deleting"

    def to(self, state: "State") -> "State":
        """The next state. ValueError if it cannot follow this one."""
        if state not in _NEXT[self]:
            raise ValueError(f"a run cannot go from {self} to {state}")
        return state


_NEXT: Mapping[State, frozenset[State]] = {
    State.LOADING: frozenset(State),
    # Loading again: values were found missing.
    State.COMPLETE: frozenset({State.LOADING, State.DELETING}),
    State.DELETING: frozenset({State.DELETING}),
}


class Work(StrEnum):
    """What a command does with a run."""

    LOADING = "loading"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class Claim:
    """A command that works on a run.

    `holder` is unique, `who` is for people. `since` and `heard` (its last sign of life) are UTC ns by the store's
    clock; `alive` is false if that was too long ago.
    """

    run: str
    holder: str
    work: Work
    who: str
    since: int = 0
    heard: int = 0
    alive: bool = True

    def excludes(self, run: str, work: Work) -> bool:
        """Whether other work has to wait for this.

        Runs may be loaded side by side. A deletion needs the store to itself, as it keeps what other runs contain.
        """
        return run == self.run or Work.DELETING in (work, self.work)
