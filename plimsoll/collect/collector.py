"""Collects the counters of this computer, and names them as Telegraf's plugins do."""

import logging
import math
import socket
import sys
from collections.abc import Iterable, Mapping

import numpy as np

from plimsoll.collect.pdh import Pdh
from plimsoll.collect.sources import disks, file_systems, system, windows
from plimsoll.collect.sources.reading import Group, NoAnswer, Reading
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import EVALUATION_INTERVAL

_SILENT_AFTER_S = 30.0
_log = logging.getLogger(__name__)


class Collector:
    """Collects the counters of this computer, as series of `host`, by default the computer's name.

    If a group of counters fails, the failure is logged once, and the other groups are still collected. Windows has too
    many counters to collect all: only those that `signals` (by default the shipped signals) need are collected.
    """

    def __init__(
        self,
        host: str | None = None,
        groups: Mapping[str, Group] | None = None,
        signals: Mapping[str, Signal] | None = None,
    ) -> None:
        self.host = host or socket.gethostname()
        self._groups = list_groups(self.host, signals) if groups is None else groups
        self._failing: dict[str, str] = {}
        self._silent: dict[str, float] = {}
        self._series: dict[tuple[str, tuple[tuple[str, str], ...], str], Series] = {}

    def use(self, groups: Mapping[str, Group]) -> None:
        """Replace the groups of counters that are collected."""
        self._groups = groups
        self._failing = {}

    @property
    def failing(self) -> Mapping[str, str]:
        """The reason of the failure, by the name of each group that failed last time."""
        return dict(self._failing)

    @property
    def silent(self) -> Mapping[str, float]:
        """For each group without an answer for 30 s or more, by name: how long (s) the group has not answered."""
        return {name: seconds for name, seconds in [*self._silent.items()] if seconds >= _SILENT_AFTER_S}

    def collect(self, now_ns: int) -> Points:
        """Return one sample of each counter; the time of all samples is `now_ns`, rounded down to 10 s."""
        values = {
            self._name_series(reading, field): float(value)
            for name, group in list(self._groups.items())
            for reading in self._read(name, group)
            for field, value in reading.fields.items()
            if math.isfinite(value)
        }
        count = len(values)
        times = np.full(count, now_ns // EVALUATION_INTERVAL * EVALUATION_INTERVAL, dtype=np.int64)
        return Points(list(values), np.arange(count, dtype=np.int32), times, np.array(list(values.values()), float))

    def _name_series(self, reading: Reading, field: str) -> Series:
        name = (reading.measurement, reading.tags, field)
        return self._series.setdefault(name, Series(self.host, reading.measurement, reading.tags, field))

    def _read(self, name: str, group: Group) -> Iterable[Reading]:
        """Return the readings of a group; no readings if it fails. The first failure and the recovery are logged."""
        readings: list[Reading] = []
        try:
            readings.extend(group())
        except Exception as error:  # psutil raises different errors on each system
            if name not in self._failing:
                _log.warning("%s: cannot be collected: %s %s", name, type(error).__name__, error)
            self._failing[name] = str(error) or type(error).__name__
            self._silent[name] = error.seconds if isinstance(error, NoAnswer) else 0.0
        else:
            if name in self._failing:
                _log.warning("%s: collected again", name)
            self._failing.pop(name, None)
            self._silent.pop(name, None)
        return readings


def list_groups(host: str, signals: Mapping[str, Signal] | None = None) -> Mapping[str, Group]:
    """Return the groups of counters that this operating system has, by the name used to report failures."""
    if sys.platform == "win32":
        try:
            return windows.list_object_groups(host, load_signals() if signals is None else signals, Pdh.of_windows())
        except (OSError, AttributeError) as error:
            why = (
                f"pdh.dll cannot be used ({error}): repair it with sfc /scannow, or have Telegraf collect on this host"
            )

        def refuse() -> Iterable[Reading]:
            raise RuntimeError(why)

        return {"performance counters": refuse}
    common: dict[str, Group] = {
        "processor time": system.ProcessorShares(),
        "load and uptime": system.read_system,
        "memory": system.read_memory,
        "swap space": system.swap,
        "disk requests": disks.DiskRequests(),
        "free space": file_systems.FileSystemSpace(),
        "network adapters": system.read_adapters,
        "processes": system.read_processes,
    }
    if sys.platform != "linux":
        return common
    return common | {
        "context switches and interrupts": system.read_counts,
        "paging": system.read_paging,
        "pressure": system.read_pressure,
        "connection tracking": system.read_connections_tracked,
        "accept queues": system.read_accept_queues,
        "open files": system.open_files,
    }
