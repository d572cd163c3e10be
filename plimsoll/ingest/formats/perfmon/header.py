"""The header of a Perfmon log: the time zone of its clock, and the paths of its counters."""

import re
from collections.abc import Sequence

from plimsoll.ingest.shared.text import Text, read_as, split
from plimsoll.ingest.shared.zones import make_stated_zone
from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remarks, shorten
from plimsoll.model.times import Zone

# Text that cannot be part of a row: it begins with a letter, and has no quotes, paths or cells with numbers.
_WORDS = re.compile(r"""\s*[^\s\d"(\\.:/+-](?!.*(?:["\0]|\\\\|[,;\t] *[\d.-]))""")
_TYPEPERF_SAYS = ("Exiting, please wait", "The command completed successfully", "^C")


@dataclass(frozen=True)
class TableLayout:
    """The `offset` and line number of the first row, and a row's cells: a time, then one for each of `counters`."""

    file: str
    header: bytes
    offset: int
    first_line: int
    separator: str
    counters: Sequence[str]

    @property
    def width(self) -> int:
        """The number of cells in a row."""
        return len(self.counters) + 1

    @property
    def quoted(self) -> int:
        """The number of quoted cells in a quoted row; a nameless column after a final separator has no quotes."""
        return self.width - (self.counters[-1] == "")


_SIGN = re.compile(rb'"*\(PDH-([CT])SV 4\.0\)')
_ZONE = re.compile(r"\(PDH-[CT]SV 4\.0\)\s*\((?P<name>.*)\)\s*\((?P<bias>-?\d{1,4})\)\s*", re.DOTALL)
_NO_ZONE = re.compile(r"\(PDH-[CT]SV 4\.0\)\s*")
# A quote that is not doubled is part of a name, as recorders do not escape names.
_LONE_QUOTE = re.compile(r'(?<!")"(?:"")*(?!")')
_PATHS = re.compile(rb'[,;\t]?"?\\')
_ROW = re.compile(rb'"?\s*\d{1,4}[-/.]\d')
_MOST_LINES = 20
_SEPARATORS = {",": "commas", "\t": "tabs"}
_TO_DO = "export the log again with relog, or write the paths there"


def find_stated_separator(header: bytes) -> bytes | None:
    """Return the separator that a header's first cell states (PDH-CSV or PDH-TSV); None if the cell states neither."""
    match = _SIGN.match(header)
    return match and (b"," if match[1] == b"C" else b"\t")


def read_header(text: Text, separator: str, remarks: Remarks) -> tuple[str, TableLayout]:
    """Return a header's first cell and the layout of the rows.

    Raise Unusable if the header is incomplete or has no counter.
    """
    line, _, stop = text.first_line
    raw, stop, last = _read_whole_header(text, stop, line, remarks)
    decoded, guessed = text.decode(raw)
    if guessed:
        remarks.add(Kind.GUESSED, f"the header is not UTF-8: {read_as(guessed)}")
    cells, is_cut = _split_cells(decoded.rstrip(" "), separator)
    if is_cut:
        remarks.add(Kind.NOTED, f"the header is cut short: the name of its last column, {len(cells)}, may not be whole")
    if len(cells) < 2:
        raise Unusable(
            f"{text.path}:{line}: the cells of the header are not separated by {_SEPARATORS[separator]}; "
            "export the log again with relog"
            if "\\" in cells[0]
            else f"{text.path}:{line}: the header names no counter; record the log with at least one"
        )
    _fit_last_separator(cells, text.line_at(stop + 1), separator, remarks)
    if not any(cell.startswith("\\") for cell in cells):
        raise explain_missing_paths(text)
    refuse_another_beside(text, cells)
    return cells[0], TableLayout(str(text.path), text.header, stop + 1, last + 1, separator, cells[1:])


def explain_missing_paths(text: Text) -> Unusable:
    """Return the error for a header without counter paths."""
    return Unusable(rf"{text.path}: no column of the header is a counter path such as \\HOST\System\Threads; {_TO_DO}")


def refuse_another_beside(text: Text, cells: Sequence[str]) -> None:
    """Raise Unusable if each line of the file has the cells of two logs side by side."""
    if beside := [at for at, cell in enumerate(cells) if at and cell.startswith("(PDH-")]:
        raise Unusable(
            f"{text.path}:{text.first_line[0]}: another log is beside the first, from column {beside[0] + 1} on; "
            "put each into its own file"
        )


