"""From the times of rows to UTC: the zone of a log, changes of its clock, and rows out of order."""

from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path

import numpy as np

from plimsoll.ingest.formats.sadf.table import SectionTable
from plimsoll.ingest.shared import steps_back
from plimsoll.ingest.shared.clock import to_utc
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Times
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remarks
from plimsoll.model.times import Zone


def zone_of(path: Path, tables: Sequence[SectionTable], given: Zone | None, remarks: Remarks) -> Zone:
    """UTC if all times are in UTC, else the zone that was given. An unknown one is remarked.

    Raises:
        Unusable: If some times are in UTC and the others in an unknown zone.
    """
    local = [int(table.lines[table.local][0]) for table in tables if table.local.any()]
    in_utc = [int(table.lines[~table.local][0]) for table in tables if not table.local.all()]
    if not local:
        return Zone("UTC", UTC)
    if given is not None:
        return given
    if in_utc:
        raise Unusable(
            f"{path}:{min(local)}: this time does not say its zone while that in line {min(in_utc)} is UTC; "
            f"name the zone with {Parameter.ZONE}, or write the file with one call of sadf -d FILE -- -A"
        )
    named = next((table.zone for table in tables if table.zone), None)
    what = f'have the zone "{named}", a name that does not fix an offset' if named else "do not say their zone"
    remarks.add(
        Kind.GUESSED, f"the times {what} (sadf -t or -T): they are the log's own clock's; name it with {Parameter.ZONE}"
    )
    return Zone.unknown()


def instants_of(table: SectionTable, zone: Zone, remarks: Remarks) -> Times:
    """The time of each row in UTC. Changes of the clock are remarked once for all sections."""
    if not table.local.any():
        return table.stamps
    instants = table.stamps.copy()
    at = np.flatnonzero(table.local)
    # A section has a row per instance, so look at the clock once per time.
    first = np.flatnonzero(np.diff(table.stamps[at], prepend=-1))
    own = Remarks(remarks.file)
    lines = table.lines[at[first]]
    # With an unknown zone, another file begins where the header is repeated and no restart is the reason.
    joined = table.is_after_header[at[first]] & ~table.is_after_restart[at[first]] & (not zone.known)
    moments = to_utc(table.stamps[at[first]], zone, lines.tolist(), own, lines[joined].tolist())
    instants[at] = np.repeat(moments, np.diff(first, append=len(at)))
    remarked = {remark.text for remark in remarks}
    remarks.items += [remark for remark in own if remark.text not in remarked]
    return instants


def remark_steps_back(tables: Sequence[SectionTable], instants: Sequence[Times], remarks: Remarks) -> None:
    """Remark where rows are earlier than those before and why: joined files, a restart or the clock."""
    steps_back.tell(_steps_back(tables, instants), remarks)


def _steps_back(tables: Sequence[SectionTable], instants: Sequence[Times]) -> Iterator[tuple[str, int, int]]:
    """The reason, line and size (ns) of each step, once for all sections."""
    ends: set[int] = set()
    for table, moments in zip(tables, instants, strict=True):
        at = np.flatnonzero(np.diff(moments) < 0) + 1
        steps = list(zip(at.tolist(), moments[at - 1].tolist(), moments[at].tolist(), strict=True))
        for row, before, after in steps:
            # One end is enough, as a section may lack the row before a step or the row after it.
            if ends.isdisjoint((before, after)):
                yield _reason(table, row), int(table.lines[row]), before - after
        ends.update(end for _, *both in steps for end in both)


def _reason(table: SectionTable, row: int) -> str:
    if not table.is_after_header[row]:
        return steps_back.CLOCK
    return steps_back.RESTARTED if table.is_after_restart[row] else steps_back.JOINED
