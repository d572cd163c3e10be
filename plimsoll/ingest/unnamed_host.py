"""Finds the host of a recording that names none, as those of vmstat: the only named host, if both show the same."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plimsoll.model.log import Log, Values
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.series import LOAD_DRIVER, UNNAMED, make_host_key

# Our choices. Free memory, processor time and context switches of two hosts neither move together nor are the same, and
# where all of them are, it hardly matters whose they are. Whole numbers that vary by less than one show nothing.
_FEWEST_ROWS, _FEWEST_COUNTERS = 30, 3
_TOGETHER, _APART = 0.8, 0.1  # the correlation, and the share of the value


def name_hosts(logs: Sequence[Log]) -> tuple[list[Log], list[Remark]]:
    """Return the logs, those without a host as of the only host that others name if they show the same, and remarks."""
    of_hosts = [log for log in logs if any(series.measurement not in LOAD_DRIVER for series in log.series)]
    named = [log for log in of_hosts if UNNAMED not in log.hosts]
    unnamed = [log for log in of_hosts if log.hosts == (UNNAMED,) and not log.facts]
    hosts = {make_host_key(host): host for log in named for host in log.hosts}
    if len(hosts) != 1:
        return list(logs), []
    (host,) = hosts.values()
    of_named = {id(log): other for log in unnamed for other in named if _shows_same(log, other)}
    remarks = [
        Remark(
            Kind.GUESSED,
            f"names no host, and shows the same as {other.path}: taken for a recording of {host}",
            file=str(log.path),
        )
        for log in unnamed
        if (other := of_named.get(id(log)))
    ]
    of_host = [
        replace(log, series=tuple(replace(series, host=host) for series in log.series)) if id(log) in of_named else log
        for log in logs
    ]
    return of_host, remarks


def _shows_same(log: Log, other: Log) -> bool:
    """Return whether the counters that two logs share, at least three that vary, have the same values over time."""
    columns = {series.key[1:]: at for at, series in enumerate(other.series)}
    shared = [(at, columns[series.key[1:]]) for at, series in enumerate(log.series) if series.key[1:] in columns]
    _, rows, other_rows = np.intersect1d(log.times, other.times, return_indices=True)
    if 2 * len(rows) < len(log.times):
        return False
    pairs = [(log.column(a)[rows], other.column(b)[other_rows]) for a, b in shared]
    alike = [are_alike for pair in pairs if (are_alike := _are_alike(*pair)) is not None]
    return len(alike) >= _FEWEST_COUNTERS and all(alike)


def _are_alike(values: Values, other: Values) -> bool | None:
    """Return whether two columns move together, and are the same but for a tenth; None where that shows nothing."""
    present = np.isfinite(values + other)
    values, other = values[present], other[present]
    if len(values) < _FEWEST_ROWS or max(values.std(), other.std()) < 1:
        return None
    if not (values.std() and other.std()) or np.corrcoef(values, other)[0, 1] < _TOGETHER:
        return False
    return bool(np.median(np.abs(values - other)) <= _APART * np.median(np.maximum(np.abs(values), np.abs(other))))
