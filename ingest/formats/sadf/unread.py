"""What in a file of `sadf -d` is no row of a section that is read, and what is said of it: remarks and refusals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingest.formats.sadf.names import COMMON, Section
from model.errors import Unusable
from model.remark import Kind, Remarks, counted, short

_MOST_REMARKS = 20
_AGAIN = "write the file again with sadf -d FILE -- -A"
_WITHOUT_H = "write the file without -h: sadf -d FILE -- -A"


@dataclass
class Odd:
    """Rows that do not fit their header: the line and the cells of the first, and how many there are.

    `by_chance` counts rows that do fit it and are left out as well, since most do not.
    """

    sections: Sequence[Section]
    line: int
    cells: int
    count: int = 0
    by_chance: int = 0


@dataclass
class Unread:
    """What is not read, by the lines it stands on; of headers and events the first line counts.

    `events` are restarts and comments with their time, `without_series` the headers of sections that are left out.
    Where a header may be damaged or hidden, `suspect` is the first such line, and whether it may also be a row.
    """

    path: Path
    events: dict[tuple[str, str], int] = field(default_factory=dict)
    headless: list[int] = field(default_factory=list)
    commented: list[int] = field(default_factory=list)
    odd: dict[str, Odd] = field(default_factory=dict)
    without_series: dict[str, tuple[int, Sequence[Section]]] = field(default_factory=dict)
    suspect: tuple[int, bool] | None = None

    def tell(self, remarks: Remarks) -> None:
        """Remark all of it, but for sections without series: their headers were remarked."""
        for (text, _), number in list(self.events.items())[:_MOST_REMARKS]:
            remarks.add(Kind.NOTED, text, line=number)
        if (more := len(self.events) - _MOST_REMARKS) > 0:
            remarks.add(Kind.NOTED, f"{counted(more, 'more restart or comment')}", count=more)
        if self.headless:
            count, first = len(self.headless), self.headless[0]
            remarks.add(Kind.SKIPPED, f"{counted(count, 'line')} of no section: left out", line=first, count=count)
        if self.commented:
            count, first = len(self.commented), self.commented[0]
            told = f'{counted(count, "row")} behind a "#", as if commented out: left out'
            remarks.add(Kind.SKIPPED, told, line=first, count=count)
        for header, odd in self.odd.items():
            told = f"{counted(odd.count, 'row')} with {odd.cells} cells under a header of {_cells(header)}: left out"
            if odd.by_chance:
                told += f", and {counted(odd.by_chance, 'row')} of the section that had as many, as most did not"
            remarks.add(Kind.SKIPPED, told, line=odd.line, count=odd.count + odd.by_chance)

    def refuse(self) -> None:
        """Say why no rows are left, where that is known."""
        if self.odd:
            header, odd = next(iter(self.odd.items()))
            again = _AGAIN
            if _is_tty_that_repeats(odd):
                again = (
                    "some versions of sysstat write TTY so, and nothing else can be read; write other sections as "
                    "well: sadf -d FILE -- -A"
                )
            raise Unusable(
                f"{self.path}:{odd.line}: the row has {odd.cells} cells and does not fit its header of "
                f"{_cells(header)}; {again}"
            )
        if self.suspect is not None:
            line, may_be_row = self.suspect
            said, again = "the line may be or hide a damaged header", _AGAIN
            if may_be_row:
                said = "the line seems to be a row that is commented out, or a damaged header"
                again = f'take the "#" away from the rows that shall count, or {again}'
            raise Unusable(
                f"{self.path}:{line}: {said}, and without the rows from it to the next header none are left; {again}"
            )
        if self.without_series:
            line, _ = next(iter(self.without_series.values()))
            names = {
                section.label or section.fields[0]: None for _, each in self.without_series.values() for section in each
            }
            raise Unusable(
                f"{self.path}:{line}: holds no row of a known section of sadf, as {short(', '.join(names), 80)} are "
                "not read; write others as well: sadf -d FILE -- -A"
            )


def unknown(path: Path, line: int, section: Section) -> Unusable:
    """The refusal of a header of `sadf -h` with a section that is not known."""
    return Unusable(
        f'{path}:{line}: the section "{short(str(section), 80)}" is not known, so a row cannot be taken apart; '
        f"{_WITHOUT_H}"
    )


def not_certain(path: Path, line: int) -> Unusable:
    """The refusal of a row of `sadf -h` that can be taken apart in more than one way."""
    return Unusable(
        f"{path}:{line}: where one section of the row ends and the next begins cannot be told for certain; {_WITHOUT_H}"
    )


def _is_tty_that_repeats(odd: Odd) -> bool:
    """Whether a row has the number of its line before each value."""
    values = odd.cells - COMMON
    return [section.label for section in odd.sections] == ["TTY"] and values == 2 * len(odd.sections[0].fields)


def _cells(header: str) -> int:
    return header.count(";") + 1
