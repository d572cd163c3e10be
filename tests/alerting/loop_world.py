"""Hosts, an alert loop over their samples, and a clock, for the tests of the loop."""

import numpy as np

from plimsoll.alerting.alert_history import AlertHistory
from plimsoll.alerting.alert_queries import read_history
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.host_inventory import HostInventory
from plimsoll.alerting.loop import AlertLoop
from plimsoll.alerting.rule_targets import Site
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load
from tests.alerting.in_memory import InMemory

START = 1_800_000_000 * SECOND
PERIOD = 10 * SECOND
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
SITE = Site(load(), judge=("cpu",))  # of these hosts nothing else is sent
CPU = "cpu-busy"


class World:
    """Hosts whose processors are busy at times, an alert loop over their samples, and a clock."""

    def __init__(self, folder, store=None):
        self.store = store or InMemory()
        self.path = folder / "alerts.db"
        self.now = START
        self.idle = {}
        self.sent = START
        self.series = {}
        self.open()

    def open(self, **bounds):
        self.file = AlertsFile(self.path)
        self.file.rows("PRAGMA synchronous = OFF")  # nobody pulls the plug here
        book = AlertHistory(self.file, SITE.catalogue.signals)
        self.loop = AlertLoop(self.store, SITE, {}, book, HostInventory(self.file), **bounds)

    def restart(self, **bounds):
        self.file.close()
        self.open(**bounds)

    def points(self, host, times, idle):
        return self.points_of({host: idle}, times)

    def points_of(self, idle, times):
        """Return samples of several hosts at the same times, in one batch."""
        fields = ("usage_idle", "usage_iowait", "usage_steal")
        series = [
            self.series.setdefault((host, field), Series(host, "cpu", (("cpu", "cpu-total"),), field))
            for host in idle
            for field in fields
        ]
        times = np.asarray(times, np.int64)
        which = np.repeat(np.arange(len(series), dtype=np.int32), len(times))
        values = [value for item in idle.values() for value in (float(item), 0.0, 0.0)]
        return Points(series, which, np.tile(times, len(series)), np.repeat(values, len(times)))

    def send(self, points):
        self.store.write_points(points)
        self.loop.written(points, self.now)

    def run(self, length, idle, interval=MINUTE):
        """Let time pass: hosts send a sample every 10 s, and due evaluations are performed, every `interval`."""
        end = self.now + length
        sending = {host: value for host, value in idle.items() if value is not None}
        while self.now < end:
            before, self.now = self.now, min(self.now + interval, end)
            if sending:
                self.send(self.points_of(sending, range(before + PERIOD, self.now + 1, PERIOD)))
            self.loop.perform(self.now)

    def pass_at_once(self, length, idle):
        """Let time pass as `run` does, but each host sends all its samples at the end, and the loop catches up."""
        times = range(self.now + PERIOD, self.now + length + 1, PERIOD)
        self.now += length
        self.send(self.points_of(idle, times))
        self.loop.perform(self.now)

    def close(self):
        self.file.close()
        self.store.close()


def alerts(world, kind="rule"):
    return [
        (alert.rule, alert.host, alert.ended_at is None)
        for alert in read_history(world.file, 0, 2**62)
        if alert.kind == kind
    ]


def rules_of(world):
    return {rule for rule, _, _ in alerts(world)}


def run_behind(world, length, lag, every=MINUTE):
    """Let a host send repeatedly, with a clock that is `lag` behind."""
    for _ in range(length // every):
        start = world.now
        world.run(every, {"db1": 60})
        world.send(world.points("web1", np.arange(start + PERIOD, world.now + 1, PERIOD) - lag, 2))
