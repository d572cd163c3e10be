"""Reads PDH logs that were saved again: other separators, decimal commas, dates in another order.

Only an unambiguous log is read, with remarks; other logs are refused. The log is rewritten line by line as Windows
would have written it, and the rewritten text is read.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice, pairwise
from pathlib import Path

from plimsoll.ingest.formats.perfmon.header import (
    are_words,
    find_stated_separator,
    is_typeperf_message,
    refuse_another_beside,
)
from plimsoll.ingest.formats.perfmon.read import read_pdh, replace_no_data
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text, read_as, split
from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind, Remarks, format_count, shorten

_EXPORT_AGAIN = "export the log again with relog"
_WRITE = f"write times as YYYY-MM-DD HH:MM:SS, or {_EXPORT_AGAIN}"
_WINDOWS = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\.\d+", re.ASCII)
_TIME = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>[./-] ?)(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,4})(?:\.? |T)"
    r"(?P<hour>\d{1,2})(?P<colon>[:.])(?P<minute>\d\d)(?:(?P=colon)(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?: ?(?P<half>AM|PM))?",
    re.IGNORECASE | re.ASCII,
)
# Other forms of times, with the advice for each.
_REASONS = {
    "is no date and time; a spreadsheet may have cut it": re.compile(r"\d+:[\d:.,]+|\d+([./-] ?)\d+\1\d+\.?", re.ASCII),
    "is a day's number as a spreadsheet counts": re.compile(r"[2-6]\d{4}(?:[.,]\d+)?", re.ASCII),
    "counts seconds since 1970": re.compile(r"1\d{9}(?:[.,]\d+)?", re.ASCII),
    "counts milliseconds since 1970": re.compile(r"1\d{12}", re.ASCII),
    "says how far it is from UTC, which the header says": re.compile(r"\d.*:\d\d.*(?:Z|UTC|[+-]\d\d:?\d\d)"),
}
_ORDERS = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}


def _order_of_dates(
    path: Path, times: Sequence[str], lines: Sequence[int], decimal_commas: bool, remarks: Remarks
) -> str:
    """Return the order of day, month and year in all dates of a log: `dmy`, `mdy` or `ymd`.

    Raise Unusable if dates differ in form, if day and month cannot be told apart, or if rows share a time because
    seconds were lost.
    """
    matches: list[re.Match[str]] = []
    for time, line in zip(times, lines, strict=True):
        match = _TIME.fullmatch(time)
        if match is None:
            reason = next((name for name, pattern in _REASONS.items() if pattern.fullmatch(time)), None)
            to_do = _EXPORT_AGAIN if reason and "cut" in reason else _WRITE
            text = f'"{shorten(time)}" {reason or "is no date and time in a way that is known"}: {to_do}'
            raise Unusable(f"{path}:{line}: {text}")
        if matches and _find_form(match) != _find_form(matches[0]):
            raise Unusable(
                f'{path}:{line}: "{time}" is not written as "{times[0]}" in line {lines[0]} is, so a spreadsheet '
                f"took some dates for others; {_EXPORT_AGAIN}"
            )
        matches.append(match)
    if not matches:
        return "mdy"
    order = _order(path, matches, lines, decimal_commas)
    first = matches[0]
    if order != "mdy" or not _WINDOWS.fullmatch(first[0]):
        moment = datetime.strptime(_format_windows_time(path, order, first[0], lines[0])[:10], "%m/%d/%Y")
        text = f'dates are read {_ORDERS[order]}: "{first[0]}" is {moment.day} {moment:%B %Y}'
        if "." not in first["mark"] or any(int(match["a"]) > 12 for match in matches):
            remarks.add(Kind.REPAIRED, text, line=lines[0])
        else:
            remarks.add(Kind.GUESSED, f"{text}, as dots have it; no day above 12 confirms it", line=lines[0])
    if first["second"] is None:
        for line, (match, following) in zip(lines[1:], pairwise(matches), strict=True):
            if match[0] == following[0]:
                raise Unusable(
                    f'{path}:{line}: "{match[0]}" is the time of the row before too: the seconds are lost; '
                    f"{_EXPORT_AGAIN}"
                )
        remarks.add(Kind.NOTED, "times have lost their seconds: each may be off by up to a minute", line=lines[0])
    return order


def _format_windows_time(path: Path, order: str, time: str, line: int) -> str:
    """Return a time in Windows' form. Raise Unusable if its day or hour does not exist."""
    match = _TIME.fullmatch(time)
    if match is None:
        raise ValueError(time)
    parts = dict(zip(order, map(int, match.group("a", "b", "c")), strict=True))
    hour = int(match["hour"])
    if half := match["half"]:
        hour = hour % 12 + 12 * (half.upper() == "PM") if 1 <= hour <= 12 else 99
    try:
        moment = datetime(parts["y"], parts["m"], parts["d"], hour, int(match["minute"]), int(match["second"] or 0))
    except ValueError:
        raise Unusable(f'{path}:{line}: "{time}" is not a time, read {_ORDERS[order]}; {_EXPORT_AGAIN}') from None
    return f"{moment:%m/%d/%Y %H:%M:%S}.{match['part'] or '000'}"


