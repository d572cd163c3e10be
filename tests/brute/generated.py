"""Logs made from a seed, the same for the same seed.

Values are multiples of 1/8, so that sums and means are exact: whether a value is at a limit or beyond it must not hang
on the order in which a program adds.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2024, 3, 5, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Counter:
    """A counter: where it is fine, and where it is beyond its limit. Drawn between both numbers of a pair."""

    path: str
    fine: tuple[float, float]
    bad: tuple[float, float]


def _above(path: str, limit: float) -> Counter:
    return Counter(path, (0.1 * limit, 0.99 * limit), (limit, 1.4 * limit))


KINDS: dict[str, Callable[[random.Random], list[Counter]]] = {
    "system": lambda rng: [
        *(
            Counter(rf"Processor({name})\% Processor Time", (5, 79), (80, 100))
            for name in (*range(rng.randint(1, 3)), "_Total")
        ),
        _above(r"System\Context Switches/sec", 15000),
        Counter(r"Memory\Available Bytes", (4_194_305, 9_000_000), (1_000_000, 4_194_304)),
    ],
    "disks": lambda rng: [
        counter
        for disk in ["0 C:", "1 D:", "2 E:", "_Total"][-rng.randint(1, 4) :]
        for counter in (
            _above(rf"PhysicalDisk({disk})\Avg. Disk Queue Length", rng.choice([3, 12])),
            _above(rf"PhysicalDisk({disk})\% Disk Time", 85),
            _above(rf"PhysicalDisk({disk})\Disk Reads/sec", rng.choice([20, 50, 250])),
            _above(rf"PhysicalDisk({disk})\Disk Writes/sec", rng.choice([30, 120])),
            _above(rf"PhysicalDisk({disk})\Disk Bytes/sec", 500_000),
        )
    ],
    "requests": lambda rng: [
        counter
        for disk in ["0 C:", "1 D:"]
        for counter in (
            Counter(rf"PhysicalDisk({disk})\Avg. Disk sec/Read", (0, 0.1), (0, 0.6)),
            *rng.choice([[], [Counter(rf"PhysicalDisk({disk})\Disk Reads/sec", (0, 0.5), (0, 9))]]),
            Counter(rf"LogicalDisk({disk[2:]})\Avg. Disk sec/Transfer", (0, 0.1), (0, 9)),
            Counter(rf"LogicalDisk({disk[2:]})\Disk Transfers/sec", (0, 0.2), (0, 0.4)),
        )
    ],
    "network": lambda rng: [
        _above(r"Network Interface(Intel[R] I350 (Copper) _2)\Bytes Total/sec", rng.choice([600_000, 100_000_000])),
        Counter(r"Network Interface(Intel[R] I350 (Copper) _2)\Packets Outbound Errors", (0, 1), (1, 3)),
        Counter(r"Network Interface(Intel[R] I350 (Copper) _2)\Packets Received Errors", (0, 0), (0, 2)),
        _above(r"Network Segment(seg)\% Network utilization", 53),
    ],
    "database": lambda rng: [
        Counter(r"SQLServer:Buffer Manager\Page life expectancy", (3601, 9000), (300, 3600)),
        _above(r"SQLServer:General Statistics\User Connections", 300),
    ],
}


def write(folder: Path, seed: int):
    """Write the logs of a seed. Two seeds of five are of hosts on which little is wrong."""
    rng = random.Random(seed)
    quiet = seed % 5 < 2
    interval = [1, 2, 5, 10, 15, 30, 60][seed % 7]
    rows = rng.choice([6, 20, 40]) if seed % 9 == 8 else min(round(rng.uniform(1500, 5400) / interval), 900)
    jitter = rng.choice([0, 0, 60])  # ms either way
    moments = _rows(rng, rows, interval, jitter)
    hosts = [f"HOST{number}" for number in range(1, rng.choice([1, 1, 2, 3]) + 1)]
    bias = rng.choice([0, -60, 300])
    together = rng.random() < 0.3
    logs: list[list[tuple[str, list[str]]]] = []
    for host in hosts:
        kinds = ["system", *rng.sample(sorted(KINDS.keys() - {"system"}), rng.randint(1, 3))]
        columns = [
            (rf"\\{host}\{counter.path}", _cells(rng, counter, moments, quiet))
            for kind in kinds
            for counter in KINDS[kind](rng)
            if rng.random() < 0.96
        ]
        if together and logs:
            logs[0].extend(columns)
        elif rng.random() < 0.2:
            # Of one host in two logs, the second of which writes its name otherwise.
            middle = len(columns) // 2
            logs += [columns[:middle], [(name.replace(host, host.lower()), cells) for name, cells in columns[middle:]]]
        else:
            logs.append(columns)
    for number, columns in enumerate(logs):
        # The recorder may have begun a new log on the way.
        cut = rng.randrange(3, len(moments) - 3) if len(moments) > 100 and rng.random() < 0.2 else 0
        for part, (start, end) in enumerate([(0, cut), (cut, len(moments))] if cut else [(0, len(moments))]):
            _write_log(folder / f"log{number}-{part}.csv", moments[start:end], bias, columns, start)


def _rows(rng: random.Random, count: int, interval: int, jitter: int) -> list[int]:
    """When rows are written, in ms since the start: now and then some are missing, or all for many minutes."""
    gaps = [(rng.randrange(count), rng.choice([2, 5, 30])) for _ in range(rng.choice([0, 0, 1, 3]))]
    pause_at = rng.randrange(count) if rng.random() < 0.3 else count
    pause = rng.choice([400, 1300]) * 1000
    begins = rng.choice([0, 0, 3250, 7000])
    moments: list[int] = []
    for row in range(count):
        if any(at <= row < at + length for at, length in gaps):
            continue
        at = begins + row * interval * 1000 + rng.randint(-jitter, jitter)
        moments.append(max(at, 0) + (pause if row >= pause_at else 0))
    return sorted(set(moments)) or [0]


def _cells(rng: random.Random, counter: Counter, moments: list[int], quiet: bool) -> list[str]:
    """The cells of a column: now fine, now bad, for times around those that count; some of them without a value."""
    shape = rng.choice(["fine", "fine", "bad", "blocks", "blocks", "blocks", "walk", "spikes", "climb"])
    if quiet and rng.random() < 0.95:
        shape = rng.choice(["fine", "fine", "fine", "brief"])
    lacking = rng.choice([0, 0, 0, 0.03, 0.5 if rng.random() < 0.2 else 0])
    blocks = _blocks(rng, moments[-1] + 1000)
    walk = rng.random()
    level = rng.random()
    cells: list[str] = []
    for at in moments:
        if shape == "walk":
            walk = min(max(walk + rng.uniform(-0.08, 0.08), 0), 1)
        bad = {
            "fine": False,
            "bad": True,
            "blocks": any(start <= at < end for start, end in blocks),
            "brief": moments[-1] / 2 <= at < moments[-1] / 2 + 45_000,
            "walk": walk > 0.7,
            "spikes": rng.random() < 0.03,
            "climb": False,
        }[shape]
        low, high = counter.bad if bad else counter.fine
        value = low + (high - low) * (level if shape == "blocks" else rng.random())
        if shape == "climb":
            value = low + at / 1000
        cells.append(_cell(rng, value, lacking))
    if rng.random() < 0.03:
        cells = [" "] * len(cells)
    return cells


def _blocks(rng: random.Random, length: int) -> list[tuple[int, int]]:
    """When a counter is bad: for about as long as `for` asks, or for about a tenth of the time in several pieces."""
    blocks: list[tuple[int, int]] = []
    if rng.random() < 0.5:
        for _ in range(rng.randint(1, 3)):
            start = rng.randrange(length)
            lasts = rng.choice([60, 300, 600]) * 1000 + rng.randint(-8, 8) * 10_000
            blocks.append((start, start + lasts))
    else:
        pieces = rng.randint(1, 6)
        share = rng.choice([0.05, 0.09, 0.1, 0.11, 0.15, 0.5])
        for piece in range(pieces):
            start = length * piece // pieces
            blocks.append((start, start + round(share * length / pieces)))
    return blocks


def _cell(rng: random.Random, value: float, lacking: float) -> str:
    if rng.random() < lacking:
        return rng.choice([" ", " ", "", "NaN"])
    return f"{round(value * 8) / 8:.3f}".rstrip("0").rstrip(".")


def _write_log(path: Path, moments: list[int], bias: int, columns: list[tuple[str, list[str]]], first: int):
    names = ",".join(f'"{name}"' for name, _ in columns)
    lines = [f'"(PDH-CSV 4.0) (Some Time)({bias})",{names}']
    for row, at in enumerate(moments, first):
        local = START + timedelta(milliseconds=at) - timedelta(minutes=bias)
        stamp = f"{local:%m/%d/%Y %H:%M:%S}.{local.microsecond // 1000:03}"
        lines.append(",".join([f'"{stamp}"', *(f'"{cells[row]}"' for _, cells in columns)]))
    path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8", newline="")
