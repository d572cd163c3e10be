"""`plimsoll grafana export`: its files, its use of plimsoll.toml, and its messages."""

import json
import re

import pytest
import yaml

CONFIG = """
[hosts.SQLSRV01]
processors = 16

[hosts.SQLSRV01.instances."2 E:"]
spindles = 4
drive = "database"

[rules.cpu-busy]
healthy = "< 85"
for = "10m"
reason = "agreed"

[rules.disk-busy-total]
off = true
reason = "counts wrongly"

[hosts.SQLSRV01.rules.context-switches]
per = "processors"
reason = "16 processors"
"""
OWN = r"""
pack: mine
title: Mine
about: Garbage collection.
signals:
  dotnet.gc:
    title: Time in garbage collection
    unit: '%'
    meaning: Share of time spent in garbage collection.
    instances: each
    sources: ['\.NET CLR Memory(*)\% Time in GC']
rules:
  - id: gc-time
    signal: dotnet.gc
    healthy: "<= 10 %"
    severity: warning
    summary: Garbage collection takes much of the time.
    sources: [{document: Our runbook, place: page 1}]
"""


def rules_of(folder, pack):
    data = yaml.load((folder / "rules" / "grafana" / f"{pack}.yaml").read_text(), yaml.CSafeLoader)
    return [rule for group in data["groups"] for rule in group["rules"]]


def limits(rules, rule):
    """Return the limits of a rule by host."""
    found = {}
    for one in rules:
        if one["labels"]["rule"] == rule:
            whom = one["title"].partition(" on ")[2]
            found.setdefault(whom, set()).add(one["annotations"]["limit"].partition(" (")[0])
    return found


EXPORTED = {}  # the output of the command, which fills the folder only once


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("exported")


@pytest.fixture
def exported(plimsoll, folder):
    """Return the folder that was exported to, which tests must not change, and the output of the command."""
    if folder not in EXPORTED:
        config = folder / "plimsoll.toml"
        config.write_text(CONFIG)
        EXPORTED[folder] = plimsoll("grafana", "export", "--out", folder, "--config", config, "--email", "a@x.example")
    return folder, EXPORTED[folder]


def test_what_plimsoll_toml_says_of_hosts_is_exported(exported):
    folder, done = exported
    assert done.status == 0
    assert done.out.startswith(f"{sum(len(rules_of(folder, path.stem)) for path in (folder / 'rules' / 'grafana').glob('*.yaml') if path.stem != 'contact')} alert rules to ")  # fmt: skip
    system = rules_of(folder, "operating-system")
    assert limits(system, "cpu-busy") == {"": {"< 85 %"}}
    assert limits(system, "context-switches") == {"": {"< 15,000 /s"}, "SQLSRV01": {"< 240,000 /s"}}
    assert limits(rules_of(folder, "disk"), "disk-queue-per-spindle") == {"": {"≤ 3 requests"}, "SQLSRV01 2 E:": {"≤ 12 requests"}}  # fmt: skip
    assert limits(rules_of(folder, "disk"), "disk-busy-total") == {}
    assert set(limits(rules_of(folder, "sql-server"), "sql-database-reads")) == {"SQLSRV01 2 E:"}
    note = next(rule["annotations"]["note"] for rule in system if rule["labels"]["rule"] == "cpu-busy")
    assert "limit < 85 %, for 10 min set in plimsoll.toml instead of the documented < 80 %, for 5 min: agreed." in note


