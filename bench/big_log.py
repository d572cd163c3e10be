"""Writes large PDH-CSV logs of several kinds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import isfinite
from pathlib import Path

import numpy as np

INTERVAL = timedelta(seconds=5)
START = datetime(2024, 3, 4, 8, 0, tzinfo=UTC)
_BLOCK = 250
_SHARED = (
    r"Processor(_Total)\% Processor Time",
    r"System\Context Switches/sec",
    r"Memory\Available Bytes",
    r"PhysicalDisk(_Total)\% Disk Time",
    r"SQLServer:Buffer Manager\Page life expectancy",
)
_PER_INSTANCE = (
    (r"Processor({n})\% Processor Time", 64),
    (r"PhysicalDisk({n} D:)\Avg. Disk Queue Length", 48),
    (r"PhysicalDisk({n} D:)\Disk Reads/sec", 48),
    (r"PhysicalDisk({n} D:)\Avg. Disk sec/Write", 48),
    (r"Network Interface(Adapter _{n})\Bytes Total/sec", 16),
    (r"Network Interface(Adapter _{n})\Packets Received Errors", 16),
    (r"Network Interface(Adapter _{n})\Packets Outbound Errors", 16),
)
_JUDGED = (  # every counter is one that rules judge: path, instances, and what values are around
    (r"Processor({n})\% Processor Time", 200, 45.0),
    (r"PhysicalDisk({n} D:)\Avg. Disk Queue Length", 200, 1.2),
    (r"PhysicalDisk({n} D:)\Avg. Disk sec/Read", 200, 0.012),
    (r"PhysicalDisk({n} D:)\Avg. Disk sec/Write", 200, 0.012),
    (r"LogicalDisk(D{n}:)\% Free Space", 100, 12.0),
    (r"Network Interface(Adapter _{n})\Packets Received Errors", 100, 0.3),
)
_EXAMPLES = Path(__file__).parents[1] / "examples"


def counters(count: int) -> list[str]:
    """Return counter paths as in the log of a database server, completed with processes."""
    paths = list(_SHARED)
    for path, instances in _PER_INSTANCE:
        paths += [path.format(n=n) for n in range(instances)]
    paths += [rf"Process(worker#{n})\Private Bytes" for n in range(max(0, count - len(paths)))]
    return [rf"\\BENCH01\{path}" for path in paths[:count]]


def write_big_log(path: Path, rows: int, columns: int, blanks: float = 0.02) -> None:
    """Write a log whose values repeat after a block of rows, with 15 significant digits and a share of blank cells."""
    random = np.random.default_rng(1)
    values = random.gamma(2.0, 12.0, (min(rows, _BLOCK), columns))
    values[random.random(values.shape) < blanks] = np.nan
    block = [_cells(row) for row in values.tolist()]
    _write(path, counters(columns), (block[row % len(block)] for row in range(rows)))


def write_without_memory(path: Path, rows: int) -> None:
    """Write 1,000 judged counters whose values do not depend on earlier ones."""
    random = np.random.default_rng(2)
    _write_judged(path, (random.gamma(2.0, 1.0, sum(count for _, count, _ in _JUDGED)) for _ in range(rows)))


def write_alternating(path: Path, rows: int) -> None:
    """Write 1,000 judged counters whose conditions change at every third sample."""
    random = np.random.default_rng(3)
    columns = sum(count for _, count, _ in _JUDGED)
    _write_judged(path, ((4.0 if row // 3 % 2 else 0.2) * random.uniform(0.9, 1.1, columns) for row in range(rows)))


def write_tiled(source: Path, path: Path, rows: int) -> None:
    """Write the rows of another log repeatedly, with continuing times."""
    header, *lines = source.read_text("cp1252").splitlines()
    values = [line.split(",", 1)[1] for line in lines if line.startswith('"')]
    with path.open("w", encoding="cp1252", newline="") as file:
        file.write(header + "\r\n")
        file.writelines(f"{_time(row)},{values[row % len(values)]}\r\n" for row in range(rows))


KINDS: Mapping[str, Callable[[Path, int], None]] = {
    "without memory": lambda path, rows: write_without_memory(path, rows // 2),
    "alternating": lambda path, rows: write_alternating(path, rows // 2),
    "few counters": lambda path, rows: write_big_log(path, 80 * rows, 4),
    **{
        name: lambda path, rows, source=_EXAMPLES / name / "trouble" / f"{host}.csv": write_tiled(
            source, path, 8 * rows
        )
        for name, host in (("windows-today", "APPSRV01"), ("sql-server-today", "SQL01"), ("file-server", "FILESRV01"))
    },
}


def _write_judged(path: Path, rows: Iterable[np.ndarray]) -> None:
    paths = [rf"\\BENCH01\{path.format(n=n)}" for path, count, _ in _JUDGED for n in range(count)]
    scale = np.repeat([around for *_, around in _JUDGED], [count for _, count, _ in _JUDGED])
    _write(path, paths, (_cells((row * scale).tolist()) for row in rows))


def _write(path: Path, paths: Sequence[str], rows: Iterable[str]) -> None:
    with path.open("w", encoding="ascii", newline="") as file:
        file.write(",".join(f'"{cell}"' for cell in ["(PDH-CSV 4.0) (UTC)(0)", *paths]) + "\r\n")
        file.writelines(f"{_time(at)},{cells}\r\n" for at, cells in enumerate(rows))


def _cells(row: Sequence[float]) -> str:
    return ",".join(f'"{value:.15g}"' if isfinite(value) else '" "' for value in row)


def _time(row: int) -> str:
    return f'{START + row * INTERVAL:"%m/%d/%Y %H:%M:%S.000"}'
