"""Builds the panel of a signal: lines with its limits, or a table of all instances."""

from collections.abc import Mapping, Sequence

from plimsoll.dashboards.areas import PanelSpec
from plimsoll.dashboards.homes import home_of
from plimsoll.dashboards.limits import Limits, Scaled, in_view, scaled, title
from plimsoll.export.grafana.dashboards import describe, targets, thresholds
from plimsoll.export.grafana.dashboards.computed import renamed
from plimsoll.export.grafana.look import Unit, load_look
from plimsoll.export.grafana.sdk import common, dashboard, table, timeseries
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.schema.pack import Rule
from plimsoll.store.influx.quoting import number

NO_DATA = "No host recorded this in the range"
NOTHING = "No host recorded any of this in the range"
DASH = "–"
INTERVAL = "10s"  # Telegraf's interval; with a shorter one most intervals would be empty
_POINTS = 360
_POINTS_OF_EACH = 240
_GAP_MS = 3_600_000  # an hour: longer than the interval of any range up to a month
_WIDE = 12
_SMALL = 10
_LEGEND_WIDTH = 270  # pixels: room for most names and two values
LAST = "Last *"  # Grafana's name for a column of last values
AT_END = "At the end of the range"
# Of several tags that may have the name of the computer, the last one that is not empty is kept; see `targets.alias`.
_CHOSEN = tuple(
    dashboard.DataTransformerConfig("renameByRegex", options={"regex": regex, "renamePattern": ""})
    for regex in (r"/^(?:[^| ]*\|)+(?=[^| ])/", r"/\|+| +(?= |$)/g")
)


def panel_of(signal: str) -> tuple[str, int] | None:
    """Return the dashboard's uid and the panel's id where the rules of a signal are drawn; None if on no dashboard."""
    home = home_of(signal)
    return (home[0], home[1].id) if home else None


def panel(spec: PanelSpec, uid: str, position: dashboard.GridPos, limits: Limits) -> dashboard.Panel:
    """Build a panel from its spec, for the dashboard with this uid."""
    made = _lines(spec, limits.rules_of(spec)) if spec.kind == "lines" else _table(spec)
    made.id_val = spec.id
    made.grid_pos = position
    made.title = title(spec, limits)
    made.description = describe.text(spec, limits)
    made.links = describe.links(spec, uid, limits)
    return made


def unit_of(signal: str) -> Unit:
    """Return how the unit of a signal is shown in Grafana."""
    return load_look().units[load_signals()[signal].unit]


def scaled_value(scale: float) -> str:
    """Return the expression for a scaled value, where `{}` is the value."""
    return "{}" if scale == 1 else f"{{}} * {number(scale)}"


def dash() -> dashboard.SpecialValueMap:
    """Return the mapping of cells without a value to a dash without the colour of a limit."""
    result = dashboard.ValueMappingResult(text=DASH, color="text")
    return dashboard.SpecialValueMap(
        dashboard.DashboardSpecialValueMapOptions(dashboard.SpecialValueMatch.NULL_AND_NAN, result)
    )


def calculated(name: str, left: str, operator: str, right: str) -> dashboard.DataTransformerConfig:
    """Return a transformation that adds a column calculated from two."""
    binary = {"left": left, "operator": operator, "right": right}
    options = {"mode": "binary", "alias": name, "binary": binary, "replaceFields": False}
    return dashboard.DataTransformerConfig("calculateField", options=options)


def override(name: str, properties: Mapping[str, object]) -> dashboard.DashboardFieldConfigSourceOverrides:
    """Return an override of properties for one field of a panel.

    The matcher `byNames` is used because the SDK's schema accepts only objects as options of a matcher.
    """
    values = [dashboard.DynamicConfigValue(name, value) for name, value in properties.items()]
    matcher = dashboard.MatcherConfig("byNames", {"mode": "include", "names": [name]})
    return dashboard.DashboardFieldConfigSourceOverrides(matcher=matcher, properties=values)


def organized(names: Mapping[str, str], hidden: tuple[str, ...] = ()) -> dashboard.DataTransformerConfig:
    """Return a transformation that orders, renames and hides the columns of a table."""
    options = {
        "excludeByName": dict.fromkeys(hidden, True),
        "indexByName": {name: at for at, name in enumerate(names)},
        # A name that stays is left out: a display name that is given twice would hide that of the panel.
        "renameByName": {name: new for name, new in names.items() if name != new},
    }
    return dashboard.DataTransformerConfig("organize", options=options)


def rows(reducers: list[str], *, labels: bool = True) -> dashboard.DataTransformerConfig:
    """Return a transformation to one row per line, with its labels as columns, or its name in the column `Field`."""
    options = {"mode": "seriesToRows", "reducers": reducers, "labelsToFields": labels}
    return dashboard.DataTransformerConfig("reduce", options=options)


def sorted_by(column: str, *, desc: bool) -> table.Options:
    """Return the options of a table that is initially sorted by this column."""
    return table.Options(
        show_header=True,
        sort_by=[common.TableSortByFieldState(display_name=column, desc=desc)],
        footer=common.TableFooterOptions(show=False, reducer=[], count_rows=False),
    )


