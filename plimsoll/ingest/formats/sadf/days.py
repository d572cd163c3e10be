"""The days of `sadf -t`, which writes the local time of day with the date of UTC.

Between local midnight and midnight in UTC the date is a day off. The intervals of the rows show it: the step from the
row before is a day longer or shorter than the row says.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from plimsoll.ingest.formats.sadf.table import SectionTable
from plimsoll.ingest.shared.clock_rules import DAY, HOUR, QUARTER, offsets
from plimsoll.model.log import Times
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remarks, counted
from plimsoll.model.times import SECOND, Zone

_EASTERNMOST = 14 * HOUR
_WESTERNMOST = -11 * HOUR
_SLACK = 2 * SECOND
_DOUBT = f"; in another zone all may be a day off: name it with {Parameter.ZONE}"


def with_local_days(tables: Sequence[SectionTable], zone: Zone, remarks: Remarks) -> list[SectionTable]:
    """The tables with local dates. Rows whose date changes are remarked."""
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
            f"sadf -t writes the date of UTC with the local time: {counted(len(moved), 'time')} moved by a day, "
            f"as the intervals of the rows show{'' if is_sure else _DOUBT}",
            line=min(lines),
            count=len(moved),
        )
    return [replace(table, stamps=table.stamps + shift) for table, shift in zip(tables, shifts, strict=True)]


def _ahead(table: SectionTable, zone: Zone) -> tuple[int, bool] | None:
    """How far the local clock is ahead of UTC (ns), by rows around a midnight, and whether that is sure.

    None if no date is off.
    """
    stamps, said = table.stamps[table.local], table.intervals[table.local] * SECOND
    first = np.flatnonzero(np.diff(stamps, prepend=-1))
    stamps, said = stamps[first], said[first]
    # The interval of a row after a header may count from a row in another file.
    extra = np.where(table.is_after_header[table.local][first][1:], 0, np.diff(stamps) - said[1:])
    goes_back = bool(((np.abs(extra + DAY) <= _SLACK) & (stamps[1:] % DAY <= said[1:])).any())
    for at in np.flatnonzero(np.abs(extra - DAY) <= _SLACK).tolist():
        before, after = int(stamps[at]) % DAY, int(stamps[at + 1]) % DAY
        # A day that was not recorded is missing from one local midnight to the next.
        if (before >= QUARTER or goes_back) and before < after // QUARTER * QUARTER:
            found = _between(before, after)
            own = int(_offsets(zone, stamps[at + 1 : at + 2], found[0])[0])
            # The date in the log is the same for two offsets a day apart, on both sides of the date line.
            off = (own - found[0] + DAY // 2) % DAY - DAY // 2
            if abs(off) <= said[at + 1]:
                return found[0], found[1] or zone.known
    if not goes_back or len(np.unique(stamps)) < len(stamps):
        return None
    if zone.known:
        return 0, True
    # All rows are of one date of UTC, so midnight in UTC is at a time of day that is not in the log.
    start, end = int(stamps[0]), int(stamps[-1])
    return _between(end % DAY, start % DAY) if end < start and start // DAY == end // DAY else None


def _between(before: int, after: int) -> tuple[int, bool]:
    """How far local time is ahead if midnight in UTC is between these local times of day, and whether that is sure.

    It is not sure where two offsets a day apart are both in use.
    """
    ahead = after // QUARTER * QUARTER
    # More people live at +13 than at -11, and at -10 than at +14.
    is_behind = before >= DAY + _WESTERNMOST
    return ahead - DAY * is_behind, before >= _EASTERNMOST or after < DAY + _WESTERNMOST


def _shifts(table: SectionTable, zone: Zone, ahead: int) -> Times:
    """What to add to each time of a table (ns): 0, a day or minus a day, so that the date of UTC is as written.

    Rows whose steps are their intervals get the same: around a change of the offset a single row would be ambiguous.
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
