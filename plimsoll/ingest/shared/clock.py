"""Converts a recorder's wall-clock times to UTC.

A log's header states one offset, but its rows follow the wall clock: an hour repeats when daylight saving time ends,
and an hour is missing when it begins.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.shared.same_time import LONGEST_HOLE, is_lasting
from plimsoll.ingest.shared.zones import find_zone_rules, is_steady
from plimsoll.model.errors import Unusable
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, find_sampling_interval
from plimsoll.model.remark import Kind, Remarks, format_count
from plimsoll.model.times import SECOND, Zone, convert_to_datetime, convert_to_instant, format_duration

HOUR = 3600 * SECOND
DAY = 24 * HOUR
QUARTER = HOUR // 4  # offsets from UTC are multiples of it
_QUARTERS = DAY // QUARTER
# Times in implausible years are damage.
EARLIEST, LATEST = (convert_to_instant(datetime(year, 1, 1, tzinfo=UTC)) for year in (1980, 2201))


@dataclass(frozen=True)
class Ruled:
    """The offsets to UTC (ns) of rows, by the rules of a time zone.

    `doubtful` are ranges of rows that may belong to either pass through a repeated hour. `against` is the first row
    that contradicts the rules; None if there is none.
    """

    offsets: Times
    doubtful: Sequence[tuple[int, int]]
    against: int | None


CLOCK = "the clock steps back"
# At a repeated header, another file may begin (`cat b.csv a.csv`).
JOINED = "files are joined out of order or overlap, as times step back"
RESTARTED = "the clock was set back at a restart, or files are joined out of order or overlap, as times step back"
_MONTHS_OF_CHANGE = (3, 4, 9, 10, 11)
_SUNDAY = 6
_LONGEST_PAUSE = 900 * SECOND  # a longer one may have hidden anything
_MOST_STRAYS = 3  # in a row
_FEW = 0.05  # of all rows
_CLOSER = 0.75  # intervals: of two passes over the same time, each second step is shorter


def convert_to_utc(
    local: Times, zone: Zone, lines: Sequence[int], remarks: Remarks, headers: Sequence[int] = ()
) -> Times:
    """Return the instants (UTC, ns) of rows in file order; `local` are wall-clock times (ns, as if they were UTC).

    The rules of a named zone apply. With a fixed offset, the rules of the zone's Windows name (zones.yaml) apply while
    offset and rows agree with them. Otherwise a step of exactly one hour counts as a change of daylight saving time:
    back, or forward over a whole hour in the small hours of a Sunday in spring or autumn. Each change gets a remark.
    `headers` are the lines that repeat the header: after each, another recording begins, with the header's offset.
    Raise Unusable if hours are counted to 12 and nothing tells morning from afternoon.
    """
    _refuse_half_days(local, lines, remarks)
    if not isinstance(zone.rule, timezone):
        ruled = apply_zone_rules(local, zone.rule, None)
        return local if ruled is None else _apply_rules(ruled, local, lines, remarks)
    if not zone.is_specified:
        return local + _find_changes(local, lines, remarks, _find_new_beginnings(lines, headers))
    ends = [0, *sorted(_find_new_beginnings(lines, headers)), len(local)]
    parts = [_convert_by_offset(local[a:b], zone.name, zone.rule, lines[a:b], remarks) for a, b in pairwise(ends)]
    return np.concatenate(parts)


def sort_times(
    times: Times, lines: Sequence[int], headers: Sequence[int], remarks: Remarks
) -> tuple[Times, NDArray[np.intp] | None]:
    """Return instants in ascending order, and the file row of each (None if the order is unchanged).

    Steps back in time get a remark, and rows of a time that is far from those around them are left out with one.
    `headers` is as in `convert_to_utc`.
    """
    steps = np.diff(times)
    strays = list(_find_strays(times, steps))
    if 0 < len(strays) <= _FEW * len(times):
        for at in strays:
            text = f"the time {convert_to_datetime(int(times[at])):%Y-%m-%d} is far from those around it"
            remarks.add(Kind.SKIPPED, f"{text}: the row is left out", line=lines[at])
        kept = np.delete(np.arange(len(times)), strays)
        ordered, order = sort_times(times[kept], [lines[at] for at in kept.tolist()], headers, remarks)
        return ordered, kept if order is None else kept[order]
    back = np.flatnonzero(steps < 0) + 1
    if not len(back):
        return times, None
    order = np.argsort(times, kind="stable")
    mixed = _find_mixed(times, order)
    anew = _find_new_beginnings(lines, headers)
    tell(
        ((JOINED if at in anew else CLOCK, lines[at], int(times[at - 1] - times[at])) for at in back.tolist()),
        remarks,
    )
    longest = int((times[back - 1] - times[back]).max())
    if longest >= LONGEST_HOLE and is_lasting(mixed, find_sampling_interval(times)):
        text = f"{format_count(len(mixed), 'row')} lie between rows from before the clock stepped back: all count"
        remarks.add(Kind.CONTRADICTORY, text, count=len(mixed))
    return times[order], order


def _find_strays(times: Times, steps: Times) -> Iterator[int]:
    """Yield the indices of few rows a day or more away from the rows before and after them, which are close by."""
    jumps = (np.flatnonzero(np.abs(steps) >= DAY) + 1).tolist()
    for first, after in pairwise(jumps):
        if after - first <= _MOST_STRAYS and abs(times[after] - times[first - 1]) < HOUR:
            yield from range(first, after)


def _find_mixed(times: Times, order: NDArray[np.intp]) -> Times:
    """Return the times of rows that are closer than the sampling interval to a row from elsewhere in the file."""
    interval, ordered = find_sampling_interval(times) or 0, times[order]
    steps, apart = np.diff(ordered), np.diff(order)
    close = (steps > 0) & (steps < _CLOSER * interval)
    mixed = np.zeros(len(times), dtype=bool)
    mixed[1:] |= close & (apart > 1)
    mixed[:-1] |= close & (apart < -1)
    return ordered[mixed]


def _refuse_half_days(local: Times, lines: Sequence[int], remarks: Remarks) -> None:
    """Raise Unusable if hours are counted to 12 without AM and PM, as in a script that formats times with `hh`."""
    hours = local // HOUR % 24
    back = (np.diff(local) < 0) & (np.diff(local // DAY) == 0) & (hours[:-1] == 12) & (hours[1:] == 1)
    if back.any() and hours.min() >= 1 and hours.max() <= 12:
        line = lines[int(back.argmax()) + 1]
        raise Unusable(
            f"{remarks.file}:{line}: the clock goes from 12 to 1, so hours are counted to 12 and nothing tells "
            "morning from afternoon; write the log again with hours from 0 to 23"
        )


def _find_new_beginnings(lines: Sequence[int], headers: Sequence[int]) -> Set[int]:
    """Return the indices of the rows that follow a repeated header."""
    values = np.searchsorted(np.asarray(lines), headers) if headers else []
    return {int(at) for at in values} - {0, len(lines)}


def _convert_by_offset(local: Times, name: str, rule: timezone, lines: Sequence[int], remarks: Remarks) -> Times:
    """Return the instants of rows by the header's offset, corrected for later changes of the clock."""
    offset = rule.utcoffset(None) // timedelta(microseconds=1) * 1000
    if is_steady(name):
        return local - offset
    times = _convert_by_name(local, name, offset, lines, remarks)
    return times + _find_changes(times + offset, lines, remarks)


