"""Sort the lines of a file into blocks: the rows of one kind of section, wherever in the file they are."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from plimsoll.ingest.formats.sadf.sections import (
    COMMON,
    HEADER_NAMES,
    MANY,
    SadfSection,
    Skipped,
    ambiguous,
    edited,
    measurement,
    sections,
    unknown_section,
    unread_sections,
)
from plimsoll.ingest.shared.text import Text, read_as
from plimsoll.model.remark import RESTARTED, Kind, Remarks, short

Piece = tuple[int, int, int]  # the section's number, and where in the row an instance of it begins and ends
_NUMBER = re.compile(r"-?(\d+([.,]\d+)?|nan|inf)")
# The kinds of cell in sections.yaml.
_KINDS = {
    "number": _NUMBER,
    "whole": re.compile(r"\d+"),
    "hex": re.compile(r"[0-9a-f]+"),
    "name": re.compile(r".*[A-Za-z].*"),
    "words": re.compile(r".*"),
}
_DISK = re.compile(
    r"(sd|vd|hd|xvd)[a-z]+\d*|(nvme|mmcblk|dm-|md|loop|sr|zram|nbd|rbd|drbd)\d+\w*|dev\d+-\d+|(fio|dasd)[a-z]+"
)
_INTERFACE = re.compile(
    r"lo|(eth|en[a-z]?|wl|ww|ib|bond|team|tun|tap|ifb|docker|virbr|dummy|wg|vlan|usb|vmnet|gre|sit|ip6tnl)\d\w*(\.\d+)?"
    r"|(br|veth|cali|flannel|cni|lxc|en[ps])[-.\w@]*|bonding_masters"
)


class Ambiguous(Exception):
    """A row can be split in more than one way."""


class Splitter:
    """Splits rows into sections. Tries the pieces of the last row first, since most rows are built alike."""

    def __init__(self, sections: Sequence[SadfSection]) -> None:
        self._sections = sections
        self._last: tuple[int, list[Piece], list[tuple[int, str]]] = (-1, [], [])

    def pieces(self, cells: Sequence[str]) -> list[Piece]:
        """Return the section and cells of each instance; none if the row does not fit the header.

        Raises:
            Ambiguous: If the row fits it in more than one way.
        """
        if pieces := self.like_last(cells):
            return pieces
        pieces = _only_way(self._sections, cells)
        names = [(start, cells[start]) for which, start, _ in pieces if self._sections[which].label]
        self._last = (len(cells) if pieces else -1, pieces, names)
        return pieces

    def like_last(self, cells: Sequence[str]) -> list[Piece]:
        """Return the pieces of a row that has the last one's cells and instances; none if it has others."""
        size, pieces, names = self._last
        return pieces if size == len(cells) and all(cells[at] == name for at, name in names) else []


def _is_number_after(name: str, before: Sequence[str]) -> bool:
    """First -1 or a word for all of them, then numbers in ascending order."""
    if not name.isdecimal():
        return not before and name in ("-1", "all", "sum")
    return not before or not before[-1].isdecimal() or int(name) > int(before[-1])


def _is_any(name: str, before: Sequence[str]) -> bool:
    """USB buses and batteries come in any order, and a bus once for each device on it."""
    return True


def _is_interrupt(name: str, before: Sequence[str]) -> bool:
    return "." not in name and "," not in name and name not in before


def _is_disk(name: str, before: Sequence[str]) -> bool:
    return _is_name(name, before) and not _INTERFACE.fullmatch(name)


def _is_interface(name: str, before: Sequence[str]) -> bool:
    return _is_name(name, before) and not _DISK.fullmatch(name)


_MAY_FOLLOW: dict[str, Callable[[str, Sequence[str]], bool]] = {
    "CPU": _is_number_after,
    "TTY": _is_number_after,
    "FAN": _is_number_after,
    "TEMP": _is_number_after,
    "IN": _is_number_after,
    "BAT": _is_any,
    "manufact": _is_any,
    "INTR": _is_interrupt,
    "DEV": _is_disk,
    "IFACE": _is_interface,
}
_HEADER = "# hostname;interval;timestamp"
_COLUMNS = re.compile(rf"(;[\w%][\w%/.-]*(\*|{re.escape(MANY)})?)*")
_NAMES = re.compile(HEADER_NAMES)
_ROW = re.compile(r"[^;]*;\d+;\d")
_NOT_IN_A_ROW = ("\0", ";timestamp", "RESTART", ";COM ")  # the beginnings of other lines, which a torn row may end in
_EVENT = re.compile(r"[^;]*;-1;([^;]*);(?:LINUX-)?(RESTART|COM )\s*(.*)")
_TWO_DECIMALS = re.compile(r"[.,]\d\d$")


