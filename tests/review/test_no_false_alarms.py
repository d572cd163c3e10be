"""Hosts on which something looks bad and nothing is."""

import json

import pytest

GB = 2**30
CPU = r"\Processor(_Total)\% Processor Time"
LATENCY = r"\PhysicalDisk(0 C:)\Avg. Disk sec/Transfer"
VOLUME = r"\LogicalDisk(E:)"
NIC = r"\Network Interface(vmxnet3 Ethernet Adapter)"


@pytest.fixture
def reviewed(plimsoll, tmp_path):
    """Reviews a log of an hour, a row every 15 s, of constant counters or lists of values; the outcomes by rule."""

    def review(counters):
        rows = [",".join(['"(PDH-CSV 4.0) (UTC)(0)"', *(f'"\\\\WEB1{path}"' for path in counters)])]
        for at in range(240):
            stamp = f"01/15/2026 10:{at // 4:02}:{at % 4 * 15:02}.000"
            cells = (counter[at] if isinstance(counter, list) else counter for counter in counters.values())
            rows.append(",".join(f'"{cell}"' for cell in (stamp, *cells)))
        (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        done = plimsoll("review", tmp_path / "log.csv", "--details", "--json", tmp_path / "out.json")
        assert done.status == 0, done.err
        load = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["rules"]
        return {item["rule"]: item["state"] for item in load}, done.out

    return review


def test_two_bursts_of_an_unbounded_counter_are_brief(reviewed):
    """Each burst alone would keep the mean of five minutes past its limit."""
    pages = [200_000 if at in (100, 117) else 5 for at in range(240)]
    states, _ = reviewed({r"\Memory\Pages/sec": pages, r"\Memory\Available MBytes": 900})
    assert states["windows-paging"] == "held"


@pytest.mark.parametrize(
    ("percent", "megabytes", "warning", "critical"),
    [
        (4.0, 400_000, "held", "held"),  # of 10 TB
        (4.0, 3_000, "crossed", "crossed"),
        (4.0, None, "crossed", "crossed"),
        (3.0, 18, "held", "held"),  # a recovery partition of 600 MB
    ],
)
def test_free_space_is_little_where_percent_and_megabytes_are(percent, megabytes, warning, critical, reviewed):
    counters = {rf"{VOLUME}\% Free Space": percent, CPU: 20}
    states, _ = reviewed(counters | ({rf"{VOLUME}\Free Megabytes": megabytes} if megabytes else {}))
    assert (states["windows-disk-free"], states["windows-disk-free-critical"]) == (warning, critical)


@pytest.mark.parametrize("before", [18, 0])
def test_a_volume_that_is_full_has_a_size_and_what_is_0_of_0_throughout_has_none(before, reviewed):
    percent, megabytes = [before] * 120 + [0] * 120, [1000 * before] * 120 + [0] * 120
    states, _ = reviewed({rf"{VOLUME}\% Free Space": percent, rf"{VOLUME}\Free Megabytes": megabytes, CPU: 20})
    expected = "crossed" if before else "no-data"
    assert {states[name] for name in ("windows-disk-free-critical", "windows-disk-full")} == {expected}


def test_much_is_left_to_commit_on_a_large_host(reviewed):
    share = {r"\Memory\% Committed Bytes In Use": 92}
    large = {r"\Memory\Commit Limit": 512 * GB, r"\Memory\Committed Bytes": 471 * GB}
    states, out = reviewed(share | large | {CPU: 20, LATENCY: 0.002})
    assert states["windows-memory-committed-critical"] == "held"
    assert out.startswith("Healthy.")
    states, out = reviewed(share)
    assert states["windows-memory-committed-critical"] == "crossed"


def test_a_small_guest_has_little_memory_in_health(reviewed):
    states, _ = reviewed({r"\Memory\Available MBytes": 420, r"\Memory\Commit Limit": 3 * GB})
    assert states["windows-memory-available-critical"] == "held"
    assert states["windows-memory-available-small"] == "held"
    states, _ = reviewed({r"\Memory\Available MBytes": 90, r"\Memory\Commit Limit": 3 * GB})
    assert states["windows-memory-available-small"] == "crossed"


def test_a_speed_that_is_passed_is_none(reviewed):
    speed = {rf"{NIC}\Current Bandwidth": 1_000_000_000}
    states, _ = reviewed({rf"{NIC}\Bytes Sent/sec": 1.75 * 125_000_000} | speed)
    assert states["windows-network-sent-critical"] == "held"
    states, _ = reviewed({rf"{NIC}\Bytes Sent/sec": 0.95 * 125_000_000} | speed)
    assert states["windows-network-sent-critical"] == "crossed"


def test_an_error_of_a_night_is_no_broken_cable(reviewed):
    states, _ = reviewed({rf"{NIC}\Packets Outbound Errors": [41 + (at > 90) for at in range(240)]})
    assert states["windows-network-outbound-errors"] == "held"


def test_threads_that_nobody_waits_for_are_no_shortage(reviewed):
    ntds = r"\DirectoryServices(NTDS)"
    threads = {rf"{ntds}\ATQ Threads Total": 64, r"\Processor(0)\% Processor Time": 9}
    states, _ = reviewed(threads | {rf"{ntds}\ATQ Outstanding Queued Requests": 0})
    assert states["ad-threads-critical"] == "held"
    states, _ = reviewed(threads | {rf"{ntds}\ATQ Outstanding Queued Requests": 6})
    assert states["ad-threads-critical"] == "crossed"
