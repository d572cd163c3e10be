"""Reads an archive of Performance Co-Pilot (LOGARCHIVE(5)) with PCP's own `pmrep`, where it is installed.

An archive is a metadata file (`.meta`), an index and one or more volumes (`.0`, `.1`); the first volume stands for
the archive.
"""

import re
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

from plimsoll.ingest.formats.recorders.recording import load_recorder
from plimsoll.ingest.formats.recorders.wide import PMREP
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import NoLog, Unusable
from plimsoll.model.log import Log
from plimsoll.model.times import Zone

NAME = "PCP-archive"
_LONGEST_S = 600
# Volumes and metadata may be packed, and pmrep unpacks them.
_NAME = re.compile(r"(?P<base>.+)\.(?:\d+|index|meta)(?:\.\w+)?")
_TIMES = "%Y-%m-%dT%H:%M:%S"
# For each version of the format (2 and 3) the offsets of volume and host in the label that begins each file.
_LABEL = {2: (20, 24, 64), 3: (24, 36, 256)}
_ADVICE = (
    "install it (the packages pcp and python3-pcp), or write the archive as CSV elsewhere: docs/formats.md has the "
    'command, under "Other recorders"'
)


def sniff(text: Text) -> bool:
    """Return whether the file begins as a file of a PCP archive of format version 2 or 3."""
    head = text.data[4:8]
    return head[:3] == b"P\x05&" and head[3] in _LABEL


def read(text: Text, options: ReadOptions) -> Log:
    """Return the log of an archive as `pmrep` prints it, with a row for each recorded time, in UTC.

    Raise NoLog for files other than the first volume, and Unusable if `pmrep` is missing or refuses the archive.
    """
    at, host_at, host_length = _LABEL[text.data[7]]
    (volume,) = struct.unpack(">i", text.data[at : at + 4])
    file = text.file or text.path
    match = _NAME.fullmatch(file.name)
    if match is None or not file.is_file():
        raise Unusable(
            f"{text.path}: is a file of a PCP archive; unpack all its files (.0, .index, .meta), name the .0"
        )
    base = file.with_name(match["base"])
    parts = {path.name.removeprefix(f"{base.name}.").split(".")[0] for path in base.parent.glob(f"{base.name}.*")}
    if not {"0", "meta"} <= parts:
        raise Unusable(
            f"{text.path}: is a part of a PCP archive whose other files (.0, .meta) are missing; copy them, too"
        )
    if volume:
        raise NoLog(f"{text.path}: is a part of the PCP archive that {base.name}.0 stands for")
    host = text.data[host_at : host_at + host_length].split(b"\0")[0]
    rows = Text(text.path, b"# Host: " + host + b"\n" + _print_archive(base))
    log = PMREP.read(rows, replace(options, zone=Zone.parse("UTC")))
    return replace(log, format=NAME)


def _print_archive(archive: Path) -> bytes:
    """Return the CSV that `pmrep` prints of the metrics that Plimsoll reads."""
    program = shutil.which("pmrep")
    if program is None:
        raise Unusable(
            f"{archive}: is an archive of PCP, which only its program pmrep reads, and it is not here; {_ADVICE}"
        )
    metrics = [f"{name}.{column}" for name, table in load_recorder("pmrep").tables.items() for column in table.columns]
    options = ["-a", str(archive.absolute()), "-u", "-5", "-I", "-Z", "UTC", "-o", "csv", "-f", _TIMES]
    try:
        process = subprocess.run([program, *options, *metrics], capture_output=True, timeout=_LONGEST_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unusable(f"{archive}: pmrep could not print this archive ({error}); {_ADVICE}") from None
    if process.returncode or not process.stdout.startswith(b"Time,"):
        message = process.stderr.decode(errors="replace").strip().rpartition("\n")[2] or "it printed nothing"
        raise Unusable(
            f"{archive}: pmrep could not print this archive of PCP ({message}); pmlogcheck says where it is damaged"
        )
    return process.stdout
