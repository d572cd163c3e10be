"""The readings of the collector's sources, named as Telegraf does, and tools to read in the background."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Generic, NamedTuple, TypeAlias, TypeVar

PROC = Path("/proc")
SYS = Path("/sys")
_PATIENCE_S = 1.0
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Reading(NamedTuple):
    """The fields of one measurement at one time. `tags` are sorted by name, and do not include the host."""

    measurement: str
    fields: Mapping[str, float]
    tags: tuple[tuple[str, str], ...] = ()


Group: TypeAlias = Callable[[], Iterable[Reading]]


def read_kernel_file(path: Path) -> str | None:
    """Return the text of a file of the kernel, such as in /proc; None if it does not exist or cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def run_in_background(function: Callable[[], T]) -> Future[T]:
    """Call a function in a daemon thread, so that the program can end even if the function never returns."""
    result: Future[T] = Future()
    threading.Thread(target=_complete, args=(result, function), name="collector", daemon=True).start()
    return result


def _complete(result: Future[T], function: Callable[[], T]) -> None:
    try:
        result.set_result(function())
    except Exception as error:  # raised again by the future's result
        result.set_exception(error)


class NoAnswer(Exception):
    """The error that a group has not answered for `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it has not answered for {seconds:.0f} s")
        self.seconds = seconds


class Patient:
    """A group with a timeout: each call waits at most `patience_s` for the readings of `group`, then raises NoAnswer.

    Windows reads a counter through its provider's library, which may wait forever. Late readings are dropped.
    """

    # Longer than on a loaded machine, but shorter than the 10 s until the next reading.
    def __init__(self, group: Group, patience_s: float = 5.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._group = group
        self.patience_s = patience_s
        self._clock = clock
        self._readings: Future[list[Reading]] | None = None
        self._began = 0.0

    def __call__(self) -> Iterable[Reading]:
        """Return the group's current readings, or raise its error. Raise NoAnswer after the timeout."""
        if self._readings is None or self._readings.done():
            self._began = self._clock()
            self._readings = run_in_background(lambda: [*self._group()])
            wait([self._readings], self.patience_s)
        if not self._readings.done():
            raise NoAnswer(self._clock() - self._began)
        readings, self._readings = self._readings, None
        return readings.result()


class Lookup(Generic[T]):
    """Calls `look_up` for each name in the background.

    A name whose call takes over a second is left out until the call returns: the kernel may block forever in a call on
    a file server that does not answer.
    """

    def __init__(self, look_up: Callable[[str], T]) -> None:
        self._look_up = look_up
        self._pending: dict[str, Future[T]] = {}
        self._silent: set[str] = set()

    def results(self, names: Iterable[str], prompt: Collection[str] = ()) -> Mapping[str, T]:
        """Return the result of `look_up` for each name, without names whose call fails (OSError) or is late.

        The calls for `prompt` names, which always return soon, are made without a thread.
        """
        for name in names:
            if name in self._pending:
                continue
            if name in prompt:
                self._pending[name] = Future()
                _complete(self._pending[name], lambda name=name: self._look_up(name))
            else:
                self._pending[name] = run_in_background(lambda name=name: self._look_up(name))
        wait([future for name, future in self._pending.items() if name not in self._silent], _PATIENCE_S)
        results: dict[str, T] = {}
        for name, future in [*self._pending.items()]:
            if not future.done():
                if name not in self._silent:
                    _log.warning("%s: does not answer; nothing is collected of it until it does", name)
                self._silent.add(name)
                continue
            del self._pending[name]
            if name in self._silent:  # its result is too old
                _log.warning("%s: answers again", name)
                self._silent.discard(name)
            elif future.exception() is None:
                results[name] = future.result()
            elif not isinstance(future.exception(), OSError):  # access is denied, or it no longer exists
                future.result()
        return results
