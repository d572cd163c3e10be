"""The Health dashboard: crossed limits, firing alerts, the distance to limits, a table of hosts, and silent hosts."""

from collections.abc import Sequence
from typing import Any

from plimsoll.dashboards.areas import WIDTH, PanelSpec, load_areas
from plimsoll.dashboards.limits import PanelLimits, find_home_panel, format_title
from plimsoll.export.grafana.dashboards import dashboard_variables, distance_to_limits, panel_queries, panels, parts
from plimsoll.export.grafana.dashboards.distance_to_limits import Range
from plimsoll.export.grafana.dashboards.parts import Json
from plimsoll.export.grafana.influxql import list_chosen_conditions
from plimsoll.export.selections import list_variants
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.field_types import Fact
from plimsoll.store.quoting import quote_identifier

AREA = "health"
SILENT = 3  # the id of the panel with each host's last sample
_DISTANCE, _HOSTS, _COURSES, _FIRST_COUNT = 2, 4, 6, 7
_HOST = "Host"
_COUNT_WIDTH = 4
_NAMED = 3  # of the limits crossed the most
_DASH = "–"
_FIRST = "firstNotNull"


def list_health_variables(limits: PanelLimits) -> list[Json]:
    """Return the dashboard's variables: the data source, the hosts, and the numbers that multiply limits."""
    rules = [rule for row in distance_to_limits.list_rows(limits) for rule in row]
    signals = dict.fromkeys([*load_areas().health.hosts, *(rule.signal for rule in rules)])
    facts: set[Fact] = {rule.scale for rule in rules if rule.scale and rule.scale in DEFAULTS}
    numbers = map(dashboard_variables.number_variable, sorted(facts))
    return [dashboard_variables.build_source_variable(), dashboard_variables.build_hosts_variable(signals), *numbers]


def list_health_panels(limits: PanelLimits) -> list[Json]:
    """Return all panels of the Health dashboard."""
    look = parts.load_look().severities
    firing = "Limits that are crossed and stay crossed, and hosts that fell silent. A rule leads to its page."
    notes = "Beyond what the documents measured, which by itself is no trouble."
    return [
        _count(0, "Critical limits crossed", distance_to_limits.CRITICAL, look["critical"]),
        _count(1, "Warning limits crossed", distance_to_limits.WARNING, look["warning"]),
        _build_most_crossed(),
        distance_to_limits.build_distance_panel(limits, _DISTANCE, parts.build_grid(13, 16, 0, 3)),
        _build_alerts(1, "Firing", firing, '{severity!="info"}', parts.build_grid(13, 8, 16, 3)),
        _build_alerts(5, "Notes", notes, '{severity="info"}', parts.build_grid(6, 12, 0, 26)),
        _build_hosts_table(limits),
        _build_courses(limits),
        _build_last_samples(),
    ]


def _count(number: int, name: str, ranges: Sequence[Range], color: str) -> Json:
    """Return the panel that counts the crossed limits whose state is in these ranges."""
    stat = _build_stat(name, number, _COUNT_WIDTH, calcs=["count"], fields="/^State$/")
    stat["options"]["textMode"] = "value"
    mapping = {"type": "value", "options": {"0": {"text": "none", "color": "text"}}}
    shown = {"fixedColor": color, "mode": "fixed"}
    defaults = {"unit": "none", "noValue": "none", "mappings": [mapping], "color": shown}
    return {
        **stat,
        "description": "How many limits were crossed, counted by host and instance.",
        "transformations": [_keep_ranges(ranges)],
        "fieldConfig": {"defaults": defaults, "overrides": []},
    }


def _build_most_crossed() -> Json:
    stat = _build_stat("", 2, WIDTH - 2 * _COUNT_WIDTH, values=True, limit=_NAMED, calcs=[]) | parts.build_part(
        "crossed_the_most"
    )
    stat["options"]["textMode"] = "value_and_name"
    ranges = [*distance_to_limits.CRITICAL, *distance_to_limits.WARNING]
    stat["transformations"].insert(0, _keep_ranges(ranges))
    # Not for all columns: `503 responses` would be mapped as the number 503.
    sentence = "${__data.fields.Host}: ${__data.fields.Limit}"
    state = parts.build_override(
        "State", {"displayName": sentence, "mappings": distance_to_limits.list_state_mappings()}
    )
    return {**stat, "fieldConfig": {"defaults": {"noValue": "No limit was crossed"}, "overrides": [state]}}


def _build_stat(name: str, number: int, width: int, **reduced: Any) -> Json:
    """Return a stat panel over the data of the table of distances to limits; `number` is its position from the left."""
    place = parts.build_grid(3, width, _COUNT_WIDTH * number, 0)
    targets = [_share_query(_DISTANCE, transformed=True)]
    stat = parts.build_panel("stat", name, place, id=_FIRST_COUNT + number, datasource=parts.SHARED, targets=targets)
    stat["options"]["reduceOptions"] = reduced
    return stat


def _share_query(panel_id: int, *, transformed: bool) -> Json:
    """Return a target that reuses another panel's data, after that panel's transformations if `transformed`."""
    return {"refId": "A", "datasource": parts.SHARED, "panelId": panel_id, "withTransforms": transformed}


