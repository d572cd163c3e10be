"""A book of alerts in a folder of the test, and transitions of shipped rules without any judging."""

import numpy as np
import pytest
from pydantic import SecretStr

from plimsoll.alerting.alert import Key
from plimsoll.alerting.alert_history import AlertHistory
from plimsoll.alerting.alerts_file import NAME, AlertsFile
from plimsoll.alerting.latest_evaluation import LatestEvaluation, Limits, RuleStates
from plimsoll.alerting.state_changes import StateChange
from plimsoll.model.times import SECOND, Zone
from plimsoll.notify.grouping import MOST_AN_HOUR, Policy
from plimsoll.notify.messages import Style
from plimsoll.notify.notification_log import NotificationLog
from plimsoll.notify.settings import QuietHours, TargetSettings
from plimsoll.notify.targets import NotifyTarget
from plimsoll.rules.load import load
from plimsoll.rules.states import State, Status
from plimsoll.rules.subjects import Subject

T0 = 1_700_000_000 // 60 * 60 * SECOND  # a full minute
PERIOD = 10 * SECOND
MINUTE = 60 * SECOND
HOUR = 3600 * SECOND
UTC = Zone.parse("UTC")
CPU = "windows-cpu-busy-critical"


@pytest.fixture
def file(tmp_path):
    opened = AlertsFile(tmp_path / NAME)
    opened.rows("PRAGMA synchronous = OFF")  # tests that pull the plug open files of their own
    yield opened
    opened.close()


@pytest.fixture
def world(file):
    return World(file)


@pytest.fixture
def phone(world):
    return Phone(world)


class World:
    """Steps a book by a simulated clock: says which rules fire for which subjects at each evaluation."""

    def __init__(self, file):
        self.catalogue = load()
        self.file = file
        self.book = AlertHistory(file, self.catalogue.signals)
        self.firing = {}
        self.at = T0

    def step(self, *firing, quiet=False, value=95.0, processes=None, every=PERIOD):
        """One evaluation at which exactly these (rule, host, instance) fire."""
        self.at += every
        rows = {(item if isinstance(item, tuple) else (CPU, item)) for item in firing}
        rows = {(*item, None)[:3] for item in rows}
        transitions = [self.transition(key, State.FIRING, value) for key in rows - self.firing.keys()]
        transitions += [self.transition(key, State.OK, 5.0) for key in self.firing.keys() - rows]
        self.firing = {item: self.firing.get(item, self.at) for item in rows}
        statuses = {transition.key: Status() for transition in transitions}
        statuses |= {self.key(item): Status(State.FIRING, since) for item, since in self.firing.items()}
        readings = {self.key(item): value for item in rows}
        return self.book.step(
            self.at,
            transitions,
            statuses,
            now=self.at + 30 * SECOND,
            readings=readings,
            processes=processes,
            quiet=quiet,
        )

    def key(self, item) -> Key:
        rule, host, instance = item
        return rule, *Subject(host, instance).key

    def transition(self, item, after, value):
        rule = self.catalogue.rules[item[0]]
        before = State.FIRING if after == State.OK else State.OK
        since = self.at if after == State.FIRING else None
        return StateChange(self.at, rule, Subject(*item[1:]), before, after, since, value, rule.healthy)


class Phone:
    """A target that keeps what it is sent; `fails` makes it unreachable."""

    def __init__(self, world, quiet=None, policy=None, after=0):
        self.sent = []
        self.world = world
        self.fails: str | None = None
        target = TargetSettings(url=SecretStr("json://phone")).model_copy(update={"after": after})
        policy = policy or Policy(target, quiet or QuietHours(UTC))
        self.outbox = NotificationLog(world.file, "phone", "phone://****", world.at + 30 * SECOND)
        self.target = NotifyTarget("phone", self.outbox, policy, self._send, Style(UTC, after=after))

    def _send(self, message):
        if self.fails is None:
            self.sent.append((self.now, message))
        return self.fails

    def tick(self, now=None):
        self.now = self.world.at + 30 * SECOND if now is None else now
        self.target.tick(self.now)

    def step(self, *firing, times=1, **options):
        for _ in range(times):
            self.world.step(*firing, **options)
            self.tick()

    @property
    def titles(self):
        return [message.title for _, message in self.sent]

    def check_rate(self):
        for at, _ in self.sent:
            assert sum(at - HOUR < other <= at for other, _ in self.sent) <= MOST_AN_HOUR


def latest_evaluation(states):
    """The evaluation at which rules are in these states."""
    by_rule = {}
    for state in states:
        by_rule.setdefault(id(state.rule), []).append(state)
    return LatestEvaluation(
        [
            RuleStates(
                alike[0].rule,
                Limits(alike, [state.healthy for state in alike]),
                np.array([state.value for state in alike]),
                np.array([state.state for state in alike], np.int8),
                np.array([state.since or 0 for state in alike], np.int64),
                np.array([state.impossible for state in alike]),
            )
            for alike in by_rule.values()
        ]
    )
