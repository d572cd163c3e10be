"""The alert loop over a store: which alerts are saved and amended, and what follows an interruption."""

import random
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from plimsoll.alerting.actions import Actor, silence
from plimsoll.alerting.alert_history import AlertHistory, read_last_evaluation
from plimsoll.alerting.alert_queries import read_firing_alerts, read_history
from plimsoll.alerting.host_inventory import HostInventory, read_hosts, retire
from plimsoll.alerting.loop import AlertLoop
from plimsoll.alerting.preview import parse_rule_settings, preview, strip_lines
from plimsoll.alerting.replay import replay
from plimsoll.alerting.rule_targets import Site
from plimsoll.hosts.settings import parse
from plimsoll.model.errors import Unreachable, Unusable
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.rules.load import load
from plimsoll.store.duck.duck_store import open_embedded
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.runs import make_influx_store
from plimsoll.store.victoriametrics.address import VictoriaMetricsAddress
from plimsoll.store.victoriametrics.names import Measurements
from plimsoll.store.victoriametrics.samples import VictoriaSamples
from plimsoll.store.victoriametrics.server import VictoriaMetricsServer
from tests.alerting.in_memory import InMemory
from tests.alerting.loop_world import CPU, HOUR, MINUTE, PERIOD, SITE, START, World, alerts, rules_of, run_behind
from tests.conftest import VictoriaMetrics
from tests.sure_influx import SureServer


@pytest.fixture
def world(tmp_path):
    result = World(tmp_path)
    yield result
    result.close()


@pytest.fixture
def stored_world(tmp_path):
    """A world whose samples are in an embedded store."""
    result = World(tmp_path, open_embedded(tmp_path / "plimsoll.duckdb").live)
    yield result
    result.close()


def test_rules_of_a_pack_of_ones_own_can_be_silenced(world, tmp_path):
    result = Path(__file__).parents[2] / "rules" / "new_pack.yaml"
    (tmp_path / "own.yaml").write_bytes(result.read_bytes())
    site = Site(load([str(tmp_path / "own.yaml")]))
    entries = "my-pack-*", "*", "*", MINUTE, "work", Actor("joe"), START
    with pytest.raises(Unusable, match="no rule matches"):
        silence(world.file, *entries)
    book = AlertHistory(world.file, site.catalogue.signals)
    AlertLoop(world.store, site, {}, book, HostInventory(world.file)).perform(START)
    assert silence(world.file, *entries).until == START + MINUTE


def kept(world):
    return sorted(
        (alert.key, alert.since, alert.fired_at, alert.ended_at)
        for alert in read_history(world.file, 0, 2**62)
        if alert.kind == "rule"
    )


def replayed(world, start=START):
    last = read_last_evaluation(world.file)
    assert last is not None
    result = replay(world.store, SITE, {}, start, last)
    return sorted((alert.key, alert.since, alert.fired_at, alert.ended_at) for alert in result)


@pytest.mark.parametrize("seed", range(2))
def test_history_is_that_of_the_replay_whatever_restarts_and_pauses_there_are(stored_world, seed):
    chance = random.Random(seed)
    for _ in range(9):
        idle = {host: chance.choice([60, 60, 12, 2, None]) for host in ("web1", "db1")}
        stored_world.run(chance.randrange(1, 40) * PERIOD, idle, chance.choice([2, 3, 6]) * PERIOD)
        if chance.random() < 0.4:
            stored_world.restart()
        if chance.random() < 0.2:
            # Plimsoll is away, and what the hosts send meanwhile arrives before it evaluates again.
            until = stored_world.now + chance.randrange(1, 60) * PERIOD
            for host, value in idle.items():
                if value is not None:
                    stored_world.store.write_points(
                        stored_world.points(host, range(stored_world.now + PERIOD, until + 1, PERIOD), value)
                    )
            stored_world.now = until
            stored_world.restart()
    stored_world.run(2 * MINUTE, {"web1": 60, "db1": 60})
    assert kept(stored_world) == replayed(stored_world)


