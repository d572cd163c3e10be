"""Reads nmon's file for Linux (`nmon -f`): a header line for each section, and a line for each section and snapshot.

A line ZZZZ has the time of a snapshot. Files of nmon for AIX, which have other sections, are refused.
"""

import re

from plimsoll.ingest.formats.recorders.recording import HostRecording, wide_columns
from plimsoll.ingest.formats.sadf.dates import parsed
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.times import Zone, instant

NAME = "nmon"
_SNAPSHOT = re.compile(r"T\d{3,}")
_PROCESSOR = re.compile(r"CPU(\d{3,})")
_DISKS = re.compile(r"(DISK[A-Z]+?|JFSFILE)\d*")
_TIMES = ("%H:%M:%S,%d-%b-%Y", "%H:%M:%S,%d-%m-%Y", "%H.%M.%S,%d-%b-%Y")
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_ADVICE = "record it again with: nmon -f -s 15 -c 240"


def sniff(text: Text) -> bool:
    """Return whether the first line is a line AAA of nmon, with a fact about the recording."""
    return text.header.startswith(b"AAA,")


def read(text: Text, options: ReadOptions) -> Log:
    """Return the snapshots as one log. Raise Unusable for a file of AIX, or if it has no snapshot."""
    recording = HostRecording(text, NAME)
    headers: dict[str, list[str]] = {}
    begun = ""
    for number, line in recording.lines():
        name, _, rest = line.partition(",")
        cells = rest.split(",")
        if name == "AAA":
            _note(recording, cells, f"{text.path}:{number}")
        elif name == "ZZZZ":
            begun = cells[0]
            recording.begin(_stamp(rest, f"{text.path}:{number}"), number)
        elif not _SNAPSHOT.fullmatch(cells[0]):
            headers[name] = cells[1:]
        elif cells[0] == begun and (name in headers or name.startswith(("TOP", "UARG"))):
            _put(recording, name, headers.get(name, []), cells, number)
        elif line.strip():
            recording.leave_out(number)
    return recording.log(options, _ADVICE)


def _note(recording: HostRecording, cells: list[str], place: str) -> None:
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


def _stamp(rest: str, place: str) -> int:
    """Return the time in the cells of a line ZZZZ, `T0001,22:21:21,27-NOV-2026`: local time in ns as if it were UTC.

    `place` names the line in the error Unusable, raised if there is no time.
    """
    text = ",".join(rest.split(",")[1:3])
    for at, month in enumerate(_MONTHS, 1):  # in every locale
        text = text.replace(f"-{month}-", f"-{at:02}-")
    for form in _TIMES:
        if moment := parsed(text, form):
            return instant(moment.replace(tzinfo=Zone.parse("UTC").rule))
    raise Unusable(f'{place}: "{text}" is no time as nmon writes it (22:21:21,27-NOV-2026); put it right')


def _put(recording: HostRecording, name: str, header: list[str], cells: list[str], line: int) -> None:
    columns, values = [column.strip() for column in header], cells[1:]
    if len(values) > len(columns) and any(values[len(columns) :]):
        recording.leave_out(line)
    elif processor := _PROCESSOR.fullmatch(name):
        recording.put("CPU", str(int(processor[1]) - 1), zip(columns, values, strict=False))
    elif disks := _DISKS.fullmatch(name):  # with many disks DISKREAD1 and so on follow
        for disk, value in zip(columns, values, strict=False):
            recording.put(disks[1], disk, [("value", value)])
    elif name in ("NET", "NETPACKET"):
        for column, value in zip(wide_columns(NAME, columns), values, strict=False):
            if column is not None:
                recording.put(name, column[1], [(column[2], value)])
    elif name == "PROC" and cells[0] == "T0001":  # its rates are of no interval
        recording.put(name, "", list(zip(columns, values, strict=False))[:2])
    else:
        recording.put(name, "", zip(columns, values, strict=False))
