"""The checker finds each fault that stops Grafana from starting or makes a rule silently wrong."""

import copy
from typing import Any

import pytest
import yaml

from plimsoll.export.grafana.alerts.alerts import export
from plimsoll.export.grafana.check.check import mistakes
from plimsoll.rules.load import load, load_signals

RULE: dict[str, Any] = {
    "uid": "cpu-high",
    "title": "CPU high",
    "condition": "C",
    "data": [
        {
            "refId": "A",
            "relativeTimeRange": {"from": 90, "to": 30},
            "datasourceUid": "plimsoll-influxql",
            "model": {
                "refId": "A",
                "datasource": {"type": "influxdb", "uid": "plimsoll-influxql"},
                "rawQuery": True,
                "resultFormat": "time_series",
                "query": 'SELECT mean("x") FROM "m" WHERE $timeFilter GROUP BY "host"',
            },
        },
        {
            "refId": "B",
            "datasourceUid": "__expr__",
            "model": {
                "refId": "B",
                "datasource": {"type": "__expr__", "uid": "__expr__"},
                "type": "reduce",
                "expression": "A",
                "reducer": "last",
                "settings": {"mode": "dropNN"},
            },
        },
        {
            "refId": "C",
            "datasourceUid": "__expr__",
            "model": {
                "refId": "C",
                "datasource": {"type": "__expr__", "uid": "__expr__"},
                "type": "threshold",
                "expression": "B",
                "conditions": [
                    {
                        "evaluator": {"type": "gt", "params": [90]},
                        "unloadEvaluator": {"type": "lt", "params": [80]},
                    }
                ],
            },
        },
    ],
    "noDataState": "KeepLast",
    "execErrState": "Error",
    "for": "5m",
    "missing_series_evals_to_resolve": 100,
    "annotations": {"__dashboardUid__": "cpu", "__panelId__": "4", "value": "{{ $values.B.Value }}"},
    "labels": {"severity": "warning"},
    "notification_settings": {"receiver": "ops", "group_by": ["host"]},
}
FILE: dict[str, Any] = {
    "apiVersion": 1,
    "groups": [{"orgId": 1, "name": "windows", "folder": "Perf", "interval": "30s", "rules": [RULE]}],
    "deleteRules": [{"orgId": 1, "uid": "gone"}],
    "contactPoints": [
        {
            "orgId": 1,
            "name": "ops",
            "receivers": [{"uid": "ops-1", "type": "webhook", "settings": {"url": "http://127.0.0.1/"}}],
        }
    ],
    "policies": [
        {
            "orgId": 1,
            "receiver": "ops",
            "group_by": ["host"],
            "group_interval": "5m",
            "routes": [
                {
                    "receiver": "ops",
                    "object_matchers": [["severity", "=", "critical"]],
                    "mute_time_intervals": ["night"],
                }
            ],
        }
    ],
    "muteTimes": [{"orgId": 1, "name": "night", "time_intervals": [{"weekdays": ["sunday"]}]}],
    "templates": [{"orgId": 1, "name": "t", "template": "x"}],
}
GROUP, FIRST = ("groups", 0), ("groups", 0, "rules", 0)
QUERY, REDUCE, LIMIT = ((*FIRST, "data", at) for at in range(3))
INFLUXQL = (*QUERY, "model", "query")
HYSTERESIS = (*LIMIT, "model", "conditions", 0)
GONE = object()
CASES = [
    # where, what is put there, what the checker says
    (("apiVersion",), 2, "apiVersion"),
    (("group",), [], 'unknown key "group" (did you mean "groups"?): Grafana would forget it'),
    ((*FIRST, "keepFireingFor"), "2m", 'unknown key "keepFireingFor" (did you mean "keepFiringFor"?)'),
    ((*REDUCE, "model", "reducr"), "last", 'unknown key "reducr"'),
    ((*HYSTERESIS, "unload"), {}, 'unknown key "unload"'),
    ((*GROUP, "name"), " ", "name is blank: Grafana does not start"),
    ((*GROUP, "folder"), "", "folder is blank: Grafana does not start"),
    ((*GROUP, "interval"), "15s", 'interval "15s" is not a positive multiple of 10s'),
    ((*GROUP, "interval"), "0s", 'interval "0s" is not a positive multiple of 10s'),
    ((*GROUP, "interval"), "soon", 'interval "soon" is not a duration'),
    ((*FIRST, "uid"), GONE, '"uid" is missing'),
    ((*FIRST, "uid"), "x" * 41, "is 41 characters long, more than 40"),
    ((*FIRST, "uid"), "a b", "may have letters, digits, - and _ only"),
    ((*FIRST, "uid"), "gone", '"gone" is among deleteRules too'),
    ((*FIRST, "title"), "", "title is blank"),
    ((*FIRST, "title"), "MSSQL$X", "Grafana takes $ for an environment variable here; write $$"),
    ((*FIRST, "title"), "é" * 96, "title is 192 bytes long, more than 190: Grafana does not start"),
    ((*FIRST, "data"), [], "data"),
    ((*FIRST, "condition"), "D", 'condition "D" is no refId of the rule'),
    ((*FIRST, "condition"), "A", 'condition "A" is a series: only a number can be judged'),
    ((*FIRST, "noDataState"), "Ok", 'noDataState: "Ok" is not one of'),
    ((*FIRST, "noDataState"), GONE, '"noDataState" is missing'),
    ((*FIRST, "execErrState"), "NoData", 'execErrState: "NoData" is not one of'),
    ((*FIRST, "for"), "-5m", 'for "-5m" is not a duration'),
    ((*FIRST, "for"), "five", 'for "five" is not a duration'),
    ((*FIRST, "keepFiringFor"), "x", 'keepFiringFor "x" is not a duration'),
    ((*FIRST, "missing_series_evals_to_resolve"), 0, "0 is not above 0: Grafana does not start"),
    ((*FIRST, "labels"), {"__grafana_x": "y"}, "label __grafana_x is reserved"),
    ((*FIRST, "labels"), {"host": "$labels.host"}, "Grafana takes $ for an environment variable here"),
    ((*FIRST, "annotations", "__panelId__"), GONE, "__dashboardUid__ and __panelId__ go together"),
    ((*FIRST, "annotations", "__panelId__"), "four", '"four" is not a whole number'),
    ((*FIRST, "annotations", "__panelId__"), "9", 'dashboard "cpu" has no panel 9'),
    ((*FIRST, "annotations", "__dashboardUid__"), "cpus", 'there is no dashboard "cpus" (did you mean "cpu"?)'),
    ((*FIRST, "annotations", "value"), "{{ $values.Z.Value }}", "$values.Z is no refId of the rule"),
    ((*FIRST, "annotations", "value"), "{{ $values.B.Value", "a template is not closed"),
    ((*FIRST, "annotations", "value"), "{{ $$labels.host }}", "annotations keep $ as it is"),
    (
        (*FIRST, "annotations", "value"),
        "of {{host}}",
        "{{ host }} is not a template: the annotation would show an error",
    ),
    ((*FIRST, "notification_settings", "receiver"), "op", 'there is no contact point "op" (did you mean "ops"?)'),
    ((*FIRST, "notification_settings", "group_by"), ["a", "a"], "a label stands twice"),
    ((*QUERY, "refId"), "B", 'refId "B" stands twice'),
    ((*QUERY, "model", "refId"), "Q", 'refId "Q" is not that of its query, "A"'),
    ((*QUERY, "datasourceUid"), "influx", 'data source "influx" is not the one that is provisioned'),
    ((*QUERY, "model", "datasource", "uid"), "x", 'data source "x" is not that of its query'),
    ((*QUERY, "relativeTimeRange"), GONE, "query A has no relativeTimeRange"),
    ((*QUERY, "relativeTimeRange"), {"from": 30, "to": 30}, "from 30 is not before to 30: Grafana does not start"),
    ((*QUERY, "relativeTimeRange"), {"from": 30, "to": -1}, "to -1 lies in the future"),
    ((*QUERY, "relativeTimeRange"), {"from": 1.5, "to": 0}, "from"),
    ((*QUERY, "model", "resultFormat"), "table", "an alert needs series"),
    ((*QUERY, "model", "rawQuery"), False, "rawQuery"),
    (INFLUXQL, 'SELECT mean("x") FROM "m" WHERE time > now() - 1m', "without $timeFilter it reads everything"),
    (
        INFLUXQL,
        'SELECT mean("x") FROM "m" WHERE $timeFilter AND "host" =~ /^$host$/',
        "$host is not expanded in alerts",
    ),
    (INFLUXQL, 'SELECT mean("x") FROM "m" WHERE $timeFilter AND "h" = \'a\' GROUP BY ${by}', "$by is not expanded"),
    (INFLUXQL, 'SELECT mean("x") FROM "m" WHERE $timeFilter GROUP BY time(1m)', "end it with fill(none)"),
    (INFLUXQL, 'SELECT mean("x") FROM "m" WHERE $timeFilter GROUP BY time(1m) fill(null)', "end it with fill(none)"),
    (INFLUXQL, 'SELECT mean("x"), max("y") FROM "m" WHERE $timeFilter', "it selects several fields"),
    (INFLUXQL, 'SELECT mean("x" FROM "m" WHERE $timeFilter', "a bracket or a quote is not closed"),
    (INFLUXQL, 'SELECT mean("x) FROM "m" WHERE $timeFilter', "a bracket or a quote is not closed"),
    (INFLUXQL, "DROP MEASUREMENT m", "a query begins with SELECT"),
    ((*REDUCE, "model", "type"), "resample", "type is not one of math, reduce, threshold"),
    ((*REDUCE, "model", "reducer"), "avg", 'reducer: "avg" is not one of'),
    ((*REDUCE, "model", "settings"), GONE, "a strict reduce makes NaN of any null"),
    ((*REDUCE, "model", "settings"), {"mode": "replaceNN"}, "replaceNN needs replaceWithValue"),
    ((*REDUCE, "model", "settings"), {"mode": "replaceNN", "replaceWithValue": 0}, "was not measured"),
    ((*REDUCE, "model", "expression"), "Z", '"Z" is no refId of the rule'),
    ((*LIMIT, "model", "expression"), "Z", '"Z" is no refId of the rule'),
    ((*LIMIT, "model", "expression"), "A", '"A" is a series: only a number can be judged'),
    ((*LIMIT, "model", "conditions"), [], "conditions"),
    ((*HYSTERESIS, "evaluator"), {"type": "above", "params": [1]}, '"above" is not one of'),
    ((*HYSTERESIS, "evaluator", "params"), [1, 2], "gt takes 1 parameter, found 2"),
    ((*HYSTERESIS, "evaluator"), {"type": "within_range", "params": [1]}, "within_range takes 2 parameters, found 1"),
    ((*HYSTERESIS, "unloadEvaluator"), {"type": "gt", "params": [1]}, "what fires at gt recovers on the other side"),
    (("contactPoints", 0, "name"), "", "name is blank"),
    (("contactPoints", 0, "receivers", 0, "uid"), GONE, '"uid" is missing'),
    (("contactPoints", 0, "receivers", 0, "type"), " ", "type is blank"),
    (("contactPoints", 0, "receivers", 0, "settings"), GONE, '"settings" is missing'),
    (("contactPoints", 0, "receivers", 0, "settings"), {}, "webhook needs url"),
    (("contactPoints", 0, "receivers", 0, "settings", "url"), "${HOOK}", "takes $ for an environment variable"),
    (("contactPoints", 0, "receivers", 0, "settings", "url"), "pager/in", "is no URL"),
    (("contactPoints", 0, "receivers", 0, "settings", "ulr"), "http://x/", 'no setting "ulr" (did you mean "url"?)'),
    (
        ("contactPoints", 0, "receivers", 0),
        {"uid": "a", "type": "email", "settings": {"addresses": "a@x.example;ops"}},
        '"ops" is no e-mail address',
    ),
    (("contactPoints", 0, "receivers", 0, "type"), "email", "email needs addresses"),
    (("policies", 0, "receiver"), "nobody", 'there is no contact point "nobody"'),
    (("policies", 0, "receiver"), GONE, "the root policy has no receiver"),
    (("policies", 0, "object_matchers"), [["a", "=", "b"]], "the root policy takes everything"),
    (("policies", 0, "group_by"), ["host", "host"], 'label "host" stands twice'),
    (("policies", 0, "group_interval"), "0s", "group_interval is 0"),
    (("policies", 0, "routes", 0, "repeat_interval"), "0m", "repeat_interval is 0"),
    (("policies", 0, "routes", 0, "group_wait"), "x", 'group_wait "x" is not a duration'),
    (("policies", 0, "routes", 0, "receiver"), "nobody", 'there is no contact point "nobody"'),
    (("policies", 0, "routes", 0, "mute_time_intervals"), ["nights"], 'there is no mute time "nights" (did you mean'),
    (("policies", 0, "routes", 0, "object_matchers"), [["a", "~", "b"]], '"~" is not one of'),
    (("deleteRules", 0, "uid"), "a b", "may have letters, digits, - and _ only"),
]
DASHBOARD = """{"uid": "cpu", "panels": [{"id": 4}, {"id": 5, "panels": [{"id": 6}]}]}"""


