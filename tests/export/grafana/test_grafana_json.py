"""The dashboard files are complete, valid, and as committed."""

import json
from pathlib import Path

import jsonschema
import pytest

from plimsoll.dashboards.areas import load_areas
from plimsoll.export.grafana.dashboards import files
from tests.export.grafana.committed import FOLDER
from tests.export.grafana.committed import TEXTS as FILES
from tests.export.grafana.panel_queries import panels, questions

SCHEMAS = Path(__file__).parents[4] / "shared" / "reference" / "grafana" / "jsonschema"
NAMES = {
    *("health", "cpu", "memory", "disk", "network", "sql-server", "ldap", "active-directory", "roles", "file-server"),
    *("messaging", "runs", "network-services", "remote-desktop", "virtual", "applications", "checks"),
}


def schema(name):
    path = SCHEMAS / f"{name}.jsonschema.json"
    if not path.is_file():
        pytest.skip("Grafana's schemas are not here: ../shared/reference/grafana")
    return json.loads(path.read_text())


def test_there_is_a_dashboard_of_each_subject():
    assert {name.removesuffix(".json") for name in FILES} == NAMES
    assert {json.loads(text)["uid"] for text in FILES.values()} == {f"plimsoll-{name}" for name in NAMES}


def test_committed_files_are_what_is_built():
    """`plimsoll grafana export` writes them."""
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)
    assert files.files() == FILES


def open_schema():
    """Return the schema of dashboards, with any value allowed where it allows only objects but Grafana takes more."""
    allowed = schema("dashboard")
    for kind, part in (("MatcherConfig", "options"), ("DynamicConfigValue", "value")):
        assert allowed["definitions"][kind]["properties"][part]["type"] == "object"
        allowed["definitions"][kind]["properties"][part] = {}
    return allowed


@pytest.mark.parametrize("name", FILES)
def test_schema(name):
    validator = jsonschema.Draft7Validator(open_schema())
    assert [error.message for error in validator.iter_errors(json.loads(FILES[name]))] == []


@pytest.mark.parametrize("name", FILES)
def test_schemas_of_the_panels(name):
    """`options` and `custom` of each panel fit the schema of its type. There is none for alertlist."""
    checked = 0
    for panel in panels(json.loads(FILES[name])):
        if panel["type"] in ("row", "alertlist"):
            continue
        of_type = schema(panel["type"])
        custom = panel.get("fieldConfig", {}).get("defaults", {}).get("custom")
        for part, value in (("Options", panel["options"]), ("FieldConfig", custom)):
            if value is not None:
                one = jsonschema.Draft7Validator({**of_type, "$ref": f"#/definitions/{part}"})
                assert [error.message for error in one.iter_errors(value)] == []
                checked += 1
    assert checked


def test_every_query_is_influxql(influxql):
    asked = [
        (name, question.where, question.asked(0, 86_400_000))
        for name, text in FILES.items()
        for question in questions(json.loads(text))
    ]
    faults = influxql([query for _, _, query in asked])
    assert [(one, fault) for one, fault in zip(asked, faults, strict=True) if fault] == []
    assert len(asked) > 200


@pytest.mark.parametrize("name", FILES)
def test_each_answer_has_one_field(name):
    """Two fields would become two lines with the same name."""
    for question in questions(json.loads(FILES[name])):
        if question.target and question.target["resultFormat"] == "time_series":
            selected = question.query.removeprefix("SELECT ").split(" FROM ")[0]
            assert "," not in selected.replace(", 1s)", ")")


def test_ids_are_those_of_areas_yaml():
    """Alerts and bookmarks then lead to the same panel when others are added."""
    for area in load_areas().areas:
        shown = {panel["id"] for panel in panels(json.loads(FILES[f"{area.area}.json"])) if panel["type"] != "row"}
        assert shown == {spec.id for spec in area.panels}


@pytest.mark.parametrize("name", FILES)
def test_every_dashboard_has_its_header(name):
    """It has links that keep time and hosts, the data source as the first variable, and regions of runs."""
    data = json.loads(FILES[name])
    link = data["links"][0]
    assert (link["type"], link["tags"], link["keepTime"], link["includeVars"]) == (
        "dashboards",
        ["plimsoll"],
        True,
        True,
    )
    assert data["tags"] == ["plimsoll"]
    assert "placement" not in link
    names = [variable["name"] for variable in data["templating"]["list"]]
    assert names[0] == "datasource"
    assert "host" in names
    assert data["annotations"]["list"][0]["target"]["fromAnnotations"]


def test_rules_pages_can_lie_elsewhere():
    text = files.files("https://docs.example.org/plimsoll")["cpu.json"]
    assert "https://docs.example.org/plimsoll/rules/cpu-busy.md" in text
    assert "/public/plimsoll/rules/" not in text


def test_rows_of_detail_are_collapsed_with_their_panels_inside():
    cpu = json.loads(FILES["cpu.json"])
    row = next(panel for panel in cpu["panels"] if panel.get("title") == "Each processor")
    assert row["collapsed"]
    assert [panel["id"] for panel in row["panels"]] == [5]
