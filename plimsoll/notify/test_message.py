"""Sends test messages to single targets on request, at most one a minute, as every viewer may request them."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from plimsoll.model.errors import Unusable
from plimsoll.model.times import SECOND, format_duration
from plimsoll.notify.delivery import Send, make_sender
from plimsoll.notify.messages import Message
from plimsoll.notify.redaction import redact_address
from plimsoll.notify.settings import FILE_NAME, NotifySettings

INTERVAL = 60 * SECOND  # our own limit: short enough to try settings, too long to flood anybody
MESSAGE = Message("Plimsoll: a test", "This is a test message of Plimsoll. Nothing is wrong.", "info")


@dataclass(frozen=True, slots=True)
class DeliveryTest:
    """A test message: when it was requested (UTC ns), whether sending is `done`, and why it failed.

    `error` is None after a success, and until sending is done.
    """

    at: int
    done: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TestedTarget:
    """A target with its redacted address, the alerts it gets in words, and its last test message since the start."""

    name: str
    address: str
    wants: str
    last: DeliveryTest | None


class TargetTester:
    """Sends test messages to the targets in `settings`, independently of their alerts."""

    def __init__(
        self,
        settings: NotifySettings | None = None,
        file_name: str = FILE_NAME,
        sender: Callable[[str, str], Send] = make_sender,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.use(settings or NotifySettings())
        self._file_name = file_name
        self._sender = sender
        self._clock = clock
        self._tried: dict[str, DeliveryTest] = {}
        self._lock = Lock()

    def use(self, settings: NotifySettings) -> None:
        """Replace the targets by those of other settings. The last test messages are kept."""
        self._targets = settings.notify

    @property
    def targets(self) -> Sequence[TestedTarget]:
        """The targets, in the order of up.toml."""
        return [
            TestedTarget(name, redact_address(target.url.get_secret_value()), target.wants, self._tried.get(name))
            for name, target in self._targets.items()
        ]

    def send(self, name: str) -> str | None:
        """Send a test message to a target. Return None, or the reason why sending failed.

        Raise Unusable if there is no such target, or if the target's last test was less than a minute ago.
        """
        target = self._targets.get(name)
        if target is None:
            raise Unusable(f"{Path(self._file_name).name} names no target {name[:100]!r}")
        with self._lock:
            now, last = self._clock(), self._tried.get(name)
            if last is not None and (not last.done or 0 <= now - last.at < INTERVAL):
                wait = (
                    "" if not last.done else f"; ask again in {format_duration(max(last.at + INTERVAL - now, SECOND))}"
                )
                raise Unusable(f"{name} was sent a test message less than {format_duration(INTERVAL)} ago{wait}")
            self._tried[name] = DeliveryTest(now)
        error: str | None = "a defect of Plimsoll; the log has it"
        try:
            address = target.url.get_secret_value()
            error = self._sender(address, f"{self._file_name}: notify.{name}.url")(MESSAGE)
        finally:
            self._tried[name] = DeliveryTest(now, done=True, error=error)
        return error
