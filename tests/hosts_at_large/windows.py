r"""Hosts of Windows: each resource in each way of recording it, well and sick.

A way is given the share or value that is well, and the sick one; it returns the counters that tell it.
"""

from collections.abc import Iterator

from .recording import Host, Level, Way

_PROCESSORS = ("0", "1", "2", "3")
_LINK = r"\Network Interface(Intel[R] Ethernet Connection [7] I219-V)"
_TUNNEL = r"\Network Interface(isatap.{6E06F030-7526-11D2-BAF4-00600815A4BD})"


def _idle(level: float | None) -> float | None:
    return None if level is None else 100 - level


def _single(path: str, scale: float = 1.0) -> Way:
    return lambda well, sick: {path: Level(well * scale, None if sick is None else sick * scale, spread=0.01)}


def _all(*paths: str, scale: float = 1.0) -> Way:
    def way(well: float, sick: float | None) -> dict[str, Level]:
        return {path: Level(well * scale, None if sick is None else sick * scale, spread=0.01) for path in paths}

    return way


def _inverse(*paths: str) -> Way:
    return lambda well, sick: {path: Level(100 - well, _idle(sick), spread=0.01) for path in paths}


def _both(first: str, second: str, share: float) -> Way:
    def way(well: float, sick: float | None) -> dict[str, Level]:
        return {
            path: Level(well * part, None if sick is None else sick * part, spread=0.01)
            for path, part in ((first, share), (second, 1 - share))
        }

    return way


def _utility(well: float, sick: float | None) -> dict[str, Level]:
    """A processor above its nominal clock: more than 100 % while it is busy."""
    path = r"\Processor Information(_Total)\% Processor Utility"
    return {path: Level(well, None if sick is None else sick * 1.2, spread=0.01)}


def _commit(well: float, sick: float | None) -> dict[str, Level]:
    limit = 20e9
    return {
        r"\Memory\Committed Bytes": Level(
            limit * well / 100, None if sick is None else limit * sick / 100, spread=0.01
        ),
        r"\Memory\Commit Limit": Level(limit, spread=0),
    }


CPU: dict[str, Way] = {
    "total": _single(r"\Processor(_Total)\% Processor Time"),
    "information": _single(r"\Processor Information(_Total)\% Processor Time"),
    "idle": _inverse(r"\Processor(_Total)\% Idle Time"),
    "user and privileged": _both(r"\Processor(_Total)\% User Time", r"\Processor(_Total)\% Privileged Time", 0.8),
    "utility": _utility,
    "each": _all(*(rf"\Processor({n})\% Processor Time" for n in _PROCESSORS)),
    "each by node": _all(*(rf"\Processor Information(0,{n})\% Processor Time" for n in _PROCESSORS)),
    "each idle": _inverse(*(rf"\Processor({n})\% Idle Time" for n in _PROCESSORS)),
}
MEMORY: dict[str, Way] = {
    "MBytes": _single(r"\Memory\Available MBytes"),
    "KBytes": _single(r"\Memory\Available KBytes", 2**10),
    "Bytes": _single(r"\Memory\Available Bytes", 2**20),
}
COMMITTED: dict[str, Way] = {"percent": _single(r"\Memory\% Committed Bytes In Use"), "bytes": _commit}
_C, _E, _CD = "0 C:", "1 E:", "0 C: D:"
LATENCY: dict[str, Way] = {  # ms
    "physical": _all(
        *(rf"\PhysicalDisk({d})\Avg. Disk sec/{w}" for d in (_C, _E) for w in ("Read", "Write")), scale=1e-3
    ),
    "logical": _all(
        *(rf"\LogicalDisk({d})\Avg. Disk sec/{w}" for d in ("C:", "E:") for w in ("Read", "Write")), scale=1e-3
    ),
    "transfer": _all(*(rf"\PhysicalDisk({d})\Avg. Disk sec/Transfer" for d in (_C, _E)), scale=1e-3),
    "logical transfer": _all(r"\LogicalDisk(C:)\Avg. Disk sec/Transfer", scale=1e-3),
    "total": _all(*(rf"\PhysicalDisk(_Total)\Avg. Disk sec/{w}" for w in ("Read", "Write")), scale=1e-3),
    "logical total": _all(r"\LogicalDisk(_Total)\Avg. Disk sec/Transfer", scale=1e-3),
    "two volumes": _all(*(rf"\PhysicalDisk({_CD})\Avg. Disk sec/{w}" for w in ("Read", "Write")), scale=1e-3),
}
USE: dict[str, Way] = {  # % of the time
    "idle": _inverse(rf"\PhysicalDisk({_C})\% Idle Time"),
    "logical idle": _inverse(r"\LogicalDisk(C:)\% Idle Time"),
    "busy": _single(rf"\PhysicalDisk({_C})\% Disk Time"),
    "total idle": _inverse(r"\PhysicalDisk(_Total)\% Idle Time"),
    "total busy": _single(r"\PhysicalDisk(_Total)\% Disk Time"),
}
QUEUE: dict[str, Way] = {
    "average": _single(rf"\PhysicalDisk({_C})\Avg. Disk Queue Length"),
    "current": _single(rf"\PhysicalDisk({_C})\Current Disk Queue Length"),
    "total": _single(r"\PhysicalDisk(_Total)\Avg. Disk Queue Length"),
}
SPACE: dict[str, Way] = {
    "percent": _single(r"\LogicalDisk(C:)\% Free Space"),
    "total": _single(r"\LogicalDisk(_Total)\% Free Space"),
}
# What is well, and what its document calls bad.
RESOURCES: dict[str, tuple[dict[str, Way], float, float]] = {
    "processors": (CPU, 27, 96),
    "memory": (MEMORY, 5200, 310),
    "committed": (COMMITTED, 44, 96),
    "latency": (LATENCY, 3.5, 70),
    "use": (USE, 18, 98),
    "queue": (QUEUE, 0.4, 38),
    "space": (SPACE, 47, 3.2),
    "megabytes": (
        {
            "free": _single(r"\LogicalDisk(C:)\Free Megabytes"),
            "free, of all": _single(r"\LogicalDisk(_Total)\Free Megabytes"),
        },
        61_000,
        280,
    ),
}


