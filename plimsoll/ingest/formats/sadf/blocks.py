"""Sorts the lines of a file into blocks: rows of one kind of section with the same number of cells."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.ingest.formats.sadf.sections import (
    AGAIN,
    COMMON,
    HEADER_NAMES,
    MANY,
    SadfSection,
    Skipped,
    Unfit,
    find_measurement,
    find_section,
    is_horizontal,
)
from plimsoll.ingest.shared.text import Text, read_as
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import RESTARTED, STARTED, Kind, Remarks, shorten

_HEADER = "# hostname;interval;timestamp"
_COLUMNS = re.compile(rf"(;[\w%][\w%/.-]*(\*|{re.escape(MANY)})?)*")
_NAMES = re.compile(HEADER_NAMES)
_ROW = re.compile(r"[^;]*;\d+;\d")
_NOT_IN_A_ROW = ("\0", ";timestamp", "RESTART", ";COM ")  # how other lines begin; a torn row may end in one
_EVENT = re.compile(r"[^;]*;-1;([^;]*);(?:LINUX-)?(RESTART|COM )\s*(.*)")
_TWO_DECIMALS = re.compile(r"[.,]\d\d$")


@dataclass
class RowBlock:
    """Rows of one section with the same number of cells, and their line numbers.

    `headers` and `restarts` are the line numbers of all headers and restarts in the file.
    """

    section: SadfSection
    cells: int
    headers: Sequence[int]
    restarts: Sequence[int]
    rows: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)

    def add(self, row: str, line: int) -> None:
        """Add a row, which must have as many cells as the block."""
        self.rows.append(row)
        self.lines.append(line)


def split_blocks(text: Text, remarks: Remarks) -> list[RowBlock]:
    """Return the rows of all supported sections; add remarks on all other lines.

    Raise Unusable if a header was edited, if `sadf -h` wrote one, or if all rows were left out and the reason is known.
    """
    sorter = _Sorter(text.path, remarks)
    *lines, last = _decode_text(text, remarks).replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        sorter.take(line, number)
    sorter.take_unended(last, len(lines) + 1)
    return sorter.finished()


def _decode_text(text: Text, remarks: Remarks) -> str:
    data = text.data[:]
    try:
        return data.decode()
    except UnicodeDecodeError:
        not_ascii = b"\n".join(line for line in data.split(b"\n") if not line.isascii())
        _, page = text.decode(not_ascii)
        if page:
            remarks.add(Kind.GUESSED, f"names are not UTF-8: {read_as(page)}")
        return data.decode(page or text.encoding or "utf-8", errors="replace")


class _Sorter:
    """The blocks so far, and the header above the current line.

    `_section` is the header's section; None if unknown or not supported. `_block` is the block for the section's rows;
    None for rows with a cell for each processor, which have a block for each number of cells.
    """

    def __init__(self, path: Path, remarks: Remarks) -> None:
        self._path = path
        self._remarks = remarks
        self._blocks: dict[tuple[SadfSection, int], RowBlock] = {}
        self._skipped = Skipped(path)
        self._sections: dict[str, SadfSection] = {}
        self._header: str | None = None
        self._section: SadfSection | None = None
        self._block: RowBlock | None = None
        self._headers: list[int] = []
        self._restarts: list[int] = []
        self._begun = ""  # the time of a restart before all rows

    def take(self, line: str, number: int) -> None:
        """Sort one line of the file: into a block, or into the lines that are not read (`Skipped`)."""
        if _ROW.match(line) and not any(sign in line for sign in _NOT_IN_A_ROW):
            cells = line.count(";") + 1
            if self._block is not None and cells == self._block.cells:
                self._block.add(line, number)
            else:
                self._take_odd_row(line, number, cells)
        elif _is_header(line):
            self._begin(line, number)
        elif line.strip():
            self._take_other(line, number)

    def take_unended(self, line: str, number: int) -> None:
        """Sort a line without a line end, which may be incomplete.

        The line's complete cells are kept. The last cell is complete if it has two decimals, since sadf never writes
        more.
        """
        if not line.strip():
            return
        cells = line.split(";")
        value, whole = len(cells), len(cells) - (not _TWO_DECIMALS.search(line))
        if self._block is not None:
            value = self._block.cells
            fits = len(cells) <= value and whole > value - len(self._block.section.fields)
        else:
            fits = self._section is not None and whole == value
        if not fits or len(cells) <= COMMON or not _ROW.match(line) or any(sign in line for sign in _NOT_IN_A_ROW):
            self._remarks.add(Kind.SKIPPED, "the line has no line end and may be cut short: left out", line=number)
            return
        if whole < value:
            text = f"the line has no line end and may be cut short: kept its first {whole} of {value} cells"
            self._remarks.add(Kind.SKIPPED, text, line=number)
        self.take(";".join([*cells[:whole], *[""] * (value - whole)]), number)

    def _begin(self, header: str, number: int) -> None:
        """Begin the section of a header. Raise Unusable if the header names several sections."""
        self._header, self._section, self._block = header, None, None
        self._headers.append(number)
        columns = header.split(";")[COMMON:]
        if header not in self._sections:
            if is_horizontal(columns):
                raise Unusable(
                    f"{self._path}:{number}: the header names several sections, as with sadf -h, so that a row cannot "
                    "be split for certain; write the file without -h: sadf -d FILE -- -A"
                )
            self._sections[header] = find_section(columns)
        section = self._sections[header]
        if not find_measurement(section):
            text = f'the section "{shorten(str(section), 80)}" is not read: left out'
            self._remarks.add_once(Kind.SKIPPED, text, line=number)
            return
        self._section = section
        if not section.is_per_cpu:
            self._block = self._find_block(section, COMMON + section.width)

    def _take_other(self, line: str, number: int) -> None:
        """Handle a line that is neither row nor header: an event, noise, or a header without a line end before it.

        Raise Unusable if the line is an edited header.
        """
        before, header, columns = line.rpartition(_HEADER)
        is_damaged = "\0" in line
        event = None if is_damaged else _EVENT.fullmatch(line)
        if header and _is_header(header + columns):
            # Before the first header there may be a restart or an incomplete header, but no row.
            is_edited = before.strip("\0") and not before.startswith("#") and not _EVENT.fullmatch(before)
            if is_edited and not self._headers:
                raise self._explain_edited(number, line)
            self._remarks.add(Kind.REPAIRED, "a line end is missing before the header: put in", line=number)
            self.take_unended(before, number)
            self._begin(header + columns, number)
        elif event:
            event_name = "comment:"
            if event[2] == "RESTART":
                self._restarts.append(number)
                self._begun = self._begun or ("" if any(block.rows for block in self._blocks.values()) else event[1])
                event_name = STARTED if event[1] == self._begun else RESTARTED
            # Every section repeats the event; another time means another event.
            self._skipped.events.setdefault((shorten(f"{event_name} {event[3]}".rstrip("; "), 200), event[1]), number)
        elif not is_damaged and _NAMES.search(line):
            raise self._explain_edited(number, line)
        else:
            self._skipped.not_rows.append(number)
            if is_damaged or line.startswith("#") or line.count(";") >= COMMON:
                # It may have been a header, so the section of the next rows is unknown.
                self._skipped.damaged = self._skipped.damaged or number
                self._header, self._section, self._block = None, None, None

    def _explain_edited(self, line: int, header: str) -> Unusable:
        return Unusable(
            f'{self._path}:{line}: the header is not as sadf writes it: "{shorten(header.strip())}"; the file was '
            f"edited or converted; {AGAIN}"
        )

    def _take_odd_row(self, line: str, number: int, cells: int) -> None:
        """Sort a row whose number of cells differs from the current block's."""
        if self._header is None or cells <= COMMON:
            self._skipped.not_rows.append(number)
        elif self._section and self._section.is_per_cpu and cells > COMMON + 1:
            self._find_block(self._section, cells).add(line, number)
        elif self._section:
            self._skipped.unfit.setdefault(self._header, Unfit(self._section, number, cells)).count += 1

    def _find_block(self, section: SadfSection, cells: int) -> RowBlock:
        return self._blocks.setdefault((section, cells), RowBlock(section, cells, self._headers, self._restarts))

    def finished(self) -> list[RowBlock]:
        """Return the blocks that have rows, and add remarks on all other lines.

        If most rows under a header do not fit it, the rows that fit are left out as well, as they may fit by chance.
        Raise Unusable if no row is left and the reason is known.
        """
        for unfit in self._skipped.unfit.values():
            fitting = [block for block in self._blocks.values() if block.section == unfit.section]
            unfit.kept = sum(len(block.rows) for block in fitting)
            if unfit.kept < unfit.count:
                unfit.fitting, unfit.kept = unfit.kept, 0
                for block in fitting:
                    block.rows.clear()
                    block.lines.clear()
        self._skipped.remark(self._remarks, sum(len(block.rows) for block in self._blocks.values()))
        left = [block for block in self._blocks.values() if block.rows]
        if not left:
            self._skipped.refuse()
        return left


def _is_header(line: str) -> bool:
    return line.startswith(_HEADER) and _COLUMNS.fullmatch(line, len(_HEADER)) is not None
