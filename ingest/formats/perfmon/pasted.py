"""Logs that went through a console, a page or a chat: text before the header, lines indented, quoted or broken.

They are put right before any reader sees them. Each row stays at its line number, since what is taken out
before it leaves blank lines. A log as it was recorded is passed on after a look at its header and at the line
that follows; what typeperf writes beside samples is for `ingest.formats.perfmon.console`.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from ingest.formats.perfmon.console import only_samples
from ingest.formats.perfmon.lines import is_closing
from ingest.formats.perfmon.sign import SIGN, own_separator
from ingest.shared.shorten import short
from ingest.shared.text import Text
from model.errors import Unusable
from model.remark import Kind, Remarks, counted

_LINES = 51  # the header's own, and what may be before it
_HEAD = 1 << 20
# A header after other text in one line, as where a program's complaints went into the same file.
_WITHIN = re.compile(rb'(?<=[^,;\t "\\])"' + SIGN)
_WIDE_SIGN = re.compile(rb"\(PDH-[CT]SV\xc2\xa04\.0\)")
_SIGN_IN_ANY_CASE = re.compile(SIGN, re.IGNORECASE)
_ANY_SIGN = re.compile(rb'"?' + SIGN)
# What a mail, a line counter, a clock or diff puts before each line; an index column would have a separator.
_MARK = re.compile(rb"""[^"'`,;(<]*[ \t:>+\]]""")
_NUMBER = re.compile(rb"\d+")
# Tabs may be separators, but for those before a quote or a header.
_INDENT = re.compile(rb'^(?: +|[ \t]+(?=["(]))(?=\S)', re.MULTILINE)
_INDENTED_ROW = re.compile(rb'\s*?\n +["\d]')
_SEPARATORS = (b",", b";", b"\t")
_PATHS = re.compile(rb'([,;\t]?)"?\\')  # no row begins so
# A header whose second cell is a time, over a line that begins with a path.
_SWAPPED = re.compile(SIGN + rb"""[^"\\\n]{,99}"?[,;\t]"?\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[ T][^\n]*\n"?\\""")
_WIDTHS = (80, 120)  # of consoles, unless they were changed
_ROW = re.compile(rb'"?\s*(?:\d{1,4}[-/.]|\(PDH-)')
# A row in what stands before a header: that header was moved, and what is before it is no preamble.
_ROWS = re.compile(rb'^[ \t]*"?\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}[ T][^,;\t\n]*[,;\t]', re.MULTILINE)
_WORDS = re.compile(rb'\s*[^\s\d"(]')


def put_right(text: Text, is_log: Callable[[Text], bool], remarks: Remarks) -> Text:
    """The text as it was recorded, as far as that is certain; all that is done is remarked.

    `is_log` is whether a text begins like a log. Unusable if a header is broken within a name.
    """
    if not is_log(text):
        text = _without_marks(_with_capitals(_with_plain_spaces(text, remarks), remarks), remarks)
        found = _beginning(text, is_log)
        if not found or _ROWS.search(text.data, 0, found[1]):
            return text
        _tell_before(text, *found, remarks)
        text = text.rewritten(found[0], b"", found[1])
    return only_samples(_with_whole_header(_without_indent(text, remarks), remarks), remarks)


def _with_plain_spaces(text: Text, remarks: Remarks) -> Text:
    """The text with spaces for those that a page or a word processor put there so that no line breaks at them."""
    sign = _WIDE_SIGN.search(text.data[:_HEAD])
    if not sign:
        return text
    data = text.data[:].replace(b"\xc2\xa0", b" ")
    line = text.data[: sign.start()].count(b"\n") + 1
    remarks.add(Kind.REPAIRED, "spaces are no-break spaces: read as plain ones", line=line)
    return replace(text, data=data)


