"""Asks questions that may never be answered, without waiting for the answer for long.

The kernel can keep a program waiting for ever when it asks a file server that does not answer, so each question has a
thread of its own.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

_PATIENCE_S = 1.0
_log = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class Asker(Generic[Answer]):
    """Asks `ask` about each of some names. One that does not answer within a second is left out until it does."""

    def __init__(self, ask: Callable[[str], Answer]) -> None:
        self._ask = ask
        self._asked: dict[str, threading.Thread] = {}
        self._silent: set[str] = set()

    def answers(self, names: Iterable[str]) -> Mapping[str, Answer]:
        """The answers by name, without those that fail (OSError) or do not come."""
        found: dict[str, Answer] = {}
        until = time.monotonic() + _PATIENCE_S
        for name in names:
            if name not in self._asked:
                self._asked[name] = threading.Thread(target=self._answer, args=(name, found), daemon=True)
                self._asked[name].start()
        for name, thread in list(self._asked.items()):
            thread.join(0 if name in self._silent else max(0.0, until - time.monotonic()))
            if thread.is_alive():
                if name not in self._silent:
                    _log.warning("%s: does not answer; nothing is collected of it until it does", name)
                self._silent.add(name)
                continue
            del self._asked[name]
            if name in self._silent:
                _log.warning("%s: answers again", name)
                self._silent.discard(name)
        return found.copy()

    def _answer(self, name: str, found: dict[str, Answer]) -> None:
        try:
            found[name] = self._ask(name)
        except OSError:  # it may not be asked, or has gone
            return