_JOINT = "\x1f"  # between the cells of a row; never in a number
_TO_DO = "export the log again as it was recorded (relog, not a spreadsheet)"
# Invalid UTF-8 may be a no-break space, but only between groups of three digits; elsewhere it is damage.
_GROUPED = re.compile(
    r"(?:[0-9](?:[ '’\u00a0\u2009\u202f][0-9]{3}|[.,][0-9]+[.,][0-9])"
    r"|(?<![0-9.,\ufffd])[0-9]{1,3}(?:\ufffd[0-9]{3})+(?![0-9\ufffd]))[^\x1f]*"
)
_SHORT = re.compile(r"[0-9][.,]?E\+[0-9]+")  # what stands before the last digit does not matter
# Numbers in which a mark cannot stand for thousands: 0,5  1234,567  1,5  1,2345
_DECIMAL = r"(?<![0-9.,])(?:0[0-9]*{0}[0-9]|[0-9]{{4,}}{0}[0-9]|[0-9]+{0}(?:[0-9]{{1,2}}|[0-9]{{4,}})(?![0-9]))"
_IS_DECIMAL = {mark: re.compile(_DECIMAL.format(re.escape(mark))) for mark in ".,"}
_HAS = {mark: re.compile(rf"[0-9]{re.escape(mark)}[0-9]+") for mark in ".,"}
NAME = "PDH-resaved"
_HINT = re.compile(rb'"?sep=(.)"?')
_BEFORE_PATH = re.compile(rb'([,;\t])("*)\\')
_ESXTOP = re.compile(rb'"?\(PDH-CSV 4\.0\) \(UTC\)\(0\)')
_ESX_TIME = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d")
# Cells with a decimal comma; if other cells have points, a comma is damage.
_QUOTED_COMMA = re.compile(rb'"-?\d+,\d+"')
_QUOTED_POINT = re.compile(rb'"-?\d+\.\d+"')
_DIGIT = re.compile(r"\d")
_BEGINS_A_ROW = re.compile(r'"*(\d|$)')
_HEAD = 1 << 16
_MANY_QUOTES = 400
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}


@dataclass(frozen=True)
class _Shape:
    """The form of a log's lines: separator, header, and the header's line number and offset.

    `wrapped` means that a spreadsheet, expecting another separator, put all cells of a line into one cell; `usual` that
    the form is that of Windows.
    """

    line: int
    start: int
    header: bytes
    separator: str
    wrapped: bool
    usual: bool

    def cells(self, line: str) -> list[str]:
        """Return the cells of one line."""
        if not self.wrapped:
            return split(line, self.separator)
        outer = split(line, ";")
        return split(outer[0], self.separator) if outer and not any(cell.strip() for cell in outer[1:]) else outer


@dataclass(frozen=True)
class _ResavedRows:
    """The rows of a log: their times, their other cells joined as text, and their line numbers.

    `lines_behind` has all lines after the header, with an empty line in place of each row. `is_cut` means that the last
    row is incomplete.
    """

    times: list[str]
    values: list[str]
    lines: list[int]
    lines_behind: list[str]
    is_cut: bool


def sniff(text: Text) -> bool:
    """Return whether the file has a PDH header, but separators, times or decimal marks that Windows never writes."""
    shape = _find_shape(text)
    if shape is None:
        return False
    if not shape.usual:
        return True
    end = shape.start + len(shape.header)
    body = text.data[end : end + _HEAD]
    commas = len(list(islice(_QUOTED_COMMA.finditer(body), 2)))
    # A single such number among many is damage.
    if (commas > 1 or (commas and body.count(b'"') < _MANY_QUOTES)) and not _QUOTED_POINT.search(body):
        return True
    first = next((line for line in body.splitlines() if line.strip()), b"")
    shown = next(iter(shape.cells(first.decode("utf-8", errors="replace"))), "").strip()
    time = " ".join(shown.split())
    # esxtop itself writes times without milliseconds; Windows does not.
    return (
        _TIME.fullmatch(time) is not None
        and not _WINDOWS.fullmatch(shown)
        and not (_ESXTOP.match(shape.header) and _ESX_TIME.fullmatch(shown))
    )


