"""Old limits beside current limits: which of them count, which have severity info, and where both are shown."""

import json

import pytest

from plimsoll.rules.load import load

MB = 2**20
NIC = r"\Network Interface(Intel X550)"
ERRORS = {rf"{NIC}\Packets Outbound Errors": 0, rf"{NIC}\Packets Received Errors": lambda second: second // 60}
QUEUE = {r"\PhysicalDisk(0 C:)\Avg. Disk Queue Length": 9}


@pytest.fixture
def reviewed(plimsoll, tmp_path):
    """Reviews a log of 30 minutes in which a counter keeps its value or follows the time; the JSON, and what was printed."""

    def review(counters, *options, settings=""):
        rows = [",".join(['"(PDH-CSV 4.0) (UTC)(0)"', *(f'"\\\\WEB1{path}"' for path in counters)])]
        for second in range(0, 1800, 10):
            stamp = f"01/15/2026 10:{second // 60:02}:{second % 60:02}.000"
            rows.append(",".join(f'"{cell}"' for cell in (stamp, *(_at(one, second) for one in counters.values()))))
        (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        (tmp_path / "plimsoll.toml").write_text(settings, encoding="utf-8")
        done = plimsoll("review", tmp_path / "log.csv", "--details", *options, "--json", tmp_path / "out.json")
        assert done.status == 0, done.err
        return json.loads((tmp_path / "out.json").read_text(encoding="utf-8")), done.out

    return review


def _at(value, second):
    return value(second) if callable(value) else value


def of(found, rule):
    (one,) = [one for one in found["rules"] if one["rule"] == rule]
    return one


def test_a_damaged_packet_now_and_then_is_a_note_where_their_rate_is_judged(reviewed):
    found, out = reviewed(ERRORS)
    old = of(found, "network-errors")
    assert (old["state"], old["severity"]) == ("crossed", "info")
    assert old["superseded_by"] == ["windows-network-outbound-errors", "windows-network-received-errors"]
    assert "not counted: windows-network-outbound-errors, windows-network-received-errors judge" in old["notes"][0]
    assert not out.startswith("Not healthy.")


def test_so_it_does_where_plimsoll_toml_sets_its_limit(reviewed):
    found, out = reviewed(ERRORS, settings='[rules.network-errors]\nhealthy = "<= 2"\nreason = "ours"\n')
    assert of(found, "network-errors")["severity"] == "warning"
    assert out.startswith("Not healthy.")


def test_where_no_rule_of_today_was_judged_an_old_one_is_a_note_all_the_same(reviewed):
    found, _ = reviewed(QUEUE)
    old = of(found, "disk-queue-per-spindle")
    assert (old["state"], old["severity"]) == ("crossed", "info")
    assert old["notes"][0] == (
        "an old limit, not counted: current limits are those of windows-disk-read-latency, windows-disk-write-latency "
        "and 3 more, which were not judged"
    )
    assert "Disk queue" not in found["headline"]


SPINDLES = '[hosts.WEB1.instances."0 C:"]\nspindles = 2\n'


def test_it_counts_for_a_disk_that_has_spindles(reviewed):
    found, out = reviewed(QUEUE, settings=SPINDLES)
    assert of(found, "disk-queue-per-spindle")["severity"] == "warning"
    assert out.startswith("Not healthy. Disk queue length of WEB1, 0 C: stayed at 9 requests (1 min mean) throughout")


def test_no_headline_quotes_a_note(reviewed):
    well = {
        r"\Memory\Available MBytes": lambda second: 8000 + second % 30,
        r"\PhysicalDisk(0 C:)\Avg. Disk sec/Transfer": 0.002,
    }
    found, _ = reviewed(QUEUE | well | {r"\Processor(_Total)\% Processor Time": 20})
    assert of(found, "disk-queue-per-spindle")["state"] == "crossed"
    assert found["headline"].startswith("Healthy. ")
    assert "Disk" not in found["headline"]


def test_transfers_of_a_disk_whose_spindles_nobody_counted_are_no_note(reviewed):
    transfers = {rf"\PhysicalDisk(0 C:)\Disk {name}/sec": 9000 for name in ("Reads", "Writes")}
    assert of(reviewed(transfers)[0], "disk-transfers-per-spindle")["state"] == "does-not-apply"
    assert of(reviewed(transfers, settings=SPINDLES)[0], "disk-transfers-per-spindle")["state"] == "crossed"


def test_a_disk_whose_latency_is_judged_is_not_judged_by_its_queue(reviewed):
    latency = {rf"\PhysicalDisk(0 C:)\Avg. Disk sec/{name}": 0.002 for name in ("Read", "Write")}
    found, out = reviewed(QUEUE | latency, settings=SPINDLES)
    assert of(found, "disk-queue-per-spindle")["severity"] == "info"
    assert of(found, "disk-transfers-per-spindle")["state"] == "does-not-apply"
    assert not out.startswith("Not healthy.")


def test_another_disk_still_is(reviewed):
    latency = {rf"\PhysicalDisk(1 D:)\Avg. Disk sec/{name}": 0.002 for name in ("Read", "Write")}
    _, out = reviewed(QUEUE | latency, settings=SPINDLES)
    assert out.startswith("Not healthy. Disk queue length of WEB1, 0 C:")


def test_an_old_limit_stands_in_the_group_of_its_signal_with_its_value(reviewed, tmp_path):
    found, out = reviewed({r"\Memory\Available Bytes": 100 * MB}, "--out", tmp_path / "report.html")
    (group,) = found["groups"]
    assert group["severity"] == "critical"
    assert group["not_counted"] == ["memory-available"]
    assert "memory-available" not in group["rules"]
    assert "    Old limits, not counted: memory-available (> 4 MB) within limits\n" in out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (
        "memory-available (&gt; 4 MB, Site Server Membership Directory) within limits, lowest 1 min mean 100 MB" in page
    )


def test_an_old_limit_of_which_those_of_today_held_stands_behind_the_answer(reviewed):
    """Context switches have severity info; the disk is judged by its latency."""
    disk = {rf"\PhysicalDisk(0 C:)\Avg. Disk sec/{name}": 0.002 for name in ("Read", "Write")}
    disk |= {rf"\PhysicalDisk(0 C:)\Disk {name}/sec": 9000 for name in ("Reads", "Writes")}
    well = {r"\Memory\Available MBytes": 8000, r"\Processor(_Total)\% Processor Time": 75}
    switches = {r"\System\Context Switches/sec": 20_000}
    many = "[hosts.WEB1]\nprocessors = 16\n"
    found, out = reviewed(disk | well | switches, settings=SPINDLES + many)
    assert [(one["signal"], one["severity"]) for one in found["groups"]] == [("cpu.context_switches", "info")]
    assert of(found, "disk-transfers-per-spindle")["state"] == "crossed"
    assert "Crossed: nothing; 1 note (info) · " in out
    assert "Old limits, not counted: disk-transfers-per-spindle (< 120 /s) crossed, 18,000 /s" in out


def test_what_supersedes_is_a_rule_of_today():
    rules = load().rules
    named = {name for rule in rules.values() for name in rule.superseded_by}
    assert named
    assert [name for name in named if name not in rules or not rules[name].limits] == []
