"""The instances of an object over a recording: their names, and in which samples each was there."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.formats.blg.structures import Refused

Places = NDArray[np.int64]


class Instances:
    """Numbers instances in the order of their first appearance."""

    def __init__(self, of: str) -> None:
        self._of = of
        self._numbers: dict[str, int] = {}
        self._known: tuple[Hashable, Places] | None = None
        self._samples: list[Places] = []
        self._rows: list[int] = []
        self.names: list[str | None] = []

    def add(self, row: int, names: Sequence[str | None], sign: Hashable) -> None:
        """Add those of a sample in the order of its block. Of samples with the same sign the names are the same."""
        if self._known is None or self._known[0] != sign:
            self._known = sign, np.array([self._number(name) for name in self._distinct(names)], dtype=np.int64)
        self._rows.append(row)
        self._samples.append(self._known[1])

    def sign_is(self, sign: Hashable) -> bool:
        """Whether the last sample's names had this sign, so that they need not be told again."""
        return self._known is not None and self._known[0] == sign

    def there(self, order: Places) -> NDArray[np.bool_]:
        """Whether each (a row) is in each sample (a column); `order` is the place of each sample in time."""
        found = np.zeros((len(self.names), len(order)), dtype=bool)
        found.reshape(-1)[self.places(order)] = True
        return found

    def places(self, order: Places) -> Places:
        """Where values of all samples, one after the other, stand in such an array, written row after row."""
        if not self._samples:
            return np.zeros(0, dtype=np.int64)
        counts = [len(one) for one in self._samples]
        rows = np.repeat(order[np.array(self._rows, dtype=np.int64)], counts)
        return np.concatenate(self._samples) * len(order) + rows

    def _distinct(self, names: Sequence[str | None]) -> list[str | None]:
        """Names of which the second and later ones that are equal have `#1`, `#2` and so on."""
        seen: dict[str, int] = {}
        taken: set[str] = set()
        found: list[str | None] = []
        for name in names:
            key = (name or "").casefold()
            count = seen.get(key, 0)
            seen[key] = count + 1
            label = f"{name or ''}#{count}" if count else name
            found.append(label)
            taken.add((label or "").casefold())
        if len(taken) < len(found):
            raise Refused(f"has two instances of one name: {self._of}")
        return found

    def _number(self, name: str | None) -> int:
        key = (name or "").casefold()
        number = self._numbers.setdefault(key, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number
