"""The dashboard files are complete, valid, and as committed."""

import json
from pathlib import Path

import jsonschema
import pytest

from plimsoll.dashboards.areas import load_areas
from plimsoll.export.grafana.dashboards import dashboard_files
from tests.export.grafana.committed import FOLDER
from tests.export.grafana.committed import TEXTS as FILES
from tests.export.grafana.panel_queries import panels, questions

SCHEMAS = Path(__file__).parents[4] / "shared" / "reference" / "grafana" / "jsonschema"


def schema(name):
    path = SCHEMAS / f"{name}.jsonschema.json"
    if not path.is_file():
        pytest.skip("Grafana's schemas are not here: ../shared/reference/grafana")
    return json.loads(path.read_text())


def test_committed_files_are_what_is_built():
    """`plimsoll grafana export` writes them."""
    assert {path.name for path in FOLDER.iterdir()} == set(FILES)
    assert dashboard_files.build_files() == FILES


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
                draft7_validator = jsonschema.Draft7Validator({**of_type, "$ref": f"#/definitions/{part}"})
                assert [error.message for error in draft7_validator.iter_errors(value)] == []
                checked += 1
    assert checked


def test_every_query_is_influxql(influxql):
    rows = [
        (name, question.where, question.requests(0, 86_400_000))
        for name, text in FILES.items()
        for question in questions(json.loads(text))
    ]
    faults = influxql([query for _, _, query in rows])
    assert [(item, fault) for item, fault in zip(rows, faults, strict=True) if fault] == []
    assert len(rows) > 200


def test_ids_are_those_of_areas_yaml():
    """Alerts and bookmarks then lead to the same panel when others are added."""
    for area in load_areas().areas:
        shown = {panel["id"] for panel in panels(json.loads(FILES[f"{area.area}.json"])) if panel["type"] != "row"}
        assert shown == {spec.id for spec in area.panels}


def test_rules_pages_can_lie_elsewhere():
    text = dashboard_files.build_files("https://docs.example.org/plimsoll")["cpu.json"]
    assert "https://docs.example.org/plimsoll/rules/cpu-busy.md" in text
    assert "/public/plimsoll/rules/" not in text
