"""Exported alert rules: their content and their hosts, and which rules are refused or retired."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from plimsoll.export.grafana.alerts.alert_files import export
from plimsoll.export.grafana.alerts.alert_rules import GONE_AFTER, GrafanaOptions
from plimsoll.export.grafana.dashboards.panels import find_panel
from plimsoll.export.rule_export import RuleExport
from plimsoll.hosts.facts import Facts
from plimsoll.hosts.site import Judged, SiteSettings
from plimsoll.model.file_models import parse_content
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.subjects import Subject

PACKS, SIGNALS = load().packs, load_signals()
RULES = {rule.id: rule for pack in PACKS for rule in pack.rules}
SCHEMA = Path(__file__).parents[4] / "shared" / "reference" / "grafana" / "jsonschema" / "expr.jsonschema.json"
COMMITTED = Path(__file__).parents[3] / "rules" / "grafana"
OPTIONS = GrafanaOptions(panel_of=find_panel)
# What is refused, as docs/grafana.md describes it.
UNTOLD = "and its samples do not tell which those are"
FALLBACK = "they are for hosts without a better source, which Grafana cannot tell"
SILENT = "which Grafana cannot tell; there it is silent"
NAMED = "of SQL Server's named instances, whose objects Grafana cannot match; it judges the default one"
STANDS_IN = ", and Grafana cannot tell those"
REASONS = (
    *(UNTOLD, FALLBACK, SILENT, NAMED, STANDS_IN),
    "it is for the phase ramp-up, and where phases are not known it never fires",
    'it is for the disks that plimsoll.toml marks drive = "database", and none is',
    "is a fact of the host (memory_mb in plimsoll.toml), of which no samples are kept",
    "is not known; give it in plimsoll.toml for a host",
    "and plimsoll.toml tells of no such host",
    "a fact of the host",
    "which is no field of its points",
    "it has no source that is recorded as it is, only \\Hyper-V Hypervisor Virtual Processor(*)\\% Total Run Time",
    "Processor Information writes a processor with its node (0,5), and Server Work Queues by its number (5)",
    "it takes values of several objects of one SQL Server: SQLServer:Access Methods, SQLServer:Buffer Manager",
    "has its host in another tag (host, sql_instance)",
)


def a_rule(**options):
    fields = {"id": "r", "signal": "cpu.busy", "healthy": "< 80", "severity": "warning", "summary": "s"}
    return {**fields, "sources": [{"document": "d", "place": "p"}], **options}


def a_pack(*rules):
    return Pack(pack="p", title="T", about="a", rules=tuple(parse_content(Rule, a_rule(**rule)) for rule in rules))


def exported(*rules, site=None, options=None, previous=None) -> RuleExport:
    return export([a_pack(*rules)], SIGNALS, site, options, previous)


def rules_of(rule_export: RuleExport, file="p.yaml"):
    return [rule for group in groups_of(rule_export.files.get(file, "{}")) for rule in group["rules"]]


@cache
def groups_of(text):
    """The groups in a file, which several tests read and none changes."""
    return yaml.load(text, yaml.CSafeLoader).get("groups", ())


def queries(rule):
    return [query["model"]["query"] for query in rule["data"] if "query" in query["model"]]


def expressions(rule):
    return [query["model"]["expression"] for query in rule["data"] if query["model"].get("type") == "math"]


def condition(rule):
    (result,) = [query["model"] for query in rule["data"] if query["refId"] == rule["condition"]]
    return result["conditions"][0]


@pytest.fixture(scope="module")
def shipped():
    return export(PACKS, SIGNALS, options=OPTIONS)


def test_committed_files_are_what_is_exported(shipped):
    committed = {path.name: path.read_text(encoding="utf-8") for path in COMMITTED.glob("*.yaml")}
    result = export(PACKS, SIGNALS, options=OPTIONS, previous=committed).files
    assert set(committed) == set(result), "run: plimsoll grafana export"
    for name, text in result.items():
        assert committed[name] == text, f"{name}: run: plimsoll grafana export"


def test_every_rule_is_exported_or_refused_by_name(shipped):
    named = {rule["labels"]["rule"] for file in shipped.files for rule in rules_of(shipped, file)}
    assert named - {"silence"} | {refused.rule for refused in shipped.refused} == RULES.keys()


def test_refusals_have_a_reason(shipped):
    assert [str(refused) for refused in shipped.refused if not refused.reason.endswith(REASONS)] == []


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("sql-page-life-climbs", "it is for the phase ramp-up, and where phases are not known it never fires"),
        (
            "sql-memory",
            "memory.installed is a fact of the host (memory_mb in plimsoll.toml), of which no samples are kept",
        ),
        (
            "ldap-search-rate",
            "it is for hosts with 4 processors, and processors is not known; give it in plimsoll.toml for a host",
        ),
        ("linux-disk-queue", "diskio.w_await is weighted by disk.writes, which is no field of its points"),
        ("linux-load", "it is divided by processors, a fact of the host"),
        ("sql-page-life-critical", "sqlserver_performance.value has its host in another tag (host, sql_instance)"),
    ],
)
def test_a_rule_is_refused_with_its_reason(shipped, rule, reason):
    assert reason in {refused.reason for refused in shipped.refused if refused.rule == rule}


def test_rules_that_stand_in_for_others_are_no_alerts(shipped):
    """Grafana cannot tell on which hosts the other rules were not judged."""
    refused = {item.rule for item in shipped.refused if item.reason.endswith(STANDS_IN)}
    assert refused == {rule.id for rule in RULES.values() if rule.stands_in_for}


def test_rules_over_two_objects_of_sql_server_are_for_its_default_instance(shipped):
    """The label with the server's instance also names the object, so values of two objects share no label."""
    rows = {item.rule for item in shipped.refused if item.reason == NAMED}
    assert {"sql-page-splits", "sql-node-page-life"} <= rows
    result = [
        query
        for file in shipped.files
        for rule in rules_of(shipped, file)
        if rule["labels"]["rule"] in rows
        for query in queries(rule)
        if "win_sqlserver" in query
    ]
    assert len(result) > len(rows)
    assert [query for query in result if "MSSQL" in query or '"objectname",' in query] == []


