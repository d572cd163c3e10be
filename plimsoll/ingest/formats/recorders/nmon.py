"""Reads nmon's file for Linux (`nmon -f`): a header line for each section, and a line for each section and snapshot.

A line ZZZZ has the time of a snapshot. Files of nmon for AIX, which have other sections, are refused.
"""

import re
from functools import cache

from plimsoll.ingest.formats.recorders.recording import HostRecording, RecordedColumn, parse_wide_columns
from plimsoll.ingest.formats.recorders.row_batch import RowBatch
from plimsoll.ingest.formats.sadf.dates import parse_moment
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.times import SECOND, Zone, convert_to_instant

NAME = "nmon"
_SNAPSHOT = re.compile(r"T\d{3,}")
_PROCESSOR = re.compile(r"CPU(\d{3,})")
_DISKS = re.compile(r"(DISK[A-Z]+?|JFSFILE)\d*")
_CLOCK = re.compile(r"([01]?\d|2[0-3])[:.]([0-5]\d)[:.]([0-5]\d)")
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_ADVICE = "record it again with: nmon -f -s 15 -c 240"


def sniff(text: Text) -> bool:
    """Return whether the first line is a line AAA of nmon, with a fact about the recording."""
    return text.header.startswith(b"AAA,")


def read(text: Text, options: ReadOptions) -> Log:
    """Return the snapshots as one log. Raise Unusable for a file of AIX, or if it has no snapshot."""
    recording = HostRecording(text, NAME)
    headers: dict[str, list[str]] = {}
    sections: dict[str, RowBatch] = {}
    begun = ""
    for number, line in recording.lines():
        name, _, rest = line.partition(",")
        snapshot, _, row = rest.partition(",")
        if snapshot == begun and (name in sections or name in headers):
            if name not in sections:
                sections[name] = RowBatch(recording, _list_columns(recording, name, headers[name]))
            if name == "PROC" and begun == "T0001":
                row = ",".join(row.split(",")[:2])  # the others are rates over no interval
            sections[name].add(row, number)
        elif name == "AAA":
            _note_facts(recording, rest.split(","), f"{text.path}:{number}")
        elif name == "ZZZZ":
            begun = snapshot
            recording.begin(_parse_stamp(row, f"{text.path}:{number}"), number)
        elif not _SNAPSHOT.fullmatch(snapshot):
            headers[name] = [column.strip() for column in row.split(",")]
            if name in sections:
                sections.pop(name).parse()
        elif line.strip() and not (snapshot == begun and name.startswith(("TOP", "UARG"))):
            recording.leave_out(number)
    for section in sections.values():
        section.parse()
    return recording.log(options, _ADVICE)


def _note_facts(recording: HostRecording, cells: list[str], place: str) -> None:
    match cells:
        case ["AIX", *_]:
            raise Unusable(f"{place}: was written by nmon of AIX, whose sections are others; {_AIX}")
        case ["host", host, *_]:
            recording.host = host
        case ["cpus", count, *_] if count.isdecimal():
            recording.set_processors(int(count))
        case _:
            pass


_AIX = "record the host with Telegraf for AIX, or export its counters as a table with a time in each row"


def _parse_stamp(row: str, place: str) -> int:
    """Return the time in the cells of a line ZZZZ, `22:21:21,27-NOV-2026`: local time in ns as if it were UTC.

    Raise Unusable, naming `place`, if the cells have no time.
    """
    time, _, rest = row.partition(",")
    date = rest.partition(",")[0]
    clock, day = _CLOCK.fullmatch(time), _parse_day(date)
    if clock is None or day is None:
        raise Unusable(f'{place}: "{time},{date}" is no time as nmon writes it (22:21:21,27-NOV-2026); put it right')
    hour, minute, second = map(int, clock.groups())
    return day + (hour * 3600 + minute * 60 + second) * SECOND


@cache
def _parse_day(date: str) -> int | None:
    """Return the first moment of a day (ns), written `27-NOV-2026` in any locale; None for other text."""
    for at, month in enumerate(_MONTHS, 1):
        date = date.replace(f"-{month}-", f"-{at:02}-")
    for form in ("%d-%b-%Y", "%d-%m-%Y"):
        if moment := parse_moment(date, form):
            return convert_to_instant(moment.replace(tzinfo=Zone.parse("UTC").rule))
    return None


def _list_columns(recording: HostRecording, name: str, header: list[str]) -> list[RecordedColumn | None]:
    """Return, for each cell of a header, the column that gets the cells below it; None if they are not read."""
    if processor := _PROCESSOR.fullmatch(name):
        return [recording.column("CPU", str(int(processor[1]) - 1), column) for column in header]
    if disks := _DISKS.fullmatch(name):  # with many disks DISKREAD1 and so on follow
        return [recording.column(disks[1], disk, "value") for disk in header]
    if name in ("NET", "NETPACKET"):
        return [column and recording.column(name, *column[1:]) for column in parse_wide_columns(NAME, header)]
    return [recording.column(name, "", column) for column in header]
