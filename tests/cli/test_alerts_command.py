"""`plimsoll alerts` beside a `plimsoll up` that has alerts.db open, and without."""

import json
import time
from threading import Event, Thread

import numpy as np
import pytest

from plimsoll.alerting import alerts_file, silences
from plimsoll.alerting.alert_intervals import AlertInterval
from plimsoll.alerting.alert_queries import firing, history
from plimsoll.alerting.compare_history import compare
from plimsoll.alerting.host_inventory import HostInventory, LastSample
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.subjects import Subject
from plimsoll.store.duck.store import FILE, DuckStore
from tests.alerting.world import CPU, EVERY, HOUR, MINUTE, T0
from tests.notify.test_notify import Hook


@pytest.fixture
def alerts(plimsoll, world, tmp_path):
    """Calls `plimsoll alerts` on the folder of the world, whose clock is that of the machine."""
    tmp_path.chmod(0o700)
    world.at = time.time_ns() // EVERY * EVERY - HOUR

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
        made = alerts("silence", "windows-*", "--host", "web*", "--for", "2h", "--reason", "maintenance")
        number = firing(file)[0].id
        acked = alerts("ack", number, "--note", "known")
    finally:
        stop.set()
        running.join()
    assert "it matches 1 alert firing now" in made.out
    assert acked.status == 0
    listed = alerts("list").out
    assert listed.count("[acknowledged by ") == 1
    assert listed.count("silenced]") == 1
    assert ": maintenance" in listed
    document = json.loads(alerts("list", "--json", "-").out)
    assert {one["host"]: one["worst"] for one in document["alerts"]} == {"WEB01": 97.0, "DB01": 97.0}
    assert [one["reason"] for one in document["silences"]] == ["maintenance"]
    assert alerts("unsilence", 1).status == 0
    assert silences.active(file, time.time_ns()) == []
    world.step()
    assert alerts("list").out == "No alert is firing\n"
    assert alerts("list", "--history", "--last", "2h").out.count("healthy again") == 2
    shown = alerts("show", number).out
    assert "limit     ≤ 90 %" in shown
    assert "acknowledged: " in shown


def test_a_silence_is_planned_listed_and_taken_back(alerts, world, file):
    world.step("WEB01")
    made = alerts("silence", "*", "--host", "web01", "--at", "23:59", "--for", "2h", "--reason", "patches")
    assert made.out.startswith("Silence 1 is planned from 20")
    now = time.time_ns()
    assert silences.active(file, now) == []
    (planned,) = silences.planned(file, now)
    assert silences.active(file, planned.start) == [planned]
    assert "silence 1 of * on web01 from 20" in alerts("list").out
    assert alerts("unsilence", 1).status == 0
    assert silences.planned(file, time.time_ns()) == silences.active(file, planned.start) == []


def test_a_retired_host_is_taken_off(alerts, world, file):
    HostInventory(file).step({"WEB01": LastSample(world.at)}, world.at)
    world.step("WEB01", "WEB02")
    assert "WEB01 is retired, 1 alert closed" in alerts("retire", "web01").out
    assert [one.host for one in firing(file)] == ["WEB02"]
    assert "retired 20" in alerts("list", "--hosts").out


def test_what_cannot_be_done_is_said(alerts, world, plimsoll, tmp_path):
    world.step("WEB01")
    world.step()
    for arguments, said in (
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
        assert (done.status, said in done.err) == (2, True), done.err
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


def test_a_replay_is_compared_with_the_history(alerts, world, tmp_path):
    cpu = Series("WEB01", "win_cpu", (("instance", "_Total"), ("objectname", "Processor")), "Percent_Processor_Time")
    begin = world.at
    times = np.arange(begin, begin + 20 * MINUTE, EVERY, dtype=np.int64)
    values = np.where((times > begin + 5 * MINUTE) & (times < begin + 15 * MINUTE), 95.0, 5.0)
    store = DuckStore.open(tmp_path / FILE)
    store.write_points(Points([cpu], np.zeros(len(times), np.int32), times, values))
    store.close()
    world.at = begin + 20 * MINUTE
    world.step()
    done = alerts("replay", "--last", "2h")
    assert done.status == 1
    assert f"{CPU} of WEB01, fired" in done.out
    assert "only in the replay" in done.out
    assert alerts("replay", "--last", "10m").status == 2  # nothing was judged in these ten minutes


def test_the_differences_of_history_and_replay(world, file):
    rule = world.catalogue.rules[CPU]

    def episode(host, fired, ended):
        return AlertInterval(rule, Subject(host), fired, fired, ended, 95.0, 95.0, rule.healthy)

    world.step("SAME", "KEPT", "OTHER", "OPEN")
    first = world.at
    world.step("OTHER", "OPEN")
    second = world.at
    world.step("OPEN")

    kept = history(file, T0, world.at)
    found = [episode("same", first, second), episode("OTHER", first, second), episode("OPEN", first, None)]
    result = compare(kept, [*found, episode("NEW", first, None)], T0, world.at)
    assert result.same == 2
    assert [(one.what, one.place) for one in result.differences] == [
        ("only in the history", "KEPT"),
        ("only in the replay", "NEW"),
        ("other end", "OTHER"),
    ]


def test_what_can_be_read_of_a_damaged_file_is_salvaged(alerts, world, file, tmp_path):
    for n in range(40):
        world.step(*(f"WEB{n:02}-{k}" for k in range(10)))
    silences.add(file, "*", "web*", "*", 2 * HOUR, "work", "joe", time.time_ns())
    file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    path = tmp_path / alerts_file.NAME
    damaged = bytearray(path.read_bytes())
    pages = [damaged[at : at + 4096] for at in range(0, len(damaged), 4096)]
    # A leaf (type 13) of the table, and not of an index, that holds alerts from the middle.
    middle = next(n for n, page in enumerate(pages) if page[0] == 13 and b"WEB20-" in page and b"Processor" in page)
    damaged[middle * 4096 : (middle + 1) * 4096] = b"\xff" * 4096
    path.write_bytes(damaged)
    done = alerts("salvage")
    assert done.status == 0, done.err
    assert "not all could be read of: alerts" in done.err
    again = alerts_file.AlertsFile(path)
    (kept,) = again.rows("SELECT count(*) AS count, min(id) AS first, max(id) AS last FROM alerts")
    assert (kept["first"], kept["last"]) == (1, 400)
    assert 350 < kept["count"] < 400
    assert len(silences.active(again, time.time_ns())) == 1
    assert again.rows("PRAGMA integrity_check")[0][0] == "ok"
    again.close()
    (aside,) = tmp_path.glob("alerts.db.damaged-*[0-9]")
    assert aside.stat().st_size == len(damaged)


def test_a_file_that_is_no_database_any_more_is_begun_anew(alerts, file, tmp_path):
    path = tmp_path / alerts_file.NAME
    file.close()
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.write_bytes(b"no database at all" * 1000)
    refused = alerts("list")
    assert (refused.status, "plimsoll alerts salvage" in refused.err) == (2, True)
    assert "alerts 0, silences 0" in alerts("salvage").out
    assert alerts("list").status == 0
