"""From when to when each host of a run was recorded, and for how long some of its counters were not."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.model.log import Log, Times
from plimsoll.model.series import LOAD_DRIVER, Series, host_key
from plimsoll.model.times import duration_text
from plimsoll.review.doubts import long_absence

Key = TypeVar("Key", bound=Hashable)


def rows_of_hosts(logs: Iterable[Log], part: tuple[int, int]) -> tuple[int, int]:
    """The first and the last row (UTC ns) of all logs but those of load drivers, in a part of the run; 0 without."""
    of_hosts = [log.times for log in logs if any(series.measurement not in LOAD_DRIVER for series in log.series)]
    inside = [values for times in of_hosts if len(values := times[(times >= part[0]) & (times <= part[1])])]
    return (int(min(values[0] for values in inside)), int(max(values[-1] for values in inside))) if inside else (0, 0)


def recordings(
    logs: Iterable[Log], hosts: Sequence[str], host_of: Callable[[Series], str], part: tuple[int, int]
) -> dict[str, list[Times]]:
    """Return the times of the recordings of each host in a part of the run, without those of load drivers."""
    names = {host_key(host): host for host in hosts}
    return times_by(
        lambda series: None if series.measurement in LOAD_DRIVER else names[host_key(host_of(series))], logs, part
    )


def times_by(
    key_of: Callable[[Series], Key | None], logs: Iterable[Log], part: tuple[int, int]
) -> dict[Key, list[Times]]:
    """Return the times in each log at which there is a value in any of the series with a key, for each key but None.

    Not those of all rows: a recorder may go on while it gets no values.
    """
    times_lists: dict[Key, list[Times]] = {}
    for log in logs:
        first, stop = np.searchsorted(log.times, [part[0], part[1] + 1]).tolist()
        columns: dict[Key, list[pl.Series]] = {}
        for series, column in zip(log.series, log.columns, strict=True):
            if (key := key_of(series)) is not None:
                columns.setdefault(key, []).append(column)
        for key, items in columns.items():
            times = log.times[first:stop][_filled(items, first, stop)]
            if len(times):
                times_lists.setdefault(key, []).append(times)
    return times_lists


def _filled(columns: Iterable[pl.Series], first: int, stop: int) -> NDArray[np.bool_]:
    """Return which rows from `first` to before `stop` hold a value in any of these columns."""
    result = np.zeros(stop - first, dtype=bool)
    for column in columns:
        part = column.slice(first, stop - first)
        if not part.null_count():
            return ~np.zeros_like(result)
        result |= part.is_not_null().to_numpy()
        if result.all():
            break
    return result


class Absence(NamedTuple):
    """For how long (ns) something was not recorded while its host was, of how long, and whether that is long."""

    length: int = 0
    of: int = 0
    is_long: bool = False
    at_the_end: bool = False

    @classmethod
    def while_recorded(cls, host: Times, nothing: NDArray[np.bool_], value: int) -> "Absence":
        """That in the steps between samples of a host in which there was `nothing`.

        Steps over `least` (ns) are none: the host was not recorded, either.
        """
        steps = np.diff(host)
        counted = np.where(steps > value, 0, steps)
        absent = int(counted[nothing].sum())
        at_the_end = bool(nothing.any()) and bool(nothing[int(np.argmax(nothing)) :].all())
        is_long = absent > max(value, long_absence(int(counted.sum())))
        return cls(absent, int(host[-1] - host[0]), is_long, at_the_end)

    def __str__(self) -> str:
        """`the last 20 min of 1 h`."""
        return f"{'the last ' if self.at_the_end else ''}{duration_text(self.length)} of {duration_text(self.of)}"


def lost(host: Times, counter: Times, pause: int) -> NDArray[np.bool_]:
    """Return which steps between samples of a host lie where a counter has no value for longer than `pause` (ns).

    A step with a value of the counter at both ends is none, however long: the host itself was not recorded in it.

    `host` are the times of all its samples, `counter` those of one counter; both ascend and are not empty.
    """
    at = counter.searchsorted(host[:-1], side="right")
    before = np.where(at > 0, counter[at - 1], host[0])
    after = np.append(counter, host[-1])[at]
    return (after - before > pause) & ((before < host[:-1]) | (after > host[1:]))
