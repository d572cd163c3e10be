"""Lines of `sadf -d` as sadf writes them, of what people made of them.

Semicolons are replaced (`sed 's/;/,/g'`), collectors put a cell before each row, pandas a number, and the `# ` of
headers is taken off as if it were a comment's; lines are quoted, numbered (`grep -n`), or filled up with separators by
a spreadsheet. A header says all this for certain, since its first three names are always the same, and no name or
number ends as what is behind the last one; each holds up to the next one. What aligns cells (`column -o ';'`) or is
left behind them by a terminal or a web page is no part of them. Lines keep their numbers.
"""

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from model.remark import Kind, Remarks, counted, short

HEADER = "# hostname;interval;timestamp"
_BLANK = " \t\xa0"
_ANY = f"[{_BLANK}]*"
_SPACES = "[ \xa0]*"  # without tabs, which may be separators
_NAMES = re.compile(rf"hostname{_SPACES}([;,\t]){_SPACES}interval{_SPACES}\1{_SPACES}timestamp")
_RAW_SPACES = rb"[ \xc2\xa0]{0,100}"  # the no-break space of UTF-8 and that of code pages
_HEADER = re.compile(
    rb"[^;,\t\n]{0,100}?[;,\t:]?_(# ?)?hostname_([;,\t])_interval_\2_timestamp".replace(b"_", _RAW_SPACES)
)
_EVENT = re.compile(rb"([^;,\t\n]*[;,\t]){1,2}_-1_[;,\t][^\n]*[;,\t]_(LINUX-RESTART|COM )".replace(b"_", _RAW_SPACES))
_COMMENT = re.compile(rf";{_ANY}-1{_ANY};[^;]*;{_ANY}(?=COM )")
_TIME = 2  # the cell of it
_TAIL = re.compile(r"[^\w%.*\]]*")  # backwards: what no name ends in
_NUMBER = re.compile(r"\d+")
_HEAD = 1 << 16
_CHUNK = 1 << 18  # stays in a processor's cache
_SIGNS = {",": "commas", "\t": "tabs"}


@dataclass(frozen=True)
class _Header:
    """Where a header begins, and how it and the lines after it differ from sadf's own.

    `lead` and `tail` stand before and behind each line; `is_apart` is whether white space stands behind `lead`.
    """

    start: int
    lead: str
    is_apart: bool
    mark: str
    names: str
    separator: str
    tail: str

    @property
    def is_plain(self) -> bool:
        return (self.lead, self.mark, self.separator, self.tail) == ("", "# ", ";", "")

    @property
    def is_counted(self) -> bool:
        """Whether `lead` holds a number that may be another before each line; a first cell is one and the same."""
        return not self.lead.endswith(self.separator) and _NUMBER.search(self.lead) is not None


def begins(line: bytes, data: bytes | mmap.mmap) -> bool:
    """Whether a file's first line is a header, or a restart or comment with a header after it."""
    if _HEADER.match(line):
        return True
    return bool(_EVENT.match(line)) and any(_HEADER.match(after) for after in data[:_HEAD].splitlines())


def plain(text: str, remarks: Remarks) -> str:
    """The text as sadf writes it; what had to be put right is remarked."""
    text = _without_numbers(text.replace("\r\n", "\n"), remarks)
    headers = list(_headers(text))
    if not all(header.is_plain for header in headers):
        _tell(text, headers, remarks)
        ends = [header.start for header in headers[1:]] + [len(text)]
        starts = [0, *ends]  # what stands before the first header is as what comes after it
        text = "".join(_mended(text[a:b], header) for a, b, header in zip(starts, ends, headers, strict=False))
    return _stripped(text, remarks) if _may_have_blanks(text) else text


def _headers(text: str) -> Iterator[_Header]:
    line_end = -1
    for found in _NAMES.finditer(text):
        if found.start() < line_end:  # of a line's names the first alone may be in its first cells
            continue
        start = text.rfind("\n", 0, found.start()) + 1
        line_end = text.find("\n", found.end())
        line_end = len(text) if line_end < 0 else line_end
        before = text[start : found.start()]
        lead = before.removesuffix("# ").removesuffix("#")
        mark = before[len(lead) :]
        blank = _blank(found[1])
        is_apart = lead.rstrip(blank) != lead
        lead = lead.strip(blank)
        # A comment may hold the names of a header, but it is not in the first cell or the second.
        if not re.search(r"[;,\t]", lead[:-1]):
            backwards = _TAIL.match(text[found.end() : line_end][::-1])
            tail = backwards[0][::-1].strip(blank) if backwards else ""
            yield _Header(start, lead, is_apart, mark, found[0], found[1], tail)


