"""The Health dashboard: crossed limits, firing alerts, the distance to limits, a table of hosts, and silent hosts."""

from collections.abc import Sequence
from typing import Any

from plimsoll.dashboards.areas import WIDTH, PanelSpec, load_areas
from plimsoll.dashboards.limits import PanelLimits, home_of, title
from plimsoll.export.grafana.dashboards import dashboard_variables, distance_to_limits, panel_queries, panels, parts
from plimsoll.export.grafana.dashboards.distance_to_limits import Range
from plimsoll.export.grafana.dashboards.parts import Json
from plimsoll.export.grafana.influxql import chosen
from plimsoll.export.selections import variants
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.field_types import Fact
from plimsoll.store.quoting import identifier

AREA = "health"
SILENT = 3  # the id of the panel with each host's last sample
_DISTANCE, _HOSTS, _COURSES, _FIRST_COUNT = 2, 4, 6, 7
_HOST = "Host"
_COUNT_WIDTH = 4
_NAMED = 3  # of the limits crossed the most
_DASH = "–"
_FIRST = "firstNotNull"


def health_variables(limits: PanelLimits) -> list[Json]:
    """Return the dashboard's variables: the data source, the hosts, and the numbers that multiply limits."""
    rules = [rule for row in distance_to_limits.rows(limits) for rule in row]
    signals = dict.fromkeys([*load_areas().health.hosts, *(rule.signal for rule in rules)])
    facts: set[Fact] = {rule.scale for rule in rules if rule.scale and rule.scale in DEFAULTS}
    numbers = map(dashboard_variables.number_variable, sorted(facts))
    return [dashboard_variables.source_variable(), dashboard_variables.hosts_variable(signals), *numbers]


def health_panels(limits: PanelLimits) -> list[Json]:
    """Return all panels of the Health dashboard."""
    look = parts.load_look().severities
    firing = "Limits that are crossed and stay crossed, and hosts that fell silent. A rule leads to its page."
    notes = "Beyond what the documents measured, which by itself is no trouble."
    return [
        _count(0, "Critical limits crossed", distance_to_limits.CRITICAL, look["critical"]),
        _count(1, "Warning limits crossed", distance_to_limits.WARNING, look["warning"]),
        _crossed_the_most(),
        distance_to_limits.distance_panel(limits, _DISTANCE, parts.grid(13, 16, 0, 3)),
        _alerts(1, "Firing", firing, '{severity!="info"}', parts.grid(13, 8, 16, 3)),
        _alerts(5, "Notes", notes, '{severity="info"}', parts.grid(6, 12, 0, 26)),
        _hosts(limits),
        _courses(limits),
        _last_heard_of(),
    ]


def _count(number: int, name: str, ranges: Sequence[Range], color: str) -> Json:
    """Return the panel that counts the crossed limits whose state is in these ranges."""
    stat = _stat(name, number, _COUNT_WIDTH, calcs=["count"], fields="/^State$/")
    stat["options"]["textMode"] = "value"
    mapping = {"type": "value", "options": {"0": {"text": "none", "color": "text"}}}
    shown = {"fixedColor": color, "mode": "fixed"}
    defaults = {"unit": "none", "noValue": "none", "mappings": [mapping], "color": shown}
    return {
        **stat,
        "description": "How many limits were crossed, counted by host and instance.",
        "transformations": [_in_ranges(ranges)],
        "fieldConfig": {"defaults": defaults, "overrides": []},
    }


def _crossed_the_most() -> Json:
    stat = _stat("", 2, WIDTH - 2 * _COUNT_WIDTH, values=True, limit=_NAMED, calcs=[]) | parts.part("crossed_the_most")
    stat["options"]["textMode"] = "value_and_name"
    ranges = [*distance_to_limits.CRITICAL, *distance_to_limits.WARNING]
    stat["transformations"].insert(0, _in_ranges(ranges))
    # Not for all columns: `503 responses` would be mapped as the number 503.
    sentence = "${__data.fields.Host}: ${__data.fields.Limit}"
    state = parts.override("State", {"displayName": sentence, "mappings": distance_to_limits.state_mappings()})
    return {**stat, "fieldConfig": {"defaults": {"noValue": "No limit was crossed"}, "overrides": [state]}}


def _stat(name: str, number: int, width: int, **reduced: Any) -> Json:
    """Return a stat panel over the data of the table of distances to limits; `number` is its position from the left."""
    place = parts.grid(3, width, _COUNT_WIDTH * number, 0)
    targets = [_shared_query(_DISTANCE, transformed=True)]
    stat = parts.panel("stat", name, place, id=_FIRST_COUNT + number, datasource=parts.SHARED, targets=targets)
    stat["options"]["reduceOptions"] = reduced
    return stat


def _shared_query(panel_id: int, *, transformed: bool) -> Json:
    """Return a target that reuses another panel's data, `transformed` by that panel's transformations or not."""
    return {"refId": "A", "datasource": parts.SHARED, "panelId": panel_id, "withTransforms": transformed}


