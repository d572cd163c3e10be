"""Reads rows slowly, line by line. A line that may not be a complete row is left out, with a remark."""

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from plimsoll.ingest.formats.perfmon.header import TableLayout, are_words, is_typeperf_message
from plimsoll.ingest.formats.perfmon.left_out import LeftOut
from plimsoll.ingest.formats.perfmon.regular import TIME, Rows, make_schema, parse_wall_clock
from plimsoll.ingest.shared.text import split
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import format_count, shorten

# A row in which only some cells are quoted.
_MIXED = r'(?:"[^"]*"|[^"{0}]*)(?:{0}(?:"[^"]*"|[^"{0}]*))*'
_JOINT = "\x1f"  # only between cells, never in a number or time
_TIME = re.compile(r"\s*\d\d?\s*/\s*\d\d?\s*/\s*\+?\d{4}\s*\d\d?\s*:\s*\d\d?\s*:\s*\d[\d.\s]*")
_DAY_FIRST = re.compile(r"\s*(?:1[3-9]|2\d|3[01])/(?:0\d|1[0-2])/\d{4} ")
# A last row that is cut within its time.
_CUT_TIME = re.compile(r"[\d/]{0,10}( [\d:.]*)?")
# A cell in which another row continues, as after a lost block of the file: a date or time, two points, control
# characters, or one character repeated.
_TWO_ROWS = re.compile(r"\d/\d\d/\d{4}|\d:\d\d\.\d|\d\.\d+\.\d|[\x01-\x08\x0e-\x1f]|([^-])\1{15}")
_LONGEST_CELL = 40  # characters on average: a longer line is no row
_COUNTER = re.compile(r'[,;\t"]\\\\[^\\"]+\\[^\\"]')
# Behind the last row typeperf blanks out "please wait" with wide spaces: of Shift JIS, of GBK and EUC, and of Big5.
_WIDE_SPACES = re.compile(rb'(?<=")[ \t]*(?:(?:\x81\x40|\xa1\xa1|\xa1\x40)[ \t]*)+(?=\r?$)', re.MULTILINE)
_NO_MATCH = (
    "the header has {} but the row has {}, so it is not certain which value is of which counter; record the log "
    "again, or correct the header or the rows"
)
_NO_TIME = (
    '"{}" is not a time as Perfmon writes it (MM/DD/YYYY HH:MM:SS.mmm); a spreadsheet may have cut it: export the log '
    "again with relog"
)


class LinePiece(NamedTuple):
    """A piece of a file: complete lines.

    `is_last` means that the piece has the last line of the file, `is_open` that this last line has no line end, and
    `next_has_return` that the first line after the piece, if any, ends with a carriage return.
    """

    data: bytes
    is_last: bool
    is_open: bool
    next_has_return: bool


