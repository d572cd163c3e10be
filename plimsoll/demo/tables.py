"""Defines and simulates small systems: the level of each counter in a healthy run, and the changes in trouble."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from plimsoll.demo.windows import Recording, added
from plimsoll.model.log import Times, Values
from plimsoll.model.times import SECOND, instant

SEED = 1998
Points: TypeAlias = tuple[tuple[float, float], ...]  # seconds of the run, and the value at that time
Kind = Literal["interval", "percent", "fraction", "gauge"]  # methods of Recording; percent is an interval up to 100
Changes: TypeAlias = Mapping[tuple[str, str], float | Points]  # by host and counter path


@dataclass(frozen=True)
class Counter:
    """A counter near a level. Samples vary by `spread`, a share of the level or of its distance to 100 %."""

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
    """The spindles, RAID level and use of a disk."""

    spindles: int
    drive: Literal["database", "log"] | None = None
    raid: Literal[0, 1, 5, 10] | None = None


@dataclass(frozen=True)
class Host:
    """A computer and its counters."""

    name: str
    processors: int
    clock_mhz: int
    memory_mb: int
    counters: tuple[Counter | Combined, ...]
    disks: Mapping[str, Array] = field(default_factory=dict[str, "Array"])


@dataclass(frozen=True)
class Breach:
    """A breach that a review must find in the run with trouble. `start` and `end` are seconds of the run.

    If a counter jumps from a to b, the mean over a window crosses the limit after (limit - a) / (b - a) of the window;
    the same holds on the way back.
    """

    rule: str
    host: str
    instance: str | None
    start: int
    end: int
    why: str


@dataclass(frozen=True)
class System:
    """A system with two runs: a healthy one, and one with `changes`."""

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
        """The second of each sample in the run."""
        return np.arange(0, 60 * self.minutes + 1, self.interval_s, dtype=np.float64)

    @property
    def times(self) -> Times:
        """The instant of each sample (UTC ns)."""
        return instant(self.start) + self.seconds.astype(np.int64) * SECOND


def between(start: float, end: float, inside: float, outside: float) -> Points:
    """One value from `start` to `end`, both included, and another before and after."""
    return ((start - 1, outside), (start, inside), (end, inside), (end + 1, outside))


def simulate(system: System, host: Host, changes: Changes) -> Recording:
    """The counters of one host in one run. Each has its own random generator, so changes do not affect others."""
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