def _find_changes(
    local: Times, lines: Sequence[int], remarks: Remarks, begun_again: Set[int] = frozenset()
) -> Times | int:
    """Return the correction of each row (ns) for the changes of daylight saving time before it.

    A step back at a row in `begun_again`, where another file may begin, counts only at a time when clocks change.
    """
    steps = np.diff(local)
    interval = find_sampling_interval(local)
    if interval is None or interval >= HOUR:
        return 0
    slack = max(interval // 2, 2 * SECOND)
    back = (steps < 0) & (steps + HOUR >= interval - slack) & (steps + HOUR <= interval + _LONGEST_PAUSE)
    odd = np.flatnonzero(back | (np.abs(steps - HOUR - interval) <= slack))
    added = np.zeros(len(local), dtype=np.int64)
    for at in odd.tolist():
        before, after, tolerance = int(local[at]), int(local[at + 1]), interval + slack
        whole = steps[at] + HOUR <= tolerance and at + 1 not in begun_again
        # Exactly one full hour of the clock is missing, at a time when clocks are set forward.
        hour = convert_to_instant(convert_to_datetime(before + tolerance).replace(minute=0, second=0, microsecond=0))
        skips = abs(before - hour) <= tolerance and abs(after - hour - HOUR) <= tolerance
        if steps[at] < 0 and (whole or _may_change(before)):
            added[at + 1] = HOUR
            text = "the clock goes back an hour, as at the end of daylight saving time: an hour is added from here on"
        elif steps[at] > 0 and skips and _may_change(before + tolerance):
            added[at + 1] = -HOUR
            text = "the clock skips an hour, as when daylight saving time begins: an hour is taken off from here on"
        else:
            continue
        remarks.add(Kind.REPAIRED, text, line=lines[at + 1])
    return np.cumsum(added)


def _may_change(local: int) -> bool:
    """Return whether clocks may change at a local time: in the small hours of a Sunday in spring or autumn."""
    moment = convert_to_datetime(local)
    return moment.hour <= 3 and moment.month in _MONTHS_OF_CHANGE and moment.weekday() == _SUNDAY


def _convert_by_name(local: Times, name: str, offset: int, lines: Sequence[int], remarks: Remarks) -> Times:
    """Return the instants by the rules of the header's zone, or by its offset if the rows contradict the rules."""
    rule = find_zone_rules(name)
    ruled = apply_zone_rules(local, rule, offset) if rule else None
    if rule is None or ruled is None:
        return local - offset
    if ruled.against is not None:
        remarks.add(
            Kind.NOTED,
            f"the clock was not changed as the rules of {rule.key} say: its rows are read as they are written",
            line=lines[ruled.against],
        )
        return local - offset
    steps, interval = np.diff(local), find_sampling_interval(local)
    for at in np.flatnonzero(np.diff(ruled.offsets)).tolist():
        change = int(ruled.offsets[at + 1] - ruled.offsets[at])
        if steps[at] < change:  # rows out of order get a remark elsewhere
            continue
        by = format_duration(abs(change))
        verb, then = ("skips", "taken off") if change > 0 else ("goes back by", "added")
        matches = is_interval_step(int(steps[at]) - change, interval, abs(change))
        pause = "" if matches else " while the log pauses"
        remarks.add(
            Kind.REPAIRED if matches else Kind.GUESSED,
            f"the clock {verb} {by}{pause}, as the rules of {rule.key} say: {by} is {then} from here on",
            line=lines[at + 1],
        )
    return _apply_rules(ruled, local, lines, remarks)


def _apply_rules(ruled: Ruled, local: Times, lines: Sequence[int], remarks: Remarks) -> Times:
    """Return the instants by a zone's rules; add a remark on rows of a repeated hour whose pass is uncertain."""
    for at, until in ruled.doubtful:
        remarks.add(
            Kind.GUESSED,
            f"{format_count(until - at, 'row')} of the hour that repeats when daylight saving time ends: "
            "taken for its first time round",
            line=lines[at],
            count=until - at,
        )
    return local - ruled.offsets


def tell(steps: Iterable[tuple[str, int, int]], remarks: Remarks) -> None:
    """Add a remark for each reason of steps back in time; `steps` are (reason, line, size in ns)."""
    steps_by_reason = group_pairs((reason, (line, back)) for reason, line, back in steps)
    for reason, steps_back in steps_by_reason.items():
        line, back = min(steps_back)
        text = f"{reason} by {format_duration(back)}: rows are put in the order of time"
        remarks.add(Kind.REPAIRED, text, line=line, count=len(steps_back))


def apply_zone_rules(local: Times, rule: tzinfo, begun: int | None) -> Ruled | None:
    """Return the offsets that a zone's rules give to local times (ns).

    `begun` is the offset at the first row, None if unknown. Return None without rows, or if the zone never has that
    offset at the first row.
    """
    if not len(local):
        return None
    first, second = compute_offsets(local, rule)
    if begun is not None and begun not in (first[0], second[0]):
        return None
    steps, interval = np.diff(local, prepend=local[0]), find_sampling_interval(local)
    taken = first.copy()
    doubtful: list[tuple[int, int]] = []
    for start, stop in np.flatnonzero(np.diff(second < first, prepend=False, append=False)).reshape(-1, 2).tolist():
        is_known = begun is not None or start > 0  # a clock that reaches the hour is in its first pass
        begins_again = start == 0 and begun == int(second[0]) if is_known else None
        size = int(first[start] - second[start])
        again, doubt = _find_second_pass(range(start, stop), size, begins_again, steps, interval)
        taken[again:stop] = second[again:stop]
        if doubt is not None:
            doubtful.append((doubt, again))
    missing = np.flatnonzero(second > first).tolist()
    changes = (np.flatnonzero(np.diff(taken)) + 1).tolist()
    over = [at for at in changes if is_interval_step(int(steps[at]), interval, abs(int(taken[at] - taken[at - 1])))]
    return Ruled(taken, doubtful, min([*missing, *over], default=None))


def _find_second_pass(
    hour: range, size: int, begins_again: bool | None, steps: Times, interval: int | None
) -> tuple[int, int | None]:
    """Return the first row of the second pass through a repeated hour, and the first uncertain row (None: no such row).

    `hour` are the rows in that hour, at whose end the clock goes back by `size` ns; `steps` are the clock's steps to
    each row from the previous one. `begins_again` says whether the first row is in the second pass (None: unknown).
    If no step back is recorded, not even at the end of the hour, the second pass begins after the last long pause in
    the hour; without such a pause with the first row, if `begins_again` is None.
    """
    if begins_again:
        return hour.start, None
    entered = range(max(hour.start, 1), hour.stop)  # the first row has no predecessor
    for at in entered:
        if steps[at] < -min(size, HOUR) // 2 or is_interval_step(int(steps[at]) + size, interval, size):
            return at, None
    pauses = [at for at in entered if interval and steps[at] > interval + min(1.5 * interval, size // 4)]
    may_be = [hour.start, *pauses] if begins_again is None else pauses
    if not may_be:
        return hour.stop, None
    # A few lost samples matter less than a clock that seems unchanged.
    likely = may_be if begins_again is None else [at for at in pauses if steps[at] - (interval or 0) > size // 4]
    if likely and hour.stop < len(steps) and is_interval_step(int(steps[hour.stop]), interval, size):
        return likely[-1], likely[0] if len(likely) > 1 else None
    return hour.stop, may_be[0]


def is_interval_step(step: int, interval: int | None, change: int) -> bool:
    """Return whether a clock step is one sampling interval, rather than an interval changed by `change` ns."""
    return interval is not None and abs(step - interval) <= min(max(interval // 2, 2 * SECOND), change // 4)


def compute_offsets(local: Times, rule: tzinfo) -> tuple[Times, Times]:
    """Return a zone's two offsets to UTC (ns) at local times (ns), to the quarter of an hour.

    At a repeated time these are the offsets of both passes, at a missing time the offsets before and after the change;
    at other times the two offsets are equal.
    """
    if not len(local):
        return local, local
    days = local // DAY
    begin = int(days.min())
    table = np.zeros(int(days.max()) - begin + 1, dtype=np.int64)
    table[days - begin] = 1
    changing: list[int] = []
    for at in np.flatnonzero(table).tolist():
        of_day = {
            *_compute_offsets((begin + at) * _QUARTERS, rule),
            *_compute_offsets((begin + at + 1) * _QUARTERS, rule),
        }
        table[at] = min(of_day)
        if len(of_day) > 1:
            changing.append(begin + at)
    first = table[days - begin]
    if not changing:
        return first, first
    second = first.copy()
    rows = np.flatnonzero(np.isin(days, changing))
    quarters, inverse = np.unique(local[rows] // QUARTER, return_inverse=True)
    pairs = [_compute_offsets(int(quarter), rule) for quarter in quarters]
    first[rows], second[rows] = np.array(pairs, dtype=np.int64)[inverse].T
    return first, second


def _compute_offsets(quarter: int, rule: tzinfo) -> tuple[int, int]:
    """Return the UTC offsets (ns) of a zone for the first and the second time at which its clocks show a local time.

    The two differ only in a repeated hour. `quarter` is the local time, in quarter hours since 1970.
    """
    moment = convert_to_datetime(quarter * QUARTER).replace(tzinfo=None)
    durations = [moment.replace(tzinfo=rule, fold=fold).utcoffset() or timedelta() for fold in (0, 1)]
    first, second = (offset // timedelta(microseconds=1) * 1000 for offset in durations)
    return first, second