def test_limits_set_for_every_host_are_drawn_as_set(exported):
    """Limits of single hosts and rules that are switched off are described."""
    folder, _ = exported

    def panel(area, number):
        data = json.loads((folder / "dashboards" / "grafana" / f"{area}.json").read_text())
        return next(one for one in data["panels"] if one["id"] == number)

    def drawn(panel):
        return [step["value"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"]]

    busy, switches, off = panel("cpu", 1), panel("cpu", 2), panel("disk", 5)
    assert (busy["title"], drawn(busy)) == ("Processor time · < 85 %", [None, 85, 90, 99])
    said = "crossed for 10 min; limit < 85 %, for 10 min set in plimsoll.toml instead of the documented < 80 %, for 5 min: agreed."
    assert said in busy["description"]
    assert drawn(switches) == [None, 15000]
    assert "On SQLSRV01: limit < 15,000 /s × processors set in plimsoll.toml instead" in switches["description"]
    assert (off["title"], drawn(off)) == ("Disk time, all disks", [None])
    assert "not judged; switched off in plimsoll.toml: counts wrongly." in off["description"]
    assert "rules/disk-busy-total.md" in off["description"]
    health = (folder / "dashboards" / "grafana" / "health.json").read_text()
    assert "|Processor time < 85 %" in health


HOSTS = """
[hosts.'web$1']
processors = 16
[hosts.'a"b']
processors = 4
[hosts.'MSSQL$X'.rules.context-switches]
per = "processors"
reason = "measured on $few of {{ them }}"
[hosts.'back\\slash/x'.instances.'0 C:']
spindles = 2
[hosts.'{{host}}'.rules.cpu-busy]
healthy = "< 95"
reason = "it is called ${HOME}"
[rules.context-switches]
per = "memory_mb"
reason = "nobody says how much there is"
[rules.cpu-pinned]
healthy = "< 0"
reason = "a limit that has no share"
"""


def test_names_of_hosts_are_escaped(plimsoll, tmp_path):
    config = tmp_path / "plimsoll.toml"
    config.write_text(HOSTS)
    told = ("--email", "a$b@x.example", "--webhook", "http://x.example/$tok?x=${Y}", "--interval", "10m")
    done = plimsoll("grafana", "export", "--out", tmp_path, "--config", config, *told)
    assert "not exported: " in done.err
    refusals = (tmp_path / "rules" / "grafana" / "not-exported.txt").read_text("utf-8").splitlines()
    assert "context-switches: its limit scales by memory_mb, which is not known" in " ".join(refusals)
    titles = {rule["title"] for rule in rules_of(tmp_path, "operating-system")}
    assert {"cpu-busy on {{host}}", "context-switches on MSSQL$$X"} <= {
        re.sub(r" [(]. of .[)]", "", title) for title in titles
    }
    cpu = json.loads((tmp_path / "dashboards" / "grafana" / "cpu.json").read_text())
    assert "not drawn, it is for each of the memory_mb of a host" in cpu["panels"][1]["description"]


def test_what_is_refused_is_listed_by_name(exported):
    folder, done = exported
    (line,) = done.err.splitlines()
    lines = (folder / "rules" / "grafana" / "not-exported.txt").read_text("utf-8").splitlines()
    assert line.startswith(f"not exported: {len(lines)} rules or sources of them; ")
    told = (
        "sql-",
        "ad-threads",
        "messaging-memory",
        "ldap-bytes-",
        "ldap-search-rate",
        "ldap-static-modify-rate",
        "linux-disk-",
        "server-work-queue ",
        "windows-",
        "linux-load from ",
        "linux-memory-available",
        "hyper-v-guest-busy",
    )
    untold = (
        "its samples do not tell which those are",
        "which Grafana cannot tell",
        "and Grafana cannot tell those",
        "there it is silent",
        "and plimsoll.toml tells of no such host",
    )
    others = [line for line in lines if not line.endswith(untold)]
    assert [line for line in others if not line.startswith(told)] == []
    assert "sql-page-life-climbs: it is for the phase ramp-up, and where phases are not known it never fires" in lines
    assert (
        "sql-database-reads-and-page-life from diskio.reads: "
        "sqlserver_performance.value has its host in another tag (host, sql_instance)"
    ) in lines


def test_the_next_export_retires_a_rule_that_is_no_more_and_leaves_files_of_others_alone(plimsoll, tmp_path):
    pack, config = tmp_path / "mine.yaml", tmp_path / "plimsoll.toml"
    pack.write_text(OWN, encoding="utf-8")
    config.write_text("")
    export = ("grafana", "export", "--out", tmp_path, "--config", config, "--only", pack)
    assert plimsoll(*export).status == 0
    (before,) = rules_of(tmp_path, "mine")
    own = tmp_path / "rules" / "grafana" / "own.yaml"
    own.write_text("apiVersion: 1\n")
    config.write_text("[rules.gc-time]\noff = true\nreason = 'nobody minds'\n")
    assert plimsoll(*export).status == 0
    assert own.read_text() == "apiVersion: 1\n"
    retired = yaml.load((own.parent / "retired.yaml").read_text(), yaml.CSafeLoader)["deleteRules"]
    assert {one["uid"] for one in retired} == {before["uid"], "silence-windows"}


def test_interval_that_is_no_duration_is_refused(plimsoll, tmp_path):
    done = plimsoll("grafana", "export", "--out", tmp_path, "--interval", "often")
    assert done.status == 2
    assert done.err.startswith('plimsoll: --interval: "often" is not a duration')


def queries(folder):
    files = (folder / "rules" / "grafana").glob("*.yaml")
    found = [yaml.load(path.read_text(), yaml.CSafeLoader) for path in files]
    rules = [rule for data in found for group in data.get("groups", ()) for rule in group["rules"]]
    return [query["model"]["query"] for rule in rules for query in rule["data"] if "query" in query["model"]]


def test_a_shop_of_one_kind_of_agent_gets_the_rules_of_that_kind_and_its_own(plimsoll, tmp_path):
    own = tmp_path / "mine.yaml"
    own.write_text(OWN, encoding="utf-8")
    assert plimsoll("grafana", "export", "--out", tmp_path / "beside", "--source", "windows", "--pack", own).status == 0
    asked = queries(tmp_path / "beside")
    assert asked
    assert not [one for one in asked if re.search(r'FROM "(cpu|cpu_util|kernel|mem_util|diskio|disk)"', one)]
    assert (tmp_path / "beside" / "rules" / "grafana" / "disk.yaml").is_file()
    assert plimsoll("grafana", "export", "--out", tmp_path / "alone", "--only", own).status == 0
    (rule,) = rules_of(tmp_path / "alone", "mine")
    assert rule == rules_of(tmp_path / "beside", "mine")[0]
    assert (rule["title"], "% Time in GC" in rule["annotations"]["counters"]) == ("gc-time", True)
    assert {path.stem for path in (tmp_path / "alone" / "rules" / "grafana").glob("*.yaml")} == {
        "mine", "silence", "contact",
    }  # fmt: skip
