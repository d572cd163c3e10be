"""A Linux host as Telegraf records it: every limit of the first tier is crossed where it is sick, none where it is not."""

import csv
from pathlib import Path

import numpy as np
import pytest

from plimsoll.hosts.facts import Facts, find_recorded_facts
from plimsoll.model.log import Log
from plimsoll.model.run import Run
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone
from plimsoll.review.findings import Outcome, Question
from plimsoll.review.review import review
from plimsoll.rules.load import load, load_signals

TABLE = Path(__file__).parents[1] / "data" / "limits-today.csv"
FIRST_TIER = {
    row["id"]
    for row in csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines())
    if row["tier"] == "1" and row["system"] == "linux"
}
ROWS = 360  # an hour, a row every ten seconds
GB = 2.0**30
# Series as Telegraf names them: a value throughout, or what a count grows by every second.
Gauges = dict[tuple[str, tuple[tuple[str, str], ...], str], float]
TOTAL, DISK, ADAPTER = (("cpu", "cpu-total"),), (("name", "sda"),), (("interface", "eth0"),)
ROOT = (("device", "sda2"), ("fstype", "ext4"), ("mode", "rw"), ("path", "/"))
IMAGE = (("device", "loop3"), ("fstype", "squashfs"), ("mode", "ro"), ("path", "/snap/core/1"))
STALLED = (("resource", "memory"), ("type", "full"))

HEALTHY: Gauges = {
    **{("cpu", TOTAL, f"usage_{name}"): value for name, value in {"idle": 70.0, "iowait": 1.0, "steal": 0.2}.items()},
    ("system", (), "load1"): 2.0,
    ("system", (), "n_cpus"): 8.0,
    ("mem", (), "total"): 16 * GB,
    ("mem", (), "available"): 9 * GB,
    ("mem", (), "available_percent"): 56.0,
    ("swap", (), "used_percent"): 99.0,  # idle pages, and memory to spare
    ("disk", ROOT, "used_percent"): 60.0,
    ("disk", ROOT, "free"): 40 * GB,
    ("disk", ROOT, "total"): 100 * GB,
    ("disk", IMAGE, "used_percent"): 100.0,
    ("disk", IMAGE, "free"): 0.0,
    ("disk", IMAGE, "total"): 0.1 * GB,
    ("pressure", STALLED, "avg10"): 0.0,
    ("pressure", STALLED, "avg60"): 0.0,
    ("net", ADAPTER, "speed"): -1.0,
    ("kernel", (), "context_switches"): 3e9,
}
HEALTHY_COUNTS: Gauges = {
    ("kernel_vmstat", (), "pswpout"): 0.0,
    ("kernel_vmstat", (), "oom_kill"): 0.0,
    **{("diskio", DISK, name): 20.0 for name in ("reads", "writes")},
    **{("diskio", DISK, name): 40.0 for name in ("read_time", "write_time")},
    **{("net", ADAPTER, name): 500.0 for name in ("packets_recv", "packets_sent")},
    **{("net", ADAPTER, name): 0.0 for name in ("err_in", "err_out")},
    # A drive that is no disk, and on which every request takes long.
    **{("diskio", (("name", "sr0"),), name): 2.0 for name in ("reads", "writes")},
    **{("diskio", (("name", "sr0"),), name): 900.0 for name in ("read_time", "write_time")},
}
SICK: Gauges = {
    ("cpu", TOTAL, "usage_idle"): 2.0,
    ("system", (), "load1"): 17.0,
    ("mem", (), "available"): 0.5 * GB,
    ("mem", (), "available_percent"): 3.0,
    ("disk", ROOT, "used_percent"): 99.0,
    ("disk", ROOT, "free"): 1 * GB,
    ("pressure", STALLED, "avg10"): 65.0,
    ("pressure", STALLED, "avg60"): 61.0,
}
SICK_COUNTS: Gauges = {
    ("kernel_vmstat", (), "pswpout"): 300.0,
    ("kernel_vmstat", (), "oom_kill"): 0.002,
    **{("diskio", DISK, name): 1600.0 for name in ("read_time", "write_time")},
    **{("net", ADAPTER, name): 6.0 for name in ("err_in", "err_out")},
}
STOLEN: Gauges = {("cpu", TOTAL, "usage_idle"): 40.0, ("cpu", TOTAL, "usage_steal"): 30.0}


