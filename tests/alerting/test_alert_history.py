"""Alerts are stored completely or not at all, and are read back unchanged."""

import math
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.alerting import alert_queries, silences
from plimsoll.alerting.alert_history import AlertHistory, list_damaged_files, open_alerts_file, read_last_evaluation
from plimsoll.alerting.alerts_file import NAME, AlertsFile, NotKept
from plimsoll.alerting.firing import load_firing
from plimsoll.alerting.state_changes import AlertInterval
from plimsoll.model.errors import Unusable
from plimsoll.rules.states import State, Status
from plimsoll.rules.subjects import Subject
from tests.alerting.world import CPU, HOUR, MINUTE, PERIOD, T0, World

NOTE = "windows-interrupt-time"  # of severity info


def test_an_alert_from_firing_to_recovery(world, file):
    world.step("WEB01", value=91.0, processes={"web01": ["mysqld (pid 812): 92 %"]})
    world.step("WEB01", value=97.5)
    world.step("WEB01", value=math.nan)
    (alert,) = alert_queries.read_firing_alerts(file)
    assert (alert.value, alert.worst, alert.last, alert.stale) == (91.0, 97.5, 97.5, True)
    assert (alert.host, alert.details.limit, alert.details.processes) == (
        "WEB01",
        world.catalogue.rules[CPU].healthy.shown + " %",
        ("mysqld (pid 812): 92 %",),
    )
    assert alert.details.sources
    world.step()
    assert alert_queries.read_firing_alerts(file) == []
    (ended,) = alert_queries.read_history(file, T0, world.at)
    assert (ended.fired_at, ended.ended_at, ended.ended_how) == (T0 + PERIOD, world.at, "recovered")
    assert [event.what for event in alert_queries.read_events(file, ended.id)] == ["fired", "stale", "recovered"]


def test_what_fires_is_as_the_file_has_it_whoever_changed_it(world, file, tmp_path):
    world.step("WEB01", value=91.0)
    assert len(load_firing(file).all_alerts) == 1
    with suppress(ZeroDivisionError), file.transaction() as connection:
        connection.execute("UPDATE alerts SET ended_at = 1, ended_how = 'recovered'")
        assert load_firing(file).all_alerts == []
        raise ZeroDivisionError
    assert len(load_firing(file).all_alerts) == 1
    assert load_firing(file) is load_firing(file)
    other = AlertsFile(tmp_path / NAME)
    with other.transaction() as connection:
        connection.execute("UPDATE alerts SET last = 99")
    assert [alert.last for alert in load_firing(file).all_alerts] == [99.0]
    with other.transaction() as connection:
        connection.execute("UPDATE alerts SET ended_at = 1, ended_how = 'recovered'")
    other.close()
    assert load_firing(file).all_alerts == []


def test_what_fires_and_ends_while_it_is_caught_up_has_ended(world, file):
    times = range(T0 + PERIOD, T0 + 4 * PERIOD, PERIOD)
    states = (State.FIRING, State.OK, State.FIRING)
    changes = [
        replace(world.transition((CPU, "WEB01", None), state, 95.0), at=at)
        for at, state in zip(times, states, strict=True)
    ]
    key, status = changes[0].key, Status(State.FIRING, times[-1])
    assert not world.book.step(times[-1], changes, {key: status}, now=times[-1], readings={key: 99.0}, quiet=True)
    rows = [(alert.fired_at, alert.ended_at, alert.worst) for alert in alert_queries.read_history(file, T0, times[-1])]
    assert sorted(rows) == [(times[0], times[1], 95.0), (times[2], None, 95.0)]


def test_statuses_survive_a_restart(world, file, tmp_path):
    world.step("WEB01", "WEB02")
    world.step("WEB02")
    file.close()
    again = AlertHistory(AlertsFile(tmp_path / NAME), world.catalogue.signals)
    assert read_last_evaluation(again.file) == world.at
    assert again.statuses() == {(CPU, "web02", None): Status(State.FIRING, T0 + PERIOD)}
    assert [item.host for item in alert_queries.read_firing_alerts(again.file)] == ["WEB02"]
    if sys.platform != "win32":
        assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob(NAME + "*")} == {0o600}
    with pytest.raises(ValueError, match="not after the last one"):
        again.step(world.at, [], {}, now=world.at)
    again.file.close()


