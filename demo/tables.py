"""A small simulated system as tables: what each counter is on a quiet day, and what changes when there is trouble."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from demo.windows import Recording, added
from model.log import Times, Values
from model.times import SECOND, instant

SEED = 1998
Points: TypeAlias = tuple[tuple[float, float], ...]  # seconds of the run, and the value then
Kind = Literal["interval", "percent", "fraction", "gauge"]  # as `demo.windows.Recording` has them; percent: interval
Changes: TypeAlias = Mapping[tuple[str, str], float | Points]  # by host and counter path


@dataclass(frozen=True)
class Counter:
    """What a counter is near; its samples scatter around that by a share of it, or of what is left to 100 %."""

    path: str
    level: float | Points
    kind: Kind = "interval"
    spread: float = 0.04


@dataclass(frozen=True)
class Combined:
    """A counter that is the sum, or the mean, of others."""

    path: str
    of: tuple[str, ...]
    mean: bool = False
    kind: Kind = "interval"


@dataclass(frozen=True)
class Array:
    """What a disk is made of and how, and what it holds where limits are kept for that."""

    spindles: int
    drive: Literal["database", "log"] | None = None
    raid: Literal[0, 1, 5, 10] | None = None


@dataclass(frozen=True)
class Host:
    """A computer, and what is recorded of it."""

    name: str
    processors: int
    clock_mhz: int
    memory_mb: int
    counters: tuple[Counter | Combined, ...]
    disks: Mapping[str, Array] = field(default_factory=dict[str, "Array"])


@dataclass(frozen=True)
class Breach:
    """What a review must find in the run with the trouble. `start` and `end` are seconds of the run.

    A mean over a window crosses its limit only when enough of the window does: where a counter jumps
    from a to b, the part (limit - a) / (b - a) of the window later, and on the way back likewise.
    """

    rule: str
    host: str
    instance: str | None
    start: int
    end: int
    why: str


@dataclass(frozen=True)
class System:
    """A system in two runs: a quiet one, and one that differs from it by `changes`."""

    folder: str
    title: str
    document: str
    start: datetime
    minutes: int
    interval_s: int
    steady_from_s: int
    hosts: tuple[Host, ...]
    changes: Changes
    breaches: tuple[Breach, ...]
    write: Callable[[Path, "System", Host, Recording], None]

    @property
    def seconds(self) -> Values:
        """Seconds of the run at each sample."""
        return np.arange(0, 60 * self.minutes + 1, self.interval_s, dtype=np.float64)

    @property
    def times(self) -> Times:
        """The samples' instants."""
        return instant(self.start) + self.seconds.astype(np.int64) * SECOND


def between(start: float, end: float, inside: float, outside: float) -> Points:
    """One value from `start` to `end`, both included, and another before and after."""
    return ((start - 1, outside), (start, inside), (end, inside), (end + 1, outside))


def simulate(system: System, host: Host, changes: Changes) -> Recording:
    """The counters of one host in one run. Chance is each counter's own, so a change leaves the others as they are."""
    out = Recording()
    for counter in host.counters:
        match counter:
            case Counter(path, level, kind, spread):
                changed = changes.get((host.name, path), level)
                chance = np.random.Generator(np.random.PCG64([SEED, zlib.crc32(f"{host.name}{path}".encode())]))
                values = _curve(changed, system.seconds)
                reach = np.minimum(values, 100 - values) if kind == "percent" else values
                _put(out, path, kind, values + spread * chance.uniform(-1, 1, len(values)) * reach)
            case Combined(path, of, mean, kind):
                total = added(out[one] for one in of)
                _put(out, path, kind, total / len(of) if mean else total)
    return out


def _curve(level: float | Points, seconds: Values) -> Values:
    if not isinstance(level, tuple):
        return np.full(len(seconds), float(level))
    at, values = zip(*level, strict=True)
    return np.interp(seconds, at, values)


def _put(out: Recording, path: str, kind: Kind, values: Values) -> None:
    match kind:
        case "interval" | "percent":
            out.interval(path, values)
        case "fraction":
            out.fraction(path, values)
        case "gauge":
            out.gauge(path, values)