def test_a_preview_counts_what_the_loop_and_the_replay_find_and_what_another_limit_would_have(stored_world):
    start = stored_world.now
    for at in range(6):  # web1 is busy for 6 minutes of 20, db1 for 12 of every second 20
        stored_world.run(6 * MINUTE, {"web1": 2, "db1": 2 if at % 2 else 60}, interval=3 * PERIOD)
        stored_world.run(6 * MINUTE, {"web1": 60, "db1": 2 if at % 2 else 60}, interval=3 * PERIOD)
        stored_world.run(8 * MINUTE, {"web1": 60, "db1": 60}, interval=3 * PERIOD)
    end, rule = stored_world.loop.progress.evaluated, SITE.catalogue.rules[CPU]
    changed = parse_rule_settings({"healthy": "< 90 %", "for": "10m"}, rule, SITE)
    shown = preview(stored_world.store, SITE, {}, rule, changed, start, end)
    fired = [one for one in read_history(stored_world.file, 0, 2**62) if (one.rule, one.kind) == (CPU, "rule")]
    replayed_ = [one for one in replay(stored_world.store, SITE, {}, start, end) if one.rule.id == CPU]
    assert shown.today
    assert shown.changed
    assert shown.today.alerts == len(fired) == len(replayed_) == 9
    assert shown.today.hours == pytest.approx(sum((one.ended_at or 0) - one.fired_at for one in fired) / HOUR)
    assert (shown.changed.alerts, [*shown.changed.hosts]) == (3, ["db1"])
    assert sum(shown.changed.strip) == pytest.approx(shown.changed.hours)
    assert strip_lines(shown, Zone.parse("UTC"))[2].startswith("previewed, < 90 %: 3 alerts on 1 host, ")
    with pytest.raises(Unusable, match="the other side"):
        parse_rule_settings({"healthy": "> 3 %"}, rule, SITE)


@pytest.mark.parametrize("seed", range(6))
def test_a_preview_leaves_out_no_evaluation_that_changes_a_state(seed):
    """Hosts with bursts, pauses, changes of interval, and an end while a limit is crossed: as the replay finds them."""
    random, store, end = np.random.default_rng(seed), InMemory(), START
    for host in range(4):
        steps = np.repeat(random.choice([10, 10, 10, 30, 60, 400], 60), random.integers(1, 60, 60))
        times = START + np.cumsum(steps) * SECOND
        levels = np.repeat(random.choice([5, 12, 22, 60], 60), random.integers(1, 60, 60))
        idle = np.resize(levels, len(times)) + random.normal(0, 2, len(times))
        values = {"usage_idle": idle, "usage_iowait": idle * 0, "usage_steal": idle * 0}
        for field, column in values.items():
            series = Series(f"web{host}", "cpu", (("cpu", "cpu-total"),), field)
            store.write_points(Points([series], np.zeros(len(times), np.int32), times, column))
        end = int(times[-1]) + HOUR
    start = START + 2 * HOUR
    replayed_ = [*replay(store, SITE, {}, start, end)]
    for name in (CPU, "cpu-pinned", "linux-cpu-busy", "linux-cpu-busy-critical"):
        rule = SITE.catalogue.rules[name]
        shown = preview(store, SITE, {}, rule, None, start, end).today
        fired = [one for one in replayed_ if one.rule.id == name]
        hours = sum((end if one.ended_at is None else one.ended_at) - max(one.fired_at, start) for one in fired) / HOUR
        assert (shown.alerts, shown.hours) == (len(fired), pytest.approx(hours)), name


def test_a_preview_of_a_long_for_knows_what_was_pending_before():
    store, times, rule = InMemory(), START + np.arange(3600) * PERIOD, SITE.catalogue.rules[CPU]
    for field in ("usage_idle", "usage_iowait", "usage_steal"):
        series = Series("web1", "cpu", (("cpu", "cpu-total"),), field)
        store.write_points(Points([series], np.zeros(3600, np.int32), times, np.full(3600, 25.0)))
    changed = parse_rule_settings({"healthy": "< 40 %", "for": "5h"}, rule, SITE)
    shown = preview(store, SITE, {}, rule, changed, START + 8 * HOUR, START + 9 * HOUR).changed
    assert shown
    assert (shown.alerts, shown.hours) == (1, 1.0)


