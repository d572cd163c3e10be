#!/usr/bin/env python3
"""Loads an archive of logs with `plimsoll ingest`: a run for each folder, or for each day. See README.md beside it.

A file records what was loaded, so that repeating an interrupted call continues it. Logs that were added to a folder or
day since become a run of their own; failed runs are tried again. Nothing in the store is deleted.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TextIO

UNREACHABLE = 3
INTERRUPTED = 130
STATE = "plimsoll-loaded.jsonl"
BEGUN, LOADED, FAILED = "begun", "loaded", "failed"
# What lies beside logs: settings, reports, notes, what is being copied, and what was loaded.
NO_LOGS = (".html", ".jsonl", ".md", ".partial", ".png", ".toml")
_DAY = re.compile(r"(?<!\d)(20\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")


@dataclass(frozen=True)
class Run:
    """A run to load: its name, its logs, and the arguments for plimsoll ingest: the logs, or the folder they are in."""

    name: str
    logs: tuple[Path, ...]
    sources: tuple[Path, ...]

    @property
    def size(self) -> int:
        """The size of the run's logs in bytes."""
        return sum(log.stat().st_size for log in self.logs)


def mark_of(log: Path) -> str:
    """Return a text that changes when a log is replaced by another."""
    stat = log.stat()
    return f"{log}|{stat.st_size}|{stat.st_mtime_ns}"


class Wrong(Exception):
    """The error that the call cannot be used; the text says why."""


def by_folder(archive: Path, prefix: str) -> list[Run]:
    """Return a run for each folder with logs, named by its path within the archive."""
    paths: dict[Path, list[Path]] = defaultdict(list)
    for log in logs_in(archive):
        paths[log.parent].append(log)
    names = {folder: folder.relative_to(archive).as_posix() if folder != archive else archive.name for folder in paths}
    return [Run(prefix + names[folder], tuple(logs), (folder,)) for folder, logs in paths.items()]


def by_day(archive: Path, prefix: str) -> list[Run]:
    """Return a run for each day in the names of logs or of their folders. Raise Wrong if a log has no day."""
    paths: dict[str, list[Path]] = defaultdict(list)
    lost: list[Path] = []
    for log in logs_in(archive):
        day = day_of(log.relative_to(archive))
        if day is None:
            lost.append(log)
        else:
            paths[day].append(log)
    if lost:
        result = f" (and {len(lost) - 1:,} more)" if len(lost) > 1 else ""
        raise Wrong(f"{lost[0]}: its path tells no day, such as 20240115 or 2024-01-15{result}; use --by folder")
    return [Run(prefix + day, tuple(logs), tuple(logs)) for day, logs in sorted(paths.items())]


def logs_in(archive: Path) -> list[Path]:
    """Return the files of an archive that may be logs, sorted, without hidden files."""
    paths: list[Path] = []
    for folder, folders, files in os.walk(archive):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [
            Path(folder, name)
            for name in sorted(files)
            if not name.startswith(".") and Path(name).suffix.lower() not in NO_LOGS
        ]
    return paths


def day_of(path: Path) -> str | None:
    """Return the last day in a path, as `2024-01-15`, also from 2024/01/15/WEB1.csv; None if there is none."""
    days: list[str] = []
    for text in (path.as_posix(), "-".join(path.parts[:-1])):
        for year, _, month, day in _DAY.findall(text):
            try:
                days.append(date(int(year), int(month), int(day)).isoformat())
            except ValueError:
                continue
        if days:
            return days[-1]
    return None


