"""How long damaged logs take and how much memory, against the undamaged log in the same run.

    python bench/damage.py [--rows 1000] [--columns 1000] [--blanks 0.02] [--logs 50] [--small 300] [--in FOLDER]

Every kind of damage of mutate.py in turn, on one large log and on small ones: a made one, and those in
the folder that is named. Each damaged log is timed between two readings of the whole one; of small logs
the best of three counts, both ways. Memory is the most a process of its own held.
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

from ingest.read import read_log
from model.errors import Unusable

_LARGEST = 300_000
_ONE = "import sys, damage; damage.in_a_process(sys.argv[1])"


def read(path: Path) -> None:
    """Read a log, whatever comes of it."""
    with suppress(Unusable):
        read_log(path)


def in_a_process(path: str) -> None:
    """Read a log and print how much memory this process held at most, in MB (Linux)."""
    read(Path(path))
    # What resource.getrusage says begins with the memory of the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1000)


def seconds(path: Path, repeats: int) -> float:
    """How long reading takes, at best."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        read(path)
        times.append(time.perf_counter() - start)
    return min(times)


def ratios(clean: Path, damaged: Path, seeds: Sequence[int], repeats: int) -> list[tuple[float, int]]:
    """How much longer each damaged log takes than the clean one just before and just after it."""
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
    """How much memory reading takes at most."""
    call = [sys.executable, "-c", _ONE, str(path)]
    return float(subprocess.run(call, check=True, capture_output=True, text=True, cwd=Path(__file__).parent).stdout)


def tell(name: str, found: Sequence[tuple[float, int]]) -> None:
    """One line on many damaged logs."""
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
        tell("40 rows x 30 counters", ratios(clean, damaged, range(size.small), 3))
        logs = sorted(size.folder.iterdir()) if size.folder else []
        for path in logs:
            if path.suffix in (".csv", ".tsv", ".txt") and path.stat().st_size < _LARGEST:
                tell(path.name, ratios(path, damaged, range(size.small), 3))
        write_big_log(clean, size.rows, size.columns, size.blanks)
        large = ratios(clean, damaged, range(size.logs), 1)
        tell(f"{size.rows} rows x {size.columns} counters, {clean.stat().st_size / 1e6:.0f} MB", large)
        worst: list[tuple[float, int]] = []
        whole = megabytes(clean)
        for _, seed in sorted(large)[-10:]:
            damaged.write_bytes(mutated(seed, clean.read_bytes()))
            worst.append((megabytes(damaged) / whole, seed))
        tell("memory of the slowest of them", worst)


if __name__ == "__main__":
    main()