def test_samples_that_come_late_amend_the_history_and_notify_nobody(world):
    world.run(11 * MINUTE, {"web1": 60})
    silent = world.now
    world.run(16 * MINUTE, {"web1": None})
    world.send(world.points("web1", range(silent + PERIOD, silent + 14 * MINUTE, PERIOD), 2))
    world.run(10 * MINUTE, {"web1": 60})
    late = [alert for alert in read_history(world.file, 0, 2**62) if alert.kind == "rule"]
    assert CPU in {alert.rule for alert in late}
    assert all(alert.late and alert.hush for alert in late)
    assert kept(world) == replayed(world)


def flush(world, minutes, idle):
    """Let time pass, while a host sends the samples of the last minutes only at the end."""
    begun = world.now
    world.run(minutes * MINUTE, {"web1": None})
    world.send(world.points("web1", range(begun + PERIOD, world.now + 1, PERIOD), idle))


def test_what_samples_of_an_agent_that_writes_every_five_minutes_show_to_be_true_fires_and_ends(world):
    for _ in range(4):
        flush(world, 5, 60)
    assert "rule" not in {item.kind for item in read_history(world.file, 0, 2**62)}
    for _ in range(4):
        flush(world, 5, 2)
    world.run(MINUTE, {"web1": None})
    (alert,) = [item for item in read_firing_alerts(world.file) if item.rule == CPU]
    assert not alert.hush  # it is notified
    for _ in range(4):
        flush(world, 5, 60)
    world.run(2 * MINUTE, {"web1": None})
    assert [item for item in read_firing_alerts(world.file) if item.kind == "rule"] == []
    assert kept(world) == replayed(world)


def test_what_late_samples_show_to_be_pending_fires_when_its_time_is_up(world):
    """The time before the newest samples were sent counts, if the condition was true in it."""
    world.run(5 * MINUTE, {"db1": 60})
    flush(world, 5, 60)
    since = world.now
    flush(world, 5, 2)
    world.run(2 * MINUTE, {"web1": 2})
    (alert,) = [item for item in read_firing_alerts(world.file) if item.rule == CPU]
    assert alert.fired_at <= since + 6 * MINUTE
    assert not alert.hush
    assert kept(world) == replayed(world)


@pytest.mark.parametrize("is_during", [False, True])
def test_what_was_pending_at_a_crash_is_so_since_then_when_its_samples_come(world, monkeypatch, is_during):
    world.run(11 * MINUTE, {"web1": 60})
    world.run(2 * MINUTE, {"web1": 2})
    crashed = world.now
    world.now += 150 * SECOND
    world.restart()
    missed = world.points("web1", range(crashed + PERIOD, world.now + 1, PERIOD), 2)
    if is_during:  # they are written when those of the missed evaluations have been read
        read, sent = world.store.read, []

        def read_before(*args, **kwargs):
            content = read(*args, **kwargs)
            if not sent and args[2] > crashed:
                sent.append(missed)
                world.send(missed)
            return content

        monkeypatch.setattr(world.store, "read", read_before)
    world.loop.perform(world.now)
    if not is_during:
        world.send(missed)
    world.run(3 * MINUTE, {"web1": 2})
    (alert,) = [item for item in read_firing_alerts(world.file) if item.rule == CPU]
    assert not alert.hush
    assert kept(world) == replayed(world)


def test_late_samples_of_very_many_series_do_not_hold_up_the_judging(world, monkeypatch, caplog):
    monkeypatch.setattr("plimsoll.alerting.late_samples._MOST_S", 0.0)
    world.run(MINUTE, {"web1": 60})
    world.send(world.points("web1", np.arange(START - 60 * MINUTE, START, PERIOD), 2))
    world.run(14 * MINUTE, {"web1": 2})
    assert world.loop.progress.problem == ""
    assert CPU in {item.rule for item in read_firing_alerts(world.file)}
    assert "web1: its history is not amended" in caplog.text


