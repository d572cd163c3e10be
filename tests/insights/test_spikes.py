"""Regular spikes of a review: one finding for each rhythm, with what rises in it and whether that matters."""

import numpy as np
import pytest

from plimsoll.insights.spikes.find import find_periodic_spikes
from plimsoll.insights.spikes.insight import describe_consequence, describe_rhythm
from tests.simulated import a_log, ar1, reviewed

ROWS = 1440  # 2 h every 5 s
FIRST, PERIOD, WIDTH = 24, 60, 5  # rows: from 2 min on, every 5 min, 25 s long

WRITES = r"\PhysicalDisk(2 E:)\Disk Writes/sec"
WRITE_S = r"\PhysicalDisk(2 E:)\Avg. Disk sec/Write"
LOG_WRITES = r"\PhysicalDisk(1 D:)\Disk Writes/sec"
CPU = r"\Processor(_Total)\% Processor Time"
SQL, BACKUP = r"\Process(sqlservr)\% Processor Time", r"\Process(backup)\% Processor Time"
SPROC = r"\LC:USrv - 00 - DBStore\USrv - 004 - Sproc Latency (msec)"


def in_spikes(rows=ROWS, first=FIRST, period=PERIOD):
    inside = np.zeros(rows)
    for start in range(first, rows, period):
        inside[start : start + WIDTH] = 1
    return inside


def spikes_of(*logs):
    return find_periodic_spikes(reviewed(*logs))


def test_signals_that_share_a_rhythm_are_one_finding_with_what_rises():
    rng = np.random.default_rng(1)
    inside = in_spikes()
    size = rng.uniform(0.7, 1.3, ROWS)
    database = {
        WRITES: 4 + 456 * size * inside,
        WRITE_S: 0.002 + 0.028 * size * inside,
        LOG_WRITES: 44 + 2 * ar1(rng, ROWS),
        CPU: 30 + 2 * ar1(rng, ROWS),
        SQL: 40 + 60 * inside + 5 * ar1(rng, ROWS),
        BACKUP: np.maximum(0, 5 + ar1(rng, ROWS)),
    }
    late = np.zeros(ROWS)
    late[[FIRST + 2, FIRST + 5 * PERIOD + 2, FIRST + 9 * PERIOD + 2]] = 120
    front_end = {SPROC: np.maximum(8 + ar1(rng, ROWS) + 15 * inside, late)}
    [item] = spikes_of(a_log(database, host="SQL01"), a_log(front_end, host="FE01"))
    assert item.main.name == "disk.writes"
    assert item.main.subject.instance == "2 E:"
    assert item.main.spikes.period_s == pytest.approx(300)
    assert (item.main.count, item.main.spikes.level, item.main.spikes.width_s) == (24, 4, 25)
    rising = {(x.name, x.subject.host, x.subject.instance) for x in item.rising}
    assert ("disk.write_latency", "SQL01", "2 E:") in rising
    assert ("messaging.db_sproc_latency", "FE01", None) in rising
    assert not rising & {("disk.writes", "SQL01", "1 D:"), ("cpu.busy", "SQL01", None)}
    assert [x.subject.instance for x in item.processes] == ["sqlservr"]
    assert {x.name: x.passed for x in item.limits}["messaging.db_sproc_latency"] == 3
    assert "Stored procedure latency of FE01 above 100 ms in 3 of 24 spikes" in describe_consequence(item)


def test_spikes_that_reach_no_limit_are_said_to_reach_none():
    rng = np.random.default_rng(3)
    [item] = spikes_of(a_log({CPU: 20 + 2 * ar1(rng, ROWS) + 30 * in_spikes()}))
    assert describe_consequence(item).startswith("Limits not reached in them: Processor time of SUT at most ")


def test_a_faster_rhythm_that_the_samples_alias_is_no_sure_period():
    """Spikes of 2 s every 14 s, sampled every 60 s, look like one every 7 min; spikes of 4 min every 20 min do not."""
    seconds = 60 * np.arange(ROWS)
    texts = []
    for period_s, lasts_s in ((14, 2), (1200, 240)):
        busy = 20 + ar1(np.random.default_rng(5), ROWS) + 60 * (seconds % period_s < lasts_s)
        (item,) = spikes_of(a_log({CPU: busy}, interval_s=60))
        texts.append(describe_rhythm(item))
    alias, sure = texts
    assert alias.startswith("Perhaps every 7 min a spike")
    assert "record more often than every 1 min to tell" in alias
    assert sure.startswith("Every 20 min a spike")


def test_what_is_too_small_to_matter_is_not_told():
    rng = np.random.default_rng(4)
    assert not spikes_of(a_log({CPU: 2 + 0.1 * ar1(rng, ROWS) + 3 * in_spikes(), WRITES: 2 * in_spikes()}))
