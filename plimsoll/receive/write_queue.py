"""The queue of points for the store. To save time, it commits the points of several requests at once."""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Condition, Thread
from typing import NamedTuple

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.points import Points, join_points
from plimsoll.store.protocol import SampleStore, WriteResult

MOST_WAITING = 5_000_000
MOST_OF_WRITER = 1_250_000  # whoever writes without end leaves room for others
MOST_NAMES = 1_000  # of metrics that nothing reads
_AT_ONCE = 1_000_000
_MINUTE = 60.0
_log = logging.getLogger(__name__)


class Busy(Exception):
    """The error that the queue is full; the sender should repeat the points later."""


class NotWritten(Exception):
    """The error that the store could not write; its text is the reason. The sender should repeat the points later."""


@dataclass(frozen=True, slots=True)
class WriteState:
    """Counts of the values written since the start and in the last minute, and of data left out.

    `problem` says why the last write failed; empty if it succeeded. Left out are `text` fields (text or booleans),
    `lines` that could not be read or stored (`why` is the reason of the last line), and `unread` values of metrics that
    nothing uses: `names` has up to MOST_NAMES of these metrics.
    """

    values: int = 0
    last_minute: int = 0
    problem: str = ""
    text: int = 0
    lines: int = 0
    why: str = ""
    unread: int = 0
    names: frozenset[str] = frozenset()


class WriteQueue:
    """A queue with a thread that writes points to a store; the thread starts with the first points.

    `on_written` is called in that thread with the points of each commit, before the writers get their results.
    """

    def __init__(
        self,
        store: SampleStore,
        on_written: Callable[[Points], None] = lambda _: None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._on_written = on_written
        self._clock = clock
        self._waiting: deque[_Waiting] = deque()
        self._queued: Counter[str] = Counter()  # values that wait, by writer
        self._changed = Condition()
        self._closed = False
        self._state = WriteState()
        self._recent: deque[tuple[float, int]] = deque()
        self._thread: Thread | None = None

    def put(self, points: Points, writer: str = "") -> Future[WriteResult]:
        """Queue points; return a future that gets the result of their commit, or the error NotWritten.

        Raise Busy after `close`, or if too many points wait in total or from this writer (an address).
        """
        done: Future[WriteResult] = Future()
        if not len(points):
            done.set_result(WriteResult(0))
            return done
        with self._changed:
            waiting, of_writer, count = self._queued.total(), self._queued[writer], len(points)
            # An empty queue accepts any number of points.
            is_full = (waiting > 0 and waiting + count > MOST_WAITING) or (
                of_writer > 0 and of_writer + count > MOST_OF_WRITER
            )
            if self._closed or is_full:
                raise Busy
            if self._thread is None:
                self._thread = Thread(target=self._run, name="writing", daemon=True)
                self._thread.start()
            self._waiting.append(_Waiting(points, done, writer))
            self._queued[writer] += len(points)
            self._changed.notify()
        return done

    def left_out(self, text: int, lines: int, why: str) -> None:
        """Add to the counts of text fields and of lines that were received but not queued."""
        with self._changed:
            state = self._state
            self._state = replace(state, text=state.text + text, lines=state.lines + lines, why=why or state.why)

    def unread(self, values: int, names: Collection[str]) -> None:
        """Add to the count of values whose metrics nothing uses."""
        with self._changed:
            state = self._state
            new = [name for name in names if name not in state.names][: MOST_NAMES - len(state.names)]
            self._state = replace(state, unread=state.unread + values, names=state.names.union(new))

    @property
    def state(self) -> WriteState:
        """The current counts and the last problem."""
        with self._changed:
            self._forget_old()
            return replace(self._state, last_minute=sum(count for _, count in self._recent))

    def close(self) -> None:
        """Write the waiting points, then end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        """Write the waiting points, batch by batch, until the queue is closed."""
        while batch := self._take_next():
            points = join_points([entry.points for entry in batch])
            try:
                result = self._store.write_points(points)
                if not result.refused or len(batch) == 1:
                    results = [replace(result, values=len(entry.points)) for entry in batch]
                else:  # write each writer's points again for its own result; writing twice changes nothing
                    results = [self._store.write_points(entry.points) for entry in batch]
            except (Unreachable, Unusable) as error:
                self._report_failure(batch, str(error))
            except Exception as error:  # a defect must not end the thread: writers would wait for ever
                _log.exception("writing failed")
                self._report_failure(batch, f"a defect of Plimsoll: {error!r}")
            else:
                self._report_written(batch, points, results)

    def _take_next(self) -> list["_Waiting"]:
        """Wait for points, and return the next ones, about _AT_ONCE values; an empty list once the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            batch: list[_Waiting] = []
            count = 0
            while self._waiting and (not batch or count + len(self._waiting[0].points) <= _AT_ONCE):
                batch.append(self._waiting.popleft())
                count += len(batch[-1].points)
            return batch

    def _report_written(self, batch: Sequence["_Waiting"], points: Points, results: Sequence[WriteResult]) -> None:
        """Update the counts after a commit, and give each writer its result."""
        with self._changed:
            self._release(batch)
            self._recent.append((self._clock(), len(points)))
            self._forget_old()
            self._state = replace(self._state, values=self._state.values + len(points), problem="")
        try:
            self._on_written(points)
        except Exception:  # the points are written, even if a callback fails
            _log.exception("what follows a write failed")
        for entry, result in zip(batch, results, strict=True):
            entry.done.set_result(result)

    def _report_failure(self, batch: Sequence["_Waiting"], why: str) -> None:
        with self._changed:
            self._release(batch)
            self._state = replace(self._state, problem=why)
        for entry in batch:
            entry.done.set_exception(NotWritten(why))

    def _release(self, batch: Sequence["_Waiting"]) -> None:
        """Subtract a batch from the count of waiting values. The caller must hold the lock."""
        for entry in batch:
            self._queued[entry.writer] -= len(entry.points)
            if not self._queued[entry.writer]:
                del self._queued[entry.writer]

    def _forget_old(self) -> None:
        while self._recent and self._recent[0][0] < self._clock() - _MINUTE:
            self._recent.popleft()


class _Waiting(NamedTuple):
    """The points of one writer, and the future for their result."""

    points: Points
    done: Future[WriteResult]
    writer: str
