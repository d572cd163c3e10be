"""Reads output with a row for each time, and column names that contain the table and the instance.

The recorders are collectl (`-P`), dool and dstat (`--output`), and PCP's `pmrep` (`-o csv`).
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from plimsoll.ingest.formats.recorders.recording import HostRecording, RecordedColumn, parse_wide_columns
from plimsoll.ingest.formats.recorders.row_batch import RowBatch
from plimsoll.ingest.formats.sadf.dates import parse_moment
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind
from plimsoll.model.times import Zone, convert_to_instant

_HEAD = 8192


@dataclass(frozen=True)
class WideFormat:
    """The wide format of a recorder: patterns of the file's start and of the header, and `strptime` forms of times.

    `since_boot` means that the first row after a header is an average since boot.
    """

    NAME: str
    begins: str
    header: str
    times: tuple[str, ...]
    advice: str
    since_boot: bool = False

    def sniff(self, text: Text) -> bool:
        """Return whether the file begins as the recorder's files do, with the header in its first 8 KB."""
        head = text.data[: text.first_line[1] + _HEAD].decode("utf-8", errors="replace")[text.first_line[1] :]
        return bool(re.match(self.begins, head) and re.search(self.header, head, re.MULTILINE))

    def read(self, text: Text, options: ReadOptions) -> Log:
        """Return the rows as one log. Raise Unusable if a time is damaged, or if no row is read."""
        reader = _WideRows(self, HostRecording(text, self.NAME))
        lines = text.data[:].decode("utf-8", errors="replace").splitlines()
        unended = text.data[-1:] != b"\n"
        for number, line in enumerate(lines, 1):
            reader.take(line, number, is_last=unended and number == len(lines))
        reader.batch.parse()
        if reader.zone is not None and options.zone is None:
            options = replace(options, zone=reader.zone)
        return reader.recording.log(options, self.advice, in_utc=reader.in_utc)


