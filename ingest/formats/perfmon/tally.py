"""What is left out of a log's rows, gathered from all its pieces and told at the end."""

import re
from dataclasses import dataclass, field

from ingest.formats.perfmon.layout import Layout, Rows
from ingest.shared.shorten import short
from model.errors import Unusable
from model.remark import MAX_SHOWN, Kind, Remarks, and_more, counted

_TIME_AND_MORE = re.compile(r"\s*\d+[/.-]\d+[/.-]\d+[ T]+[\d:.]+\s*[^\d:.\s]")
HOPELESS = 50


@dataclass
class Strange:
    """Cells of one column that are no numbers: the first of them, and how many."""

    line: int
    said: str
    count: int = 0


@dataclass
class Tally:
    """Lines and cells that are not as they should be.

    `kept` counts the rows, `present` their numbers. Lines `between` rows belong there, and what they are is said; those
    of `words` are no rows. They and `uneven` lines have so many cells, all or the first of which are told,
    `timeless` ones begin with something else than a time, `zeroed` ones hold zero bytes, as where a disk has lost
    a block. `day_first` rows have the day before the month, `not_days` a time that does not exist. Of `partial`
    rows some cells are left out, and why is said. At `headers` the header stands again.
    """

    kept: int = 0
    present: int = 0
    between: list[tuple[int, str]] = field(default_factory=list)
    words: list[tuple[int, int, str]] = field(default_factory=list)
    uneven: list[tuple[int, int, str]] = field(default_factory=list)
    timeless: list[tuple[int, str]] = field(default_factory=list)
    zeroed: list[int] = field(default_factory=list)
    partial: list[tuple[int, str]] = field(default_factory=list)
    day_first: list[tuple[int, str]] = field(default_factory=list)
    not_days: list[tuple[int, str]] = field(default_factory=list)
    strange: dict[int, Strange] = field(default_factory=dict)
    headers: list[int] = field(default_factory=list)

    @property
    def faults(self) -> int:
        """How many lines and cells are noted."""
        lines = (
            self.between,
            self.words,
            self.uneven,
            self.timeless,
            self.zeroed,
            self.partial,
            self.day_first,
            self.not_days,
        )
        return sum(map(len, lines)) + sum(found.count for found in self.strange.values())

    def add_rows(self, rows: Rows) -> None:
        """Note rows, as they were read."""
        self.kept += len(rows.numbers)
        self.present += len(rows.numbers) * rows.numbers.width - sum(rows.numbers.null_count().row(0))

    def take(self, other: "Tally") -> None:
        """Add what was found in the next piece."""
        self.kept += other.kept
        self.present += other.present
        self.between += other.between
        self.words += other.words
        self.uneven += other.uneven
        self.timeless += other.timeless
        self.zeroed += other.zeroed
        self.partial += other.partial
        self.day_first += other.day_first
        self.not_days += other.not_days
        self.headers += other.headers
        for column, found in other.strange.items():
            self.add_strange(column, found.line, found.said, found.count)

    def add_strange(self, column: int, line: int, said: str, count: int = 1) -> None:
        """Note cells that are no numbers."""
        self.strange.setdefault(column, Strange(line, said)).count += count

    def tell(self, layout: Layout, remarks: Remarks) -> None:
        """Refuse what cannot be read for certain; remark each row and cell that is left out."""
        self._tell_lines(layout, remarks)
        self._tell_cells(layout, remarks)
        self._tell_days(layout, remarks)

    def _tell_lines(self, layout: Layout, remarks: Remarks) -> None:
        width = layout.width
        # Words among rows are no reason to doubt these.
        uneven = self.uneven if self.kept else sorted(self.words + self.uneven)
        if len(uneven) > self.kept + len(self.timeless):
            raise Unusable(_no_match(layout, *uneven[0]))
        if len(self.timeless) > self.kept:
            number, said = self.timeless[0]
            raise Unusable(_no_time(layout, number, said))
        if len(self.day_first) > 1:
            number, said = self.day_first[0]
            raise Unusable(
                f'{layout.file}:{number}: "{said}" has the day before the month, and of other rows it cannot be told; '
                "export the log again with relog"
            )
        _tell_some(sorted(self.between), "line", "left out", remarks)
        reasons = [(at, f'"{said}" is no row: left out') for at, _, said in self.words]
        reasons += [
            (at, f"the row has {counted(cells, 'cell')} where the header has {width}: left out")
            for at, cells, _ in self.uneven
        ]
        reasons += [(at, f'"{said}" is not a time: the row is left out') for at, said in self.timeless]
        reasons += [
            (at, "the row holds zero bytes: left out, as part of another row may follow them") for at in self.zeroed
        ]
        _tell_some(sorted(reasons), "row", "left out", remarks)
        _tell_some(sorted(self.partial), "row", "not read to their end", remarks)

    def _tell_cells(self, layout: Layout, remarks: Remarks) -> None:
        count = sum(found.count for found in self.strange.values())
        if count > self.present:
            first = min(found.line for found in self.strange.values())
            raise Unusable(
                f"{layout.file}:{first}: {count:,} cells from here on are not numbers and {self.present:,} are; "
                "Perfmon writes numbers with a decimal point: export the log again as it was recorded (relog, not "
                "a spreadsheet)"
            )
        for column, found in sorted(self.strange.items()):
            told = f'"{short(found.said)}" is not a number: no sample{and_more(found.count)}'
            remarks.add(Kind.SKIPPED, told, line=found.line, counter=layout.counters[column], count=found.count)

    def _tell_days(self, layout: Layout, remarks: Remarks) -> None:
        if 2 * len(self.not_days) > self.kept:
            number, said = self.not_days[0]
            raise Unusable(_no_time(layout, number, said))
        reasons = [(at, f'"{said}" is not a time: the row is left out') for at, said in self.not_days]
        _tell_some(reasons, "row", "left out", remarks)


def _tell_some(reasons: list[tuple[int, str]], noun: str, fate: str, remarks: Remarks) -> None:
    for at, reason in reasons[:MAX_SHOWN]:
        remarks.add(Kind.SKIPPED, reason, line=at)
    if (more := len(reasons) - MAX_SHOWN) > 0:
        remarks.add(Kind.SKIPPED, f"{counted(more, f'more {noun}')} like these: {fate}", count=more)


def _no_match(layout: Layout, number: int, cells: int, first: str) -> str:
    said = f"{layout.file}:{number}: the header has {counted(layout.width, 'cell')} but the row has {cells}"
    if _TIME_AND_MORE.match(first):
        return f'{said}, of which the first is "{first}": put the quotes right that are missing or too many there'
    return (
        f"{said}, so values cannot be told apart by their counter; record the log again, or mend the header or the rows"
    )


def _no_time(layout: Layout, number: int, said: str) -> str:
    return (
        f'{layout.file}:{number}: "{said}" is not a time as Perfmon writes it (MM/DD/YYYY HH:MM:SS.mmm); '
        "a spreadsheet may have cut it: export the log again with relog"
    )
