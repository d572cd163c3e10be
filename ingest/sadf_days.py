"""The days of `sadf -t`, which writes the hour of the recorder's clock with the day of UTC.

Between midnight on one and on the other, the day is a wrong one. What shows it is the interval that rows
state: the time since the row before is a whole day more or less.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ingest.clock import offsets
from ingest.sadf_table import Table
from model.log import Times
from model.remark import Kind, Remarks, counted
from model.times import SECOND, Zone

_DAY = 86_400 * SECOND
_QUARTER = 900 * SECOND  # clocks are ahead of UTC by whole quarters of an hour
_EASTERNMOST = 14 * 3600 * SECOND
_SLACK = 2 * SECOND


def mended(tables: Sequence[Table], zone: Zone, remarks: Remarks) -> list[Table]:
    """The tables with the day of the recorder's clock where it is not that of UTC; this is remarked."""
    ahead = next((found for table in tables if (found := _ahead(table, zone)) is not None), None)
    if ahead is None:
        return list(tables)
    shifts = [_shifts(table, zone, ahead) for table in tables]
    moved = np.unique(np.concatenate([table.stamps[shift != 0] for table, shift in zip(tables, shifts, strict=True)]))
    lines = [int(table.lines[shift != 0][0]) for table, shift in zip(tables, shifts, strict=True) if shift.any()]
    if lines:
        remarks.add(
            Kind.REPAIRED,
            f"sadf -t writes the day of UTC with the hour of the recorder's clock: {counted(len(moved), 'time')} put "
            "a day on or back, as the rows' intervals say",
            line=min(lines),
            count=len(moved),
        )
    return [replace(table, stamps=table.stamps + shift) for table, shift in zip(tables, shifts, strict=True)]


def _ahead(table: Table, zone: Zone) -> int | None:
    """How far the clock seems to be ahead of UTC (ns), by the rows between which a midnight lies; None if by none."""
    stamps, said = table.stamps[table.local], table.intervals[table.local] * SECOND
    first = np.flatnonzero(np.diff(stamps, prepend=-1))
    stamps, said = stamps[first], said[first]
    extra = np.diff(stamps) - said[1:]
    for at in np.flatnonzero(np.abs(extra - _DAY) <= _SLACK).tolist():
        before, after = int(stamps[at]), int(stamps[at + 1])
        ahead = after // _QUARTER * _QUARTER % _DAY
        # A day that was not recorded is missing from midnight to midnight on the recorder's own clock.
        if _QUARTER <= before % _DAY < ahead:
            ahead -= _DAY * (ahead >= _EASTERNMOST)
            own = int(_offsets(zone, stamps[at + 1 : at + 2], ahead)[0])
            if not zone.known or abs(own - ahead) <= said[at + 1]:
                return ahead
    back = (np.abs(extra + _DAY) <= _SLACK) & (stamps[1:] % _DAY <= said[1:])
    # Where UTC has no midnight in the log, all before the recorder's own is of the day before.
    return int(stamps[0]) % _DAY if back.any() and len(np.unique(stamps)) == len(stamps) else None


def _shifts(table: Table, zone: Zone, ahead: int) -> Times:
    """What to add to each time of a table (ns): nothing, or a day on or back, so that the day of UTC is as written.

    Rows that follow each other as their intervals say share it: where the offset changes, some days are doubtful.
    """
    stamps = table.stamps
    steps = np.diff(stamps, prepend=stamps[:1])
    run = np.cumsum((steps != 0) & (np.abs(steps - table.intervals * SECOND) > _SLACK))
    choices = np.array([0, _DAY, -_DAY])
    clocks = (stamps + choice for choice in choices)
    fits = [np.bincount(run, (clock - _offsets(zone, clock, ahead)) // _DAY == stamps // _DAY) for clock in clocks]
    return np.where(table.local, choices[np.argmax(fits, axis=0)][run], 0)


def _offsets(zone: Zone, local: Times, otherwise: int) -> Times:
    return offsets(local, zone.rule)[0] if zone.known else np.full(len(local), otherwise)
