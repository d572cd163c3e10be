"""Alerts in alerts.db and samples in a store, as `plimsoll up` would have them, for the tests of pages."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plimsoll.alerting import rule_targets
from plimsoll.alerting.alert import describe_alert
from plimsoll.alerting.alert_rows import NewAlert, begin, count_firing, end
from plimsoll.alerting.alerts_file import NAME, AlertsFile
from plimsoll.alerting.health import Progress
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.hosts.settings import parse
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load
from plimsoll.rules.states import State
from plimsoll.rules.subjects import Subject
from tests.alerting.world import latest_evaluation

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
CPU = "windows-cpu-busy-critical"
PRIVILEGED = "windows-privileged-time"
NOTE = "windows-interrupt-time"
HOSTILE = "<script>alert(1)</script>\"'\u202eevil"
LONG = "W" * 300


@dataclass
class AlertData:
    """The data folder of a `plimsoll up`, and what it judges. `now` is the time at which it is made."""

    folder: Path
    now: int = field(default_factory=lambda: time.time_ns() // (10 * SECOND) * 10 * SECOND)

    def __post_init__(self):
        self.catalogue = load()
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.file = AlertsFile(self.folder / NAME)
        self.judged = []

    def fired(
        self, host, ago=10 * MINUTE, rule=CPU, instance=None, ended=None, value=95.0, processes=(), counted=False
    ):
        """An alert that fired `ago` (ns), and ended so long after that; `counted` for flapping. Returns its id."""
        rule_ = self.catalogue.rules[rule]
        at = self.now - ago
        begun = NewAlert(
            key=(rule, host.casefold(), instance and instance.casefold()),
            kind="rule",
            rule=rule,
            severity=rule_.severity,
            signal=rule_.signal,
            host=host,
            instance=instance,
            since=at - rule_.for_,
            fired_at=at,
            value=value,
            healthy=str(rule_.healthy),
            details=describe_alert(rule_, rule_.healthy, "", self.catalogue.signals, tuple(processes)),
        )
        with self.file.transaction() as connection:
            number = begin(connection, begun, at)
            if counted:
                count_firing(connection, number, at)
            if ended is not None:
                end(connection, number, at + ended, at + ended, "recovered")
        return number

    def judges(self, host, state, rule=CPU, value=93.0, ago=2 * MINUTE):
        """A rule that is judged for a host now."""
        rule_ = self.catalogue.rules[rule]
        since = None if state == State.OK else self.now - ago
        subject = Subject(host)
        key = (rule, *subject.key)
        self.judged.append(RuleState(rule_, subject, rule_.healthy, value, state, since, key))

    def sampled(self, store, host, hours=2):
        """Processor time of a host: 20 %, and 95 % in the last 20 minutes."""
        cpu = Series(host, "win_cpu", (("instance", "_Total"), ("objectname", "Processor")), "Percent_Processor_Time")
        queue = Series(host, "win_system", (("objectname", "System"),), "Processor_Queue_Length")
        times = np.arange(self.now - hours * HOUR, self.now, 10 * SECOND, dtype=np.int64)
        late = times > self.now - 20 * MINUTE
        wave = np.sin(np.arange(len(times)) / 9)
        for series, values in ((cpu, np.where(late, 95.0, 20.0) + 3 * wave), (queue, np.where(late, 14.0, 1.0) + wave)):
            store.live.write_points(Points([series], np.zeros(len(times), np.int32), times, values))

    def watching(self, settings="") -> dict[str, Any]:
        """Return the options of `site` for its pages to show this."""
        parsed = parse(settings, self.folder / "plimsoll.toml")
        overrides = parsed.overrides(self.folder, self.catalogue.rules, self.catalogue.signals)
        return {
            "judged": lambda: latest_evaluation(self.judged),
            "progress": lambda: Progress(evaluated=self.now),
            "site": rule_targets.Site(self.catalogue, overrides, parsed.drives()),
        }