def _with_capitals(text: Text, remarks: Remarks) -> Text:
    """The text with headers that begin as Windows writes it, where all was put into lower case."""
    sign = _SIGN_IN_ANY_CASE.search(text.data[:_HEAD])
    if not sign or sign[0].isupper():
        return text
    data = _SIGN_IN_ANY_CASE.sub(lambda found: found[0].upper(), text.data[:])
    line = text.data[: sign.start()].count(b"\n") + 1
    remarks.add(Kind.REPAIRED, f'"{sign[0].decode()}" is read in capitals', line=line)
    return replace(text, data=data)


def _without_marks(text: Text, remarks: Remarks) -> Text:
    """The text without what stands before its header and each line that follows, but for the numbers in it."""
    head = text.data[:_HEAD]
    sign = _ANY_SIGN.search(head)
    start = head.rfind(b"\n", 0, sign.start()) + 1 if sign else 0
    before = head[start : sign.start()] if sign else b""
    line = head.count(b"\n", 0, start) + 1
    if not before.strip() or not _MARK.fullmatch(before) or line > _LINES:
        return text
    mark = rb" *" + rb"\d+".join(re.escape(part) for part in _NUMBER.split(before.strip()))
    spaces = re.escape(before[len(before.rstrip()) :])
    if not re.compile(rb"[^\n]*\n" + mark + spaces + rb'"?[\d\\]').match(head, start):
        return text
    data, count = re.subn(rb"^" + mark + rb"(?:" + spaces + rb"|\s*?$)", b"", text.data, flags=re.MULTILINE)
    shown = short(before.strip().decode("utf-8", errors="replace"))
    like = " or the like" if _NUMBER.search(before) else ""
    told = f'"{shown}"{like} before {counted(count, "line")}: read without it'
    remarks.add(Kind.REPAIRED, told, line=line, count=count)
    return replace(text, data=data)


def _beginning(text: Text, is_log: Callable[[Text], bool]) -> tuple[int, int] | None:
    """Where a log begins that is indented or stands behind other text: in which line, and where in the file."""
    head = text.data[:_HEAD]
    start = 0
    for number, line in enumerate(head.split(b"\n", _LINES)[:_LINES], 1):
        indent = len(line) - len(line.lstrip())
        if is_log(replace(text, data=head[start + indent :])):
            return number, start
        if (within := _WITHIN.search(line)) and is_log(replace(text, data=head[start + within.start() :])):
            return number, start + within.start()
        start += len(line) + 1
    return None


def _tell_before(text: Text, number: int, start: int, remarks: Remarks) -> None:
    if before := text.data[:start].strip():
        lines = max(number - 1, 1)
        said = counted(number - 1, "line") if number > 1 else "text"
        shown = short(before.split(b"\n")[0].rstrip(b"\r").decode("utf-8", errors="replace"))
        remarks.add(Kind.SKIPPED, f'{said} before the header: left out ("{shown}")', line=1, count=lines)


def _without_indent(text: Text, remarks: Remarks) -> Text:
    _, start, stop = text.first_line
    is_header = text.data[start : start + 1] in (b" ", b"\t")
    if not is_header and not _INDENTED_ROW.match(text.data, stop):
        return text
    data, count = _INDENT.subn(b"", text.data)
    first = text.data[: start if is_header else stop].count(b"\n") + (1 if is_header else 2)
    remarks.add(Kind.REPAIRED, f"{counted(count, 'line')} indented: read without the spaces", line=first, count=count)
    return replace(text, data=data)


