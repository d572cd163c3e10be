"""The lines of `sadf -d` sorted into blocks: the rows of one kind of section, wherever in the file they stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingest.formats.sadf.names import COMMON, MANY, OMITTED, Section, left_out, measurement, sections
from ingest.formats.sadf.plain import HEADER, plain
from ingest.formats.sadf.rows import NotCertain, Splitter
from ingest.formats.sadf.unread import Odd, Unread, not_certain, unknown
from ingest.shared.code_pages import read_as
from ingest.shared.text import Text
from model.remark import Kind, Remarks, short

_EVENT = re.compile(r"[^;]*;-1;([^;]*);(?:LINUX-)?(RESTART|COM )\s*(.*)")
_WHOLE = re.compile(r"[.,]\d\d$")
_DAMAGED = re.compile(r"\s*#|[^;]*;[^;]*;(time|[^;]*stamp;)")  # damage in one place leaves one end of the name
_NAMED = re.compile(rf"(;([\w%][\w%/.-]*(\*|{re.escape(MANY)})?|{re.escape(OMITTED)}))*")
_COMMENTED = re.compile(r"# ?([^;]+);\d+;(\d{4}-\d\d-\d\d \d[^;]*|\d{9,11});")


@dataclass
class Block:
    """Rows of one section that have the same number of cells, with the line each stands on.

    `headers` and `restarts` are the lines of all in the file: a section begins anew behind them.
    """

    section: Section
    cells: int
    headers: Sequence[int]
    restarts: Sequence[int]
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
        self._unread = Unread(path)
        self._remarks = remarks
        self._known: dict[str, list[Section]] = {}
        self._header: str | None = None
        self._sections: list[Section] = []
        self._block: Block | None = None
        self._splitter: Splitter | None = None
        self._headers: list[int] = []
        self._restarts: list[int] = []

    def take(self, line: str, number: int) -> None:
        """Take one line of the file."""
        if _is_header(line):
            self._begin(line, number)
        elif _may_hide_a_header(line):
            self._take_suspect(line, number)
        elif ";-1;" in line and (event := _EVENT.fullmatch(line)):
            what = "comment:"
            if event[2] == "RESTART":
                what = "the system restarted"
                self._restarts.append(number)
            # The same event stands in every section, so it is told by its time.
            self._unread.events.setdefault((short(f"{what} {event[3]}".rstrip("; "), 200), event[1]), number)
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
        self._headers.append(number)
        columns = header.split(";")[COMMON:]
        is_new = header not in self._known
        if is_new:
            self._known[header] = sections(columns)
        self._sections = self._known[header]
        known = [section for section in self._sections if measurement(section)]
        several = (bool(known) and len(self._sections) > 1) or any(column.endswith(MANY) for column in columns)
        others = [section for section in self._sections if section not in known]
        if several and (strange := [section for section in others if section not in left_out()]):
            raise unknown(self._path, number, strange[0])
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
            self._unread.commented.append(number)
            return
        row, header, columns = line.partition(HEADER)
        if row and _is_header(header + columns):
            self._remarks.add(Kind.REPAIRED, "a line end is missing before the header: put in", line=number)
            self.take_unended(row, number)
            self._begin(header + columns, number)
            return
        if self._unread.suspect is None and (self._header is not None or line.startswith(HEADER)):
            self._unread.suspect = number, looks_like_row is not None
        self._unread.headless.append(number)
        self._header, self._block, self._splitter, self._sections = None, None, None, []

    def _take_unlike(self, line: str, number: int) -> None:
        """A row that is not simply one of the section under its header."""
        cells = line.split(";")
        if self._header is None or len(cells) <= COMMON:
            self._unread.headless.append(number)
        elif self._splitter:
            self._take_apart(self._splitter, cells, number)
        elif self._sections and self._sections[0].is_per_cpu and len(cells) > COMMON + 1:
            self._block_of(self._sections[0], len(cells)).add(line, number)
        elif self._sections:
            # With -h and one device when the section began, there are more of them from now on.
            self._take_apart(Splitter(self._sections), cells, number)
        elif known := self._known[self._header]:
            self._unread.without_series.setdefault(self._header, (number, known))

    def _take_apart(self, splitter: Splitter, cells: Sequence[str], number: int) -> None:
        """A row of all sections: as many rows as there are instances in it."""
        values = cells[COMMON:]
        try:
            pieces = splitter.pieces(values)
        except NotCertain:
            raise not_certain(self._path, number) from None
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
            self.blocks[key] = Block(section, cells, self._headers, self._restarts)
        return self.blocks[key]

    def _note_odd(self, cells: int, number: int) -> None:
        header = self._header or ""
        self._unread.odd.setdefault(header, Odd(self._known[header], number, cells)).count += 1

    def finished(self) -> list[Block]:
        """The blocks, with all that is no row of a section remarked, and sections left out of which most rows are odd.

        Unusable if that leaves nothing.
        """
        for odd in self._unread.odd.values():
            self._leave_out_odd(odd)
        self._unread.tell(self._remarks)
        left = [block for block in self.blocks.values() if block.rows]
        if not left:
            self._unread.refuse()
        return left

    def _leave_out_odd(self, odd: Odd) -> None:
        """Where most rows do not fit their header, those that fit may do so by chance: leave them out as well."""
        fitting = [block for block in self.blocks.values() if block.section in odd.sections]
        if (others := sum(len(block.rows) for block in fitting)) < odd.count:
            odd.by_chance = others
            for block in fitting:
                block.rows.clear()
                block.lines.clear()


def _is_header(line: str) -> bool:
    return line.startswith(HEADER) and _NAMED.fullmatch(line, len(HEADER)) is not None


def _may_hide_a_header(line: str) -> bool:
    """Whether a line may be a damaged header or hold one. Not by "hostname" alone: a host may have that name."""
    hides = "\0" in line or "timestamp;" in line or ";interval;" in line or "# hostname" in line
    return hides or _DAMAGED.match(line) is not None