def test_late_samples_amend_the_history(world, file):
    rule, subject, key = world.catalogue.rules[CPU], Subject("WEB01"), (CPU, "web01", None)

    def episode(fired, ended):
        return AlertInterval(rule, subject, fired, fired, ended, 90.0, 99.0, rule.healthy)

    for hosts in (["WEB01"], [], ["WEB01"], [], ["WEB01"]):
        world.step(*hosts, every=HOUR)
    first, second, still = (T0 + n * HOUR for n in (1, 3, 5))
    world.book.amend(
        key, T0, [episode(first, first + HOUR), episode(second - 5, second + HOUR), episode(still - 5, None)], now=1
    )
    rows = [
        (alert.fired_at, alert.ended_at, alert.late, alert.hush)
        for alert in alert_queries.read_history(file, T0, world.at)
    ]
    assert rows == [
        (first, first + HOUR, False, False),
        (second - 5, second + HOUR, True, True),
        (still - 5, None, True, False),
    ]
    assert len(alert_queries.read_history(file, T0, world.at, replaced=True)) == 4
    world.book.amend(key, T0, [], now=1)  # what fires is not ended by it: the next evaluation decides
    assert [alert.firing for alert in alert_queries.read_history(file, T0, world.at)] == [True]


def test_a_rule_that_is_gone_has_no_alerts(world, file):
    world.step("WEB01")
    world.book.keep_only(lambda rule, host: rule == "another", world.at, now=world.at)
    assert alert_queries.read_firing_alerts(file) == []
    assert world.book.statuses() == {}
    assert alert_queries.read_history(file, T0, world.at)[0].ended_how == "rule removed"


def test_a_full_disk_keeps_nothing_of_a_step_which_can_be_repeated(world, file):
    world.step("WEB01")
    (pages,) = file.rows("PRAGMA page_count")
    file.rows(f"PRAGMA max_page_count = {pages[0]}")
    many = [f"H{n}" for n in range(500)]
    with pytest.raises(NotKept, match="the disk is full"):
        world.step("WEB01", *many)
    assert read_last_evaluation(file) == T0 + PERIOD
    file.rows("PRAGMA max_page_count = 1000000")
    world.at, world.firing = T0 + PERIOD, {(CPU, "WEB01", None): 0}
    world.step("WEB01", *many)
    assert len(alert_queries.read_firing_alerts(file)) == 501


def test_files_that_cannot_be_used(tmp_path):
    AlertsFile(tmp_path / NAME).close()
    with sqlite3.connect(tmp_path / NAME) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(Unusable, match="written by a newer Plimsoll"):
        AlertsFile(tmp_path / NAME)
    (tmp_path / "torn.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(Unusable, match="is damaged"):
        AlertsFile(tmp_path / "torn.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unusable, match="not a regular file"):
        AlertsFile(tmp_path / "link.db")


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER t AFTER INSERT ON alerts BEGIN DELETE FROM alerts; END",
        "CREATE VIEW v AS SELECT 1",
        "ALTER TABLE alerts RENAME TO other",
        "ALTER TABLE alerts DROP COLUMN late",
    ],
)
def test_a_file_that_another_program_changed_is_refused(change, tmp_path):
    """A trigger could delete each new alert; a view in place of a table ended the evaluations."""
    AlertsFile(tmp_path / NAME).close()
    connection = sqlite3.connect(tmp_path / NAME)
    connection.execute(change)
    connection.close()
    with pytest.raises(Unusable, match="was changed by another program"):
        AlertsFile(tmp_path / NAME)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE alerts SET details = '{' WHERE id = 1",
        """UPDATE alerts SET details = '{"title": "a", "limiT": "x"}' WHERE id = 1""",
        "UPDATE alerts SET details = '[1]' WHERE id = 1",
        "UPDATE alerts SET key = '[1, 2]' WHERE id = 1",
        "UPDATE alerts SET severity = 'lowd' WHERE id = 1",
        "UPDATE alerts SET healthy = '? 80' WHERE id = 1",
        "UPDATE alerts SET fired_at = 'abc' WHERE id = 1",
        "UPDATE alerts SET host = x'00ff' WHERE id = 1",
        "UPDATE alerts SET worst = 'high' WHERE id = 1",
        "UPDATE statuses SET state = 9",
        "UPDATE meta SET value = 'x' WHERE name = 'last evaluation'",
        "INSERT INTO meta VALUES ('rules', '[')",
        "INSERT INTO silences (rule, host, instance, start, until, reason, who) VALUES ('*', '*', '*', 'x', 2, '', '')",
        "INSERT INTO told VALUES (1, 'joe', 'fires', 1, 1)",
        "CREATE TABLE own (a); DROP TABLE alerts; PRAGMA user_version = 0",
    ],
)
def test_a_row_that_cannot_be_read_is_found_before_it_ends_the_judging(change, world, file, tmp_path):
    """One flipped bit in a firing alert caused a defect at each evaluation, and nobody was notified."""
    world.step("WEB01", "WEB02")
    file.close()
    path = tmp_path / NAME
    connection = sqlite3.connect(path)
    connection.executescript(change)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(Unusable, match=r"is damaged|was changed by another program") as refused:
        AlertsFile(path)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before


