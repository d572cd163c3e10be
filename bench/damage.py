"""Measures the time and memory of reading damaged logs, compared with the undamaged log in the same run.

    python bench/damage.py [--rows 1000] [--columns 1000] [--blanks 0.02] [--logs 50] [--small 300] [--in FOLDER]

Applies the damage of mutate.py to one large generated log, to a small one, and to small logs in FOLDER. Each damaged
log is timed between two readings of the undamaged one; for small logs, the best of three counts. Memory is the peak of
a separate process.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from big_log import write_big_log
from mutate import mutated

from plimsoll.ingest.read import read_log
from plimsoll.model.errors import Unusable

_LARGEST = 300_000
_ONE = "import sys, damage; damage.in_a_process(sys.argv[1])"


def read(path: Path) -> None:
    """Read a log, ignoring errors."""
    with suppress(Unusable):
        read_log(path)


def in_a_process(path: str) -> None:
    """Read a log and print the peak memory of this process in MB (Linux)."""
    read(Path(path))
    # resource.getrusage would include the memory of the parent process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1000)


def seconds(path: Path, repeats: int) -> float:
    """The shortest time of reading a log."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        read(path)
        times.append(time.perf_counter() - start)
    return min(times)


def ratios(clean: Path, damaged: Path, seeds: Sequence[int], repeats: int) -> list[tuple[float, int]]:
    """The time for each damaged log, relative to the clean log just before and after it."""
    data = clean.read_bytes()
    read(clean)
    found: list[tuple[float, int]] = []
    for seed in seeds:
        damaged.write_bytes(mutated(seed, data))
        before = seconds(clean, repeats)
        taken = seconds(damaged, repeats)
        found.append((2 * taken / (before + seconds(clean, repeats)), seed))
    return found


def megabytes(path: Path) -> float:
    """The peak memory of reading a log, in MB."""
    call = [sys.executable, "-c", _ONE, str(path)]
    return float(subprocess.run(call, check=True, capture_output=True, text=True, cwd=Path(__file__).parent).stdout)


def summarise(name: str, found: Sequence[tuple[float, int]]) -> None:
    """Print one line on many damaged logs."""
    values = sorted(ratio for ratio, _ in found)
    slowest, seed = max(found)
    over = sum(ratio > 3 for ratio in values)
    print(
        f"{name}: {len(values)} damaged logs, median {statistics.median(values):.2f} x, 99 % within "
        f"{values[int(0.99 * (len(values) - 1))]:.2f} x, slowest {slowest:.2f} x (seed {seed}), {over} over 3 x"
    )


def main() -> None:
    """Damage logs, time each, print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--blanks", type=float, default=0.02)
    parser.add_argument("--logs", type=int, default=50)
    parser.add_argument("--small", type=int, default=300)
    parser.add_argument("--in", dest="folder", type=Path)
    size = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clean, damaged = Path(folder) / "log.csv", Path(folder) / "damaged.csv"
        write_big_log(clean, 40, 30)
        summarise("40 rows x 30 counters", ratios(clean, damaged, range(size.small), 3))
        logs = sorted(size.folder.iterdir()) if size.folder else []
        for path in logs:
            if path.suffix in (".csv", ".tsv", ".txt") and path.stat().st_size < _LARGEST:
                summarise(path.name, ratios(path, damaged, range(size.small), 3))
        write_big_log(clean, size.rows, size.columns, size.blanks)
        large = ratios(clean, damaged, range(size.logs), 1)
        summarise(f"{size.rows} rows x {size.columns} counters, {clean.stat().st_size / 1e6:.0f} MB", large)
        worst: list[tuple[float, int]] = []
        whole = megabytes(clean)
        for _, seed in sorted(large)[-10:]:
            damaged.write_bytes(mutated(seed, clean.read_bytes()))
            worst.append((megabytes(damaged) / whole, seed))
        summarise("memory of the slowest of them", worst)


if __name__ == "__main__":
    main()
