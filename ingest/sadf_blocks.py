"""The lines of `sadf -d` sorted into blocks: the rows of one kind of section, wherever in the file they stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingest.code_pages import read_as
from ingest.sadf_names import MANY, Section, left_out, measurement, sections
from ingest.sadf_plain import HEADER, plain
from ingest.sadf_rows import NotCertain, Splitter
from ingest.shorten import short
from ingest.text import Text
from model.errors import Unusable
from model.remark import Kind, Remarks, counted

COMMON = 3  # host, interval and time come before the values
_EVENT = re.compile(r"[^;]*;-1;([^;]*);(?:LINUX-)?(RESTART|COM )\s*(.*)")
_WHOLE = re.compile(r"[.,]\d\d$")
_DAMAGED = re.compile(r"\s*#|[^;]*;[^;]*;(time|[^;]*stamp;)")  # damage in one place leaves one end of the name
_COMMENTED = re.compile(r"# ?([^;]+);\d+;(\d{4}-\d\d-\d\d \d[^;]*|\d{9,11});")
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

    def holds_like(self, line: str, host: str) -> bool:
        """Whether a line has the block's number of cells, and its last row is of this host."""
        return line.count(";") == self.cells - 1 and bool(self.rows) and self.rows[-1].startswith(f"{host};")


def blocks(text: Text, remarks: Remarks) -> list[Block]:
    """All rows of known sections. What else stands in the file is remarked: restarts, comments, odd rows.

    Unusable if most rows do not fit their header, if the sections of a row of `sadf -h` cannot be told apart, or if
    all rows are of sections that are not read.
    """
    sorting = _Sorting(text.path, remarks)
    *lines, last = plain(_decoded(text, remarks), remarks).split("\n")
    for number, line in enumerate(lines, 1):
        sorting.take(line, number)
    sorting.take_unended(last, len(lines) + 1)
    return sorting.finished()


