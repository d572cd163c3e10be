"""The embedded store of live samples: the current day in a DuckDB file, past days in Parquet files beside it.

Only one process can have the store open. A damaged DuckDB file is set aside, and a new file is begun: past days stay
readable, and new samples are written.
"""

import logging
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.points import Points
from plimsoll.model.samples import Samples, join_samples
from plimsoll.model.series import Series, make_host_key
from plimsoll.store.duck import read as duck_read
from plimsoll.store.duck.compaction import Keeping, Retention
from plimsoll.store.duck.hot_file import HotFile
from plimsoll.store.duck.hot_tables import DAY, Batch
from plimsoll.store.duck.live_writer import LiveWriter
from plimsoll.store.duck.open import ASIDE, DamagedStore, set_aside, write_ahead_log
from plimsoll.store.duck.series_index import StoredSeriesIndex
from plimsoll.store.m4 import Drawn
from plimsoll.store.protocol import Buckets, FoundSeries, SampleReader, WriteResult

_PAUSE_S = 0.01
_MOST_LISTS = 4
_ASIDE = re.compile(re.escape(ASIDE) + r"(\d{4}-\d\d-\d\d)T")
_Result = TypeVar("_Result")
_log = logging.getLogger(__name__)


class _Hot:
    """An open hot file, with its series index, its writer and its upkeep."""

    def __init__(self, path: Path, margin: int, keeping: Keeping) -> None:
        self.file = HotFile(path, margin)
        try:
            self.index = StoredSeriesIndex(self.file)
            self.live = LiveWriter(self.file)
            self.retention = Retention(self.file, self.live, self.index, keeping)
        except BaseException:
            self.file.close()
            raise

    def close(self) -> None:
        with self.retention.turn:
            self.file.close()