def _with_whole_header(text: Text, remarks: Remarks) -> Text:
    """The text with a header that goes on in the next lines in one.

    Unusable where it is broken within a name, or what goes on there are counters, each in a line with its values.
    """
    first, start, stop = text.first_line
    separator = own_separator(text.header)
    if not separator:
        return text
    if _SWAPPED.match(text.data, start + text.header.index(b"(")):
        raise Unusable(
            f"{text.path}:{first}: rows and columns are swapped: times stand side by side here and each counter in a "
            "line of its own; transpose the table, then read it"
        )
    if wrapped := _wrapped(text, separator):
        header, lines, stop = wrapped
        last = first + lines - 1
        told = f"a console broke the header after every {len(text.header)} characters, up to line {last}: joined"
        remarks.add(Kind.REPAIRED, told, line=first, count=lines - 1)
        return text.rewritten(last, header, stop)
    parts, last = [text.header.rstrip(b" ")], first
    cell = _open_cell(text.header, None)
    try:
        while (line := text.line_at(stop + 1)) and (glue := _glue(parts[-1], line, cell, separator)) is not None:
            parts += (glue, line.rstrip(b" \r"))
            cell = _open_cell(line, cell)
            last, stop = last + 1, stop + 1 + len(line)
    except _WithinName:
        raise Unusable(
            f"{text.path}:{last}: the header breaks off within a name and goes on in line {last + 1}; join the "
            "two lines, with a space between them where the name has one; if a console broke them at its width, record "
            "the log into a file instead"
        ) from None
    if b'"' not in text.header and _WORDS.match(line) and not is_closing(line):
        remarks.add(
            Kind.NOTED, f"line {last + 1} is no row: the name of the last column may go on there", line=last + 1
        )
    if last == first:
        return text
    where = f"goes on in line {last}" if last == first + 1 else f"stands in lines {first} to {last}"
    remarks.add(Kind.REPAIRED, f"the header {where}: joined", line=first, count=last - first)
    return text.rewritten(last, b"".join(parts), stop)


def _wrapped(text: Text, separator: bytes) -> tuple[bytes, int, int] | None:
    """A header that a console broke at its width, in one: with how many lines it has and where the last one ends.

    Certain where it has three lines or more, all but the last as long as a console is wide, and all cells are paths.
    """
    if len(text.header) not in _WIDTHS:
        return None
    _, _, stop = text.first_line
    lines = [text.header]
    while len(lines[-1]) == len(text.header) and (line := text.line_at(stop + 1)) and not _ROW.match(line):
        lines.append(line.rstrip(b"\r"))
        stop += 1 + len(line)
    header = b"".join(lines)
    if len(lines) < 3 or len(lines[-1]) > len(text.header) or not header.endswith(b'"') or not header.isascii():
        return None
    _, *paths = header[:-1].split(b'"' + separator + b'"')
    are_whole = all(path.startswith(b"\\\\") and b'"' not in path for path in paths)
    return (header, len(lines), stop) if paths and are_whole else None


def _open_cell(line: bytes, before: bytes | None) -> bytes | None:
    """What the cell begins with whose quote is open at the end of a line, or was before it; None if none is."""
    if (before is not None) == (line.count(b'"') % 2 == 1):
        return None
    _, quote, rest = line.rpartition(b'"')
    return rest[:1] if quote else before or line[:1]


class _WithinName(Exception):
    """A line of a header ends within a name, and nobody can tell whether a space was there."""


def _glue(header: bytes, line: bytes, cell: bytes | None, separator: bytes) -> bytes | None:
    """What belongs between a line of a header, with such a cell open, and the next; None if that is no part of it."""
    if cell is not None:
        if line.startswith(b"\\"):
            return b""  # a name neither begins nor ends with a space
        if _ROW.match(line):
            return None
        if cell not in (b"\\", b"("):
            return b" "  # a Data Collector Set's description
        if header.endswith(b"\\"):
            return b""
        if line.count(b'"') % 2 or separator + b'"\\' in line:
            raise _WithinName
        return None
    paths = _PATHS.match(line)
    if not paths:
        if b'"' not in header + line and separator + b"\\\\" in line and not _ROW.match(line):
            raise _WithinName
        return None
    if paths[1] or header.endswith(_SEPARATORS):
        return b""
    if header.endswith(b'"') or b"\\" not in header:
        return separator
    raise _WithinName
