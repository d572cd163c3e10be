"""Thresholds that plimsoll.toml changes or switches off, drives and processors, tested with the command line."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from plimsoll.hosts.facts import find_recorded_facts
from plimsoll.hosts.settings import load
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.names import load_shipped
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.series import Series
from plimsoll.model.times import Zone
from plimsoll.rules.load import load as load_rules

CPU = r"Processor(_Total)\% Processor Time"
DISK = r"PhysicalDisk(_Total)\% Disk Time"
MEMORY = r"Memory\Available Bytes"
IDLE = r"PhysicalDisk(0 C:)\% Idle Time"
SWITCHES = r"System\Context Switches/sec"
READS = r"PhysicalDisk({})\Disk Reads/sec"

DRIVE_PACK = """\
pack: drives
title: Drives
about: For the disks of the database.
rules:
  - id: database-reads
    signal: disk.reads
    healthy: "< 100"
    drive: database
    severity: warning
    summary: Many reads.
    sources: [{document: D, place: p}]
"""


@pytest.fixture
def run(plimsoll, tmp_path):
    """Review ten minutes of columns with a plimsoll.toml; return the outcome, the JSON and the report."""

    def call(columns, toml, *arguments, host="WEB01"):
        names = ",".join(rf'"\\{host}\{path}"' for path in columns)
        rows = [f'"(PDH-CSV 4.0) (UTC)(0)",{names}']
        for s in range(0, 600, 10):
            values = [value[s] if isinstance(value, range) else value for value in columns.values()]
            rows.append(",".join([f'"01/15/2008 10:{s // 60:02}:{s % 60:02}.000"', *(f'"{one}"' for one in values)]))
        (tmp_path / "log.csv").write_text("\r\n".join(rows) + "\r\n")
        (tmp_path / "plimsoll.toml").write_text(toml, encoding="utf-8")
        done = plimsoll(
            *(
                "review",
                tmp_path / "log.csv",
                "--details",
                "--json",
                tmp_path / "r.json",
                "--out",
                tmp_path / "r.html",
                *arguments,
            )
        )
        if done.status == 2:
            return done, {}, ""
        return done, json.loads((tmp_path / "r.json").read_text()), (tmp_path / "r.html").read_text(encoding="utf-8")

    return call


def the_rule(found, name):
    (rule,) = [rule for rule in found["rules"] if rule["rule"] == name]
    return rule


AGREED = '[rules.cpu-busy]\nhealthy = "< 90"\nreason = "agreed with the database team, 2026-03"\n'
AGREED_NOTE = (
    "limit < 90 % set in plimsoll.toml instead of the documented < 80 %: agreed with the database team, 2026-03"
)


def test_a_changed_limit_is_judged_and_reported_with_the_documented_one(run):
    done, found, report = run({CPU: 85}, AGREED)
    rule = the_rule(found, "cpu-busy")
    assert (rule["state"], rule["threshold"]["limit"], rule["threshold"]["documented"]) == ("held", 90, 80)
    assert rule["threshold"]["override"] == {
        "reason": "agreed with the database team, 2026-03",
        "healthy": "< 80",
        "over_s": 60,
        "for_s": 300,
        "scale": None,
    }
    assert AGREED_NOTE in rule["notes"]
    assert AGREED_NOTE in done.out
    held = report[report.index('id="held"') : report.index('id="statistics"')].replace("&lt;", "<")
    assert re.search(r"< 90 %<span class=\"set\" title=\"limit < 90 % set [^\"]*database team", held)
    assert f"† Processor time: {AGREED_NOTE}" in held


def test_a_breach_of_a_changed_limit_says_so(run):
    done, found, report = run({CPU: 88}, AGREED.replace("90", "85"))
    assert the_rule(found, "cpu-busy")["state"] == "crossed"
    assert "limit < 85 %" in done.out
    assert AGREED_NOTE.replace("90", "85") in done.out
    crossed = report[report.index('id="crossed"') :].replace("&lt;", "<")
    assert re.search(r"Threshold</dt><dd>< 85 %<span class=\"set\" title=\"limit < 85 % set ", crossed)


def test_documented_thresholds_have_no_override(run):
    _, found, report = run({CPU: 85}, "")
    assert the_rule(found, "cpu-busy")["threshold"]["override"] is None
    assert "†" not in report


def test_window_and_duration_can_be_set(run):
    toml = '[rules.cpu-busy]\nfor = "20m"\nover = "5m"\nreason = "nightly batch"\n'
    _, found, _ = run({CPU: 88}, toml)
    rule = the_rule(found, "cpu-busy")
    assert (rule["state"], rule["threshold"]["for_s"], rule["threshold"]["over_s"]) == ("too-short", 1200, 300)
    said = "over 5 min, for 20 min set in plimsoll.toml instead of the documented over 1 min, for 5 min: nightly batch"
    assert said in rule["notes"]


def test_a_hosts_own_table_goes_before_the_general_one(run):
    toml = AGREED + '[hosts.web01.rules.cpu-busy]\nhealthy = "< 50"\nreason = "a front end"\n'
    _, found, _ = run({CPU: 60}, toml)
    assert the_rule(found, "cpu-busy")["threshold"]["limit"] == 50
    _, found, _ = run({CPU: 60}, toml, host="OTHER")
    assert the_rule(found, "cpu-busy")["threshold"]["limit"] == 90
    kept = (
        '[rules.cpu-busy]\noff = true\nreason = "x"\n[hosts.WEB01.rules.cpu-busy]\noff = false\nreason = "it matters"\n'
    )
    _, found, _ = run({CPU: 85}, kept)
    rule = the_rule(found, "cpu-busy")
    assert (rule["state"], rule["threshold"]["limit"]) == ("crossed", 80)
    assert "kept as documented in plimsoll.toml: it matters" in rule["notes"]


def test_a_limit_can_be_multiplied_by_a_host_fact(run):
    toml = '[hosts.WEB01]\nprocessors = 16\n[hosts.WEB01.rules.context-switches]\nper = "processors"\nreason = "16 cores"\n'
    _, found, _ = run({SWITCHES: 20000}, toml)
    rule = the_rule(found, "context-switches")
    assert (rule["state"], rule["threshold"]["limit"], rule["threshold"]["scale"]) == ("held", 240000, "processors")
    assert rule["notes"][:2] == [
        "limit < 15,000 /s × processors set in plimsoll.toml instead of the documented < 15,000 /s: 16 cores",
        "limit < 15,000 /s × processors: 16 processors (plimsoll.toml)",
    ]
    unknown = toml.replace('per = "processors"', 'per = "clock_mhz"')
    _, found, _ = run({SWITCHES: 20000}, unknown)
    rule = the_rule(found, "context-switches")
    assert rule["state"] == "not-judged"
    assert rule["notes"][0] == "clock_mhz of WEB01 is not known: give it in plimsoll.toml"


OFF = '[rules.disk-busy-total]\noff = true\nreason = "RAID controller counts 4 disks as one"\n'


def test_a_rule_switched_off_is_listed_last_with_its_reason_and_never_held(run):
    done, found, report = run({CPU: 20, DISK: 85, MEMORY: range(8 * 2**30, 9 * 2**30), IDLE: 60}, OFF)
    assert found["verdict"] == "healthy"
    assert found["counts"]["off"] == 1
    assert found["rules"][-1]["rule"] == "disk-busy-total"
    rule = the_rule(found, "disk-busy-total")
    assert (rule["state"], rule["worst"], rule["breaches"]) == ("off", None, [])
    assert rule["threshold"]["override"]["reason"] == "RAID controller counts 4 disks as one"
    (tally,) = [line for line in done.out.splitlines() if line.startswith("Crossed: ")]
    assert tally.endswith(", 1 is switched off")
    assert "Disk time" not in done.out[done.out.index("Within limits") : done.out.index("Switched off")]
    assert "Disk time, all disks (disk-busy-total, WEB01): RAID controller counts 4 disks as one" in done.out
    last = report[report.rindex('<details class="fold">', 0, report.index("What this rests on")) :]
    assert "Switched off" in last.split("</details>")[0]
    assert "RAID controller counts 4 disks as one" in last.split("</details>")[0]


def test_a_run_of_which_everything_is_off_is_not_known_to_be_good(run):
    everything = OFF + OFF.replace("disk-busy-total", "windows-disk-always-busy")
    done, _, _ = run({DISK: 99}, everything, "--fail-on", "warning")
    assert done.status == 2
    assert "the disks of WEB01 were not judged" in done.err.replace("\n", " ")
    assert "2 are switched off" in done.out


@pytest.mark.parametrize(
    ("toml", "output"),
    [
        ('[rules.cpu-busy]\nhealthy = "< 90"', "rules.cpu-busy.reason is missing: say why"),
        ('[rules.cpu-busy]\nhealthy = "< 90"\nreason = " "', "rules.cpu-busy: reason is empty"),
        ('[rules.cpu-bussy]\noff = true\nreason = "r"', 'rules.cpu-bussy: no rule has this id (did you mean "cpu-busy"?)'),
        ('[hosts.WEB01.rules.cpu-bsy]\noff = true\nreason = "r"', 'hosts.WEB01.rules.cpu-bsy: no rule has this id (did'),
        ('[rules.cpu-busy]\nhealthy = "> 90"\nreason = "r"', 'rules.cpu-busy.healthy: "> 90" lies on the other side'),
        ('[rules.cpu-busy]\nhealthy = "90"\nreason = "r"', 'rules.cpu-busy.healthy: "90" is not a limit'),
        ('[rules.cpu-busy]\nhealthy = "< 1e999"\nreason = "r"', 'rules.cpu-busy: healthy "< inf" is no limit'),
        ('[rules.cpu-busy]\nfor = "soon"\nreason = "r"', 'rules.cpu-busy.for: "soon" is not a duration'),
        ('[rules.cpu-busy]\nfor = inf\nreason = "r"', "rules.cpu-busy.for: inf is not a duration"),
        ('[rules.cpu-busy]\nfor = "99999999d"\nreason = "r"', 'rules.cpu-busy.for: "99999999d" is too long: at most 100 years'),
        ('[rules.cpu-busy]\nheatlhy = "< 9"\nreason = "r"', 'heatlhy: unknown setting (did you mean "healthy"?)'),
        ('[rules.cpu-busy]\nreason = "r"', "rules.cpu-busy: changes nothing"),
        ('[rules.cpu-busy]\noff = false\nreason = "r"\n[rules.x]', "rules.x.reason is missing"),
        ('[rules.cpu-busy]\noff = true\nfor = "1m"\nreason = "r"', "rules.cpu-busy: off = true leaves nothing"),
        ('[rules.cpu-busy]\nper = "cores"\nreason = "r"', "rules.cpu-busy.per: input should be 'processors'"),
        ('[rules.disk-queue-per-spindle]\nper = "processors"\nreason = "r"', "is multiplied by the host's spindles already"),
        ('[hosts.W.instances."2 E:"]\ndrive = "logs"', "hosts.W.instances.2 E:.drive: input should be 'database' or 'log'"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_that_names_the_setting(run, toml, output):
    done, _, _ = run({CPU: 20}, toml)
    assert done.status == 2
    (line,) = done.err.splitlines()
    assert output in line


def test_rules_of_packs_that_were_not_chosen_may_be_set_too(run):
    done, _, _ = run({CPU: 85}, AGREED, "--only", "disk")
    assert done.status == 0


def test_hysteresis_goes_with_the_documented_limit(run):
    """At 3,800 a limit of 300 must not stay crossed because the documented one recovers at 4,000."""
    toml = '[rules.sql-page-life-expectancy]\nhealthy = "> 300 s"\nreason = "small database"\n'
    _, found, _ = run({r"SQLServer:Buffer Manager\Page life expectancy": 3800}, toml)
    assert the_rule(found, "sql-page-life-expectancy")["state"] == "held"


@pytest.fixture
def drives(run, tmp_path):
    pack = tmp_path / "drives.yaml"
    pack.write_text(DRIVE_PACK)
    columns = {READS.format("0 C:"): 500, READS.format("2 E:"): 40, CPU: 10}
    return lambda toml: run(columns, toml, "--only", pack)


def test_rules_for_drives_are_judged_only_for_those_marked(drives):
    _, found, _ = drives('[hosts.web01.instances."2 e:"]\ndrive = "database"\n')
    (rule,) = found["rules"]
    assert (rule["state"], rule["instance"]) == ("held", "2 E:")


@pytest.mark.parametrize("toml", ["", '[hosts.WEB01.instances."2 E:"]\ndrive = "log"\n'])
def test_without_a_marked_drive_one_finding_says_what_to_set(drives, toml):
    said = 'tell which drives hold the database in plimsoll.toml (drive = "database")'
    done, found, report = drives(toml)
    (rule,) = found["rules"]
    assert (rule["state"], rule["host"], rule["instance"], rule["notes"]) == ("not-judged", "WEB01", None, [said])
    assert f"Disk reads ({rule['rule']}, WEB01): {said}" in done.out
    assert said in report.replace("&#34;", '"')


def test_a_marked_drive_that_is_not_recorded_is_named(drives):
    _, found, _ = drives('[hosts.WEB01.instances."3 F:"]\ndrive = "database"\n')
    (rule,) = found["rules"]
    assert rule["state"] == "not-judged"
    assert '"3 F:"' in rule["notes"][0]
    assert 'recorded: "0 C:", "2 E:"' in rule["notes"][0]


def a_log(tmp_path, *series):
    columns = tuple(np.array([1.0]) for _ in series)
    return Log(tmp_path / "x", "pdh-csv", np.zeros(1, np.int64), columns, tuple(series), Zone.unknown())


def test_processors_are_counted_from_what_shows_most_of_them(tmp_path):
    def counters(template, instances):
        return [load_shipped().series(CounterPath.parse(template.format(name)), "H") for name in instances]

    busy = counters(r"\Processor({})\% Processor Time", ["0", "1", "_Total"])
    groups = counters(
        r"\Processor Information({})\% Processor Time", ["0,0", "0,1", "0,_Total", "1,0", "1,1", "_Total"]
    )
    assert find_recorded_facts([a_log(tmp_path, *busy)])["h", None] == {"processors": 2}
    assert find_recorded_facts([a_log(tmp_path, *busy, *groups)])["h", None] == {"processors": 4}
    linux = [Series("h", "cpu", (("cpu", name),), "usage_idle") for name in ("cpu0", "cpu1", "cpu2", "cpu-total")]
    sysstat = [Series("s", "per_cpu", (("device", name),), "pct_idle") for name in ("cpu0", "all")]
    seen = find_recorded_facts([a_log(tmp_path, *linux, *sysstat)])
    assert (seen["h", None], seen["s", None]) == ({"processors": 3}, {"processors": 1})


def test_the_example_in_the_documentation_is_one(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    path = tmp_path / "plimsoll.toml"
    path.write_text(page.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    catalogue = load_rules()
    rules, signals = catalogue.rules, catalogue.signals
    given = load(path)
    assert given.overrides(path, rules, signals).of(rules["cpu-busy"], "ANY")[0].healthy.limit == 90
    assert set(given.drives().values()) == {"database", "log"}
    with pytest.raises(Unusable, match=r"rules\.cpu-busy: no rule has this id"):
        given.overrides(path, {}, signals)


GROUPS = """
[rules.cpu-busy]
healthy = "< 81"
reason = "all"
[hosts."web*".rules.cpu-busy]
healthy = "< 82"
reason = "the web"
[hosts."web-db*".rules.cpu-busy]
healthy = "< 83"
reason = "their databases"
[hosts.web-db2.rules.cpu-busy]
healthy = "< 84"
reason = "one host"
[labels.role.sql.rules.cpu-busy]
healthy = "< 85"
reason = "SQL Server"
[hosts.SQL1.labels]
role = "SQL"
[hosts.WEB-DB1.labels]
role = "sql"
"""


@pytest.mark.parametrize(
    ("host", "limit", "table"),
    [
        ("WEB7", 82, ' (hosts."web*")'),
        ("web-db1", 83, ' (hosts."web-db*")'),
        ("WEB-DB2", 84, ""),
        ("sql1", 85, " (labels.role.sql)"),
        ("app1", 81, ""),
    ],
)
def test_limits_of_patterns_and_labels_count_after_those_of_the_host(host, limit, table, plimsoll, tmp_path):
    path = tmp_path / "plimsoll.toml"
    path.write_text(GROUPS, encoding="utf-8")
    rules = load_rules()
    rule, override = load(path).overrides(path, rules.rules, rules.signals).of(rules.rules["cpu-busy"], host)
    assert rule.healthy.limit == limit
    assert override
    assert f"set in plimsoll.toml{table} instead of" in override.note
    explained = plimsoll("rules", "explain", "cpu-busy", "--host", host, "--settings", path, "--store", tmp_path)
    assert explained.out.split()[-3:] == override.note.split()[-3:]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('[hosts."web*"]\nmemory_mb = 5', 'hosts."web*".memory_mb: a pattern of names takes rules alone'),
        ('[hosts."web*".rules.cpu-bus]\noff = true\nreason = "r"', 'hosts."web*".rules.cpu-bus: no rule has this id'),
        ('[labels.role.sql.rules.cpu-busy]\nhealthy = "> 3"\nreason = "r"', "lies on the other side"),
    ],
)
def test_wrong_limits_of_groups_are_refused_with_their_table(toml, message, tmp_path):
    path = tmp_path / "plimsoll.toml"
    path.write_text(toml, encoding="utf-8")
    rules = load_rules()
    with pytest.raises(Unusable) as refused:
        load(path).overrides(path, rules.rules, rules.signals)
    assert message in str(refused.value)