def test_a_store_that_does_not_answer_is_caught_up_with(world, monkeypatch):
    world.pass_at_once(5 * MINUTE, {"web1": 60})

    def away(*_, **__):
        raise Unreachable("the store: does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(world.store, "series", away)
        world.run(15 * MINUTE, {"web1": 2})
        assert "does not answer" in world.loop.progress.problem
        assert alerts(world) == []
    world.run(MINUTE, {"web1": 2})
    assert not world.loop.progress.problem
    assert CPU in {item.rule for item in read_firing_alerts(world.file)}
    assert kept(world) == replayed(world)


@pytest.mark.parametrize("is_away", [False, True])
def test_a_retired_host_whose_samples_are_in_the_windows_still_raises_no_alert_until_it_sends_again(world, is_away):
    linux = Series("web1", "kernel", (), "context_switches")  # for rules with windows of ten minutes
    world.send(Points([linux], np.zeros(1, np.int32), np.array([world.now]), np.ones(1)))
    world.run(14 * MINUTE, {"web1": 2, "db1": 60})
    assert "linux-cpu-busy" in {item.rule for item in read_firing_alerts(world.file)}
    world.run(2 * MINUTE, {"db1": 60})
    retire(world.file, "WEB1", world.now)
    if is_away:
        world.restart()
        world.pass_at_once(12 * MINUTE, {"db1": 60})
    world.run(15 * MINUTE, {"db1": 60})
    assert read_firing_alerts(world.file) == []
    assert {alert.ended_how for alert in read_history(world.file, 0, 2**62)} == {"retired"}
    assert [host.host for host in read_hosts(world.file) if host.retired_at is not None] == ["web1"]
    world.run(14 * MINUTE, {"web1": 2, "db1": 60})
    assert {item.host for item in read_firing_alerts(world.file)} == {"web1"}
    assert [host.host for host in read_hosts(world.file) if host.retired_at is not None] == []


def test_what_fires_goes_on_under_settings_that_were_read_anew(world, tmp_path):
    world.pass_at_once(15 * MINUTE, {"web1": 2, "web2": 2})
    before = {item.host: item.id for item in read_firing_alerts(world.file) if item.rule == CPU}
    assert set(before) == {"web1", "web2"}
    result = parse('[hosts.web2.rules.cpu-busy]\noff = true\nreason = "known"\n', tmp_path / "plimsoll.toml")
    overrides = result.overrides(tmp_path / "plimsoll.toml", SITE.catalogue.rules, SITE.catalogue.signals)
    world.loop.judge_by(replace(SITE, overrides=overrides), {})
    world.run(2 * MINUTE, {"web1": 2, "web2": 2})
    assert {item.host: item.id for item in read_firing_alerts(world.file) if item.rule == CPU} == {
        "web1": before["web1"]
    }


def test_what_agents_write_to_influxdb_is_judged_just_the_same(bucket, tmp_path):
    server = SureServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token))
    world = World(tmp_path, make_influx_store(server).live)
    try:
        world.run(10 * MINUTE, {"web1": 60})
        world.run(8 * MINUTE, {"web1": 2, "db1": 60})
        world.restart()
        world.run(2 * MINUTE, {"web1": 2, "db1": 60})
        assert CPU in {item.rule for item in read_firing_alerts(world.file)}
        world.run(4 * MINUTE, {"web1": 60, "db1": 60})
        assert read_firing_alerts(world.file) == []
        assert kept(world) == replayed(world)
    finally:
        world.close()


class AtOnce(VictoriaSamples):
    """Live samples that can be read as soon as they are written; VictoriaMetrics takes seconds until then."""

    created: VictoriaMetrics

    def write_points(self, points):
        written = super().write_points(points)
        self.created.show()
        return written


