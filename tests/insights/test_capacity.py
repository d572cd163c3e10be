"""How much load a system can carry, from simulated runs of which that is known."""

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.ingest.formats.load_results.requests import make_driver_series
from plimsoll.insights.capacity.document import build_resources_table
from plimsoll.insights.capacity.find import ResourceCapacity, compute_capacity
from plimsoll.insights.capacity.json import build_document
from plimsoll.insights.capacity.saturation import Saturation
from plimsoll.insights.capacity.words import answer, list_sentences
from plimsoll.model.errors import Unusable
from plimsoll.model.value_text import number
from tests.insights import saturation
from tests.insights.loaded import STEP_S, System, run_of, simulate
from tests.simulated import a_log, ar1, reviewed

SHOP = System({"view": (0.7, 0.012, 0.004, 0.003), "buy": (0.3, 0.03, 0.02, 0.01)})
CPU = r"\Processor(_Total)\% Processor Time"
REQUESTS = r"\Web Service(_Total)\Total Method Requests/sec"


@pytest.fixture(scope="module")
def shop():
    return compute_capacity([run_of(SHOP, [40, 100, 160, 220, 300], 90, seed=1)])


def web_server(loads, seed, idle=6.0, each=0.14, bend=0.0, rows=24):
    """One host whose processor time is known: `each` % for one request a second."""
    rng = np.random.default_rng(seed)
    load = np.repeat(np.array(loads, dtype=float), rows) * (1 + 0.03 * rng.standard_normal(rows * len(loads)))
    use = idle + each * load * (1 + bend * load / max(loads)) + ar1(rng, len(load), 0.7, 0.8)
    return a_log({REQUESTS: load, CPU: use}, "WEB01", 15)


def test_what_runs_out_first_and_at_what_load(shop):
    first, second = shop.reached[:2]
    assert isinstance(first.cause, ResourceCapacity)
    assert (first.cause.resource.subject.host, first.cause.resource.signal) == ("DB01", "disk.busy")
    assert first.load.value == pytest.approx(SHOP.limit(2, 0.9), rel=0.1)
    assert first.load.low <= first.load.value <= first.load.high
    assert second.load.value == pytest.approx(min(SHOP.limit(0, 0.8), SHOP.limit(1, 0.8)), rel=0.1)
    # The users at which a run of its own reaches that use.
    users = round(shop.users.at(first.load.value))
    assert float(simulate(SHOP, [users], 400, seed=7).use["disk"][20:].mean()) == pytest.approx(90, rel=0.05)


def test_the_demand_of_each_operation(shop):
    disk = next(one for one in shop.resources if one.resource.signal == "disk.busy")
    seconds = dict(zip(shop.observed.names, disk.demand.per_operation[0] / 100, strict=True))
    assert seconds["view"] == pytest.approx(0.003, rel=0.4)
    assert seconds["buy"] == pytest.approx(0.010, rel=0.4)


def test_the_sentences_say_what_is_projected_and_what_was_verified(shop):
    said = answer(shop)
    assert said.startswith("About ")
    assert "users (" in said
    assert "before disk time of DB01, 0 C: reaches 90 % (projected; measured up to 300 users)" in said
    assert any(one.startswith("Verified: lower loads predict disk time of DB01") for one in list_sentences(shop))
    written = build_document(shop)
    assert written["limits"][0]["projected"] is True
    assert written["resources"][0]["document"]


def test_nothing_is_projected_beyond_one_and_a_half_times_the_measured_load():
    found = compute_capacity([reviewed(web_server([20, 60, 100, 140], 1))])
    assert found.reached == ()
    assert answer(found).startswith("At least ")
    assert "1.5 times that. More is not projected" in answer(found)


def test_a_limit_inside_the_software_blames_no_resource():
    pooled = System({"view": (1.0, 0.006, 0.004, 0.002)}, pool=8, pool_hold_s=0.06)
    found = compute_capacity([run_of(pooled, [50, 100, 150, 200, 250, 300, 350], 60, seed=2)])
    [only] = found.reached
    assert isinstance(only.cause, Saturation)
    assert not only.cause.by_resource
    assert "no recorded resource is at its limit" in answer(found)
    assert only.load.value == pytest.approx(8 / (0.06 + 0.006), rel=0.12)


def test_intervals_cover_the_truth_also_where_demand_rises_with_the_load():
    covered = {0.0: 0, 0.15: 0}
    for bend in covered:
        truth = np.roots([0.14 * bend / 450, 0.14, 6 - 80])[-1] if bend else (80 - 6) / 0.14
        for seed in range(12):
            loads = [60, 120, 180, 240, 300, 360, 450]
            found = compute_capacity([reviewed(web_server(loads, seed, bend=bend))])
            [limit] = found.reached
            assert limit.load.value == pytest.approx(truth, rel=0.1)
            covered[bend] += limit.load.low <= truth <= limit.load.high
    assert min(covered.values()) >= 10


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({CPU: np.full(60, 20.0)}, "no load was recorded"),
        ({REQUESTS: np.linspace(10, 100, 60)}, "no use of processors"),
        ({REQUESTS: np.full(60, 50.0), CPU: np.full(60, 20.0)}, "load does not vary"),
        ({REQUESTS: np.linspace(10, 100, 6), CPU: np.full(6, 20.0)}, "less than 12 samples"),
    ],
)
def test_refusals_are_one_line(columns, why):
    with pytest.raises(Unusable, match=why) as refused:
        compute_capacity([reviewed(a_log(columns, "WEB01", STEP_S))])
    assert "not known" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_queue_inside_the_software_ends_the_load_also_without_users():
    """Only operations and the waits for a lock are recorded: no load above the measured load is promised."""
    found = compute_capacity([reviewed(*saturation.simulate(saturation.Plan("queue", 4, load="operations")))])
    assert answer(found).startswith("About ")
    assert "something waits inside the software" in answer(found)
    assert found.reached[0].load.value <= found.highest


