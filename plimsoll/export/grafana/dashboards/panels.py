"""Builds the panel of a signal, either lines with the signal's limits, or a table of all instances."""

import math
from collections.abc import Sequence
from dataclasses import replace

from plimsoll.dashboards.areas import PanelSpec
from plimsoll.dashboards.limits import (
    PanelLimits,
    Scaled,
    compute_axis_end,
    find_home_panel,
    format_title,
    list_scaled,
    select_drawn,
)
from plimsoll.export.grafana.dashboards import describe, panel_queries
from plimsoll.export.grafana.dashboards.parts import (
    DATASOURCE,
    LAST,
    GrafanaUnit,
    Json,
    build_last_values,
    build_organize,
    build_part,
    build_table_options,
    load_look,
)
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.pack import Rule
from plimsoll.store.quoting import number

NO_DATA = "No host recorded this in the range"
AT_END = "At the end of the range"
_POINTS = 360
_POINTS_PER_INSTANCE = 240  # for lines of every instance of every host
_WIDE = 12
_SMALL = 10
_TRANSPARENT = "transparent"
_TEXT = "text"  # Grafana's name for the colour of text


def find_panel(signal: str) -> tuple[str, int] | None:
    """Return the uid of the dashboard and the id of the panel that draws a signal's rules; None if no panel does."""
    home = find_home_panel(signal)
    return (home[0], home[1].id) if home else None


def build_signal_panel(spec: PanelSpec, uid: str, grid: Json, limits: PanelLimits) -> Json:
    """Return Grafana's panel for a spec, on the dashboard `uid`, at the position `grid`."""
    kind = _build_lines(spec, limits.rules_of(spec)) if spec.kind == "lines" else _build_table(spec)
    return {
        **build_part("panel"),
        **kind,
        "id": spec.id,
        "gridPos": grid,
        "title": format_title(spec, limits),
        "description": describe.describe_panel(spec, limits),
        "links": describe.list_panel_links(spec, uid, limits),
    }


def find_unit(signal: str) -> GrafanaUnit:
    """Return how Grafana shows the unit of a signal."""
    return load_look().units[load_signals()[signal].unit]


def scale_value(scale: float) -> str:
    """Return the expression `{} * scale`, in which `{}` stands for a value; `{}` alone if the scale is 1."""
    return "{}" if scale == 1 else f"{{}} * {number(scale)}"


def limit_name(limit: Scaled) -> str:
    """Return the name of a scaled limit's line, which contains the dashboard variable that multiplies the limit."""
    return f"{limit.severity} limit for ${limit.fact} {limit.fact}"


def list_threshold_steps(rules: Sequence[Rule], scale: float = 1, *, exact: bool = False) -> list[Json]:
    """Return Grafana's threshold steps, transparent between the limits, and coloured by severity beyond each limit.

    Values are multiplied by `scale`. Grafana draws the line at the start of a transparent step in the colour of the
    step below, so the colour of a lower limit is set there. A step includes its first value; with `exact`, the step
    beyond a limit that is itself healthy (`<=`) starts at the next greater number.
    """

    def begin(rule: Rule) -> float:
        excluded = exact and rule.healthy.operator in ("<=", "=", ">")
        return math.nextafter(rule.healthy.limit, math.inf) if excluded else rule.healthy.limit

    look, shown = load_look().severities, sorted(select_drawn(rules), key=lambda rule: rule.healthy.limit)
    floors = [rule for rule in shown if rule.healthy.worse == "lower"]
    ceilings = [rule for rule in shown if rule.healthy.worse != "lower"]
    colors = [*(look[rule.severity] for rule in floors), _TRANSPARENT, *(look[rule.severity] for rule in ceilings)]
    values = [None, *(begin(rule) * scale for rule in (*floors, *ceilings))]
    return [{"color": color, "value": value} for value, color in zip(values, colors, strict=True)]


def build_cell_thresholds(rules: Sequence[Rule], scale: float) -> Json:
    """Return the thresholds of a table cell, for values times `scale`; limits with further conditions are left out."""
    judged = [rule for rule in rules if not rule.and_ and rule.severity != "info"]
    # Red is for limits that apply to every host, at all times.
    lowered = [replace(rule, severity="warning") if rule.where or rule.when_phase_unknown else rule for rule in judged]
    steps = list_threshold_steps(lowered, scale, exact=True)
    for step in steps:
        step["color"] = _TEXT if step["color"] == _TRANSPARENT else step["color"]
    return {"mode": "absolute", "steps": steps}


