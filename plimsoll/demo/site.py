"""Reads a system's description in `sites/`, and simulates its hosts in a healthy run and in a run with trouble."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Annotated, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict

from plimsoll.demo.windows import DemoRecording, add_arrays
from plimsoll.model.log import Times, Values
from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.model.times import SECOND, convert_to_instant

SEED = 1998
BIAS_MINUTES = -60
ZONE = timezone(timedelta(minutes=-BIAS_MINUTES))
NIC = "Intel[R] Ethernet Controller X710"
PROCESSORS = tuple(f"\\Processor({number})\\% Processor Time" for number in range(8))
Points: TypeAlias = tuple[tuple[float, float], ...]  # seconds of the run, and the value at that time
Kind = Literal["interval", "percent", "fraction", "gauge"]  # methods of DemoRecording; percent is an interval up to 100
# What a counter holds: an average or rate between two samples; a momentary number, whole or with decimals; the number
# of a state; a count since a service started, which rises in trouble alone. With its kind and spread.
Holds = Literal["averages", "levels", "decimals", "states", "counts"]
_KINDS: Mapping[Holds, tuple[Kind, float]] = {
    "averages": ("interval", 0.1),
    "levels": ("gauge", 0.1),
    "decimals": ("fraction", 0.05),
    "states": ("gauge", 0),
    "counts": ("gauge", 0),
}
# A value in the healthy run and one in trouble; a single one is for both. For counts: at the start, and at the end.
_Values: TypeAlias = Annotated[
    tuple[float, float], BeforeValidator(lambda value: value if isinstance(value, list) else [value, value])
]


class _StrictSite(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DemoCounter(_StrictSite):
    """A simulated counter, whose samples are near `level`, or in the run with trouble near `trouble` (if set).

    With `mean` or `sum`, it is computed from the counters with these paths. Samples vary by `spread`, a share of the
    level; for percentages, a share of the distance to 0 % or 100 %, whichever is nearer.
    """

    level: float | Points = 0.0
    kind: Kind = "interval"
    spread: float = 0.04
    trouble: float | Points | None = None
    mean: tuple[str, ...] = ()
    sum: tuple[str, ...] = ()


class Array(_StrictSite):
    """A simulated disk array: its spindles, its RAID level, and whether it holds database or log files (`drive`)."""

    spindles: int
    drive: Literal["database", "log"] | None = None
    raid: Literal[0, 1, 5, 10] | None = None


class Breach(_StrictSite):
    """A crossing that a review must find in the run with trouble; times in seconds from the start of the run.

    Without `end` it lasts until the end of the run. If a counter jumps from a to b, the mean over a window crosses the
    limit after (limit - a) / (b - a) of the window, and likewise on the way back. `host` is set if the crossing is on
    another host than the host that lists it.
    """

    rule: str
    host: str | None = None
    instance: str | None = None
    start: int
    end: int | None = None
    why: str


class DemoServer(_StrictSite):
    """A simulated computer with its counters.

    If `busy` (percent of each processor) is set, it has the usual counters of a Windows host and of its `volumes`
    (percent and MB free); `trouble` has new levels of these counters for the run with trouble. Further counters are
    listed by quantity in `counters`, and one by one in `details`.
    """

    processors: int = 8
    clock_mhz: int = 2900
    memory_mb: int
    busy: float | None = None
    available_mb: float = 0.0
    volumes: dict[str, tuple[float, float]] = {}
    disks: dict[str, Array] = {}
    trouble: dict[str, Points] = {}
    counters: dict[Holds, dict[str, _Values]] = {}
    details: dict[str, DemoCounter] = {}
    crossed: tuple[Breach, ...] = ()


class DemoSite(_StrictSite):
    """A simulated system, which has a healthy run and a run with trouble."""

    title: str
    document: str
    start: datetime
    minutes: int = 40
    interval_s: int = 30
    steady_from_s: int = 300
    trouble_from_s: int = 900
    format: Literal["pdh", "sadf"] = "pdh"
    hosts: dict[str, DemoServer]

    @property
    def begin(self) -> datetime:
        """The time at which both runs start, in the time zone that all sites share."""
        return self.start.replace(tzinfo=ZONE)

    @property
    def seconds(self) -> Values:
        """The time of each sample, in seconds since the start of the run."""
        return np.arange(0, 60 * self.minutes + 1, self.interval_s, dtype=np.float64)

    @property
    def times(self) -> Times:
        """The time of each sample (UTC ns)."""
        return convert_to_instant(self.begin) + self.seconds.astype(np.int64) * SECOND

    @property
    def breaches(self) -> Iterator[Breach]:
        """The crossings on all hosts in the run with trouble, with `host` and `end` filled in."""
        for name, server in self.hosts.items():
            for breach in server.crossed:
                end = 60 * self.minutes if breach.end is None else breach.end
                yield breach.model_copy(update={"host": breach.host or name, "end": end})


def load_site(name: str) -> DemoSite:
    """Return the system that `sites/NAME.yaml` describes."""
    return load_shipped_table("plimsoll.demo.sites", f"{name}.yaml", DemoSite)


def list_counters(site: DemoSite, host: str) -> dict[str, DemoCounter]:
    """Return the counters of a host by path, in column order."""
    server = site.hosts[host]
    usual = {} if server.busy is None else _list_windows_counters(server.busy, server.available_mb)
    for letter, (percent, mb) in server.volumes.items():
        disk = f"\\LogicalDisk({letter}:)\\"
        usual[disk + "Avg. Disk sec/Read"] = DemoCounter(level=0.003, spread=0.2)
        usual[disk + "Avg. Disk sec/Write"] = DemoCounter(level=0.002, spread=0.2)
        usual[disk + "% Free Space"] = DemoCounter(level=percent, kind="fraction", spread=0)
        usual[disk + "Free Megabytes"] = DemoCounter(level=mb, kind="gauge", spread=0)
    usual |= {path: usual[path].model_copy(update={"trouble": points}) for path, points in server.trouble.items()}
    return {**usual, **dict(_list_counters(site, server)), **server.details}


def _list_counters(site: DemoSite, server: DemoServer) -> Iterator[tuple[str, DemoCounter]]:
    for holds, group in server.counters.items():
        kind, spread = _KINDS[holds]
        for path, (healthy, sick) in group.items():
            since = site.trouble_from_s
            counts: Points = ((since, healthy), (60 * site.minutes, sick))
            trouble = counts if holds == "counts" else ((since - 1, healthy), (since, sick))
            changed = trouble if sick != healthy else None
            yield path, DemoCounter(level=healthy, kind=kind, spread=spread, trouble=changed)


def _list_windows_counters(busy: float, available_mb: float) -> dict[str, DemoCounter]:
    """Return the usual counters of a Windows host by path; `busy` is the percentage of each processor in use."""
    adapter = f"\\Network Interface({NIC})\\"
    return {
        **{path: DemoCounter(level=busy, kind="percent", spread=0.15) for path in PROCESSORS},
        "\\Processor(_Total)\\% Processor Time": DemoCounter(mean=PROCESSORS),
        "\\Processor(_Total)\\% Privileged Time": DemoCounter(level=0.2 * busy, kind="percent", spread=0.15),
        "\\System\\Processor Queue Length": DemoCounter(level=1, kind="gauge", spread=1),
        "\\System\\Context Switches/sec": DemoCounter(level=9000, spread=0.1),
        "\\Memory\\Available MBytes": DemoCounter(level=available_mb, kind="gauge", spread=0.01),
        "\\Memory\\% Committed Bytes In Use": DemoCounter(level=58, kind="percent", spread=0.01),
        "\\Memory\\Pages/sec": DemoCounter(level=12, spread=0.5),
        adapter + "Bytes Total/sec": DemoCounter(level=9e6, spread=0.1),
        adapter + "Current Bandwidth": DemoCounter(level=1e10, kind="gauge", spread=0),
        adapter + "Output Queue Length": DemoCounter(kind="gauge"),
        adapter + "Packets Outbound Errors": DemoCounter(kind="gauge"),
        adapter + "Packets Received Errors": DemoCounter(kind="gauge"),
    }


def simulate(site: DemoSite, host: str, *, trouble: bool) -> DemoRecording:
    """Return the simulated counters of a host in one run.

    Each counter has its own random generator, so that a change to a counter does not affect other counters.
    """
    out = DemoRecording()
    for path, counter in list_counters(site, host).items():
        if parts := counter.mean or counter.sum:
            total = add_arrays(out[part] for part in parts)
            _put(out, path, counter.kind, total / len(parts) if counter.mean else total)
            continue
        level = counter.trouble if trouble and counter.trouble is not None else counter.level
        chance = np.random.Generator(np.random.PCG64([SEED, zlib.crc32(f"{host}{path}".encode())]))
        values = _interpolate_curve(level, site.seconds)
        reach = np.minimum(values, 100 - values) if counter.kind == "percent" else values
        _put(out, path, counter.kind, values + counter.spread * chance.uniform(-1, 1, len(values)) * reach)
    return out


def _interpolate_curve(level: float | Sequence[tuple[float, float]], seconds: Values) -> Values:
    if isinstance(level, int | float):
        return np.full(len(seconds), level)
    at, values = zip(*level, strict=True)
    return np.interp(seconds, at, values)


def _put(out: DemoRecording, path: str, kind: Kind, values: Values) -> None:
    method = out.gauge if kind == "gauge" else out.fraction if kind == "fraction" else out.interval
    method(path, values)