class _WideRows:
    """The rows of a file read so far, and the columns in the last header."""

    def __init__(self, form: WideFormat, recording: HostRecording) -> None:
        self.recording = recording
        self.zone: Zone | None = None
        self.in_utc = False
        self._form = form
        self.batch = RowBatch(recording, [])
        self._columns: list[RecordedColumn | None] = []
        self._groups: list[str] = []
        self._is_first = False
        self._year = 0
        self._before: datetime | None = None

    def take(self, line: str, number: int, *, is_last: bool) -> None:
        """Read one line: a header, a row, or a line before the rows. `is_last` marks a last line without line end."""
        if self._columns and line[:1] not in ("#", '"', "", "T"):
            self._add(line, number, is_last=is_last)
        elif re.match(self._form.header, line):
            names = self._split_cells(line.lstrip("#"))
            self._begin(names, number)
            self._groups = list(_fill_groups(names))  # dool's first of two lines may be alike
        else:
            self._note_facts(line)

    def _split_cells(self, line: str) -> list[str]:
        separator = self._find_separator(line)
        return line.split() if separator == " " else next(csv.reader([line], delimiter=separator), [])

    def _find_separator(self, line: str) -> str:
        if "," in line:
            return ","
        return " " if self._form.NAME == "collectl" else ";" if ";" in line else ","

    def _begin(self, names: list[str], number: int) -> None:
        if self._form.NAME == "dool":
            names = [_add_group(name, group) for name, group in zip(names, self._groups, strict=False)]
        self._columns = [name and self.recording.column(*name) for name in parse_wide_columns(self._form.NAME, names)]
        self.batch.parse()
        cells_of_time = 2 if self._form.NAME == "collectl" else 1
        self.batch = RowBatch(self.recording, self._columns[cells_of_time:])
        self._is_first = self._form.since_boot
        if self._before is not None:
            self.recording.headers.append(number)

    def _note_facts(self, line: str) -> None:
        """Save the host, time zone, processors, year or column groups that a line before the rows states."""
        if match := re.search(r'(?:^# Host: +|^"Host:",")(\w[\w.-]*)', line):
            self.recording.host = match[1]
        if match := re.search(r"^# Date: .*TZ: ([+-]\d\d)(\d\d)", line):
            self.zone = Zone.parse(f"{match[1]}:{match[2]}")
        if match := re.search(r"NumCPUs: (\d+)", line):
            self.recording.set_processors(int(match[1]))
        if match := re.search(r'"Date:","\d+ \w+ (\d{4})', line):
            self._year = int(match[1])
        self._groups = list(_fill_groups(self._split_cells(line))) if line.startswith('"') else []

    def _add(self, line: str, number: int, *, is_last: bool) -> None:
        """Read a row: its time, which may be in two cells, and the other cells later in one batch."""
        separator = self._find_separator(line)
        if separator == " " or '"' in line:
            line = separator.join(self._split_cells(line))
        width = line.count(separator) + 1
        time, _, rest = line.partition(separator)
        if self._form.NAME == "collectl":
            clock, _, rest = rest.partition(separator)
            time = f"{time} {clock}"
        moment = self._parse_moment(time)
        if moment is None or width > len(self._columns) or (width < len(self._columns) and not is_last):
            self.recording.leave_out(number)
            return
        if is_last:
            rest = rest.rpartition(separator)[0]
            text = "the row has no line end and may be cut short: its last cell is left out"
            self.recording.remarks.add(Kind.SKIPPED, text, line=number)
        self._before = moment
        if self._is_first:
            self._is_first = False
            text = "the first row after a header is an average since the host started: left out"
            self.recording.remarks.add_once(Kind.NOTED, text, line=number)
            return
        self.recording.begin(convert_to_instant(moment), number)
        self.batch.separator = separator
        self.batch.add(rest, number)

    def _parse_moment(self, cell: str) -> datetime | None:
        """Return the time in a row's first cell; None if the cell has no time.

        A time without a year is in the year that the file's header states.
        """
        if re.fullmatch(r"\d{10}(\.\d+)?", cell):
            self.in_utc = True
            return datetime.fromtimestamp(float(cell), UTC)
        for form in self._form.times:
            year = "" if "%Y" in form else f"{self._year or 2000} "
            moment = parse_moment(year + cell, form if "%Y" in form else f"%Y {form}")
            if moment is not None:
                return self._set_year(moment.replace(tzinfo=UTC), "%Y" in form)
        return None

    def _set_year(self, moment: datetime, has_year: bool) -> datetime:
        """Return a time with its own year (`has_year`), else with the file's year, which grows by 1 after December.

        Raise Unusable if neither the time nor the file states a year.
        """
        if has_year:
            return moment
        if not self._year:
            raise Unusable(f"{self.recording.text.path}: its times have no year, and no line says it; {_DOOL}")
        if self._before is not None and self._before - moment > timedelta(days=180):
            self._year += 1
            return moment.replace(year=self._year)
        return moment


def _fill_groups(cells: Sequence[str]) -> Iterator[str]:
    """Yield the group of each column; the header names a group over its first column only."""
    group = ""
    for cell in cells:
        group = cell or group
        yield group


def _add_group(name: str, group: str) -> str:
    """Return the name of dool's column with its group, as in `cpu0 usage:usr`."""
    return f"{group}:{name.rpartition(':')[2]}"


_DOOL = "record it again with dool -Tcdnmsl, its option output and an interval of 15"
COLLECTL = WideFormat(
    "collectl",
    r"waiting for |#{20,}|#Date[ ,;]Time[ ,;]|# Collectl",
    r"#Date[ ,;]Time[ ,;]",
    ("%Y%m%d %H:%M:%S", "%Y%m%d %H:%M:%S.%f"),
    "record it again with: collectl -scCdDmnNs -P -f FOLDER",
)
DOOL = WideFormat(
    "dool",
    r'"(pcp-)?(dool|[dD]stat) [\d.]+ CSV output"',
    r'"(time|epoch|date/time)",',
    ("%b-%d %H:%M:%S", "%d-%m %H:%M:%S", "%d-%b %H:%M:%S", "%Y-%m-%d %H:%M:%S"),
    _DOOL,
    since_boot=True,
)
PMREP = WideFormat(
    "pmrep",
    r"Time,",
    r'Time,"?[a-z]\w*\.[\w.]+',
    ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S"),
    "write it again with: pmrep -a ARCHIVE -o csv -f '%Y-%m-%d %H:%M:%S' METRIC...",
)
