"""The embedded store: series and runs in one DuckDB file, and files of the days that are over; one process owns it."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.host_key import host_key
from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.run import Recording
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, hosts_of
from plimsoll.store.duck import read as duck_read
from plimsoll.store.duck import recorded
from plimsoll.store.duck.batch import Batch
from plimsoll.store.duck.closing import Keeping
from plimsoll.store.duck.file import DuckFile
from plimsoll.store.duck.live import LiveWriter
from plimsoll.store.duck.names import Names
from plimsoll.store.duck.runs import DuckRuns
from plimsoll.store.duck.tidy import Tidying
from plimsoll.store.m4 import Drawn
from plimsoll.store.protocol import Buckets, FoundSeries, RunSummary, WriteResult

FILE = "plimsoll.duckdb"
RAW_DAYS = 30
DAYS = 400
SIZE_LIMIT = 20 << 30
MARGIN = 200 << 20
_PAUSE_S = 0.01
_MOST_LISTS = 4
_NOTHING = Samples(np.empty(0, np.int64), np.empty(0))


class DuckStore(DuckRuns):
    """Series and runs in one file. See `plimsoll.store.protocol.Store`."""

    def __init__(self, file: DuckFile, keeping: Keeping) -> None:
        super().__init__(file)
        self._names = Names(file)
        self._live = LiveWriter(file)
        self._tidying = Tidying(file, self._live, self._names, keeping)
        self._lists: dict[bytes, list[Series]] = {}

    @classmethod
    def open(
        cls,
        place: Path,
        *,
        raw_days: int = RAW_DAYS,
        days: int = DAYS,
        size_limit: int = SIZE_LIMIT,
        margin: int = MARGIN,
    ) -> Self:
        """Open a file, or `plimsoll.duckdb` in a folder; it is made if it is missing.

        `tidy` keeps live samples as they came for `raw_days`, by the minute for `days`, and drops the oldest days while
        more than `size_limit` bytes are in use. Nothing is written while less than `margin` bytes are free on the disk.

        Raises:
            Unusable: Another process has the file open, it is of a later version, or it cannot be opened.
        """
        is_file = place.suffix == Path(FILE).suffix or place.is_file()
        file = DuckFile(place if is_file else place / FILE, margin)
        try:
            return cls(file, Keeping(raw_days, days, size_limit))
        except BaseException:
            file.close()
            raise

    def close(self) -> None:
        """Close the file, after what is being written."""
        with self._tidying.turn:
            self._file.close()

    def size(self) -> int:
        """How many bytes are in use."""
        return self._file.used

    @property
    def damaged(self) -> dict[Path, str]:
        """The files of days that cannot be read, and why. What was in them is missing in every answer."""
        return {self._file.days.place(name): why for name, why in self._file.days.damaged.items()}

    def tidy(self, now: int) -> bool:
        """Do one piece of the work that keeps live samples sorted and within their limits; whether there was any.

        Writes wait for it, for at most about a second. `now`: the time (UTC ns) from which ages are counted.
        """
        is_more = self._tidying.piece(now)
        if is_more:
            # Python's locks are not fair: without this, the next piece would begin before a write that waits.
            time.sleep(_PAUSE_S)
        return is_more

    def backup(self, to: Path) -> None:
        """Copy what is committed now to a new file, while writing goes on. Unusable if there is a file already."""
        self._file.backup(to)

    @property
    def settle_s(self) -> float:
        """None: what is committed is on the disk."""
        return 0.0

    def write(self, batches: Iterable[Log], run: RunSummary | None = None) -> Generator[WriteResult]:
        """Write each batch in one transaction, while the next one is prepared."""
        ahead: deque[tuple[int, Future[Batch]]] = deque()
        with ThreadPoolExecutor(1) as pool:
            for one in batches:
                ahead.append((one.present, pool.submit(self._prepare, one)))
                if len(ahead) > 1:
                    yield self._record(*ahead.popleft())
            while ahead:
                yield self._record(*ahead.popleft())

    def write_points(self, points: Points) -> WriteResult:
        """Write live samples; they are committed when it returns."""
        used, which = np.unique(points.which, return_inverse=True)
        numbers = self._names.numbers([points.series[at] for at in used.tolist()])
        self._live.write(Batch(numbers[which], points.times, points.values).last_of_each)
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
            recorded.remove(cursor, recording, keep, self._names)

    def recover(self) -> None:
        """Nothing: a removal is one transaction."""

    def oldest(self) -> int | None:
        """None: recorded values are kept for ever."""
        return None

    def hosts(self, start: int, end: int) -> list[str]:
        """The hosts with samples in a range, sorted."""
        return sorted(hosts_of(self.series(start, end).series), key=host_key)

    def series(self, start: int, end: int, hosts: Sequence[str] = (), *, live: bool = False) -> FoundSeries:
        """The series with a sample in a range, sorted."""
        numbers, unreadable = duck_read.present(self._file, start, end, live=live)
        found = self._sorted(numbers)
        asked = {host_key(host) for host in hosts}
        days = self._file.days
        unread = (f"{days.place(name)} {days.damaged[name]}" for name in unreadable)
        return FoundSeries([one for one in found if not hosts or host_key(one.host) in asked], 0, tuple(unread))

    def _sorted(self, numbers: NDArray[np.int32]) -> list[Series]:
        """The series of these numbers, sorted. Live ones are mostly those of the call before."""
        key = numbers.tobytes()
        found = self._lists.get(key)
        if found is None:
            found = sorted((self._names.series[number] for number in numbers.tolist()), key=lambda one: one.key)
            if len(self._lists) >= _MOST_LISTS:
                self._lists = {}
            self._lists[key] = found
        return found

    def read(
        self, series: Sequence[Series], start: int, end: int, *, live: bool = False, recorded: bool = False
    ) -> list[Samples]:
        """The samples of each series in a range; the means of minutes where that is all that is kept."""
        numbers = self._numbers(series)
        with duck_read.ranging(self._file, _known(numbers), start, end) as asked:
            found = duck_read.samples(asked, live=live)
        return [_NOTHING if number is None else found.get(number, _NOTHING) for number in numbers]

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Samples that draw the line of each series in a range, chosen by DuckDB."""
        numbers = self._numbers(series)
        with duck_read.ranging(self._file, _known(numbers), start, end) as asked:
            found = duck_read.drawn(asked, buckets)
        nothing = Drawn(_NOTHING, 0)
        return [nothing if number is None else found.get(number, nothing) for number in numbers]

    def _prepare(self, log: Log) -> Batch:
        return recorded.batch_of(log, self._names.numbers(log.series))

    def _record(self, values: int, batch: Future[Batch]) -> WriteResult:
        prepared = batch.result()
        with self._file.writing(needs_room=True) as cursor:
            recorded.record(cursor, prepared)
        return WriteResult(values)

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Minimum, maximum and mean, computed by DuckDB."""
        numbers = self._numbers(series)
        with duck_read.ranging(self._file, _known(numbers), start, end) as asked:
            found = duck_read.buckets(asked, width)
        return [Buckets.empty() if number is None else found.get(number, Buckets.empty()) for number in numbers]

    def counts(self, series: Sequence[Series], start: int, end: int, *, recorded: bool = False) -> list[int]:
        """How many samples each series has in a range."""
        numbers = self._numbers(series)
        with duck_read.ranging(self._file, _known(numbers), start, end) as asked:
            found = duck_read.counts(asked)
        return [0 if number is None else found.get(number, 0) for number in numbers]

    def _numbers(self, series: Sequence[Series]) -> list[int | None]:
        return [self._names.find(one) for one in series]


def _known(numbers: Sequence[int | None]) -> list[int]:
    return [number for number in numbers if number is not None]
