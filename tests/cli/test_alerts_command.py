"""`plimsoll alerts` beside a `plimsoll up` that has alerts.db open, and without."""

import json
import time
from threading import Event, Thread

import numpy as np
import pytest

from plimsoll.alerting import alerts_file, silences
from plimsoll.alerting.alert_queries import read_firing_alerts
from plimsoll.alerting.host_inventory import HostInventory, LastSample
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.store.duck.duck_store import FILE, open_embedded
from tests.alerting.world import CPU, HOUR, MINUTE, PERIOD
from tests.notify.test_notify import Hook


@pytest.fixture
def alerts(plimsoll, world, tmp_path):
    """Calls `plimsoll alerts` on the folder of the world, whose clock is that of the machine."""
    tmp_path.chmod(0o700)
    world.at = time.time_ns() // PERIOD * PERIOD - HOUR

    def call(*arguments):
        return plimsoll("alerts", *arguments, "--store", tmp_path)

    return call


def test_alerts_are_listed_silenced_and_acknowledged_while_up_writes(alerts, world, file):
    world.step("WEB01", "DB01")
    world.step("WEB01", "DB01", value=97.0)
    assert "Processor time on WEB01, past its limit for" in alerts("list").out
    assert "◆ WEB01 is short of processors\n" in alerts("list").out
    stop = Event()

    def up():
        while not stop.is_set():
            world.step("WEB01", "DB01", every=SECOND)

    running = Thread(target=up)
    running.start()
    try:
        result = alerts("silence", "windows-*", "--host", "web*", "--for", "2h", "--reason", "maintenance")
        number = read_firing_alerts(file)[0].id
        acked = alerts("ack", number, "--note", "known")
    finally:
        stop.set()
        running.join()
    assert "it matches 1 alert firing now" in result.out
    assert acked.status == 0
    listed = alerts("list").out
    assert listed.count("[acknowledged by ") == 1
    assert listed.count("silenced]") == 1
    assert ": maintenance" in listed
    document = json.loads(alerts("list", "--json", "-").out)
    assert {load["host"]: load["worst"] for load in document["alerts"]} == {"WEB01": 97.0, "DB01": 97.0}
    assert [load["reason"] for load in document["silences"]] == ["maintenance"]
    assert alerts("unsilence", 1).status == 0
    assert silences.read_active_silences(file, time.time_ns()) == []
    world.step()
    assert alerts("list").out == "No alert is firing\n"
    assert alerts("list", "--history", "--last", "2h").out.count("healthy again") == 2
    shown = alerts("show", number).out
    assert "limit     ≤ 90 %" in shown
    assert "acknowledged: " in shown


def test_a_silence_is_planned_listed_and_taken_back(alerts, world, file):
    world.step("WEB01")
    result = alerts("silence", "*", "--host", "web01", "--at", "23:59", "--for", "2h", "--reason", "patches")
    assert result.out.startswith("Silence 1 is planned from 20")
    now = time.time_ns()
    assert silences.read_active_silences(file, now) == []
    (planned,) = silences.read_planned_silences(file, now)
    assert silences.read_active_silences(file, planned.start) == [planned]
    assert "silence 1 of * on web01 from 20" in alerts("list").out
    assert alerts("unsilence", 1).status == 0
    assert (
        silences.read_planned_silences(file, time.time_ns()) == silences.read_active_silences(file, planned.start) == []
    )


def test_a_retired_host_is_taken_off(alerts, world, file):
    HostInventory(file).step({"WEB01": LastSample(world.at)}, world.at)
    world.step("WEB01", "WEB02")
    assert "WEB01 is retired, 1 alert closed" in alerts("retire", "web01").out
    assert [item.host for item in read_firing_alerts(file)] == ["WEB02"]
    assert "retired 20" in alerts("list", "--hosts").out


def test_what_cannot_be_done_is_said(alerts, world, plimsoll, tmp_path):
    world.step("WEB01")
    world.step()
    for arguments, result in (
        (("ack", 1), "alert 1 has ended"),
        (("ack", 9), "there is no alert 9"),
        (("show", 9), "there is no alert 9"),
        (("unsilence", 9), "silence 9 is not active"),
        (("retire", "WEB99"), 'host "WEB99" is not known'),
        (("silence", "windws-cpu*", "--for", "2h", "--reason", "x"), "did you mean windows-cpu-"),
        (("silence", "*", "--for", "31d", "--reason", "x"), "at most 30 d"),
        (
            ("silence", "*", "--host", "wb01", "--for", "2h", "--reason", "x"),
            'no host matches "wb01"; did you mean web01',
        ),
        (("silence", "*", "--at", "2020-01-01T10:00", "--for", "2h", "--reason", "x"), "would have ended already"),
        (("silence", "*", "--for", "soon", "--reason", "x"), '"soon" is not a duration'),
        (("list", "--last", "2h"), "are for --history"),
        (("test",), "names nobody to notify"),
    ):
        done = alerts(*arguments)
        assert (done.status, result in done.err) == (2, True), done.err
    done = plimsoll("alerts", "list", "--store", tmp_path / "none")
    assert (done.status, "plimsoll up makes it" in done.err) == (2, True)


def test_a_file_that_cannot_be_written_is_said(alerts, world, file, tmp_path, monkeypatch):
    world.step("WEB01")
    monkeypatch.setattr(alerts_file, "_BUSY_S", 0.1)
    with file.transaction():
        done = alerts("ack", 1)
    assert (done.status, done.out) == (2, "")
    assert "another program has locked it" in done.err
    file.close()
    path = tmp_path / "alerts.db"
    path.write_bytes(path.read_bytes()[:4096] + bytes(path.stat().st_size - 4096))
    done = alerts("list")
    assert done.status == 2
    assert "is damaged" in done.err


def test_a_test_message_says_what_became_of_it(alerts, tmp_path):
    with Hook() as hook:
        path = tmp_path / "up.toml"
        path.write_text(f'[notify.a]\nurl = "json://joe:pa55word@{hook.address}/t0kent0ken"\n')
        path.chmod(0o600)
        done = alerts("test")
        assert (done.status, done.out) == (0, f"a  json://{hook.address}/****: sent\n")
        assert hook.got[0]["title"] == "Plimsoll: a test"
        hook.answer = 500
        done = alerts("test")
    assert done.status == 3
    assert "failed" in done.out
    assert "500" in done.err
    assert not [secret for secret in ("pa55word", "t0kent0ken") if secret in done.out + done.err]


def test_a_replay_lists_the_alerts_of_the_stored_samples(alerts, world, tmp_path):
    cpu = Series("WEB01", "win_cpu", (("instance", "_Total"), ("objectname", "Processor")), "Percent_Processor_Time")
    begin = world.at
    times = np.arange(begin, begin + 20 * MINUTE, PERIOD, dtype=np.int64)
    values = np.where((times > begin + 5 * MINUTE) & (times < begin + 15 * MINUTE), 95.0, 5.0)
    store = open_embedded(tmp_path / FILE)
    store.live.write_points(Points([cpu], np.zeros(len(times), np.int32), times, values))
    store.close()
    world.at = begin + 20 * MINUTE
    world.step()
    done = alerts("replay", "--last", "2h")
    assert done.status == 0
    assert f"critical {CPU} of WEB01, fired" in done.out
    assert alerts("replay", "--last", "10m").status == 2  # nothing was judged in these ten minutes
