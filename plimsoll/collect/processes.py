"""The processes of this computer that use the most resources, kept for half an hour so that alerts can name them."""

import sys
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, TypeAlias

import psutil

from plimsoll.model.errors import escape
from plimsoll.model.times import SECOND
from plimsoll.model.value_text import format_value

MINUTE = 60 * SECOND
KEPT = 30 * MINUTE
_MOST_SHOWN = 3
_MOST_KEPT = 10  # of each resource, in each interval
# The kernel keeps so much of a name. psutil completes longer ones from the command line, which may hold secrets.
_LONGEST_OF_LINUX = 15
_LONGEST_SHOWN = 60
_CLOCK_MOVES_S = 5  # the time at which a process was created moves with the clock of the system
_ATTRIBUTES = ["name", "cpu_times", "memory_info", "create_time"]


class ProcessResource(NamedTuple):
    """A resource that processes use, such as processor time, with its name for users and its unit."""

    title: str
    unit: str


CPU = ProcessResource("processor time", "%")  # 100 is one processor all the time
MEMORY = ProcessResource("memory", "bytes")
READ = ProcessResource("read from disks", "bytes/s")
WRITTEN = ProcessResource("written to disks", "bytes/s")


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """The average use of a resource by a process. `pid` is None if only the name of the process is recorded."""

    name: str
    pid: int | None
    value: float


@dataclass(frozen=True, slots=True)
class TopProcesses:
    """The processes that used the most of one resource, the highest use first."""

    resource: str
    unit: str
    uses: tuple[ProcessUse, ...]

    def __str__(self) -> str:
        """Return the text for users: `processor time: sqlservr (812) 240 %, backup (90) 12 %`."""
        return f"{self.resource}: {', '.join(_format_use(use, self.unit) for use in self.uses)}"


_Key: TypeAlias = tuple[int, str]  # a process: its id and name
_Uses: TypeAlias = Mapping[ProcessResource, Mapping[_Key, float]]


class _Counts(NamedTuple):
    """The counts of a process since it started, and its memory now (bytes).

    `read` and `written` are None if the user of this program may not read these counts.
    """

    name: str
    created: float
    cpu_s: float
    memory: float
    read: float | None
    written: float | None


class _Interval(NamedTuple):
    """The use of resources by processes between two readings, at `start` and `end` (UTC ns)."""

    start: int
    end: int
    uses: _Uses


class ProcessWatch:
    """Reads all processes once a minute (0.15 ms each); keeps the highest uses for half an hour. Thread-safe."""

    def __init__(self) -> None:
        self._counts: Mapping[int, _Counts] = {}
        self._at: int | None = None
        self._intervals: deque[_Interval] = deque()
        self._lock = Lock()

    def look(self, now_ns: int) -> None:
        """Read the processes, unless the last reading is less than a minute ago. Call this about every 10 s."""
        with self._lock:
            if self._at is None or not 0 <= now_ns - self._at < MINUTE:
                self._look(now_ns)

    def top(self, start_ns: int, end_ns: int, now_ns: int) -> list[TopProcesses]:
        """Return the processes that used the most of each resource, on average from `start_ns` to `end_ns`.

        If `end_ns` is after the last reading, the processes are read again first.
        """
        with self._lock:
            if self._at is None or self._at < min(end_ns, now_ns - SECOND):
                self._look(now_ns)
            chosen = [interval for interval in self._intervals if interval.end > start_ns and interval.start < end_ns]
        return list(_rank_processes(chosen))

    def _look(self, now_ns: int) -> None:
        before, last = self._counts, self._at
        self._counts, self._at = _read_counts(), now_ns
        if last is None or now_ns <= last:  # the first look, or the clock was set back
            self._intervals.clear()
            return
        self._intervals.append(_Interval(last, now_ns, _compute_uses(before, self._counts, last, now_ns)))
        while self._intervals[0].end < now_ns - KEPT:
            self._intervals.popleft()


def _read_counts() -> Mapping[int, _Counts]:
    """Return the counts of each process by id, without processes that this user may not read."""
    attributes = [*_ATTRIBUTES, "io_counters"] if hasattr(psutil.Process, "io_counters") else _ATTRIBUTES
    counts: dict[int, _Counts] = {}
    for process in psutil.process_iter():
        try:
            info = process.as_dict(attributes)  # attributes that may not be read are None
        except (psutil.Error, OSError):  # the process has ended, or Windows refuses access
            continue
        if process.pid and info["cpu_times"] and info["memory_info"]:
            io, cpu, name = info.get("io_counters"), info["cpu_times"], info["name"] or "?"
            counts[process.pid] = _Counts(
                name[:_LONGEST_OF_LINUX] if sys.platform == "linux" else name,
                info["create_time"] or 0.0,
                cpu.user + cpu.system,
                info["memory_info"].rss,
                io.read_bytes if io else None,
                io.write_bytes if io else None,
            )
    return counts


def _compute_uses(before: Mapping[int, _Counts], now: Mapping[int, _Counts], last_ns: int, now_ns: int) -> _Uses:
    """Return the highest uses of each resource by processes between two readings."""
    seconds = (now_ns - last_ns) / SECOND
    uses: dict[ProcessResource, dict[_Key, float]] = {CPU: {}, MEMORY: {}, READ: {}, WRITTEN: {}}
    for pid, counts in now.items():
        earlier = before.get(pid)
        # Ids of ended processes are reused. All use of a process that started since the last reading is in between.
        if earlier is None or abs(counts.created - earlier.created) >= _CLOCK_MOVES_S or counts.cpu_s < earlier.cpu_s:
            earlier = _Counts(counts.name, counts.created, 0, 0, 0, 0)
        key = pid, counts.name
        uses[MEMORY][key] = counts.memory
        uses[CPU][key] = 100 * (counts.cpu_s - earlier.cpu_s) / seconds
        for resource, count, at_first in (
            (READ, counts.read, earlier.read),
            (WRITTEN, counts.written, earlier.written),
        ):
            if count is not None and at_first is not None:
                uses[resource][key] = (count - at_first) / seconds
    return {resource: _select_highest(values, _MOST_KEPT) for resource, values in uses.items()}


def _select_highest(values: Mapping[_Key, float], most: int) -> dict[_Key, float]:
    ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))
    return {key: value for key, value in ranked[:most] if value > 0}


def _rank_processes(intervals: Sequence[_Interval]) -> Iterable[TopProcesses]:
    whole = sum(interval.end - interval.start for interval in intervals)
    for resource in (CPU, MEMORY, READ, WRITTEN):
        means: defaultdict[_Key, float] = defaultdict(float)
        for interval in intervals:
            for key, value in interval.uses[resource].items():
                means[key] += value * (interval.end - interval.start) / whole
        if uses := tuple(
            ProcessUse(name, pid, value) for (pid, name), value in _select_highest(means, _MOST_SHOWN).items()
        ):
            yield TopProcesses(*resource, uses)


def _format_use(use: ProcessUse, unit: str) -> str:
    name = escape(use.name)
    name = name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}…"
    return f"{name}{'' if use.pid is None else f' ({use.pid})'} {format_value(use.value, unit)}"
