"""`plimsoll review`: what it prints and writes, and its exit status."""

import itertools
import json
import os
from pathlib import Path

import pytest

from plimsoll.demo.runs import write_runs

HEADER = (
    r'"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)",'
    r'"\\WEB01\Processor(_Total)\% Processor Time","\\WEB01\System\Context Switches/sec",'
    r'"\\WEB01\Memory\Available MBytes","\\WEB01\PhysicalDisk(0 C:)\% Idle Time"'
)


def a_log(folder, busy, name="log.csv", minutes=10):
    """A log of CPU every 10 s, with memory and a disk to spare: `busy` gives the percentage of each minute."""
    rows = [HEADER]
    for second in range(0, minutes * 60, 10):
        value = busy(second // 60)
        rows.append(
            f'"01/15/2008 10:{second // 60:02}:{second % 60:02}.000","{value}","900","{8000 + second % 30}","90"'
        )
    path = folder / name
    path.write_text("\r\n".join(rows) + "\r\n")
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return {folder.name: folder for folder in write_runs(tmp_path_factory.mktemp("runs"))}


@pytest.fixture
def crossed(tmp_path):
    return a_log(tmp_path, lambda minute: 88 if 2 <= minute < 9 else 20)


def reviewed(plimsoll, tmp_path, *arguments):
    out = tmp_path / "review.json"
    plimsoll("review", *arguments, "--json", out)
    return json.loads(out.read_text())


def test_the_verdict_comes_first_and_a_breach_says_when_how_long_worst_threshold_and_source(plimsoll, crossed):
    done = plimsoll("review", crossed, "--details")
    assert done.status == 0
    first, *rest = done.out.splitlines()
    assert first == (
        "Not healthy. Processor time of WEB01 went above its limit for 7 min, at worst 88 % (1 min mean); it should stay below 80 %."
    )
    at = next(at for at, line in enumerate(rest) if line.startswith("▲ warning"))
    assert rest[at] == "▲ warning  Processor time · WEB01  88 % (1 min mean), limit < 80 %"
    assert rest[at + 1] == "    2008-01-15 10:01:50–10:08:50 (7 min)"
    assert "Site Server Membership Directory, counter list" in rest[at + 2]


@pytest.mark.parametrize(
    ("fail_on", "status"), [((), 0), (("--fail-on", "warning"), 1), (("--fail-on", "critical"), 0)]
)
def test_exit_status_of_a_crossed_warning(plimsoll, crossed, fail_on, status):
    assert plimsoll("review", crossed, *fail_on).status == status


def test_a_healthy_run_does_not_fail(plimsoll, tmp_path):
    done = plimsoll("review", a_log(tmp_path, lambda minute: 20), "--fail-on", "warning")
    assert done.status == 0
    assert done.out.startswith(
        "Healthy. Every judged warning and critical threshold held; closest was Processor time of WEB01"
    )


def test_a_run_of_which_nothing_could_be_judged_never_passes(plimsoll, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text('"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\Odd\\Thing"\r\n"01/15/2008 10:00:00.000","1"\r\n')
    done = plimsoll("review", log)
    assert done.status == 0
    assert done.out.startswith(
        "Not known. No warning or critical threshold could be judged: the processors, the memory and the disks of H were not judged.\nNext: record "
    )
    done = plimsoll("review", log, "--fail-on", "warning")
    assert done.status == 2
    assert "--fail-on cannot say that the run was good: the processors, the memory and the disks of H were" in done.err


def test_json_has_every_documented_part(plimsoll, tmp_path, crossed):
    found = reviewed(plimsoll, tmp_path, crossed)
    assert found["schema"] == "plimsoll.review/1"
    assert found["verdict"] == "not-healthy"
    log = found["log"]
    assert (log["samples"], log["series"], log["values"], log["missing"]) == (60, 4, 240, 0)
    assert (log["hosts"], log["interval_s"]) == (["WEB01"], 10)
    assert (log["start"], log["end"]) == ("2008-01-15T09:00:00.000Z", "2008-01-15T09:09:50.000Z")
    assert len(log["files"][0]["sha256"]) == 64
    (rule,) = [rule for rule in found["rules"] if rule["state"] == "crossed"]
    assert (rule["rule"], rule["pack"], rule["signal"]) == ("cpu-busy", "operating-system", "cpu.busy")
    assert (rule["host"], rule["instance"], rule["severity"]) == ("WEB01", None, "warning")
    assert rule["threshold"]["limit"] == 80
    (breach,) = rule["breaches"]
    assert breach == {
        "start": "2008-01-15T09:03:00.000Z",
        "end": "2008-01-15T09:08:50.000Z",
        "fired_at": "2008-01-15T09:08:00.000Z",
        "duration_s": 350.0,
        "worst": 88.0,
        "mean": breach["mean"],
        "processes": [],
    }
    assert {source["document"] for source in rule["sources"]} >= {"Site Server Membership Directory"}
    counters = (
        *("\\Processor(_Total)\\% Processor Time", "\\System\\Context Switches/sec"),
        *("\\Memory\\Available MBytes", "\\PhysicalDisk(0 C:)\\% Idle Time"),
    )
    phases = "whole run", "ramp-up", "steady", "ramp-down"
    assert {(one["counter"], one["phase"]) for one in found["statistics"]} == {*itertools.product(counters, phases)}


def test_json_on_stdout_is_nothing_but_json(plimsoll, crossed):
    assert json.loads(plimsoll("review", crossed, "--json", "-").out)["schema"] == "plimsoll.review/1"


def test_brief_crossings_are_counted_and_no_breach(plimsoll, tmp_path):
    found = reviewed(plimsoll, tmp_path, a_log(tmp_path, lambda minute: 99 if minute in (2, 6) else 20))
    (rule,) = [rule for rule in found["rules"] if rule["rule"] == "cpu-busy"]
    assert (rule["state"], rule["breaches"]) == ("held", [])
    assert rule["brief_crossings"]["count"] == 2
    assert 0 < rule["share_of_time"] < 0.2


def test_the_demo_with_too_little_memory_breaches_what_the_other_does_not(plimsoll, runs, tmp_path):
    good = reviewed(plimsoll, tmp_path, runs["8GB"])
    bad = reviewed(plimsoll, tmp_path, runs["4GB"])
    assert good["verdict"] == "healthy"
    crossed = {rule["rule"] for rule in bad["rules"] if rule["state"] == "crossed"}
    life = {"sql-page-life-expectancy", "sql-page-life-maximum", "sql-page-life-climbs"}
    reads = {"sql-database-reads", "sql-database-reads-and-page-life", "sql-database-read-peaks"}
    memory = {"sql-memory", "windows-memory-available-share", "windows-memory-available-share-critical"}
    assert crossed == {*life, *reads, *memory}
    assert bad["run"] == {
        "name": "36 users/s, 4 GB",
        "labels": {"logon_rate": "36", "memory": "4GB"},
        "simulated": True,
    }
    assert [phase["name"] for phase in bad["phases"]] == ["ramp-up", "steady"]
    hosts = {pack["pack"]: pack["hosts"] for pack in bad["packs"]}
    assert hosts["sql-server"] == ["SQLSRV01"]
    assert hosts["messaging"] == ["OCSFE01", "OCSFE02"]
    assert hosts["file-server"] == []
    spindles = [
        rule for rule in bad["rules"] if rule["rule"] == "disk-queue-per-spindle" and rule["instance"] == "2 E:"
    ]
    assert spindles[0]["threshold"]["limit"] == 12
    assert spindles[0]["notes"][1:] == ["limit ≤ 3 requests × spindles: 4 spindles (plimsoll.toml)"]


def test_phases_can_be_given_by_hand_or_not_known(plimsoll, runs, tmp_path):
    log = tmp_path / "SQLSRV01.csv"
    log.write_bytes((runs["4GB"] / "SQLSRV01.csv").read_bytes())
    unknown = plimsoll("review", log, "--whole-run", "--details").out
    assert "phase unknown: meant for the steady phase, judged throughout" in unknown
    known = plimsoll("review", log, "--steady", "10:30/12:00").out
    assert "2008-01-16 10:30:00–12:00:00 (1 h 30 min) in the steady phase" in known
    assert "phase unknown" not in known


def test_a_part_of_the_run_can_be_judged(plimsoll, tmp_path, crossed):
    found = reviewed(plimsoll, tmp_path, crossed, "--only", "operating-system", "--to", "10:02")
    busy = [one for one in found["rules"] if one["signal"] == "cpu.busy" and one["worst"] is not None]
    assert {one["state"] for one in busy} == {"too-short"}
    assert found["log"]["samples"] == 60
    done = plimsoll("review", crossed, "--from", "11:00")
    assert done.status == 2
    assert "nothing was recorded from 2008-01-15 11:00:00" in done.err


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("none.csv",), "none.csv: does not exist; name a log or a folder of logs"),
        (("",), '"": is no log; name logs, or a folder of them'),
        (
            ("{log}", "--only", "operating-sistem"),
            'pack "operating-sistem" is not known (did you mean "operating-system"?)',
        ),
        (("{log}", "--zone", "Europe/Berlim"), 'zone "Europe/Berlim" is not known'),
        (("{log}", "--steady", "10:00"), '"10:00" is not a span; write it like 10:22/12:00'),
        (("{log}", "--from", "ten"), '"ten" is not a time; write it like 10:22'),
        (("{log}", "--format", "etl"), 'format "etl" is not known; choose from '),
        (("{log}", "--config", "no.toml"), "no.toml: cannot be read"),
        (("{log}", "--json", "{log}/x/y.json"), "y.json: cannot be written"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(plimsoll, crossed, arguments, output):
    done = plimsoll("review", *(argument.format(log=crossed) for argument in arguments))
    assert done.status == 2
    assert done.out == ""
    assert output in done.err
    assert len(done.err.splitlines()) == 1


def test_a_folder_may_hold_files_that_are_no_logs(plimsoll, tmp_path, crossed):
    (crossed.parent / "notes.txt").write_text("Monday: rebooted.\n")
    done = plimsoll("review", crossed.parent)
    assert done.out.startswith("Not healthy.")
    assert "notes.txt: not a log that can be read" in done.err


def test_times_can_be_shown_in_another_zone(plimsoll, crossed):
    assert "2008-01-15 09:01:50–09:08:50" in plimsoll("review", crossed, "--zone", "UTC").out


def test_rotated_files_of_one_host_are_one_recording(plimsoll, tmp_path, crossed):
    whole = reviewed(plimsoll, tmp_path, crossed)["rules"]
    header, *rows = crossed.read_text().splitlines()
    parts = tmp_path / "parts"
    parts.mkdir()
    for at, part in enumerate((rows[:25], rows[25:])):
        (parts / f"{at}.csv").write_text("\r\n".join([header, *part]) + "\r\n")
    assert reviewed(plimsoll, tmp_path, parts)["rules"] == whole


def test_a_review_in_a_language_that_is_not_known_never_reads_as_healthy(plimsoll, tmp_path):
    log = a_log(tmp_path, lambda minute: 20)
    english = log.read_text()
    for local in (r"Processore(_Total)\% Tempo processore", r"Processor(_Total)\% processortijd", r"Säätäjä(0)\Aika"):
        log.write_text(english.replace(r"Processor(_Total)\% Processor Time", local), encoding="utf-8")
        done = plimsoll("review", log, "--fail-on", "warning")
        assert done.status == 2
        name, counter = local.partition("(")[0], local.rpartition("\\")[2]
        told = f"Not known. 5 warning and critical thresholds held, but 1 counter (\\{name}\\{counter}) lies under a name that"
        assert done.out.startswith(told)
        assert f"1 counter of {name} on WEB01 not recognised ({counter})" in done.err


@pytest.mark.parametrize(
    "name", ["% Processor Time", "//WEB01/Processor(_Total)/% Processor Time", "CPU: % processor time"]
)
def test_values_under_a_name_that_is_no_path_are_not_healthy(name, plimsoll, tmp_path):
    log = a_log(tmp_path, lambda _: 20)
    log.write_text(log.read_text().replace(r"\\WEB01\Processor(_Total)\% Processor Time", name))
    first = plimsoll("review", log).out.splitlines()[0]
    assert (
        first
        == f"Not known. 5 warning and critical thresholds held, but values of {name} could not be read; see the remarks."
    )


@pytest.mark.parametrize(("strange", "is_told"), [(1, False), (30, True)])
def test_values_that_are_no_numbers_are_not_healthy_where_they_are_many(strange, is_told, plimsoll, tmp_path):
    log = a_log(tmp_path, lambda _: 20)
    log.write_text(log.read_text().replace('"20"', '"100 %"', strange))
    first = plimsoll("review", log).out.splitlines()[0]
    told = r"but values of \\WEB01\Processor(_Total)\% Processor Time could not be read"
    assert first.startswith("Not known." if is_told else "Healthy.")
    assert (told in first) == is_told


@pytest.mark.parametrize(("rows", "is_told"), [(1, False), (70, True)])
@pytest.mark.parametrize("damage", ["a cell too many", "zero bytes"])
def test_rows_that_are_left_out_are_not_healthy_where_they_are_many(rows, damage, is_told, plimsoll, tmp_path):
    log = a_log(tmp_path, lambda _: 20, minutes=30)
    lines = log.read_text().splitlines()
    part = [f'{line},"1"' for line in lines[40 : 40 + rows]]
    if damage == "zero bytes":
        part = ["\0" * len("\n".join(part))]
    log.write_text("\n".join([*lines[:40], *part, *lines[40 + rows :], ""]))
    first = plimsoll("review", log).out.splitlines()[0]
    assert first.startswith("Not known." if is_told else "Healthy.")
    assert ("could not be read" in first) == is_told


@pytest.mark.parametrize(("below", "is_told"), [(1, False), (30, True)])
def test_values_below_zero_are_not_healthy_where_they_are_many(below, is_told, plimsoll, tmp_path):
    log = a_log(tmp_path, lambda _: 20)
    log.write_text(log.read_text().replace('"900"', '"-71582788"', below))
    done = plimsoll("review", log)
    first = done.out.splitlines()[0]
    assert first.startswith("Not known." if is_told else "Healthy.")
    assert (r"but values of \System\Context Switches/sec are below zero" in first) == is_told
    assert f"{below} of 60 values below zero" in done.err


@pytest.mark.parametrize(("other", "is_told"), [("20.1", False), ("97", True)])
def test_columns_of_one_counter_that_contradict_each_other_are_not_healthy(other, is_told, plimsoll, tmp_path):
    log = a_log(tmp_path, lambda _: 20)
    header, *rows = log.read_text().splitlines()
    name = next(cell for cell in header.split(",") if "% Processor Time" in cell)
    log.write_text("\r\n".join([f"{header},{name}", *(f'{row},"{other}"' for row in rows)]) + "\r\n")
    first = plimsoll("review", log).out.splitlines()[0]
    assert first.startswith("Not known." if is_told else "Healthy.")
    assert ("contradict each other" in first) == is_told


@pytest.mark.parametrize("busy", [-40, 640])
def test_a_verdict_does_not_rest_on_values_that_cannot_be(busy, plimsoll, tmp_path):
    first = plimsoll("review", a_log(tmp_path, lambda _: busy)).out.splitlines()[0]
    assert first.startswith("Not known.")
    assert "cannot be" in first or "are below zero" in first


# Of both kinds the mean of a minute is one that can be.
@pytest.mark.parametrize(
    ("bad", "often", "is_told"), [("-0.05", 2, True), ("-0.000001", 2, False), ("2e12", 60, False)]
)
def test_latencies_that_cannot_be_decide_nothing(bad, often, is_told, plimsoll, tmp_path):
    log = a_log(tmp_path, lambda _: 20)
    header, *rows = log.read_text().splitlines()
    name = r'"\\WEB01\PhysicalDisk(1 D:)\Avg. Disk sec/Read"'
    rows = [f'{row},"{bad if at % often == 1 else 0.06 if is_told else 0.004}"' for at, row in enumerate(rows)]
    log.write_text("\r\n".join([f"{header},{name}", *rows]) + "\r\n")
    done = plimsoll("review", log)
    said = done.out.splitlines()
    assert said[0].startswith("Not known." if is_told else "Healthy.")
    assert ("Disk read latency of WEB01, 1 D: cannot be -" in " ".join(said[:3])) == is_told
    assert ("cannot be" in done.err) == (bad != "-0.000001")
    assert "000,000,000" not in said[0] + said[1]


def test_other_columns_that_people_add_say_nothing_of_health(plimsoll, tmp_path):
    log = a_log(tmp_path, lambda _: 20)
    log.write_text(log.read_text().replace('/sec"', '/sec","users"').replace('"900"', '"900","12"'))
    assert plimsoll("review", log).out.startswith("Healthy.")


@pytest.mark.parametrize("span", ["22:00/23:00", "10:05/10:05", "10:08/10:02", "08:00/09:00"])
def test_a_steady_state_outside_the_run_is_refused(plimsoll, crossed, span):
    done = plimsoll("review", crossed, "--steady", span)
    assert done.status == 2
    assert f'"{span}" is no part of the run, which reaches from 2008-01-15 10:00:00' in done.err


@pytest.mark.parametrize("option", ["--out", "--json", "--junit"])
def test_a_log_is_never_written_over(plimsoll, crossed, option):
    before = crossed.read_bytes()
    done = plimsoll("review", crossed, option, crossed)
    assert (done.status, crossed.read_bytes()) == (2, before)
    assert "is one of the logs; name another file to write to" in done.err


def test_a_run_in_which_only_an_info_limit_was_crossed_is_healthy_and_says_so(plimsoll, tmp_path):
    pack = tmp_path / "own.yaml"
    text = (Path(__file__).parents[2] / "rules" / "packs" / "operating-system.yaml").read_text(encoding="utf-8")
    pack.write_text(text.replace("severity: warning", "severity: info"), encoding="utf-8")
    log = a_log(tmp_path, lambda minute: 95)
    done = plimsoll("review", log, "--only", pack, "--fail-on", "warning")
    assert done.status == 0
    assert done.out.splitlines()[0] == (
        "Processors and memory healthy; nothing else was judged. Every judged warning and critical threshold held; "
        "closest was Processor time of WEB01 with 95 % (1 min mean), limit < 99 %."
    )
    assert done.out.splitlines()[1].startswith("Crossed: nothing; 1 note (info) ")


def test_a_crossing_too_brief_to_count_is_said(plimsoll, tmp_path):
    done = plimsoll("review", a_log(tmp_path, lambda minute: 99 if minute == 3 else 20), "--details")
    assert done.out.splitlines()[:2] == [
        "Healthy. Every judged warning and critical threshold held.",
        "Closest was Processor time of WEB01, which went above its limit for 1 min, at worst 87.7 % (1 min mean); "
        "it should stay below 80 %, and a crossing counts after 5 min.",
    ]
    assert "      crossed: 2008-01-15 10:02:50–10:03:50 (1 min)" in done.out.splitlines()


def test_logs_of_one_host_at_different_intervals_are_each_judged_throughout(plimsoll, tmp_path):
    a_log(tmp_path, lambda minute: 20, "fine.csv", minutes=2)
    rows = [r'"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)","\\WEB01\Memory\Available Bytes"']
    rows += [f'"01/15/2008 {10 + half // 2}:{half % 2 * 30:02}:00.000","1000000"' for half in range(8)]
    (tmp_path / "coarse.csv").write_text("\r\n".join(rows) + "\r\n")
    found = reviewed(plimsoll, tmp_path, tmp_path / "fine.csv", tmp_path / "coarse.csv")
    (rule,) = [rule for rule in found["rules"] if rule["rule"] == "memory-available"]
    assert rule["evaluations"] == 6 * 60 * 7 // 2 + 1
    (breach,) = rule["breaches"]
    assert (breach["start"], breach["end"]) == ("2008-01-15T09:00:00.000Z", "2008-01-15T12:30:00.000Z")


def test_a_log_rotated_to_another_interval_is_judged_by_it(plimsoll, tmp_path):
    """Ten hours of load with a sample every ten minutes, and a quiet hour with one every ten seconds after it."""
    a_log(tmp_path, lambda minute: 20, "often.csv", minutes=60)
    rows = [r'"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)","\\WEB01\Processor(_Total)\% Processor Time"']
    rows += [f'"01/15/2008 {at // 6:02}:{at % 6 * 10:02}:00.000","96"' for at in range(60)]
    (tmp_path / "seldom.csv").write_text("\r\n".join(rows) + "\r\n")
    found = reviewed(plimsoll, tmp_path, tmp_path / "often.csv", tmp_path / "seldom.csv")
    (rule,) = [rule for rule in found["rules"] if rule["rule"] == "cpu-busy"]
    assert rule["state"] == "crossed"
    (breach,) = rule["breaches"]
    assert (breach["start"], breach["end"]) == ("2008-01-14T23:00:00.000Z", "2008-01-15T08:59:50.000Z")
    assert "window of 20 min where the log was sampled every 10 min" in rule["notes"]


def test_two_results_do_not_take_each_others_place(plimsoll, crossed, tmp_path):
    out = tmp_path / "out"
    done = plimsoll("review", crossed, "--out", out, "--json", tmp_path / "." / "out")
    assert (done.status, done.out, out.exists()) == (2, "", False)
    assert done.err == f"plimsoll: {out}: is to be written twice; name a file for each\n"
    assert plimsoll("review", crossed, "--out", os.devnull, "--json", os.devnull).status == 0


def test_a_report_does_not_take_the_place_of_the_settings(plimsoll, crossed, tmp_path):
    config = tmp_path / "mine.toml"
    config.write_text("# mine\n")
    done = plimsoll("review", crossed, "--config", config, "--out", config)
    assert (done.status, done.out, config.read_text()) == (2, "", "# mine\n")
    assert done.err == f"plimsoll: {config}: is read by this call; name another file to write to\n"
