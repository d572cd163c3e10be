"""Checks the targets of panels: queries, expressions, and data shared with another panel."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from plimsoll.export.grafana.links import DATASOURCE_UID
from plimsoll.model.errors import suggest

VARIABLE = re.compile(r"(?<!\\)\$(?:\{(\w+)|(\w+))")  # an escaped $ is part of a name: `MSSQL\$X`
_MACROS = ("timeFilter", "interval")
INFLUX = ("refId", "datasource", "query", "rawQuery", "resultFormat", "alias", "hide")
_PROMETHEUS = ("refId", "datasource", "expr", "legendFormat", "interval", "editorMode", "range")
PROMETHEUS = "prometheus"
_MATH = ("refId", "datasource", "type", "expression", "hide")
_FORMATS = ("time_series", "table", "logs")
_EXPRESSION = "__expr__"
_SHARED = ("refId", "datasource", "panelId", "withTransforms")
_OTHER_PANEL = "-- Dashboard --"

Json = Mapping[str, Any]


def target_mistakes(panel: Json, known: Sequence[str | None], ids: Collection[int]) -> Iterator[str]:
    """Check the targets of a panel, of a dashboard with these variables and ids of panels."""
    targets = panel.get("targets") or ()
    ref_ids = [str(target.get("refId", "")) for target in targets]
    for ref_id, times in Counter(ref_ids).items():
        if times > 1 or not ref_id:
            yield f'refId "{ref_id}" is blank or stands {times} times; give each target its own'
    for target in targets:
        where = f"target {target.get('refId')}"
        source = target.get("datasource", {}).get("uid")
        is_prometheus = target.get("datasource", {}).get("type") == PROMETHEUS
        others = _PROMETHEUS if is_prometheus else INFLUX
        keys = _MATH if source == _EXPRESSION else _SHARED if source == _OTHER_PANEL else others
        for key in target.keys() - set(keys):
            yield f'{where}: unknown key "{key}"{suggest(key, keys)}: Grafana would forget it; correct it'
        if source == _EXPRESSION:
            messages = _expression(target, ref_ids)
        elif source == _OTHER_PANEL:
            messages = _shared(target, ids)
        elif is_prometheus:
            messages = _promql(target, known)
        else:
            messages = _query(target, known)
        yield from (f"{where}: {message}" for message in messages)


def _shared(target: Json, ids: Collection[int]) -> Iterator[str]:
    if target.get("panelId") not in ids:
        yield f"it shows the data of panel {target.get('panelId')}, which is not there; name one that is"


def _expression(target: Json, ref_ids: Sequence[str]) -> Iterator[str]:
    if target.get("type") != "math":
        yield f'type "{target.get("type")}" is not math; correct it'
    for braced, plain in VARIABLE.findall(str(target.get("expression", ""))):
        if (braced or plain) not in ref_ids:
            yield f"${braced or plain} is no target of this panel; name one"


def _query(target: Json, known: Sequence[str | None]) -> Iterator[str]:
    query = str(target.get("query", ""))
    yield from _source(target, known)
    if not query.strip() or target.get("rawQuery") is not True:
        yield "has no query, or rawQuery is not true: Grafana builds a query of its own; write both"
    if target.get("resultFormat") not in _FORMATS:
        yield f'resultFormat "{target.get("resultFormat")}" is not one of {", ".join(_FORMATS)}; correct it'
    if "$timeFilter" not in query and " ORDER BY time " not in query:
        yield "its query has no $timeFilter, so it reads everything there is; add it"
    if "time($__interval)" in query and "fill(none)" not in query:
        yield "intervals without samples are filled; end it with fill(none)"
    if target.get("resultFormat") == "table" and query.partition(" GROUP BY ")[2].count(",") > 0:
        yield "tables of several tags can have them in the wrong columns; ask for time_series"
    yield from unknown_variables(query, known)
    tags = set(re.findall(r"\$tag_(\w+)", str(target.get("alias", ""))))
    for tag in sorted(tags - set(re.findall(r'"([^"]+)"', query.rpartition(" GROUP BY ")[2]))):
        yield f'its alias names the tag "{tag}", by which the query does not group; group by it'


def _promql(target: Json, known: Sequence[str | None]) -> Iterator[str]:
    expr = str(target.get("expr", ""))
    yield from _source(target, known)
    if not expr.strip() or target.get("range") is not True:
        yield "has no expr, or range is not true: Grafana asks for nothing; write both"
    if not target.get("interval"):
        yield "has no interval: Grafana takes 15s for the time between samples; give it"
    yield from unknown_variables(expr, [*known, *map(str, range(1, 10))])  # of label_replace: $1


def _source(target: Json, known: Sequence[str | None]) -> Iterator[str]:
    source = target.get("datasource") or {}
    name = str(source.get("uid", ""))
    variable = VARIABLE.fullmatch(name.rstrip("}"))
    if source.get("type") not in ("influxdb", PROMETHEUS) or not (variable or name == DATASOURCE_UID):
        yield f'its data source is "{name}"; take ${{datasource}} or {DATASOURCE_UID}'
    elif variable and (variable[1] or variable[2]) not in known:
        yield f"its data source is the variable {name}, which the dashboard does not have; add it"


def unknown_variables(text: str, known: Sequence[str | None]) -> Iterator[str]:
    """Yield the variables in a text that the dashboard does not have."""
    for braced, plain in VARIABLE.findall(text):
        name = braced or plain
        if name not in known and name not in _MACROS and not name.startswith("__"):
            yield f"${name} is no variable of the dashboard; add it, or correct the name"
