"""The first sentence of the health page: whether the hosts are healthy, and never more than is certain."""

from dataclasses import replace

import numpy as np
import pytest

from plimsoll.alerting.alert_queries import read_history
from plimsoll.alerting.clock_skew import ClockSkew
from plimsoll.alerting.self_monitoring import Problem
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.notify.targets import Notifier
from plimsoll.receive.write_queue import WriteState
from plimsoll.up.overview import list_troubles, summarize_health
from plimsoll.up.settings import UpSettings
from tests.alerting.loop_world import MINUTE, PERIOD, World, run_behind


@pytest.fixture
def world(tmp_path):
    result = World(tmp_path)
    yield result
    result.close()


def page(world, *mended):
    progress = world.loop.progress
    return summarize_health(world.file, progress, list(mended), WriteState(), "store", None, world.now)


def test_many_connections_are_told_before_agents_are_sent_away(world):
    nobody = Notifier(world.file, UpSettings(), {}, now=world.now)

    def reported(count):
        result = list_troubles(world.loop.progress, WriteState(), nobody, world.now, world.now, (count, 1000))
        return [item.id for item in result]

    world.pass_at_once(5 * MINUTE, {"web1": 60})
    assert reported(799) == []
    assert reported(800) == ["connections"]
    result = page(world, Problem("connections", "many", "warning"))
    assert result.problems == []  # it works still: /health says so
    assert result.notes[0] == "many."


def test_counters_that_do_not_answer_are_said_and_nothing_is_healthy(world):
    nobody = Notifier(world.file, UpSettings(), {}, now=world.now)
    world.pass_at_once(15 * MINUTE, {"web1": 60})
    assert page(world).headline.startswith("Healthy")
    (result,) = list_troubles(
        world.loop.progress, WriteState(), nobody, world.now, world.now, silent={"PhysicalDisk": 65.2}
    )
    assert "PhysicalDisk of this computer have not answered for 1 min 5 s" in result.text
    assert not page(world, result).headline.startswith("Healthy")


def test_the_first_evaluation_after_a_start_is_said_to_run(world, monkeypatch):
    world.pass_at_once(15 * MINUTE, {"web1": 60})
    world.restart()
    result, series = [], world.store.series

    def requests(*arguments, **options):
        result.append(page(world))
        return series(*arguments, **options)

    monkeypatch.setattr(world.store, "series", requests)
    world.run(PERIOD, {"web1": 60})
    running = "the first evaluation since the start, or with new settings, has been running for 1 s"
    assert result[0].headline == f"Not known: nothing has been judged yet: {running}"
    assert [host.note for host in result[0].hosts] == ["not judged yet"]
    assert page(world).headline == "Healthy: no limit is crossed"
    assert page(world).notes == []


def test_a_host_of_which_a_resource_is_not_judged_is_not_healthy_and_says_what_never_came(world):
    world.points_of = lambda idle, times: Points(  # iowait never comes: nothing says how busy the processors are
        [Series(host, "cpu", (("cpu", "cpu-total"),), "usage_idle") for host in idle],
        np.repeat(np.arange(len(idle), dtype=np.int32), len(times)),
        np.tile(np.asarray(times, np.int64), len(idle)),
        np.repeat([float(value) for value in idle.values()], len(times)),
    )
    world.pass_at_once(15 * MINUTE, {"web1": 60})
    world.loop.progress = replace(world.loop.progress, judged={"web1": 2}, resources={"web1": {"memory"}})
    result = page(world)
    assert result.headline == "Not known: web1 is not all judged"
    assert (
        result.hosts[0].note
        == "not all judged: no limit of processors is; cpu.usage_iowait, cpu.usage_steal never came"
    )
    assert result.notes[0] == (
        "cpu.usage_iowait never came from web1: limits computed from it are not judged; let the agent send it."
    )