def test_rules_that_are_also_for_what_is_not_recorded_are_named(shipped):
    """In Grafana, a condition on a signal without samples is never crossed."""
    named = {str(item).partition(":")[0]: str(item) for item in shipped.refused if str(item).endswith(SILENT)}
    assert set(named) == {rule.id for rule in RULES.values() if any(it.if_not_recorded for it in rule.and_)}
    assert named["windows-memory-available"].startswith(
        "windows-memory-available: it is also for what has no memory.commit_limit,"
    )
    rules = [rule for rule in rules_of(shipped, "windows.yaml") if rule["labels"]["rule"] == "windows-memory-available"]
    assert rules
    text = "Judged here only where memory.commit_limit is recorded too."
    assert all(text in item["annotations"]["note"] for item in rules)


def test_fallback_sources_are_no_alerts(shipped):
    """A fallback source would double or contradict the alerts of better sources on the same host."""
    written = {query for file in shipped.files for rule in rules_of(shipped, file) for query in queries(rule)}
    assert not [query for query in written if "kbmemfree" in query or "Processor_Utility" in query]
    named = {rule["labels"]["rule"] for file in shipped.files for rule in rules_of(shipped, file)} - {"silence"}
    refused = {item.rule for item in shipped.refused if item.reason == FALLBACK}
    assert {rule for rule in named if any(source.fallback for source in SIGNALS[RULES[rule].signal].sources)} <= refused


def test_limits_for_some_hosts_over_what_every_host_has_are_no_alerts(shipped):
    """The latency limit for a database's disks does not apply to the disks of every Windows host."""
    refused = {item.rule for item in shipped.refused if item.reason.endswith(UNTOLD)}
    assert {"ad-read-latency", "sql-write-latency-critical", "pool-nonpaged", "print-spooler-busy"} <= refused
    linux = [query for rule in rules_of(shipped, "linux.yaml") for query in queries(rule)]
    assert linux
    assert not [query for query in linux if '"win_' in query]


def test_expressions_are_of_grafanas_schema(shipped):
    if not SCHEMA.is_file():
        pytest.skip("Grafana's schemas are not here: ../shared/reference/grafana/jsonschema")
    definitions = json.loads(SCHEMA.read_text())["definitions"]
    kinds = {kind: Draft7Validator({"$ref": f"#/definitions/Type{kind.title()}", "definitions": definitions}) for kind in ("math", "reduce", "threshold")}  # fmt: skip
    models = [query["model"] for file in shipped.files for rule in rules_of(shipped, file) for query in rule["data"]]
    faults = [fault.message for model in models if "type" in model for fault in kinds[model["type"]].iter_errors(model)]
    assert faults == []