def _in_ranges(ranges: Sequence[Range]) -> Json:
    """Return the transformation that keeps the rows whose state is in one of these ranges."""
    filters = [
        {"fieldName": "State", "config": {"id": "between", "options": {"from": start, "to": end}}}
        for start, end in ranges
    ]
    return parts.transformation("filterByValue", type="include", match="any", filters=filters)


def _alerts(number: int, name: str, about: str, labels: str, place: Json) -> Json:
    alerts = parts.panel("alerts", name, place, id=number, description=about)
    alerts["options"]["alertInstanceLabelFilter"] = labels
    return alerts


def _hosts(limits: PanelLimits) -> Json:
    """Return the table of hosts with the last value of each signal, coloured by the limit that the value crosses."""
    targets = panel_queries.Targets()
    first = load_areas().areas[0]
    charts = parts.link(first.title, f"/d/{first.uid}?var-host=${{__data.fields.Host}}&${{__url_time_range}}")
    overrides = [parts.override(_HOST, {"custom.width": 150, "links": [charts]})]
    for heading, spec, unit in _columns(limits):
        candidates = variants(spec.signal, load_signals())
        query, _ = panel_queries.hosts_query(candidates, panels.scaled_value(unit.scale))
        targets.ask(query, f"{heading}|$tag_host")
        colors = panels.cell_thresholds(limits.rules_of(spec), unit.scale)
        look = {"unit": spec.unit or unit.unit, "thresholds": colors, **parts.part("hosts_column")}
        overrides.append(parts.override(heading, look))
    table = parts.panel(
        "table", "", parts.grid(10, 13, 0, 16), id=_HOSTS, datasource=parts.DATASOURCE, targets=targets.all
    )
    defaults = parts.part("filterable", noValue=_DASH, mappings=[parts.part("dash_mapping")])
    return {
        **table,
        **parts.part("hosts"),
        "options": parts.table_options(_HOST, desc=False),
        "fieldConfig": {"defaults": defaults, "overrides": overrides},
    }


def _courses(limits: PanelLimits) -> Json:
    """Return the table of hosts with a sparkline of each signal, which reuses the data of `_hosts`."""
    columns = [heading for heading, _, _ in _columns(limits)]
    names = [f"Trend #{panel_queries.ref_id(at)}" for at in range(len(columns))]
    fields: Json = {"host": {"operation": "groupby", "aggregations": []}}
    fields |= {name: {"operation": "aggregate", "aggregations": [_FIRST]} for name in names}
    headings = dict(zip((f"{name} ({_FIRST})" for name in names), columns, strict=True))
    targets = [_shared_query(_HOSTS, transformed=False)]
    table = parts.panel("table", "", parts.grid(10, 11, 13, 16), id=_COURSES, datasource=parts.SHARED, targets=targets)
    return {
        **table,
        **parts.part("courses"),
        "transformations": [
            parts.transformation("timeSeriesTable"),
            parts.transformation("merge"),
            # Merging gives several rows where hosts lack signals.
            parts.transformation("groupBy", fields=fields),
            parts.organize({"host": _HOST, **headings}),
        ],
        "options": parts.table_options(_HOST, desc=False),
        "fieldConfig": {
            "defaults": {"noValue": _DASH, "mappings": [parts.part("dash_mapping")]},
            "overrides": [
                parts.override(_HOST, {"custom.width": 150}),
                *(parts.override(column, parts.part("courses_column")) for column in columns),
            ],
        },
    }


def _columns(limits: PanelLimits) -> list[tuple[str, PanelSpec, parts.GrafanaUnit]]:
    """Return the heading, panel spec and unit of each signal that is a column of the tables of hosts."""
    homes = [home_of(signal) for signal in load_areas().health.hosts]
    specs = [home[1] for home in homes if home]
    return [(title(spec, limits), spec, panels.unit_of(spec.signal)) for spec in specs]


def _last_heard_of() -> Json:
    """Return the table with the time of each host's last sample, the longest silent first."""
    targets = panel_queries.Targets()
    for variant in variants(load_areas().health.alive, load_signals()):
        selection = variant.selections[0]
        where = " AND ".join([*selection.where, "$timeFilter", *chosen(selection)])
        source = f"{identifier(selection.measurement)} WHERE {where}"
        query = f'SELECT last({identifier(selection.field)}) FROM {source} GROUP BY "host"'
        targets.ask(query, result_format="table")
    table = parts.panel("table", "", parts.grid(6, 12, 12, 26), datasource=parts.DATASOURCE, targets=targets.all)
    # Not for all columns: with a unit of time, Grafana reads host names as times and shows NaN.
    ago = parts.override("Last sample", {"unit": "dateTimeFromNow"})
    return {
        **table,
        **parts.part("last_heard_of"),
        "transformations": [
            parts.transformation("merge"),
            parts.organize({"host": _HOST, "Time": "Last sample"}, hidden=("last",)),
        ],
        "options": parts.table_options("Last sample", desc=False),
        "fieldConfig": {"defaults": parts.part("filterable", noValue=panels.NO_DATA), "overrides": [ago]},
    }