def _build_lines(spec: PanelSpec, rules: Sequence[Rule]) -> Json:
    """Return a panel of lines, in which the limits of these rules are drawn."""
    unit, signal = find_unit(spec.signal), load_signals()[spec.signal]
    targets = panel_queries.list_line_targets(spec, scale_value(unit.scale))
    naming, limits = targets.naming(), list_scaled(rules)
    for limit in limits:
        value = f"{limit.healthy.limit * unit.scale:.12g} * ${limit.fact}"
        targets.ask(panel_queries.build_constant_query(spec.signal, value), limit_name(limit))
    small = unit.small and rules and all(rule.healthy.limit < _SMALL for rule in rules)
    defaults: Json = {
        "unit": spec.unit or (unit.small if unit.small and small else unit.unit),
        "noValue": NO_DATA,
        # Colours mark trouble; other palettes include the orange and red of the limits.
        "color": {"fixedColor": load_look().line, "mode": "shades"},
        "thresholds": {"mode": "absolute", "steps": list_threshold_steps(rules, unit.scale)},
        "custom": _build_style(spec, rules, unit),
    }
    if not spec.below_zero:
        defaults["min"] = 0
    if spec.max is not None:
        defaults["max"] = spec.max
    colors = load_look().severities
    lines = build_part(
        "lines",
        datasource=DATASOURCE,
        targets=targets.all,
        maxDataPoints=_POINTS_PER_INSTANCE if signal.instances == "each" else _POINTS,
        fieldConfig={
            "defaults": defaults,
            "overrides": [
                {
                    "matcher": {"id": "byRegexp", "options": f"/^{severity} limit for /"},
                    "properties": [
                        {"id": "color", "value": {"fixedColor": color, "mode": "fixed"}},
                        {"id": "custom.lineStyle", "value": {"dash": [10, 10], "fill": "dash"}},
                    ],
                }
                for severity, color in {limit.severity: colors[limit.severity] for limit in limits}.items()
            ],
        },
    )
    # Wide panels have the worst and last values beside them, the worst first; others only the names.
    worst = "min" if signal.worse == "lower" else "max"
    calcs = {"calcs": [worst, "lastNotNull"], "sortBy": worst.capitalize(), "sortDesc": worst == "max"}
    lines["options"]["legend"] = (
        build_part("narrow_legend") if spec.width < _WIDE else build_part("wide_legend", **calcs)
    )
    return lines | ({"transformations": naming} if naming else {})


def _build_style(spec: PanelSpec, rules: Sequence[Rule], unit: GrafanaUnit) -> Json:
    """Return the style of a panel's lines; limits are dashed if each limit is a note or has further conditions."""
    shown = select_drawn(rules)
    notes = all(rule.severity == "info" or rule.and_ for rule in shown)
    style = build_part("lines_style", thresholdsStyle={"mode": ("dashed" if notes else "line") if shown else "off"})
    if unit.axis:
        style["axisLabel"] = unit.axis
    reach = compute_axis_end(rules) if spec.limit_in_view else None
    ends = [end for end in (spec.soft_max, None if reach is None else reach * unit.scale) if end is not None]
    if spec.max is None and ends:
        style["axisSoftMax"] = max(ends)
    return style


def _build_table(spec: PanelSpec) -> Json:
    """Return the table of a signal's last value on each instance."""
    unit = find_unit(spec.signal)
    columns = build_organize({"source": "Host", "instance": "Instance", LAST: AT_END}, hidden=("Field", "host"))
    defaults = build_part("filterable", unit=spec.unit or unit.unit, noValue=NO_DATA)
    return build_part(
        "table",
        datasource=DATASOURCE,
        targets=panel_queries.list_last_targets(spec, scale_value(unit.scale)).all,
        transformations=[build_last_values(), columns],
        options=build_table_options(AT_END, desc=True),
        fieldConfig={"defaults": defaults, "overrides": []},
    )
