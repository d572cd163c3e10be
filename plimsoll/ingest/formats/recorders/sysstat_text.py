"""Reads the output of sysstat's iostat, mpstat and pidstat, with a time for each report.

Averages since boot are left out: iostat's first report, and reports of mpstat or pidstat whose rows have the header's
time, as these programs write when called without an interval.
"""

import re
from datetime import UTC, date, datetime, timedelta

from plimsoll.ingest.formats.recorders.recording import HostRecording
from plimsoll.ingest.formats.sadf.dates import make_time, parse_day
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind
from plimsoll.model.times import convert_to_instant

NAME = "sysstat-text"
_BANNER = re.compile(r"Linux (\S+) \((.+?)\)[ \t]+(\S+)[ \t]+_(\w+)_(?:[ \t]+\((\d+) )?")
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?: ([AP]M))?[ \t]+(?=\S)")
_MOMENT = re.compile(r"(\d\S+?)[T ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?: ([AP]M))?([+-]\d{4})?\s*")
_HEADERS = re.compile(
    r"^(?:avg-cpu: +%user|Device:? .*(?:tps|r/s)|(?:\d\d:\d\d:\d\d(?: [AP]M)? +)?CPU .*%iowait +%irq|"
    r"(?:# *Time|\d\d:\d\d:\d\d(?: [AP]M)?) +.*\bT?G?PID\b)",
    re.MULTILINE,
)
_ADVICE = "record it again with: iostat -txk 15, mpstat -P ALL 15 or pidstat -ur 15, or as JSON with -o JSON"
_SINCE_BOOT = "the first report is an average since the host started: left out"


def sniff(text: Text) -> bool:
    """Return whether the first line is sysstat's, and a table of iostat, mpstat or pidstat follows."""
    start = text.first_line[1]
    head = text.data[start : start + 8192].decode("utf-8", errors="replace")
    return _BANNER.match(head) is not None and _HEADERS.search(head) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return all reports as one log. Raise Unusable if reports have no time, or if all are averages since boot."""
    reports = _Reports(text)
    for number, line in reports.recording.lines():
        reports.take(line, number)
    return reports.recording.log(options, _ADVICE)


class _Reports:
    """The reports read so far, and the column names in the last header."""

    def __init__(self, text: Text) -> None:
        self.recording = HostRecording(text, "sysstat")
        self._text = text
        self._day = date.min
        self._before: datetime | None = None
        self._header_clock = ""
        self._columns: list[str] = []
        self._is_since_boot = False

    def take(self, line: str, number: int) -> None:
        """Read one line: sysstat's first line with the host, a time, a header or a row."""
        if banner := _BANNER.match(line):
            self._begin_file(banner, number)
            return
        if moment := _MOMENT.fullmatch(line):
            self._begin_report(moment, number)
            return
        clock = _CLOCK.match(line)
        cells = line[clock.end() if clock else 0 :].split()
        if not cells or cells[0].startswith("Average"):
            self._columns = self._columns if cells else []
        elif cells[0] == "#" or _is_header(cells):
            self._columns = [cell.strip("%:") for cell in cells if cell not in ("#", "avg-cpu:")]
            self._header_clock = clock[0].strip() if clock else ""
        elif self._columns:
            self._add(cells, clock, number)

    def _begin_file(self, banner: re.Match[str], number: int) -> None:
        self._day = parse_day(self._text, banner[3], number, self.recording.remarks)
        self._before, self._is_since_boot, self._columns = None, True, []
        self.recording.host = banner[2]
        self.recording.set_processors(int(banner[5] or 0))

    def _begin_report(self, moment: re.Match[str], number: int) -> None:
        """Begin a report of iostat at its date and time."""
        self._columns = []
        if self._is_since_boot and self._before is not None:
            self._is_since_boot = False
        self._day = parse_day(self._text, moment[1], number, self.recording.remarks, self._day)
        self._before = datetime.combine(self._day, make_time(*moment.group(2, 3, 4, 5)))
        if self._is_since_boot:
            self.recording.remarks.add(Kind.NOTED, _SINCE_BOOT, line=number)
        else:
            self.recording.begin(convert_to_instant(self._before.replace(tzinfo=UTC)), number)

    def _add(self, cells: list[str], clock: re.Match[str] | None, number: int) -> None:
        columns = self._columns
        if columns[0] == "Time":
            columns, clock, cells = columns[1:], _CLOCK.match(f"{cells[0]} x") or clock, cells[not clock :]
        table = "task" if "PID" in columns or "TGID" in columns else "cpu" if "idle" in columns else "disk"
        if table == "task":
            cells = [*cells[: len(columns) - 1], " ".join(cells[len(columns) - 1 :])]
        if len(cells) != len(columns):
            self.recording.leave_out(number)
            return
        if clock is not None and not self._begin_clock(clock, number):
            return
        if clock is None and (self._before is None or table == "task"):
            raise Unusable(f"{self._text.path}:{number}: the reports have no times; {_ADVICE}")
        if clock is None and self._is_since_boot:
            return
        row = dict(zip(columns, cells, strict=True))
        instance = row.get("CPU", "all") if table == "cpu" else row.get("Device", "")
        if table == "task":
            instance = f"{row.get('Command', '')}:{row.get('PID') or row.get('TGID')}"
            table = "" if row.get("TID", "-") != "-" else table
        if table == "cpu" and "NODE" in row:
            return
        self.recording.put(table, instance, row.items())

    def _begin_clock(self, clock: re.Match[str], number: int) -> bool:
        """Begin a sample at a row's time of day, unless begun already. Return False for an average since boot."""
        if clock[0].strip() == self._header_clock:
            self.recording.remarks.add_once(Kind.NOTED, _SINCE_BOOT, line=number)
            return False
        moment = datetime.combine(self._day, make_time(*clock.groups()))
        if self._before is not None and moment < self._before - timedelta(hours=12):
            self._day += timedelta(days=1)
            moment += timedelta(days=1)
        if moment != self._before:
            self.recording.begin(convert_to_instant(moment.replace(tzinfo=UTC)), number)
        self._before = moment
        return True


def _is_header(cells: list[str]) -> bool:
    return cells[0] in ("avg-cpu:", "Device", "Device:", "CPU", "NODE", "UID", "PID", "CORE", "SOCK")
