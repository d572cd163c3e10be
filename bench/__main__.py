"""Measures the cost of each command relative to reading the same file with bare polars.

Run `python -m bench [--small] [--write]`. Each ratio is our CPU seconds divided by those of bare polars, the lowest of
several rounds in one process, so that other work on the machine affects both alike. A review is measured on six kinds
of log, and the worst ratio counts. Other formats are compared with the same reading of a PDH log by bare polars. The
benchmark fails if a ratio, measured twice, is 1.3 times that in bench/ratios.json. `--small` uses smaller logs, for
every change; it takes a minute. `--write` saves the ratios; a commit that raises one gives the reason in the file.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import pages
from bench.big_log import KINDS, write_big_log
from bench.live import evaluation
from bench.other_formats import FORMATS

_ROOT = Path(__file__).parents[1]
_RATIOS = Path(__file__).with_name("ratios.json")
_TOLERATED = 1.3
_LEAST = 0.2  # readings: a page is a few milliseconds, of which the clock is not sure
_TURNS = 2
_WATCHED = 20  # hosts, of which the pages tell
_PROGRAM = "-m", "plimsoll"
_IMPORTS = "-c", "import numpy, polars"  # what a small review is compared to
_WORST = "review of the worst kind"
_AGAIN = 3  # how often what seems slower is measured again
# Its import is not counted, as ours are: the first reading warms up.
_BARE = """
import sys, time, polars as pl
schema = {"time": pl.String} | {str(at): pl.Float64 for at in range(int(sys.argv[2]))}
taken = []
for _ in range(int(sys.argv[3])):
    start = time.process_time()
    pl.read_csv(sys.argv[1], has_header=False, skip_lines=1, schema=schema, null_values=[" "])
    taken.append(time.process_time() - start)
print(min(taken))
"""
_READ = """
import sys, time
from pathlib import Path
from plimsoll.ingest.read import read_log
taken = []
for _ in range(4):
    start = time.process_time()
    read_log(Path(sys.argv[1]))
    taken.append(time.process_time() - start)
print(min(taken))
"""


def main() -> int:
    """Measure everything, print the table, and return the exit status: 1 if a ratio has risen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    rows, columns, hosts, size = (1500, 1000, 100, "small") if arguments.small else (5000, 1000, 1000, "large")
    ratios = json.loads(_RATIOS.read_text("utf-8")) if _RATIOS.exists() else {}
    before = ratios.get(size, {})

    def slower(measured: dict[str, float]) -> list[str]:
        return [name for name, ratio in measured.items() if ratio > _TOLERATED * before.get(name, ratio) + _LEAST]

    with tempfile.TemporaryDirectory() as folder:
        measure = _prepare(Path(folder), rows, columns, hosts)
        measured = measure()
        for _ in range(_AGAIN):
            if names := slower(measured):
                again = measure(names)
                measured |= {name: min(measured[name], again[name]) for name in names}
    wrong = slower(measured)
    print(f"{rows:,} rows of {columns:,} counters, {hosts:,} live hosts; 1 is bare polars' reading of the log")
    for name, ratio in measured.items():
        was = f"({before[name]:.2f})" if name in before else ""
        print(f"{name:<28} {ratio:8.2f}   {was}{'  slower than it was' if name in wrong else ''}")
    if arguments.write:
        ratios[size] = {name: round(ratio, 2) for name, ratio in measured.items()}
        _RATIOS.write_text(json.dumps(ratios, indent=2) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def _prepare(folder: Path, rows: int, columns: int, hosts: int) -> Callable[..., dict[str, float]]:
    """Write the logs; return a function that measures everything, or only the named costs."""
    logs = [folder / name for name in ("first.csv", "second.csv")]
    for log in logs:
        write_big_log(log, rows, columns)
    for kind, write in KINDS.items():
        write(folder / f"{kind}.csv", rows)
    for name, write in FORMATS.items():
        write(folder / f"log.{name}", rows)
    log, other = map(str, logs)
    few = str(folder / "few.csv")
    write_big_log(Path(few), 21, 12)
    # Keep compiled modules for the next round, whatever the caller's settings.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
    written = "--out", str(folder / "report.html"), "--json", str(folder / "review.json")
    seconds: dict[str, Callable[[], float]] = {
        "read": lambda: _printed(_READ, log),
        **{f"read {name}": lambda name=name: _printed(_READ, str(folder / f"log.{name}")) for name in FORMATS},
        "show": lambda: _least("show", log),
        "review": lambda: _least("review", log),
        "review --out --json": lambda: _least("review", log, *written),
        "compare": lambda: _taken(*_PROGRAM, "compare", log, other),
        "ingest": lambda: _taken(*_PROGRAM, "ingest", log, "--run", "bench", "--store", tempfile.mkdtemp(dir=folder)),
        "live evaluation": lambda: evaluation(hosts)[0],
    }
    counts: dict[str, Callable[[], float]] = {
        "modules of review": lambda: _modules("review", log),
        "modules of --help": lambda: _modules("--help"),
        "modules of a small review": lambda: _modules("review", few),
        "small review, in imports": lambda: min(_taken(*_PROGRAM, "review", few) / _taken(*_IMPORTS) for _ in range(5)),
    }

    def measure(names: Sequence[str] = ()) -> dict[str, float]:
        unit = _printed(_BARE, log, str(columns), "6")
        measured = {name: taken() / unit for name, taken in seconds.items() if name in names or not names}
        if _WORST in names or not names:
            kinds = {kind: _of_kind(str(folder / f"{kind}.csv")) for kind in KINDS}
            print(*(f"review of {kind}: {ratio:.1f}" for kind, ratio in kinds.items()), sep="\n")
            measured[_WORST] = max(kinds.values())
        if not names or any(name in pages.PAGES for name in names):
            measured |= {name: taken / unit for name, taken in pages.seconds(_WATCHED).items()}
        return measured | {name: count() for name, count in counts.items() if name in names or not names}

    return measure


def _of_kind(log: str) -> float:
    """Return the cost of a review: its CPU seconds divided by those of reading the log by bare polars before and
    after.

    Starting takes most of the time of a small log, so both programs include it.
    """
    bare = "-c", _BARE, log, str(_columns(log)), "1"
    before, taken = _taken(*bare), _taken(*_PROGRAM, "review", log)
    return taken / min(before, _taken(*bare))


def _columns(log: str) -> int:
    with Path(log).open("rb") as file:
        return file.readline().count(b'","')


def _printed(program: str, *arguments: str) -> float:
    """Return the seconds that a program prints."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, cwd=_ROOT)
    return float(done.stdout)


def _least(*arguments: str) -> float:
    return min(_taken(*_PROGRAM, *arguments) for _ in range(_TURNS))


def _taken(*arguments: str) -> float:
    """Return the CPU seconds of a run of Python."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _modules(*arguments: str) -> int:
    """Return how many modules a command imports."""
    return _run("-X", "importtime", *_PROGRAM, *arguments).count(b"import time:") - 1


def _run(*arguments: str) -> bytes:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, cwd=_ROOT, env={**os.environ, "COLUMNS": "80"})
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr.decode()}")
    return done.stderr


if __name__ == "__main__":
    sys.exit(main())
