"""Remarks: everything a reader or a review skipped, repaired or guessed, with where."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from model.errors import printable

MAX_SHOWN = 20  # of remarks that are alike


def counted(count: int, noun: str) -> str:
    """`1 row`, `1,204 rows`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: `WEB01, WEB02 and 17 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def and_more(count: int) -> str:
    """What follows the first of so many cells of a column."""
    return f", and {count - 1:,} more in this column" if count > 1 else ""


class Kind(StrEnum):
    """What was done about the thing remarked on.

    Skipped is what is no recording, or a part of one. Unread is a whole recording that gave nothing: of its host,
    or of its time, nothing is known, so that no verdict may rest on the rest.
    """

    SKIPPED = "skipped"
    UNREAD = "unread"
    REPAIRED = "repaired"
    GUESSED = "guessed"
    NOTED = "noted"


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark: a sentence for people, with where it applies as far as that is known.

    `line` counts from 1 in the file as it stands; `count` is how many cells, rows or columns
    the remark stands for.
    """

    kind: Kind
    text: str
    file: str | None = None
    line: int | None = None
    counter: str | None = None
    count: int = 1

    def __str__(self) -> str:
        """`file:line: counter: text`, with what is known of the first three."""
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
        """Note one remark about this file."""
        counter = None if counter is None else printable(counter)
        self.items.append(Remark(kind, printable(text), self.file, line, counter, count))

    def add_once(self, kind: Kind, text: str, *, line: int | None = None) -> None:
        """Note it unless the same was noted before, wherever that was."""
        if all(remark.text != printable(text) for remark in self.items):
            self.add(kind, text, line=line)

    def __iter__(self) -> Iterator[Remark]:
        return iter(self.items)
