"""The wording of a verdict: often crossed, closest to its limit, groups, coverage, doubts."""

import json
from xml.etree.ElementTree import fromstring

import pytest

CPU = r"Processor(_Total)\% Processor Time"
SWITCHES = r"System\Context Switches/sec"
DAMAGED = "(is damaged: it ends too soon; copy or compress it again)"
PRIVILEGED = r"Processor(_Total)\% Privileged Time"
LIFE = r"SQLServer:Buffer Manager\Page life expectancy"


@pytest.fixture
def write(tmp_path):
    """Writes the log of a host, a row every 10 s: its columns are lists of values."""

    def call(columns, host="WEB01", day=15, name=None):
        rows = [",".join(['"(PDH-CSV 4.0) (UTC)(0)"', *(rf'"\\{host}\{path}"' for path in columns)])]
        for at, values in enumerate(zip(*columns.values(), strict=True)):
            minute, second = divmod(at * 10, 60)
            hour, minute = divmod(minute, 60)
            stamp = f'"01/{day}/2008 {10 + hour:02}:{minute:02}:{second:02}.000"'
            rows.append(",".join([stamp, *(f'"{value}"' for value in values)]))
        path = tmp_path / f"{name or host}.csv"
        path.write_text("\r\n".join(rows) + "\r\n")
        return path

    return call


@pytest.fixture
def reviewed(plimsoll, write, tmp_path):
    """Reviews hosts by their columns: the outcome, the JSON and the JUnit."""

    def call(hosts, *arguments, toml=""):
        for host, columns in hosts.items():
            write(columns, host)
        if toml:
            (tmp_path / "plimsoll.toml").write_text(toml)
        out, junit = tmp_path / "r.json", tmp_path / "r.xml"
        done = plimsoll("review", tmp_path, "--details", "--json", out, "--junit", junit, *arguments)
        return done, json.loads(out.read_text()), fromstring(junit.read_bytes())

    return call


def the_rule(found, name):
    (rule,) = [rule for rule in found["rules"] if rule["rule"] == name]
    return rule


def well(rows):
    """Memory and a disk that are well, without which a host is not known to be healthy."""
    memory = [8000 + at % 3 for at in range(rows)]  # of a running host not all stands still
    return {r"Memory\Available MBytes": memory, r"PhysicalDisk(0 C:)\Avg. Disk sec/Transfer": [0.002] * rows}


# Above 80 % for most of an hour, but never for five minutes on end.
SAW = ([88] * 28 + [20] * 8) * 10


def test_time_over_the_limit_counts_though_it_never_lasts(reviewed):
    done, found, cases = reviewed({"WEB01": {CPU: SAW}}, "--fail-on", "warning")
    assert done.status == 1
    assert found["headline"] == (
        "Not healthy. Processor time of WEB01 went above its limit for 62.8 % of the run, never for 5 min on end, "
        "at worst 88 % (1 min mean); it should stay below 80 %."
    )
    rule = the_rule(found, "cpu-busy")
    assert (rule["state"], rule["severity"], rule["breaches"]) == ("often-crossed", "warning", [])
    assert rule["share_of_time"] == pytest.approx(226 / 360)
    assert rule["crossed_s"] == 2260
    assert (found["verdict"], found["counts"]["often-crossed"], found["counts"]["warning"]) == ("not-healthy", 1, 1)
    assert cases.find(".//testcase[@name='cpu-busy on WEB01']/failure") is not None
    assert "    62.8 % of the time: 2008-01-15" in done.out


@pytest.mark.parametrize(
    ("columns", "toml", "state"),
    [
        ([88] * 28 + [20] * 300, "", "held"),  # never five minutes in total
        (([88] * 28 + [20] * 300) * 2, "", "held"),  # 9 % of the time
        (([88] * 28 + [20] * 200) * 2, "", "often-crossed"),  # 12 %
        (([88] * 28 + [20] * 200) * 2, 'often = "20 %"', "held"),
        (([88] * 28 + [20] * 300) * 2, 'often = "5 %"', "often-crossed"),
    ],
)
def test_often_is_for_in_total_and_a_tenth_of_the_judged_time(columns, toml, state, reviewed):
    toml = f'[rules.cpu-busy]\nreason = "x"\n{toml}\n' if toml else ""
    _, found, _ = reviewed({"WEB01": {CPU: columns}}, toml=toml)
    assert the_rule(found, "cpu-busy")["state"] == state