def read(text: Text, options: ReadOptions) -> Log:
    """Return the log. Raise Unusable if its dates or numbers are ambiguous or incomplete."""
    remarks = Remarks(str(text.path))
    text = replace_no_data(text, remarks)
    shape = _find_shape(text)
    if shape is None:
        raise Unusable(f"{text.path}: is not a re-saved PDH log")
    header, guessed = text.decode(shape.header)
    if guessed:
        remarks.add(Kind.GUESSED, f"the header is not UTF-8: {read_as(guessed)}")
    if not shape.usual:
        separated = f"cells are separated by {_NAMES[shape.separator]}"
        how_saved = "each line was put into one cell" if shape.wrapped else separated
        remarks.add(Kind.REPAIRED, f"the log was re-saved: {how_saved}", line=shape.line)
    cells = shape.cells(header.rstrip(" "))
    refuse_another_beside(text, cells)
    rows = _split_rows(text, shape, remarks)
    mark = _find_decimal_mark(text.path, rows.values, rows.lines, shape.separator, remarks)
    order = _order_of_dates(text.path, rows.times, rows.lines, mark == ",", remarks)
    lines = [*([""] * (shape.line - 1)), _quote_cells(cells), *rows.lines_behind]
    for number, time, values in zip(rows.lines, rows.times, rows.values, strict=True):
        numbers = (values.replace(",", ".") if mark == "," else values).split(_JOINT)
        written = _format_windows_time(text.path, order, time, number)
        lines[number - 1] = _quote_cells([written, *(cell.strip() or " " for cell in numbers)])
    rewritten = "\n".join(lines) + ("" if rows.is_cut else "\n")
    log = read_pdh(Text(text.path, rewritten.encode(), "utf-8"), NAME, ",", options)
    return replace(log, remarks=(*remarks, *log.remarks))


def _find_shape(text: Text) -> _Shape | None:
    """Return the form of a log's lines; None if the file has no PDH header."""
    number, start, stop = text.first_line
    header = text.header
    hint = _HINT.fullmatch(header)
    if hint:
        number, start = number + 1, stop + 1
        header = text.line_at(start).rstrip(b"\r")
    usual_separator = find_stated_separator(header)
    path = _BEFORE_PATH.search(header) if usual_separator else None
    if not path:
        return None
    wrapped = len(path[2]) > 1
    usual = not (wrapped or hint) and path[1] == usual_separator
    return _Shape(number, start, header, path[1].decode(), wrapped, usual)


def _split_rows(text: Text, shape: _Shape, remarks: Remarks) -> _ResavedRows:
    # Numbers and times are ASCII.
    """Return the rows of a log, and its other lines; an incomplete last row loses its last cell."""
    lines = [line.rstrip("\r") for line in text.data[shape.start :].decode("utf-8", errors="replace").split("\n")]
    last = lines[-1]
    # A last number without quotes may be cut short.
    is_cut = text.data[-1:] not in (b"\n", b"\r", b'"', b" ", b"\0") and bool(_DIGIT.search(last))
    if is_cut:
        last = last.rpartition(shape.separator)[0]
    if lines[-1] and shape.separator not in last and _BEGINS_A_ROW.match(lines[-1]):
        remark = "the last row is cut short before its first value: left out"
        remarks.add(Kind.SKIPPED, remark, line=shape.line + len(lines) - 1)
        last, is_cut = "", False
    rows = _ResavedRows([], [], [], [], is_cut)
    empty: list[int] = []
    width = len(shape.cells(lines[0]))
    for number, line in enumerate([*lines[1:-1], last] if len(lines) > 1 else (), shape.line + 1):
        cells = shape.cells(line) if line.strip() and "\0" not in line.rstrip("\0") else []
        has_only_words = len(cells) not in (0, width) and are_words(cells[0]) and not _DIGIT.search(cells[0])
        if len(cells) > 1 and find_stated_separator(cells[0].encode()):
            rows.lines_behind.append(_quote_cells(cells))
        elif len(cells) < 2 or has_only_words or is_typeperf_message(line):
            rows.lines_behind.append(line)
        else:
            rows.lines_behind.append("")
            if any(cell.strip() for cell in cells):
                rows.times.append(" ".join(cells[0].split()))
                rows.values.append(_JOINT.join(cells[1:]))
                rows.lines.append(number)
            else:
                empty.append(number)
    if empty:
        remarks.add(Kind.SKIPPED, f"{format_count(len(empty), 'empty row')}: left out", line=empty[0], count=len(empty))
    return rows


