"""Rules for some hosts, rules on facts, and disks that consist of other disks, as users see them."""

import json

import pytest

MB = 2**20


@pytest.fixture
def log(tmp_path):
    """Writes a log of 20 minutes, a sample every 10 s: constant counters, or one value for each of its halves."""

    def write(interval=10, samples=120, **counters):
        paths = list(counters)
        rows = [",".join(['"(PDH-CSV 4.0) (UTC)(0)"', *(f'"\\\\FS1{path}"' for path in paths)])]
        for at in range(samples):
            second = at * interval
            stamp = f"01/15/2008 {10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000"
            cells = (
                counter if isinstance(counter, int | float) else counter[2 * at // samples]
                for counter in counters.values()
            )
            rows.append(",".join(f'"{cell}"' for cell in (stamp, *cells)))
        (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        return tmp_path / "log.csv"

    return write


@pytest.fixture
def result(plimsoll, tmp_path):
    """What a review with this plimsoll.toml makes of a rule; and what it prints."""

    def review(log, rule, settings="", instance=None, options=()):
        (tmp_path / "plimsoll.toml").write_text(settings, encoding="utf-8")
        done = plimsoll("review", log, "--details", *options, "--json", tmp_path / "out.json")
        assert done.status == 0, done.err
        rules = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["rules"]
        (item,) = [entry for entry in rules if entry["rule"] == rule and instance in (None, entry["instance"])]
        return item, done.out

    return review


def pools(log):
    return log(**{r"\Memory\Pool Nonpaged Bytes": 600 * MB, r"\Server\Pool Nonpaged Failures": 0})


def test_pools_of_a_32_bit_kernel_are_judged_where_there_is_as_little_memory(log, result):
    small = "[hosts.FS1]\nmemory_mb = 4096\n"
    item, out = result(pools(log), "pool-nonpaged", small, options=("--pack", "file-server"))
    assert (item["state"], item["severity"]) == ("crossed", "warning")
    assert out.startswith("Not healthy. Nonpaged pool of FS1")
    item, _ = result(pools(log), "pool-nonpaged", small)
    assert (item["severity"], item["superseded_by"]) == ("info", ["windows-pool-nonpaged"])


def test_they_do_not_apply_to_a_host_with_more(log, result):
    item, out = result(pools(log), "pool-nonpaged", "[hosts.FS1]\nmemory_mb = 16384\n")
    assert item["state"] == "does-not-apply"
    assert (
        item["notes"][0]
        == "it is for hosts with at most 4,096 MB of memory; FS1 has 16,384 MB of memory (plimsoll.toml)"
    )
    assert not out.startswith("Not healthy.")


def test_they_are_a_note_where_nobody_says_how_much_there_is(log, result):
    item, out = result(pools(log), "pool-nonpaged")
    assert (item["state"], item["severity"]) == ("crossed", "info")
    assert item["notes"][0] == (
        "a note only, as memory_mb is not known and it is for hosts with at most 4,096 MB of memory: give it in plimsoll.toml"
    )
    assert not out.startswith("Not healthy")


def test_a_limit_of_ones_own_holds_whatever_the_documented_one_is_for(log, result):
    settings = (
        '[hosts.FS1]\nmemory_mb = 65536\n[rules.pool-nonpaged]\nhealthy = "<= 400000000 bytes"\nreason = "vendor"\n'
    )
    item, _ = result(pools(log), "pool-nonpaged", settings)
    assert (item["state"], item["severity"]) == ("crossed", "warning")


def test_a_rule_for_so_many_processors_is_not_judged_where_that_is_not_known(log, result):
    bytes_sent = {r"\Site Server LDAP Service\Bytes Sent/sec": 600_000}
    item, _ = result(log(**bytes_sent), "ldap-bytes-sent")
    assert item["state"] == "not-judged"
    assert item["notes"][:2] == [
        "processors of FS1 is not known: give it in plimsoll.toml",
        "it is for hosts with 1 processor",
    ]


@pytest.mark.parametrize(
    ("raid", "state", "note"),
    [
        ("", "held", "disk writes counted 1 time: raid is not known"),
        ("raid = 0", "held", "disk writes counted 1 time: raid = 0 (plimsoll.toml)"),
        ("raid = 1", "held", "disk writes counted 2 times: raid = 1 (plimsoll.toml)"),
        ("raid = 10", "held", "disk writes counted 2 times: raid = 10 (plimsoll.toml)"),
        ("raid = 5", "crossed", "disk writes counted 4 times: raid = 5 (plimsoll.toml)"),
    ],
)
def test_a_write_costs_as_many_transfers_as_the_disk_is_made_for(log, result, raid, state, note):
    """100 reads and 60 writes a second are 160, 220 and 340 transfers; four spindles can do 240."""
    disk = "\\PhysicalDisk(2 E:)\\"
    recorded = log(**{disk + "Disk Reads/sec": 100, disk + "Disk Writes/sec": 60})
    settings = f'[hosts.FS1.instances."2 E:"]\nspindles = 4\n{raid}\n'
    item, _ = result(recorded, "disk-transfers-per-spindle", settings)
    assert item["state"] == state
    assert note in item["notes"]


def test_raid_of_a_kind_that_no_study_names_is_a_mistake(log, plimsoll, tmp_path):
    recorded = log(**{"\\System\\Context Switches/sec": 1})
    (tmp_path / "plimsoll.toml").write_text("[hosts.FS1]\nraid = 6\n", encoding="utf-8")
    done = plimsoll("review", recorded, "--details")
    assert (done.status, "hosts.FS1.raid: input should be 0, 1, 5 or 10" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("settings", "state"),
    [("", "not-judged"), ("[hosts.FS1]\nmemory_mb = 4096\n", "crossed"), ("[hosts.FS1]\nmemory_mb = 8192\n", "held")],
)
def test_installed_memory_is_judged_where_it_is_known(log, result, settings, state):
    item, out = result(
        log(samples=150, **{r"\SQLServer:Buffer Manager\Page life expectancy": 9000}), "sql-memory", settings
    )
    assert (item["state"], item["severity"]) == (state, "info")
    if state == "not-judged":
        assert item["notes"] == ["memory_mb of FS1 is not known: give it in plimsoll.toml"]
    assert not out.startswith("Not healthy.")


@pytest.mark.parametrize("interval", [10, 60, 300])
@pytest.mark.parametrize(("second", "state"), [(90_210, "held"), (90_212, "crossed")])
def test_errors_since_boot_count_where_they_grow(log, result, interval, second, state):
    adapter = "\\Network Interface(NIC)\\"
    counters = {adapter + "Packets Outbound Errors": 0, adapter + "Packets Received Errors": (90_210, second)}
    item, _ = result(log(interval=interval, **counters), "network-errors")
    assert item["state"] == state


def test_a_file_server_is_held_against_its_disks_as_a_whole(log, result):
    """Two adapters carry 6 MB/s each, and the disks move 12 MB/s: no single adapter is compared with all disks."""
    adapters = {f"\\Network Interface({name})\\Bytes Total/sec": 6e6 for name in ("one", "two")}
    loopback = {"\\Network Interface(MS TCP Loopback interface)\\Bytes Total/sec": 5e7}
    disks = {"\\PhysicalDisk(_Total)\\Disk Bytes/sec": 12e6, "\\Server\\Bytes Total/sec": 2e7}
    recorded = log(**adapters, **loopback, **disks)
    for rule in ("network-below-disk", "network-above-disk"):
        item, _ = result(recorded, rule)
        assert (item["state"], item["host"], item["instance"]) == ("held", "FS1", None)


def test_a_single_sample_makes_no_run_critical(log, result):
    store = "\\LC:USrv - 00 - DBStore\\USrv - 002 - Queue Latency (msec)"
    recorded = log(interval=60, **{store: 5})
    lines = recorded.read_text(encoding="utf-8").splitlines()
    lines[60] = lines[60].replace('"5"', '"90000"')
    recorded.write_text("\n".join(lines) + "\n", encoding="utf-8")
    item, out = result(recorded, "messaging-db-queue-latency")
    assert item["state"] == "held"
    assert not out.startswith("Not healthy.")


def test_memory_that_windows_records_is_what_a_share_of_it_is_of(log, result):
    memory = {r"\NUMA Node Memory(_Total)\Total MBytes": 65536, r"\Memory\Available MBytes": 3000}
    item, out = result(log(**memory), "windows-memory-available-share")
    assert item["state"] == "crossed"
    assert item["threshold"]["limit"] == pytest.approx(6553.6 * MB)
    assert "65,536 MB of memory (from the log)" in out
    item, _ = result(log(**memory), "windows-memory-available-share", "[hosts.FS1]\nmemory_mb = 65000\n")
    assert item["threshold"]["limit"] == pytest.approx(6500 * MB)