def _base() -> dict[str, dict[str, Level]]:
    """The usual counters of a host, by the resource that they tell."""
    return {
        "processors": CPU["total"](24, None),
        "memory": MEMORY["MBytes"](5600, None) | {r"\Memory\Pages/sec": Level(28, spread=0.9)},
        "disk": LATENCY["physical"](4, None),
        "space": {
            r"\LogicalDisk(C:)\% Free Space": Level(44, spread=0.001),
            r"\LogicalDisk(HarddiskVolume1)\% Free Space": Level(6, spread=0),
        },
        "others": {
            r"\System\Processor Queue Length": Level(1, spread=1),
            r"\System\Context Switches/sec": Level(5100, spread=0.3),
            r"\Paging File(_Total)\% Usage": Level(6),
            rf"{_LINK}\Bytes Total/sec": Level(410_000, spread=0.5),
            rf"{_LINK}\Current Bandwidth": Level(1e9, spread=0),
            rf"{_LINK}\Output Queue Length": Level(0),
            rf"{_TUNNEL}\Bytes Total/sec": Level(0),
            rf"{_TUNNEL}\Current Bandwidth": Level(100_000, spread=0),
        },
    }


_PART = {"latency": "disk", "use": "disk", "queue": "disk", "committed": "memory", "megabytes": "space"}


def _with(parts: dict[str, dict[str, Level]]) -> dict[str, Level]:
    return {path: level for part in parts.values() for path, level in part.items()}


def resources() -> Iterator[Host]:
    """Each resource in each way, sick, and left out; and hosts that are well, which have all ways between them."""
    in_part: dict[str, list[tuple[str, dict[str, Level]]]] = {}
    for resource, (ways, well, sick) in RESOURCES.items():
        part = _PART.get(resource, resource)
        for name, way in ways.items():
            yield Host(f"{resource} as {name}, not-healthy", _with(_base() | {part: way(well, sick)}), "not-healthy")
            in_part.setdefault(part, []).append((f"{resource} as {name}", way(well, None)))
    for at in range(max(map(len, in_part.values()))):
        chosen = {part: ways[at % len(ways)] for part, ways in in_part.items()}
        columns = _with(_base() | {part: levels for part, (_, levels) in chosen.items()})
        yield Host(f"{', '.join(name for name, _ in chosen.values())}, healthy", columns, "healthy")
    for part in ("processors", "memory", "disk"):
        result = _base()
        del result[part]
        yield Host(f"no {part}", _with(result), "unknown", needs="not judged; record ")
    yield Host("a queue that is always 0", _with(_base() | {"disk": QUEUE["average"](0, None)}), "unknown")


def instances() -> Iterator[Host]:
    """Disks that different objects recorded."""
    for verdict, sick in (("healthy", None), ("not-healthy", 0.08)):
        columns = _with(_base() | {"disk": {}}) | {
            r"\PhysicalDisk(0 C:)\Avg. Disk sec/Read": Level(0.003),
            r"\PhysicalDisk(0 C:)\Avg. Disk sec/Write": Level(0.003),
            r"\LogicalDisk(E:)\Avg. Disk sec/Read": Level(0.004, sick),
            r"\LogicalDisk(E:)\Avg. Disk sec/Write": Level(0.004, sick),
        }
        yield Host(f"E: in LogicalDisk only, {verdict}", columns, verdict)
        columns = _with(_base() | {"disk": {}}) | {
            r"\PhysicalDisk(0 C:)\% Idle Time": Level(80, spread=0.02),
            r"\LogicalDisk(F:)\% Idle Time": Level(81, None if sick is None else 1.5, spread=0.02),
        }
        yield Host(f"F: idle in LogicalDisk only, {verdict}", columns, verdict)
    only = _with(_base()) | {r"\LogicalDisk(G:)\% Free Space": Level(50, spread=0)}
    yield Host("G: with its space alone", only, "unknown", needs="disk G: of SRV01 was not judged")
    cpu = CPU["total"](24, None)
    yield Host("processors alone, asked for", cpu, "healthy", settings='[run]\njudge = ["cpu"]\n',
               needs="Processors healthy; nothing else was judged.")  # fmt: skip
    yield Host("processors alone", cpu, "unknown", needs="the memory and the disks of SRV01 were not judged")


def base() -> dict[str, Level]:
    """The usual counters of a host that is well."""
    return _with(_base())
