"""The numbers of the series in an embedded store."""

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.series import Series
from plimsoll.store.duck.hot_file import HotFile
from plimsoll.store.duck.open import DamagedStore
from plimsoll.store.line_protocol import convert_to_stored

_MOST_RECENT = 400_000  # more than are taken at a time


class StoredSeriesIndex:
    """The number of every series ever written, and its name as first spelled."""

    def __init__(self, file: HotFile) -> None:
        self._file = file
        with file.reading() as cursor:
            rows = cursor.execute("SELECT id, host, measurement, tags, field FROM series ORDER BY id").fetchall()
        try:
            # Indexed by number; some numbers may be missing.
            self.series = {
                int(number): Series(host, measurement, tuple((name, value) for name, value in json.loads(tags)), field)
                for number, host, measurement, tags, field in rows
            }
        except (ValueError, TypeError) as error:
            raise DamagedStore(file.path, error) from None
        self._numbers = {series.key: number for number, series in self.series.items()}
        self._own = {id(series): number for number, series in self.series.items()}
        # By identity: agents send the same Series objects again, and keys are slow to build.
        self._recent: dict[int, tuple[Series, int]] = {}

    def find(self, series: Series) -> int | None:
        """Return the number of a series; None if it was never written."""
        number = self._own.get(id(series))
        return self._numbers.get(convert_to_stored(series).key) if number is None else number

    def numbers(self, batch: Sequence[Series]) -> NDArray[np.int32]:
        """Return the number of each series; new series get numbers, which are saved."""
        recent = [self._recent.get(id(series)) for series in batch]
        numbers = [entry[1] if entry else None for entry in recent]
        if None in numbers:
            with self._file.lock:
                unknown = [series for series, number in zip(batch, numbers, strict=True) if number is None]
                learned = iter(self._learn(unknown))
            numbers = [next(learned) if number is None else number for number in numbers]
        return np.array(numbers, np.int32)

    def _learn(self, batch: Sequence[Series]) -> list[int]:
        """Return the numbers of series not seen before in this process; new series are saved."""
        stored = [convert_to_stored(series) for series in batch]
        new = {series.key: series for series in reversed(stored) if series.key not in self._numbers}
        if new:
            first = next(reversed(self.series), -1) + 1
            self._save([*new.values()], first)
            for number, (key, series) in enumerate(new.items(), first):
                self._numbers[key] = self._own[id(series)] = number
                self.series[number] = series
        numbers = [self._numbers[series.key] for series in stored]
        if len(self._recent) > _MOST_RECENT:
            self._recent = {}
        self._recent.update((id(series), (series, number)) for series, number in zip(batch, numbers, strict=True))
        return numbers

    def _save(self, batch: Sequence[Series], first: int) -> None:
        columns = [
            [*range(first, first + len(batch))],
            [series.host for series in batch],
            [series.measurement for series in batch],
            [json.dumps(series.tags) for series in batch],
            [series.field for series in batch],
        ]
        with self._file.writing(needs_room=True) as cursor:
            cursor.execute("INSERT INTO series SELECT unnest(?), unnest(?), unnest(?), unnest(?), unnest(?)", columns)
