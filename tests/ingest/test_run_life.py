"""The life of a run in a real InfluxDB, whatever becomes of the commands that work on it."""

import itertools
import threading
from dataclasses import replace
from itertools import product
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from plimsoll.ingest.runs import load as load_module
from plimsoll.ingest.runs.load import load
from plimsoll.ingest.runs.unload import unload
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.store import lease
from plimsoll.store.influx.server import Address, Server
from plimsoll.store.influx.store import InfluxStore
from plimsoll.store.lease import LeaseEnded

START = 1_700_000_000 * SECOND
EVER = (START - 10**15, START + 10**15)
PLACES = st.integers(0, 2)  # of commands that run side by side
WORK = st.sampled_from(["load", "load", "delete", "force"])
REQUESTS = st.integers(
    1, 36
)  # a load needs some 36, of which it writes between the 14th and the 30th; a delete some 32


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
        store = Watched(Gated(address, self), self, clock)
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


class Gated(Server):
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


class Watched(InfluxStore):
    """A store of a command, whose claims expire when the clock says so."""

    def __init__(self, server, command, clock):
        super().__init__(server)
        self._command, self._clock = command, clock

    def claim(self, claim):
        self._clock.holders[self._command] = claim.holder
        super().claim(claim)

    def claims(self, life_s):
        return [replace(one, alive=one.holder not in self._clock.expired) for one in super().claims(life_s)]


class Clock:
    """Whose claims have expired."""

    def __init__(self):
        self.expired, self.holders = set(), {}


def log(host, fields, *, rows=6, start=START):
    times = start + np.arange(rows, dtype=np.int64) * 10 * SECOND
    series = tuple(Series(host, "m", (("instance", "a"),), field) for field in fields)
    columns = tuple(pl.Series(np.arange(rows) + 0.5 + at) for at in range(len(fields)))
    return Log(Path(f"{host}.csv"), "PDH-CSV", times, columns, series, Zone.parse("UTC"), sha256="ab")


def stored(name, one):
    return StoredRun(Run(name), (Recording.of(one, "ab"),))


def content(store, host):
    found = store.series(*EVER, [host]).series
    return {one.field: samples.times.tolist() for one, samples in zip(found, store.read(found, *EVER), strict=True)}


def machine(server):
    class RunLife(RuleBasedStateMachine):
        """Commands on one run, step by step in any order; a second run of the same host is only looked at."""

        numbers = itertools.count()
        found = None  # a host with a run beside that the life before left as it found it

        @initialize()
        def begin(self):
            self.store = InfluxStore(server)
            for claim in self.store.claims(60):
                self.store.withdraw(claim.holder)
            self.host, self.beside = self.take() or self.new()
            self.name = f"night {next(self.numbers)} of {self.host}"
            self.log = log(self.host, ["x", "y", "z"])
            self.both = {
                field: sorted(
                    {*self.beside.get(field, ()), *self.log.times.tolist()} if field != "w" else self.beside[field]
                )
                for field in ("w", "x", "y", "z")
            }
            self.clock, self.commands, self.harmed = Clock(), {}, False

        @classmethod
        def take(cls):
            found, cls.found = cls.found, None
            return found

        def new(self):
            host = f"H{next(self.numbers)}"
            beside = log(host, ["x", "w"], rows=8, start=START - 5 * SECOND)
            load(self.store, stored(f"{host} beside", beside), [beside])
            return host, content(self.store, host)

        def alive(self, *places):
            found = [self.commands.get(at) for at in places or range(3)]
            return [one for one in found if one and one.outcome is None]

        # What is drawn must not depend on how far a command has come, which differs from time to time.
        @rule(at=PLACES, work=WORK, requests=REQUESTS)
        def begin_command(self, at, work, requests):
            if self.alive(at):
                return
            run, logs = stored(self.name, self.log), [self.log]
            works = {
                "load": lambda store: load(store, run, logs, merge=True),
                "delete": lambda store: unload(store, self.name),
                "force": lambda store: unload(store, self.name, force=True),
            }
            self.commands[at] = Command(server.address, self.clock, works[work])
            self.commands[at].step(requests)

        @rule(at=PLACES, requests=REQUESTS)
        def go_on(self, at, requests):
            for one in self.alive(at):
                one.step(requests)

        @rule(at=PLACES)
        def kill(self, at):
            for one in self.alive(at):
                # What it was about to undo stays, until the run is loaded or deleted again.
                self.harmed |= not self.holds_its_claim(one)
                one.kill()

        @rule(at=PLACES)
        def pause_for_long(self, at):
            for one in self.alive(at):
                self.clock.expired.add(self.clock.holders.get(one))

        @rule(at=PLACES, other=PLACES, work=WORK)
        def is_overtaken(self, at, other, work):
            """One is paused for long; meanwhile another one begins and ends."""
            if at != other:
                self.pause_for_long(at)
                self.begin_command(other, work, 1000)

        def holds_its_claim(self, command):
            return self.clock.holders.get(command) in {one.holder for one in self.store.claims(60)}

        def teardown(self):
            if not hasattr(self, "commands"):
                return
            for one in self.alive():
                one.step(10**6)
            self.clock.expired.update(self.clock.holders.values())
            for claim in self.store.claims(60):
                if claim.holder in self.clock.expired:
                    self.store.withdraw(claim.holder)
            listed = next((one for one in self.store.runs() if one.name == self.name), None)
            if not self.harmed and (listed is None or listed.complete):
                assert content(self.store, self.host) == (self.both if listed else self.beside)
            run = stored(self.name, self.log)
            load(self.store, run, [self.log], merge=True)
            assert content(self.store, self.host) == self.both
            assert next(one for one in self.store.runs() if one.name == self.name).complete
            unload(self.store, self.name)
            assert content(self.store, self.host) == self.beside
            assert self.name not in [one.name for one in self.store.runs()]
            type(self).found = self.host, self.beside

    return RunLife


@pytest.fixture
def commands(bucket, monkeypatch):
    """A machine of commands on runs with few values, which neither wait nor beat."""
    monkeypatch.setattr(load_module, "VALUES_AT_ONCE", 6)
    monkeypatch.setattr(lease, "BEAT_S", 10**6)
    monkeypatch.setattr(lease, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(lease, "_LOOKS_EVERY_S", 0.01)
    monkeypatch.setattr(lease.random, "uniform", lambda *_: 0.01)
    server = Server(Address(bucket.url, bucket.org, bucket.bucket, bucket.token), retry_s=5)
    yield machine(server)
    server.close()


# Each begins at another request, so that all together are paused at each.
PAUSED = [*enumerate(product(("load", "delete"), ("load", "delete", "force"), (True, False)))]


@pytest.mark.parametrize(("first", "case"), PAUSED, ids=str)
def test_paused_at_any_request_and_overtaken(commands, first, case):
    work, other, goes_on = case
    life = commands()
    for requests in range(1 + first, 40, len(PAUSED)):
        life.begin()
        if work == "delete":
            life.begin_command(2, "load", 1000)
        life.begin_command(0, work, requests)
        life.is_overtaken(0, 1, other)
        if not goes_on:
            life.kill(0)
        life.teardown()
    unload(life.store, f"{life.host} beside")
    assert content(life.store, life.host) == {}


def test_whatever_happens_the_same_call_again_leads_to_all_values_or_none(commands):
    run_state_machine_as_test(
        commands,
        settings=settings(
            max_examples=8, stateful_step_count=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
        ),
    )
