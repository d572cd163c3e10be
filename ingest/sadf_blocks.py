"""The lines of `sadf -d` sorted into blocks: the rows of one kind of section, wherever in the file they stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingest.sadf_names import MANY, Section, measurement, sections
from ingest.sadf_rows import NotCertain, Rows
from ingest.shorten import short
from ingest.text import Text
from model.errors import Unusable
from model.remark import Kind, Remarks, counted

HEADER = "# hostname;interval;timestamp"
COMMON = 3  # host, interval and time come before the values
_EVENT = re.compile(r"[^;]*;-1;([^;]*);(?:LINUX-)?(RESTART|COM )\s*(.*)")
_MOST_REMARKS = 20


@dataclass
class Block:
    """Rows of one section that have the same number of cells, with the line each stands on."""

    section: Section
    cells: int
    rows: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def add(self, row: str, line: int) -> None:
        """Take one row, which must have as many cells as the block."""
        self.rows.append(row)
        self.lines.append(line)


def blocks(path: Path, text: Text, remarks: Remarks) -> list[Block]:
    """All rows of known sections. What else stands in the file is remarked: restarts, comments, odd rows.

    Unusable if most rows do not fit their header, or if the sections of a row of `sadf -h` cannot
    be told apart.
    """
    sorting = _Sorting(path, remarks)
    for number, line in enumerate(_lines(text, remarks), 1):
        sorting.take(line, number)
    sorting.tell()
    return [block for block in sorting.blocks.values() if block.rows]


def _lines(text: Text, remarks: Remarks) -> list[str]:
    """All lines that were written to their end."""
    data = text.data[:]
    try:
        decoded = data.decode()
    except UnicodeDecodeError:
        odd = b"\n".join(line for line in data.split(b"\n") if not line.isascii())
        _, page = text.decode(odd)
        decoded = data.decode(page or text.encoding or "utf-8", errors="replace")
        if page:
            remarks.add(Kind.GUESSED, f"names are not UTF-8: read as code page {page[2:]}")
    *lines, last = decoded.replace("\r\n", "\n").split("\n")
    if last.strip():
        remarks.add(Kind.SKIPPED, "the last row has no line end and may be cut short: left out", line=len(lines) + 1)
    return lines


class _Sorting:
    """What is known at one line of the file: the header above it, and the blocks so far."""

    def __init__(self, path: Path, remarks: Remarks) -> None:
        self.blocks: dict[tuple[Section, int], Block] = {}
        self._path = path
        self._remarks = remarks
        self._known: dict[str, list[Section]] = {}
        self._header: str | None = None
        self._sections: list[Section] = []
        self._block: Block | None = None
        self._rows: Rows | None = None
        self._events: dict[tuple[str, str], int] = {}
        self._odd: dict[str, tuple[int, int, int]] = {}
        self._headless: list[int] = []

    def take(self, line: str, number: int) -> None:
        """Take one line of the file."""
        if line.startswith(HEADER):
            self._begin(line, number)
        elif ";-1;" in line and (event := _EVENT.fullmatch(line)):
            what = "the system restarted" if event[2] == "RESTART" else "comment:"
            # The same event stands in every section, so it is told by its time.
            self._events.setdefault((short(f"{what} {event[3]}".rstrip(), 200), event[1]), number)
        elif self._block is not None and line.count(";") == self._block.cells - 1:
            self._block.add(line, number)
        elif line.strip():
            self._take_unlike(line, number)

    def _begin(self, header: str, number: int) -> None:
        """A header: what comes after it is of these sections."""
        self._header, self._block, self._rows = header, None, None
        columns = header.rstrip(";").split(";")[COMMON:]
        told = header in self._known
        self._sections = self._known.setdefault(header, sections(columns))
        known = [section for section in self._sections if measurement(section)]
        several = len(known) > 1 or any(column.endswith(MANY) for column in columns)
        if several and len(known) < len(self._sections):
            unknown = next(section for section in self._sections if section not in known)
            raise Unusable(
                f'{self._path}:{number}: the section "{short(str(unknown), 80)}" is not known, so a row cannot be '
                "taken apart; write the file without -h: sadf -d FILE -- -A"
            )
        if not known:
            if not told:
                self._remarks.add(
                    Kind.SKIPPED, f'the section "{short(";".join(columns), 80)}" is not known: left out', line=number
                )
            self._sections = []
        elif several:
            self._rows = Rows(known)
        elif not known[0].is_per_cpu:
            self._block = self._block_of(known[0], COMMON + known[0].width)

    def _take_unlike(self, line: str, number: int) -> None:
        """A row that is not simply one of the section under its header."""
        cells = line.split(";")
        if self._header is None or len(cells) <= COMMON:
            self._headless.append(number)
        elif self._rows:
            self._take_apart(self._rows, cells, number)
        elif self._sections and self._sections[0].is_per_cpu and len(cells) > COMMON + 1:
            self._block_of(self._sections[0], len(cells)).add(line, number)
        elif self._sections:
            self._note_odd(len(cells), number)

    def _take_apart(self, rows: Rows, cells: Sequence[str], number: int) -> None:
        """A row of all sections: as many rows as there are instances in it."""
        values = cells[COMMON:]
        try:
            pieces = rows.pieces(values)
        except NotCertain:
            raise Unusable(
                f"{self._path}:{number}: where one section of the row ends and the next begins cannot be told for "
                "certain; write the file without -h: sadf -d FILE -- -A"
            ) from None
        if not pieces:
            self._note_odd(len(cells), number)
            return
        common = ";".join(cells[:COMMON])
        for section, start, end in pieces:
            row = f"{common};{';'.join(values[start:end])}"
            self._block_of(self._sections[section], COMMON + end - start).add(row, number)

    def _block_of(self, section: Section, cells: int) -> Block:
        key = (section, cells)
        if key not in self.blocks:
            self.blocks[key] = Block(section, cells)
        return self.blocks[key]

    def _note_odd(self, cells: int, number: int) -> None:
        count, first, size = self._odd.get(self._header or "", (0, number, cells))
        self._odd[self._header or ""] = (count + 1, first, size)

    def tell(self) -> None:
        """Remark all that is no row of a section. Unusable if that is most of the file."""
        for (text, _), number in list(self._events.items())[:_MOST_REMARKS]:
            self._remarks.add(Kind.NOTED, text, line=number)
        if (more := len(self._events) - _MOST_REMARKS) > 0:
            self._remarks.add(Kind.NOTED, f"{counted(more, 'more restart or comment')}", count=more)
        if self._headless:
            count, first = len(self._headless), self._headless[0]
            self._remarks.add(
                Kind.SKIPPED, f"{counted(count, 'line')} of no section: left out", line=first, count=count
            )
        whole = sum(len(block.rows) for block in self.blocks.values())
        for header, (count, first, cells) in self._odd.items():
            wanted = header.rstrip(";").count(";") + 1
            if sum(odd[0] for odd in self._odd.values()) > whole:
                raise Unusable(
                    f"{self._path}:{first}: the row has {cells} cells and does not fit its header of {wanted}; "
                    "write the file again with sadf -d FILE -- -A"
                )
            self._remarks.add(
                Kind.SKIPPED,
                f"{counted(count, 'row')} with {cells} cells under a header of {wanted}: left out",
                line=first,
                count=count,
            )
