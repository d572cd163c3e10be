"""Counts the lines, rows and cells that are left out, with remarks; too many of them make the log unusable."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.ingest.formats.perfmon.header import TableLayout
from plimsoll.ingest.formats.perfmon.regular import Rows
from plimsoll.ingest.shared.same_time import LONGEST_HOLE, MOST_LEFT_OUT
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Times, Values, count_samples, find_sampling_interval
from plimsoll.model.remark import MAX_SHOWN, Kind, Remarks, format_count, format_more, shorten
from plimsoll.model.value_text import format_percent

_HOPELESS = 50
_SHORTEST = 4096  # bytes: less is no lost part, but a line or two that a program wrote


@dataclass
class _Strange:
    """The cells of one column that are not numbers: line and text of the first cell, and the number of the cells."""

    line: int
    text: str
    count: int = 0


class LeftOut:
    """Counts of the rows that were read, and of the lines, rows and cells that were left out.

    `lines` are lines that are not rows. `rows` are damaged rows, each with the text of the error that is raised if most
    rows are damaged. `rubble` are those of the lines that may stand in place of rows: number, length in bytes, and the
    text of the error that is raised if there is no row. `day_first` are lines, with their times, in which the day comes
    before the month.
    """

    def __init__(self, layout: TableLayout) -> None:
        self._layout = layout
        self._kept = 0
        self._present = 0
        self.lines: list[tuple[int, str]] = []
        self.rows: list[tuple[int, str, str]] = []
        self.rubble: list[tuple[int, int, str]] = []
        self.day_first: list[tuple[int, str]] = []
        self._strange: dict[int, _Strange] = {}

    @property
    def is_hopeless(self) -> bool:
        """Whether over 50 rows were left out before any row could be read."""
        return not self._kept and len(self.rows) > _HOPELESS

    def count(self, rows: Rows) -> None:
        """Count rows that were read."""
        self._kept += len(rows.local)
        self._present += sum(len(column) - column.null_count() for column in rows.numbers)

    def add_cell(self, column: int, number: int, text: str) -> None:
        """Save a cell that is not a number: its column, line number and text."""
        self._strange.setdefault(column, _Strange(number, text)).count += 1

    def tell(self, remarks: Remarks, size: int) -> None:
        """Add remarks on what was left out of a file of `size` bytes.

        Raise Unusable if more rows or cells were left out than read.
        """
        file = self._layout.file
        self.rows.sort()
        if len(self.rows) > self._kept or (self.rubble and not self._kept):
            number, _, refusal = (self.rows or self.rubble)[0]
            raise Unusable(f"{file}:{number}: {refusal}")
        if len(self.day_first) > 1:
            number, text = self.day_first[0]
            raise Unusable(
                f'{file}:{number}: "{text}" has the day before the month, and of other rows it cannot be told; '
                "export the log again with relog"
            )
        if (rubble := sum(length for _, length, _ in self.rubble)) > max(MOST_LEFT_OUT * size, _SHORTEST):
            lost = f"{format_percent(rubble / size)} of the file is no rows"
            remarks.add(Kind.CUT, f"{lost}: copy the log again; what was recorded there is lost")
        _tell_some(sorted(self.lines), "line", remarks)
        _tell_some([(number, reason) for number, reason, _ in self.rows], "row", remarks)
        count = sum(strange.count for strange in self._strange.values())
        if count > self._present:
            first = min(strange.line for strange in self._strange.values())
            raise Unusable(
                f"{file}:{first}: {count:,} cells from here on are not numbers and {self._present:,} are; Perfmon "
                "writes numbers with a decimal point: export the log again as it was recorded (relog, not a "
                "spreadsheet)"
            )
        for at, strange in sorted(self._strange.items()):
            name = f'"{shorten(strange.text)}" is not a number: no sample{format_more(strange.count)}'
            counter = self._layout.counters[at]
            remarks.add(Kind.SKIPPED, name, line=strange.line, counter=counter, count=strange.count)

    def unread(self, columns: Sequence[Values], local: Times, lines: Sequence[int]) -> list[int]:
        """Return the indices of columns that lack so many values that a crossed threshold may be hidden.

        These are all columns if over a tenth of the rows, or five minutes without a break, are left out; otherwise the
        columns in which over a tenth of the cells are not numbers. `local` and `lines` are the times and line numbers
        of the rows that were read.
        """
        if len(self.rows) > MOST_LEFT_OUT * (len(self.rows) + self._kept) or self._has_hole(local, lines):
            return list(range(len(columns)))
        return [
            at
            for at, strange in sorted(self._strange.items())
            if strange.count > MOST_LEFT_OUT * (strange.count + count_samples(columns[at]))
        ]

    def _has_hole(self, times: Times, lines: Sequence[int]) -> bool:
        """Return whether left-out rows are in a pause at least five minutes longer than the sampling interval.

        `times` and `lines` are the times and line numbers of the rows that were read.
        """
        interval = find_sampling_interval(np.sort(times)) if self.rows and len(times) > 1 else None
        if interval is None:
            return False
        behind = np.searchsorted(np.asarray(lines), [number for number, _, _ in self.rows])
        inside = behind[(behind > 0) & (behind < len(times))]
        return bool((times[inside] - times[inside - 1] >= interval + LONGEST_HOLE).any())


def _tell_some(reasons: list[tuple[int, str]], noun: str, remarks: Remarks) -> None:
    for at, reason in reasons[:MAX_SHOWN]:
        remarks.add(Kind.SKIPPED, reason, line=at)
    if (value := len(reasons) - MAX_SHOWN) > 0:
        remarks.add(Kind.SKIPPED, f"{format_count(value, f'more {noun}')} like these: left out", count=value)
