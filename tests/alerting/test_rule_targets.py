"""The cost of planning rules, counted in calls of functions."""

from cProfile import Profile
from dataclasses import replace
from itertools import product

import numpy as np
from fleet import Host, series_of

from plimsoll.alerting.evaluator import Evaluator
from plimsoll.alerting.rule_targets import Site, plan
from plimsoll.hosts.facts import Facts
from plimsoll.model.points import Points
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load
from plimsoll.store.duck.duck_store import open_embedded


def calls(function):
    """Return how many calls of Python functions a function makes."""
    profile = Profile(builtins=False)
    profile.runcall(function)
    return sum(getstat.callcount for getstat in profile.getstats())


def test_planning_costs_a_host_the_same_however_many_there_are():
    site = Site(load())
    item = [series for kind in ("telegraf", "windows") for series, _ in series_of(Host("h", kind))]

    def cost(hosts):
        series = [replace(entry, host=f"h{at}") for at in range(hosts) for entry in item]
        plan(site, series[: len(item)], Facts())  # what is made once
        return calls(lambda: plan(site, series, Facts())) / hosts

    assert cost(12) <= 1.05 * cost(3)


# Names of disks and processors, which objects of Windows name differently: each is compared with all others.
NAMES = ["{} C:", "{}", "0,{}", "disk {}"]


def of_one_host(count):
    """Return the series of a host with this number of disks, network adapters and processors of each naming."""
    for kind in ("telegraf", "windows"):
        first = {}
        for item, _ in series_of(Host("h", kind)):
            tags = [tag for tag in item.tags if tag[0] in ("instance", "name", "device", "cpu", "interface")]
            setdefault = first.setdefault((item.measurement, item.field), item)
            if tags and setdefault is item:
                for at, name in product(range(count), NAMES):
                    named = tuple((key, name.format(at) if (key, value) in tags else value) for key, value in item.tags)
                    yield replace(item, tags=named)
            elif not tags:
                yield item


def test_planning_and_judging_cost_an_instance_the_same_however_many_a_host_has(tmp_path):
    """Planning took 65 s for a host of 1,000 disks, and four times that for 2,000, while nothing was judged."""
    site, now = Site(load()), 1_800_000_000 * SECOND

    def cost(count):
        series = [*of_one_host(count)]
        store = open_embedded(tmp_path / f"{count}.duckdb")
        which, values = np.arange(len(series), dtype=np.int32), np.arange(len(series), dtype=np.float64)
        for ago in range(3):
            store.live.write_points(Points(series, which, np.full(len(which), now - ago * 10 * SECOND), values))
        judge = Evaluator(store.live, site, {}, {})
        try:
            return calls(lambda: judge.advance(np.array([now], np.int64)))
        finally:
            store.close()

    cost(0)  # what is made once
    few, result, many = cost(1), cost(2), cost(5)
    assert (many - result) / 3 <= 1.1 * (result - few)
