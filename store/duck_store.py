"""The embedded store: series and runs in one DuckDB file, which one process owns."""

from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path

import numpy as np

from model.log import Log
from model.points import Points
from model.run import Recording
from model.samples import Samples
from model.series import Series, hosts_of
from store import duck_read, duck_write
from store.duck_file import DuckFile
from store.duck_names import Names
from store.duck_runs import DuckRuns
from store.duck_write import LivePart
from store.protocol import Buckets, FoundSeries, WriteResult

FILE = "plimsoll.duckdb"


class DuckStore(DuckRuns):
    """Series and runs in one file. See `store.protocol.Store`."""

    def __init__(self, file: DuckFile) -> None:
        super().__init__(file)
        self._names = Names(file)
        self._live = LivePart(file)

    @classmethod
    def open(cls, place: Path) -> "DuckStore":
        """Open a file, or the one in a folder; it is made if it is missing. Unusable if that is not possible."""
        return cls(DuckFile(place / FILE if place.is_dir() else place))

    def close(self) -> None:
        """Close the file, after what is being written."""
        self._file.close()

    def write(self, batches: Iterable[Log]) -> Generator[WriteResult]:
        """Write each batch in one transaction."""
        for batch in batches:
            columns = duck_write.columns_of(batch, self._names.numbers(batch.series))
            with self._file.writing() as cursor:
                duck_write.record(cursor, columns)
            yield WriteResult(batch.present)

    def write_points(self, points: Points) -> WriteResult:
        """Write live samples; they are committed when it returns."""
        used, which = np.unique(points.which, return_inverse=True)
        if len(used):
            numbers = self._names.numbers([points.series[at] for at in used.tolist()])
            self._live.write(numbers[which], points.times, points.values)
        return WriteResult(len(points))

    def remove(
        self,
        recording: Recording,
        keep: Sequence[Recording] = (),
        *,
        whole: bool = True,
        before_each: Callable[[], None] = lambda: None,
    ) -> None:
        """Remove the samples of a recording, except those that others contain too."""
        before_each()
        with self._file.writing() as cursor:
            duck_write.forget(cursor, recording, keep, self._names)

    def recover(self) -> None:
        """Nothing: a removal is one transaction."""

    def oldest(self) -> int | None:
        """None: recorded values are kept for ever."""
        return None

    def hosts(self, start: int, end: int) -> list[str]:
        """The hosts with samples in a range, sorted."""
        return sorted(hosts_of(self.series(start, end).series), key=str.casefold)

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """The series with a sample in a range, sorted."""
        with self._file.reading() as cursor:
            found = [self._names.series[number] for number in duck_read.present(cursor, start, end)]
        asked = {host.casefold() for host in hosts}
        chosen = [one for one in found if not hosts or one.host.casefold() in asked]
        return FoundSeries(sorted(chosen, key=lambda one: one.key), 0)

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """The samples of each series in a range."""
        numbers = self._numbers(series)
        with self._file.reading() as cursor:
            found = duck_read.samples(cursor, _known(numbers), start, end)
        nothing = Samples(np.empty(0, np.int64), np.empty(0))
        return [nothing if number is None else found.get(number, nothing) for number in numbers]

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Minimum, maximum and mean, computed by DuckDB."""
        numbers = self._numbers(series)
        with self._file.reading() as cursor:
            found = duck_read.buckets(cursor, _known(numbers), start, end, width)
        return [Buckets.empty() if number is None else found.get(number, Buckets.empty()) for number in numbers]

    def counts(self, series: Sequence[Series], start: int, end: int) -> list[int]:
        """How many samples each series has in a range."""
        numbers = self._numbers(series)
        with self._file.reading() as cursor:
            found = duck_read.counts(cursor, _known(numbers), start, end)
        return [0 if number is None else found.get(number, 0) for number in numbers]

    def _numbers(self, series: Sequence[Series]) -> list[int | None]:
        return [self._names.find(one) for one in series]


def _known(numbers: Sequence[int | None]) -> list[int]:
    return [number for number in numbers if number is not None]