def broken(place, value, data=FILE):
    data = copy.deepcopy(data)
    inner = data
    for part in place[:-1]:
        inner = inner[part]
    if value is GONE:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return data


def found_in(*files, parser=None, dashboards=True):
    """Return the mistakes in alerting files, without those in the dashboard."""
    texts = {f"{at}.yaml": yaml.safe_dump(data, sort_keys=False) for at, data in enumerate(files)}
    if dashboards:
        texts["cpu.json"] = DASHBOARD
    return [line for line in mistakes(texts, parser) if not line.startswith("cpu.json")]


def test_a_valid_file_has_no_mistakes():
    assert found_in(FILE) == []


@pytest.mark.parametrize(("place", "value", "expected"), CASES, ids=[f"{'.'.join(map(str, case[0]))}={str(case[1])[:20]}" for case in CASES])  # fmt: skip
def test_each_fault_is_found(place, value, expected):
    lines = found_in(broken(place, value))
    assert any(expected in line for line in lines), lines
    assert all(line.startswith("0.yaml:") for line in lines)


def test_a_mistake_has_file_line_and_column():
    (line,) = found_in(broken((*FIRST, "for"), "five"))
    text = yaml.safe_dump(broken((*FIRST, "for"), "five"), sort_keys=False).splitlines()
    _, row, column, rest = line.split(":", 3)
    assert text[int(row) - 1][int(column) - 1 :].startswith("for: five")
    assert rest.startswith(" rule cpu-high: ")