def _without_numbers(text: str, remarks: Remarks) -> str:
    """The text without a first column in which the lines behind the first header are counted from 0."""
    header = next(_headers(text), None)
    if header is None or header.lead != header.separator:
        return text
    cells = [line.split(header.separator, 1)[0] for line in text.split("\n") if line]
    if cells != ["", *map(str, range(len(cells) - 1))]:
        return text
    told = "lines are numbered in a first column without a name, as pandas does: read without it"
    remarks.add(Kind.REPAIRED, told, line=text.count("\n", 0, header.start) + 1, count=len(cells))
    return re.sub(rf"^\d*{header.separator}", "", text, flags=re.MULTILINE)


def _blank(separator: str) -> str:
    return _BLANK.replace(separator, "")


def _mended(piece: str, header: _Header) -> str:
    if header.is_plain:
        return piece
    if header.lead:
        piece = re.sub(_before_lines(header), "", piece, flags=re.MULTILINE)
    if header.tail:
        # The last line of an array has no comma behind it.
        piece = "\n".join(line.rstrip(header.tail + _blank(header.separator)) for line in piece.split("\n"))
    if header.mark != "# ":
        piece = piece.replace(header.mark + header.names, HEADER, 1)
    return piece if header.separator == ";" else piece.replace(header.separator, ";")


def _before_lines(header: _Header) -> str:
    """The pattern of what stands before each line."""
    spaces = f"[{_blank(header.separator)}]*"
    if header.lead.endswith(header.separator):
        # Not every line has as many spaces around it as the header.
        lead = re.escape(header.lead[:-1].rstrip(_BLANK)) + spaces + header.separator
    else:
        lead = r"\d+".join(re.escape(part) for part in _NUMBER.split(header.lead))
    # Behind a number there is no end to be seen but by a space.
    behind = spaces[:-1] + "+" if header.is_apart and header.lead[-1].isalnum() else spaces
    return f"^{spaces}{lead}{behind}"


def _may_have_blanks(text: str) -> bool:
    """Whether a cell seems to begin or end with white space. As mostly none does, this is quicker than to strip all."""
    if "\xa0" in text or len(text.strip(_BLANK)) != len(text):
        return True
    for at in range(0, len(text), _CHUNK):
        codes = np.frombuffer(text[at : at + _CHUNK + 1].encode(), np.uint8)
        blank = (codes == ord(" ")) | (codes == ord("\t"))
        end = (codes == ord(";")) | (codes == ord("\n"))
        if (blank[:-1] & end[1:]).any() or (end[:-1] & blank[1:]).any():
            return True
    return False


def _stripped(text: str, remarks: Remarks) -> str:
    """The text without white space around cells."""
    lines = text.split("\n")
    found: list[int] = []
    for at, line in enumerate(lines):
        if ";" not in line:
            continue
        comment = _COMMENT.search(line) if "COM " in line else None
        said = line[comment.end() :] if comment else ""  # may hold semicolons of its own
        cells = line.removesuffix(said).split(";")
        bare = [cell.strip(_BLANK) for cell in cells]
        if bare == cells:
            continue
        lines[at] = ";".join(bare) + said
        # Some versions after 12.6.1 themselves write a space after a time where they name no zone.
        if cells != [*bare[:_TIME], *(f"{time} " for time in bare[_TIME : _TIME + 1]), *bare[_TIME + 1 :]]:
            found.append(at + 1)
    if found:
        told = f"{counted(len(found), 'line')} with white space around cells: read without it"
        remarks.add(Kind.REPAIRED, told, line=found[0], count=len(found))
    return "\n".join(lines)


def _tell(text: str, headers: list[_Header], remarks: Remarks) -> None:
    def line(header: _Header) -> int:
        return text.count("\n", 0, header.start) + 1

    for place, signs in (
        ("before the first", {header: header.lead for header in headers if header.lead}),
        ("behind the last", {header: header.tail for header in headers if header.tail}),
    ):
        if not signs:
            continue
        first, sign = next(iter(signs.items()))
        kinds = {_NUMBER.sub("1", sign) if header.is_counted else sign for header, sign in signs.items()}
        like = " or the like" if first.is_counted and _NUMBER.search(sign) else ""
        told = f'"{short(sign)}"{like} stands {place} name of the header: lines are read without it'
        told += f", and so with {counted(len(kinds) - 1, 'more header')}" if len(kinds) > 1 else ""
        remarks.add(Kind.REPAIRED, told, line=line(first), count=len(signs))
    if other := [header for header in headers if header.separator != ";"]:
        told = f"cells stand apart by {_SIGNS[other[0].separator]}, where sadf writes semicolons: read as these"
        remarks.add(Kind.REPAIRED, told, line=line(other[0]), count=len(other))
    if bare := [header for header in headers if header.mark != "# "]:
        told = 'the header lacks the "# " before its first name: read as sadf\'s'
        remarks.add(Kind.REPAIRED, told, line=line(bare[0]), count=len(bare))