def test_healthy_says_how_much_was_judged_and_when(world):
    world.pass_at_once(15 * MINUTE, {"web1": 60, "db1": 60})
    result = page(world)
    assert result.headline == "Healthy: no limit is crossed"
    assert result.basis.endswith(" judged on 2 hosts")
    assert {host.state for host in result.hosts} == {"healthy"}


def test_what_is_crossed_only_lately_is_no_alert_and_not_healthy_either(world):
    world.pass_at_once(15 * MINUTE, {"web1": 60})
    world.run(4 * MINUTE, {"web1": 15})
    assert page(world).headline.startswith("No alert: 1 limit is crossed, but not for as long yet")


def test_a_silent_host_is_not_healthy(world):
    world.run(15 * MINUTE, {"web1": 60, "db1": 60})
    world.run(2 * MINUTE, {"web1": 60, "db1": None})
    assert {host.note for host in page(world).hosts if host.name == "db1"} == {"not judged: no sample for 1 min 30 s"}
    world.run(8 * MINUTE, {"web1": 60, "db1": None})
    result = page(world)
    assert result.headline.startswith("Not healthy: 1 incident on 1 host")
    assert {host.name: host.state for host in result.hosts} == {"web1": "healthy", "db1": "silent"}


def test_hosts_that_fall_silent_at_different_times_are_one_incident(world):
    world.run(15 * MINUTE, {"web1": 60, "db1": 60, "db2": 60})
    world.run(10 * MINUTE, {"web1": 60, "db1": 60})
    world.run(10 * MINUTE, {"web1": 60})
    world.run(5 * MINUTE, {})
    result = page(world)
    assert result.headline.startswith("Not healthy: 3 of 3 hosts are silent since ")
    assert len(result.firing.incidents) == 1
    assert {host.state for host in result.hosts} == {"silent"}