def test_a_duplicate_key_is_found():
    lines = mistakes({"a.yaml": "apiVersion: 1\ngroups: []\ngroups: []\n"})
    assert lines == ['a.yaml:3:1: "groups" stands here a second time']


def test_what_is_no_yaml_is_found():
    assert "not valid YAML" in mistakes({"a.yaml": "a: [1\n"})[0]


def renamed(**changes):
    data = copy.deepcopy(FILE)
    data["groups"][0] |= {key: changes[key] for key in ("name", "folder") if key in changes}
    data["groups"][0]["rules"][0] |= {key: changes[key] for key in ("uid", "title") if key in changes}
    return {key: data[key] for key in ("apiVersion", "groups")}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (renamed(name="b", title="Other"), 'uid "cpu-high" stands at 0.yaml:'),
        (renamed(name="b", uid="other"), 'title "CPU high" stands at 0.yaml:'),
        (renamed(uid="other", title="Other"), 'group "windows" stands at 0.yaml:'),
        ({"apiVersion": 1, "policies": FILE["policies"]}, "there is one tree of policies"),
    ],
)
def test_duplicates_across_files_are_found(other, expected):
    (line,) = found_in(FILE, other)
    assert line.startswith("1.yaml:")
    assert expected in line


def test_titles_of_two_folders_may_be_alike():
    assert found_in(FILE, renamed(uid="other", folder="Else")) == []


