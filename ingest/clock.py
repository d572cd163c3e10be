"""From the wall clock of a recorder to UTC.

A log's header gives one offset, and its rows go on in wall-clock time: where daylight saving time
ends an hour repeats, where it begins one is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from importlib.resources import files

import numpy as np
import yaml
from numpy.typing import NDArray

from model.log import Times, sampling_interval
from model.remark import Kind, Remarks, counted
from model.times import SECOND, Zone, utc, words

HOUR = 3600 * SECOND
_MONTHS_OF_CHANGE = (3, 4, 9, 10, 11)
_SUNDAY = 6
_LONGEST_PAUSE = 900 * SECOND


@dataclass(frozen=True)
class Clock:
    """Instants of rows (UTC ns) in ascending order, and the row each is of where the order changed."""

    times: Times
    order: Times | None


def to_utc(local: Times, zone: Zone, lines: Sequence[int], remarks: Remarks) -> Clock:
    """The instants of rows whose wall-clock times (ns, read as if they were UTC) are given in file order.

    With one offset, a step of exactly one hour is taken for a change of daylight saving time: back,
    or forward over a whole hour in the small hours of a Sunday in spring or autumn. With a named
    zone its rules say. Any other step back is repaired by putting the rows in order. All are remarked.
    """
    if isinstance(zone.rule, timezone):
        offset = zone.rule.utcoffset(None) // timedelta(microseconds=1) * 1000
        times = local - offset
        if zone.name not in _steady_zones():
            times += _changes(local, lines, remarks)
    else:
        times = _by_rules(local, zone, lines, remarks)
    back = np.flatnonzero(np.diff(times) < 0)
    if not len(back):
        return Clock(times, None)
    at = int(back[0])
    remarks.add(
        Kind.REPAIRED,
        f"the clock steps back by {words(int(times[at] - times[at + 1]))}: rows are put in the order of time",
        line=lines[at + 1],
        count=len(back),
    )
    order = np.argsort(times, kind="stable")
    return Clock(times[order], order)


def _changes(local: Times, lines: Sequence[int], remarks: Remarks) -> Times | int:
    """What to add to each row for the changes of daylight saving time before it."""
    steps = np.diff(local)
    interval = sampling_interval(local)
    if interval is None or interval >= HOUR:
        return 0
    slack = max(interval // 2, 2 * SECOND)
    back = (steps < 0) & (steps + HOUR >= interval - slack) & (steps + HOUR <= interval + _LONGEST_PAUSE)
    odd = np.flatnonzero(back | (np.abs(steps - HOUR - interval) <= slack))
    added = np.zeros(len(local), dtype=np.int64)
    for at in odd.tolist():
        if steps[at] < 0 and (steps[at] + HOUR <= interval + slack or _may_change(int(local[at]))):
            added[at + 1 :] += HOUR
            text = "the clock goes back an hour, as at the end of daylight saving time: later rows are an hour later"
        elif steps[at] > 0 and _is_spring(int(local[at]), int(local[at + 1]), interval + slack):
            added[at + 1 :] -= HOUR
            text = "the clock skips an hour, as when daylight saving time begins: later rows are an hour earlier"
        else:
            continue
        remarks.add(Kind.REPAIRED, text, line=lines[at + 1])
    return added


def _is_spring(before: int, after: int, tolerance: int) -> bool:
    """Whether what is missing is one whole hour of a clock, at a time when clocks are put forward."""
    first = utc(before + tolerance).replace(minute=0, second=0, microsecond=0)
    whole = _close(before, first, tolerance) and _close(after, first + timedelta(hours=1), tolerance)
    return whole and _may_change(before + tolerance)


def _may_change(local: int) -> bool:
    """Whether clocks change at such a time: in the small hours of a Sunday in spring or autumn."""
    moment = utc(local)
    return moment.hour <= 3 and moment.month in _MONTHS_OF_CHANGE and moment.weekday() == _SUNDAY


@cache
def _steady_zones() -> frozenset[str]:
    return frozenset(yaml.load(files("ingest").joinpath("zones.yaml").read_bytes(), yaml.CSafeLoader)["unchanging"])


def _close(local: int, moment: datetime, tolerance: int) -> bool:
    return abs(local - (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000) <= tolerance


def _by_rules(local: Times, zone: Zone, lines: Sequence[int], remarks: Remarks) -> Times:
    """By the rules of a named zone. Times of the hour that repeats are the later ones once the clock stepped back.

    Rows of that hour are remarked where the log begins in it, or paused before, and never steps back.
    """
    hours, inverse = np.unique(local // (900 * SECOND), return_inverse=True)
    offsets = np.array([_offsets(int(quarter), zone) for quarter in hours], dtype=np.int64)
    first, second = offsets[inverse].T
    times = local - first
    twice = first != second
    for at in np.flatnonzero((np.diff(times) < -HOUR // 2) & twice[1:]).tolist():
        until = _end_of_run(twice, at + 1)
        times[at + 1 : until] = local[at + 1 : until] - second[at + 1 : until]
    for at in np.flatnonzero(twice & ~np.concatenate([[False], twice[:-1]])).tolist():
        until = _end_of_run(twice, at)
        comes_in = at > 0 and local[at] - local[at - 1] < HOUR
        if not comes_in and not (np.diff(local[at:until]) < 0).any():
            remarks.add(
                Kind.GUESSED,
                f"{counted(until - at, 'row')} of the hour that repeats when daylight saving time ends: "
                "taken for its first time round",
                line=lines[at],
                count=until - at,
            )
    return times


def _end_of_run(flags: NDArray[np.bool_], start: int) -> int:
    """Where the flags that are set from `start` on end."""
    unset = np.flatnonzero(~flags[start:])
    return start + int(unset[0]) if len(unset) else len(flags)


def _offsets(quarter: int, zone: Zone) -> tuple[int, int]:
    """The zone's offsets in ns in a quarter of an hour of its clock: the earlier and, where it repeats, the later."""
    moment = utc(quarter * 900 * SECOND).replace(tzinfo=None)
    found = [moment.replace(tzinfo=zone.rule, fold=fold).utcoffset() or timedelta() for fold in (0, 1)]
    first, second = (offset // timedelta(microseconds=1) * 1000 for offset in found)
    # Where an hour is missing the two differ as well; no clock shows it, so the first will do.
    return (first, second) if second < first else (first, first)
