"""Which code page the bytes of a header are in, which no byte of the file names."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from plimsoll.model.parameters import Parameter
from plimsoll.model.shipped_tables import shipped_table

_MOST_WORDS = 200
_MOST_LETTERS = 200  # between others: enough to tell a language, and more may be noise
_ZONE = re.compile(rb'"?\(PDH-[CT]SV 4\.0\)[^",;\t]*')
_WIDE = "\u2e80"  # from here on a character is two bytes
_LETTER = re.compile(r"(?<=(.))([^\x00-\x7f])(?=(.))", re.DOTALL)  # with its neighbours


def guess_code_page(raw: bytes) -> str:
    """The likeliest code page of bytes that are not UTF-8; cp1252 where none is likelier."""
    zone = _ZONE.match(raw)
    # A zone that is cut short may end within a character.
    words = _words(raw[zone.end() :] if zone else raw) or _words(raw)
    named = zone[0].decode("ascii", errors="replace") if zone else ""
    # The first of the likeliest counts: ANSI before OEM, and cp1252 before all.
    return max(_candidates(), key=lambda one: _likelihood(words, *one, named))[0]


def read_as(page: str) -> str:
    """What a remark says of a page that was guessed."""
    return f"read as code page {page.removeprefix('cp')}, a guess; name another with {Parameter.ENCODING}"


def _words(raw: bytes) -> bytes:
    """The words that are not ASCII. Names recur from column to column, and one of each is enough."""
    # These signs are no part of a wider character.
    words = {word for word in re.split(rb'[",()\t;]+', raw) if not word.isascii()}
    return b",".join(sorted(words)[:_MOST_WORDS])


@dataclass(frozen=True)
class _Entry:
    """An entry of code_pages.yaml."""

    pages: tuple[str, ...]
    words: tuple[str, ...]
    letters: str
    unmixed: bool = False
    zones: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Script:
    """What the languages say that share a code page, and how their zones begin in English.

    If letters are `unmixed`, none is next to an ASCII letter; otherwise none is between two that are not ASCII.
    """

    pages: tuple[str, ...]
    words: tuple[str, ...]
    letters: frozenset[str]
    unmixed: bool
    zones: tuple[str, ...]


def _candidates() -> Iterator[tuple[str, _Script]]:
    for rank in range(2):
        for script in _scripts():
            for page in script.pages[rank : rank + 1]:
                yield page, script


@cache
def _scripts() -> tuple[_Script, ...]:
    table = shipped_table("plimsoll.ingest.shared", "code_pages.yaml", dict[str, _Entry])
    return tuple(
        _Script(one.pages, one.words, frozenset(one.letters).union(*one.words), one.unmixed, one.zones)
        for one in table.values()
    )


def _likelihood(raw: bytes, page: str, script: _Script, zone: str) -> float:
    try:
        text = raw.decode(page)
    except UnicodeDecodeError:
        return float("-inf")
    lower = text.lower()
    at_home = any(f"({name}" in zone for name in script.zones)
    found = 10.0 * sum(lower.count(word) for word in script.words)
    # Words have much in common, so most letters have the same neighbours many times.
    letters = Counter(_LETTER.findall(f" {text} "))
    for (before, char, after), count in islice(letters.items(), _MOST_LETTERS):
        found += count * (2 if char >= _WIDE else 1) * _weight(before, char, after, script, at_home)
    return found


def _weight(before: str, char: str, after: str, script: _Script, at_home: bool) -> int:
    if char.isupper() and before.isalpha() and (before.islower() or after.islower()):
        return -2  # no word goes on with a capital
    expected = at_home and char >= _WIDE and char.isalpha()
    if char.lower() not in script.letters and not expected:
        return -1 if char.isalpha() else -2
    plain = [beside.isascii() for beside in (before, after) if beside.isalpha()]
    if any(plain) if script.unmixed else len(plain) == 2 and not any(plain):
        return -2
    return 3 if expected else 2
