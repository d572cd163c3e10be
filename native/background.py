"""Programs that run on after the one that started them, and are found again by a file."""

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

from model.errors import Unreachable, Unusable

_LOOKS_EVERY_S = 0.05


@dataclass(frozen=True)
class Running:
    """A program that runs: its process, its version, and since when (UTC)."""

    pid: int
    version: str
    since: str


@dataclass(frozen=True)
class Background:
    """A program that keeps running, with its log and its mark in `folder`.

    The mark is a file that the program, which knows nothing of it, keeps locked for as long as it lives, by a
    descriptor it was born with. So a mark left by a crash is never believed, though another process may have got
    the number in it since.
    """

    name: str
    folder: Path

    @property
    def log(self) -> Path:
        """The file its output goes to."""
        return self.folder / f"{self.name}.log"

    @property
    def mark(self) -> Path:
        """The file that says which process it is."""
        return self.folder / f"{self.name}.pid"

    def running(self) -> Running | None:
        """What runs, or None."""
        try:
            with self.mark.open("rb") as mark:
                if _lock(mark.fileno(), shared=True):
                    return None
                running = Running(**json.loads(mark.read()))
                # The lock may be held by a child that it left behind.
                os.kill(running.pid, 0)
        except (OSError, ValueError, TypeError):
            return None
        return running

    def start(self, command: Sequence[str], environment: Mapping[str, str], version: str) -> Running:
        """Start it, in a folder where it does not run. Its log begins anew; the last one becomes .log.1."""
        if self.log.is_file():
            self.log.replace(self.log.with_name(f"{self.log.name}.1"))
        coming = self.mark.with_name(f"{self.mark.name}.coming")
        with coming.open("wb") as mark, self.log.open("wb") as log:
            _lock(mark.fileno())
            process = subprocess.Popen(
                command,
                # Here, so that no configuration that lies about where we were called is picked up.
                cwd=self.folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Ctrl-C in this terminal is not for it.
                start_new_session=True,
                pass_fds=(mark.fileno(),),
            )
            try:
                since = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
                running = Running(process.pid, version, since)
                mark.write(json.dumps(asdict(running)).encode())
                mark.flush()
                coming.replace(self.mark)
            except BaseException:
                process.kill()
                process.wait()
                raise
        # Python would complain that it lives on.
        process.returncode = 0
        return running

    def stop(self, within_s: float = 30) -> bool:
        """Ask it to stop, and wait until it has; False if it was not running. Unreachable if it does not stop."""
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
            # Where this very process started it, it is a zombie until it is asked after.
            os.waitpid(running.pid, 0)
        self.mark.unlink(missing_ok=True)
        return True

    def said(self, *, having: str = "") -> str:
        """The last line of its log, of those that hold a text; empty if there is none."""
        lines = self.log.read_text("utf-8", errors="replace").splitlines() if self.log.is_file() else []
        return next((line.strip() for line in reversed(lines) if line.strip() and having in line), "")

    def check(self, title: str) -> None:
        """Unreachable if it has ended."""
        if self.running() is None:
            raise Unreachable(f"{title} ended at once: {self.said() or 'it says nothing'} ({self.log})")

    def wait(self, title: str, said: str, within_s: float) -> str:
        """The line of its log that holds a text, once there is one. Unreachable if it ends first, or takes too long."""
        until = time.monotonic() + within_s
        while not (line := self.said(having=said)):
            self.check(title)
            if time.monotonic() > until:
                raise Unreachable(f"{title} is not ready after {within_s:.0f} s; its log is {self.log}")
            time.sleep(_LOOKS_EVERY_S)
        return line


@contextmanager
def one_at_a_time(folder: Path) -> Generator[None]:
    """Lock a folder, which is made if need be, against others that start or stop programs in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = (folder / "lock").open("wb")
    except OSError as error:
        raise Unusable(f"{folder}: cannot be written: {error.strerror}; choose another with --folder") from None
    with lock:
        if not _lock(lock.fileno()):
            raise Unusable(f"{folder}: servers are just being started or stopped there; try again when that is done")
        yield


def _lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file, against all others or, shared, against those who want it alone; False if it is locked so."""
    if sys.platform == "win32":
        raise Unusable("servers are not run in the background on Windows; use docker compose")
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
