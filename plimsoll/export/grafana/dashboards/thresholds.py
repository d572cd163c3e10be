"""The limits of a panel as Grafana's thresholds: lines on a graph, and colours of cells."""

import math
from collections.abc import Sequence

from plimsoll.dashboards.limits import drawn
from plimsoll.export.grafana.look import load_look
from plimsoll.export.grafana.sdk import common, dashboard
from plimsoll.rules.schema.pack import Rule

NONE = "transparent"
_PLAIN = "text"  # Grafana's name for the colour of text


def steps(rules: Sequence[Rule], scale: float = 1, *, exact: bool = False) -> list[dashboard.Threshold]:
    """Return Grafana's thresholds: transparent between the limits, and the colour of the rule beyond each limit.

    Grafana draws the line at the start of a transparent step in the colour of the step below, so the colour of a floor
    is set below it. Values are multiplied by `scale`. A step includes its first value; with `exact` it starts just
    after a limit that belongs to the step before.
    """
    look = load_look().severities
    lines = drawn(rules)
    floors = sorted((rule for rule in lines if rule.healthy.worse == "lower"), key=_limit)
    ceilings = sorted((rule for rule in lines if rule.healthy.worse != "lower"), key=_limit)
    colors = [*(look[rule.severity] for rule in floors), NONE, *(look[rule.severity] for rule in ceilings)]
    at = _begin if exact else _limit
    values = [None, *(at(rule) * scale for rule in (*floors, *ceilings))]
    return [dashboard.Threshold(value, color) for value, color in zip(values, colors, strict=True)]


def config(rules: Sequence[Rule], scale: float) -> dashboard.ThresholdsConfig:
    """Return the thresholds of a panel of scaled values."""
    return dashboard.ThresholdsConfig(dashboard.ThresholdsMode.ABSOLUTE, steps(rules, scale))


def colored(rules: Sequence[Rule], scale: float) -> dashboard.ThresholdsConfig:
    """Return the thresholds of a cell of scaled values, coloured beyond limits that are a breach by themselves."""
    judged = [rule for rule in rules if not rule.and_ and rule.severity != "info"]
    # Red is for limits that hold for every host, at all times.
    lowered = [
        rule.model_copy(update={"severity": "warning"}) if rule.where or rule.when_phase_unknown else rule
        for rule in judged
    ]
    alone = steps(lowered, scale, exact=True)
    shown = [dashboard.Threshold(one.value, _PLAIN if one.color == NONE else one.color) for one in alone]
    return dashboard.ThresholdsConfig(dashboard.ThresholdsMode.ABSOLUTE, shown)


def style(rules: Sequence[Rule]) -> common.GraphThresholdsStyleConfig:
    """Return the style of the limits: lines, dashed if no limit of the panel is a breach by itself."""
    mode = common.GraphThresholdsStyleMode
    lines = drawn(rules)
    if not lines:
        return common.GraphThresholdsStyleConfig(mode.OFF)
    notes = all(rule.severity == "info" or rule.and_ for rule in lines)
    return common.GraphThresholdsStyleConfig(mode.DASHED if notes else mode.LINE)


def _limit(rule: Rule) -> float:
    return rule.healthy.limit


def _begin(rule: Rule) -> float:
    if rule.healthy.operator in ("<=", "=", ">"):
        return math.nextafter(rule.healthy.limit, math.inf)
    return rule.healthy.limit
