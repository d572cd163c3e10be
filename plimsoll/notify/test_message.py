"""Test messages: one to a target, when somebody asks for it, and how it went.

Whoever may see the pages may ask, so a target gets one a minute at most, whoever asks and how often.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND, duration_text
from plimsoll.notify.delivery import Send, sender
from plimsoll.notify.messages import Message
from plimsoll.notify.redaction import redacted
from plimsoll.notify.settings import FILE_NAME, NotifySettings

INTERVAL = 60 * SECOND  # our own limit: quick enough for who tries settings, too slow to flood anybody
MESSAGE = Message("Plimsoll: a test", "This is a test message of Plimsoll. Nothing is wrong.", "info")


@dataclass(frozen=True, slots=True)
class DeliveryTest:
    """The last test message to a target since the start: when it was asked for (UTC ns), and why it was not sent.

    `error` is None for one that was sent; `done` is false while it is on its way.
    """

    at: int
    done: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TestedTarget:
    """A target: its name, its redacted address, of what it is told, and its last test message if there was one."""

    name: str
    address: str
    wants: str
    last: DeliveryTest | None


class TargetTester:
    """Sends test messages to the targets of `settings`, each by a sender of its own."""

    def __init__(
        self,
        settings: NotifySettings | None = None,
        file_name: str = FILE_NAME,
        sender: Callable[[str, str], Send] = sender,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.use(settings or NotifySettings())
        self._file_name = file_name
        self._sender = sender
        self._clock = clock
        self._tried: dict[str, DeliveryTest] = {}
        self._lock = Lock()

    def use(self, settings: NotifySettings) -> None:
        """Take the targets of other settings from now on. How often a name was tried counts still."""
        self._wants = {name: target_settings.wants for name, target_settings in settings.notify.items()}
        self._addresses = {
            name: target_settings.url.get_secret_value() for name, target_settings in settings.notify.items()
        }

    @property
    def targets(self) -> Sequence[TestedTarget]:
        """The targets, in the order of the file."""
        return [
            TestedTarget(name, redacted(text), self._wants.get(name, ""), self._tried.get(name))
            for name, text in [*self._addresses.items()]
        ]

    def send(self, name: str) -> str | None:
        """Send one target a test message, and return why it could not be sent, or None.

        Unusable if there is no such target, or if it was sent one less than a minute ago.
        """
        address = self._addresses.get(name)
        if address is None:
            raise Unusable(f"{Path(self._file_name).name} names no target {name[:100]!r}")
        with self._lock:
            now, last = self._clock(), self._tried.get(name)
            if last is not None and (not last.done or 0 <= now - last.at < INTERVAL):
                wait = "" if not last.done else f"; ask again in {duration_text(max(last.at + INTERVAL - now, SECOND))}"
                raise Unusable(f"{name} was sent a test message less than {duration_text(INTERVAL)} ago{wait}")
            self._tried[name] = DeliveryTest(now)
        error: str | None = "a defect of Plimsoll; the log has it"
        try:
            error = self._sender(address, f"{self._file_name}: notify.{name}.url")(MESSAGE)
        finally:
            self._tried[name] = DeliveryTest(now, done=True, error=error)
        return error
