"""The share of the evaluation time that one host can take."""

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
DISKS = [series for series in HOST if series.tag("objectname") == "PhysicalDisk" and series.tag("instance") == "0 C:"]


def named(item, host, disk=None):
    """Return the same series of another host, or of another disk."""
    other = {"source": host, **({"instance": disk} if disk else {})}
    return replace(item, host=host, tags=tuple((key, other.get(key, of)) for key, of in item.tags))


def planned(hosts):
    return plan(SITE, [named(series, host) for host in hosts for series in HOST], Facts())[0]


def disks(host, count):
    return [named(series, host, f"disk {at}") for at in range(count) for series in DISKS]


def write(store, series, at):
    which = np.arange(len(series), dtype=np.int32)
    store.live.write_points(Points(series, which, np.full(len(series), at), np.full(len(series), 50.0)))


@pytest.fixture
def store(tmp_path):
    embedded = open_embedded(tmp_path / "plimsoll.duckdb")
    yield embedded
    embedded.close()


def test_a_host_with_very_many_disks_has_its_share_and_its_other_limits_are_judged(store):
    write(store, [*HOST, *(named(series, "calm") for series in HOST), *disks("h", 500)], NOW)
    judge = Evaluator(store.live, SITE, {}, {})
    judge.advance(np.array([NOW], np.int64))
    judged = judge.states.now()
    of_host = [item for item in judged if item.subject.host == "h"]
    assert MOST_OF_HOST - 100 < len(of_host) <= MOST_OF_HOST
    calm = {item.rule.id for item in judged if item.subject.host == "calm"}
    assert {item.rule.id for item in of_host} == calm
    assert judge.beyond == {"h"}


def test_of_more_limits_than_are_judged_those_of_the_first_hosts_are():
    count = len(planned(["h"]))
    targets, beyond = limit_targets(planned(["a", "b", "c"]), ["c", "b", "a"], most=2 * count)
    assert {target.subject.host for target in targets} == {"b", "c"}
    assert beyond == {"a"}
    assert limit_targets(planned(["a", "b"]), ["a", "b"], most=2 * count)[1] == set()


def test_whoever_adds_series_all_the_time_does_not_have_all_the_time(store, monkeypatch):
    plans = spent = 0

    def slowly(*arguments):
        nonlocal plans, spent
        plans += 1
        spent += 1_200_000_000
        return plan(*arguments)

    monkeypatch.setattr(evaluator, "plan", slowly)
    monkeypatch.setattr(evaluator.time, "thread_time_ns", lambda: spent)
    judge = Evaluator(store.live, SITE, {}, {})
    times = [NOW + step * 10 * SECOND for step in range(4)]
    for step, at in enumerate(times):
        write(store, [named(series, f"h{step}") for series in DISKS], at)
        judge.advance(np.array([at], np.int64))
    assert plans == 2
    assert {item.subject.host for item in judge.states.now()} == {"h0", "h1", "h2"}
