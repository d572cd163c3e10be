"""Hosts as the alert loop found them at an evaluation, without any samples: for the pages that show them."""

import time
from dataclasses import dataclass, field
from math import nan

from plimsoll.alerting.alert_history import AlertHistory
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.health import Progress
from plimsoll.alerting.host_inventory import HostInventory, LastSample
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.alerting.rule_targets import Site
from plimsoll.alerting.self_monitoring import Problem
from plimsoll.alerting.state_changes import StateChange
from plimsoll.model.times import SECOND
from plimsoll.receive.write_queue import WriteState
from plimsoll.rules.load import load
from plimsoll.rules.schema.field_types import Resource
from plimsoll.rules.states import State, Status
from plimsoll.rules.subjects import Subject
from plimsoll.up import overview
from tests.alerting.world import latest_evaluation

MINUTE = 60 * SECOND
SITE = Site(load())


@dataclass
class Watching:
    """What pages read of a `plimsoll up` that has just evaluated. `fields` are for `site`."""

    file: AlertsFile
    judged: dict[tuple[str, str, str | None], RuleState] = field(default_factory=dict)
    troubles: list[Problem] = field(default_factory=list)
    evaluated: int = 0
    unsent: dict[str, dict[Resource, int]] = field(default_factory=dict)

    def __post_init__(self):
        self.evaluated = (time.time_ns() - 30 * SECOND) // (10 * SECOND) * 10 * SECOND
        self.book = AlertHistory(self.file, SITE.catalogue.signals)
        self.roster = HostInventory(self.file)
        self.states = {}

    @property
    def fields(self):
        return {
            "file": self.file,
            "progress": self.progress,
            "judged": lambda: latest_evaluation(self.judged.values()),
            "health": self.health,
        }

    def progress(self):
        severe = [
            rule_state
            for rule_state in self.judged.values()
            if rule_state.rule.severity != "info" and rule_state.state != State.NO_DATA
        ]
        counts = {}
        for rule_state in severe:
            counts[rule_state.subject.key[0]] = counts.get(rule_state.subject.key[0], 0) + 1
        pending = sum(rule_state.state == State.PENDING for rule_state in severe)
        performed = self.evaluated + 30 * SECOND
        return Progress(self.evaluated, performed, judged=counts, pending=pending, unsent=self.unsent)

    def health(self):
        written = WriteState()
        return overview.summarize_health(
            self.file, self.progress(), self.troubles, written, "plimsoll.duckdb", 41_000_000, time.time_ns()
        )

    def sees(self, *names, ago=0):
        """Hosts sent samples, for long enough to be expected, until some time ago (ns)."""
        for before in (11 * MINUTE, 5 * MINUTE, 0):
            at = self.evaluated - ago - before
            self.roster.step({name: LastSample(at, 10 * SECOND) for name in names}, at)

    def judges(self, rule, host, value=nan, state=State.OK, since=0, instance=None):
        """A rule for a host after the next evaluation; `since` is how long it has been crossed (ns)."""
        result, subject = SITE.catalogue.rules[rule], Subject(host, instance)
        begun = self.evaluated - since if state in (State.PENDING, State.FIRING) else None
        key = (rule, *subject.key)
        self.judged[key] = RuleState(result, subject, result.healthy, value, state, begun, key)

    def steps(self):
        """The next evaluation: alerts begin and end."""
        self.evaluated += 10 * SECOND
        changes, readings = [], {}
        for key, rule_state in self.judged.items():
            was, self.states[key] = self.states.get(key, State.OK), rule_state.state
            if was != rule_state.state and State.FIRING in (was, rule_state.state):
                at = self.evaluated
                changes.append(
                    StateChange(
                        at,
                        rule_state.rule,
                        rule_state.subject,
                        was,
                        rule_state.state,
                        rule_state.since,
                        rule_state.value,
                        rule_state.healthy,
                    )
                )
            if rule_state.state == State.FIRING:
                readings[key] = rule_state.value
        statuses = {key: Status(rule_state.state, rule_state.since) for key, rule_state in self.judged.items()}
        self.book.step(self.evaluated, changes, statuses, now=self.evaluated + 30 * SECOND, readings=readings)

    def watches(self):
        """The roster as of the evaluation: hosts that do not send any more are silent."""
        for before in range(6, -1, -1):
            self.roster.step({}, self.evaluated - before * 30 * SECOND)