class Loaded:
    """The record of loaded and begun runs, in a file that is written line by line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._logs: set[str] = set()
        self._names: set[str] = set()
        self._begun: dict[str, list[str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                loads = json.loads(line)
                self._note(loads["run"], loads["state"], loads["logs"])
            except (ValueError, KeyError, TypeError):
                continue  # the last line of a call that was cut off
        path.touch()  # tells at once that it cannot be written

    def left(self, run: Run) -> list[Run]:
        """Return the parts of a run that are still to load: first a begun load with its logs, then logs added since."""
        left = {mark_of(log): log for log in run.logs if mark_of(log) not in self._logs}
        runs: list[Run] = []
        number = 1
        while left:
            name = run.name if number == 1 else f"{run.name} ({number})"
            number += 1
            if name in self._names:
                continue
            begun = [left.pop(mark) for mark in self._begun.get(name, ()) if mark in left]
            logs = tuple(begun or left.values())
            left = left if begun else {}
            runs.append(Run(name, logs, run.sources if logs == run.logs else logs))
        return runs

    def write(self, run: Run, state: str) -> None:
        """Record that a run was begun, was loaded or failed."""
        logs = [mark_of(log) for log in run.logs]
        cut_off = self._path.stat().st_size and not self._path.read_bytes().endswith(b"\n")
        with self._path.open("a", encoding="utf-8") as file:
            file.write(("\n" if cut_off else "") + json.dumps({"run": run.name, "state": state, "logs": logs}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._note(run.name, state, logs)

    def _note(self, name: str, state: str, logs: list[str]) -> None:
        self._begun.pop(name, None)
        if state == BEGUN:
            self._begun[name] = logs
        elif state == LOADED:
            self._names.add(name)
            self._logs.update(logs)


class Progress:
    """A line for each run on stdout; on a terminal also a line with the progress of the load."""

    def __init__(self, total: int, out: TextIO) -> None:
        self._total, self._out = total, out
        self._done, self._start = 0, time.monotonic()

    def begin(self, text: str) -> None:
        """Show the load in progress."""
        if self._out.isatty():
            part = self._done / self._total if self._total else 1
            passed = time.monotonic() - self._start
            left = f", {passed / part - passed:,.0f} s left" if part else ""
            self._out.write(f"\r\x1b[K{part:4.0%}{left}  {text}")
            self._out.flush()

    def end(self, text: str, size: int) -> None:
        """Print the result of a run of `size` bytes."""
        self._done += size
        self._out.write("\r\x1b[K" if self._out.isatty() else "")
        self._out.write(text + "\n")
        self._out.flush()


def load(runs: Sequence[Run], loaded: Loaded, command: Sequence[str], options: Sequence[str]) -> int:
    """Load the runs that are not loaded yet; return the exit status."""
    todo = [part for run in runs for part in loaded.left(run)]
    print(f"{len(todo)} of {len(runs)} runs to load")
    progress = Progress(sum(run.size for run in todo), sys.stdout)
    failed: list[str] = []
    for number, run in enumerate(todo, 1):
        size = run.size
        about = f"{number}/{len(todo)} {run.name}: {len(run.logs)} logs, {size / 1e6:,.1f} MB"
        progress.begin(about)
        loaded.write(run, BEGUN)
        sources = [str(source) for source in run.sources]
        done = subprocess.run(
            [*command, "ingest", *sources, "--run", run.name, *options],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
        )  # fmt: skip
        if done.returncode == 0:
            loaded.write(run, LOADED)
            progress.end(f"{about}: loaded", size)
            continue
        line = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        failed.append(run.name)
        progress.end(f"{about}: FAILED: {line}", size)
        if done.returncode == UNREACHABLE:
            print("the store cannot be reached: repeat the call when it can", file=sys.stderr)
            return UNREACHABLE
        loaded.write(run, FAILED)
    if failed:
        print(f"{len(failed)} runs failed; repeat the call to try them again: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def main() -> int:
    """Parse the arguments and load."""
    parser = argparse.ArgumentParser(
        description="Loads an archive of logs with plimsoll ingest, a run for each folder or day. Repeat a call that "
        "was interrupted: it continues. Exit status: 0 all runs are loaded, 1 some failed, 2 the call is wrong, 3 the "
        "store cannot be reached.",
    )
    parser.add_argument("archive", type=Path, help="the folder of the archive")
    parser.add_argument("--by", choices=("folder", "day"), default="folder", help="what makes a run (default: folder)")
    parser.add_argument("--prefix", default="", help="a text before the name of each run")
    parser.add_argument("--state", type=Path, help=f"where to write down what was loaded (default: ARCHIVE/{STATE})")
    parser.add_argument("--plimsoll", default="plimsoll", help="the program plimsoll (default: the one on the path)")
    parser.add_argument("--list", action="store_true", help="only list the runs and their logs")
    parser.epilog = "What follows -- is passed to plimsoll ingest: -- --store URL"
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    result, options = parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]
    try:
        if not result.archive.is_dir():
            raise Wrong(f"{result.archive}: is no folder")
        archive = result.archive.resolve()
        runs = (by_day if result.by == "day" else by_folder)(archive, result.prefix)
        if not runs:
            raise Wrong(f"{result.archive}: has no logs")
        if result.list:
            for run in runs:
                print(f"{run.name}: {', '.join(str(log.relative_to(archive)) for log in run.logs)}")
            return 0
        program = shutil.which(str(result.plimsoll))
        if program is None:
            raise Wrong(f"{result.plimsoll}: is no program; give the path of plimsoll with --plimsoll")
        return load(runs, Loaded(result.state or archive / STATE), [program], options)
    except (Wrong, OSError) as error:
        print(f"load_archive: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("load_archive: interrupted; repeat the call to continue", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