def test_sources_of_one_signal_are_one_rule():
    (rule,) = rules_of(exported({}))
    assert rule["title"] == "r"
    (query,) = queries(rule)
    assert query.startswith('SELECT max("value") FROM (SELECT mean("Percent_Processor_Time") AS "value" FROM "win_cpu"')
    assert query.endswith('GROUP BY "host", "source", "objectname", "cpu", "device"')
    assert query.count('AS "value"') == 7  # two of the five add up fields first


def test_where_low_is_bad_the_lowest_of_a_hosts_sources_counts():
    (query,) = queries(rules_of(exported({"signal": "memory.available", "healthy": "> 4"}))[0])
    assert query.startswith('SELECT min("value")')


def test_sources_with_the_same_labels_have_separate_rules():
    rules = rules_of(exported({"signal": "cpu.context_switches", "healthy": "< 15000"}))
    assert [rule["title"] for rule in rules] == ["r (1 of 2)", "r (2 of 2)"]
    assert len({rule["uid"] for rule in rules}) == 2


def test_a_limit_with_no_worse_side_has_a_rule_for_each_source():
    assert len(rules_of(exported({"healthy": "= 80"}))) == 5


def test_a_plain_rule_is_a_query_a_reduce_and_a_threshold():
    rule = rules_of(exported({"over": "1m", "for": "5m"}))[0]
    first, second, third = rule["data"]
    assert first["relativeTimeRange"] == {"from": 90, "to": 30}
    assert second["model"]["settings"] == {"mode": "dropNN"}
    assert third["model"]["conditions"] == [{"evaluator": {"type": "gte", "params": [80]}}]
    assert rule["for"] == "5m"
    assert rule["noDataState"] == "KeepLast"
    assert rule["missing_series_evals_to_resolve"] == GONE_AFTER // (10 * SECOND)
    assert rule["labels"] == {"severity": "warning", "pack": "p", "rule": "r"}


@pytest.mark.parametrize(
    ("healthy", "evaluator"),
    [("< 80", "gte"), ("<= 80", "gt"), ("> 80", "lte"), (">= 80", "lt"), ("= 80", "ne")],
)
def test_a_limit_is_crossed_where_its_healthy_side_ends(healthy, evaluator):
    assert condition(rules_of(exported({"healthy": healthy}))[0])["evaluator"] == {"type": evaluator, "params": [80]}


def test_recovery_unloads_where_it_is_reached():
    result = condition(rules_of(exported({"healthy": "< 80", "recover": "< 70"}))[0])
    assert result["unloadEvaluator"] == {"type": "lt", "params": [70]}


def test_annotations():
    rule = {"sources": [{"document": "D", "place": "P1"}, {"document": "E", "place": "P2"}], "measured_on": "one disk"}
    result = rules_of(exported(rule, options=GrafanaOptions(panel_of=lambda signal: ("plimsoll-cpu", 3))))[0]
    assert result["annotations"] == {
        "summary": "s",
        "description": "Processor time of{{ with $labels.host }} {{ . }}{{ end }} is "
        '{{ printf "%.6g" $values.B.Value }} %; healthy is < 80 %.',
        "value": '{{ printf "%.6g" $values.B.Value }} %',
        "limit": "< 80 % (mean over 1 min)",
        "counters": r"\Processor(_Total)\% Processor Time or \Processor Information(_Total)\% Processor Time or "
        r"\System\% Total Processor Time or cpu.usage_idle + usage_iowait or cpu_util.pct_idle + pct_iowait",
        "source": "D, P1; E, P2",
        "runbook_url": "/public/plimsoll/rules/r.md",
        "note": "Measured on one disk.",
        "__dashboardUid__": "plimsoll-cpu",
        "__panelId__": "3",
    }


def test_warning_is_not_while_critical_is():
    warning, critical = {"for": "5m"}, {"id": "k", "healthy": "< 95", "severity": "critical", "for": "10m"}
    rule = rules_of(exported(warning, critical))[0]
    assert expressions(rule) == ["($B >= 80) && ($D < 95)"]
    assert queries(rule)[1].startswith('SELECT max("value") FROM (SELECT min("Percent_Processor_Time")')
    assert rule["data"][2]["relativeTimeRange"] == {"from": 30 + 660, "to": 30}
    assert "Not while k is crossed." in rule["annotations"]["note"]


@pytest.mark.parametrize("critical", [{"healthy": "< 70"}, {"over": "5m", "healthy": "< 95"}, {"signal": "disk.busy_total", "healthy": "< 95"}])  # fmt: skip
def test_rules_that_are_not_of_one_kind_do_not_exclude_each_other(critical):
    rule = rules_of(exported({}, {"id": "k", "severity": "critical", **critical}))[0]
    assert len(rule["data"]) == 3


