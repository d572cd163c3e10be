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
from tests.simulators.load_tests import load_tested, simulated, write_logs


def recorded(folder, kind, seed):
    """The review of a simulated load test."""
    case = load_tested(kind, seed)
    write_logs(folder, case, simulated(case.system, case.steps, seed), seed)
    logs = [read_log(path) for path in sorted(folder.iterdir()) if path.suffix != ".toml"]
    stations = case.system.stations.items()
    facts = {Subject(name.split()[0]): {"processors": many} for name, many in stations if "cpu" in name}
    return review(logs, Run(kind, simulated=True), Question(load_packs(), load_signals()), Facts(GivenFacts(facts), {}))


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
