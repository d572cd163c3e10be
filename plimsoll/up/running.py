"""Ensures that one `plimsoll up` at most runs on a data folder, and tells other commands where it runs."""

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import psutil

from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unusable
from plimsoll.model.parameters import Parameter

if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        """Lock a file until it is closed. Raise OSError if another process has locked it."""
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        """Lock a file until it is closed. Raise OSError if another process has locked it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_FILE = "up.json"
_LOCK = "up.lock"


@dataclass(frozen=True, slots=True)
class Running:
    """A running `plimsoll up`: its process id, its start time (Unix time in s), and its address."""

    pid: int
    began: float
    address: str

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs; a later process with the same process id does not count."""
        with suppress(psutil.Error):
            return abs(psutil.Process(self.pid).create_time() - self.began) < 1
        return False

    def check_listens(self) -> None:
        """Raise ConnectionRefusedError unless the running `plimsoll up` listens on the port of its address.

        A different program that uses the port must not get the owner's token.
        """
        port, sockets = urlsplit(self.address).port or 0, []
        with suppress(psutil.Error):
            sockets = psutil.Process(self.pid).net_connections("tcp") if self.is_alive else []
        if not any(socket.status == psutil.CONN_LISTEN and socket.laddr.port == port for socket in sockets):
            raise ConnectionRefusedError(f"{self.address}: is not the plimsoll up that was started")


class OnlyOne:
    """A lock on a data folder, held by this process. Raise Unusable if another process holds the lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = (folder / _LOCK).open("a+b")
        try:
            _lock(self._lock)
        except OSError:
            self._lock.close()
            running = find(folder)
            who = f"process {running.pid}, at {running.address}" if running else "another process"
            raise Unusable(
                f"{folder}: plimsoll up already runs on it ({who}); stop that, or choose another with {Parameter.STORE}"
            ) from None

    def announce(self, address: str) -> None:
        """Record the address of this process in the data folder, where other commands find it."""
        record = {"pid": os.getpid(), "began": psutil.Process().create_time(), "address": address}
        with write_atomically(self._folder / _FILE) as partial:
            partial.write_text(json.dumps(record) + "\n", "utf-8")

    def release(self) -> None:
        """Release the lock on the data folder."""
        (self._folder / _FILE).unlink(missing_ok=True)
        self._lock.close()


def find(folder: Path) -> Running | None:
    """Return the `plimsoll up` that runs on a data folder; None if there is none."""
    try:
        record = json.loads((folder / _FILE).read_text("utf-8"))
        running = Running(int(record["pid"]), float(record["began"]), str(record["address"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return running if running.is_alive else None
