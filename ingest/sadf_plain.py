"""Lines of `sadf -d` as sadf writes them, of what people made of them.

Semicolons are replaced (`sed 's/;/,/g'`), collectors put a cell before each row, and the `# ` of headers
is taken off as if it were a comment's. A header says all this for certain, since its
first three names are always the same; each holds up to the next one. What aligns cells (`column -o ';'`) or is left
behind them by a terminal or a web page is no part of them. Lines keep their numbers.
"""

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ingest.shorten import short
from model.remark import Kind, Remarks, counted

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
_HEAD = 1 << 16
_CHUNK = 1 << 18  # stays in a processor's cache
_SIGNS = {",": "commas", "\t": "tabs"}


@dataclass(frozen=True)
class _Header:
    """Where a header begins, and how it and the lines after it differ from sadf's own."""

    start: int
    lead: str
    mark: str
    names: str
    separator: str

    @property
    def is_plain(self) -> bool:
        return (self.lead, self.mark, self.separator) == ("", "# ", ";")


def begins(line: bytes, data: bytes | mmap.mmap) -> bool:
    """Whether a file's first line is a header, or a restart or comment with a header after it."""
    if _HEADER.match(line):
        return True
    return bool(_EVENT.match(line)) and any(_HEADER.match(after) for after in data[:_HEAD].splitlines())


def plain(text: str, remarks: Remarks) -> str:
    """The text as sadf writes it; what had to be put right is remarked."""
    text = text.replace("\r\n", "\n")
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
        lead = lead.strip(_blank(found[1]))
        lead = lead[:-1].rstrip(_BLANK) + lead[-1:]
        # A comment may hold the names of a header, but it is not in the first cell or the second.
        if not re.search(r"[;,\t]", lead[:-1]):
            yield _Header(start, lead, mark, found[0], found[1])


def _blank(separator: str) -> str:
    return _BLANK.replace(separator, "")


def _mended(piece: str, header: _Header) -> str:
    if header.is_plain:
        return piece
    if header.lead:
        # Not every line has as many spaces around it as the header.
        spaces = f"[{_blank(header.separator)}]*"
        lead = f"^{spaces}{re.escape(header.lead[:-1])}{spaces}{re.escape(header.lead[-1])}{spaces}"
        piece = re.sub(lead, "", piece, flags=re.MULTILINE)
    if header.mark != "# ":
        piece = piece.replace(header.mark + header.names, HEADER, 1)
    return piece if header.separator == ";" else piece.replace(header.separator, ";")


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

    if led := [header for header in headers if header.lead]:
        told = f'"{short(led[0].lead)}" stands before the first name of the header: lines are read without it'
        more = len({header.lead for header in led}) - 1
        told += f", and so with {counted(more, 'more header')}" if more else ""
        remarks.add(Kind.REPAIRED, told, line=line(led[0]), count=len(led))
    if other := [header for header in headers if header.separator != ";"]:
        told = f"cells stand apart by {_SIGNS[other[0].separator]}, where sadf writes semicolons: read as these"
        remarks.add(Kind.REPAIRED, told, line=line(other[0]), count=len(other))
    if bare := [header for header in headers if header.mark != "# "]:
        told = 'the header lacks the "# " before its first name: read as sadf\'s'
        remarks.add(Kind.REPAIRED, told, line=line(bare[0]), count=len(bare))
