"""Lines that are not read: their remarks, and the refusals of files in which nothing else is left."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.ingest.formats.sadf.sections import Section
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import Kind, Remarks, counted, short

_MOST_REMARKS = 20
_MOST_LEFT_OUT = 0.1  # of the rows of a section
AGAIN = "write the file again with sadf -d FILE -- -A"
_WITHOUT_H = "write the file without -h: sadf -d FILE -- -A"
HEADER_NAMES = r"hostname\W{1,9}interval\W{1,9}timestamp"  # also of a header that was edited


@dataclass
class Unfit:
    """Rows that do not fit their header: the line and cells of the first, and how many there are.

    `fitting` counts rows of the same sections that fit and are left out all the same, `kept` those that are read.
    """

    sections: Sequence[Section]
    line: int
    cells: int
    count: int = 0
    fitting: int = 0
    kept: int = 0


@dataclass
class Skipped:
    """The lines that are not read.

    `events` are restarts and comments by text and time, with their line; `not_rows` lines that are no rows or have
    no header; `unfit` rows by their header; `damaged` the first line that may have been a header.
    """

    path: Path
    events: dict[tuple[str, str], int] = field(default_factory=dict)
    not_rows: list[int] = field(default_factory=list)
    unfit: dict[str, Unfit] = field(default_factory=dict)
    damaged: int | None = None

    def add_unfit(self, header: str, sections: Sequence[Section], line: int, cells: int) -> None:
        """Count a row that does not fit its header."""
        self.unfit.setdefault(header, Unfit(sections, line, cells)).count += 1

    def remark(self, remarks: Remarks, rows: int) -> None:
        """Remark all lines but those of unread sections, whose headers are remarked already. `rows` are read."""
        for (text, _), number in list(self.events.items())[:_MOST_REMARKS]:
            remarks.add(Kind.NOTED, text, line=number)
        if (more := len(self.events) - _MOST_REMARKS) > 0:
            remarks.add(Kind.NOTED, f"{counted(more, 'more restart or comment')}", count=more)
        if self.not_rows:
            count = len(self.not_rows)
            told = f"{counted(count, 'line')} left out: not a row, or the header before it is damaged"
            kind = Kind.UNREAD if count > _MOST_LEFT_OUT * (count + rows) else Kind.SKIPPED
            remarks.add(kind, told, line=self.not_rows[0], count=count)
        for header, unfit in self.unfit.items():
            told = f"{counted(unfit.count, 'row')} with {unfit.cells} cells under a header of {_cells(header)} left out"
            if unfit.fitting:
                told += f", and the {counted(unfit.fitting, 'other row')} of the section, which may fit by chance"
            count = unfit.count + unfit.fitting
            # A threshold may have been crossed in them: the run is not known to be healthy.
            kind = Kind.UNREAD if count > _MOST_LEFT_OUT * (count + unfit.kept) else Kind.SKIPPED
            remarks.add(kind, told, line=unfit.line, count=count)

    def refuse(self) -> None:
        """Raise Unusable with the reason why no rows are left, where that is known."""
        if self.unfit:
            header, unfit = next(iter(self.unfit.items()))
            raise Unusable(
                f"{self.path}:{unfit.line}: the row has {unfit.cells} cells, its header {_cells(header)}; {AGAIN}"
            )
        if self.damaged is not None:
            raise Unusable(
                f"{self.path}:{self.damaged}: the line is neither a header nor a row of sadf, and no other rows can be "
                f"read; {AGAIN}"
            )


def edited(path: Path, line: int, header: str) -> Unusable:
    """The refusal of a header that a person or program has edited."""
    return Unusable(
        f'{path}:{line}: the header is not as sadf writes it: "{short(header.strip())}"; the file was edited or '
        f"converted; {AGAIN}"
    )


def unknown_section(path: Path, line: int, section: Section) -> Unusable:
    """The refusal of a header of `sadf -h` with an unknown section."""
    return Unusable(
        f'{path}:{line}: the section "{short(str(section), 80)}" is not known, so a row cannot be split into sections; '
        f"{_WITHOUT_H}"
    )


def ambiguous(path: Path, line: int) -> Unusable:
    """The refusal of a row of `sadf -h` that can be split in more than one way."""
    return Unusable(f"{path}:{line}: the row can be split into sections in more than one way; {_WITHOUT_H}")


def _cells(header: str) -> int:
    return header.count(";") + 1
