"""A load or a deletion in a real InfluxDB that is paused at any request, and overtaken by another command."""

import threading
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from plimsoll.ingest.runs import load as load_module
from plimsoll.ingest.runs.load import load, unload_run
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store import lease
from plimsoll.store.influx import runs as influx_runs
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.runs import InfluxClaims, InfluxRuns, make_influx_store
from plimsoll.store.influx.server import InfluxServer
from plimsoll.store.lease import LeaseEnded

START = 1_700_000_000 * SECOND
EVER = (START - 10**15, START + 10**15)


class Killed(BaseException):
    """The command was killed: nothing it still does reaches the server."""


class Command:
    """A load or a delete in a thread, of which each request to the server has to be let through."""

    def __init__(self, address, clock, work):
        self._allowed, self._under_way = 0, 0
        self._killed = False
        self._gate = threading.Condition()
        self.outcome = None  # None, "done", "refused", "overtaken" or "killed"
        self.overtaken = False
        self._clock = clock
        store = watched(Gated(address, self), self, clock)
        self._thread = threading.Thread(target=self._run, args=(store, work), daemon=True)
        self._thread.start()

    def _run(self, store, work):
        try:
            work(store)
            outcome = "done"
        except LeaseEnded:
            outcome = "overtaken"
        except Unusable:
            outcome = "refused"
        except Killed:
            outcome = "killed"
        with self._gate:
            self.outcome = outcome
            self._gate.notify_all()

    def through(self, call):
        with self._gate:
            self._gate.wait_for(lambda: self._allowed or self._killed)
            if self._killed:
                raise Killed
            self._allowed -= 1
            self._under_way += 1
        try:
            return call()
        finally:
            with self._gate:
                self._under_way -= 1
                self._gate.notify_all()

    def step(self, requests):
        """Let it send some requests, or all it wants to."""
        self._clock.expired.discard(self._clock.holders.get(self))
        with self._gate:
            self._allowed = requests
            self._gate.notify_all()
            self._gate.wait_for(lambda: self.outcome or not (self._allowed or self._under_way))

    def kill(self):
        with self._gate:
            self._killed = True
            self._gate.notify_all()
        self._thread.join(300)
        assert self.outcome


class Gated(InfluxServer):
    """A server whose requests need leave."""

    def __init__(self, address, command):
        super().__init__(address, retry_s=5)
        self._command = command

    def post(self, lines):
        return self._command.through(lambda: super(Gated, self).post(lines))

    def query(self, influxql):
        yield from self._command.through(lambda: [*super(Gated, self).query(influxql)])

    def delete(self, start, end, predicate):
        self._command.through(lambda: super(Gated, self).delete(start, end, predicate))


class WatchedClaims(InfluxClaims):
    """The claims of a command, which expire when the clock says so."""

    def __init__(self, server, command, clock):
        super().__init__(server)
        self._command, self._clock = command, clock

    def claim(self, claim):
        self._clock.holders[self._command] = claim.holder
        super().claim(claim)

    def current(self, life_s):
        return [replace(claim, alive=claim.holder not in self._clock.expired) for claim in super().current(life_s)]


def watched(server, command, clock):
    """The store of a command."""
    store = make_influx_store(server)
    assert isinstance(store.runs, InfluxRuns)
    store.runs.claims = WatchedClaims(server, command, clock)
    return store


class Clock:
    """Whose claims have expired."""

    def __init__(self):
        self.expired, self.holders = set(), {}


def log(host, fields, *, rows=6, start=START):
    times = start + np.arange(rows, dtype=np.int64) * 10 * SECOND
    series = tuple(Series(host, "m", (("instance", "a"),), field) for field in fields)
    columns = tuple(np.arange(rows, dtype=np.float64) + 0.5 + at for at in range(len(fields)))
    return Log(Path(f"{host}.csv"), "PDH-CSV", times, columns, series, Zone.parse("UTC"), sha256="ab")


def stored(name, item):
    return StoredRun(Run(name), (Recording.of(item, "ab"),))


def content(store, host):
    result = store.samples.series(*EVER, [host]).series
    return {
        series.field: samples.times.tolist()
        for series, samples in zip(result, store.samples.read(result, *EVER), strict=True)
    }


@pytest.fixture
def server(bucket, monkeypatch):
    """An InfluxDB, and loads with few values that neither wait nor beat."""
    monkeypatch.setattr(load_module, "VALUES_AT_ONCE", 6)
    monkeypatch.setattr(lease, "BEAT_S", 10**6)
    monkeypatch.setattr(lease, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(lease, "_LOOKS_EVERY_S", 0.01)
    monkeypatch.setattr(lease.random, "uniform", lambda *_: 0.01)
    monkeypatch.setattr(influx_runs, "SETTLE_S", 0.0)
    server = InfluxServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token), retry_s=5)
    yield server
    server.close()


# Each begins at another request, so that all together are paused at each.
PAUSED = [*enumerate(product(("load", "delete"), ("load", "delete", "force"), (True, False)))]


@pytest.mark.parametrize(("first", "case"), PAUSED, ids=str)
def test_paused_at_any_request_and_overtaken(server, first, case):
    """In the end the repeated call leads to all values, or to none; the values of another run stay."""
    work, other, goes_on = case
    store, night = make_influx_store(server), log("web", ["x", "y", "z"])
    beside = log("web", ["x", "w"], rows=8, start=START - 5 * SECOND)
    load(store, stored("beside", beside), [beside])
    without = content(store, "web")
    run = stored("night", night)
    works = {
        "load": lambda store: load(store, run, [night], merge=True),
        "delete": lambda store: unload_run(store.runs, "night"),
        "force": lambda store: unload_run(store.runs, "night", force=True),
    }
    for requests in range(1 + first, 40, len(PAUSED)):
        clock = Clock()
        if work == "delete":
            load(store, run, [night], merge=True)
        begun = Command(server.address, clock, works[work])
        begun.step(requests)
        clock.expired.add(clock.holders.get(begun))
        overtaking = Command(server.address, clock, works[other])
        overtaking.step(10**6)
        if goes_on and begun.outcome is None:
            begun.step(10**6)
        begun.kill()
        overtaking.kill()
        for claim in store.runs.claims.current(60):
            store.runs.claims.withdraw(claim.holder)
        load(store, run, [night], merge=True)
        assert [summary.complete for summary in store.runs.summaries()] == [True, True]
        (summary,) = [summary for summary in store.runs.summaries() if summary.name == "night"]
        series = [*night.series]
        assert [read.times.tolist() for read in store.runs.samples(summary).read(series, *EVER)] == [
            night.times.tolist()
        ] * 3
        unload_run(store.runs, "night")
        assert content(store, "web") == without
        assert [summary.name for summary in store.runs.summaries()] == ["beside"]
