"""Writes a large, plausible PDH-CSV log fast: times advance, but the values of a block of rows repeat."""

from datetime import UTC, datetime, timedelta
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


def counters(count: int) -> list[str]:
    """Counter paths like those of a database server's log, filled up with processes."""
    paths = list(_SHARED)
    for path, instances in _PER_INSTANCE:
        paths += [path.format(n=n) for n in range(instances)]
    paths += [rf"Process(worker#{n})\Private Bytes" for n in range(max(0, count - len(paths)))]
    return [rf"\\BENCH01\{path}" for path in paths[:count]]


def write_big_log(path: Path, rows: int, columns: int, blanks: float = 0.02) -> None:
    """Write the log. Values have 15 significant digits; `blanks` is the share of blank cells."""
    random = np.random.default_rng(1)
    header = ",".join(f'"{cell}"' for cell in ["(PDH-CSV 4.0) (UTC)(0)", *counters(columns)])
    values = random.gamma(2.0, 12.0, (min(rows, _BLOCK), columns))
    blank = random.random(values.shape) < blanks
    block = [
        ",".join('" "' if empty else f'"{value:.15g}"' for value, empty in zip(row, gaps, strict=True))
        for row, gaps in zip(values.tolist(), blank.tolist(), strict=True)
    ]
    with path.open("w", encoding="ascii", newline="") as file:
        file.write(header + "\r\n")
        for row in range(rows):
            time = (START + row * INTERVAL).strftime("%m/%d/%Y %H:%M:%S.000")
            file.write(f'"{time}",{block[row % len(block)]}\r\n')
