"""The bytes of a text log, and the text of its header.

Rows are digits, so only the header's encoding must be known. Perfmon writes headers in the machine's ANSI code page,
which the file does not name.
"""

import csv
import re
from collections import Counter
from functools import cache, cached_property
from itertools import islice
from pathlib import Path

from plimsoll.ingest.files.streams import Data
from plimsoll.model.errors import NoLog, Unusable
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.parameters import Parameter
from plimsoll.model.shipped_tables import load_shipped_table

_MOST_WORDS = 200
_MOST_LETTERS = 200  # between other letters: enough to tell a language; more may be noise
_ZONE = re.compile(rb'"?\(PDH-[CT]SV 4\.0\)[^",;\t]*')
_WIDE = "\u2e80"  # from here on a character is two bytes
_LETTER = re.compile(r"(?<=(.))([^\x00-\x7f])(?=(.))", re.DOTALL)  # with its neighbours


@dataclass(frozen=True)
class _Script:
    """An entry of code_pages.yaml: languages that share code pages, with typical words and letters.

    `zones` are the beginnings of the English names of these languages' time zones. An unusual place of one of `letters`
    shows a wrong code page: beside an ASCII letter if `unmixed` (as of Cyrillic), else between two letters that are not
    ASCII.
    """

    pages: tuple[str, ...]
    words: tuple[str, ...]
    letters: str
    unmixed: bool = False
    zones: tuple[str, ...] = ()

    @cached_property
    def all_letters(self) -> frozenset[str]:
        """The letters of the languages, including the letters in their words."""
        return frozenset(self.letters).union(*self.words)


# csv has one limit for the whole process, 128 KB, which an unclosed quote exceeds. It is a C long: on Windows that is
# 32 bits.
csv.field_size_limit(2**31 - 1)


_UNFIT = "\r\n\0"
_HEAD = 1 << 20
_LONG = 100  # a line so long is no blank one; a header of many MB is not copied to find that out
_END_OF_FILE = b"\x1a"  # as `copy ONE+OTHER FILE` of Windows ends a file
_UTF16_BE = re.compile(rb"(\x00[ -~]){4}")
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


@dataclass(frozen=True)
class Text:
    """A text file as ASCII-compatible bytes. `path` is for messages; `file` is the real path if it differs.

    `data` is the mapped file, or bytes converted from it. `encoding` is set if a byte order mark states it, if zero
    bytes show UTF-16, or if the caller named it. `is_cut` means that the file ends within a character of UTF-16.
    """

    path: Path
    data: Data
    encoding: str | None = None
    is_cut: bool = False
    file: Path | None = None

    @classmethod
    def of(cls, path: Path, data: Data, encoding: str | None = None, file: Path | None = None) -> "Text":
        """Return the text of a file, without a byte order mark or a final ^Z.

        UTF-16 becomes UTF-8, and carriage returns as line ends become line feeds. If UTF-16 is invalid, raise Unusable
        for a file named *.csv or *.tsv, else NoLog.
        """
        head = data[:16]
        is_cut = False
        marked = next(((bom, text) for bom, text in _BOMS if head.startswith(bom)), None)
        if marked:
            data, encoding = data[len(marked[0]) :], marked[1]
        elif encoding is None and head[1:2] == b"\x00" and head[:1] != b"\x00":
            encoding = "utf-16-le"
        elif encoding is None and _UTF16_BE.match(head):
            encoding = "utf-16-be"
        if encoding and encoding.startswith("utf-16"):
            is_cut = len(data) % 2 == 1
            try:
                data, encoding = data[: len(data) - is_cut].decode(encoding).encode(), "utf-8"
            except (UnicodeError, LookupError) as error:
                kind = Unusable if path.suffix.lower() in (".csv", ".tsv") else NoLog
                raise kind(f"{path}: not valid {encoding} ({error}); save it as UTF-8") from None
        if data[-1:] == _END_OF_FILE:
            data = data[:-1]
        if b"\r" in data[:_HEAD] and data.find(b"\n") < 0:
            data = data[:].replace(b"\r", b"\n")
        return cls(path, data, encoding, is_cut, file)

    @property
    def source(self) -> Path | bytes:
        """The input for a parser: the path of the file, to be opened again, or the converted bytes."""
        if isinstance(self.data, bytes):
            return self.data
        # polars expands names such as `~/x` and `file:x`, and refuses names that are not valid text.
        whole = (self.file or self.path).absolute()
        return whole if str(whole).isprintable() else self.data[:]

    @cached_property
    def first_line(self) -> tuple[int, int, int]:
        """The first line that is not blank: its number (from 1), and its start and end offsets."""
        number, start = 1, 0
        while True:
            end = self.data.find(b"\n", start)
            stop = len(self.data) if end < 0 else end
            if end < 0 or stop - start >= _LONG or self.data[start:stop].strip():
                return number, start, stop
            number, start = number + 1, end + 1

    @cached_property
    def header(self) -> bytes:
        """The first line that is not blank, without its line end."""
        _, start, stop = self.first_line
        return self.data[start:stop].rstrip(b"\r")

    def line_at(self, start: int) -> bytes:
        """Return the line that begins at the offset `start`, without its line feed."""
        end = self.data.find(b"\n", start)
        return self.data[start : len(self.data) if end < 0 else end]

    def decode(self, raw: bytes) -> tuple[str, str | None]:
        """Return the text of header bytes, and the code page if it had to be guessed (otherwise None).

        Raise Unusable if the encoding that the caller named does not fit.
        """
        if self.encoding:
            try:
                return raw.decode(self.encoding), None
            except (UnicodeError, LookupError) as error:
                raise Unusable(f"{self.path}: the header is not {self.encoding} text: {error}") from None
        try:
            return raw.decode("utf-8"), None
        except UnicodeDecodeError:
            code_page = guess_code_page(raw)
            return raw.decode(code_page, errors="replace"), code_page


