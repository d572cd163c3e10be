"""The checker of dashboards finds each mistake when it is put into a valid dashboard."""

import json

import pytest

from plimsoll.export.grafana.check.dashboards import mistakes
from tests.export.grafana.committed import TEXTS

DISK = TEXTS["disk.json"]
SQL_SERVER = TEXTS["sql-server.json"]
HEALTH = TEXTS["health.json"]


def found(text):
    return [*mistakes("some.json", text)]


def changed(change, text=DISK):
    data = json.loads(text)
    change(data)
    return found(json.dumps(data))


def put(*place_and_value):
    """Put a value at the path of keys and indexes before it."""
    *place, last, value = place_and_value

    def change(data):
        for part in place:
            data = data[part]
        data[last] = value

    return change


def test_a_good_one_has_none():
    assert found(DISK) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("schemaVersion", 41), "schemaVersion: is 41; write 42"),
        (put("uid", "a" * 41), 'uid: "aaaa'),
        (put("uid", "disk space"), "is not up to 40 of"),
        (put("title", " "), "title: is blank"),
        (put("id", 7), "leave it out"),
        (put("tittle", "Disk"), 'unknown key "tittle"'),
        (put("panels", 0, "fieldConfigs", {"defaults": {}}), 'unknown key "fieldConfigs"'),
        (put("panels", 0, "fieldConfig", "defaults", "custom", "thresholdStyle", {"mode": "line"}), "thresholdStyle"),
        (put("panels", 0, "options", "legend", "placment", "right"), 'unknown key "placment"'),
        (put("panels", 0, "id", None), "its id is not a positive number"),
        (put("panels", 0, "id", 2), "2 panels have this id"),
        (put("panels", 0, "gridPos", "w", 13), "lies on panel 2"),
        (put("panels", 1, "gridPos", "w", 13), "beyond the 24 columns"),
        (put("panels", 0, "type", ""), "has no type"),
        (put("panels", 0, "targets", []), "asks nothing"),
        (put("panels", 0, "fieldConfig", "defaults", "thresholds", "steps", 0, "value", 1), "is the base"),
        (
            put(
                "panels",
                0,
                "fieldConfig",
                "defaults",
                "thresholds",
                "steps",
                [{"value": None, "color": "text"}, {"value": 9, "color": "red"}, {"value": 3, "color": "red"}],
            ),
            "thresholds do not rise",
        ),
        (lambda data: data["panels"][0]["targets"].append(data["panels"][0]["targets"][0]), 'refId "A" is blank or stands 2 times'),
        (put("panels", 0, "targets", 0, "querry", "x"), 'unknown key "querry" (did you mean "query"?)'),
        (put("panels", 0, "targets", 0, "rawQuery", False), "rawQuery is not true"),
        (put("panels", 0, "targets", 0, "resultFormat", "series"), 'resultFormat "series" is not one of'),
        (put("panels", 0, "targets", 0, "datasource", "uid", "other"), 'its data source is "other"'),
        (put("panels", 0, "targets", 0, "datasource", "uid", "${source}"), "which the dashboard does not have"),
        (
            put("panels", 0, "targets", 0, "query", 'SELECT "x" FROM "m" GROUP BY "source", "instance"'),
            "has no $timeFilter",
        ),
        (
            put("panels", 0, "targets", 0, "query", 'SELECT mean("x") FROM "m" WHERE $timeFilter GROUP BY time($__interval)'),
            "end it with fill(none)",
        ),
        (put("panels", 0, "targets", 0, "alias", "$tag_computer"), 'its alias names the tag "computer"'),
        (put("panels", 0, "targets", 0, "query", 'SELECT "x" FROM "m" WHERE $timeFilter AND $hosts'), "$hosts is no variable"),
        (put("templating", "list", 1, "refresh", 1), "set refresh to 2"),
        (put("templating", "list", 1, "allValue", None), "give it the allValue"),
        (put("templating", "list", 1, "name", "instance"), "stands twice"),
        (put("templating", "list", 0, "current", "value", "another"), "begins with another data source"),
        (put("annotations", "list", 0, "target", "fromAnnotations", False), "set fromAnnotations to true"),
        (put("annotations", "list", 0, "target", "timeEndColumn", "plimsoll_run.end"), "is not selected by its query"),
        (put("annotations", "list", 0, "target", "timeEndColumn", "end_ms"), "write plimsoll_run.end_ms"),
        (put("panels", 0, "transformations", [{"id": "renameByRegx", "options": {}}]), '(did you mean "renameByRegex"?)'),
        (put("panels", 0, "transformations", [{"id": "merge", "options": {"by": 1}}]), 'unknown option of merge "by"'),
        (put("panels", 0, "links", 0, "url", "/d/plimsoll-dsik"), 'there is no dashboard "plimsoll-dsik" (did you mean'),
        (put("panels", 0, "links", 0, "url", "/d/plimsoll-cpu?viewPanel=panel-77"), "plimsoll-cpu has no panel 77"),
    ],
)  # fmt: skip
def test_mistake(change, said):
    assert any(said in line for line in changed(change)), changed(change)


def test_expressions_name_targets_of_their_panel():
    data = json.loads(SQL_SERVER)
    row = next(one for one in data["panels"] if one["title"] == "NUMA nodes")
    panel = next(one for one in row["panels"] if one["id"] == 31)
    target = next(one for one in panel["targets"] if "expression" in one)
    target["expression"] = "$A / $ZZ"
    assert any("$ZZ is no target of this panel" in line for line in found(json.dumps(data)))


def test_tables_of_several_tags():
    """The plugin may put their values in the wrong columns."""
    data = json.loads(HEALTH)
    panel = next(one for one in data["panels"] if one["id"] == 3)
    panel["targets"][0]["query"] += ', "source"'
    assert any("ask for time_series" in line for line in found(json.dumps(data)))


def of_health(number, change):
    """Return the mistakes after the panel of Health with this id is changed."""
    data = json.loads(HEALTH)
    change(next(one for one in data["panels"] if one["id"] == number))
    return found(json.dumps(data))


@pytest.mark.parametrize(
    ("number", "change", "said"),
    [
        (1, put("options", "stateFilter", "recoverring", True), 'unknown state "recoverring" (did you mean "recovering"?)'),
        (1, put("options", "alertInstanceLabels", "{}"), 'unknown option "alertInstanceLabels"'),
        (2, put("transformations", 0, "options", "labelsToFields", True), "Field is the same in each row"),
        (2, put("transformations", 1, "options", "regExp", "(?<Limit>.*)"), "is between slashes"),
        (3, put("fieldConfig", "defaults", "unit", "dateTimeFromNow"), "names in other columns would be NaN"),
        (6, lambda panel: panel["transformations"].sort(key=lambda one: one["id"] != "organize"), "merge forgets the names that organize gives"),
        (7, put("targets", 0, "panelId", 99), "it shows the data of panel 99, which is not there"),
    ],
)  # fmt: skip
def test_mistakes_in_tables_and_lists(number, change, said):
    assert any(said in line for line in of_health(number, change))


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "not JSON"), ("[]", "not a dashboard"), ('{"panels": 3}', "does not have the form")],
)
def test_what_is_no_dashboard(text, said):
    assert any(said in line for line in found(text))


def test_lines_tell_file_place_and_what_to_do():
    (line,) = changed(put("schemaVersion", 39))
    assert line == "some.json: schemaVersion: is 39; write 42, the classic form"
