"""Apache Otava calls the last run alone a change, and a change from zero +0.0 %.

apache-otava 0.8.0, defaults. Guess: one run that is 20 % higher is noise, wherever it stands, as a change needs runs on
both sides. As the last of 25 it is a change of +20 %; with an ordinary run after it the same change is +10 %. Errors
that go from 0 to 5 are a change of +0.0 %, which no threshold for a percentage passes. The exit code is 0 with a
regression and without.

Seen: c24 +19.9%; c24 +10.0%; c20 +0.0%
"""

import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from common import expect, output_of, run_finding, use_python_packages

_TEST = "tests: {t: {type: csv, file: runs.csv, time_column: time, attributes: [commit], metrics: {v: {column: v}}}}"


def probe(folder: Path) -> None:
    """Analyze runs that end with one that stands out, and runs that begin with zeros."""
    packages = use_python_packages(folder, "apache-otava==0.8.0")
    noise = random.Random(1)
    steady = [noise.gauss(100, 1) for _ in range(28)]
    for after, stated in ((0, ["c24 +19.9%"]), (1, ["c24 +10.0%"])):
        runs = [*steady[:24], 120, *steady[24 : 24 + after]]
        expect(_changes(folder, packages, runs), stated, f"changes with {after} ordinary runs after it")
    expect(_changes(folder, packages, [0] * 20 + [5] * 20), ["c20 +0.0%"], "changes from 0 to 5")


def _changes(folder: Path, packages: Path, runs: Sequence[float]) -> list[str]:
    """Return the first run of each change, and its size."""
    rows = (f"2025-01-01 10:{minute:02d}:00 +0000,c{minute},{value}\n" for minute, value in enumerate(runs))
    (folder / "runs.csv").write_text("time,commit,v\n" + "".join(rows), "utf-8")
    (folder / "otava.yaml").write_text(_TEST, "utf-8")
    command = [sys.executable, "-m", "otava.main", "analyze", "t", "--config", "otava.yaml", "--since", "2024-01-01"]
    printed = output_of(command, folder, PYTHONPATH=str(packages))
    return [f"{run} {size}" for size, run in re.findall(r"([-+][\d.]+%).*\n.*\n.*(c\d+) ", printed)]


if __name__ == "__main__":
    run_finding(probe)
