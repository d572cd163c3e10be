"""What the planning of rules costs, counted in calls."""

import sys
from dataclasses import replace

from fleet import Host, series_of

from plimsoll.alerting.planning import Site, plan
from plimsoll.hosts.facts import Facts
from plimsoll.rules.load import load


def calls(function):
    """How many calls of Python functions a function makes."""
    count = 0

    def see(_frame, event, _arg):
        nonlocal count
        count += event == "call"

    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_planning_costs_a_host_the_same_however_many_there_are():
    site = Site(load())
    every = [series for kind in ("telegraf", "windows") for series, _ in series_of(Host("h", kind))]

    def cost(hosts):
        series = [replace(one, host=f"h{at}") for at in range(hosts) for one in every]
        plan(site, series[: len(every)], Facts())  # what is made once
        return calls(lambda: plan(site, series, Facts())) / hosts

    assert cost(60) <= 1.05 * cost(6)
