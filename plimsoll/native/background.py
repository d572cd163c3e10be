"""Programs that keep running in the background, and are found again by a locked file."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.parameters import Parameter

_LOOKS_EVERY_S = 0.05


@dataclass(frozen=True)
class Running:
    """A running program: its process, version and start time (UTC)."""

    pid: int
    version: str
    since: str


@dataclass(frozen=True)
class Background:
    """A background program, with its log and its PID file in `folder`.

    The program inherits a descriptor that holds a lock on the PID file, so the file is locked exactly while the program
    runs. A PID file left by a crash is not locked, and is ignored even if another process has the same number by now.
    """

    name: str
    folder: Path

    @property
    def log(self) -> Path:
        """The file of its output."""
        return self.folder / f"{self.name}.log"

    @property
    def mark(self) -> Path:
        """The PID file."""
        return self.folder / f"{self.name}.pid"

    def running(self) -> Running | None:
        """The running program, or None."""
        try:
            with self.mark.open("rb") as mark:
                if _lock(mark.fileno(), shared=True):
                    return None
                running = Running(**json.loads(mark.read()))
                # A child that outlived it may hold the lock.
                os.kill(running.pid, 0)
        except (OSError, ValueError, TypeError):
            return None
        return running

    def wait_for_end(self) -> None:
        """Wait until the program has ended."""
        with suppress(FileNotFoundError), self.mark.open("rb") as mark:
            _lock(mark.fileno(), shared=True, wait=True)

    def start(self, command: Sequence[str], environment: Mapping[str, str], version: str) -> Running:
        """Start the program, which must not be running. The old log becomes .log.1."""
        if self.log.is_file():
            self.log.replace(self.log.with_name(f"{self.log.name}.1"))
        new_mark = self.mark.with_name(f"{self.mark.name}.new")
        with _own_file(new_mark) as mark, _own_file(self.log) as log:
            _lock(mark.fileno())
            process = subprocess.Popen(
                command,
                # So that it does not read a configuration in the caller's folder.
                cwd=self.folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # So that Ctrl-C in this terminal does not reach it.
                start_new_session=True,
                pass_fds=(mark.fileno(),),
                # Its files are for this user alone.
                umask=0o077,
            )
            try:
                since = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
                running = Running(process.pid, version, since)
                mark.write(json.dumps(asdict(running)).encode())
                mark.flush()
                new_mark.replace(self.mark)
            except BaseException:
                process.kill()
                process.wait()
                raise
        # Otherwise Python warns that the process is still running.
        process.returncode = 0
        return running

    def stop(self, within_s: float = 30) -> bool:
        """Stop the program and wait; False if it was not running. Unreachable if it does not stop in time."""
        running = self.running()
        if running is None:
            return False
        os.kill(running.pid, signal.SIGTERM)
        until = time.monotonic() + within_s
        while self.running() == running:
            if time.monotonic() > until:
                raise Unreachable(
                    f"{self.name} was asked to stop and has not done so in {within_s:.0f} s; "
                    f"its process is {running.pid}, its log {self.log}"
                )
            time.sleep(_LOOKS_EVERY_S)
        with suppress(ChildProcessError):
            # If it is our own child, it stays a zombie until it is waited for.
            os.waitpid(running.pid, 0)
        self.mark.unlink(missing_ok=True)
        return True

    def last_line(self, *, containing: str = "") -> str:
        """The last line of its log that contains a text; empty if there is none."""
        lines = self.log.read_text("utf-8", errors="replace").splitlines() if self.log.is_file() else []
        return next((line.strip() for line in reversed(lines) if line.strip() and containing in line), "")

    def check(self, title: str) -> None:
        """Raise Unreachable if the program has ended."""
        if self.running() is None:
            raise Unreachable(f"{title} ended at once: {self.last_line() or 'its log is empty'} ({self.log})")

    def wait(self, title: str, text: str, within_s: float) -> str:
        """Wait for a line of its log that contains a text, and return it. Unreachable if it ends or takes too long."""
        until = time.monotonic() + within_s
        while not (line := self.last_line(containing=text)):
            self.check(title)
            if time.monotonic() > until:
                raise Unreachable(f"{title} is not ready after {within_s:.0f} s; its log is {self.log}")
            time.sleep(_LOOKS_EVERY_S)
        return line


@contextmanager
def one_at_a_time(folder: Path) -> Generator[None]:
    """Lock a folder, creating it if needed, so that only one process starts or stops programs in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = _own_file(folder / "lock")
    except OSError as error:
        raise Unusable(
            f"{folder}: cannot be written: {error.strerror}; choose another with {Parameter.FOLDER}"
        ) from None
    with lock:
        if not _lock(lock.fileno()):
            raise Unusable(f"{folder}: servers are just being started or stopped there; try again when that is done")
        yield


def _own_file(path: Path) -> BinaryIO:
    """Open a file for writing that only its owner can read, as far as it is new."""
    return open(path, "wb", opener=lambda name, flags: os.open(name, flags, 0o600))


def _lock(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file, exclusively or shared; False if it is locked already and this is not to `wait`."""
    if sys.platform == "win32":
        raise Unusable("servers are not run in the background on Windows; use docker compose")
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True
