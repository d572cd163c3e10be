"""The limits of a panel as Grafana's thresholds: lines on a graph, and colours of cells."""

import math
from collections.abc import Sequence

from dashboards.limits import drawn
from grafana.look import load_look
from grafana.sdk import common, dashboard
from rules.pack_schema import Rule

NONE = "transparent"
_PLAIN = "text"  # Grafana's name for the colour of text


def steps(rules: Sequence[Rule], *, exact: bool = False) -> list[dashboard.Threshold]:
    """Grafana's thresholds: between the limits nothing, outside of them the colour of the rule.

    Grafana draws a line below a transparent step in the colour that is under the line, so a floor is red below. Its
    steps include their value; `exact` has them begin beyond a limit that is itself on the other side.
    """
    look = load_look().severities
    lines = drawn(rules)
    floors = sorted((rule for rule in lines if rule.healthy.worse == "lower"), key=_limit)
    ceilings = sorted((rule for rule in lines if rule.healthy.worse != "lower"), key=_limit)
    colors = [*(look[rule.severity].color for rule in floors), NONE, *(look[rule.severity].color for rule in ceilings)]
    at = _begin if exact else _limit
    values = [None, *map(at, floors), *map(at, ceilings)]
    return [dashboard.Threshold(value, color) for value, color in zip(values, colors, strict=True)]


def config(rules: Sequence[Rule]) -> dashboard.ThresholdsConfig:
    """The thresholds of a panel."""
    return dashboard.ThresholdsConfig(dashboard.ThresholdsMode.ABSOLUTE, steps(rules))


def colored(rules: Sequence[Rule], scale: float) -> dashboard.ThresholdsConfig:
    """The thresholds of a cell of scaled values: coloured beyond the limits that are a breach by themselves."""
    alone = steps([rule for rule in rules if not rule.and_ and rule.severity != "info"], exact=True)
    shown = [
        dashboard.Threshold(
            None if step.value is None else step.value * scale, _PLAIN if step.color == NONE else step.color
        )
        for step in alone
    ]
    return dashboard.ThresholdsConfig(dashboard.ThresholdsMode.ABSOLUTE, shown)


def style(rules: Sequence[Rule]) -> common.GraphThresholdsStyleConfig:
    """Lines; dashed where no limit of the panel is a breach of its own."""
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
