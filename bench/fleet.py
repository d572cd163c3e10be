"""A simulated fleet: all signals of Windows and Linux hosts, as recorded by Telegraf, sadf and probes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plimsoll.export.selections import Selection, list_selections
from plimsoll.model import names
from plimsoll.model.log import Log, Times
from plimsoll.model.perfmon import EACH_INSTANCE, CounterPath
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.rules.load import load_signals

_INSTANCES = {
    "PhysicalDisk": ["0 C:", "1 D:", "2 E:"],
    "LogicalDisk": ["C:", "D:", "E:"],
    "Process": [f"worker#{n}" for n in range(40)],
    "Network Interface": ["Intel[R] Ethernet", "Intel[R] Ethernet _2"],
}
_LINUX = {"name": ["sda", "sdb", "sdc"], "device": ["sda", "sdb"], "interface": ["eth0", "eth1"]}
_PROCESSORS = [str(n) for n in range(4)]


class Host(NamedTuple):
    """A host and its collector: windows, telegraf (on Linux), sysstat, or None for probes and pollers."""

    name: str
    collector: str | None


def hosts(count: int) -> list[Host]:
    """Return simulated hosts, half of them Windows; the first two Linux hosts also run a directory and a database."""
    windows = [Host(f"WIN{n:02}", "windows") for n in range(count - count // 2)]
    linux = [Host(f"lnx{n:02}", "telegraf") for n in range(count // 2)]
    return [*windows, *linux, Host("lnx00", None), Host("lnx01", None)]


def series_of(host: Host, signals: Sequence[str] = (), *, every: bool = False) -> list[tuple[Series, Selection]]:
    """Return the series of a host with their selections, from the best source of each signal or from all sources."""
    result: dict[object, tuple[Series, Selection]] = {}
    for name, signal in load_signals().items():
        if signal.derived or (signals and name not in signals):
            continue
        taken = [entry for entry in list_selections(name, load_signals()) if entry.collector == host.collector]
        for selection in taken if every else taken[:1]:
            for item in _series(host.name, selection):
                for field in selection.source.fields or (selection.field,):
                    series = replace(item, field=field)
                    result.setdefault(series.key, (series, selection))
    return list(result.values())


def log(host: Host, times: Times, signals: Sequence[str] = (), *, every: bool = False) -> Log:
    """Return a recording of a host: values around 50, and growing counters; equal for equal arguments."""
    random = np.random.default_rng([*host.name.encode()])
    recorded = series_of(host, signals, every=every)
    columns = [_values(selection, len(times), random) for _, selection in recorded]
    series = tuple(item for item, _ in recorded)
    return Log(Path("fleet"), "fleet", times, tuple(columns), series, Zone.parse("UTC"), sha256="")


def times(start: int, end: int, step: int = 10 * SECOND) -> Times:
    """Return the instants (UTC ns) from start to before end."""
    return np.arange(start, end, step, dtype=np.int64)


def _series(host: str, selection: Selection) -> Iterator[Series]:
    source = selection.source
    if source.path:
        for instance in _instances(source.path):
            path = source.path
            yield names.load_shipped().series(CounterPath(None, path.object, instance, path.counter), host)
        return
    for instance in _LINUX.get(source.instance, _PROCESSORS) if source.instance else [None]:
        tags = dict(source.tags)
        if source.instance and instance:
            tags[source.instance] = f"cpu{instance}" if source.instance == "cpu" else instance
        if source.host:
            tags[source.host] = f"{host}:PAYROLL"
        yield Series(host, selection.measurement, tuple(sorted(tags.items())), selection.field)


def _instances(path: CounterPath) -> list[str | None]:
    if path.instance != EACH_INSTANCE:
        return [path.instance]
    return [*_INSTANCES.get(path.object, _PROCESSORS)]


def _values(selection: Selection, count: int, random: np.random.Generator) -> np.ndarray:
    steps = random.normal(0, 1, count).cumsum()
    values = 50 + 30 * np.tanh(steps / 30)
    return values.cumsum() * 10 if selection.source.rate else values