def find_zone(cell: str, zone: Zone | None, remarks: Remarks) -> Zone:
    """Return the zone in a header's first cell, else the caller's `zone`, else an unknown zone, with a remark."""
    match = _ZONE.fullmatch(cell)
    if match and abs(int(match["bias"])) < 24 * 60:
        return make_stated_zone(match["name"], int(match["bias"]), zone, remarks)
    if zone is not None:
        return zone
    if _NO_ZONE.fullmatch(cell):
        remarks.add(
            Kind.GUESSED,
            f"the log does not say its time zone: times are its own clock's; name it with {Parameter.ZONE}",
        )
    else:
        remarks.add(
            Kind.GUESSED,
            f'the time zone in the header is cut off ("{shorten(cell)}"), its offset lost: '
            f"times are the log's own clock's; name the zone with {Parameter.ZONE}",
        )
    return Zone.unknown()


def _read_whole_header(text: Text, stop: int, line: int, remarks: Remarks) -> tuple[bytes, int, int]:
    """Return the header, its end offset and its last line number. The last cell, a description, may span lines.

    Raise Unusable if the names of counters continue on the next line.
    """
    following = text.line_at(stop + 1)
    is_open = text.header.count(b'"') % 2 == 1
    if is_open and not text.header.rpartition(b'"')[2].startswith(b"\\"):
        parts, end = [text.header], stop
        for last in range(line + 1, line + _MOST_LINES):
            parts.append(text.line_at(end + 1).rstrip(b" \r"))
            end += 1 + len(text.line_at(end + 1))
            if _ROW.match(parts[-1]) or end >= len(text.data):
                break
            if b'"' in parts[-1]:
                where = f"goes on in line {last}" if last == line + 1 else f"stands in lines {line} to {last}"
                remarks.add(Kind.REPAIRED, f"the header {where}: joined", line=line, count=last - line)
                return b" ".join(parts), end, last
    goes_on = _PATHS.match(following) or (is_open and b'"' in following and not _ROW.match(following))
    is_bare = b'"' not in text.header and are_words(following.decode("latin-1"))
    if goes_on or (is_bare and not is_typeperf_message(following.decode("latin-1"))):
        raise Unusable(
            f"{text.path}:{line}: the header goes on in line {line + 1}, or rows and columns are swapped; put all "
            "names into one line, or record the log into a file instead of a console"
        )
    return text.header, stop, line


def _split_cells(header: str, separator: str) -> tuple[list[str], bool]:
    """Return the cells of a header, and whether the header is cut short within the last cell."""
    cells = split(header, separator)
    if header.count('"') == 2 * len(cells) and not any('"' in cell for cell in cells):
        return cells, False
    between = f'"{separator}"'
    odd = header[:1] == '"' and header.count('"') % 2 == 1
    named = header.removesuffix(separator)
    if named[:1] != '"' or named[-1:] != '"' or (odd and named.endswith(between)):
        return cells, odd
    parts = named[1:-1].split(between)
    if not any(map(_LONE_QUOTE.search, parts)):
        return cells, odd
    return [*parts, *([""] if named != header else [])], False


def _fit_last_separator(cells: list[str], first: bytes, separator: str, remarks: Remarks) -> None:
    """Add or remove an empty last cell of the header, to fit the first row.

    Header and first row differ if only one of the two lines ends with a separator.
    """
    row = first.rstrip(b"\r")
    is_behind = row.endswith(f'"{separator}'.encode())
    if cells[-1] and not is_behind:  # the usual log
        return
    count = len(split(row.decode("utf-8", errors="replace"), separator))
    if not cells[-1] and count == len(cells) - 1:
        cells.pop()
        remarks.add(Kind.SKIPPED, f"column {len(cells) + 1} has neither a name nor values")
    elif is_behind and count == len(cells) + 1:
        cells.append("")


def is_typeperf_message(line: str) -> bool:
    """Return whether a line is the message that typeperf prints at its end."""
    return line.startswith(_TYPEPERF_SAYS)


def are_words(line: str) -> bool:
    """Return whether a line is prose that can be neither a row nor a part of a row."""
    return bool(_WORDS.match(line))