class DuckSamples(SampleReader):
    """The live samples in a DuckDB file and its day files. See `plimsoll.store.protocol.SampleStore`.

    The DuckDB file is created if missing. Writes fail while less than `margin` bytes are free on the disk. Raise
    Unusable if another process has the file open, if a later version of Plimsoll wrote the file, or if the file cannot
    be opened.
    """

    def __init__(self, path: Path, margin: int, keeping: Keeping) -> None:
        self._open: Callable[[], _Hot] = lambda: _Hot(path, margin, keeping)
        self._path = path
        self._lock = Lock()
        self._hot = self._open()
        self._lists: dict[bytes, list[Series]] = {}

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self._path)

    def close(self) -> None:
        """Close the file, after the writes in progress."""
        self._hot.close()

    def size(self) -> int:
        """Return the number of bytes in use."""
        return self._use(lambda hot: hot.file.used)

    @property
    def damaged(self) -> dict[Path, str]:
        """The files whose samples are missing from all results, with reasons: day files, and hot files set aside."""
        days = self._hot.file.days
        aside = {path: f"is damaged and was set aside: {loss}" for path, loss, _ in self._list_aside()}
        return aside | {days.place(name): why for name, why in days.damaged.items()}

    def tidy(self, now: int) -> bool:
        """Do one short piece of compaction or retention; return False if none was due.

        A piece delays writes by a second at most. Ages are relative to `now` (UTC ns).
        """
        is_more = self._use(lambda hot: hot.retention.piece(now))
        if is_more:
            # Python's locks are not fair: without this, the next piece would begin before a waiting write.
            time.sleep(_PAUSE_S)
        return is_more

    def back_up(self, to: Path) -> None:
        """Copy the committed state to a new file, while writes continue. Raise Unusable if the file exists."""
        self._hot.file.backup(to)

    def write_points(self, points: Points) -> WriteResult:
        """Write live samples, which are committed when the call returns."""

        def write(hot: _Hot) -> WriteResult:
            used, which = np.unique(points.which, return_inverse=True)
            numbers = hot.index.numbers([points.series[at] for at in used.tolist()])
            hot.live.write(Batch(numbers[which], points.times, points.values).last_of_each())
            return WriteResult(len(points))

        return self._use(write)

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the series with a sample in a range, sorted."""

        def find(hot: _Hot) -> FoundSeries:
            """Return the series with a sample in the range, from the hot file's index."""
            numbers, unreadable = duck_read.list_present(hot.file, start, end)
            keys = {make_host_key(host) for host in hosts}
            days = hot.file.days
            unread = [f"{days.place(name)} {days.damaged[name]}" for name in unreadable]
            unread += [
                f"{path} is damaged ({loss})"
                for path, loss, (first, last) in self._list_aside()
                if first <= end and start <= last
            ]
            chosen = [
                series
                for series in self._sort_series(hot.index, numbers)
                if not hosts or make_host_key(series.host) in keys
            ]
            return FoundSeries(chosen, 0, tuple(unread))

        return self._use(find)

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range; means of minutes where raw samples are gone."""
        return self._read_in_batches(duck_read.read_samples, join_samples([]), series, start, end)

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Return the samples that draw each series in a range, chosen by DuckDB."""
        nothing = Drawn(join_samples([]), 0)
        return self._read_in_batches(lambda span: duck_read.read_drawn(span, buckets), nothing, series, start, end)

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Return minimum, maximum and mean of each series in buckets of `width` ns, computed by DuckDB."""
        return self._read_in_batches(
            lambda span: duck_read.read_buckets(span, width), Buckets.joined(), series, start, end
        )

    def counts(self, series: Sequence[Series], start: int, end: int) -> list[int]:
        """Return the number of samples of each series in a range."""
        return self._read_in_batches(duck_read.count_samples, 0, series, start, end)

    def _read_in_batches(
        self,
        read: Callable[[duck_read.StoredRange], dict[int, _Result]],
        nothing: _Result,
        series: Sequence[Series],
        start: int,
        end: int,
    ) -> list[_Result]:
        def read_all(hot: _Hot) -> list[_Result]:
            numbers = [hot.index.find(s) for s in series]
            present = [number for number in numbers if number is not None]
            if not present:
                return [nothing] * len(numbers)
            with duck_read.open_range(hot.file, present, start, end) as span:
                results = read(span)
            return [nothing if number is None else results.get(number, nothing) for number in numbers]

        return self._use(read_all)

    def _use(self, call: Callable[[_Hot], _Result]) -> _Result:
        """Call a function with the hot file; if the file proves damaged, set it aside, and repeat with a new file."""
        hot = self._hot
        try:
            return call(hot)
        except DamagedStore as error:
            with self._lock:
                if self._hot is hot:
                    hot.close()
                    _log.error("%s; it is set aside as %s", error, set_aside(write_ahead_log(self._path), self._path))
                    self._lists.clear()
                    self._hot = self._open()
        return call(self._hot)

    def _list_aside(self) -> list[tuple[Path, str, tuple[int, int]]]:
        """Return path, a text on the lost samples, and their range (UTC ns), for each hot file that was set aside."""
        listed: list[tuple[Path, str, tuple[int, int]]] = []
        for path in sorted(self._path.parent.glob(f"{self._path.name}*{ASIDE}*")):
            if match := _ASIDE.search(path.name):
                day = int(np.datetime64(match[1], "D").astype(np.int64))
                loss = f"live samples of {match[1]} and the day before that were in no day file"
                listed.append((path, loss, ((day - 1) * DAY, (day + 1) * DAY - 1)))
        return listed

    def _sort_series(self, index: StoredSeriesIndex, numbers: NDArray[np.int32]) -> list[Series]:
        """Return the series with these numbers, sorted; cached, as live series rarely change."""
        key = numbers.tobytes()
        ordered = self._lists.get(key)
        if ordered is None:
            ordered = sorted((index.series[number] for number in numbers.tolist()), key=lambda series: series.key)
            if len(self._lists) >= _MOST_LISTS:
                self._lists.clear()
            self._lists[key] = ordered
        return ordered
