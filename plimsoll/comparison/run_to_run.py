"""The kinds of signals: by how much runs of one build differ, and how a signal goes with the load (run_to_run.yaml)."""

from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.hosts.compare_settings import Tolerance
from plimsoll.model.shipped_tables import shipped_table

Growth = Literal["proportion", "waiting", "queue", "partly", "none"]
Shapes = Literal["all", "noise", "failures", "sustained"]
Of = Literal["the level", "what is missing", "what is held"]


class Kind(BaseModel):
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
    kinds: tuple[Kind, ...]


def weight() -> float:
    """As how many runs the spreads of the table count, beside baselines that show their own."""
    return _table().weight


@cache
def kind_of(name: str, unit: str) -> tuple[int, Kind]:
    """The kind of a signal, and its place among the kinds: the first tells most."""
    kinds = _table().kinds
    named = next((at for at, one in enumerate(kinds) if any(fnmatchcase(name, each) for each in one.signals)), None)
    of_unit = (at for at, one in enumerate(kinds) if unit in one.units)
    at = named if named is not None else next(of_unit, len(kinds) - 1)
    return at, kinds[at]


@cache
def _table() -> _Table:
    return shipped_table("plimsoll.comparison", "run_to_run.yaml", _Table)