def test_conditions_are_joined_within_one_collector():
    rules = rules_of(exported({"and": [{"signal": "cpu.context_switches", "healthy": "< 1000"}]}))
    assert [rule["title"] for rule in rules][-2:] == ["r (4 of 5)", "r (5 of 5)"]
    assert [rule["annotations"]["counters"] for rule in rules][-2:] == [
        "cpu.usage_idle + usage_iowait & kernel.context_switches",
        "cpu_util.pct_idle + pct_iowait & task.cswch_per_s",
    ]
    assert all(expressions(rule) == ["($B >= 80) && ($D >= 1000)"] for rule in rules)


def test_where_phases_are_not_known_further_conditions_hold():
    unknown = [{"signal": "cpu.busy", "reduce": "increase", "over": "10m", "healthy": "> 0"}]
    rule = rules_of(exported({"phase": "steady", "when_phase_unknown": unknown}))[0]
    assert expressions(rule) == ["($B >= 80) && (($D + 0 / ($F >= 300000000000)) <= 0)"]
    assert "Documented for the steady phase of a test" in rule["annotations"]["note"]


def test_a_short_window_is_widened_to_twice_the_interval():
    rule = rules_of(exported({}, options=GrafanaOptions(interval=300 * SECOND)))[0]
    assert rule["data"][0]["relativeTimeRange"] == {"from": 630, "to": 30}


def scaled(**facts):
    return SiteSettings(["A"], facts=Facts({Subject("A"): facts})) if facts else SiteSettings()


def test_scaled_limit_is_the_documented_one_but_for_hosts_that_say_otherwise():
    queue = {"signal": "disk.queue_length", "healthy": "<= 3", "scale": "spindles"}
    general, result = rules_of(exported(queue, site=scaled(spindles=4)))
    assert condition(general)["evaluator"]["params"] == [3]
    assert '"source" !~ /(?i)^A$/' in queries(general)[0]
    assert condition(result)["evaluator"]["params"] == [12]
    assert '"source" =~ /(?i)^A$/' in queries(result)[0]
    assert result["title"].endswith(" on A")
    assert result["uid"] != general["uid"]


def test_instance_goes_before_its_host():
    queue = {"signal": "disk.queue_length", "healthy": "<= 3", "scale": "spindles"}
    site = SiteSettings(["A"], facts=Facts({Subject("A"): {"spindles": 4}, Subject("A", "0 C:"): {"spindles": 2}}))
    rules = rules_of(exported(queue, site=site))
    assert [condition(rule)["evaluator"]["params"] for rule in rules] == [[3], [12], [6]]
    assert 'OR "instance" !~ /(?i)^0 C:$/)' in queries(rules[1])[0]
    assert 'AND "instance" =~ /(?i)^0 C:$/' in queries(rules[2])[0]


def test_recovery_is_scaled_with_its_limit():
    queue = {"signal": "disk.queue_length", "healthy": "<= 3", "recover": "<= 2", "scale": "spindles"}
    general, result = rules_of(exported(queue, site=scaled(spindles=4)))
    assert condition(general)["unloadEvaluator"]["params"] == [2]
    assert condition(result)["unloadEvaluator"]["params"] == [8]


def test_fact_that_nobody_knows_is_refused_and_known_hosts_are_exported():
    result = exported({"healthy": "< 2", "scale": "clock_mhz"}, site=scaled(clock_mhz=2800.0))
    reason = "its limit scales by clock_mhz, which is not known; give it in plimsoll.toml for a host"
    assert reason in [refused.reason for refused in result.refused]
    assert {rule["title"][-5:] for rule in rules_of(result)} == {" on A"}


def changed(host, **update):
    def judged(rule, named):
        off = update.get("off", False)
        if named.casefold() != host.casefold():
            return Judged(rule)
        return Judged(replace(rule, **{key: value for key, value in update.items() if key != "off"}), "Why.", off)

    return SiteSettings([host], judged)


def test_threshold_set_for_a_host_is_a_rule_of_its_own():
    general, *_, result = rules_of(exported({}, site=changed("MSSQL$X", for_=60 * SECOND)))
    assert general["for"] == "0s"
    assert result["for"] == "1m"
    assert result["title"].endswith(" on MSSQL$$X")
    assert result["annotations"]["note"] == "Why."
    assert r'"host" =~ /(?i)^MSSQL\$X$/' in queries(result)[0]


