"""Remarks: what a reader or a review skipped, repaired or guessed, and where."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import StrEnum

from plimsoll.model.errors import escape
from plimsoll.model.lazy_dataclass import dataclass

MAX_SHOWN = 20  # similar remarks
RESTARTED = "the system restarted"  # the begin of remarks on restarts
STARTED = f"{RESTARTED} before the first sample"


def format_count(count: int, noun: str) -> str:
    """Return a count with its noun: `1 row`, `1,204 rows`."""
    return f"{count:,} {noun}{'' if count == 1 or noun.endswith('series') else 's'}"


def join_names(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many more there are: `WEB01, WEB02 and 17 more`.

    Semicolons separate names that contain commas: `Response time; Response time, median; and 2 more`.
    """
    separator = "; " if any(", " in name for name in names[:most]) else ", "
    rest = f"{separator.strip(', ')} and {len(names) - most:,} more" if len(names) > most else ""
    return separator.join(names[:most]) + rest


def shorten(text: str | None, most: int = 40) -> str:
    """Return the text, or if it is longer than `most` characters, its beginning with dots."""
    text = text or ""
    return text if len(text) <= most else text[: most - 3] + "..."


def format_more(count: int) -> str:
    """Return the end of a remark on the first of `count` cells: `, and 3 more in this column`; empty for one cell."""
    return f", and {count - 1:,} more in this column" if count > 1 else ""


class Kind(StrEnum):
    """The kind of a remark.

    SKIPPED: a file that is not a recording, or a part of a recording, was not read. UNREAD: a whole recording gave no
    data, so its host and time are unknown. CUT: too much of a recording is missing. CONTRADICTORY: a host has different
    values for the same times, of which only one can be right. With UNREAD, CUT or CONTRADICTORY the verdict cannot be
    "Healthy".
    """

    SKIPPED = "skipped"
    UNREAD = "unread"
    CUT = "cut"
    CONTRADICTORY = "contradictory"
    REPAIRED = "repaired"
    GUESSED = "guessed"
    NOTED = "noted"


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark: a sentence for people, and its place if known.

    `line` counts from 1 in the original file; `count` is the number of cells, rows or columns concerned.
    """

    kind: Kind
    text: str
    file: str | None = None
    line: int | None = None
    counter: str | None = None
    count: int = 1

    def __str__(self) -> str:
        """Return `file:line: counter: text`, without unknown parts."""
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        return ": ".join(part for part in (place, self.counter, self.text) if part)


@dataclass
class Remarks:
    """Collects the remarks on one file."""

    file: str | None = None
    items: list[Remark] = field(default_factory=list)

    def add(
        self, kind: Kind, text: str, *, line: int | None = None, counter: str | None = None, count: int = 1
    ) -> None:
        """Add a remark on this file."""
        counter = None if counter is None else escape(counter)
        self.items.append(Remark(kind, escape(text), self.file, line, counter, count))

    def add_once(self, kind: Kind, text: str, *, line: int | None = None) -> None:
        """Add a remark unless a remark with the same text exists, on any line."""
        if all(remark.text != escape(text) for remark in self.items):
            self.add(kind, text, line=line)

    def __iter__(self) -> Iterator[Remark]:
        return iter(self.items)


def capitalize(sentence: str) -> str:
    """Return a sentence with a capital at its beginning, unless it begins with a file or host (`app7.sadf`)."""
    return sentence[:1].upper() + sentence[1:] if sentence.partition(" ")[0].isalpha() else sentence
