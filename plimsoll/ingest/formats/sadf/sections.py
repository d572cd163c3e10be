"""The sections of `sadf -d`, and the series that Telegraf's `inputs.sysstat` makes of them.

Telegraf reads `sadf -p` and stores each option of sar in a measurement of its sample configuration (`-u` as `cpu_util`,
`-P ALL` as `per_cpu`, `-d` as `disk`, `-n ALL` as `network`). For power, filesystems, terminals and pressure, which
Telegraf does not name, the names are Plimsoll's own. Two more names differ, where Telegraf uses one name for two
quantities: all processors together are only in `cpu_util`, single processors only in `per_cpu`; and the NFS client is
`network_nfs`, as its `retrans/s` is not TCP's.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.remark import Kind, Remarks, format_count
from plimsoll.model.series import Series
from plimsoll.model.shipped_tables import load_shipped_table

_MOST_REMARKS = 20
_MOST_LEFT_OUT = 0.1  # of the rows of a section
AGAIN = "write the file again with sadf -d FILE -- -A"
HEADER_NAMES = r"hostname\W{1,9}interval\W{1,9}timestamp"  # edited headers too


@dataclass(frozen=True)
class SadfSection:
    """A kind of section: the name of its instance column (None if it has no instances), and its value columns."""

    label: str | None
    fields: tuple[str, ...]

    @property
    def width(self) -> int:
        """The number of cells after the time in a row; not used if there is a column for each processor."""
        return len(self.fields) + (self.label is not None)

    @property
    def is_per_cpu(self) -> bool:
        """Whether a row has a value for each processor, as rows of interrupts in sysstat 12.6 and later."""
        return self.fields == (EACH_CPU,)

    def __str__(self) -> str:
        return ";".join(([self.label] if self.label else []) + list(self.fields))


@dataclass
class Unfit:
    """Rows that do not fit their header: the first row's line and number of cells, and the number of the rows.

    `fitting` counts rows of the section that fit but are left out as well; `kept` counts the rows that are read.
    """

    section: SadfSection
    line: int
    cells: int
    count: int = 0
    fitting: int = 0
    kept: int = 0


@dataclass
class Skipped:
    """The lines that are not read.

    `events` has the lines of restarts and comments by text and time; `not_rows` the lines that are not rows or have no
    header; `unfit` rows by their header; `damaged` the first line that may have been a header.
    """

    path: Path
    events: dict[tuple[str, str], int] = field(default_factory=dict)
    not_rows: list[int] = field(default_factory=list)
    unfit: dict[str, Unfit] = field(default_factory=dict)
    damaged: int | None = None

    def remark(self, remarks: Remarks, rows: int) -> None:
        """Add remarks on the skipped lines. `rows` is the number of rows read."""
        for (text, _), number in list(self.events.items())[:_MOST_REMARKS]:
            remarks.add(Kind.NOTED, text, line=number)
        if (value := len(self.events) - _MOST_REMARKS) > 0:
            remarks.add(Kind.NOTED, f"{format_count(value, 'more restart or comment')}", count=value)
        if self.not_rows:
            count = len(self.not_rows)
            name = f"{format_count(count, 'line')} left out: not a row, or the header before it is damaged"
            kind = Kind.CUT if count > _MOST_LEFT_OUT * (count + rows) else Kind.SKIPPED
            remarks.add(kind, name, line=self.not_rows[0], count=count)
        for header, unfit in self.unfit.items():
            name = (
                f"{format_count(unfit.count, 'row')} with {unfit.cells} cells under a header of "
                f"{_count_cells(header)} left out"
            )
            if unfit.fitting:
                name += f", and the {format_count(unfit.fitting, 'other row')} of the section, which may fit by chance"
            count = unfit.count + unfit.fitting
            # A threshold may have been crossed in them, so the run is not known to be healthy.
            kind = Kind.CUT if count > _MOST_LEFT_OUT * (count + unfit.kept) else Kind.SKIPPED
            remarks.add(kind, name, line=unfit.line, count=count)

    def refuse(self) -> None:
        """Raise Unusable with the reason why no rows are left, if it is known."""
        if self.unfit:
            header, unfit = next(iter(self.unfit.items()))
            raise Unusable(
                f"{self.path}:{unfit.line}: the row has {unfit.cells} cells, its header {_count_cells(header)}; {AGAIN}"
            )
        if self.damaged is not None:
            raise Unusable(
                f"{self.path}:{self.damaged}: the line is neither a header nor a row of sadf, and no other rows can be "
                f"read; {AGAIN}"
            )


COMMON = 3  # host, interval and time come before the values
MANY = "[...]"  # with -h, behind the last column of a section with several instances
EACH_CPU = "CPU*"
_FIELD = {"%": "pct_", "/": "_per_"}
_LABEL = re.compile(r"[A-Z]{2,}")


def find_section(columns: Sequence[str]) -> SadfSection:
    """Return the section with these columns, which follow host, interval and time in a header."""
    label = columns[0] if columns and _LABEL.fullmatch(columns[0]) else None
    return SadfSection(label, tuple(columns[1:] if label else columns))


def is_horizontal(columns: Sequence[str]) -> bool:
    """Return whether a header has the columns of all sections in one line, as written by `sadf -h`."""
    plain, labels = _map_measurements("plain"), {"CPU", *_map_measurements("labelled")}
    begun = {
        plain.get(name, name)
        for before, name in pairwise(["", *columns])
        if name in labels or (name in plain and before not in labels)
    }
    return len(begun) > 1 or any(column.endswith(MANY) for column in columns)


def find_measurement(section: SadfSection) -> str | None:
    """Return the measurement of a section, such as `cpu_util`; None if the section is not read."""
    if not section.fields:
        return None
    if section.label is None:
        return _map_measurements("plain").get(section.fields[0])
    if section.label == "CPU":
        return _map_measurements("processors").get(section.fields[0])
    return _map_measurements("labelled").get(section.label)


@cache
def _map_measurements(kind: str) -> Mapping[str, str]:
    """Return the measurements of `plain`, `labelled` or `processors` sections, by a section's identifying column."""
    table = load_shipped_table("plimsoll.ingest.formats.sadf", "sections.yaml", dict[str, dict[str, list[str]]])
    return {column: name for name, columns in table[kind].items() for column in columns}


def name_device(section: SadfSection, cell: str) -> str:
    """Return an instance's name as `sadf -p` and Telegraf write it: `cpu0`, where `sadf -d` has 0."""
    number = cell.isdecimal()
    match section.label:
        case "CPU":
            return "all" if cell == "-1" else f"cpu{cell}" if number else cell
        case "INTR" if not section.is_per_cpu:
            return "sum" if cell == "-1" else f"i{int(cell):03d}" if number else cell
        case "TTY":
            return f"ttyS{cell}" if number else cell
        case _:
            return cell


def make_series(host: str, section: SadfSection, instance: str | None, field: str) -> Series:
    """Return the series of one field and instance of a section."""
    name = find_measurement(section) or ""
    if name == "cpu_util" and instance != "all":
        name = "per_cpu"
    tags = () if instance is None else (("device", instance),)
    telegraf = field
    for sign, word in _FIELD.items():
        telegraf = telegraf.replace(sign, word)
    shown = name if instance is None else f"{name}({instance})"
    return Series(host, name, tags, telegraf, f"sadf {shown} {field}")


def _count_cells(header: str) -> int:
    return header.count(";") + 1
