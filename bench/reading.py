"""Measures how fast a large log is read and reviewed, compared with bare polars on the same bytes in the same run.

    python bench/reading.py [--rows 5000] [--columns 1000] [--blanks 0.02]

Prints medians of five. `read` is the reader alone, in this process; `show`, `review` and `--help` are whole commands.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
from big_log import write_big_log

from plimsoll.ingest.read import read_log

REPEATS = 5


def median_of(action: Callable[[], object]) -> float:
    """The median seconds of five calls after one that warms up."""
    action()
    seconds: list[float] = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def command(*arguments: str) -> Callable[[], object]:
    """A call of plimsoll in a separate process."""
    return lambda: subprocess.run([sys.executable, "-m", "plimsoll", *arguments], check=True, capture_output=True)


def main() -> None:
    """Generate the log, time everything, print the figures and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--blanks", type=float, default=0.02)
    size = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "big.csv"
        write_big_log(log, size.rows, size.columns, size.blanks)
        schema = {"time": pl.String} | {str(at): pl.Float64 for at in range(size.columns)}
        times = {
            "polars.read_csv": median_of(
                lambda: pl.read_csv(log, has_header=False, skip_lines=1, schema=schema, null_values=[" "])
            ),
            "read": median_of(lambda: read_log(log)),
            "plimsoll show": median_of(command("show", str(log))),
            "plimsoll review": median_of(command("review", str(log))),
            "plimsoll --help": median_of(command("--help")),
        }
        megabytes = log.stat().st_size / 1e6
    print(f"{size.rows} rows x {size.columns} counters, {megabytes:.0f} MB, medians of {REPEATS}")
    for name, seconds in times.items():
        print(f"{name:<16} {seconds:7.3f} s   {seconds / times['polars.read_csv']:5.2f} x polars.read_csv")


if __name__ == "__main__":
    main()
