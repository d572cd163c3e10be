"""What each command costs, in readings of the same file by bare polars: python -m bench [--small] [--write].

CPU seconds of ours over CPU seconds of bare polars, the least of several turns, in one run: other work on the machine
changes both alike. Fails where a ratio is 1.3 times that of bench/ratios.json. `--small` takes a smaller
log. `--write` writes what was measured; a commit that raises a ratio gives its reason in the file.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.big_log import write_big_log
from bench.live import evaluation

_ROOT = Path(__file__).parents[1]
_RATIOS = Path(__file__).with_name("ratios.json")
_TOLERATED = 1.3
_TURNS = 2
# Its import is not counted, as ours are: the first reading warms up.
_BARE = """
import sys, time, polars as pl
schema = {"time": pl.String} | {str(at): pl.Float64 for at in range(int(sys.argv[2]))}
taken = []
for _ in range(6):
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
    """Measure everything, print the table, and say whether all of it is as fast as it was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows, columns, hosts, size = (1500, 1000, 100, "small") if given.small else (5000, 1000, 1000, "large")
    with tempfile.TemporaryDirectory() as folder:
        measured = _measured(Path(folder), rows, columns, hosts)
    known = json.loads(_RATIOS.read_text("utf-8")) if _RATIOS.exists() else {}
    slower = [name for name, ratio in measured.items() if ratio > _TOLERATED * known.get(size, {}).get(name, ratio)]
    print(f"{rows:,} rows of {columns:,} counters, {hosts:,} live hosts; 1 is bare polars' reading of the log")
    for name, ratio in measured.items():
        before = known.get(size, {}).get(name)
        note = "  slower than it was" if name in slower else ""
        print(f"{name:<28} {ratio:8.2f}   {'' if before is None else f'({before:.2f})'}{note}")
    if given.write:
        known[size] = {name: round(ratio, 2) for name, ratio in measured.items()}
        _RATIOS.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
    return 1 if slower else 0


def _measured(folder: Path, rows: int, columns: int, hosts: int) -> dict[str, float]:
    logs = [folder / name for name in ("first.csv", "second.csv")]
    for log in logs:
        write_big_log(log, rows, columns)
    log, other = map(str, logs)
    unit = _printed(_BARE, log, str(columns))
    live, _ = evaluation(hosts)
    found = {
        "read": _printed(_READ, log),
        "show": _least("show", log),
        "review": _least("review", log),
        "review --out --json": _least(
            "review", log, "--out", str(folder / "report.html"), "--json", str(folder / "review.json")
        ),
        "compare": _least("compare", log, other),
        "ingest": min(_taken("ingest", log, "--run", "bench", "--store", _new_folder(folder)) for _ in range(_TURNS)),
        "live evaluation": live,
    }
    modules = {"modules of review": float(_modules("review", log)), "modules of --help": float(_modules("--help"))}
    return {name: seconds / unit for name, seconds in found.items()} | modules


def _new_folder(folder: Path) -> str:
    return tempfile.mkdtemp(dir=folder)


def _printed(program: str, *arguments: str) -> float:
    """The seconds that a program prints."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, cwd=_ROOT)
    return float(done.stdout)


def _least(*arguments: str) -> float:
    return min(_taken(*arguments) for _ in range(_TURNS))


def _taken(*arguments: str) -> float:
    """The CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _modules(*arguments: str) -> int:
    """How many modules a command imports."""
    return _run(arguments, "-X", "importtime").count(b"import time:") - 1


def _run(arguments: Sequence[str], *options: str) -> bytes:
    command = [sys.executable, *options, "-m", "plimsoll", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, cwd=_ROOT, env={**os.environ, "COLUMNS": "80"})
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr.decode()}")
    return done.stderr


if __name__ == "__main__":
    sys.exit(main())
