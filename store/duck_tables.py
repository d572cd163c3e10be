"""Which tables of the embedded store hold samples, and the queries over them."""

from collections.abc import Sequence
from typing import NamedTuple

from store.duck_file import Cursor

OPEN = "open"  # live samples in the order in which they came
DAY_NS = 86_400 * 1_000_000_000


class Part(NamedTuple):
    """A table of live samples. `day` counts from 1970 (UTC); an open part has samples of any day."""

    name: str
    kind: str
    day: int


def parts(cursor: Cursor, start: int, end: int) -> list[Part]:
    """The tables that may hold live samples of a range."""
    rows = cursor.execute(
        "SELECT name, kind, day FROM part WHERE kind = ? OR day BETWEEN ? AND ?",
        [OPEN, start // DAY_NS, end // DAY_NS],
    ).fetchall()
    return [Part(*row) for row in rows]


class Asked(NamedTuple):
    """Some series in a range of time; both ends are included."""

    numbers: Sequence[int]
    start: int
    end: int

    @property
    def where(self) -> str:
        """The condition of a query."""
        return f"series IN ({', '.join('?' * len(self.numbers))}) AND time BETWEEN ? AND ?"

    @property
    def values(self) -> list[int]:
        """The parameters of that condition."""
        return [*self.numbers, self.start, self.end]