def _quote_cells(cells: Sequence[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


def _find_decimal_mark(path: Path, rows: Sequence[str], lines: Sequence[int], separator: str, remarks: Remarks) -> str:
    """Return the decimal mark of all numbers: a point or a comma.

    Raise Unusable if numbers have thousands separators or both marks, or if a mark is ambiguous.
    """
    first: dict[str, tuple[int, str]] = {}
    certain: set[str] = set()
    rounded = 0
    for line, row in zip(lines, rows, strict=True):
        if grouped := _GROUPED.search(row):
            start = row.rfind(_JOINT, 0, grouped.start()) + 1
            shown = shorten(row[start : grouped.end()])
            raise Unusable(f'{path}:{line}: "{shown}" has its thousands marked, so it is not certain; {_TO_DO}')
        for mark in ".,":
            if mark in row and mark not in certain:
                if mark not in first and (match := _HAS[mark].search(row)):
                    first[mark] = (line, shorten(row[row.rfind(_JOINT, 0, match.start()) + 1 : match.end()]))
                if _IS_DECIMAL[mark].search(row):
                    certain.add(mark)
        rounded += len(_SHORT.findall(row)) if "E+" in row else 0
    if len(first) > 1:
        (point, pointed), (comma, shown) = first["."], first[","]
        raise Unusable(
            f'{path}:{max(point, comma)}: there are numbers with points ("{pointed}") and with commas ("{shown}"), '
            f"so what the marks mean is not certain; {_TO_DO}"
        )
    mark = "," if "," in first else "."
    # In a comma-separated log, Windows itself wrote points.
    if first and mark not in certain and not (mark == "." and separator == ","):
        line, shown = first[mark]
        raise Unusable(f'{path}:{line}: "{shown}" may be a fraction or thousands, and no number settles it; {_TO_DO}')
    if mark == ",":
        line, shown = first[mark]
        remarks.add(Kind.REPAIRED, f'numbers have decimal commas ("{shown}"): read as decimal points', line=line)
    if rounded:
        remarks.add(
            Kind.NOTED, f"{format_count(rounded, 'number')} rounded by a spreadsheet (such as 8.12E+08)", count=rounded
        )
    return mark


def _find_form(match: re.Match[str]) -> tuple[object, ...]:
    """Return the form of a time, for a check that all times of a log have the same form.

    If the year comes first, a time with a fraction and a time without have the same form.
    """
    year_first = len(match["a"]) == 4
    parts = ("second", "half") if year_first else ("second", "part", "half")
    return (match["mark"], year_first, *(match[part] is None for part in parts))


def _order(path: Path, matches: Sequence[re.Match[str]], lines: Sequence[int], decimal_commas: bool) -> str:
    """Return the order in all dates, `dmy`, `mdy` or `ymd`, from parts that can only be a year or a day.

    Raise Unusable if the order is ambiguous, or differs between dates.
    """
    first = matches[0]
    if len(first["a"]) == 4:
        return "ymd"
    for match, line in zip(matches, lines, strict=True):
        if len(match["c"]) != 4:
            raise Unusable(
                f'{path}:{line}: the year of "{match[0]}" has two digits, so which part it is and of which century is '
                "not certain; write years with four digits, or export a log of Windows again with relog"
            )
    if "." in first["mark"]:
        return "dmy"
    day_first = next((at for at, match in enumerate(matches) if int(match["a"]) > 12), None)
    month_first = next((at for at, match in enumerate(matches) if int(match["b"]) > 12), None)
    if day_first is not None and month_first is not None:
        raise Unusable(
            f'{path}:{lines[month_first]}: "{matches[month_first][0]}" has the month first and '
            f'"{matches[day_first][0]}" in line {lines[day_first]} the day; {_EXPORT_AGAIN}'
        )
    if day_first is not None:
        return "dmy"
    # Windows writes milliseconds, two digits throughout, and the month first. Decimal commas show that another program
    # used another country's format.
    untouched = all(_WINDOWS.fullmatch(match[0]) for match in matches) and not decimal_commas
    if month_first is not None or untouched or all(match["a"] == match["b"] for match in matches):
        return "mdy"
    raise Unusable(
        f'{path}:{lines[0]}: whether "{first[0]}" has the day or the month first cannot be told, as no day is above '
        f"12; {_EXPORT_AGAIN}"
    )
