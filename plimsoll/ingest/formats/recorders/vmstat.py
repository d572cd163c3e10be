"""Reads the output of `vmstat -t`. The first row of values is an average since boot, and left out."""

import re
from dataclasses import replace
from datetime import UTC

from plimsoll.ingest.formats.recorders.recording import HostRecording
from plimsoll.ingest.formats.sadf.dates import parse_moment
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind
from plimsoll.model.times import Zone, convert_to_instant

NAME = "vmstat"
_GROUPS = re.compile(rb"-*procs-* -+memory-+ ")
_TIME = re.compile(r"\s(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_ADVICE = "record it again with: vmstat -wt 15"
_MEMORY = ("free", "buff", "cache")
_FEWEST_ALIKE = 3  # rows; fewer may be equal by chance


def sniff(text: Text) -> bool:
    """Return whether the first line is vmstat's line of column groups (`procs ---memory---`)."""
    return _GROUPS.match(text.header) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return the rows as one log. Raise Unusable if the rows have no times."""
    recording = HostRecording(text, NAME)
    columns: list[str] = []
    rows: list[tuple[int, int, dict[str, str]]] = []
    zone = options.zone
    for number, line in recording.lines():
        cells = line.split()
        if not cells or _GROUPS.match(line.encode()):
            continue
        if cells[:2] == ["r", "b"]:
            columns, of_zone = cells, cells[-1]
            if of_zone in ("UTC", "GMT"):
                zone = zone or Zone.parse("UTC")
            continue
        moment = _TIME.search(line)
        if moment is None and columns and cells[0].isdecimal():
            raise Unusable(f"{text.path}:{number}: the rows have no times; {_ADVICE}")
        stamp = parse_moment(moment[1], "%Y-%m-%d %H:%M:%S") if moment else None
        if moment is None or stamp is None or len(cells) != len(columns) + 1:
            recording.leave_out(number)
            continue
        rows.append(
            (convert_to_instant(stamp.replace(tzinfo=UTC)), number, dict(zip(columns, cells[:-2], strict=False)))
        )
    _put(recording, rows)
    return recording.log(replace(options, zone=zone), _ADVICE)


def _put(recording: HostRecording, rows: list[tuple[int, int, dict[str, str]]]) -> None:
    """Add all rows but the first.

    Leave out memory if it is the same in all rows, as procps 4.0.2 repeats the memory of the first row.
    """
    memory = {tuple(row.get(name) for name in _MEMORY) for _, _, row in rows}
    is_stale = len(rows) >= _FEWEST_ALIKE and len(memory) == 1
    if is_stale:
        text = "free memory is that of the first row in all rows, as procps 4.0.2 repeats it: left out"
        recording.remarks.add(Kind.SKIPPED, text, count=len(rows))
    for at, (stamp, number, row) in enumerate(rows):
        if at == 0:
            text = "the first row is an average since the host started: left out"
            recording.remarks.add(Kind.NOTED, text, line=number)
            continue
        recording.begin(stamp, number)
        recording.put("cpu", "", row.items())
        recording.put("other", "", [cell for cell in row.items() if not (is_stale and cell[0] in _MEMORY)])
