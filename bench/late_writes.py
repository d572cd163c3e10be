"""How many late values a second `plimsoll up` takes, beside InfluxDB: what agents held back while it was away.

    python bench/late_writes.py [--seconds 30] [--hosts 50] [--connections 4]

Values of now come first, then as fast as they are answered those from four hours ago on, of the same series. All that
was answered for must be in the store at the end.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from posting import Body, Load, Target, post, shown
from up import plimsoll_up
from write_endpoint import SECOND, collected, influxdb, stream

from plimsoll.store.duck.store import DuckStore

BACK_S = 4 * 3600
LEAST = 0.5  # of InfluxDB's rate


def after_fresh_ones(
    target: Target, fresh: Sequence[Body], late: Sequence[Body], connections: int, seconds: float
) -> tuple[Load, int]:
    """What came of late values, and how many were written in all."""
    known = post(target, fresh, connections)
    found = post(target, late, connections, seconds=seconds)
    return found, known.values + found.values


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=30)
    arguments.add_argument("--hosts", type=int, default=50)
    arguments.add_argument("--connections", type=int, default=4)
    asked = arguments.parse_args()
    lines = collected()
    now = time.time_ns() // SECOND * SECOND
    fresh = [*islice(stream(lines, asked.hosts, now), 3)]
    # More than can be sent in the time, and less than there is until now.
    count = min(int(400_000 * asked.seconds), BACK_S // 10 * asked.hosts * 150) // fresh[0].values
    late = [*islice(stream(lines, asked.hosts, now - BACK_S * SECOND), count)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "data")
        folder.mkdir(mode=0o700)
        with plimsoll_up(folder) as target:
            ours, written = after_fresh_ones(target, fresh, late, asked.connections, asked.seconds)
        print(shown("plimsoll", ours))
        store = DuckStore.open(folder)
        span = now - 2 * BACK_S * SECOND, now + BACK_S * SECOND
        stored = sum(store.counts(store.series(*span).series, *span))
        store.close()
        with influxdb(Path(name, "influxdb")) as target:
            theirs, _ = after_fresh_ones(target, fresh, late, asked.connections, asked.seconds)
        print(shown("InfluxDB", theirs))
    print(f"Of late values Plimsoll takes {ours.rate / theirs.rate:.2f} times as many a second as InfluxDB")
    print(f"{written:,} values were acknowledged, {stored:,} are stored")
    return 0 if ours.rate >= LEAST * theirs.rate and stored == written else 1


if __name__ == "__main__":
    sys.exit(main())
