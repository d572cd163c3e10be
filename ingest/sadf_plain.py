"""Lines of `sadf -d` as sadf writes them, of what people made of them.

Semicolons are replaced (`sed 's/;/,/g'`), collectors put a cell before each row, and the `# ` of headers
is taken off as if it were a comment's. A header says all this for certain, since its
first three names are always the same; each holds up to the next one. Lines keep their numbers.
"""

import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.shorten import short
from model.remark import Kind, Remarks, counted

HEADER = "# hostname;interval;timestamp"
_NAMES = re.compile(r"hostname([;,\t])interval\1timestamp")
_HEADER = re.compile(rb"[^;,\t\n]{0,100}?[;,\t:]?(# ?)?hostname([;,\t])interval\2timestamp")
_EVENT = re.compile(rb"([^;,\t\n]*[;,\t]){1,2}-1[;,\t][^\n]*[;,\t](LINUX-RESTART|COM )")
_HEAD = 1 << 16
_SIGNS = {",": "commas", "\t": "tabs"}


@dataclass(frozen=True)
class _Header:
    """Where a header begins, and how it and the lines after it differ from sadf's own."""

    start: int
    lead: str
    mark: str
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
    headers = list(_headers(text))
    if all(header.is_plain for header in headers):
        return text
    _tell(text, headers, remarks)
    ends = [header.start for header in headers[1:]] + [len(text)]
    starts = [0, *ends]  # what stands before the first header is as what comes after it
    return "".join(_mended(text[a:b], header) for a, b, header in zip(starts, ends, headers, strict=False))


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
        # A comment may hold the names of a header, but it is not in the first cell or the second.
        if not re.search(r"[;,\t]", lead[:-1]):
            yield _Header(start, lead, before[len(lead) :], found[1])


def _mended(piece: str, header: _Header) -> str:
    if header.is_plain:
        return piece
    if header.lead:
        piece = re.sub(f"^{re.escape(header.lead)}", "", piece, flags=re.MULTILINE)
    if header.separator != ";":
        piece = piece.replace(header.separator, ";")
    bare = HEADER.removeprefix("# ")
    return piece if header.mark == "# " else piece.replace(header.mark + bare, HEADER, 1)


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