@dataclass
class RowBlock:
    """Rows of one section that have the same number of cells, with the line of each.

    `headers` and `restarts` are the lines of all headers and restarts in the file.
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


def blocks(text: Text, remarks: Remarks) -> list[RowBlock]:
    """Return the rows of all sections that are read. All other lines are remarked.

    Raises:
        Unusable: If a header was edited, a row of `sadf -h` cannot be split, or no row is left for a known reason.
    """
    sorter = _Sorter(text.path, remarks)
    *lines, last = _decoded(text, remarks).replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        sorter.take(line, number)
    sorter.take_unended(last, len(lines) + 1)
    return sorter.finished()


def _decoded(text: Text, remarks: Remarks) -> str:
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

    `_sections` are the sections of the header that are read, empty if the header is unknown. Rows of one section go to
    `_block`; `_splitter` splits rows of several sections.
    """

    def __init__(self, path: Path, remarks: Remarks) -> None:
        self._path = path
        self._remarks = remarks
        self._blocks: dict[tuple[SadfSection, int], RowBlock] = {}
        self._skipped = Skipped(path)
        self._sections_by_header: dict[str, list[SadfSection]] = {}
        self._header: str | None = None
        self._sections: list[SadfSection] = []
        self._block: RowBlock | None = None
        self._splitter: Splitter | None = None
        self._headers: list[int] = []
        self._restarts: list[int] = []

    def take(self, line: str, number: int) -> None:
        """Take one line of the file."""
        if _ROW.match(line) and not any(sign in line for sign in _NOT_IN_A_ROW):
            if self._block is not None and line.count(";") == self._block.cells - 1:
                self._block.add(line, number)
            else:
                self._take_unlike(line, number)
        elif _is_header(line):
            self._begin(line, number)
        elif line.strip():
            self._take_other(line, number)

    def take_unended(self, line: str, number: int) -> None:
        """Take a line that lacks its line end and so may be cut short anywhere.

        Its whole cells are kept. The last cell is whole if it has two decimals, since sadf never writes more. A row of
        `sadf -h` is kept only if it is built like the one before: else a processor's number may pass for a value.
        """
        if not line.strip():
            return
        cells = line.split(";")
        value, whole = len(cells), len(cells) - (not _TWO_DECIMALS.search(line))
        if self._block is not None:
            value = self._block.cells
            fits = len(cells) <= value and whole > value - len(self._block.section.fields)
        elif self._splitter:
            fits = bool(self._splitter.like_last(cells[COMMON:]))
        else:
            fits = bool(self._sections) and whole == value
        if not fits or len(cells) <= COMMON or not _ROW.match(line) or any(sign in line for sign in _NOT_IN_A_ROW):
            self._remarks.add(Kind.SKIPPED, "the line has no line end and may be cut short: left out", line=number)
            return
        if whole < value:
            text = f"the line has no line end and may be cut short: kept its first {whole} of {value} cells"
            self._remarks.add(Kind.SKIPPED, text, line=number)
        self.take(";".join([*cells[:whole], *[""] * (value - whole)]), number)

    def _begin(self, header: str, number: int) -> None:
        """Begin the sections of a header."""
        self._header, self._block, self._splitter = header, None, None
        self._headers.append(number)
        columns = header.split(";")[COMMON:]
        is_new = header not in self._sections_by_header
        if is_new:
            self._sections_by_header[header] = sections(columns)
        self._sections = self._sections_by_header[header]
        items = [section for section in self._sections if measurement(section)]
        entries = [section for section in self._sections if section not in items]
        is_horizontal = (bool(items) and len(self._sections) > 1) or any(column.endswith(MANY) for column in columns)
        if is_horizontal and (unknown := [section for section in entries if section not in unread_sections()]):
            raise unknown_section(self._path, number, unknown[0])
        if is_new:
            for name in map(str, entries) if items else [";".join(columns)]:
                text = f'the section "{short(name, 80)}" is not read: left out'
                self._remarks.add_once(Kind.SKIPPED, text, line=number)
        if not items:
            self._sections = []
        elif is_horizontal:
            self._splitter = Splitter(self._sections)
        elif not items[0].is_per_cpu:
            self._block = self._block_of(items[0], COMMON + items[0].width)

    def _take_other(self, line: str, number: int) -> None:
        """Take a line that is neither a row nor a header alone."""
        before, header, columns = line.rpartition(_HEADER)
        is_damaged = "\0" in line
        event = None if is_damaged else _EVENT.fullmatch(line)
        if header and _is_header(header + columns):
            # Before the first header there may be a restart or a header that was cut short, but no row.
            is_edited = before.strip("\0") and not before.startswith("#") and not _EVENT.fullmatch(before)
            if is_edited and not self._headers:
                raise edited(self._path, number, line)
            self._remarks.add(Kind.REPAIRED, "a line end is missing before the header: put in", line=number)
            self.take_unended(before, number)
            self._begin(header + columns, number)
        elif event:
            event_name = RESTARTED if event[2] == "RESTART" else "comment:"
            if event[2] == "RESTART":
                self._restarts.append(number)
            # Every section repeats the same event, so its time tells whether it is another.
            self._skipped.events.setdefault((short(f"{event_name} {event[3]}".rstrip("; "), 200), event[1]), number)
        elif not is_damaged and _NAMES.search(line):
            raise edited(self._path, number, line)
        else:
            self._skipped.not_rows.append(number)
            if is_damaged or line.startswith("#") or line.count(";") >= COMMON:
                # It may have been a header, so the section of the rows after it is not known.
                self._skipped.damaged = self._skipped.damaged or number
                self._header, self._block, self._splitter, self._sections = None, None, None, []

    def _take_unlike(self, line: str, number: int) -> None:
        """Take a row that has not the number of cells of the current block, or where there is no such block."""
        cells = line.split(";")
        if self._header is None or len(cells) <= COMMON:
            self._skipped.not_rows.append(number)
        elif self._splitter:
            self._split(self._splitter, cells, number)
        elif self._sections and self._sections[0].is_per_cpu and len(cells) > COMMON + 1:
            self._block_of(self._sections[0], len(cells)).add(line, number)
        elif self._sections:
            # With -h, a section had one device when its header was written, and has more now.
            self._split(Splitter(self._sections), cells, number)

    def _split(self, splitter: Splitter, cells: Sequence[str], number: int) -> None:
        """Take a row of `sadf -h`: as many rows as it holds instances."""
        values = cells[COMMON:]
        try:
            pieces = splitter.pieces(values)
        except Ambiguous:
            raise ambiguous(self._path, number) from None
        if not pieces:
            header = self._header or ""
            self._skipped.add_unfit(header, self._sections_by_header[header], number, len(cells))
        common = ";".join(cells[:COMMON])
        for which, start, end in pieces:
            section = self._sections[which]
            if section not in unread_sections():
                row = f"{common};{';'.join(values[start:end])}"
                self._block_of(section, COMMON + end - start).add(row, number)

    def _block_of(self, section: SadfSection, cells: int) -> RowBlock:
        key = (section, cells)
        if key not in self._blocks:
            self._blocks[key] = RowBlock(section, cells, self._headers, self._restarts)
        return self._blocks[key]

    def finished(self) -> list[RowBlock]:
        """Return the blocks that have rows, after remarks on all other lines.

        Where most rows under a header do not fit it, the others may fit by chance and are left out as well.

        Raises:
            Unusable: If no row is left and the reason is known.
        """
        for unfit in self._skipped.unfit.values():
            fitting = [block for block in self._blocks.values() if block.section in unfit.sections]
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


