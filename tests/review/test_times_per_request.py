"""Disk latency is a mean over requests: idle intervals and single slow requests do not decide."""

import json

import pytest

READ, READS = r"\PhysicalDisk(0 C:)\Avg. Disk sec/Read", r"\PhysicalDisk(0 C:)\Disk Reads/sec"
LATENCY, TRANSFERS = r"\PhysicalDisk(0 C:)\Avg. Disk sec/Transfer", r"\PhysicalDisk(0 C:)\Disk Transfers/sec"
WRITES = r"\PhysicalDisk(0 C:)\Disk Writes/sec"
QUEUE, IDLE = r"\PhysicalDisk(0 C:)\Avg. Disk Queue Length", r"\PhysicalDisk(0 C:)\% Idle Time"


@pytest.fixture
def reviewed(plimsoll, tmp_path):
    """Reviews a log of 30 minutes, a row every 10 s, of counters whose values repeat; the rules by name, and the JSON."""

    def review(**counters):
        columns = {{"read": READ, "reads": READS}.get(name, name): values for name, values in counters.items()}
        rows = [",".join(['"(PDH-CSV 4.0) (UTC)(0)"', *(f'"\\\\WEB1{path}"' for path in columns)])]
        for at in range(181):
            stamp = f"01/15/2026 10:{at // 6:02}:{at % 6 * 10:02}.000"
            rows.append(
                ",".join(f'"{cell}"' for cell in (stamp, *(column[at % len(column)] for column in columns.values())))
            )
        (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        done = plimsoll("review", tmp_path / "log.csv", "--details", "--json", tmp_path / "out.json")
        assert done.status == 0, done.err
        loads = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
        return {load["rule"]: load for load in loads["rules"]}, loads

    return review


def test_idle_intervals_do_not_make_a_slow_disk_fast(reviewed):
    """Five of six intervals are idle; each read in the sixth takes 90 ms."""
    rules, result = reviewed(read=[0.09, 0, 0, 0, 0, 0], reads=[30, 0, 0, 0, 0, 0])
    assert result["headline"].startswith(
        "Not healthy. Disk read latency of WEB1, 0 C: stayed at 90 ms (1 min mean) throughout; it should stay at or below 50 ms."
    )
    assert rules["windows-disk-read-latency-critical"]["worst"] == 0.09


def test_a_slow_request_now_and_then_is_no_slow_disk(reviewed):
    """In each minute 300 reads take 2 ms, and a single one half a second."""
    rules, _ = reviewed(read=[0.5, 0.002], reads=[0.1, 60])
    assert rules["windows-disk-read-latency"]["state"] == "held"
    assert 0.002 < rules["windows-disk-read-latency"]["worst"] < 0.005


def test_a_few_requests_are_too_few_to_tell(reviewed):
    """One read of 60 ms in each minute delays nobody."""
    rules, _ = reviewed(read=[0.06, 0, 0, 0, 0, 0], reads=[0.1, 0, 0, 0, 0, 0])
    assert rules["windows-disk-read-latency"]["state"] == "held"


def test_a_disk_that_hangs_does_few_requests_and_each_is_slow(reviewed):
    rules, result = reviewed(read=[9.5], reads=[0.1])
    assert rules["windows-disk-read-latency-critical"]["state"] == "crossed"
    assert result["headline"].startswith(
        "Not healthy. Disk read latency of WEB1, 0 C: stayed at 9.5 s (1 min mean) throughout"
    )


def test_a_disk_without_requests_is_judged(reviewed):
    rules, _ = reviewed(read=[0], reads=[0])
    assert rules["windows-disk-read-latency"]["state"] == "held"
    rules, _ = reviewed(read=[0])
    assert rules["windows-disk-read-latency"]["state"] == "held"


def test_where_the_rate_was_not_recorded_idle_intervals_do_not_count(reviewed):
    rules, _ = reviewed(read=[0.09, 0, 0, 0, 0, 0])
    assert rules["windows-disk-read-latency-critical"]["state"] == "crossed"
    assert rules["windows-disk-read-latency-critical"]["worst"] == 0.09


@pytest.mark.parametrize(
    "recorded", [{TRANSFERS: [0], QUEUE: [32]}, {TRANSFERS: [0], IDLE: [0]}, {READS: [0], WRITES: [0], QUEUE: [32]}]
)
def test_a_disk_that_completes_nothing_while_requests_wait_hangs(recorded, reviewed):
    """Its latency has no value, and says nothing."""
    rules, result = reviewed(**{LATENCY: [0]}, **recorded)
    assert result["headline"].startswith("Not healthy. Disk ")
    assert "of WEB1, 0 C: stayed at 0 /s (1 min mean) throughout" in result["headline"]
    assert rules["windows-disk-latency"]["state"] == "held"


def test_a_disk_that_hangs_for_a_few_minutes_hangs(reviewed):
    """Four minutes of thirty are enough, although the queue is not often too long."""
    hangs = [*[0] * 24, *[40] * 157]
    _, result = reviewed(**{LATENCY: [0.004 * (rate > 0) for rate in hangs], TRANSFERS: hangs, QUEUE: [9]})
    assert result["headline"].startswith("Not healthy. Disk transfers of WEB1, 0 C:")


def test_a_disk_without_requests_for_which_none_waits_does_not_hang(reviewed):
    rules, _ = reviewed(**{LATENCY: [0], TRANSFERS: [0], QUEUE: [0, 0, 0.1], IDLE: [100]})
    assert rules["windows-disk-hangs"]["state"] == "held"