def with_math(expression):
    data = copy.deepcopy(FILE)
    math = {"refId": "M", "datasourceUid": "__expr__", "model": {"refId": "M", "datasource": {"type": "__expr__", "uid": "__expr__"}, "type": "math", "expression": expression}}  # fmt: skip
    data["groups"][0]["rules"][0]["data"].insert(2, math)
    data["groups"][0]["rules"][0]["data"][3]["model"]["expression"] = "M"
    return data


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("$B / $Z", '"Z" is no refId of the rule'),
        ("$B /", "not an expression: it ends where a value should be"),
        ("($B", "not an expression: a bracket is not closed"),
        ("$B ? 1", "not an expression"),
        ("$M + 1", "it is over itself, $M"),
        ("$A + 1", '"M" is a series: only a number can be judged'),
    ],
)
def test_expressions_are_read(expression, expected):
    lines = found_in(with_math(expression))
    assert any(expected in line for line in lines), lines


def test_hysteresis_below_the_condition_is_found():
    data = with_math("$C + 0")
    rules = data["groups"][0]["rules"][0]
    rules["data"][3]["model"]["expression"] = "B"
    rules["data"].append(rules["data"].pop(2))
    rules["condition"] = "M"
    (line,) = found_in(data)
    assert "Grafana applies unloadEvaluator to the condition of the rule only" in line


