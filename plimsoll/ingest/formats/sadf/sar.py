"""Reads the output of sysstat's `sar` on Linux: tables with repeated headers, and the time of day before each row.

Each line is rewritten as `sadf -t -d` writes it, and the result is read as the output of sadf.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta

from plimsoll.ingest.formats import sadf
from plimsoll.ingest.formats.sadf.dates import parse_day
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.log import Log
from plimsoll.model.remark import Remarks

NAME = "sar"
_BANNER = re.compile(rb"Linux (\S+) \((.+?)\)[ \t]+(\S+)[ \t]+_(\w+)_")
_ROW = re.compile(r"(\d{1,2}):(\d\d):(\d\d)(?: ([AP]M))?\s+(.*\S)")
_RESTART = re.compile(r"LINUX[ -]RESTART\s*(.*)")
_FIELD = re.compile(r"%?[A-Za-z][\w%/.-]*\Z")
# Columns of instances, which sadf writes first and sar last.
_LAST = ("FILESYSTEM", "MOUNTPOINT", "DEVICE", "DEV", "IFACE", "FCHOST")
_UNREAD = ("BUS", "DEVICE", "BAT")  # sensors, USB devices and batteries
_DAY = timedelta(days=1)


def sniff(text: Text) -> bool:
    """Return whether the first line is sysstat's, and the first line with a time is a table's header or a restart."""
    if not _BANNER.match(text.header):
        return False
    head = text.data[:8192].decode("utf-8", errors="replace").splitlines()
    rows = [match[5] for line in head if (match := _ROW.match(line))]
    return bool(rows) and (_RESTART.match(rows[0]) is not None or _is_header(rows[0].split()))


def read(text: Text, options: ReadOptions) -> Log:
    """Return all tables as one log. Raise Unusable if the first line has no date, or for the reasons of `sadf.read`."""
    remarks = Remarks(str(text.path))
    lines = "\n".join(_Rewriter(text, remarks).lines())
    log = sadf.read(replace(text, data=lines.encode(), encoding="utf-8"), options)
    return replace(log, format=NAME, remarks=(*remarks, *log.remarks))


@dataclass
class _Rewriter:
    """Converts each line of sar to one line of sadf, so that line numbers stay the same."""

    text: Text
    remarks: Remarks
    host: str = ""
    day: date = date.min
    columns: list[str] = field(default_factory=list[str])
    is_rotated: bool = False
    before: datetime | None = None
    interval: int = 0

    def lines(self) -> Iterator[str]:
        """Yield a line of sadf for each line of sar; empty if sadf has no such line."""
        for number, line in enumerate(self.text.data[:].decode("utf-8", errors="replace").split("\n"), 1):
            if banner := _BANNER.match(line.encode()):
                self._begin(banner[2].decode(), banner[3].decode(errors="replace"), number)
                yield ""
            elif row := _ROW.match(line):
                hour, minute, second, half, rest = row.groups()
                hours = int(hour) if half is None else int(hour) % 12 + 12 * (half == "PM")
                yield self._rewrite_line((hours, int(minute), int(second)), rest)
            else:
                yield ""  # blank, or the averages at the end, which begin with a word

    def _begin(self, host: str, day: str, number: int) -> None:
        """Set the host and the date from sysstat's first line."""
        self.host, self.before = host, None
        self.day = parse_day(self.text, day, number, self.remarks)
        self.columns = []

    def _rewrite_line(self, clock: tuple[int, int, int], rest: str) -> str:
        """Return the line of sadf for a line of sar with a time; empty if the line belongs to no table."""
        cells = rest.split()
        if restart := _RESTART.match(rest):
            return f"{self.host};-1;{self._find_moment(clock)};LINUX-RESTART\t{restart[1]}"
        if _is_header(cells):
            return self._rewrite_header(cells)
        if not self.columns:
            return ""
        moment = self._find_moment(clock)
        if self.is_rotated:
            # A mount point may contain blanks.
            width = len(self.columns) - 1
            cells = [" ".join(cells[width:]), *cells[:width]]
        if (self.columns[0], cells[0]) in (("CPU", "all"), ("INTR", "sum")) and "CPU0" not in self.columns:
            cells[0] = "-1"
        return ";".join((self.host, str(self.interval), str(moment), *cells))

    def _rewrite_header(self, cells: list[str]) -> str:
        if cells[-1] in _UNREAD or cells[0] in _UNREAD:
            self.columns = []
            return ""
        self.is_rotated = cells[-1] in _LAST
        columns = [cells[-1], *cells[:-1]] if self.is_rotated else cells
        if columns != self.columns:
            self.columns, self.before, self.interval = columns, None, 0
        shown = [columns[0], "CPU*"] if columns[0] == "INTR" and "CPU0" in columns else columns
        return f"# hostname;interval;timestamp;{';'.join(shown)}"

    def _find_moment(self, clock: tuple[int, int, int]) -> datetime:
        """Return the date and time of a row; after midnight within a table, the date is the next day."""
        moment = datetime.combine(self.day, time(*clock))
        if self.before is not None:
            moment = datetime.combine(self.before.date(), moment.time())
            if moment < self.before - _DAY / 2:
                moment += _DAY
            if moment != self.before:
                self.interval = max(round((moment - self.before).total_seconds()), 0)
        self.before = moment
        return moment


def _is_header(cells: list[str]) -> bool:
    """Return whether all cells are names of columns, not numbers."""
    return len(cells) > 1 and all(_FIELD.match(cell) for cell in cells)
