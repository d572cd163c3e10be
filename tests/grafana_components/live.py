"""Simulates hosts as Telegraf records them: all signals of Windows and Linux hosts, servers that are polled, all healthy."""

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from plimsoll.dashboards.limits import rules_by_signal
from plimsoll.export.selections import Selection
from plimsoll.model.log import Log, Times
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.signal import Fields

sys.path.append(str(Path(__file__).parents[2] / "bench"))
import fleet

_STEP_S = 10
# What a signal without a limit has on an ordinary host, in its unit.
_USUAL = {"%": 12.0, "/s": 120.0, "bytes": 6.0e8, "bytes/s": 4.0e6, "s": 900.0, "ms": 3.0, "ms/s": 20.0, "ratio": 1.0}
_SPECIAL = {"network.link_percent": 1.25e6, "sql.target_memory": 9.0e8, "sql.redone": 4.0e6, "disk.free_bytes": 5.5e11}
_EACH = 40.0  # what something is divided by, such as reads per second
_HOSTS = [*fleet.hosts(4)]
SILENT = "WIN01"  # sends nothing for a while


def hosts() -> list[str]:
    """The names of the hosts."""
    return sorted({host.name for host in _HOSTS})


def logs(start: int, end: int) -> Iterable[Log]:
    """Yield a recording of each host for a range (ns)."""
    times = np.arange(start // SECOND, end // SECOND, _STEP_S, dtype=np.int64) * SECOND
    for at, host in enumerate(_HOSTS):
        recorded = _recorded(host)
        random = np.random.default_rng(at)
        some = times
        if host.name == SILENT:
            third = len(times) // 3
            some = np.concatenate([times[:third], times[2 * third :]])
        columns = [pl.Series(_values(selection, series.field, some, random)) for series, selection in recorded]
        yield Log(
            Path("live"), "live", some, tuple(columns), tuple(one for one, _ in recorded), Zone.parse("UTC"), sha256=""
        )


def _recorded(host: fleet.Host) -> list[tuple[Series, Selection]]:
    """Return the series of a host. One that several signals read has the values of the one that depends on it most."""
    found: dict[object, tuple[Series, Selection]] = {}
    for series, selection in (one for name in load_signals() for one in _of_signal(host, name)):
        if series.key not in found or _weight(selection) > _weight(found[series.key][1]):
            found[series.key] = series, selection
    return list(found.values())


def _of_signal(host: fleet.Host, name: str) -> list[tuple[Series, Selection]]:
    """What Telegraf records of a signal; on Linux, what sysstat does where that is nothing."""
    found = fleet.series_of(host, [name])
    return found or (fleet.series_of(fleet.Host(host.name, "sysstat"), [name]) if host.collector == "telegraf" else [])


def _weight(selection: Selection) -> int:
    field = selection.source.field
    return ("sum", "difference", "", "ratio").index(field.operation if isinstance(field, Fields) else "")


def _values(selection: Selection, field: str, times: Times, random: np.random.Generator) -> np.ndarray:
    transform = selection.source.transform
    wanted = usual(selection.signal)
    level = (wanted - transform.offset) / transform.scale
    if isinstance(selection.source.field, Fields):
        level = _part(selection.source.field, field, level)
    wave = 1 + 0.2 * np.sin(np.arange(len(times)) / 25 + random.uniform(0, 6)) + random.normal(0, 0.05, len(times))
    values = level * wave if transform.offset == 0 else level + (wave - 1) * wanted / transform.scale
    return (values * _STEP_S).cumsum() if selection.source.rate else values


def _part(fields: Fields, field: str, level: float) -> float:
    """Return the value of one of the fields that are combined to a level."""
    first = fields.names.index(field) == 0
    if fields.operation == "ratio":
        return level * _EACH if first else _EACH
    return level / len(fields.names) if fields.operation == "sum" else level * (2 if first else 1)


@cache
def usual(signal: str) -> float:
    """A healthy value of a signal."""
    if signal in _SPECIAL:
        return _SPECIAL[signal]
    for name, one in load_signals().items():
        if one.derived and one.derived.ratio and one.derived.ratio[0] == signal and name in rules_by_signal():
            return usual(name) * usual(one.derived.ratio[1])
    limits = [rule.healthy for rule in rules_by_signal().get(signal, ()) if rule.reduce != "increase"]
    ceilings = [one.limit for one in limits if one.worse == "higher"]
    floors = [one.limit for one in limits if one.worse == "lower"]
    equal = [one.limit for one in limits if one.worse == "either"]
    if equal:
        return equal[0]
    if ceilings and floors:
        return (min(ceilings) + max(floors)) / 2
    if ceilings:
        return 0.4 * min(ceilings)
    if floors:
        return 2.5 * max(floors) if load_signals()[signal].unit != "%" else (100 + max(floors)) / 2
    return _USUAL.get(load_signals()[signal].unit, 8.0)
