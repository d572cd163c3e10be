"""Capacity from the logs of simulated load tests, as files, against what the simulator truly uses.

The truth was found by simulating the load at which the limit is.
"""

import pytest

from plimsoll.hosts.facts import Facts, GivenFacts
from plimsoll.ingest.read import read_log
from plimsoll.insights.capacity.find import capacity
from plimsoll.insights.capacity.forecast import asked
from plimsoll.insights.capacity.profiles.profile import Profile
from plimsoll.insights.capacity.words import answer
from plimsoll.model.run import Run
from plimsoll.review.findings import Question
from plimsoll.review.review import review
from plimsoll.rules.load import load_packs, load_signals
from plimsoll.rules.subjects import Subject
from tests.simulators.load_tests import Case, Step, System, load_tested, simulated, write_logs


def recorded(folder, kind, seed):
    """The review of a simulated load test."""
    return recorded_case(folder, load_tested(kind, seed), seed)


def recorded_case(folder, case, seed=1):
    """The review of one test of a system."""
    write_logs(folder, case, simulated(case.system, case.steps, seed), seed)
    logs = [read_log(path) for path in sorted(folder.iterdir()) if path.suffix != ".toml"]
    stations = case.system.stations.items()
    facts = {Subject(name.split()[0]): {"processors": many} for name, many in stations if "cpu" in name}
    return review(
        logs, Run(case.kind, simulated=True), Question(load_packs(), load_signals()), Facts(GivenFacts(facts), {})
    )


def test_requests_that_arrive_at_a_rate_of_their_own(tmp_path):
    """More of them are in flight by chance, with no more work done: no limit inside the software."""
    found = capacity([recorded(tmp_path, "one mix", 4)])
    assert found.saturation is None
    assert found.users is None
    [first, *_] = found.reached
    assert first.load.value == pytest.approx(69.9, rel=0.1)
    assert first.load.low < 69.9 < first.load.high
    assert answer(found).startswith("About 70")
    assert "disk time of APP01, 0 C: reaches 90 % (projected" in answer(found)


def test_the_only_operation_of_a_driver_is_that_of_a_profile(tmp_path):
    """Users who think 8 s, of one operation, whose name is not kept."""
    profile = Profile.model_validate({"title": "Viewers", "think_time": "8s", "operations": {"view": 1}})
    found = capacity([recorded(tmp_path, "users", 8)], profile)
    [first, *_] = found.reached
    assert found.users
    assert found.users.at(first.load.value) == pytest.approx(568, rel=0.1)
    needs = asked(found, 554)
    uses = {one.resource.title: use for one, use in zip(found.resources, needs.uses, strict=True)}
    assert uses["Disk time"].value == pytest.approx(87.8, rel=0.1)
    assert needs.response == pytest.approx(0.269, rel=0.3)


def stepped(plan, loads, think, pools=None):
    """A test of a server whose only operation does what `plan` says, with so many users one step after another."""
    system = System({"APP01 cpu": 4, "APP01 disk": 1, **(pools or {})}, {"view": plan})
    return Case("stepped", system, [Step(180, load, {"view": 1.0}, think) for load in loads], think, {"view": 1.0})


def test_of_users_who_do_less_than_fewer_of_them_none_counts(tmp_path):
    """From 50 users on each further one makes the disk slower; it is busy for 90 % of the time at 51."""

    def plan(draw, users):
        slow = 1 + max(0, users - 50) / 100
        return [("APP01 cpu", draw.expovariate(100)), ("APP01 disk", slow * draw.expovariate(1 / 0.04))]

    found = capacity([recorded_case(tmp_path, stepped(plan, range(10, 90, 10), think=2.0))])
    [first, *_] = found.reached
    assert found.users
    assert found.users.at(first.load.value) == pytest.approx(51, rel=0.1)
    assert found.overload


def test_a_pool_that_is_full_from_the_first_users_on_is_no_headroom(tmp_path):
    def plan(draw, _):
        return [("APP01 cpu", draw.expovariate(100)), ("APP01 disk", 0.002), ("APP01 pool", draw.expovariate(5))]

    case = stepped(plan, [5, 157, 165, 175, 185, 198], think=0.2, pools={"APP01 pool": 6})
    found = capacity([recorded_case(tmp_path, case)])
    assert found.saturation
    assert found.saturation.load == pytest.approx(30, rel=0.05)
    assert "throughput stops to rise, for a reason inside the software" in answer(found)