def test_a_host_that_sends_all_but_its_processors_is_not_healthy(world):
    def send(length, *names):
        times = np.arange(world.now + PERIOD, world.now + length + 1, PERIOD)
        rest = [Series("db1", "mem", (), "available_percent"), Series("db1", "kernel", (), "boot_time")]
        which = np.repeat(np.arange(2, dtype=np.int32), len(times))
        world.now += length
        world.send(Points(rest, which, np.tile(times, 2), np.full(len(which), 60.0)))
        world.send(world.points_of(dict.fromkeys(names, 60), times))
        world.loop.perform(world.now)

    def step(length, *names):
        for _ in range(length // PERIOD):
            send(PERIOD, *names)

    send(15 * MINUTE, "web1", "db1")
    step(2 * MINUTE, "web1", "db1")
    step(2 * MINUTE, "web1")
    assert page(world).headline.startswith("Healthy")
    send(70 * MINUTE, "web1")  # its series are forgotten by then
    step(3 * MINUTE, "web1")
    result = page(world)
    assert result.headline == "Not known: db1 is not all judged"
    (db1,) = [host for host in result.hosts if host.name == "db1"]
    assert db1.state == "not judged"
    assert db1.note == "not all judged: no new value of processors for 1 h 15 min; look at these inputs of its agent"
    step(2 * MINUTE, "web1", "db1")
    assert page(world).headline.startswith("Healthy")


@pytest.mark.parametrize(("value", "is_healthy"), [(60.123456789, False), (60, True)])
def test_memory_that_repeats_its_last_value_is_not_healthy(value, is_healthy, world):
    series = [Series("db1", "mem", (), "available_percent")]
    for at in range(120):
        moved = 50 + at % 7 if at < 60 else value
        world.send(Points(series, np.zeros(1, np.int32), np.array([world.now + PERIOD]), np.array([moved])))
        world.run(PERIOD, {"web1": 60, "db1": 60})
    assert page(world).headline.startswith("Healthy") == is_healthy
    assert any("no new value of memory for" in host.note for host in page(world).hosts) != is_healthy


def test_a_file_that_is_missing_in_part_is_a_warning_where_programs_look(world):
    world.pass_at_once(15 * MINUTE, {"web1": 60})
    result = page(world, Problem("alerts-damaged", "Alerts of before are missing", "warning"))
    assert (result.problems, result.warnings) == ([], ["Alerts of before are missing"])


def test_hosts_without_limits_and_own_troubles_leave_it_unknown(world):
    world.pass_at_once(15 * MINUTE, {"web1": 60})
    assert page(world, Problem("x", "The disk is full")).headline.startswith(
        "Not known: Plimsoll itself needs attention"
    )
    world.loop.progress = replace(world.loop.progress, judged={}, lacking={"web1": {"memory_mb"}})
    assert any("memory_mb of web1" in note for note in page(world).notes)
    assert page(world).headline == "Not known: nothing has been judged yet"


def test_a_host_whose_clock_is_ahead_is_shown_and_leaves_it_unknown(world):
    world.pass_at_once(15 * MINUTE, {"web1": 60})
    early = Series("future", "cpu", (("cpu", "cpu-total"),), "usage_idle")
    clocks = ClockSkew(())
    hour_ahead = np.array([world.now + 3600 * SECOND], np.int64)
    clocks.written(Points([early], np.zeros(1, np.int32), hour_ahead, np.array([1.0])), world.now)
    world.loop.progress = replace(world.loop.progress, ahead=clocks.ahead(world.now))
    result = page(world)
    (future,) = [host for host in result.hosts if host.name == "future"]
    assert future.state == "not judged"
    assert "its clock is 1 h ahead" in future.note
    assert result.headline == "Not known: future is not judged"


def test_a_host_whose_clock_is_behind_is_shown_and_leaves_it_unknown(world):
    run_behind(world, 5 * MINUTE, 5 * MINUTE)
    result = page(world)
    (late,) = [host for host in result.hosts if host.name == "web1"]
    assert (late.state, late.note) == ("not judged", "not judged: its clock is 5 min behind; set it right")
    assert result.headline == "Not known: web1 is not judged"
    run_behind(world, 5 * MINUTE, 0)
    assert "behind" not in "".join(host.note for host in page(world).hosts)


def test_a_name_of_two_computers_is_shown_and_is_an_alert(world):
    world.pass_at_once(15 * MINUTE, {"web1": 60})
    world.loop.progress = replace(world.loop.progress, duplicates={"web1": "WEB1"})
    (host,) = page(world).hosts
    assert (host.state, host.note[:47]) == ("not judged", "not judged: two computers send under this name;")
    (problem,) = list_troubles(
        world.loop.progress, WriteState(), Notifier(world.file, UpSettings(), {}, now=world.now), world.now, world.now
    )
    assert problem.text.startswith("WEB1 is not judged: two computers send under this name")


@pytest.mark.parametrize("seconds", [60, 300])
def test_a_host_that_sends_many_samples_at_a_time_has_no_wrong_clock(seconds):
    clocks, series = ClockSkew(()), Series("web1", "cpu", (), "usage_idle")
    for now in range(seconds, 3600, seconds):
        clocks.written(points_of(series, range(now - seconds, now, 10)), now * SECOND)
        assert not clocks.behind(now * SECOND)


@pytest.mark.parametrize(("idle", "value"), [(150, "-50 %"), (-500, "600 %")])
def test_what_cannot_be_is_not_judged_and_not_healthy(idle, value, world):
    world.pass_at_once(15 * MINUTE, {"web1": idle, "db1": 60})
    result = page(world)
    assert result.headline == "Not known: web1 is not all judged"
    (note,) = [host.note for host in result.hosts if host.name == "web1"]
    assert note == f"not all judged: Processor time {value} cannot be"
    assert read_history(world.file, 0, 2**62) == []


def points_of(series, seconds):
    times = np.array(seconds, np.int64) * SECOND
    return Points([series], np.zeros(len(times), np.int32), times, np.ones(len(times)))