def write_noise(path):
    damaged = bytearray(path.read_bytes())
    pages = [damaged[at : at + 4096] for at in range(0, len(damaged), 4096)]
    # A leaf (type 13) of the table, and not of an index, that holds alerts from the middle.
    middle = next(n for n, page in enumerate(pages) if page[0] == 13 and b"WEB20-" in page and b"Processor" in page)
    damaged[middle * 4096 : (middle + 1) * 4096] = b"\xff" * 4096
    path.write_bytes(damaged)


@pytest.mark.parametrize(
    "damage",
    [
        write_noise,
        lambda path: path.write_bytes(b""),
        lambda path: os.truncate(path, 2048),
        lambda path: path.write_bytes(b"no database" * 999),
        Path.unlink,
    ],
    ids=["a page", "empty", "cut off", "no database", "gone"],
)
def test_a_damaged_file_is_set_aside_and_its_silences_survive(damage, world, file, tmp_path, caplog):
    for n in range(40):
        world.step(*(f"WEB{n:02}-{k}" for k in range(10)))
    open_alerts_file(tmp_path).close()
    first, kept, planned = (
        silences.add(file, "*", f"web{n}*", "*", 2 * HOUR, "Übung", "joe", T0, T0 + n * MINUTE) for n in range(3)
    )
    silences.end(file, first.id, T0)
    file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    damage(tmp_path / NAME)
    if (tmp_path / NAME).exists():
        with pytest.raises(Unusable, match=r"is damaged|is empty"):
            AlertsFile.existing(tmp_path)
    again = open_alerts_file(tmp_path)
    assert alert_queries.read_firing_alerts(again) == []
    assert [
        *silences.read_active_silences(again, T0 + MINUTE),
        *silences.read_planned_silences(again, T0 + MINUTE),
    ] == [kept, planned]
    assert silences.add(again, "*", "*", "*", HOUR, "more", "joe", T0).id == 4
    again.close()
    assert caplog.text.count("all alerts of before are missing") == 1
    assert len(list_damaged_files(tmp_path)) == 1
    open_alerts_file(tmp_path).close()
    assert len(list_damaged_files(tmp_path)) == 1


STEPPER = """
import sys
from pathlib import Path
from plimsoll.alerting.alerts_file import AlertsFile
from tests.alerting.world import World

world = World(AlertsFile(Path(sys.argv[1])))
for n in range(1, 100_000):
    # At each step the hosts with an even number or those with an odd one fire, 20 at a time.
    world.step(*(f"H{2 * one + n % 2}" for one in range(20)))
    print(world.at, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_after_a_kill_each_step_is_there_whole_or_not_at_all(tmp_path):
    chance = random.Random(7)
    for attempt in range(2):
        path = tmp_path / f"{attempt}.db"
        process = subprocess.Popen(
            [sys.executable, "-c", STEPPER, path], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )
        assert process.stdout
        line = process.stdout.readline()
        time.sleep(chance.uniform(0.01, 0.15))
        os.kill(process.pid, signal.SIGKILL)
        rest, _ = process.communicate()
        acknowledged = int((line + rest).rpartition("\n")[0].split()[-1])
        file = AlertsFile(path)
        book = World(file).book
        last = read_last_evaluation(file)
        assert last in (acknowledged, acknowledged + PERIOD)
        firing = [item for item in alert_queries.read_firing_alerts(file) if item.kind == "rule"]
        odd = (last - T0) // PERIOD % 2
        assert {item.host for item in firing} == {f"H{2 * index + odd}" for index in range(20)}
        assert {item.fired_at for item in firing} == {last}
        assert {key[1] for key in book.statuses()} == {item.host.casefold() for item in firing}
        assert file.rows("PRAGMA integrity_check")[0][0] == "ok"
        file.close()


def test_the_book_stays_small(world, file):
    world.step("WEB01")
    world.step()
    world.step("WEB02")
    world.step("WEB02", every=500 * 24 * 60 * MINUTE)
    assert [alert.host for alert in alert_queries.read_history(file, 0, world.at)] == ["WEB02"]
    assert [row["alert"] for row in file.rows("SELECT DISTINCT alert FROM events")] == [2]