def test_beyond_the_top_fewer_requests_by_more_connections_are_overload():
    users = np.repeat(np.arange(100.0, 1000, 100), 24)
    load = np.where(users <= 300, users / 3, 30_000 / users) * (1 + ar1(np.random.default_rng(1), 216, 0.7, 0.03))
    busy = np.where(users <= 300, 2 + 0.8 * load, 97.0)
    columns = {REQUESTS: load, CPU: busy, r"\Web Service(_Total)\Current Connections": users}
    found = compute_capacity([reviewed(a_log(columns, "WEB01", 10))])
    value = float(answer(found).split()[1])
    assert value == pytest.approx(300, rel=0.05)
    assert "before throughput falls (40" in answer(found)
    assert "Overload: 900 connections did 33" in " ".join(list_sentences(found))


def test_connections_that_are_never_closed_are_no_load():
    load = np.repeat([50.0, 60, 70, 80], 30)
    left_open = np.concatenate([np.full(90, 400.0), np.linspace(400, 1500, 30)])
    columns = {REQUESTS: load, CPU: 5 + 0.3 * load, r"\Web Service(_Total)\Current Connections": left_open}
    found = compute_capacity([reviewed(a_log(columns, "WEB01", 15))])
    assert found.saturation is None


def test_a_use_that_hardly_follows_the_load_is_not_projected():
    load = np.repeat([50.0, 60, 70, 80], 30)
    use = 40 + 0.2 * load + ar1(np.random.default_rng(1), 120, 0.9, 12)
    found = compute_capacity([reviewed(a_log({REQUESTS: load, CPU: use}, "WEB01", 15))])
    assert all(one.load.value <= found.highest for one in found.reached)


def test_a_use_that_does_not_go_with_the_load_is_told_as_it_was_measured():
    """The demo's front end is busy when its database is idle; the mean of the whole run is not the use under load."""
    load = np.repeat([40.0, 60, 70, 100], 30)
    rng = np.random.default_rng(1)
    use = np.repeat([20.0, 20, 20, 6.3], 30) + rng.normal(0, 0.3, 120)
    found = compute_capacity([reviewed(a_log({REQUESTS: load, CPU: use}, "WEB01", 15))])
    [one] = found.resources
    assert one.use.value == pytest.approx(6.3, abs=0.3)
    assert found.reached == ()
    assert "no recorded resource" not in answer(found)
    assert "Not known beyond: processor time of WEB01" in answer(found)
    said = build_document(found)["resources"][0]
    assert (said["without_load"], said["demands"], said["bend"]) == (None, [], None)
    assert build_resources_table(found).rows[0][2:5] == ("not known", f"{number(one.use.value)} %", "not known")


def test_what_may_be_reached_within_what_is_projected_is_told():
    load = np.repeat([50.0, 60, 80, 100], 30)
    use = 3 + 0.495 * load + ar1(np.random.default_rng(2), 120, 0.7, 3)
    found = compute_capacity([reviewed(a_log({REQUESTS: load, CPU: use}, "WEB01", 15))])
    assert found.reached == ()
    assert found.highest < found.resources[0].load.low < found.projected
    assert "or more before processor time of WEB01 reaches 80 % (projected" in answer(found)


def test_throughput_that_falls_while_users_stay_is_no_level():
    users = np.repeat([10.0, 20, 30, 40, 50], 24)
    load = 4 * users * (1 + 0.02 * np.random.default_rng(1).standard_normal(120))
    load[96:] *= np.linspace(1, 0.5, 24)
    series = make_driver_series("requests"), make_driver_series("users")
    driver = replace(a_log({CPU: load}, "load driver", 10), columns=(load, users), series=series)
    host = a_log({CPU: 2 + 0.2 * load}, "WEB01", 10)
    assert "While 50 users stayed, throughput fell from 18" in " ".join(
        list_sentences(compute_capacity([reviewed(host, driver)]))
    )


def test_users_that_stay_the_same_are_no_measure_of_the_load():
    users = np.full(120, 100.0)
    load = np.linspace(100, 60, 120) * (1 + 0.01 * np.random.default_rng(1).standard_normal(120))
    series = make_driver_series("requests"), make_driver_series("users")
    driver = replace(a_log({CPU: load}, "load driver", 10), columns=(load, users), series=series)
    result = compute_capacity([reviewed(a_log({CPU: 2 + 0.2 * load}, "WEB01", 10), driver)])
    assert result.users is None
    assert "The users do not go with the work done" in " ".join(list_sentences(result))
