"""Notifies people, in a thread per target of up.toml, so that a slow target delays neither others nor the loop."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from threading import Event, Thread

from plimsoll.alerting.alerts_file import AlertsFile, NotKept
from plimsoll.alerting.rule_targets import Site
from plimsoll.model.times import SECOND, format_iso
from plimsoll.notify.delivery import Send
from plimsoll.notify.grouping import HOUR, MINUTE, AlertGroup, Policy, find_next_group, make_policy
from plimsoll.notify.messages import Message, Style, write_message
from plimsoll.notify.notification_log import LONGEST_WAIT, NotificationLog, TargetState, forget_others, read_states
from plimsoll.notify.redaction import redact_address
from plimsoll.notify.settings import FILE_NAME, NotifySettings, QuietHours

LATEST_STEP = 90 * SECOND
STUCK_AFTER = 15 * MINUTE
# This long after a message is due here, another `plimsoll up` is assumed to have sent it, unless it has ended.
LEFT_AFTER = 2 * MINUTE
_LOOKS_EVERY_S = 5.0
_log = logging.getLogger(__name__)


class NotifyTarget:
    """Composes and sends the messages to one target.

    While this process is not `on_duty`, another `plimsoll up` that judges the same hosts notifies the target. Alerts
    about problems of this process are sent in any case.
    """

    def __init__(
        self,
        name: str,
        outbox: NotificationLog,
        policy: Policy,
        send: Send,
        style: Style,
        on_duty: Callable[[], bool] = lambda: True,
    ) -> None:
        self.name = name
        self._outbox = outbox
        self._policy = policy
        self._send = send
        self._style = style
        self._on_duty = on_duty
        self._due: dict[tuple[int, str], int] = {}  # since when another `plimsoll up` has to notify it
        self._unkept: Callable[[], None] | None = None
        self._to_say: Message | None = None
        self._said_at = 0

    def tick(self, now: int) -> None:
        """Send the messages to the target that are due."""
        try:
            self._send_due(now)
        except NotKept as error:
            self.say("Plimsoll cannot write its alerts", str(error))
        urgent, self._to_say = self._to_say, None
        if urgent is not None and now - self._said_at >= HOUR:
            self._said_at = now
            if error := self._send(urgent):
                _log.warning("%s: a notification could not be sent: %s", self.name, error)

    def say(self, title: str, body: str) -> None:
        """Send a message at the next tick, without alerts.db (such as on a full disk); at most one an hour."""
        self._to_say = Message(f"CRITICAL: {title}", body, "critical")

    def _send_due(self, now: int) -> None:
        """Send the messages about alerts that are due; record each attempt before it is made, then its result."""
        self._keep()
        if given_up := self._outbox.give_up(self._policy, now):
            _log.warning("%s: gave up telling of %d alerts that ended a day ago", self.name, given_up)
        state = self._outbox.state()
        if state.next_try is not None and 0 < state.next_try - now <= LONGEST_WAIT:  # later: the clock was set back
            return
        while group := find_next_group(self._outbox.situation(self._policy, now), self._policy, now):
            if self._on_duty():
                self._due.clear()
            elif items := tuple(item for item in group.items if item.alert.kind == "plimsoll"):
                group = replace(group, items=items)
            elif self._is_notified(group, now):
                continue
            else:
                return
            composed = write_message(group, self._style, now, state.failing_since)
            attempt = self._outbox.attempt(group, composed.title, now)
            error = self._send(composed)
            if error is None:
                self._unkept = partial(self._outbox.succeeded, attempt, group, now)
            else:
                self._unkept = partial(self._outbox.failed, attempt, error, now)
            self._keep()
            if error is not None:
                _log.warning("%s: a notification could not be sent: %s", self.name, error)
                return
            state = self._outbox.state()

    def _is_notified(self, group: AlertGroup, now: int) -> bool:
        """Return whether the `plimsoll up` on duty must have sent these alerts by now; if so, record them as sent."""
        keys = [(item.alert.id, item.news) for item in group.items]
        if now - max(self._due.setdefault(key, now) for key in keys) < LEFT_AFTER:
            return False
        self._outbox.left(group, now)
        for key in keys:
            del self._due[key]
        return True

    def _keep(self) -> None:
        """Record the last message's result, unless it is recorded already.

        Until the result is recorded, nothing is sent, as the same message would be sent twice.
        """
        if self._unkept is not None:
            self._unkept()
            self._unkept = None


class Notifier:
    """Notifies all targets of the alerts of a site. Raise Unusable if a target names an unknown pack or label.

    `on_duty` returns whether this `plimsoll up`, and not another one, notifies the targets.
    """

    def __init__(
        self,
        file: AlertsFile,
        settings: NotifySettings,
        senders: Mapping[str, Send],
        *,
        now: int,
        pages: str | None = None,
        site: Site | None = None,
        on_duty: Callable[[], bool] = lambda: True,
    ) -> None:
        policies = {name: _make_policy(name, settings, site) for name in senders}
        self._file = file
        self._stepped = now
        self._stop = Event()
        self._wake = {name: Event() for name in senders}
        self._threads: list[Thread] = []
        forget_others(file, set(senders))
        self.targets = [
            NotifyTarget(
                name,
                NotificationLog(file, name, redact_address(settings.notify[name].url.get_secret_value()), now),
                policies[name],
                send,
                Style(settings.zone, pages, settings.notify[name].after),
                on_duty,
            )
            for name, send in senders.items()
        ]

    def start(self) -> None:
        """Start a thread for each target."""
        self._threads = [
            Thread(target=self._run, args=(target,), name=f"notify {target.name}") for target in self.targets
        ]
        for thread in self._threads:
            thread.daemon = True  # an unresponsive server must not delay the end of the program
            thread.start()

    def stop(self, patience_s: float = 5.0) -> None:
        """End the threads, waiting at most `patience_s`. Unsent alerts are sent after the next start."""
        self._stop.set()
        for event in self._wake.values():
            event.set()
        until = time.monotonic() + patience_s
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def stepped(self, now: int) -> None:
        """Wake all targets after an evaluation, without waiting for them."""
        self._stepped = now
        for event in self._wake.values():
            event.set()

    def say(self, title: str, body: str) -> None:
        """Send a message to all targets, without alerts.db; at most one an hour to each."""
        for target in self.targets:
            target.say(title, body)
            self._wake[target.name].set()

    def states(self) -> list[TargetState]:
        """Return whether messages arrive, for each target."""
        return read_states(self._file)

    def trouble(self, now: int) -> str | None:
        """Return why notifications cannot be relied on (no evaluations, or failing messages); None if they can."""
        if now - self._stepped > LATEST_STEP:
            return f"nothing was evaluated since {format_iso(self._stepped)}"
        for state in self.states():
            since = state.failing_since
            if since is not None and now - since >= STUCK_AFTER:
                return f"notification to {state.name} fails since {format_iso(since)}: {state.error}"
        return None

    def _run(self, target: NotifyTarget) -> None:
        event = self._wake[target.name]
        while not self._stop.is_set():
            try:
                target.tick(time.time_ns())
            except Exception:  # the thread must go on, whatever it was
                if self._stop.is_set():  # the file has been closed meanwhile
                    return
                _log.exception("%s: notifying failed", target.name)
            event.wait(_LOOKS_EVERY_S)
            event.clear()


def _make_policy(name: str, settings: NotifySettings, site: Site | None) -> Policy:
    target = settings.notify[name]
    quiet = QuietHours(settings.zone, target.quiet or settings.quiet)
    if site is None:
        return Policy(target, quiet)
    policy = make_policy(target, quiet, site)
    policy.check(f"{FILE_NAME}: notify.{name}")
    return policy
