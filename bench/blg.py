"""Measures how fast binary logs are read into a Log, on one core, beside the CSV of the same run.

    python bench/blg.py [--samples 1500] [--processes 60] [--single 300] [--churn 0.02]

Writes two logs: one of whole objects, as Perfmon records `\\Process(*)\\*` and the like, with processes that come
and go, and one of single counters. Prints medians of three, MB/s of the file by the time of the processor, and the most
memory that reading it takes.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from write_blg import (
    COUNTERS,
    NAMES,
    SAMPLE,
    SECOND,
    Clocks,
    Counter,
    Entry,
    Instance,
    Message,
    counter_list,
    filetime,
    log,
    names,
    raw_counter,
    sample,
    whole_object,
)

from plimsoll.ingest.convert.convert import to_csv
from plimsoll.ingest.read import read_log

START = filetime("2024-01-15T10:00:01")
STEP = 15 * SECOND
AHEAD = -300 * 60 * SECOND
TYPES = (0x20510500, 0x10410500, 0x10410400, 0x00010100, 0x00010000)
# Number, name, how many counters and instances.
SYSTEM = 2
OBJECTS = ((230, "Process", 28, 0), (234, "PhysicalDisk", 21, 5), (238, "Processor", 15, 9), (SYSTEM, "System", 17, 0))


def main() -> None:
    """Write the logs, time everything, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1500)
    parser.add_argument("--processes", type=int, default=60)
    parser.add_argument("--single", type=int, default=300)
    parser.add_argument("--churn", type=float, default=0.02)
    size = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, messages in (
            ("whole objects", whole(chance, size.samples, size.processes, size.churn)),
            ("single counters", single(chance, size.samples, size.single)),
        ):
            binary, text = Path(folder) / "run.blg", Path(folder) / "run.csv"
            binary.write_bytes(log(messages))
            found = read_log(binary)
            to_csv(found, text)
            print(f"{name}: {len(found.times):,} samples of {len(found.series):,} counters")
            for path in (binary, text):
                seconds, megabytes = median_of(path), path.stat().st_size / 1e6
                speed = f"{megabytes:8.1f} MB {seconds:7.2f} s {megabytes / seconds:7.1f} MB/s"
                print(f"  {path.suffix[1:]:<4}{speed}   {peak(path) / 1e6:7.0f} MB at most")


def whole(chance: random.Random, samples: int, processes: int, churn: float) -> Iterator[Message]:
    """A recording of whole objects; of the processes, some are replaced by others before a sample."""
    named = {1: "9999"}
    counters: dict[int, list[Counter]] = {}
    for number, object_, count, _ in OBJECTS:
        named[number] = object_
        counters[number] = [
            Counter(number * 100 + at, TYPES[at % 5], 8 if TYPES[at % 5] & 0x100 else 4) for at in range(count)
        ]
        named |= {one.name: f"Counter {one.name}/sec" for one in counters[number]}
    for text in names("WEB01", named):
        yield Message(NAMES, START - 20, text)
    yield Message(COUNTERS, START - 10, counter_list(Entry(0x10, object_, instance="*") for _, object_, *_ in OBJECTS))
    held = {number: {f"{at} of {name}": [0] * n for at in range(of or 1)} for number, name, n, of in OBJECTS}
    held[230] = {f"process{at % 20}/{at}": [0] * 28 for at in range(processes)}
    for at in range(samples):
        clocks = Clocks(1000 + at * 45_000_000, START + at * STEP - AHEAD + chance.randrange(9000))
        for name in [one for one in held[230] if chance.random() < churn / 10]:
            del held[230][name]
            held[230][f"process{chance.randrange(99)}"] = [0] * 28
        for each in held.values():
            for values in each.values():
                for place in range(0, len(values), 3):
                    values[place] += chance.randrange(100_000)
        blocks = [
            whole_object(
                number,
                counters[number],
                next(iter(each.values())) if number == SYSTEM else [Instance(*one) for one in each.items()],
                clocks,
            )
            for number, each in held.items()
        ]
        yield Message(SAMPLE, START + at * STEP, sample(blocks))


def single(chance: random.Random, samples: int, count: int) -> Iterator[Message]:
    """A recording of single counters."""
    kinds = [TYPES[at % 5] for at in range(count)]
    entries = [
        Entry(0, "Process", f"Counter {at}/sec", f"p{at % 40}", kind, 3_000_000) for at, kind in enumerate(kinds)
    ]
    yield Message(COUNTERS, START - 10, counter_list(entries))
    values = [0] * count
    for at in range(samples):
        utc, ticks, stamp = START + at * STEP - AHEAD, 1000 + at * 45_000_000, START + at * STEP
        values = [value + chance.randrange(100_000) for value in values]
        clock = {0x20510500: utc}
        blocks = [raw_counter(stamp, value, clock.get(kind, ticks)) for value, kind in zip(values, kinds, strict=True)]
        yield Message(SAMPLE, stamp, sample(blocks))


def median_of(path: Path) -> float:
    """The median seconds of the processor of three readings after one that warms up."""
    seconds: list[float] = []
    for _ in range(4):
        start = time.process_time()
        read_log(path)
        seconds.append(time.process_time() - start)
    return statistics.median(seconds[1:])


def peak(path: Path) -> int:
    """The most bytes that a process took for reading it, above those that it took before; 0 where that is not told."""
    if not sys.platform.startswith("linux"):
        return 0
    code = (
        "import re, sys; from pathlib import Path; from plimsoll.ingest.read import read_log\n"
        "used = lambda: int(re.search(r'VmHWM:\\s*(\\d+)', Path('/proc/self/status').read_text())[1]) * 1024\n"
        "Path('/proc/self/clear_refs').write_text('5')\n"  # the peak is counted from here on
        "before = used(); log = read_log(Path(sys.argv[1])); print(used() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    return int(done.stdout)


if __name__ == "__main__":
    main()
