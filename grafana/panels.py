"""Builds the panel of a signal: lines with its limits, or a table of all instances."""

from collections.abc import Mapping, Sequence

from dashboards.areas import PanelSpec
from dashboards.homes import home_of
from dashboards.limits import Limits, Scaled, in_view, scaled, title
from grafana import describe, targets, thresholds
from grafana.look import Unit, load_look
from grafana.sdk import common, dashboard, table, timeseries
from rules.field_types import Fact
from rules.load import load_signals
from rules.pack_schema import Rule

NO_DATA = "No data: no host of this kind in this range"
INTERVAL = "10s"  # Telegraf's interval; with a shorter one most intervals would be empty
_POINTS = 360
_POINTS_OF_EACH = 240
_GAP_MS = 3_600_000  # an hour: longer than the interval of any range up to a month
LAST = "Last *"  # Grafana's name for a column of last values
_AT_END = "At the end of the range"
_SCALED: Mapping[Fact, str] = {
    "spindles": "limit for the spindles chosen",
    "processors": "limit for the processors chosen",
}
# Grafana names computed lines by all their labels; this keeps the host and the instance.
_NAMES = dashboard.DataTransformerConfig(
    "renameByRegex",
    options={"regex": '/.*host="([^"]*)"(?:.*(?:instance|interface)="([^"]*)")?.*/', "renamePattern": "$1 $2"},
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
        "renameByName": dict(names),
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
    found = targets.lines(spec)
    limits = scaled(rules)
    for limit in limits:
        value = f"{limit.healthy.limit:.12g} * ${limit.fact}"
        for query in targets.constants(spec.signal, value):
            found.ask(query, _SCALED[limit.fact])
    made = _of_lines(spec, rules, found)
    if made.field_config:
        made.field_config.overrides += map(_limit_line, limits)
    return made


def _of_lines(spec: PanelSpec, rules: Sequence[Rule], found: targets.Targets) -> dashboard.Panel:
    """Build a panel of lines over these targets, with the limits of these rules."""
    unit = unit_of(spec.signal)
    floor = load_signals()[spec.signal].worse == "lower"
    defaults = dashboard.FieldConfig(
        unit=spec.unit or unit.unit,
        min_val=None if spec.below_zero else 0,
        max_val=spec.max,
        no_value=NO_DATA,
        color=dashboard.FieldColor(dashboard.FieldColorModeId.PALETTE_CLASSIC_BY_NAME),
        thresholds=thresholds.config(rules),
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
            axis_soft_max=_soft_max(spec, rules),
        ),
    )
    return dashboard.Panel(
        "timeseries",
        datasource=targets.DATASOURCE,
        targets=found.all,
        interval=INTERVAL,
        max_data_points=_points(spec),
        transformations=[_NAMES] if found.computed else None,
        options=timeseries.Options(
            legend=common.VizLegendOptions(
                display_mode=common.LegendDisplayMode.TABLE,
                placement=common.LegendPlacement.BOTTOM,
                show_legend=True,
                calcs=["mean", "min" if floor else "max", "lastNotNull"],
                sort_by="Min" if floor else "Max",
                sort_desc=not floor,
            ),
            tooltip=common.VizTooltipOptions(
                mode=common.TooltipDisplayMode.MULTI, sort=common.SortOrder.DESCENDING, max_height=400
            ),
        ),
        field_config=dashboard.FieldConfigSource(defaults),
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
        targets=targets.last(spec).all,
        transformations=[
            rows(["lastNotNull"]),
            organized({"source": "Host", "instance": "Instance", LAST: _AT_END}, hidden=("Field", "host")),
        ],
        options=sorted_by(_AT_END, desc=True),
        field_config=dashboard.FieldConfigSource(defaults),
    )


def _limit_line(limit: Scaled) -> dashboard.DashboardFieldConfigSourceOverrides:
    color = load_look().severities[limit.severity].color
    return override(
        _SCALED[limit.fact],
        {
            "color": {"mode": "fixed", "fixedColor": color},
            "custom.lineStyle": {"fill": "dash", "dash": [10, 10]},
        },
    )


def _soft_max(spec: PanelSpec, rules: Sequence[Rule]) -> float | None:
    if spec.max is not None:
        return None
    reach = in_view(rules) if spec.limit_in_view else None
    return max((value for value in (spec.soft_max, reach) if value is not None), default=None)


def _points(spec: PanelSpec) -> int:
    """Return the maximum number of intervals in a range, which is lower if every instance of every host is a line."""
    return _POINTS_OF_EACH if load_signals()[spec.signal].instances == "each" else _POINTS
