"""How long damaged logs take, against the undamaged log in the same run.

    python bench/damage.py [--rows 1000] [--columns 1000] [--logs 50]

Every kind of damage of mutate.py in turn; prints the slowest and the median, as ratios to the clean time.
"""

import argparse
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from big_log import write_big_log
from mutate import mutated

from ingest.read import read_log
from model.errors import Unusable


def seconds(path: Path) -> float:
    """How long reading a log takes, whatever comes of it."""
    start = time.perf_counter()
    with suppress(Unusable):
        read_log(path)
    return time.perf_counter() - start


def main() -> None:
    """Damage the log, time each, print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--logs", type=int, default=50)
    size = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.csv"
        write_big_log(log, size.rows, size.columns)
        clean = log.read_bytes()
        seconds(log)
        whole = statistics.median(seconds(log) for _ in range(5))
        ratios: list[tuple[float, int]] = []
        for seed in range(size.logs):
            log.write_bytes(mutated(seed, clean))
            ratios.append((seconds(log) / whole, seed))
    ratios.sort()
    print(f"{len(clean) / 1e6:.0f} MB, clean {whole:.3f} s; {size.logs} damaged logs")
    (slowest, seed), median = ratios[-1], statistics.median(ratio for ratio, _ in ratios)
    print(f"median {median:.2f} x, slowest {slowest:.2f} x (seed {seed})")


if __name__ == "__main__":
    main()