@pytest.mark.parametrize("often", ["0 %", "120 %", "10", "never"])
def test_a_share_that_is_none_is_refused(often, reviewed, plimsoll, write, tmp_path):
    write({CPU: SAW})
    (tmp_path / "plimsoll.toml").write_text(f'[rules.cpu-busy]\noften = "{often}"\nreason = "x"\n')
    done = plimsoll("review", tmp_path, "--details")
    assert done.status == 2
    assert f'"{often}" is not a share of the time; write it like "10 %", above 0 and up to 100' in done.err


def test_recover_keeps_an_alert_and_adds_no_time_past_the_limit(plimsoll, write, tmp_path):
    """90 s at 95, then an hour at 85: below the limit of 90, above recovery at 80."""
    pack = tmp_path / "own.yaml"
    pack.write_text(
        "pack: own\ntitle: Own\nabout: x\nrules:\n  - {id: busy, signal: cpu.busy, healthy: '< 90', recover: '< 80', "
        "over: 10s, for: 1m, severity: warning, summary: s, sources: [{document: d, place: p}]}\n"
    )
    log = write({CPU: [20] * 30 + [95] * 9 + [85] * 360})
    plimsoll("review", log, "--only", pack, "--json", tmp_path / "r.json")
    rule = the_rule(json.loads((tmp_path / "r.json").read_text()), "busy")
    (breach,) = rule["breaches"]
    assert (breach["duration_s"], breach["worst"], rule["crossed_s"]) == (70, 95, 80)


def test_rules_about_one_signal_are_one_group(reviewed):
    done, found, _ = reviewed({"SQL01": {LIFE: [900] * 400}}, "--steady", "10:00/11:06", "--pack", "sql-server")
    assert found["headline"] == (
        "Not healthy. Page life expectancy of SQL01 stayed at 900 s (1 h maximum) throughout the steady phase; it should stay above 1,100 s."
    )
    assert "\nCrossed: 1 critical · " in done.out
    (group,) = found["groups"]
    assert (group["signal"], group["severity"]) == ("sql.page_life_expectancy", "critical")
    assert group["rules"][0] == "sql-page-life-maximum"
    assert len(group["rules"]) > 1
    assert done.out.count("◆ critical") == 1


def test_a_rule_crossed_on_many_hosts_is_one_line(reviewed):
    hosts = {f"WEB{at:02}": {CPU: [85 + (at == 7)] * 60} for at in range(1, 21)}
    done, found, _ = reviewed(hosts)
    assert found["headline"] == (
        "Not healthy. Processor time crossed its limit on 20 of 20 hosts, worst on WEB07, where it stayed at 86 % "
        "(1 min mean) throughout; it should stay below 80 %."
    )
    assert "Crossed: 1 warning · 60 of 1,360 thresholds that apply to 20 hosts were judged" in done.out
    assert done.out.count("▲ warning") == 1
    assert len(done.out.splitlines()) < 30


def test_closest_is_no_rule_whose_other_condition_is_false(reviewed):
    """500 pages a second are past their limit, which holds only where memory is short; 30 % CPU came closest."""
    columns = {
        CPU: [30] * 60,
        r"Server Work Queues(0)\Queue Length": [9] * 60,
        r"Processor(0)\% Processor Time": [30] * 60,
    }
    done, found, _ = reviewed({"SRV01": columns | well(60)})
    assert "closest was Processor time" in found["headline"]
    assert the_rule(found, "server-work-queue")["state"] == "held"
    held = done.out.partition("\nWithin limits, least room first\n")[2].partition("\nNot ")[0]
    assert "Server work queue" not in held
    assert "SMB work queue" in held, "another rule, which has no other condition"


def test_closest_is_what_has_the_least_room_left(reviewed):
    """A hit ratio of 99.9 % can hardly be better, although it is only a ninth above its limit of 90 %."""
    ratio = [99.9 - at % 2 / 100 for at in range(120)]
    columns = {CPU: [40 + at % 3 for at in range(120)], r"SQLServer:Buffer Manager\Buffer cache hit ratio": ratio}
    _, found, _ = reviewed({"SQL01": columns | well(120)})
    assert "closest was Processor time" in found["headline"]
    _, found, _ = reviewed({"SQL01": columns | {r"LogicalDisk(C:)\% Free Space": [25] * 120} | well(120)})
    assert "closest was Free space" in found["headline"], "25 % of which 10 % may not be used"


