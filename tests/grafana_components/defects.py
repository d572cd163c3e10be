"""Puts defects that dashboards once had back into a copy of them, to see that the checks find them."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

Dashboard = dict[str, Any]


def silence_as_zero(health: Dashboard) -> None:
    """An empty text for no value, which Grafana's sparklines read as 0."""
    for panel in _tables(health):
        defaults = panel["fieldConfig"]["defaults"]
        defaults["noValue"] = ""
        defaults.pop("mappings", None)


def narrow_limits(health: Dashboard) -> None:
    """A column too narrow for the names of limits."""
    _override(_distance(health), "Limit", {"custom.width": 100, "custom.minWidth": 50})


def links_everywhere(health: Dashboard) -> None:
    """Links of all columns, several of each."""
    link = {"title": "Disk", "url": "/d/plimsoll-disk?${__url_time_range}"}
    _distance(health)["fieldConfig"]["defaults"]["links"] = [
        link,
        {**link, "title": "CPU", "url": "/d/plimsoll-cpu?${__url_time_range}"},
    ]


def a_column_twice(health: Dashboard) -> None:
    """A column with what is left of another."""
    panel = _distance(health)
    share = panel["options"]["sortBy"][0]["displayName"]
    binary = {"left": "100", "operator": "-", "right": share}
    calculated = {"mode": "binary", "alias": "Left", "binary": binary, "replaceFields": False}
    panel["transformations"].append({"id": "calculateField", "options": calculated})


def a_mark_with_two_meanings(health: Dashboard) -> None:
    """The severity of the rule beside the limit, in the marks of the state."""
    for target in _distance(health)["targets"]:
        *before, limit, host = target["alias"].split("|")
        target["alias"] = "|".join([*before, f"◆ {limit}", host])


def the_first_disk(sql_server: Dashboard) -> None:
    """The disk with the first name instead of those of the database."""
    variable = _variable(sql_server, "database_disk")
    variable.update(includeAll=False, multi=True, regex="/^(?!.*_Total$).+/", sort=5)
    for name in ("current", "allValue"):
        variable.pop(name, None)


def the_same_run_twice(runs: Dashboard) -> None:
    """Both runs chosen by the same query."""
    run, baseline = _variable(runs, "run"), _variable(runs, "baseline")
    kept = {name: baseline[name] for name in ("name", "label")}
    baseline.clear()
    baseline.update({**deepcopy(run), **kept})


def addresses_in_cells(runs: Dashboard) -> None:
    """A column with a part of the links' addresses."""
    for panel in _tables(runs):
        panel["fieldConfig"]["overrides"] = []
        for one in panel["transformations"]:
            if one["id"] == "organize":
                one["options"]["excludeByName"] = {}


def axes_apart(runs: Dashboard) -> None:
    """Each side of a pair with an axis without fixed bounds, which percentages have."""
    for panel in _all(runs):
        if panel["type"] == "timeseries":
            defaults = panel["fieldConfig"]["defaults"]
            for name in ("min", "max"):
                defaults.pop(name, None)
            for name in ("axisSoftMin", "axisSoftMax"):
                defaults["custom"].pop(name, None)


def colors_of_limits(dashboard: Dashboard) -> None:
    """Lines in all colours of Grafana's palette."""
    for panel in _all(dashboard):
        if panel["type"] == "timeseries":
            panel["fieldConfig"]["defaults"]["color"] = {"mode": "palette-classic-by-name"}


def two_spaces(dashboard: Dashboard) -> None:
    """Units behind two spaces, and numbers without separators."""
    for panel in _all(dashboard):
        defaults = panel.get("fieldConfig", {}).get("defaults", {})
        if defaults.get("unit", "").endswith("/s:suffix"):
            defaults["unit"] = "suffix: /s"


def binary_multiples(dashboard: Dashboard) -> None:
    """Bytes in multiples other than those of the title."""
    for panel in _all(dashboard):
        defaults = panel.get("fieldConfig", {}).get("defaults", {})
        if defaults.get("unit", "").endswith("MB:suffix"):
            defaults["unit"] = "mbytes"


def _all(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels") or ()


def _tables(dashboard: Dashboard) -> list[dict[str, Any]]:
    return [panel for panel in _all(dashboard) if panel["type"] == "table"]


def _distance(health: Dashboard) -> dict[str, Any]:
    return next(panel for panel in _tables(health) if panel["title"] == "Distance to the limits")


def _variable(dashboard: Dashboard, name: str) -> dict[str, Any]:
    return next(one for one in dashboard["templating"]["list"] if one["name"] == name)


def _override(panel: dict[str, Any], name: str, properties: dict[str, Any]) -> None:
    matcher = {"id": "byName", "options": name}
    made = [{"id": id_, "value": value} for id_, value in properties.items()]
    panel["fieldConfig"]["overrides"].append({"matcher": matcher, "properties": made})
