"""Builds the JSON objects of which Grafana's dashboards consist, with the constant fields from parts.yaml."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from plimsoll.model.file_models import file_model
from plimsoll.model.strict_yaml import read, validate
from plimsoll.rules.schema.field_types import Severity

DATASOURCE_UID = "plimsoll-influxql"


@file_model
class GrafanaUnit:
    """How Grafana shows a unit of signals: Grafana's id of a `unit`, a label for the `axis`, a factor `scale`."""

    unit: str
    small: str | None = None
    axis: str = ""
    scale: float = 1.0


@file_model
class GrafanaLook:
    """The content of look.yaml: units, and the colours of severities, of runs and of lines."""

    units: dict[str, GrafanaUnit]
    severities: dict[Severity, str]
    run: str
    line: str


Json: TypeAlias = dict[str, Any]
DATASOURCE = {"type": "influxdb", "uid": "${datasource}"}
SHARED = {"type": "datasource", "uid": "-- Dashboard --"}
LAST = "Last *"  # Grafana's name for a column of last values


def build_part(*names: str, **fields: Any) -> Json:
    """Return one object with the fields that parts.yaml has under these names, and with `fields`; later fields win."""
    merged: Json = {}
    for name in names:
        merged |= deepcopy(_load_parts()[name])
    return {**merged, **fields}


def build_panel(name: str, title: str, grid: Json, **fields: Any) -> Json:
    """Return a panel with the fields that parts.yaml has under `name` (such as `table`), and with `fields`."""
    return build_part("panel", name, title=title, gridPos=grid, **fields)


def build_grid(height: int, width: int, x: int, y: int) -> Json:
    """Return the position and size of a panel in Grafana's grid."""
    return {"h": height, "w": width, "x": x, "y": y}


def build_table_options(column: str, *, desc: bool) -> Json:
    """Return the options of a table that is at first sorted by this column."""
    return {**build_part("table")["options"], "sortBy": [{"desc": desc, "displayName": column}]}


def link(title: str, url: str, *, new_tab: bool = False) -> Json:
    """Return Grafana's object for a link to a URL."""
    return build_part("link", title=title, url=url, targetBlank=new_tab)


def build_override(name: str, properties: Mapping[str, object]) -> Json:
    """Return the field override that sets properties for the field `name` of a panel."""
    return {
        "matcher": {"id": "byNames", "options": {"mode": "include", "names": [name]}},
        "properties": [{"id": name, "value": value} for name, value in properties.items()],
    }


def build_transformation(kind: str, **options: Any) -> Json:
    """Return the transformation of this kind, with its options."""
    return {"id": kind, "options": options}


def build_organize(names: Mapping[str, str], hidden: Sequence[str] = ()) -> Json:
    """Return a transformation that orders, renames and hides the columns of a table."""
    return build_transformation(
        "organize",
        excludeByName=dict.fromkeys(hidden, True),
        indexByName={name: at for at, name in enumerate(names)},
        # Unchanged names are left out, as they would override the panel's display name.
        renameByName={name: new for name, new in names.items() if name != new},
    )


def build_last_values() -> Json:
    """Return the transformation of lines to table rows, with a column for each label and for the last value."""
    return build_transformation("reduce", mode="seriesToRows", reducers=["lastNotNull"], labelsToFields=True)


@cache
def _load_parts() -> Json:
    text = files("plimsoll.export.grafana.dashboards").joinpath("parts.yaml").read_text(encoding="utf-8")
    for severity, color in load_look().severities.items():
        text = text.replace(f"<{severity}>", color)
    return read("parts.yaml", text.encode()).data


@cache
def load_look() -> GrafanaLook:
    """Load look.yaml. Raise Mistakes if it is invalid."""
    return validate(read("look.yaml", files("plimsoll.export.grafana").joinpath("look.yaml").read_bytes()), GrafanaLook)