def test_brief_crossings_are_closest_and_listed_with_their_times(reviewed):
    done, found, _ = reviewed(
        {"WEB01": {CPU: [20] * 60 + [88] * 12 + [20] * 200, SWITCHES: [14_900] * 272, **well(272)}}
    )
    assert found["headline"] == (
        "Healthy. Every judged warning and critical threshold held; closest was Processor time of WEB01, which "
        "went above its limit for 2 min, at worst 88 % (1 min mean); it should stay below 80 %, and a crossing counts "
        "after 5 min."
    )
    assert "      crossed: 2008-01-15 10:09:50–10:11:50 (2 min)" in done.out.splitlines()
    (span,) = the_rule(found, "cpu-busy")["brief_crossings"]["spans"]
    assert span["start"] == "2008-01-15T10:11:00.000Z"  # the evaluation


def test_coverage_says_why_the_rest_was_not_judged(reviewed):
    columns = {LIFE: [5000] * 60, r"PhysicalDisk(0 C:)\Disk Reads/sec": [1] * 60, CPU: [20] * 60}
    toml = '[rules.cpu-busy]\noff = true\nreason = "x"\n'
    done, found, _ = reviewed({"SQL01": columns}, toml=toml)
    coverage = found["coverage"]
    assert coverage["judged"] + sum(one["count"] for one in coverage["unjudged"]) == coverage["thresholds"]
    assert {"count": 3, "why": "needs", "needs": 'drive = "database"'} in coverage["unjudged"]
    assert '4 need drive = "database", memory_mb in plimsoll.toml' in coverage["text"]
    assert coverage["text"].endswith("1 is switched off")
    assert coverage["text"] in done.out


def test_a_host_recorded_too_briefly_is_not_known(reviewed):
    done, found, cases = reviewed({"WEB01": {CPU: [20] * 360}, "WEB02": {CPU: [20] * 6}}, "--fail-on", "warning")
    assert done.status == 2
    assert found["headline"] == (
        "Not known. 3 warning and critical thresholds held, but WEB02 was recorded only until 59 min before the end of the run. The "
        "recording of WEB02 is too short, or lacks data, for all 3 warning and critical thresholds whose counters were "
        "recorded; record for 6 min or longer."
    )
    error = cases.find("testsuite[@name='verdict']/testcase/error")
    assert error is not None
    assert cases.get("errors") == "1"


def test_a_host_of_which_half_could_not_be_judged_is_not_known(reviewed):
    """Nine minutes of all but one resource: three of six thresholds could not have fired."""
    toml = '[rules.sql-page-life-maximum]\nfor = "1m"\nreason = "x"\n'
    _, found, _ = reviewed({"SQL01": {CPU: [20] * 6 + [""] * 48, LIFE: [5000] * 54}}, toml=toml)
    assert found["verdict"] == "unknown"
    assert "for 3 of the 6 warning and critical thresholds whose counters were recorded" in found["headline"]


def test_where_few_could_not_be_judged_the_headline_names_them(reviewed):
    """Nine minutes are enough for rules of five minutes, and too short for rules of twenty."""
    columns = {CPU: [20] * 54, SWITCHES: [900] * 54, LIFE: [5000] * 54, **well(54)}
    _, found, _ = reviewed({"SQL01": columns}, "--pack", "sql-server")
    assert found["verdict"] == "healthy"
    assert "Too little was recorded to judge Page life expectancy (sql-page-life-maximum)." in found["headline"]


def test_a_window_that_was_never_full_is_not_named_so(reviewed):
    """Three minutes of processor time, judged by the mean over five minutes."""
    done, _, _ = reviewed({"WEB01": {r"Processor(0)\% Processor Time": [99] * 18}}, "--pack", "operating-system")
    assert "highest mean of up to 2 min 50 s 99 %" in done.out
    assert "5 min mean" not in done.out