def split(line: str, separator: str) -> list[str]:
    """Return the cells of a line. Quotes may enclose separators; an unclosed quote encloses the rest of the line.

    Line ends and zero bytes in a line cannot belong to a name or number, and become U+FFFD.
    """
    for unfit in _UNFIT:
        line = line.replace(unfit, "\ufffd")
    return next(csv.reader([line], delimiter=separator), [])


def guess_code_page(raw: bytes) -> str:
    """Return the likeliest code page of bytes that are not UTF-8; cp1252 if several are equally likely."""
    zone = _ZONE.match(raw)
    # A truncated zone may end within a character.
    words = _join_words(raw[zone.end() :] if zone else raw) or _join_words(raw)
    named = zone[0].decode("ascii", errors="replace") if zone else ""
    # Of equally likely pages the first counts: ANSI before OEM, and cp1252 before all.
    pages = [(page, script) for rank in (0, 1) for script in _load_scripts() for page in script.pages[rank : rank + 1]]
    return max(pages, key=lambda pair: _score_likelihood(words, *pair, named))[0]


def read_as(page: str) -> str:
    """Return the part of a remark that names a guessed code page: `read as code page 1252, a guess; ...`."""
    return f"read as code page {page.removeprefix('cp')}, a guess; name another with {Parameter.ENCODING}"


def _join_words(raw: bytes) -> bytes:
    """Return the distinct words that are not ASCII, joined; names repeat from column to column."""
    # These signs are never part of a multi-byte character.
    words = {word for word in re.split(rb'[",()\t;]+', raw) if not word.isascii()}
    return b",".join(sorted(words)[:_MOST_WORDS])


@cache
def _load_scripts() -> tuple[_Script, ...]:
    return tuple(load_shipped_table("plimsoll.ingest.shared", "code_pages.yaml", dict[str, _Script]).values())


def _score_likelihood(raw: bytes, page: str, script: _Script, zone: str) -> float:
    """Return a score for how likely bytes are text of a script in a code page; minus infinity if they are not."""
    try:
        text = raw.decode(page)
    except UnicodeDecodeError:
        return float("-inf")
    lower = text.lower()
    at_home = any(f"({name}" in zone for name in script.zones)
    value = 10.0 * sum(lower.count(word) for word in script.words)
    # Words have much in common, so most letters have the same neighbours many times.
    letters = Counter(_LETTER.findall(f" {text} "))
    for (before, char, after), count in islice(letters.items(), _MOST_LETTERS):
        value += count * (2 if char >= _WIDE else 1) * _weigh_character(before, char, after, script, at_home)
    return value


def _weigh_character(before: str, char: str, after: str, script: _Script, at_home: bool) -> int:
    if char.isupper() and before.isalpha() and (before.islower() or after.islower()):
        return -2  # a capital never follows within a word
    expected = at_home and char >= _WIDE and char.isalpha()
    if char.lower() not in script.all_letters and not expected:
        return -1 if char.isalpha() else -2
    plain = [beside.isascii() for beside in (before, after) if beside.isalpha()]
    if any(plain) if script.unmixed else len(plain) == 2 and not any(plain):
        return -2
    return 3 if expected else 2
