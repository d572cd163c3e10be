"""How many processes there are in each state: the plugin `processes`."""

import sys
from collections import Counter
from collections.abc import Iterator

import psutil

from plimsoll.collect.sources.reading import PROC, Reading

_STATES = ("blocked", "zombies", "stopped", "running", "sleeping", "unknown", "idle")
_ON_LINUX = (*_STATES, "dead", "paging")
_LETTERS = {
    "R": "running",
    "S": "sleeping",
    "D": "blocked",
    "Z": "zombies",
    "X": "dead",
    "T": "stopped",
    "t": "stopped",
    "W": "paging",
    "I": "idle",
}
_STATUSES = {
    psutil.STATUS_RUNNING: "running",
    psutil.STATUS_SLEEPING: "sleeping",
    psutil.STATUS_DISK_SLEEP: "blocked",
    psutil.STATUS_ZOMBIE: "zombies",
    psutil.STATUS_STOPPED: "stopped",
    psutil.STATUS_IDLE: "idle",
}


def processes() -> Iterator[Reading]:
    """The measurement `processes`."""
    if sys.platform == "linux":
        yield _of_linux()
        return
    counted = Counter(_STATUSES.get(one.info["status"], "unknown") for one in psutil.process_iter(["status"]))
    yield Reading("processes", {**{state: counted[state] for state in _STATES}, "total": counted.total()})


def _of_linux() -> Reading:
    """From the files of the kernel: psutil takes ten times as long."""
    counted: Counter[str] = Counter()
    threads = 0
    for folder in PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            stat = (folder / "stat").read_bytes()
        except OSError:  # it has ended
            continue
        # The name, in brackets, may hold anything.
        letter, *rest = stat[stat.rindex(b")") + 2 :].split()
        counted[_LETTERS.get(letter.decode(), "unknown")] += 1
        threads += int(rest[16])
    fields: dict[str, float] = {state: counted[state] for state in _ON_LINUX}
    return Reading("processes", {**fields, "total": counted.total(), "total_threads": threads})
