"""The days of `sadf -t`, which writes the hour of the recorder's clock with the day of UTC.

Between midnight on one and on the other, the day is a wrong one. What shows it is the interval that rows
state: the time since the row before is a whole day more or less.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ingest.formats.sadf.table import SectionTable
from ingest.shared.clock_rules import DAY, HOUR, QUARTER, offsets
from model.log import Times
from model.remark import Kind, Remarks, counted
from model.times import SECOND, Zone

_EASTERNMOST = 14 * HOUR
_WESTERNMOST = -11 * HOUR
_SLACK = 2 * SECOND
_DOUBT = "; with another zone all may be a day off: name it with --zone"


def mended(tables: Sequence[SectionTable], zone: Zone, remarks: Remarks) -> list[SectionTable]:
    """The tables with the day of the recorder's clock where it is not that of UTC; this is remarked."""
    found = next((found for table in tables if (found := _ahead(table, zone)) is not None), None)
    if found is None:
        return list(tables)
    ahead, is_sure = found
    shifts = [_shifts(table, zone, ahead) for table in tables]
    moved = np.unique(np.concatenate([table.stamps[shift != 0] for table, shift in zip(tables, shifts, strict=True)]))
    lines = [int(table.lines[shift != 0][0]) for table, shift in zip(tables, shifts, strict=True) if shift.any()]
    if lines:
        remarks.add(
            Kind.REPAIRED if is_sure else Kind.GUESSED,
            f"sadf -t writes the day of UTC with the hour of the recorder's clock: {counted(len(moved), 'time')} put "
            f"a day on or back, as the rows' intervals say{'' if is_sure else _DOUBT}",
            line=min(lines),
            count=len(moved),
        )
    return [replace(table, stamps=table.stamps + shift) for table, shift in zip(tables, shifts, strict=True)]


def _ahead(table: SectionTable, zone: Zone) -> tuple[int, bool] | None:
    """How far the clock seems to be ahead of UTC (ns), by the rows between which a midnight lies; None if by none.

    With it, whether it is sure on which side of UTC the clock is.
    """
    stamps, said = table.stamps[table.local], table.intervals[table.local] * SECOND
    first = np.flatnonzero(np.diff(stamps, prepend=-1))
    stamps, said = stamps[first], said[first]
    # The row before one that begins anew is not the one its interval counts from.
    extra = np.where(table.anew[table.local][first][1:], 0, np.diff(stamps) - said[1:])
    goes_back = bool(((np.abs(extra + DAY) <= _SLACK) & (stamps[1:] % DAY <= said[1:])).any())
    for at in np.flatnonzero(np.abs(extra - DAY) <= _SLACK).tolist():
        before, after = int(stamps[at]) % DAY, int(stamps[at + 1]) % DAY
        # A day that was not recorded is missing from midnight to midnight on the recorder's own clock.
        if (before >= QUARTER or goes_back) and before < after // QUARTER * QUARTER:
            found = _between(before, after)
            own = int(_offsets(zone, stamps[at + 1 : at + 2], found[0])[0])
            # The day that is written cannot tell offsets a day apart, as they are on both sides of the date line.
            off = (own - found[0] + DAY // 2) % DAY - DAY // 2
            if abs(off) <= said[at + 1]:
                return found[0], found[1] or zone.known
    if not goes_back or len(np.unique(stamps)) < len(stamps):
        return None
    if zone.known:
        return 0, True
    # Where all rows are of one day of UTC, its midnight is at an hour that is not in the log.
    start, end = int(stamps[0]), int(stamps[-1])
    return _between(end % DAY, start % DAY) if end < start and start // DAY == end // DAY else None


def _between(before: int, after: int) -> tuple[int, bool]:
    """How far a clock is ahead of UTC on which UTC's midnight is later than one time of day and not later than another.

    With it, whether that is sure: two offsets that are a day apart may both be those of some zone.
    """
    ahead = after // QUARTER * QUARTER
    # More people live at +13 than at -11, and at -10 than at +14.
    is_behind = before >= DAY + _WESTERNMOST
    return ahead - DAY * is_behind, before >= _EASTERNMOST or after < DAY + _WESTERNMOST


def _shifts(table: SectionTable, zone: Zone, ahead: int) -> Times:
    """What to add to each time of a table (ns): nothing, or a day on or back, so that the day of UTC is as written.

    Rows that follow each other as their intervals say share it: where the offset changes, some days are doubtful.
    """
    stamps = table.stamps
    steps = np.diff(stamps, prepend=stamps[:1])
    run = np.cumsum((steps != 0) & (np.abs(steps - table.intervals * SECOND) > _SLACK))
    choices = np.array([0, DAY, -DAY])
    clocks = (stamps + choice for choice in choices)
    fits = [np.bincount(run, (clock - _offsets(zone, clock, ahead)) // DAY == stamps // DAY) for clock in clocks]
    return np.where(table.local, choices[np.argmax(fits, axis=0)][run], 0)


def _offsets(zone: Zone, local: Times, otherwise: int) -> Times:
    return offsets(local, zone.rule)[0] if zone.known else np.full(len(local), otherwise)