def test_what_agents_write_to_victoriametrics_is_judged_just_the_same_and_not_while_it_is_away(tmp_path):
    (tmp_path / "vm").mkdir()
    with VictoriaMetrics(tmp_path / "vm") as result:
        live = AtOnce(
            VictoriaMetricsServer(VictoriaMetricsAddress.parse(f"victoriametrics://{result.address}"), read_s=0.1),
            Measurements(),
        )
        live.created = result
        world = World(tmp_path, live)
        start = world.now = 1_700_000_000 * SECOND
        try:
            world.run(10 * MINUTE, {"web1": 60})
            world.run(8 * MINUTE, {"web1": 2, "db1": 60})
            world.restart()
            world.run(2 * MINUTE, {"web1": 2, "db1": 60})
            assert CPU in {item.rule for item in read_firing_alerts(world.file)}
            result.end()
            world.run(MINUTE, {})
            assert "is VictoriaMetrics running there" in world.loop.progress.problem
            assert CPU in {item.rule for item in read_firing_alerts(world.file)}
            result.start()
            world.run(4 * MINUTE, {"web1": 60, "db1": 60})
            assert world.loop.progress.problem == ""
            assert read_firing_alerts(world.file) == []
            assert kept(world) == replayed(world, start)
        finally:
            world.close()


def test_samples_that_are_up_to_a_minute_late_are_judged(world):
    run_behind(world, 14 * MINUTE, 30 * SECOND, every=3 * PERIOD)
    assert ("web1", CPU) in {(item.host, item.rule) for item in read_firing_alerts(world.file)}
    assert alerts(world, "host-silent") == []


def test_of_more_hosts_than_are_judged_the_first_ones_are_and_the_rest_is_told(world):
    world.restart(most_hosts=2)
    world.pass_at_once(5 * MINUTE, {"web1": 60, "web2": 60})
    world.run(15 * MINUTE, {"web1": 2, "web2": 60, **{f"a{at}": 2 for at in range(20)}})
    assert {item.host for item in read_firing_alerts(world.file)} == {"web1"}
    assert world.loop.progress.left_out == 20
    assert set(world.loop.progress.judged) == {"web1", "web2"}


def test_a_restart_judges_the_hosts_that_were_there_first(world):
    world.pass_at_once(15 * MINUTE, {"web1": 60, "web2": 60})
    world.restart(most_hosts=2)
    world.run(5 * MINUTE, {f"a{at}": 60 for at in range(20)} | {"web1": 60, "web2": 60})
    assert set(world.loop.progress.judged) == {"web1", "web2"}


def test_no_name_of_an_instance_ends_the_judging(world):
    """A number of over 4,300 digits caused an error of Python at each evaluation, for all hosts."""
    long, odd = "9" * 5000, []
    for host, name in {"a": long, "b": f"{long},0", "c": f"0,{long}", "d": f"{long} C:"}.items():
        tags = (("instance", name), ("objectname", "Processor Information"), ("source", host))
        odd += [Series(host, "win_cpu", tags, field) for field in ("Percent_Processor_Time", "%_Processor_Time")]
        tags = (("instance", name), ("objectname", "PhysicalDisk"), ("source", host))
        odd += [Series(host, "win_diskio", tags, field) for field in ("%_Idle_Time", "Current_Disk_Queue_Length")]
        tags = (("instance", "1"), ("objectname", "Processor"), ("source", host))
        odd += [Series(host, "win_cpu", tags, field) for field in ("Percent_Processor_Time", "%_Processor_Time")]
    count = len(odd)
    world.send(Points(odd, np.arange(count, dtype=np.int32), np.full(count, world.now), np.full(count, 50.0)))
    world.pass_at_once(14 * MINUTE, {"web1": 2})
    assert world.loop.progress.problem == ""
    assert CPU in rules_of(world)


@pytest.mark.parametrize("calls", [1, 2, 50])
def test_a_stop_is_obeyed_in_the_middle_of_planning_and_of_an_evaluation(calls, world):
    world.run(MINUTE, {"web1": 60})
    before = world.loop.last
    world.loop._evaluator = None
    requests = 0

    class Stop(Event):
        def is_set(self):
            nonlocal requests
            requests += 1
            return requests >= calls

    world.loop._stop = Stop()
    world.now += PERIOD
    world.loop.perform(world.now)
    assert requests == calls
    assert (world.loop.last, world.loop.progress.problem) == (before, "")
    world.loop._stop = Event()
    world.run(MINUTE, {"web1": 60})
    assert world.loop.last > before