def _only_way(sections: Sequence[SadfSection], cells: Sequence[str]) -> list[Piece]:
    numeric = [_NUMBER.fullmatch(cell) is not None for cell in cells]

    @cache
    def ways(which: int, at: int) -> tuple[int, tuple[Piece, ...]]:
        """Return how many ways (at most two) there are to split the rest of the row, and the first of them."""
        if which == len(sections):
            return int(at == len(cells)), ()
        section = sections[which]
        if section.label is None:
            end = at + section.width
            if not all(numeric[at:end]) or end > len(cells):
                return 0, ()
            count, rest = ways(which + 1, end)
            return count, ((which, at, end), *rest)
        value, first = ways(which + 1, at)
        for run in _runs(section, cells, numeric, at):
            for last, (_, end) in enumerate(run, 1):
                count, rest = ways(which + 1, end)
                if count and not value:
                    first = (*((which, *cut) for cut in run[:last]), *rest)
                value = min(value + count, 2)
        return value, first

    count, pieces = ways(0, 0)
    if count > 1:
        raise Ambiguous
    return list(pieces) if count else []


def _runs(
    section: SadfSection, cells: Sequence[str], numeric: Sequence[bool], at: int
) -> Iterator[list[tuple[int, int]]]:
    """Yield the longest run of instances of one section from a place in the row: where each begins and ends.

    One run, or for a section with a value for each processor one run for each possible number of processors.
    """
    if not section.is_per_cpu:
        yield _run(section, section.width, cells, numeric, at)
        return
    width = 2
    while at + width <= len(cells) and not cells[at + width - 1].isdecimal() and numeric[at + width - 1]:
        yield _run(section, width, cells, numeric, at)
        width += 1


def _run(
    section: SadfSection, width: int, cells: Sequence[str], numeric: Sequence[bool], at: int
) -> list[tuple[int, int]]:
    may_follow = _MAY_FOLLOW.get(section.label or "", _is_name)
    kinds = [_KINDS[kind] for kind in unread_sections().get(section, ())]

    def fits(at: int) -> bool:
        if not kinds:
            return all(numeric[at + 1 : at + width])
        return all(kind.fullmatch(cell) for kind, cell in zip(kinds, cells[at : at + width], strict=True))

    items: list[tuple[int, int]] = []
    entries: list[str] = []
    while at + width <= len(cells) and fits(at) and may_follow(cells[at], entries):
        entries.append(cells[at])
        items.append((at, at + width))
        at += width
    return items


def _is_name(name: str, before: Sequence[str]) -> bool:
    return any(c.isalpha() or c == "/" for c in name) and name not in before
