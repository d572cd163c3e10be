"""The DuckDB file of the embedded store: one write at a time beside reads; committed samples survive a full disk."""

import logging
import os
import re
import shutil
import stat
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, ClassVar

import duckdb

from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unusable
from plimsoll.store.duck.day_files import DayFolder, find_folder, list_files, make_folder
from plimsoll.store.duck.hot_tables import Cursor
from plimsoll.store.duck.move_runs import find_folder as runs_of
from plimsoll.store.duck.open import DamagedStore, connect, set_aside, write_ahead_log
from plimsoll.store.duck.rebuild_index import rebuild_index
from plimsoll.store.protocol import StoreFull

_CHECKPOINT_BYTES = 64 << 20
_PATIENCE_S = 60.0
_COPY_BYTES = 1 << 20
_DAY_FILE_BYTES = 64 << 20
_FULL = ("No space left", "not enough space", "Disk quota", "File too large")
_CORRUPT = re.compile("corrupt|checksum", re.IGNORECASE)
_REFUSED = (duckdb.IOException, duckdb.TransactionException, duckdb.OutOfMemoryException)
_log = logging.getLogger(__name__)


class HotFile:
    """An open DuckDB file, with concurrent reads (`reading`) and one write at a time (`writing`).

    Samples are not written while less than `margin` bytes are free on the disk. While a thread holds `lock`, no other
    thread can write.
    """

    # DuckDB locks the file only against other processes.
    _here: ClassVar[set[Path]] = set()

    def __init__(self, path: Path, margin: int) -> None:
        self.path = path
        self.lock = threading.RLock()
        self._margin = margin
        self._backups = 0
        if path.resolve() in self._here:
            raise Unusable(f"{path}: this process has it open already")
        self.days = DayFolder(path)
        self._connection: Cursor | None = _connect_or_set_aside(path, self.days)
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        self._is_closed = False
        self._here.add(path.resolve())
        self.days.remove_partial()

    @contextmanager
    def reading(self) -> Generator[Cursor]:
        """Yield a cursor on the committed state, unaffected by later writes; no day file is removed meanwhile."""
        with self.days.in_use(), self._open_cursor() as cursor:
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            yield cursor

    @contextmanager
    def writing(self, *, needs_room: bool = False) -> Generator[Cursor]:
        """Yield a cursor whose changes are committed together at the end, or rolled back after an error.

        With `needs_room`, raise StoreFull if less than `margin` bytes are free; leave `needs_room` out for changes
        that free space.
        """
        with self.lock:
            if needs_room and self._free < self._margin:
                raise StoreFull(
                    f"{self.path}: {self._free >> 20} MB are free on its disk, and nothing is written below "
                    f"{self._margin >> 20} MB; make room: what was stored before can still be read"
                )
            with self._open_cursor() as cursor:
                cursor.execute("BEGIN TRANSACTION")
                yield cursor
                cursor.execute("COMMIT")
            if self._log_bytes > _CHECKPOINT_BYTES:
                with suppress(Unusable):  # the changes are committed
                    self.checkpoint()

    def checkpoint(self) -> bool:
        """Move committed changes from the write-ahead log into the file, and free the space of dropped tables.

        Return False if that must wait: while the file is copied, while a read needs dropped or updated rows, or while
        the disk may be too full, as a failing checkpoint ends the connection.
        """
        with self.lock:
            if self._backups or self._free < self._log_bytes + _CHECKPOINT_BYTES:
                return False
            try:
                self._explain_refusal().execute("CHECKPOINT")
            except duckdb.TransactionException:
                return False
            except duckdb.FatalException as error:
                self._disconnect()
                raise self._refusal(str(error)) from None
            return True

    @property
    def used(self) -> int:
        """The number of bytes in use, in the file and in the day files; freed space does not count."""
        with self.reading() as cursor:
            row = cursor.execute("SELECT used_blocks * block_size FROM pragma_database_size()").fetchone()
            files = cursor.execute("SELECT coalesce(sum(size), 0)::BIGINT FROM file").fetchone()
        return sum(total[0] for total in (row, files) if total) + self._log_bytes

    @property
    def has_room(self) -> bool:
        """Whether the disk has room for a day file.

        A day file may use the margin, as space can be freed again by dropping the oldest days.
        """
        return self._free > _DAY_FILE_BYTES

    def sweep(self) -> None:
        """Remove the day files that are no longer listed, unless a read uses them."""
        with self.reading() as cursor:
            names = [name for (name,) in cursor.execute("FROM gone").fetchall()]
        if removed := self.days.remove(names):
            with self.writing() as cursor:
                cursor.executemany("DELETE FROM gone WHERE name = ?", [[name] for name in removed])

    def backup(self, to: Path) -> None:
        """Copy the committed state to a new file, and the day files to a folder beside it, while writes continue."""
        for path in (to, find_folder(to)):
            if os.path.lexists(path):
                raise Unusable(f"{path}: exists already; name a new file")
        with self.lock:
            until = time.monotonic() + _PATIENCE_S
            while not self.checkpoint():
                if time.monotonic() > until:
                    raise Unusable(
                        f"{self.path}: cannot be copied now: it is being read or copied, or its disk is full"
                    )
                time.sleep(0.05)
            with self.reading() as cursor:
                names = [file.name for file in list_files(cursor)]
            size = self.path.stat().st_size
            # From here on, the file is only appended to, and the listed day files stay.
            in_use = ExitStack()
            in_use.enter_context(self.days.in_use())
            self._backups += 1
        try:
            with in_use, self._copy_files(names, find_folder(to)), write_atomically(to) as copy:
                copy.chmod(stat.S_IRUSR | stat.S_IWUSR)
                with self.path.open("rb") as source, copy.open("wb") as target:
                    # Later writes may be appended; they are not part of the copy.
                    for piece in read_pieces(source, size):
                        target.write(piece)
        finally:
            self._backups -= 1

    @contextmanager
    def _copy_files(self, names: Sequence[str], to: Path) -> Generator[None]:
        """Copy the readable day files to another folder; remove the copies if the block ends with an error."""
        try:
            for name in self.days.readable(names):
                place = to / name
                make_folder(place.parent)
                shutil.copyfile(self.days.place(name), place)
                place.chmod(stat.S_IRUSR | stat.S_IWUSR)
            yield
        except BaseException as error:
            shutil.rmtree(to, ignore_errors=True)
            if isinstance(error, OSError):
                raise Unusable(f"{to}: cannot be written: {error.strerror or error}") from None
            raise

    def close(self) -> None:
        """Close the file once the write in progress is done."""
        with self.lock:
            self._disconnect()
            self._is_closed = True
            self._here.discard(self.path.resolve())

    @contextmanager
    def _open_cursor(self) -> Generator[Cursor]:
        """Yield a cursor; raise DuckDB's errors as Unusable, StoreFull or DamagedStore.

        A fatal error closes the connection; the next call opens a new connection.
        """
        connection = self._explain_refusal()
        cursor = connection.cursor()
        try:
            yield cursor
        except duckdb.Error as error:
            is_fatal = isinstance(error, duckdb.FatalException | duckdb.InternalException)
            if is_fatal:
                self._disconnect(connection)
            # Any other error means that stored data is read incorrectly.
            if _CORRUPT.search(str(error)) or not (is_fatal or isinstance(error, _REFUSED)):
                raise DamagedStore(self.path, error) from None
            raise self._refusal(str(error)) from None
        finally:
            cursor.close()

    def _explain_refusal(self) -> Cursor:
        """Return the connection; open a new connection if a fatal error closed the last connection."""
        connection = self._connection
        if connection is None:
            with self.lock:
                if self._is_closed:
                    raise Unusable(f"{self.path}: is closed")
                connection = self._connection = self._connection or connect(self.path)
        return connection

    def _disconnect(self, failed: Cursor | None = None) -> None:
        """Close the connection; with `failed`, only if `failed` is still the current connection."""
        with self.lock:
            if self._connection and failed in (None, self._connection):
                with suppress(duckdb.Error):
                    self._connection.close()
                self._connection = None

    def _refusal(self, text: str) -> Unusable:
        if any(sign in text for sign in _FULL):
            return StoreFull(f"{self.path}: its disk is full; make room: what was stored before can still be read")
        return Unusable(f"{self.path}: {text.splitlines()[0]}")

    @property
    def _free(self) -> int:
        return shutil.disk_usage(self.path.parent).free

    @property
    def _log_bytes(self) -> int:
        """The size (bytes) of the write-ahead log."""
        try:
            return write_ahead_log(self.path).stat().st_size
        except FileNotFoundError:
            return 0


def _connect_or_set_aside(path: Path, days: DayFolder) -> Cursor:
    """Open a DuckDB file. If it is damaged, set aside its write-ahead log; if that does not help, the whole file.

    If content was lost, the day files are listed again. Raise Unusable for a damaged file of an earlier version, which
    is not set aside, as it contains runs.
    """
    is_new = not path.exists() or not path.stat().st_size
    for file in (write_ahead_log(path), path):
        try:
            connection = connect(path)
            break
        except DamagedStore as error:
            if not runs_of(path).exists():
                raise Unusable(f"{error}; put a backup in its place") from None
            is_new = True
            if names := set_aside(file):
                _log.error("%s; it is set aside as %s", error, names)
    else:
        connection = connect(path)
    if is_new and days.folder.exists():
        rebuild_index(connection, days)
    return connection


def read_pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the first `size` bytes of a file in pieces."""
    while size > 0 and (piece := file.read(min(size, _COPY_BYTES))):
        size -= len(piece)
        yield piece
