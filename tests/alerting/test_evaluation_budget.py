"""How much of the judging one host can take."""

from dataclasses import replace

import numpy as np
import pytest
from fleet import Host, series_of

from plimsoll.alerting import evaluator
from plimsoll.alerting.evaluator import Evaluator
from plimsoll.alerting.rule_targets import MOST_OF_HOST, Site, limit_targets, plan
from plimsoll.hosts.facts import Facts
from plimsoll.model.points import Points
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load
from plimsoll.store.duck.duck_store import open_embedded

NOW = 1_800_000_000 * SECOND
SITE = Site(load())
HOST = [series for series, _ in series_of(Host("h", "windows"))]
DISKS = [one for one in HOST if one.tag("objectname") == "PhysicalDisk" and one.tag("instance") == "0 C:"]


def named(one, host, disk=None):
    """The same series of another host, or of another disk."""
    other = {"source": host, **({"instance": disk} if disk else {})}
    return replace(one, host=host, tags=tuple((key, other.get(key, of)) for key, of in one.tags))


def planned(hosts):
    return plan(SITE, [named(one, host) for host in hosts for one in HOST], Facts())[0]


def disks(host, count):
    return [named(one, host, f"disk {at}") for at in range(count) for one in DISKS]


def write(store, series, at):
    which = np.arange(len(series), dtype=np.int32)
    store.live.write_points(Points(series, which, np.full(len(series), at), np.full(len(series), 50.0)))


@pytest.fixture
def store(tmp_path):
    made = open_embedded(tmp_path / "plimsoll.duckdb")
    yield made
    made.close()


def test_a_host_with_very_many_disks_has_its_share_and_its_other_limits_are_judged(store):
    write(store, [*HOST, *(named(one, "calm") for one in HOST), *disks("h", 500)], NOW)
    judge = Evaluator(store.live, SITE, {}, {})
    judge.advance(np.array([NOW], np.int64))
    judged = judge.states.now()
    of_host = [one for one in judged if one.subject.host == "h"]
    assert MOST_OF_HOST - 100 < len(of_host) <= MOST_OF_HOST
    calm = {one.rule.id for one in judged if one.subject.host == "calm"}
    assert {one.rule.id for one in of_host} == calm
    assert judge.beyond == {"h"}


def test_of_more_limits_than_are_judged_those_of_the_first_hosts_are():
    one = len(planned(["h"]))
    targets, beyond = limit_targets(planned(["a", "b", "c"]), ["c", "b", "a"], most=2 * one)
    assert {target.subject.host for target in targets} == {"b", "c"}
    assert beyond == {"a"}
    assert limit_targets(planned(["a", "b"]), ["a", "b"], most=2 * one)[1] == set()


def test_whoever_adds_series_all_the_time_does_not_have_all_the_time(store, monkeypatch):
    plans = spent = 0

    def slowly(*given):
        nonlocal plans, spent
        plans += 1
        spent += 1_200_000_000
        return plan(*given)

    monkeypatch.setattr(evaluator, "plan", slowly)
    monkeypatch.setattr(evaluator.time, "thread_time_ns", lambda: spent)
    judge = Evaluator(store.live, SITE, {}, {})
    times = [NOW + step * 10 * SECOND for step in range(4)]
    for step, at in enumerate(times):
        write(store, [named(one, f"h{step}") for one in DISKS], at)
        judge.advance(np.array([at], np.int64))
    assert plans == 2
    assert {one.subject.host for one in judge.states.now()} == {"h0", "h1", "h2"}
