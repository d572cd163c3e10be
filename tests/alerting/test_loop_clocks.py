"""The alert loop under clocks that are wrong, and two computers under one name."""

import numpy as np
import pytest

from plimsoll.alerting.alert_queries import read_firing_alerts, read_history
from plimsoll.alerting.machine_clock import accept
from plimsoll.alerting.wording import describe_firing
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from tests.alerting.loop_world import CPU, HOUR, MINUTE, PERIOD, START, World, alerts, run_behind


@pytest.fixture
def world(tmp_path):
    loop_world = World(tmp_path)
    yield loop_world
    loop_world.close()


def test_a_silent_host_whose_clock_is_ahead_has_that_as_the_reason(world):
    world.run(15 * MINUTE, {"web1": 60, "db1": 60})
    run_behind(world, 5 * MINUTE, -HOUR)
    (alert,) = [item for item in read_firing_alerts(world.file) if item.kind == "host-silent"]
    assert "its clock is 1 h ahead; set it right." in describe_firing(alert, Zone.parse("UTC"))
    world.run(10 * MINUTE, {"db1": 60})  # it sends nothing any more: that is no longer the reason that is known
    (alert,) = [item for item in read_firing_alerts(world.file) if item.kind == "host-silent"]
    assert "clock" not in describe_firing(alert, Zone.parse("UTC"))


def test_a_host_whose_clock_is_ahead_is_silent_as_soon_as_it_sends_no_more(world):
    run_behind(world, 40 * MINUTE, -20 * MINUTE)
    assert alerts(world, "host-silent") == [("host-silent", "web1", False)]  # until the time of its samples had come
    world.run(5 * MINUTE, {"db1": 60})  # samples for almost 20 minutes are still to come
    assert ("host-silent", "web1", True) in alerts(world, "host-silent")
    world.run(5 * MINUTE, {"web1": 60, "db1": 60})  # with its clock set right
    assert ("host-silent", "web1", True) not in alerts(world, "host-silent")


def run_off(world, length, ahead, hosts=("web1", "db1")):
    """Let this machine's clock be ahead of the hosts' clocks; the hosts send every minute, as does this machine."""
    for _ in range(length // MINUTE):
        start = world.now
        world.run(MINUTE, {"here": 60})
        world.send(world.points_of(dict.fromkeys(hosts, 60), np.arange(start + PERIOD, world.now + 1, PERIOD) - ahead))


@pytest.mark.parametrize("ahead", [40 * 24 * HOUR, 3 * HOUR], ids=["40 days", "3 hours"])
@pytest.mark.parametrize("hosts", [("web1", "db1"), ()], ids=["agents", "alone"])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_clock_that_was_ahead_stops_nothing_once_it_is_right(world, ahead, hosts, is_restarted):
    world.restart(local_hosts=lambda: ("here",))
    everything = dict.fromkeys(("here", *hosts), 60)
    world.run(15 * MINUTE, everything)
    right = world.loop.clock.deletes_until
    world.now += ahead
    run_off(world, 4 * MINUTE, ahead, hosts)
    if hosts or ahead > 24 * HOUR:
        assert (
            f"the clock of this machine jumped by {'40 d' if ahead > 24 * HOUR else '3 h'}"
            in world.loop.progress.problem
        )
        assert (world.loop.clock.deletes_until or 0) - right <= 24 * HOUR
    if is_restarted:
        world.restart(local_hosts=lambda: ("here",))
    world.now -= ahead
    world.run(12 * MINUTE, {**everything, "here": 2})
    assert world.loop.progress.problem == ""
    assert [(item.host, item.since < world.now) for item in read_firing_alerts(world.file) if item.rule == CPU] == [
        ("here", True)
    ]
    assert alerts(world, "host-silent") == alerts(world, "all-silent") == []


def test_a_clock_is_wrong_while_most_hosts_send_other_times_and_right_once_somebody_accepts_it(world):
    world.run(15 * MINUTE, {"web1": 60, "db1": 60})
    world.now -= 2 * HOUR
    run_off(world, 5 * MINUTE, -2 * HOUR)
    assert "is 2 h behind those of most hosts" in world.loop.progress.problem
    accept(world.file, world.now)
    run_off(world, 2 * MINUTE, -2 * HOUR)
    assert world.loop.progress.problem == ""


def test_a_jump_over_a_holiday_is_believed_as_soon_as_agents_send_again(world):
    world.run(15 * MINUTE, {"web1": 60, "db1": 60})
    world.now += 9 * 24 * HOUR
    world.restart()
    world.run(2 * MINUTE, {"web1": 60, "db1": 60})
    assert world.loop.progress.problem == ""
    assert world.loop.clock.deletes_until > world.now - 2 * MINUTE


@pytest.mark.parametrize("shift", [0, 3 * SECOND], ids=["same times", "clocks apart"])
def test_two_computers_under_one_name_are_named_and_raise_no_alert(world, shift):
    interrupts = Series("web1", "kernel", (), "interrupts")
    count = {"a": 9_000_000_000.0, "b": 1_000.0}
    for at in range(120):
        world.now += PERIOD
        for name, idle, later in (("a", 1 + at / 100, 0), ("b", 80 + at / 100, shift)):
            if name == "a" or at > 60:  # the second one is set up later, from the image of the first
                count[name] += 5_000
                times = np.array([world.now + later])
                world.send(world.points("web1", times, idle))
                world.send(Points([interrupts], np.zeros(1, np.int32), times, np.array([count[name]])))
        world.loop.perform(world.now)
        assert at > 60 or world.loop.progress.duplicates == {}
    assert world.loop.progress.duplicates == {"web1": "web1"}
    fired = read_history(world.file, 0, 2**62)  # what fired for the first one goes on, and nothing else fires
    assert fired
    assert all(alert.fired_at < START + 60 * PERIOD and alert.firing for alert in fired)


def test_two_clocks_of_one_name_are_two_computers_and_what_catches_up_is_one(world):
    world.run(5 * MINUTE, {"web1": 60, "db1": 60})
    for at in range(60):
        world.run(PERIOD, {"web1": 60 + at / 100, "db1": 60 + at / 100}, interval=PERIOD)
        world.send(world.points("web1", np.array([world.now - 10 * MINUTE]), 20 + at / 100))
        backlog = 10 * MINUTE - 6 * at * SECOND  # which comes nearer, as db1 sends it beside what is new
        world.send(world.points("db1", np.array([world.now - backlog]), 20 + at / 100))
    assert world.loop.progress.duplicates.keys() == {"web1"}
