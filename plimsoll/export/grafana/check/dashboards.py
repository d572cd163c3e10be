"""Checks dashboards. Grafana itself ignores a misspelt key, and shows a panel with a wrong query as empty.

Each mistake is one line: the file, the place in it, what is wrong, what to do.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from plimsoll.dashboards.areas import WIDTH, load_areas, uid
from plimsoll.export.grafana.check.panel_queries import panels, questions
from plimsoll.export.grafana.check.targets import INFLUX, PROMETHEUS, target_mistakes, unknown_variables
from plimsoll.export.grafana.links import DATASOURCE_UID
from plimsoll.export.grafana.sdk import JSONEncoder, dashboard, register_default_plugins
from plimsoll.model.errors import suggest

SCHEMA_VERSION = 42
_UID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_LINK = re.compile(r"/d/([A-Za-z0-9_-]+)(?:\?[^ ]*?viewPanel=panel-(\d+))?")
_OWN = "plimsoll-"
_ANNOTATION = (*INFLUX, "queryType", "fromAnnotations", "name")
_COLUMNS = ("titleColumn", "textColumn", "tagsColumn", "timeEndColumn")
# The transformations that our panels use, with their options. Grafana ignores unknown ones.
_TRANSFORMATIONS: Mapping[str, tuple[str, ...] | None] = {
    "calculateField": ("mode", "alias", "binary", "replaceFields", "reduce", "timeSeries"),
    "convertFieldType": ("conversions",),
    "extractFields": ("source", "format", "regExp", "delimiter", "jsonPaths", "replace", "keepTime"),
    "filterByValue": ("type", "match", "filters"),
    "filterFieldsByName": ("include", "exclude"),
    "groupBy": ("fields",),
    "groupingToMatrix": ("columnField", "rowField", "valueField", "emptyValue"),
    "joinByField": ("byField", "mode"),
    "merge": (),
    "organize": ("excludeByName", "indexByName", "renameByName", "includeByName"),
    "reduce": ("reducers", "fields", "mode", "includeTimeField", "labelsToFields"),
    "renameByRegex": ("regex", "renamePattern"),
    "sortBy": ("sort",),
    "timeSeriesTable": None,  # options by refId
}
_ALERTS = (
    "alertInstanceLabelFilter", "alertName", "dashboardAlerts", "datasource", "folder", "groupBy", "groupMode",
    "maxItems", "showInactiveAlerts", "showInstances", "sortOrder", "stateFilter", "viewMode",
)  # fmt: skip
_ALERT_STATES = ("firing", "pending", "recovering", "noData", "normal", "error")
_TIMES = ("dateTime", "time:")
_DAY_MS = 86_400_000

Json = Mapping[str, Any]


def mistakes(file: str, text: str) -> Iterator[str]:
    """Yield the mistakes in a dashboard."""
    try:
        data = json.loads(text)
    except ValueError as error:
        yield f"{file}: not JSON: {error}; correct it"
        return
    except RecursionError:
        yield f"{file}: nested too deeply for a dashboard"
        return
    if not isinstance(data, dict):
        yield f"{file}: not a dashboard; it is to be an object"
        return
    for where, message in _all(data):
        yield f"{file}: {where}: {message}"


def queries(text: str) -> Iterator[tuple[str, str]]:
    """Yield the location and text of every InfluxQL query of a dashboard, with macros and variables replaced."""
    for question in questions(json.loads(text)):
        yield question.where, question.asked(0, _DAY_MS)


def _all(data: Json) -> Iterator[tuple[str, str]]:
    yield from _dashboard(data)
    try:
        yield from _unknown_keys(data)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        yield "dashboard", f"does not have the form of one: {error}; correct it"
        return
    known = [variable.get("name") for variable in data.get("templating", {}).get("list", ())]
    ids = [panel.get("id", 0) for panel in panels(data)]
    yield from _places(data)
    for panel in panels(data):
        where = f"panel {panel.get('id')} ({panel.get('title', '')})"
        targets = target_mistakes(panel, known, ids)
        for message in (*_panel(panel), *_thresholds(panel), *targets, *_transformations(panel)):
            yield where, message
    yield from _variables(data)
    yield from _annotations(data)
    yield from _links(data)


def _dashboard(data: Json) -> Iterator[tuple[str, str]]:
    if data.get("schemaVersion") != SCHEMA_VERSION:
        yield "schemaVersion", f"is {data.get('schemaVersion')}; write {SCHEMA_VERSION}, the classic form"
    if not _UID.fullmatch(str(data.get("uid", ""))):
        yield "uid", f'"{data.get("uid")}" is not up to 40 of A-Z, a-z, 0-9, _ and -; give it one'
    if not str(data.get("title", "")).strip():
        yield "title", "is blank: Grafana refuses the file; give it one"
    if data.get("id") is not None:
        yield "id", "is the number of a dashboard in one Grafana; leave it out"


def _unknown_keys(data: Json) -> Iterator[tuple[str, str]]:
    """Yield keys that are lost when the SDK reads and writes the dashboard: Grafana would ignore them."""
    register_default_plugins()
    known = json.loads(json.dumps(dashboard.Dashboard.from_json(dict(data)), cls=JSONEncoder))
    yield from _lost(data, known, "")


def _lost(given: Any, known: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(given, dict) and isinstance(known, dict):
        for key, value in given.items():
            if key not in known:
                if value is not None:
                    near = suggest(key, [name for name in known if name not in given])
                    yield where or "dashboard", f'unknown key "{key}"{near}: Grafana would forget it; correct it'
            else:
                yield from _lost(value, known[key], f"{where}.{key}" if where else key)
    elif isinstance(given, list) and isinstance(known, list):
        for at, (one, other) in enumerate(zip(given, known, strict=False)):
            yield from _lost(one, other, f"{where}[{at}]")


def _places(data: Json) -> Iterator[tuple[str, str]]:
    """Yield panels whose id is not a number or not unique, and panels that overlap or extend beyond the edge."""
    ids = Counter(panel.get("id") for panel in panels(data))
    for number, times in ids.items():
        if not isinstance(number, int) or number < 1:
            yield f"panel {number}", "its id is not a positive number, so no link can lead to it; give it one"
        elif times > 1:
            yield f"panel {number}", f"{times} panels have this id; give each its own"
    inside = [panel.get("panels") or () for panel in data.get("panels") or ()]
    for group in (data.get("panels") or (), *inside):
        for panel in group:
            place = panel.get("gridPos") or {}
            if not {"x", "y", "w", "h"} <= place.keys() or place["w"] < 1 or place["x"] + place["w"] > WIDTH:
                yield f"panel {panel.get('id')}", f"gridPos is missing or beyond the {WIDTH} columns; place it"
        for one, other in combinations([panel for panel in group if len(panel.get("gridPos") or ()) == 4], 2):
            if _overlap(one["gridPos"], other["gridPos"]):
                yield f"panel {one.get('id')}", f"lies on panel {other.get('id')}; move one"


def _overlap(one: Json, other: Json) -> bool:
    beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
    above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    return not (beside or above)


def _panel(panel: Json) -> Iterator[str]:
    if not panel.get("type"):
        yield "has no type; give it one"
    if panel.get("type") not in ("row", "text", "alertlist") and not panel.get("targets"):
        yield "asks nothing; give it targets"
    if panel.get("type") == "alertlist":
        options = panel.get("options", {})
        yield from _unknown("option", options, _ALERTS)
        yield from _unknown("state", options.get("stateFilter", {}), _ALERT_STATES)
    unit = str(panel.get("fieldConfig", {}).get("defaults", {}).get("unit", ""))
    if panel.get("type") == "table" and unit.startswith(_TIMES):
        yield f"{unit} is a unit of times: names in other columns would be NaN; give it to one column, as an override"


def _unknown(what: str, given: Json, known: Sequence[str]) -> Iterator[str]:
    for name in given.keys() - set(known):
        yield f'unknown {what} "{name}"{suggest(name, [*known])}: Grafana would forget it; correct it'


def _transformations(panel: Json) -> Iterator[str]:
    """Yield transformations and options that Grafana would ignore, and names that are lost before they are used."""
    steps = panel.get("transformations") or ()
    named: str | None = None
    for step in steps:
        kind, options = str(step.get("id", "")), step.get("options", {})
        if kind not in _TRANSFORMATIONS:
            yield f'"{kind}" is no transformation that is known here{suggest(kind, [*_TRANSFORMATIONS])}; correct it'
            continue
        known = _TRANSFORMATIONS[kind]
        yield from _unknown(f"option of {kind}", options, known) if known is not None else ()
        if kind == "merge" and named:
            yield f"merge forgets the names that {named} gives; give them after it"
        named = kind if kind in ("organize", "renameByRegex") else named
        for pattern in (options.get("regExp"), options.get("regex"), (step.get("filter") or {}).get("options")):
            if pattern is not None and not re.fullmatch("/.*/g?", pattern):
                yield f'"{pattern}" stands for itself; a regular expression is between slashes'
    if any(step.get("options", {}).get("labelsToFields") for step in steps if step.get("id") == "reduce"):
        hidden = any("Field" in step["options"].get("excludeByName", {}) for step in steps if step["id"] == "organize")
        read = any(step["options"].get("source") == "Field" for step in steps if step["id"] == "extractFields")
        if read or not hidden:
            yield "Field is the same in each row where labels are columns; hide it, or take labelsToFields away"


def _thresholds(panel: Json) -> Iterator[str]:
    config = panel.get("fieldConfig", {})
    values = [config.get("defaults", {}).get("thresholds")]
    for override in config.get("overrides", ()):
        values += [one.get("value") for one in override["properties"] if one["id"] == "thresholds"]
    for thresholds in values:
        steps = [step.get("value") for step in (thresholds or {}).get("steps", ())]
        if steps and steps[0] is not None:
            yield "the first threshold is the base; its value is to be null"
        numbers: list[float] = [value for value in steps[1:] if value is not None]
        if len(numbers) < len(steps) - 1 or numbers != sorted(numbers):
            yield "thresholds do not rise: Grafana takes the wrong colour; put them in order"


def _variables(data: Json) -> Iterator[tuple[str, str]]:
    found: list[Json] = data.get("templating", {}).get("list", [])
    known = [variable.get("name") for variable in found]
    for name, times in Counter(known).items():
        if times > 1:
            yield f"variable {name}", "stands twice; keep one"
    for variable in found:
        where = f"variable {variable.get('name')}"
        of_influx = variable.get("type") == "datasource" and variable.get("query") != PROMETHEUS
        if of_influx and variable.get("current", {}).get("value") != DATASOURCE_UID:
            yield where, f"begins with another data source than {DATASOURCE_UID}; give it that as its current value"
        if variable.get("type") != "query":
            continue
        if "$timeFilter" in str(variable.get("query")) and variable.get("refresh") != 2:
            yield where, "asks for a range it is not given; set refresh to 2"
        # Where disks are marked, a list of hosts keeps out those that have only disks.
        listed = any(str(name).endswith("_disk") for name in known)
        if variable.get("includeAll") and not variable.get("allValue") and not listed:
            yield where, 'All is written as a list of every value; give it the allValue ".*"'
        for message in unknown_variables(str(variable.get("query")), [*known, "1"]):  # of label_replace: $1
            yield where, message


def _annotations(data: Json) -> Iterator[tuple[str, str]]:
    for annotation in data.get("annotations", {}).get("list", ()):
        where, target = f"annotation {annotation.get('name')}", annotation.get("target") or {}
        if "query" not in target:
            continue
        for key in target.keys() - {*_ANNOTATION, *_COLUMNS}:
            yield where, f'unknown key "{key}"{suggest(key, [*_ANNOTATION, *_COLUMNS])}; correct it'
        if not target.get("fromAnnotations") or target.get("queryType") != "tags":
            yield where, 'is not taken for one of InfluxDB; set fromAnnotations to true and queryType to "tags"'
        measured = re.search(r' FROM "([^"]+)"', target["query"])
        for column in _COLUMNS:
            measurement, _, field = str(target.get(column, "")).rpartition(".")
            if f'"{field}"' not in target["query"]:
                yield where, f'{column} "{target.get(column)}" is not selected by its query; name one that is'
            elif measured and measurement != measured[1]:
                whole = f"{measured[1]}.{field}"
                yield where, f'{column} "{target.get(column)}" is no column of the answer by this name; write {whole}'


def _links(data: Json) -> Iterator[tuple[str, str]]:
    """Yield links to dashboards of ours, or to their panels, that do not exist."""
    areas = load_areas()
    there: dict[str, set[int]] = {area.uid: {panel.id for panel in area.panels} for area in areas.areas}
    others = {uid("health"), uid("runs")}
    for found, panel in set(_LINK.findall(json.dumps(data))):
        if not found.startswith(_OWN):
            continue
        if found not in there and found not in others:
            yield "links", f'there is no dashboard "{found}"{suggest(found, [*there, *others])}; correct it'
        elif panel and found in there and int(panel) not in there[found]:
            yield "links", f"{found} has no panel {panel}; correct it"
