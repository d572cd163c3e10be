"""Times without answers: a run in which users wait is worse, even if its steady state became short."""

import json

import numpy as np
import pytest

MINUTES, USERS, RATE = 30, 100, 5.0  # requests/s at full load
RAMP_S = 120
START_S = 1_741_680_000
STOPS = {"two minutes": (13, 15), "a quarter": (15, 22.5), "most of it": (6, 28), "the end": (20, 30)}


def requests(seed, unanswered=(0, 0)):
    """When requests were sent (s), and how long they took (ms): none is answered in these minutes."""
    rng = np.random.default_rng(seed)
    sent = np.sort(rng.uniform(0, 60 * MINUTES, rng.poisson(60 * MINUTES * RATE)))
    kept = rng.random(len(sent)) < sent / RAMP_S
    kept &= (sent < 60 * unanswered[0]) | (sent >= 60 * unanswered[1])
    return sent[kept], rng.lognormal(np.log(120), 0.3, int(kept.sum()))


def k6(folder, seed, unanswered=(0, 0), away=(0, 0)):
    """What k6 writes: each request, and the users every five seconds, who are away in these minutes."""
    rows = [
        (START_S + at, f"http_req_duration,{START_S + at:.0f},{took:.2f},view,200")
        for at, took in zip(*requests(seed, unanswered), strict=True)
    ]
    for at in range(0, 60 * MINUTES, 5):
        users = 0 if 60 * away[0] <= at < 60 * away[1] else round(USERS * min(1, (at + 1) / RAMP_S))
        rows.append((START_S + at, f"vus,{START_S + at},{users},,"))
    lines = ["metric_name,timestamp,metric_value,name,status", *(line for _, line in sorted(rows))]
    folder.mkdir()
    (folder / "k6.csv").write_text("\n".join(lines))
    return folder


def jmeter(folder, seed, unanswered=(0, 0)):
    """What JMeter writes: each request with the users then."""
    lines = ["timeStamp,elapsed,label,responseCode,success,allThreads"]
    for at, took in zip(*requests(seed, unanswered), strict=True):
        users = max(1, round(USERS * min(1, at / RAMP_S)))
        lines.append(f"{1000 * (START_S + at):.0f},{took:.0f},view,200,true,{users}")
    folder.mkdir()
    (folder / "results.jtl").write_text("\n".join(lines))
    return folder


@pytest.fixture
def compare(tmp_path, plimsoll):
    """Compares two folders; the answer."""

    def run(first, second):
        assert plimsoll("compare", first, second, "--json", tmp_path / "json").status == 0
        return json.loads((tmp_path / "json").read_text())["comparisons"][0]["answer"]

    return run


@pytest.mark.parametrize("stop", STOPS)
def test_a_run_that_answered_nothing_for_minutes_is_worse(stop, compare, tmp_path):
    assert compare(k6(tmp_path / "a", 1), k6(tmp_path / "b", 2, STOPS[stop])) == "worse"


def test_so_it_is_where_the_users_are_not_known_meanwhile(compare, tmp_path):
    assert compare(jmeter(tmp_path / "a", 1), jmeter(tmp_path / "b", 2, (13, 15))) == "worse"


def test_a_pause_of_the_users_and_what_the_baseline_has_too_are_not(compare, tmp_path):
    usual = k6(tmp_path / "a", 1, (8, 11))
    assert compare(usual, k6(tmp_path / "b", 2, (15, 18))) != "worse"
    assert compare(k6(tmp_path / "c", 3), k6(tmp_path / "d", 4, (13, 16), away=(13, 16))) != "worse"


def closed(folder, seed, took_ms, pause_ms):
    """What JMeter writes of users who each wait for an answer and pause before the next request."""
    rng = np.random.default_rng(seed)
    count = int(MINUTES * 60_000 / (took_ms + pause_ms))
    took, paused = (
        rng.normal(took_ms, took_ms / 10, (USERS, count)),
        rng.normal(pause_ms, pause_ms / 10, (USERS, count)),
    )
    begun = np.cumsum(took + paused, axis=1) - took - paused + rng.uniform(0, took_ms + pause_ms, (USERS, 1))
    order = np.argsort(begun, axis=None)
    rows = zip(begun.ravel()[order], took.ravel()[order], strict=True)
    lines = [f"{1000 * START_S + at:.0f},{ms:.0f},view,200,true,{USERS}" for at, ms in rows]
    folder.mkdir()
    (folder / "results.jtl").write_text("\n".join(["timeStamp,elapsed,label,responseCode,success,allThreads", *lines]))
    return folder


@pytest.mark.parametrize(
    ("took_ms", "pause_ms", "expected"),
    [(150, 11_850, "unknown"), (4_150, 7_850, "worse")],
    ids=["users pause longer", "users wait longer"],
)
def test_only_users_who_wait_longer_are_lost_throughput(took_ms, pause_ms, expected, compare, tmp_path):
    usual = closed(tmp_path / "a", 1, 150, 7_850)
    assert compare(usual, closed(tmp_path / "b", 2, took_ms, pause_ms)) == expected
