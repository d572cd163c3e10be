"""Reads the output of `atop -P`: lines that begin with a label, the host and the time since 1970.

The sample after a line RESET covers the time since boot, and is left out. A line SEP ends a sample.
"""

import re

from plimsoll.ingest.formats.recorders.recording import HostRecording, number
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import RESTARTED, Kind
from plimsoll.model.times import SECOND

NAME = "atop"
_LINE = re.compile(r"([A-Za-z]{3}) (\S+) (\d{9,11}) \d{4}/\d\d/\d\d \d\d:\d\d:\d\d (\d+) (.*)")
# The columns in the order of a line; those before the first `-` are the instance's.
_SHARES = "hz instance sys user nice idle wait irq softirq steal"
_COLUMNS = {
    "CPU": _SHARES.replace("instance", "count"),
    "cpu": _SHARES,
    "CPL": "count load1 load5 load15 switches interrupts",
    "MEM": "page total free cache buffers",
    "PAG": "page scans stalls future swapins swapouts",
    "PSI": "present cs10 cs60 cs300 cs ms10 ms60 ms300 ms mf10 mf60 mf300 mf is10 is60 is300 is if10 if60 if300 if",
    "DSK": "instance ms reads read_sectors writes write_sectors",
    "NET": "instance received received_bytes sent sent_bytes",
}
_ORDERS = {label: columns.split() for label, columns in _COLUMNS.items()}
_ADVICE = "write it again with: atop -r FILE -P CPU,cpu,CPL,MEM,PAG,PSI,DSK,NET"


def sniff(text: Text) -> bool:
    """Return whether the first line, after lines RESET and SEP, begins with a label, a host and a time."""
    head = text.data[:4096].decode("utf-8", errors="replace").splitlines()
    lines = [line for line in head if line not in ("RESET", "SEP", "")]
    return bool(lines) and _LINE.match(lines[0]) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return the samples as one log. Raise Unusable if there are several hosts, or if all samples are since boot."""
    recording = HostRecording(text, NAME)
    before, is_since_boot = "", False
    for line_number, line in recording.lines():
        match = _LINE.fullmatch(line)
        if match is None:
            if line == "RESET":
                is_since_boot = True
                begun = f"{RESTARTED}: the next sample" if before else "the first sample"
                recording.remarks.add(Kind.NOTED, f"{begun} is since boot: left out", line=line_number)
            elif line == "SEP":
                is_since_boot = False
            elif line.strip():
                recording.leave_out(line_number)
            continue
        label, host, stamp, seconds, rest = match.groups()
        if is_since_boot:
            continue
        if before and host != recording.host:
            raise Unusable(f"{text.path}:{line_number}: rows of host {host} after rows of {recording.host}; split them")
        if stamp != before:
            recording.begin(int(stamp) * SECOND, line_number, float(seconds))
        recording.host, before = host, stamp
        _put(recording, label, rest.split(" "))
    return recording.log(options, _ADVICE, in_utc=True)


def _put(recording: HostRecording, label: str, cells: list[str]) -> None:
    values = dict(zip(_ORDERS.get(label, ()), cells, strict=False))
    if label in ("CPU", "CPL") and values["count"].isdecimal():
        recording.set_processors(int(values["count"]))
    if label == "PSI" and values.get("present") != "y":
        return
    scale = (number(values.get("page", "")) or 1024) / 1024 if label == "MEM" else 1
    cells_of = [(name, value) for name, value in values.items() if name not in ("page", "count", "hz", "instance")]
    scaled = [(name, (number(value) or 0) * scale if scale != 1 else value) for name, value in cells_of]
    recording.put(label, values.get("instance", ""), scaled)