def test_a_recording_that_cannot_be_read_leaves_nothing_known(reviewed, tmp_path):
    (tmp_path / "WEB02.csv.gz").write_bytes(b"\x1f\x8b\x08\x00damaged")
    done, found, cases = reviewed({"WEB01": {CPU: [20] * 60}}, "--fail-on", "critical")
    assert done.status == 2
    assert (
        found["headline"]
        == f"Not known. 3 warning and critical thresholds held, but WEB02.csv.gz could not be read {DAMAGED}."
    )
    assert (
        f"plimsoll: --fail-on cannot say that the run was good: WEB02.csv.gz could not be read {DAMAGED}." in done.err
    )
    error = cases.find("testsuite[@name='verdict']/testcase/error")
    assert error is not None
    assert error.get("message") == f"WEB02.csv.gz could not be read {DAMAGED}."


def test_a_host_without_a_log_leaves_nothing_known(reviewed):
    toml = '[run]\nhosts = ["WEB01", "WEB02"]\n[hosts.DB01]\nprocessors = 4\n'
    _, found, _ = reviewed({"WEB01": {CPU: [20] * 60}}, toml=toml)
    assert found["headline"] == (
        "Not known. 3 warning and critical thresholds held, but no log has 2 hosts (WEB02, DB01), which plimsoll.toml names."
    )


def test_what_is_crossed_goes_before_doubts_and_both_are_said(reviewed):
    toml = '[run]\nhosts = ["WEB02"]\n'
    done, found, _ = reviewed({"WEB01": {CPU: [88] * 60}}, "--fail-on", "critical", toml=toml)
    assert found["verdict"] == "not-healthy"
    assert found["headline"].endswith("it should stay below 80 %. No log has WEB02, which plimsoll.toml names.")
    assert done.status == 2  # no critical threshold was crossed, but of WEB02 nothing is known


@pytest.mark.parametrize(
    ("services", "state"),
    [(("SQLServer",), "crossed"), (("MSSQL$PROD",), "crossed"), (("MSSQL$PROD", "MSSQL$TEST"), "held")],
)
def test_a_disk_is_joined_with_the_one_database_server_of_its_host(services, state, reviewed):
    """Bursts of reads while pages live short: too little memory, however the instance of SQL Server is called."""
    toml = '[hosts.SQL01.instances."1 D:"]\ndrive = "database"\n'
    columns = {rf"{name}:Buffer Manager\Page life expectancy": [4000] * 120 + [1000] * 240 for name in services}
    columns[r"PhysicalDisk(1 D:)\Disk Reads/sec"] = [1] * 120 + [400] * 8 + [1] * 232
    _, found, _ = reviewed({"SQL01": columns}, toml=toml)
    assert the_rule(found, "sql-database-read-peaks")["state"] == state


@pytest.mark.parametrize(
    ("facts", "severity"),
    [("", "info"), ("clock_mhz = 200\nprocessors = 4", "warning"), ("clock_mhz = 200\nprocessors = 16", "info")],
)
def test_context_switches_alone_are_a_note_on_hosts_unlike_those_they_were_measured_on(facts, severity, reviewed):
    toml = f"[hosts.WEB01]\n{facts}\n" if facts else ""
    _, found, _ = reviewed({"WEB01": {SWITCHES: [20_000] * 60, CPU: [65] * 60}}, toml=toml)
    rule = the_rule(found, "context-switches")
    assert (rule["state"], rule["severity"]) == ("crossed", severity)
    assert found["verdict"] == ("not-healthy" if severity == "warning" else "unknown")


def test_a_host_whose_log_ends_in_trouble_leaves_nothing_known(reviewed):
    """It may have failed because of it: four minutes at 99 %, and the other host goes on for an hour."""
    _, found, _ = reviewed({"APP01": {CPU: [20] * 360}, "APP03": {CPU: [20] * 75 + [99] * 25}})
    assert found["verdict"] == "unknown"
    assert (
        "but Processor time of APP03 stood above its limit of 80 % when its samples ended, 43 min" in found["headline"]
    )


def test_samples_that_end_soon_before_the_others_are_no_reason_for_doubt(reviewed):
    """Two minutes at 99 %, and an end three and a half minutes before the run's: less than half of five minutes."""
    _, found, _ = reviewed(
        {"APP01": {CPU: [20] * 360, **well(360)}, "APP03": {CPU: [20] * 327 + [99] * 12, **well(339)}}
    )
    assert found["verdict"] == "healthy"


@pytest.mark.parametrize("rows", [90, 220])
def test_what_was_recorded_for_less_than_half_of_the_run_is_said(rows, reviewed):
    columns = {CPU: [20] * 360, PRIVILEGED: [5] * rows + [""] * (360 - rows), **well(360)}
    _, found, _ = reviewed({"WEB01": columns})
    assert found["verdict"] == "healthy"
    headline_part = "Judged for less than half of the run: Privileged time of WEB01 (16 min of 59 min 50 s)."
    assert (headline_part in found["headline"]) == ("Judged for less" in found["headline"]) == (rows == 90)


