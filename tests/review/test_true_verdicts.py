"""Situations in which a review once said "Healthy" wrongly, or was wrong otherwise: one simulated log for each."""

import numpy as np
import pytest

from plimsoll.insights.insights import Insights
from tests.simulated import a_log, reviewed

ROWS = 720  # 3 h every 15 s
AT = np.arange(ROWS)
RNG = np.random.default_rng(51)


def about(level, deviation):
    return np.maximum(0, level + deviation * RNG.standard_normal(ROWS))


QUIET = {
    r"\Processor(_Total)\% Processor Time": about(30, 4),
    r"\System\Processor Queue Length": about(1, 0.2),
    r"\System\Context Switches/sec": about(9000, 300),
    r"\Memory\Available MBytes": about(9000, 60),
    r"\PhysicalDisk(0 C:)\% Idle Time": about(90, 2),
    r"\PhysicalDisk(0 C:)\Avg. Disk sec/Transfer": about(0.004, 0.0004),
    r"\LogicalDisk(C:)\% Free Space": about(55, 0.01),
    r"\Network Interface(nic)\Bytes Total/sec": about(2e6, 1e5),
}


def processors(full, of):
    names = [rf"\Processor Information({at // 8},{at % 8})\% Processor Time" for at in range(of)]
    return {name: about(99.9, 0.01) if at < full else about(3, 0.5) for at, name in enumerate(names)}


def work(stops_for):
    stopped = np.isin(AT, np.arange(300, 300 + stops_for))
    return {r"\Web Service(_Total)\Total Method Requests/sec": np.where(stopped, about(3, 0.3), about(2000, 40))}


def frozen(rows):
    busy = about(30, 4)
    busy[-rows:] = 32.734512
    return {r"\Processor(_Total)\% Processor Time": busy}


UNTRUE = {
    "memory passed its limit in the last samples": (
        {r"\Memory\Available MBytes": 8000 - 9.78 * AT + about(10, 9)},
        "Available memory of SUT falls, and was past its limit of 1,000 MB",
    ),
    "memory reaches its limit soon": (
        {r"\Memory\Available MBytes": 8000 - 9.3 * AT + about(10, 9)},
        "would reach its limit of 1,000 MB about 8 min",
    ),
    "work stopped for a short part of a long run": (work(30), "all but stopped for 7 min 45 s"),
    "one processor group is full": (processors(8, 16), "8 of 16 processors of SUT limit this run"),
    "one resource is frozen": (frozen(60), "Processor time of SUT repeated the same values for 14 min 45 s"),
    "worker processes crash": (
        {r"\W3SVC_W3WP(4242_shop)\Total Worker Process Failures": AT // 16},
        "Worker process failures since the start of SUT",
    ),
    "a total stands in for its instances": (
        {r"\ServiceModelService 4.0.0.0(_Total)\Percent Of Max Concurrent Calls": about(92, 1)},
        "Concurrent calls of the limit of SUT, _Total",
    ),
}


@pytest.mark.parametrize("situation", UNTRUE)
def test_what_is_wrong_is_not_healthy(situation):
    columns, sentence = UNTRUE[situation]
    review = Insights(reviewed(a_log(QUIET | columns, interval_s=15))).review
    assert review.verdict != "healthy"
    assert sentence in review.headline


STILL_HEALTHY = {
    "nothing is wrong": {},
    "one processor is full beside idle ones": processors(1, 16),
    "a slip of a minute": work(4),
    "whole values that repeat": {r"\Memory\Available MBytes": np.where(AT > 200, 9000, about(9000, 60))},
}


@pytest.mark.parametrize("situation", STILL_HEALTHY)
def test_what_is_well_is_healthy(situation):
    columns = QUIET | STILL_HEALTHY[situation]
    review = Insights(reviewed(a_log(columns, interval_s=15))).review
    assert review.verdict == "healthy", review.headline


def test_an_interval_that_changes_within_a_recording_is_no_gap():
    steps = np.concatenate((np.full(480, 15.0), 300 + RNG.uniform(-0.01, 0.01, 240 - 1)))
    times = np.concatenate(([0], np.cumsum(steps)))
    log = a_log(QUIET, interval_s=15)
    kept = type(log)(
        **{
            **{name: getattr(log, name) for name in ("path", "format", "series", "zone", "columns")},
            "times": log.times[0] + (times * 1e9).astype(np.int64),
        }
    )
    review = Insights(reviewed(kept)).review
    assert review.verdict == "healthy", review.headline