def _lines(spec: PanelSpec, rules: Sequence[Rule]) -> dashboard.Panel:
    scale = unit_of(spec.signal).scale
    found = targets.lines(spec, scaled_value(scale))
    limits = scaled(rules)
    for limit in limits:
        query = targets.constant(spec.signal, f"{limit.healthy.limit * scale:.12g} * ${limit.fact}")
        found.ask(query, of_fact(limit))
    made = _of_lines(spec, rules, found)
    if made.field_config:
        made.field_config.overrides += map(_limit_line, dict.fromkeys(limit.severity for limit in limits))
    return made


def _of_lines(spec: PanelSpec, rules: Sequence[Rule], found: targets.Targets) -> dashboard.Panel:
    """Build a panel of lines over these targets, with the limits of these rules."""
    unit = unit_of(spec.signal)
    floor = load_signals()[spec.signal].worse == "lower"
    defaults = dashboard.FieldConfig(
        unit=spec.unit or _unit(unit, rules),
        min_val=None if spec.below_zero else 0,
        max_val=spec.max,
        no_value=NO_DATA,
        # Colour is for trouble: other palettes have the orange and red of the limits.
        color=dashboard.FieldColor(dashboard.FieldColorModeId.SHADES, fixed_color=load_look().line),
        thresholds=thresholds.config(rules, unit.scale),
        custom=common.GraphFieldConfig(
            draw_style=common.GraphDrawStyle.LINE,
            line_width=1,
            fill_opacity=0,
            show_points=common.VisibilityMode.AUTO,
            point_size=4,
            span_nulls=False,
            insert_nulls=_GAP_MS,
            thresholds_style=thresholds.style(rules),
            axis_label=unit.axis or None,
            axis_soft_max=_soft_max(spec, rules, unit.scale),
        ),
    )
    return dashboard.Panel(
        "timeseries",
        datasource=targets.DATASOURCE,
        targets=found.all,
        interval=INTERVAL,
        max_data_points=_points(spec),
        transformations=_names(found),
        options=timeseries.Options(
            legend=_legend(spec, floor=floor),
            tooltip=common.VizTooltipOptions(
                mode=common.TooltipDisplayMode.MULTI, sort=common.SortOrder.DESCENDING, max_height=400
            ),
        ),
        field_config=dashboard.FieldConfigSource(defaults),
    )


def _legend(spec: PanelSpec, *, floor: bool) -> common.VizLegendOptions:
    """Return the legend: beside wide panels with the worst and the last value, the worst first; else names only."""
    if spec.width < _WIDE:
        return common.VizLegendOptions(common.LegendDisplayMode.LIST, common.LegendPlacement.BOTTOM, show_legend=True)
    return common.VizLegendOptions(
        display_mode=common.LegendDisplayMode.TABLE,
        placement=common.LegendPlacement.RIGHT,
        show_legend=True,
        width=_LEGEND_WIDTH,
        calcs=["min" if floor else "max", "lastNotNull"],
        sort_by="Min" if floor else "Max",
        sort_desc=not floor,
    )


def _table(spec: PanelSpec) -> dashboard.Panel:
    defaults = dashboard.FieldConfig(
        unit=spec.unit or unit_of(spec.signal).unit,
        no_value=NO_DATA,
        custom=common.TableFieldOptions(filterable=True),
    )
    return dashboard.Panel(
        "table",
        datasource=targets.DATASOURCE,
        targets=targets.last(spec, scaled_value(unit_of(spec.signal).scale)).all,
        transformations=[
            rows(["lastNotNull"]),
            organized({"source": "Host", "instance": "Instance", LAST: AT_END}, hidden=("Field", "host")),
        ],
        options=sorted_by(AT_END, desc=True),
        field_config=dashboard.FieldConfigSource(defaults),
    )


def _names(found: targets.Targets) -> list[dashboard.DataTransformerConfig] | None:
    if found.computed:
        return renamed(found.computed)
    return [*_CHOSEN] if found.chosen else None


def of_fact(limit: Scaled) -> str:
    """Return the name of the line of a scaled limit, with the number that the reader chose."""
    return f"{limit.severity} limit for ${limit.fact} {limit.fact}"


def _limit_line(severity: Severity) -> dashboard.DashboardFieldConfigSourceOverrides:
    color = {"mode": "fixed", "fixedColor": load_look().severities[severity]}
    style = {"fill": "dash", "dash": [10, 10]}
    return dashboard.DashboardFieldConfigSourceOverrides(
        matcher=dashboard.MatcherConfig("byRegexp", f"/^{severity} limit for /"),
        properties=[
            dashboard.DynamicConfigValue("color", color),
            dashboard.DynamicConfigValue("custom.lineStyle", style),
        ],
    )


def _unit(unit: Unit, rules: Sequence[Rule]) -> str:
    """Return Grafana's name for a unit: that with more decimals where the limits are small."""
    if unit.small and rules and all(rule.healthy.limit < _SMALL for rule in rules):
        return unit.small
    return unit.unit


def _soft_max(spec: PanelSpec, rules: Sequence[Rule], scale: float) -> float | None:
    if spec.max is not None:
        return None
    reach = in_view(rules) if spec.limit_in_view else None
    reach = None if reach is None else reach * scale
    return max((value for value in (spec.soft_max, reach) if value is not None), default=None)


def _points(spec: PanelSpec) -> int:
    """Return the maximum number of intervals in a range, which is lower if every instance of every host is a line."""
    return _POINTS_OF_EACH if load_signals()[spec.signal].instances == "each" else _POINTS