class ByLine:
    """Reads pieces of a log line by line. `headers` are the numbers of the lines that repeat the header."""

    def __init__(self, layout: TableLayout, left_out: LeftOut) -> None:
        self._layout = layout
        self._header = layout.header.decode("utf-8", errors="replace").strip()
        self._sign = self._header.lstrip('"').partition(" ")[0]
        self._mixed = re.compile(_MIXED.format(re.escape(layout.separator)))
        self.headers: list[int] = []
        self._left_out = left_out
        self._after_return = True
        self._lost_cells = False

    def read(self, piece: LinePiece, first_line: int) -> Rows:
        """Return the rows of a piece. Raise Unusable if another log begins in the piece."""
        data = piece.data
        if not data.isascii():
            data = _WIDE_SPACES.sub(b"", data.replace(b"\n" + BOM_UTF8, b"\n").removeprefix(BOM_UTF8))
        lines = data.decode("utf-8", errors="replace").removesuffix("\n").replace(_JOINT, "\ufffd").split("\n")
        written = [at for at, line in enumerate(lines) if line.strip()]
        returns = [self._after_return, *(lines[at].endswith("\r") for at in written), piece.next_has_return]
        self._after_return = returns[-2]
        # If only one line lacks a carriage return, its last number may be incomplete.
        torn = {
            at
            for place, at in enumerate(written, 1)
            if not returns[place] and returns[place - 1] and returns[place + 1]
        }
        rows: list[list[str]] = []
        numbers: list[int] = []
        for at in written:
            is_last = piece.is_last and at == written[-1]
            is_open = is_last and piece.is_open
            row = self._split_row(lines[at], first_line + at, is_torn=at in torn, is_last=is_last, is_open=is_open)
            if row:
                rows.append(row)
                numbers.append(first_line + at)
        parsed = self._parse_rows(rows, numbers)
        self._left_out.count(parsed)
        return parsed

    def _split(self, line: str) -> list[str] | None:
        """Return the cells of a line; None if its quotes are damaged."""
        separator = self._layout.separator
        if '"' not in line:
            return line.split(separator)
        if line[0] == '"' and line[-1] == '"':
            cells = line[1:-1].split(f'"{separator}"')
            if line.count('"') == 2 * len(cells):
                return cells
        return split(line, separator) if self._mixed.fullmatch(line) else None

    def _split_whole_cells(self, line: str, *, is_open: bool) -> list[str] | None:
        """Return the complete cells of the file's last row; None if the row was not cut short, or is damaged.

        A row with a line end counts as cut short only if it ends within quotes.
        """
        separator = self._layout.separator
        if line[0] == '"':
            *whole, rest = line[1:].split(f'"{separator}"')
            closed = rest.removesuffix(separator)
            if closed.endswith('"'):
                if not is_open:
                    return None
                whole.append(closed[:-1])
            return None if any('"' in cell for cell in (*whole, rest.rstrip(f'"{separator}'))) else whole
        cells = self._split(line) if is_open else None
        return cells if cells is None or line[-1] == '"' else cells[:-1]

    def _split_row(self, line: str, number: int, *, is_torn: bool, is_last: bool, is_open: bool) -> list[str] | None:
        """Return the cells of a row; None if the line is left out.

        `is_torn` means that the line, but no line beside it, lacks a carriage return; `is_last` and `is_open` are as in
        LinePiece.
        """
        line = line.rstrip("\r")
        if line[-1:].isspace() and line.rstrip().endswith('"'):
            line = line.rstrip()  # typeperf writes spaces after its last row
        if line.lstrip(' "').startswith(self._sign):
            self._take_header(line, number)
            return None
        width = self._layout.width
        if "\0" in line:
            reason = "the row holds zero bytes: left out, as part of another row may follow them"
            self._left_out.rows.append((number, reason, "the row holds zero bytes; copy or record the log again"))
            return None
        cells = self._split(line)
        if cells and len(cells) == self._layout.quoted:
            cells += [""] * (width - len(cells))
        is_bare = is_open and line[-1] not in '" '
        if is_last and (cells is None or len(cells) < width or is_bare):
            whole, text = self._split_whole_cells(line, is_open=is_open), line.strip('"')
            begins_with_a_time = _TIME.match(text) or _CUT_TIME.fullmatch(text)
            if whole is not None and len(whole) < width and (len(whole) > 1 or begins_with_a_time):
                return self._cut(whole, number)
        if cells is None or len(cells) != width or not _TIME.fullmatch(cells[0]):
            self._take_other(line, cells, number)
            return None
        if _DAY_FIRST.match(cells[0]):
            self._left_out.day_first.append((number, shorten(cells[0])))
        if is_torn and '"' not in line:
            reason = "the line ends otherwise than those around it, so that it may be cut"
            self._left_out.rows.append((number, f"{reason}: left out", f"{reason}; record the log again"))
            return None
        return cells

    def _cut(self, whole: list[str], number: int) -> list[str] | None:
        """Return the cells of the file's last row, which was cut short, filled up with blanks; add a remark.

        Return None if the row is left out.
        """
        width = self._layout.width
        if self._lost_cells:
            # If earlier rows lost cells, it is unknown which cells these are.
            text, row = "the last row is cut short behind rows that are damaged: left out", None
        elif len(whole) > 1:
            text = f"the last row is cut short: kept its first {len(whole)} of {width} cells"
            row = [*whole, *[""] * (width - len(whole))]
        else:
            text, row = "the last row is cut short before its first value: left out", None
        self._left_out.lines.append((number, text))
        return row

    def _take_header(self, line: str, number: int) -> None:
        if line.strip() != self._header:
            raise self._explain_another_log(number, "here")
        self.headers.append(number)
        self._left_out.lines.append((number, "the header is here again"))

    def _take_other(self, line: str, cells: list[str] | None, number: int) -> None:
        """Leave out a line that is not a row, with a remark. Raise Unusable if the line is another log's header."""
        if is_typeperf_message(line.strip()):
            self._left_out.lines.append((number, f'typeperf\'s closing line "{line.strip()}"'))
            return
        if "\\\\" in line and _COUNTER.search(line) and self._header not in line:
            raise self._explain_another_log(number, "here" if _COUNTER.search(line[:64]) else "within this line")
        width, text = self._layout.width, shorten(cells[0] if cells else "")
        if cells and len(cells) == width and not are_words(line):
            self._left_out.rows.append((number, f'"{text}" is not a time: the row is left out', _NO_TIME.format(text)))
            return
        has = format_count(len(cells or ()), "cell")
        reason = f"the row has {has} where the header has {width}"
        refusal = _NO_MATCH.format(format_count(width, "cell"), len(cells or ()))
        if cells is None:
            reason = "the row has a quote too many or too few"
            refusal = f"{reason}; export the log again with relog"
        if are_words(line):
            reason = f'"{shorten(line.strip())}" is no row'
        else:
            self._lost_cells = True
        if _TIME.match(line.lstrip('"')) and len(line) <= _LONGEST_CELL * width:
            self._left_out.rows.append((number, f"{reason}: left out", refusal))
        else:
            self._left_out.lines.append((number, f"{reason}: left out"))
            self._left_out.rubble.append((number, len(line) + 1, refusal))

    def _explain_another_log(self, number: int, place: str) -> Unusable:
        before = "this line" if place == "here" else "its header"
        return Unusable(
            f"{self._layout.file}:{number}: another log with a header of its own begins {place}; "
            f"split the file before {before}"
        )

    def _parse_rows(self, rows: list[list[str]], lines: list[int]) -> Rows:
        """Return parsed times and numbers. Rows without a time, or with parts of two rows, are left out."""
        frame = self._build_frame(rows)
        local = parse_wall_clock(frame.drop_in_place(TIME))
        doubtful: set[int] = set()
        for row in np.flatnonzero(local.is_null().to_numpy()).tolist():
            text = shorten(rows[row][0])
            reason = f'"{text}" is not a time: the row is left out'
            self._left_out.rows.append((lines[row], reason, _NO_TIME.format(text)))
            doubtful.add(row)
        parsed: dict[int, dict[int, float]] = {}
        is_missing = np.isnan(frame.to_numpy()) if len(rows) else np.zeros((0, 0), dtype=bool)
        blanks = [row.count(" ") + row.count("") for row in rows]
        # If more values are missing than cells are blank, some cells are text, or numbers that polars refuses.
        for row in np.flatnonzero(is_missing.sum(axis=1) != blanks).tolist():
            strange: list[tuple[int, str]] = []
            for at in np.flatnonzero(is_missing[row]).tolist():
                if not (text := rows[row][at + 1].strip()):
                    continue
                if (value := _number(text)) is not None:
                    parsed.setdefault(at, {})[row] = value
                elif self._layout.counters[at].startswith("\\") and _TWO_ROWS.search(text[:200]):
                    doubtful.add(row)
                    reason = f'"{shorten(text)}" may be where another row goes on'
                    self._left_out.rows.append((lines[row], f"{reason}: left out", f"{reason}; record the log again"))
                    break
                else:
                    strange.append((at, text))
            for at, text in strange if row not in doubtful else ():
                self._left_out.add_cell(at, lines[row], text)
        for at, values in parsed.items():
            frame.replace_column(at, frame.to_series(at).scatter(list(values), list(values.values())))
        if not doubtful:
            return Rows(local, frame.get_columns(), lines)
        kept = [row for row in range(len(rows)) if row not in doubtful]
        return Rows(local[kept], frame[kept].get_columns(), [lines[row] for row in kept])

    def _build_frame(self, rows: Sequence[Sequence[str]]) -> pl.DataFrame:
        """Return the numbers of rows as columns; null for cells that polars does not read as numbers."""
        schema = make_schema(self._layout)
        if not rows:
            return pl.DataFrame(schema=schema)
        text = "\n".join(map(_JOINT.join, rows)).encode()
        return pl.read_csv(text, has_header=False, separator=_JOINT, quote_char=None, schema=schema, ignore_errors=True)


def _number(text: str) -> float | None:
    """Return the number in a cell, in any form that `float` accepts; None if the cell holds no number."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
