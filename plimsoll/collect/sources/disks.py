"""Requests to disks, with the fields of Telegraf's plugin `diskio`."""

import sys
import time
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import TypeAlias

import psutil

from plimsoll.collect.sources.reading import PROC, SYS, Reading, read_kernel_file

# As in telegraf/linux.conf: whole disks and volumes only.
LEFT_OUT = (
    *("loop*", "ram*", "zram*", "sr*", "fd*"),
    *("[shv]d[a-z]*[0-9]", "nvme*p[0-9]*", "mmcblk*p[0-9]*"),
)
_SECTOR = 512
# The columns of /proc/diskstats from the fourth on.
_COLUMNS = (
    *("reads", "merged_reads", "read_bytes", "read_time"),
    *("writes", "merged_writes", "write_bytes", "write_time"),
    *("iops_in_progress", "io_time", "weighted_io_time"),
)
_PSUTIL_NAMES = {"read_count": "reads", "write_count": "writes"}
_NEVER_FALL = ("reads", "writes", "read_time", "write_time", "io_time")
Counts: TypeAlias = Mapping[str, float]


class DiskRequests:
    """Reads the disks' counts of requests since the system started, and mean request times since the last call."""

    def __init__(self) -> None:
        self._last: Mapping[str, Counts] = {}
        self._read_at = 0.0

    def __call__(self) -> Iterator[Reading]:
        """Yield a reading `diskio` for each disk that has had a request."""
        disks, last, at = _read_counts(), self._last, time.monotonic()
        elapsed_ms = int(1000 * (at - self._read_at))
        self._last, self._read_at = disks, at
        for name, counts in disks.items():
            means = _compute_since(last[name], counts, elapsed_ms) if name in last else {}
            wwid = read_kernel_file(SYS / "block" / name / "wwid")
            tags = (("name", name), ("wwid", wwid)) if wwid else (("name", name),)
            yield Reading("diskio", {**counts, **means}, tags)


def _compute_since(last: Counts, counts: Counts, elapsed_ms: int) -> Counts:
    """Return the mean request times (ms) and the utilization (%) since `last`; empty if a counter was reset."""
    if any(counts.get(name, 0) < last.get(name, 0) for name in _NEVER_FALL) or "io_time" not in counts:
        return {}
    means: dict[str, float] = {}
    grown = {name: counts[name] - last[name] for name in _NEVER_FALL}
    requests = grown["reads"] + grown["writes"]
    if requests > 0:
        means["io_await"] = (grown["read_time"] + grown["write_time"]) / requests
        means["io_svctm"] = grown["io_time"] / requests
    if elapsed_ms > 0:
        means["io_util"] = 100 * grown["io_time"] / elapsed_ms
    return means


def _read_counts() -> Mapping[str, Counts]:
    """Return the request counts since the system started, by disk; disks that never had a request are left out."""
    disks: dict[str, Counts] = {}
    if sys.platform == "linux":  # psutil lacks the time weighted by the queue
        for line in (PROC / "diskstats").read_text().splitlines():
            _, _, name, *values = line.split()
            if len(values) >= len(_COLUMNS):
                counts = dict(zip(_COLUMNS, map(float, values), strict=False))
                disks[name] = {field: _SECTOR * n if field.endswith("bytes") else n for field, n in counts.items()}
    else:  # nowrap=False: rates must see a reset of a counter, which psutil would hide
        for name, disk in (psutil.disk_io_counters(perdisk=True, nowrap=False) or {}).items():
            counts = {_PSUTIL_NAMES.get(key, key): value for key, value in disk._asdict().items()}
            disks[name] = {field: counts[field] for field in _COLUMNS if field in counts}
    return {
        name: counts
        for name, counts in disks.items()
        if any(counts.values()) and not any(fnmatchcase(name, pattern) for pattern in LEFT_OUT)
    }