@pytest.mark.parametrize("counter", ["Outbound", "Received"])
def test_one_counter_of_errors_is_enough_to_find_them(counter, reviewed):
    path = rf"Network Interface(NIC)\Packets {counter} Errors"
    done, found, _ = reviewed({"WEB01": {CPU: [20] * 360, path: range(360)}}, "--pack", "network")
    assert the_rule(found, "network-errors")["state"] == "crossed"
    assert done.out.startswith("Not healthy. Packets with errors of WEB01, NIC")


def test_the_worst_value_of_what_should_be_zero_is_the_furthest_from_it(reviewed):
    grants = r"SQLServer:Memory Manager\Memory Grants Pending"
    _, found, _ = reviewed({"SQL01": {LIFE: [5000] * 360, grants: [0] * 120 + [2] * 60 + [7] * 60 + [0] * 120}})
    ((breach),) = the_rule(found, "sql-memory-grants-pending")["breaches"]
    assert breach["worst"] == 7


@pytest.mark.parametrize(("end", "state"), [("10:04:50", "often-crossed"), ("10:05:00", "crossed")])
def test_the_end_of_the_chosen_part_is_judged(end, state, reviewed):
    """A load of five minutes is crossed at the last evaluation of the part, not before."""
    _, found, _ = reviewed({"WEB01": {CPU: [95] * 360}}, "--to", end)
    assert the_rule(found, "cpu-busy")["state"] == state


def test_a_load_before_a_pause_lasts_as_long_as_its_window(plimsoll, tmp_path):
    """With a sample every hour the window is two hours long, so a load lasts two hours after its last sample."""
    hours = [*range(8), *range(16, 24)]
    rows = [
        rf'"(PDH-CSV 4.0) (UTC)(0)","\\WEB01\{CPU}"',
        *(f'"01/15/2008 {hour:02}:00:00.000","{95 if 4 <= hour < 8 else 20}"' for hour in hours),
    ]
    (tmp_path / "log.csv").write_text("\r\n".join(rows) + "\r\n")
    plimsoll("review", tmp_path / "log.csv", "--json", tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text())
    ((breach),) = the_rule(found, "cpu-busy")["breaches"]
    assert breach["end"].startswith("2008-01-15T09:00:00")


def test_of_hosts_that_are_sick_for_about_as_long_the_one_with_the_worse_value_is_the_worst(reviewed):
    sick = {"APP01": [20] * 100 + [84] * 100 + [20] * 160, "APP02": [20] * 102 + [97] * 98 + [20] * 160}
    _, found, _ = reviewed({host: {CPU: cpu, **well(360)} for host, cpu in sick.items()})
    assert "worst on APP02, where it went above its limit for 16 min" in found["headline"]


def test_of_two_nights_in_a_folder_the_newest_is_judged_and_the_other_named(write, plimsoll, tmp_path):
    busy, idle = {CPU: [97] * 200}, {CPU: [7] * 200}
    for day, columns, name in ((14, busy, "a"), (15, idle, "b"), (14, idle, "c")):
        write(columns, "WEB01" if name != "c" else "WEB02", day, name)
    done = plimsoll("review", tmp_path)
    assert "Not healthy" in done.out  # one host of the first night is not in the second: one run
    (tmp_path / "c.csv").unlink()
    done = plimsoll("review", tmp_path)
    assert "is the newest of 2 recordings, 2008-01-15 10:00:00" in done.out
    assert "the older was not judged" in done.out
    assert "Not healthy" not in done.out
    assert '--from "2008-01-14 10:00:00" --to "2008-01-14 10:33:10"' in done.err
    first = plimsoll("review", tmp_path, "--to", "2008-01-14 10:33:10")
    assert first.out.startswith("Not healthy")
    rows = (tmp_path / "b.csv").read_text().splitlines()
    for name, part in (("b", rows[:90]), ("d", [rows[0], *rows[90:]])):
        (tmp_path / f"{name}.csv").write_text("\n".join(part) + "\n")
    assert "2008-01-15 10:00:00–10:33:10" in plimsoll("review", tmp_path).out
