"""The tables of the Health dashboard with a row for each host: its values at the end of the range, and their course."""

from collections.abc import Mapping

from plimsoll.dashboards.areas import PanelSpec, load_areas
from plimsoll.dashboards.homes import home_of
from plimsoll.dashboards.limits import Limits, title
from plimsoll.export.grafana.dashboards import describe, panels, targets, thresholds
from plimsoll.export.grafana.look import Unit
from plimsoll.export.grafana.sdk import common, dashboard
from plimsoll.export.selections import variants
from plimsoll.rules.load import load_signals

HOST = "Host"
_POINTS = 60
_FIRST = "firstNotNull"
_SEPARATOR = "|"  # between signal and host in the names of lines that become cells
_NAME = r"/^(?<Signal>.*)\|(?<Host>[^|]*)$/"
_MATRIX = r"/^Host\\Signal$/"  # the name of the first column


def values(limits: Limits, number: int, position: dashboard.GridPos) -> dashboard.Panel:
    """Return the table with the last value of each signal, in the colour of the limit that it is beyond."""
    found = targets.Targets()
    overrides = [panels.override(HOST, {"custom.width": 150, "links": [_to_charts()]})]
    for heading, spec, unit in _columns(limits):
        ways = variants(spec.signal, load_signals())
        query, _ = targets.of_hosts(ways, panels.scaled_value(unit.scale))
        found.ask(query, f"{heading}{_SEPARATOR}$tag_host")
        overrides.append(panels.override(heading, _colored(spec, unit, limits)))
    return dashboard.Panel(
        "table",
        id_val=number,
        title="Hosts",
        description=(
            "The last value of each host in the range, in the colour of the limit that it is beyond; a dash where the "
            "host has no such counter. A host leads to its charts."
        ),
        grid_pos=position,
        datasource=targets.DATASOURCE,
        targets=found.all,
        interval=panels.INTERVAL,
        max_data_points=_POINTS,
        transformations=[
            panels.rows(["lastNotNull"], labels=False),
            dashboard.DataTransformerConfig(
                "extractFields", options={"source": "Field", "format": "regexp", "regExp": _NAME}
            ),
            dashboard.DataTransformerConfig(
                "groupingToMatrix",
                options={"columnField": "Signal", "rowField": HOST, "valueField": panels.LAST, "emptyValue": "null"},
            ),
            dashboard.DataTransformerConfig("renameByRegex", options={"regex": _MATRIX, "renamePattern": HOST}),
        ],
        options=panels.sorted_by(HOST, desc=False),
        field_config=dashboard.FieldConfigSource(
            dashboard.FieldConfig(
                no_value=panels.DASH,
                mappings=[panels.dash()],
                custom=common.TableFieldOptions(filterable=True),
            ),
            overrides,
        ),
    )


def courses(limits: Limits, number: int, of: int, position: dashboard.GridPos) -> dashboard.Panel:
    """Return the table with the course of each signal over the range. It shows the data of the panel `of`."""
    columns = [heading for heading, _, _ in _columns(limits)]
    names = [f"Trend #{targets.ref_id(at)}" for at in range(len(columns))]
    firsts = [f"{name} ({_FIRST})" for name in names]
    fields: dict[str, object] = {"host": {"operation": "groupby", "aggregations": []}}
    fields |= {name: {"operation": "aggregate", "aggregations": [_FIRST]} for name in names}
    look = {"type": "sparkline", "lineWidth": 1, "fillOpacity": 0, "hideValue": True}
    trend = {"custom.cellOptions": look, "custom.minWidth": 70, "custom.wrapHeaderText": True}
    return dashboard.Panel(
        "table",
        id_val=number,
        title="Course",
        description="The same values over the range, each on a scale of its own.",
        grid_pos=position,
        datasource=targets.SHARED,
        targets=[targets.SharedQuery("A", of)],
        transformations=[
            dashboard.DataTransformerConfig("timeSeriesTable", options={}),
            dashboard.DataTransformerConfig("merge", options={}),
            # Merging gives several rows where hosts lack signals.
            dashboard.DataTransformerConfig("groupBy", options={"fields": fields}),
            panels.organized({"host": HOST, **dict(zip(firsts, columns, strict=True))}),
        ],
        options=panels.sorted_by(HOST, desc=False),
        field_config=dashboard.FieldConfigSource(
            dashboard.FieldConfig(no_value=panels.DASH, mappings=[panels.dash()]),
            [panels.override(HOST, {"custom.width": 150}), *(panels.override(one, trend) for one in columns)],
        ),
    )


def _columns(limits: Limits) -> list[tuple[str, PanelSpec, Unit]]:
    """Return the heading of each column, its signal with its limits, and its unit."""
    homes = [home_of(signal) for signal in load_areas().health.hosts]
    specs = [home[1] for home in homes if home]
    return [(title(spec, limits), spec, panels.unit_of(spec.signal)) for spec in specs]


def _colored(spec: PanelSpec, unit: Unit, limits: Limits) -> Mapping[str, object]:
    return {
        "unit": spec.unit or unit.unit,
        "thresholds": thresholds.colored(limits.rules_of(spec), unit.scale),
        "color": {"mode": "thresholds"},
        "custom.cellOptions": {"type": "color-text"},
        "custom.minWidth": 90,
        "custom.wrapHeaderText": True,
    }


def _to_charts() -> dashboard.DashboardLink:
    """Return the link from a host to its charts."""
    first = load_areas().areas[0]
    host = "var-host=${__data.fields.Host}&${__url_time_range}"
    return describe.link(first.title, f"/d/{first.uid}?{host}")