def test_links_are_checked_where_dashboards_are_there():
    other = broken((*FIRST, "annotations", "__panelId__"), "99")
    assert found_in(other) != []
    assert found_in(other, dashboards=False) == []
    assert found_in(broken((*FIRST, "annotations", "__panelId__"), "6")) == []


def test_queries_are_parsed(influxql):
    (line,) = found_in(broken(INFLUXQL, 'SELECT mean("x") FROM WHERE $timeFilter'), parser=influxql)
    assert "not InfluxQL" in line


def test_what_is_exported_is_right_with_the_dashboards_it_leads_to(plimsoll, tmp_path):
    assert plimsoll("grafana", "export", "--out", tmp_path).status == 0
    done = plimsoll("grafana", "check", tmp_path / "rules" / "grafana", tmp_path / "dashboards" / "grafana")
    assert (done.status, done.err) == (0, "")


def test_command_lists_each_mistake_and_exits_with_2(plimsoll, tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("apiVersion: 1\ngroop: []\n")
    done = plimsoll("grafana", "check", file)
    assert done.status == 2
    assert done.err == f'plimsoll: {file}:2:1: unknown key "groop" (did you mean "groups"?): Grafana would forget it; correct it\n'  # fmt: skip


def test_command_names_what_is_not_there(plimsoll, tmp_path):
    done = plimsoll("grafana", "check", tmp_path / "none")
    assert done.status == 2
    assert "does not exist" in done.err


def test_mutated_export_is_found():
    """A shipped file with one line missing or misspelt is reported, unless Grafana has a default for the line."""
    text = export(load(only=["disk"]).packs, load_signals()).files["disk.yaml"]
    assert mistakes({"disk.yaml": text}) == []
    data = yaml.load(text, yaml.CSafeLoader)
    for name in data["groups"][0]["rules"][0]:
        if name not in ("annotations", "labels", "missing_series_evals_to_resolve"):
            assert mistakes({"a.yaml": yaml.safe_dump(broken((*FIRST, name), GONE, data))}), name
        assert mistakes({"a.yaml": yaml.safe_dump(broken((*FIRST, f"{name}x"), 1, data))}), name