def _keep_ranges(ranges: Sequence[Range]) -> Json:
    """Return the transformation that keeps the rows whose state is in one of these ranges."""
    filters = [
        {"fieldName": "State", "config": {"id": "between", "options": {"from": start, "to": end}}}
        for start, end in ranges
    ]
    return parts.build_transformation("filterByValue", type="include", match="any", filters=filters)


def _build_alerts(number: int, name: str, about: str, labels: str, place: Json) -> Json:
    alerts = parts.build_panel("alerts", name, place, id=number, description=about)
    alerts["options"]["alertInstanceLabelFilter"] = labels
    return alerts


def _build_hosts_table(limits: PanelLimits) -> Json:
    """Return the table of hosts with the last value of each signal, coloured by the limit that the value crosses."""
    targets = panel_queries.Targets()
    first = load_areas().areas[0]
    charts = parts.link(first.title, f"/d/{first.uid}?var-host=${{__data.fields.Host}}&${{__url_time_range}}")
    overrides = [parts.build_override(_HOST, {"custom.width": 150, "links": [charts]})]
    for heading, spec, unit in _list_columns(limits):
        candidates = list_variants(spec.signal, load_signals())
        query, _ = panel_queries.build_hosts_query(candidates, panels.scale_value(unit.scale))
        targets.ask(query, f"{heading}|$tag_host")
        colors = panels.build_cell_thresholds(limits.rules_of(spec), unit.scale)
        look = {"unit": spec.unit or unit.unit, "thresholds": colors, **parts.build_part("hosts_column")}
        overrides.append(parts.build_override(heading, look))
    table = parts.build_panel(
        "table", "", parts.build_grid(10, 13, 0, 16), id=_HOSTS, datasource=parts.DATASOURCE, targets=targets.all
    )
    defaults = parts.build_part("filterable", noValue=_DASH, mappings=[parts.build_part("dash_mapping")])
    return {
        **table,
        **parts.build_part("hosts"),
        "options": parts.build_table_options(_HOST, desc=False),
        "fieldConfig": {"defaults": defaults, "overrides": overrides},
    }


def _build_courses(limits: PanelLimits) -> Json:
    """Return the table of hosts with a sparkline of each signal, which reuses the data of `_build_hosts_table`."""
    columns = [heading for heading, _, _ in _list_columns(limits)]
    names = [f"Trend #{panel_queries.make_ref_id(at)}" for at in range(len(columns))]
    fields: Json = {"host": {"operation": "groupby", "aggregations": []}}
    fields |= {name: {"operation": "aggregate", "aggregations": [_FIRST]} for name in names}
    headings = dict(zip((f"{name} ({_FIRST})" for name in names), columns, strict=True))
    targets = [_share_query(_HOSTS, transformed=False)]
    table = parts.build_panel(
        "table", "", parts.build_grid(10, 11, 13, 16), id=_COURSES, datasource=parts.SHARED, targets=targets
    )
    return {
        **table,
        **parts.build_part("courses"),
        "transformations": [
            parts.build_transformation("timeSeriesTable"),
            parts.build_transformation("merge"),
            # Merging gives several rows where hosts lack signals.
            parts.build_transformation("groupBy", fields=fields),
            parts.build_organize({"host": _HOST, **headings}),
        ],
        "options": parts.build_table_options(_HOST, desc=False),
        "fieldConfig": {
            "defaults": {"noValue": _DASH, "mappings": [parts.build_part("dash_mapping")]},
            "overrides": [
                parts.build_override(_HOST, {"custom.width": 150}),
                *(parts.build_override(column, parts.build_part("courses_column")) for column in columns),
            ],
        },
    }


def _list_columns(limits: PanelLimits) -> list[tuple[str, PanelSpec, parts.GrafanaUnit]]:
    """Return the heading, panel spec and unit of each signal that is a column of the tables of hosts."""
    homes = [find_home_panel(signal) for signal in load_areas().health.hosts]
    specs = [home[1] for home in homes if home]
    return [(format_title(spec, limits), spec, panels.find_unit(spec.signal)) for spec in specs]


def _build_last_samples() -> Json:
    """Return the table with the time of each host's last sample, the longest silent first."""
    targets = panel_queries.Targets()
    for variant in list_variants(load_areas().health.alive, load_signals()):
        selection = variant.selections[0]
        where = " AND ".join([*selection.where, "$timeFilter", *list_chosen_conditions(selection)])
        source = f"{quote_identifier(selection.measurement)} WHERE {where}"
        query = f'SELECT last({quote_identifier(selection.field)}) FROM {source} GROUP BY "host"'
        targets.ask(query, result_format="table")
    table = parts.build_panel(
        "table", "", parts.build_grid(6, 12, 12, 26), datasource=parts.DATASOURCE, targets=targets.all
    )
    # Not for all columns: with a unit of time, Grafana reads host names as times and shows NaN.
    ago = parts.build_override("Last sample", {"unit": "dateTimeFromNow"})
    return {
        **table,
        **parts.build_part("last_heard_of"),
        "transformations": [
            parts.build_transformation("merge"),
            parts.build_organize({"host": _HOST, "Time": "Last sample"}, hidden=("last",)),
        ],
        "options": parts.build_table_options("Last sample", desc=False),
        "fieldConfig": {"defaults": parts.build_part("filterable", noValue=panels.NO_DATA), "overrides": [ago]},
    }
