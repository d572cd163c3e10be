"""What the rules of a zone make of a recorder's wall clock: which of two offsets holds in an hour that repeats."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.sampling import Times, sampling_interval
from plimsoll.model.times import SECOND, instant, utc

HOUR = 3600 * SECOND
DAY = 24 * HOUR
QUARTER = HOUR // 4  # clocks are ahead of UTC by whole ones
_QUARTERS = DAY // QUARTER
# Times of years in which nobody recorded are damage.
EARLIEST, LATEST = (instant(datetime(year, 1, 1, tzinfo=UTC)) for year in (1980, 2201))


@dataclass(frozen=True)
class Ruled:
    """What a zone's rules make of rows.

    `offsets` are the clock's to UTC in ns, one per row; `doubtful` the rows from and until which
    nothing tells the first from the second hour; `against` the first row by which the clock was not
    changed where the rules say, None where all agree.
    """

    offsets: Times
    doubtful: Sequence[tuple[int, int]]
    against: int | None


def ruled_by(local: Times, rule: tzinfo, begun: int | None) -> Ruled | None:
    """What they make of these times of its clock (ns). `begun` is the clock's offset at the first row, where known.

    None where there is no row, or the rules have no such offset then.
    """
    if not len(local):
        return None
    first, second = offsets(local, rule)
    if begun is not None and begun not in (first[0], second[0]):
        return None
    steps, interval = np.diff(local, prepend=local[0]), sampling_interval(local)
    taken = first.copy()
    doubtful: list[tuple[int, int]] = []
    for start, stop in _runs(second < first):
        is_known = begun is not None or start > 0  # whoever sees the clock come to the hour sees its first time round
        begins_again = start == 0 and begun == int(second[0]) if is_known else None
        size = int(first[start] - second[start])
        again, doubt = _second_time(range(start, stop), size, begins_again, steps, interval)
        taken[again:stop] = second[again:stop]
        if doubt is not None:
            doubtful.append((doubt, again))
    missing = np.flatnonzero(second > first).tolist()
    changes = (np.flatnonzero(np.diff(taken)) + 1).tolist()
    over = [at for at in changes if like(int(steps[at]), interval, abs(int(taken[at] - taken[at - 1])))]
    return Ruled(taken, doubtful, min([*missing, *over], default=None))


def _second_time(
    hour: range, size: int, begins_again: bool | None, steps: Times, interval: int | None
) -> tuple[int, int | None]:
    """The row of an hour that repeats from which on it is its second time round, and the one from which on it may be.

    The clock goes back by `size` ns at its end. `steps` are the clock's from the row before to each row.
    `begins_again` is whether the first row is of the second time round, None where only what follows may tell:
    a log that goes on after the hour, without a step back or a pause, began in its second time round; behind a long
    pause it went on in that.
    """
    if begins_again:
        return hour.start, None
    entered = range(max(hour.start, 1), hour.stop)  # nothing comes before the first row of all
    for at in entered:
        if steps[at] < -min(size, HOUR) // 2 or like(int(steps[at]) + size, interval, size):
            return at, None
    pauses = [at for at in entered if interval and steps[at] > interval + min(1.5 * interval, size // 4)]
    may_be = [hour.start, *pauses] if begins_again is None else pauses
    if not may_be:
        return hour.stop, None
    # A few samples that are lost do not outweigh that the clock seems to go on unchanged.
    likely = may_be if begins_again is None else [at for at in pauses if steps[at] - (interval or 0) > size // 4]
    if likely and hour.stop < len(steps) and like(int(steps[hour.stop]), interval, size):
        return likely[-1], likely[0] if len(likely) > 1 else None
    return hour.stop, may_be[0]


def like(step: int, interval: int | None, change: int) -> bool:
    """Whether a step of the clock is a sampling interval, and none that a change of so many ns is in."""
    return interval is not None and abs(step - interval) <= min(max(interval // 2, 2 * SECOND), change // 4)


def _runs(flags: NDArray[np.bool_]) -> list[list[int]]:
    """Where flags are set: from which place until which, each time."""
    return np.flatnonzero(np.diff(flags, prepend=False, append=False)).reshape(-1, 2).tolist()


def offsets(local: Times, rule: tzinfo) -> tuple[Times, Times]:
    """The offsets (ns) of a zone's clock to UTC at these times of it (ns), to the quarter of an hour.

    Where a time comes twice the earlier and the later, which is less; where it is missing those before and after.
    """
    if not len(local):
        return local, local
    days = local // DAY
    begin = int(days.min())
    table = np.zeros(int(days.max()) - begin + 1, dtype=np.int64)
    table[days - begin] = 1
    changing: list[int] = []
    for at in np.flatnonzero(table).tolist():
        found = {*_offsets((begin + at) * _QUARTERS, rule), *_offsets((begin + at + 1) * _QUARTERS, rule)}
        table[at] = min(found)
        if len(found) > 1:
            changing.append(begin + at)
    first = table[days - begin]
    if not changing:
        return first, first
    second = first.copy()
    rows = np.flatnonzero(np.isin(days, changing))
    quarters, inverse = np.unique(local[rows] // QUARTER, return_inverse=True)
    pairs = [_offsets(int(quarter), rule) for quarter in quarters]
    first[rows], second[rows] = np.array(pairs, dtype=np.int64)[inverse].T
    return first, second


def _offsets(quarter: int, rule: tzinfo) -> tuple[int, int]:
    """Both of a zone's offsets (ns) in a quarter of an hour of its clock, counted from 1970."""
    moment = utc(quarter * QUARTER).replace(tzinfo=None)
    found = [moment.replace(tzinfo=rule, fold=fold).utcoffset() or timedelta() for fold in (0, 1)]
    first, second = (offset // timedelta(microseconds=1) * 1000 for offset in found)
    return first, second