def findings(gauges, counts):
    seconds = np.arange(ROWS) * 10.0
    values = {key: np.full(ROWS, value) for key, value in gauges.items()}
    values |= {key: 1e6 + np.floor(value * seconds) for key, value in counts.items()}
    series = tuple(Series("web01", *key) for key in values)
    times = np.arange(ROWS, dtype=np.int64) * 10 * SECOND
    log = Log(Path("web01"), "telegraf", times, tuple(map(np.array, values.values())), series, Zone.parse("UTC"))
    packs = tuple(pack for pack in load().packs if pack.pack == "linux")
    return review([log], Run(), Question(packs, load_signals()), Facts({}, find_recorded_facts([log]))).findings


def crossed(values):
    return [item for item in values if item.outcome in (Outcome.CROSSED, Outcome.OFTEN)]


def test_a_healthy_host_has_nothing_crossed():
    result = findings(HEALTHY, HEALTHY_COUNTS)
    assert [(item.rule.id, item.subject) for item in crossed(result)] == []
    judged = {row for finding in result if finding.outcome == Outcome.WITHIN for row in finding.rule.limits}
    assert judged >= FIRST_TIER


def test_every_limit_of_the_first_tier_is_found_crossed_on_a_sick_host():
    result = crossed(findings(HEALTHY | SICK, HEALTHY_COUNTS | SICK_COUNTS))
    result += crossed(findings(HEALTHY | STOLEN, HEALTHY_COUNTS))
    assert {row for item in result for row in item.rule.limits} >= FIRST_TIER
    both = {(row, item.rule.severity) for item in result for row in item.rule.limits}
    critical = {"LNX-001", "LNX-005", "LNX-010", "LNX-011", "LNX-014", "LNX-017"}
    assert both >= {(row, level) for row in critical for level in ("warning", "critical")}


@pytest.mark.parametrize(
    ("measurement", "rule"), [("mem", "linux-memory-available"), ("disk", "linux-file-system-full")]
)
def test_an_agent_with_few_plugins_is_judged(measurement, rule):
    sick = {key: value for key, value in (HEALTHY | SICK).items() if key[0] == measurement}
    assert rule in {item.rule.id for item in crossed(findings(sick, {}))}


@pytest.mark.parametrize(
    ("subject", "rule"),
    [
        (
            {("mem", (), "available_percent"): 8.0},
            {"linux-memory-available", "linux-swap-used", "linux-swap-used-critical"},
        ),
        ({("cpu", TOTAL, "usage_iowait"): 60.0, ("cpu", TOTAL, "usage_idle"): 10.0}, {"linux-iowait"}),
        ({("disk", ROOT, "used_percent"): 91.0, ("disk", ROOT, "free"): 900 * GB}, {"linux-file-system-full"}),
        ({("disk", ROOT, "used_percent"): 99.0, ("disk", ROOT, "total"): 1 * GB}, {"linux-file-system-full"}),
        ({("net", ADAPTER, "speed"): 0.0}, set()),
    ],
)
def test_one_thing_wrong_is_all_that_is_found(subject, rule):
    assert {item.rule.id for item in crossed(findings(HEALTHY | subject, HEALTHY_COUNTS))} == rule


def test_a_link_whose_speed_is_not_known_is_not_judged():
    counts = HEALTHY_COUNTS | {("net", ADAPTER, "bytes_recv"): 1e9, ("net", ADAPTER, "bytes_sent"): 1e9}
    result = HEALTHY | {("net", ADAPTER, "speed"): 1000.0}
    rules = {"linux-network-received-utilization", "linux-network-sent-utilization"}
    assert {finding.outcome for finding in findings(HEALTHY, counts) if finding.rule.id in rules} == {Outcome.NO_DATA}
    assert rules <= {item.rule.id for item in crossed(findings(result, counts))}