def _decoded(text: Text, remarks: Remarks) -> str:
    data = text.data[:]
    try:
        return data.decode()
    except UnicodeDecodeError:
        odd = b"\n".join(line for line in data.split(b"\n") if not line.isascii())
        _, page = text.decode(odd)
        if page:
            remarks.add(Kind.GUESSED, f"names are not UTF-8: {read_as(page)}")
        return data.decode(page or text.encoding or "utf-8", errors="replace")


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
        self._splitter: Splitter | None = None
        self._events: dict[tuple[str, str], int] = {}
        self._odd: dict[str, tuple[int, int, int]] = {}
        self._headless: list[int] = []
        self._suspect: int | None = None
        self._commented: list[int] = []
        self._suspect_is_row = False
        self._unread: dict[str, int] = {}

    def take(self, line: str, number: int) -> None:
        """Take one line of the file."""
        if _is_header(line):
            self._begin(line, number)
        elif _may_hide_a_header(line):
            self._take_suspect(line, number)
        elif ";-1;" in line and (event := _EVENT.fullmatch(line)):
            what = "the system restarted" if event[2] == "RESTART" else "comment:"
            # The same event stands in every section, so it is told by its time.
            self._events.setdefault((short(f"{what} {event[3]}".rstrip(), 200), event[1]), number)
        elif self._block is not None and line.count(";") == self._block.cells - 1:
            self._block.add(line, number)
        elif line.strip():
            self._take_unlike(line, number)

    def take_unended(self, line: str, number: int) -> None:
        """Take the file's last line, which has no line end and so may be cut short anywhere.

        Its whole cells are kept; the last one is whole if it has two decimals, as sadf writes no more. A row
        of all sections is kept if it is built like the one before: a processor's number may pass for a value.
        """
        if not line.strip():
            return
        cells = line.split(";")
        wanted, whole = len(cells), len(cells) - (not _WHOLE.search(line))
        if self._block is not None:
            wanted = self._block.cells
            fits = len(cells) <= wanted and whole > wanted - len(self._block.section.fields)
        elif self._splitter:
            fits = bool(self._splitter.like_last(cells[COMMON:]))
        else:
            fits = bool(self._sections) and whole == wanted
        told = "the last row has no line end and may be cut short: "
        if not fits or len(cells) <= COMMON or cells[1] == "-1" or _may_hide_a_header(line):
            self._remarks.add(Kind.SKIPPED, f"{told}left out", line=number)
            return
        if whole < wanted:
            self._remarks.add(Kind.SKIPPED, f"{told}kept its first {whole} of {wanted} cells", line=number)
        self.take(";".join([*cells[:whole], *[""] * (wanted - whole)]), number)

    def _begin(self, header: str, number: int) -> None:
        """A header: what comes after it is of these sections."""
        self._header, self._block, self._splitter = header, None, None
        columns = header.rstrip(";").split(";")[COMMON:]
        is_new = header not in self._known
        if is_new:
            self._known[header] = sections(columns)
        self._sections = self._known[header]
        known = [section for section in self._sections if measurement(section)]
        several = (bool(known) and len(self._sections) > 1) or any(column.endswith(MANY) for column in columns)
        others = [section for section in self._sections if section not in known]
        if several and (unknown := [section for section in others if section not in left_out()]):
            raise Unusable(
                f'{self._path}:{number}: the section "{short(str(unknown[0]), 80)}" is not known, so a row cannot be '
                "taken apart; write the file without -h: sadf -d FILE -- -A"
            )
        if is_new:
            for what in map(str, others) if known else [";".join(columns)]:
                self._remarks.add_once(
                    Kind.SKIPPED, f'the section "{short(what, 80)}" is not known: left out', line=number
                )
        if not known:
            self._sections = []
        elif several:
            self._splitter = Splitter(self._sections)
        elif not known[0].is_per_cpu:
            self._block = self._block_of(known[0], COMMON + known[0].width)

    def _take_suspect(self, line: str, number: int) -> None:
        """A line that may be or hide a header: rows after it may be of another section, up to the next header."""
        looks_like_row = _COMMENTED.match(line) if not _may_hide_a_header(line.removeprefix("#").lstrip()) else None
        if looks_like_row and self._block is not None and self._block.holds_like(line, looks_like_row[1]):
            self._commented.append(number)
            return
        row, header, columns = line.partition(HEADER)
        if row and _is_header(header + columns):
            self._remarks.add(Kind.REPAIRED, "a line end is missing before the header: put in", line=number)
            self.take_unended(row, number)
            self._begin(header + columns, number)
            return
        if self._header is not None and self._suspect is None:
            self._suspect, self._suspect_is_row = number, looks_like_row is not None
        self._headless.append(number)
        self._header, self._block, self._splitter, self._sections = None, None, None, []

    def _take_unlike(self, line: str, number: int) -> None:
        """A row that is not simply one of the section under its header."""
        cells = line.split(";")
        if self._header is None or len(cells) <= COMMON:
            self._headless.append(number)
        elif self._splitter:
            self._take_apart(self._splitter, cells, number)
        elif self._sections and self._sections[0].is_per_cpu and len(cells) > COMMON + 1:
            self._block_of(self._sections[0], len(cells)).add(line, number)
        elif self._sections:
            # With -h and one device when the section began, there are more of them from now on.
            self._take_apart(Splitter(self._sections), cells, number)
        elif self._known[self._header]:
            self._unread.setdefault(self._header, number)

    def _take_apart(self, splitter: Splitter, cells: Sequence[str], number: int) -> None:
        """A row of all sections: as many rows as there are instances in it."""
        values = cells[COMMON:]
        try:
            pieces = splitter.pieces(values)
        except NotCertain:
            raise Unusable(
                f"{self._path}:{number}: where one section of the row ends and the next begins cannot be told for "
                "certain; write the file without -h: sadf -d FILE -- -A"
            ) from None
        if not pieces:
            self._note_odd(len(cells), number)
            return
        common = ";".join(cells[:COMMON])
        for which, start, end in pieces:
            section = self._sections[which]
            if section not in left_out():
                row = f"{common};{';'.join(values[start:end])}"
                self._block_of(section, COMMON + end - start).add(row, number)

    def _block_of(self, section: Section, cells: int) -> Block:
        key = (section, cells)
        if key not in self.blocks:
            self.blocks[key] = Block(section, cells)
        return self.blocks[key]

    def _note_odd(self, cells: int, number: int) -> None:
        count, first, size = self._odd.get(self._header or "", (0, number, cells))
        self._odd[self._header or ""] = (count + 1, first, size)

    def finished(self) -> list[Block]:
        """The blocks, with all that is no row of a section remarked, and sections left out of which most rows are odd.

        Unusable if that leaves nothing.
        """
        for (text, _), number in list(self._events.items())[:_MOST_REMARKS]:
            self._remarks.add(Kind.NOTED, text, line=number)
        if (more := len(self._events) - _MOST_REMARKS) > 0:
            self._remarks.add(Kind.NOTED, f"{counted(more, 'more restart or comment')}", count=more)
        if self._headless:
            count, first = len(self._headless), self._headless[0]
            self._remarks.add(
                Kind.SKIPPED, f"{counted(count, 'line')} of no section: left out", line=first, count=count
            )
        if self._commented:
            count, first = len(self._commented), self._commented[0]
            told = f'{counted(count, "row")} behind a "#", as if commented out: left out'
            self._remarks.add(Kind.SKIPPED, told, line=first, count=count)
        for header, odd in self._odd.items():
            self._leave_out_odd(header, *odd)
        left = [block for block in self.blocks.values() if block.rows]
        if not left:
            self._refuse()
        return left

    def _refuse(self) -> None:
        """Say why no rows are left, where that is known."""
        again = "write the file again with sadf -d FILE -- -A"
        if self._odd:
            header, (_, first, cells) = next(iter(self._odd.items()))
            if _is_tty_that_repeats(self._known[header], cells - COMMON):
                again = (
                    "some versions of sysstat write TTY so, and nothing else can be read; write other sections as "
                    "well: sadf -d FILE -- -A"
                )
            raise Unusable(
                f"{self._path}:{first}: the row has {cells} cells and does not fit its header of {_cells(header)}; "
                f"{again}"
            )
        if self._suspect is not None:
            said = "the line may be or hide a damaged header"
            if self._suspect_is_row:
                said = "the line seems to be a row that is commented out, or a damaged header"
                again = 'take the "#" away from the rows that shall count, or ' + again
            raise Unusable(
                f"{self._path}:{self._suspect}: {said}, and without the rows from it to the next header none are left; "
                f"{again}"
            )
        if self._unread:
            names = {
                section.label or section.fields[0]: None for header in self._unread for section in self._known[header]
            }
            raise Unusable(
                f"{self._path}:{next(iter(self._unread.values()))}: holds no row of a known section of sadf, as "
                f"{short(', '.join(names), 80)} are not read; write others as well: sadf -d FILE -- -A"
            )

    def _leave_out_odd(self, header: str, count: int, first: int, cells: int) -> None:
        """Leave out rows that do not fit their header. Where they are the most, those that fit may do so by chance."""
        said = f"{counted(count, 'row')} with {cells} cells under a header of {_cells(header)}: left out"
        fitting = [block for block in self.blocks.values() if block.section in self._known[header]]
        if 0 < (others := sum(len(block.rows) for block in fitting)) < count:
            said += f", and {counted(others, 'row')} of the section that had as many, as most did not"
            count += others
            for block in fitting:
                block.rows.clear()
                block.lines.clear()
        self._remarks.add(Kind.SKIPPED, said, line=first, count=count)


def _is_header(line: str) -> bool:
    return line.startswith(HEADER) and "\0" not in line


def _may_hide_a_header(line: str) -> bool:
    """Whether a line may be a damaged header or hold one. Not by "hostname" alone: a host may have that name."""
    hides = "\0" in line or "timestamp;" in line or ";interval;" in line or "# hostname" in line
    return hides or _DAMAGED.match(line) is not None


def _is_tty_that_repeats(sections: Sequence[Section], cells: int) -> bool:
    """Whether a row has the number of its line before each value."""
    return [section.label for section in sections] == ["TTY"] and cells == 2 * len(sections[0].fields)


def _cells(header: str) -> int:
    return header.rstrip(";").count(";") + 1
