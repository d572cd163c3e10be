"""Trends of a review: signals that climb and must not while the load is level, and signals that should rise."""

import numpy as np
import pytest

from plimsoll.insights.trends.find import find_trends
from plimsoll.insights.trends.insight import describe_trend
from plimsoll.model.run import Phase
from plimsoll.model.times import SECOND
from tests.simulated import START, a_log, ar1, reviewed

ROWS = 1440  # 2 h every 5 s
MB = 1024**2
X = np.arange(ROWS) / ROWS

PRIVATE = r"\Process(app)\Private Bytes"
PROCESS_ID = r"\Process(app)\ID Process"
AGE = r"\Process(app)\Elapsed Time"
AVAILABLE = r"\Memory\Available Bytes"
TOTAL = r"\NUMA Node Memory(_Total)\Total MBytes"
REQUESTS = r"\Web Service(_Total)\Total Method Requests/sec"
LIFE = r"\SQLServer:Buffer Manager\Page life expectancy"
STEADY = (Phase("ramp-up", START, START + 1195 * SECOND), Phase("steady", START + 1200 * SECOND, START + 7195 * SECOND))


def noise(seed, deviation=1.0):
    return ar1(np.random.default_rng(seed), ROWS, 0.7, deviation)


def reported(columns, phases=()):
    return [trend for trend in find_trends(reviewed(a_log(columns), phases=phases)) if trend.notable]


def test_memory_of_a_process_that_climbs_while_the_load_is_level_is_told_with_its_rate():
    columns = {PRIVATE: MB * (500 + 240 * X + noise(1, 5)), REQUESTS: 200 + noise(2, 10)}
    [signal_trend] = reported(columns)
    assert (signal_trend.name, signal_trend.subject.instance) == ("process.private_bytes", "app")
    slope, low, high = signal_trend.per_hour
    assert slope / MB == pytest.approx(120, rel=0.05)
    assert low < 120 * MB < high
    assert describe_trend(signal_trend).endswith("while Web requests did not climb.")


LEVEL = 200 + noise(3, 10)
NOT_TOLD = {
    "it climbs with the load": {PRIVATE: MB * (500 + 240 * X), REQUESTS: LEVEL * (1 + 0.5 * X)},
    "a garbage collector frees it": {PRIVATE: MB * (500 + 200 * (X * 9 % 1)), REQUESTS: LEVEL},
    "it is a cache that fills": {PRIVATE: MB * (500 + 300 * (1 - np.exp(-X / 0.2))), REQUESTS: LEVEL},
    "it was allocated once": {PRIVATE: MB * (500 + 300 * (X > 0.4)), REQUESTS: LEVEL},
    "it hardly changes": {PRIVATE: MB * (5000 + 20 * X), REQUESTS: LEVEL},
    "the process was started again": {
        PRIVATE: MB * (500 + 240 * X + noise(4)),
        PROCESS_ID: np.where(X < 0.45, 100, 200),
    },
    "the process of that name is a younger one": {
        PRIVATE: MB * (500 + 240 * X + noise(4)),
        AGE: np.where(X < 0.55, 9000 + 7200 * X, 7200 * (X - 0.55)),
    },
}


@pytest.mark.parametrize("why", NOT_TOLD)
def test_memory_of_a_process_that_does_not_leak_is_not_told(why):
    assert not reported(NOT_TOLD[why])


def test_only_the_steady_phase_is_looked_at():
    ramp = np.minimum(np.arange(ROWS) / 240, 1)
    level, climbing = MB * (300 + 400 * ramp + noise(5)), MB * (300 + 400 * ramp + 60 * X + noise(6))
    assert not reported({PRIVATE: level, REQUESTS: 200 * ramp + 1}, STEADY)
    [signal_trend] = reported({PRIVATE: climbing, REQUESTS: 200 * ramp + 1}, STEADY)
    assert signal_trend.phase == "steady"
    assert signal_trend.start == STEADY[1].start


def test_memory_that_runs_out_is_told_with_the_time_left():
    left = 1800 - 1000 * X  # of 8 GB: a tenth, at least, is reached 65 s before the end; a twentieth later
    columns = {AVAILABLE: MB * (left + noise(7, 5)), TOTAL: np.full(ROWS, 8192.0), REQUESTS: LEVEL}
    [signal_trend] = reported(columns)
    assert signal_trend.movement == "falls"
    assert signal_trend.limit is not None
    assert signal_trend.limit.track is not None
    assert signal_trend.reaches_s is not None
    limit = signal_trend.limit.track.healthy.limit / MB
    best, early, late = signal_trend.reaches_s
    assert best == pytest.approx((800 - limit) / 1000 * 7200, rel=0.1)
    assert early < best < late
    assert "At this rate it would reach its limit of" in describe_trend(signal_trend)


def test_page_life_that_rises_is_told_and_so_is_one_that_stays_low():
    [rising] = reported({LIFE: 600 + 7200 * X})
    assert (rising.movement, rising.per_hour[0]) == ("climbs", pytest.approx(3600))
    [low] = reported({LIFE: 900 + noise(8, 60)})
    assert low.movement == "none"
    assert "no climb" in describe_trend(low)
    assert describe_trend(low).endswith("it should be above 3,600 s.")
    assert not reported({LIFE: 90_000 + noise(9, 1000)})


def days(leak_per_hour, recorded=True, count=3):
    """The handles of a process that grow with a daily load, and leak."""
    rng = np.random.default_rng(8)
    hours = np.arange(count * 1440) / 60
    load = 200 * (0.3 + np.clip(np.sin((hours - 6) / 24 * 2 * np.pi), 0, None)) * (1 + ar1(rng, len(hours), 0.9, 0.08))
    handles = 1500 + 4 * load + leak_per_hour * hours + ar1(rng, len(hours), 0.95, 15)
    columns = {r"\Process(app)\Handle Count": handles.round()} | ({REQUESTS: load} if recorded else {})
    return [trend for trend in find_trends(reviewed(a_log(columns, interval_s=60))) if trend.notable]


@pytest.mark.parametrize("recorded", [True, False], ids=["load recorded", "load not recorded"])
def test_a_leak_under_a_daily_load_is_told_and_the_load_is_none(recorded):
    [signal_trend] = days(5, recorded)
    assert signal_trend.per_hour[0] == pytest.approx(5, rel=0.1)
    assert days(0, recorded) == []
