"""The series of the embedded store and their numbers."""

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.series import Series
from plimsoll.store.duck.check import damaged
from plimsoll.store.duck.file import DuckFile
from plimsoll.store.duck.parts import Cursor
from plimsoll.store.line_protocol import as_stored

_MOST_RECENT = 400_000  # more than are taken at a time


class Names:
    """The number of each series that was ever written, and its names as they were first spelled."""

    def __init__(self, file: DuckFile) -> None:
        self._file = file
        with file.reading() as cursor:
            rows = cursor.execute("SELECT id, host, measurement, tags, field FROM series ORDER BY id").fetchall()
        try:
            # By number: a store that was salvaged may lack some.
            self.series = {
                int(number): Series(host, measurement, tuple((name, value) for name, value in json.loads(tags)), field)
                for number, host, measurement, tags, field in rows
            }
        except (ValueError, TypeError) as error:
            raise damaged(file.path, error) from None
        self._numbers = {one.key: at for at, one in self.series.items()}
        self._own = {id(one): at for at, one in self.series.items()}
        # By identity: agents send the same Series objects again and again, and keys take long to make.
        self._recent: dict[int, tuple[Series, int]] = {}

    def find(self, series: Series) -> int | None:
        """The number of a series, or None if nothing was ever written to it."""
        own = self._own.get(id(series))
        return self._numbers.get(as_stored(series).key) if own is None else own

    def numbers(self, series: Sequence[Series]) -> NDArray[np.int32]:
        """The numbers of some series; new ones are saved."""
        recent = [self._recent.get(id(one)) for one in series]
        found = [known[1] if known else None for known in recent]
        if None in found:
            with self._file.lock:
                learned = iter(self._learn([one for one, known in zip(series, found, strict=True) if known is None]))
            found = [next(learned) if known is None else known for known in found]
        return np.array(found, np.int32)

    def _learn(self, series: Sequence[Series]) -> list[int]:
        stored = [as_stored(one) for one in series]
        new = {one.key: one for one in reversed(stored) if one.key not in self._numbers}
        if new:
            first = next(reversed(self.series), -1) + 1
            with self._file.writing(needs_room=True) as cursor:
                _save(cursor, list(new.values()), first)
            for number, (key, one) in enumerate(new.items(), first):
                self._numbers[key] = self._own[id(one)] = number
                self.series[number] = one
        numbers = [self._numbers[one.key] for one in stored]
        if len(self._recent) > _MOST_RECENT:
            self._recent = {}
        self._recent.update((id(asked), (asked, number)) for asked, number in zip(series, numbers, strict=True))
        return numbers


def _save(cursor: Cursor, series: Sequence[Series], first: int) -> None:
    columns = [
        [*range(first, first + len(series))],
        [one.host for one in series],
        [one.measurement for one in series],
        [json.dumps(one.tags) for one in series],
        [one.field for one in series],
    ]
    cursor.execute("INSERT INTO series SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?)", columns)
