"""The kinds of signals: by how much runs of one build differ, and how a signal goes with the load (run_to_run.yaml)."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.hosts.settings import Tolerance
from plimsoll.model.shipped_tables import shipped_table

_BUSIEST = 0.95
UNKNOWN_BUSY = 0.7  # our choice, where no utilisation was recorded


@dataclass(frozen=True, slots=True)
class Band:
    """Between which multiples of the baseline a signal is to be expected; with `whole`, of what it lacks to that.

    An idle time of 90 % is to be 88 % under a load that is a fifth higher.
    """

    low: float = 1.0
    high: float = 1.0
    whole: float = 0.0

    @property
    def explains(self) -> bool:
        """Whether the load explains anything."""
        return (self.low, self.high) != (1.0, 1.0)

    def ends(self, baseline: float) -> tuple[float, float]:
        """Return the lowest and the highest expected value."""
        low, high = sorted(self.whole + factor * (baseline - self.whole) for factor in (self.low, self.high))
        return low, high


SAME = Band()  # the load explains nothing
Growth = Literal["proportion", "waiting", "queue", "partly", "none"]


@dataclass(frozen=True, slots=True)
class LoadEffect:
    """By which factors the load differs, the lowest and the highest of those recorded.

    A resource takes so much for each operation and something when idle: it grows by between the square root of the
    factor and the factor. A queue of one server grows as 1 / (1 - utilisation), of several servers faster; the square
    of that, and its cube for a queue, are more than any of them (Kleinrock, "Queueing systems", 1975).

    `busy` is the utilisation of the busiest resource of the baseline, 0 to 1.
    """

    low: float = 1.0
    high: float = 1.0
    busy: float = UNKNOWN_BUSY

    def band(self, growth: Growth, whole: float = 0.0) -> Band:
        """What is to be expected of a signal that goes with the load like this, or of what it lacks to `whole`."""
        edges = [edge for factor in (self.low, self.high) for edge in self._edges(growth, factor)]
        return Band(min(edges), max(edges), whole)

    def _edges(self, growth: Growth, factor: float) -> tuple[float, float]:
        if growth == "none" or factor == 1:
            return 1.0, 1.0
        if growth == "proportion":
            return factor**0.5, factor
        if growth == "partly":
            return factor, 1 / factor
        waiting = (1 - self.busy) / (1 - min(_BUSIEST, self.busy * factor))
        return 1.0, (waiting if growth == "waiting" else (factor * waiting) ** 1.5) ** 2


Shapes = Literal["all", "noise", "failures", "sustained"]
Of = Literal["the level", "what is missing", "what is held"]


class SpreadKind(BaseModel):
    """A kind of signal; the file says what each field means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    signals: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    spread: Tolerance
    of: Of = "the level"
    tolerance: Tolerance | None = None
    load: Growth
    shape: Shapes | None = None


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    weight: float = Field(gt=0)
    kinds: tuple[SpreadKind, ...]


def weight() -> float:
    """As how many runs the spreads of the table count, beside baselines that show their own."""
    return _table().weight


@cache
def kind_of(name: str, unit: str) -> tuple[int, SpreadKind]:
    """Return the kind of a signal, and its place among the kinds: the first tells most."""
    kinds = _table().kinds
    named = next(
        (at for at, kind in enumerate(kinds) if any(fnmatchcase(name, signal) for signal in kind.signals)), None
    )
    of_unit = (at for at, kind in enumerate(kinds) if unit in kind.units)
    at = named if named is not None else next(of_unit, len(kinds) - 1)
    return at, kinds[at]


@cache
def _table() -> _Table:
    return shipped_table("plimsoll.comparison", "run_to_run.yaml", _Table)
