"""Processor time, load and uptime: the plugins `cpu` and `system`."""

import sys
import time
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import psutil

from plimsoll.collect.sources.reading import PROC, Reading

_STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
# The kernel counts the time of guests in user and nice as well.
_ADDED_UP = _STATES[:8]
_TOTAL = "cpu-total"

Times: TypeAlias = Mapping[str, float]


class ProcessorTime:
    """Reads the share of time that each processor spent in each state since the last call; nothing at the first."""

    def __init__(self) -> None:
        self._last: Mapping[str, Times] = {}

    def __call__(self) -> Iterator[Reading]:
        """The measurement `cpu`, for each processor and for all together."""
        now, last = _times(), self._last
        self._last = now
        for name, times in now.items():
            if name not in last:
                continue
            spent = {state: times.get(state, 0) - last[name].get(state, 0) for state in _STATES}
            whole = sum(spent[state] for state in _ADDED_UP)
            if whole <= 0:
                continue
            spent["user"] -= spent["guest"]
            spent["nice"] -= spent["guest_nice"]
            shares = {f"usage_{state}": 100 * ticks / whole for state, ticks in spent.items()}
            yield Reading("cpu", shares, (("cpu", name),))


def _times() -> Mapping[str, Times]:
    """The time each processor has spent in each state, by the processor's name; its unit does not matter."""
    if sys.platform != "linux":
        each = {f"cpu{at}": times._asdict() for at, times in enumerate(psutil.cpu_times(percpu=True))}
        return each | {_TOTAL: psutil.cpu_times()._asdict()}
    # psutil numbers processors by their line, which is wrong where one is offline.
    found: dict[str, Times] = {}
    for line in (PROC / "stat").read_text().splitlines():
        name, *ticks = line.split()
        if not name.startswith("cpu"):
            break
        found[_TOTAL if name == "cpu" else name] = dict(zip(_STATES, map(float, ticks), strict=False))
    return found


def system() -> Iterator[Reading]:
    """The measurement `system`: load averages, number of processors and uptime."""
    load1, load5, load15 = psutil.getloadavg()
    fields = {"load1": load1, "load5": load5, "load15": load15, "uptime": float(int(time.time() - psutil.boot_time()))}
    for name, logical in (("n_cpus", True), ("n_physical_cpus", False)):
        if (count := psutil.cpu_count(logical=logical)) is not None:
            fields[name] = count
    yield Reading("system", fields)