def test_rule_that_is_off_for_a_host_excludes_it():
    (rule,) = rules_of(exported({}, site=changed("A", off=True)))
    assert queries(rule)[0].count('"host" !~ /(?i)^A$/') == 5


def test_rule_that_is_off_everywhere_is_not_exported():
    assert rules_of(exported({}, site=SiteSettings((), lambda rule, host: Judged(rule, off=True)))) == []


def test_drive_is_for_the_disks_that_are_marked():
    site = SiteSettings(["A"], drives={Subject("A", "2 E:"): "database", Subject("A", "3 F:"): "log"})
    rules = rules_of(exported({"signal": "disk.reads", "healthy": "< 50", "drive": "database"}, site=site))
    assert {rule["title"].partition(" on ")[2] for rule in rules} == {"A 2 E:"}


def test_signal_of_another_host_tag_is_refused_by_name():
    result = exported({"and": [{"signal": "sql.page_life_expectancy", "healthy": "> 3600"}]})
    assert any("has its host in another tag (host, sql_instance)" in str(item) for item in result.refused)


def test_sql_server_joined_to_a_host_is_its_default_instance():
    rule = rules_of(exported({"and": [{"signal": "sql.page_life_expectancy", "healthy": "> 3600"}]}))[0]
    assert "\"objectname\" = 'SQLServer:Buffer Manager'" in queries(rule)[1]


def test_rules_that_are_no_more_are_deleted_in_grafana():
    before = exported({"id": "old"}, {})
    after = exported({}, previous=before.files)
    retired = yaml.load(after.files["retired.yaml"], yaml.CSafeLoader)["deleteRules"]
    assert {item["uid"] for item in retired} == {
        rule["uid"] for rule in rules_of(before) if rule["labels"]["rule"] == "old"
    }
    again = exported({}, previous=after.files)
    assert again.files == after.files
    back = exported({"id": "old"}, {}, previous=again.files)
    assert "retired.yaml" not in back.files


def test_both_contact_points_are_notified_if_both_are_given():
    options = GrafanaOptions(emails=("a@x.example", "b@x.example"), webhook="http://h.example/$in")
    data = yaml.load(exported({}, options=options).files["contact.yaml"], yaml.CSafeLoader)
    assert data["contactPoints"][0]["receivers"][0]["settings"]["addresses"] == "a@x.example;b@x.example"
    assert data["contactPoints"][1]["receivers"][0]["settings"]["url"] == "http://h.example/$$in"
    routes = [(route["receiver"], route.get("continue", False)) for route in data["policies"][0]["routes"]]
    assert routes[:2] == [("plimsoll-email", True), ("plimsoll-webhook", False)]


def test_title_that_grafana_has_no_room_for_loses_its_middle():
    """The rule at the beginning and the host at the end are kept, and titles stay unique."""
    host = "h" * 120
    rules = rules_of(exported({"id": "r" * 60, "and": [{"signal": "cpu.context_switches", "healthy": "< 1000"}]}, site=changed(host, for_=60 * SECOND)))  # fmt: skip
    result = [rule for rule in rules if rule["title"].endswith("h")]
    assert len({rule["title"] for rule in result}) == len(result) > 1
    assert all(rule["title"].startswith("r" * 60 + " on ") for rule in result)
    assert max(len(rule["title"].encode()) for rule in result) <= 190


def test_braces_of_names_and_reasons_are_no_templates():
    rule = rules_of(exported({}, site=SiteSettings((), lambda rule, host: Judged(rule, "as {{ $labels.x }} said"))))[0]
    assert rule["annotations"]["note"] == 'as {{ "{{" }} $labels.x }} said'


@pytest.mark.parametrize(("interval", "minutes", "look_back"), [(10, 5, 6 * 3600), (60, 5, 6 * 3600), (600, 30, 6 * 3600), (7200, 360, 24 * 3600)])  # fmt: skip
def test_silence_is_longer_than_the_interval(interval, minutes, look_back):
    """Three samples must be missing, and the look-back window must be long enough for earlier samples."""
    rule = rules_of(exported({}, options=GrafanaOptions(interval=interval * SECOND)), "silence.yaml")[0]
    assert f", {minutes}) FROM" in queries(rule)[0]
    assert rule["data"][0]["relativeTimeRange"] == {"from": look_back + 30, "to": 30}
    assert rule["annotations"]["limit"] == f"none for {minutes} min"
