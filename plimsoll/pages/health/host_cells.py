"""The cells of the host table: each shows a signal of a host, with the value and state of the signal's worst rule."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal

import numpy as np

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.alerting.rule_targets import Key
from plimsoll.dashboards.areas import load_areas
from plimsoll.dashboards.limits import find_panel
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.value_text import format_value
from plimsoll.pages.shared.frame import Links
from plimsoll.report.html.gauge import compute_value_level, draw_water
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.field_types import Healthy, Severity
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State
from plimsoll.rules.wording import describe_healthy, limit_text

Standing = Literal["critical", "warning", "pending", "ok", "none"]
SEVERE: tuple[Standing, ...] = ("critical", "warning")
CROSSED: tuple[Standing, ...] = (*SEVERE, "pending")
_PLACES: Mapping[Standing, int] = {name: at for at, name in enumerate((*CROSSED, "ok", "none"))}


@dataclass(frozen=True, slots=True)
class HostCell:
    """A cell of the host table: the value and state of a signal on a host, or on the worst instance of the signal.

    `key` is the shown rule, host and instance; `healthy` is the rule's limit (None for severity info).
    `standing` is `critical` or `warning` while an alert fires, `pending` while a limit is crossed for less than the
    rule's `for`, `none` without data. `since` is the begin of the crossing (UTC ns).
    `usual` is the limit of the rule that is shown while no limit is crossed.
    `crossed` and `silent` count the signal's other instances: those past their limit, and those without data.
    `impossible` is a received value that the signal cannot have, else NaN.
    `ends` (`below 80 %`) is the value that ends an alert, if the current value is within the limit again.
    `is_special` means that the rule judges an increase, or has further conditions.
    """

    key: Key
    signal: str
    title: str
    unit: str
    instance: str | None
    standing: Standing
    severity: Severity
    value: float
    healthy: Healthy | None
    usual: Healthy | None = None
    since: int | None = None
    alert: Alert | None = None
    crossed: int = 0
    silent: int = 0
    impossible: float = nan
    ends: str = ""
    is_special: bool = False

    @property
    def rank(self) -> tuple[bool, int, bool, float]:
        """The sort key of a signal's rules; the rule in the worst state has the smallest key, and is shown."""
        return self.healthy is None, _PLACES[self.standing], self.is_special, -(self.level or 0.0)

    @property
    def level(self) -> float | None:
        """The water level of the gauge: 1 at the limit, 2 when full; None if the value has no ratio to a limit."""
        return compute_value_level(self.value, self.healthy) if self.healthy else None

    @property
    def water(self) -> str | None:
        """The water of the gauge as an SVG path; None if the cell has no gauge."""
        return draw_water(self.level)

    @property
    def place(self) -> tuple[int, bool, float, str]:
        """The sort key that orders the instances of a signal, the worst first."""
        return _PLACES[self.standing], isnan(self.impossible), -(self.level or 0.0), self.instance or ""

    @property
    def figure(self) -> tuple[str, str]:
        """The value and its unit as text; the unit is empty if there is no valid value."""
        if self.standing == "none" and not isnan(self.impossible):
            return f"cannot be: {format_value(self.impossible, self.unit)}", ""
        if isnan(self.value):
            return "no data", ""
        value, _, unit = format_value(self.value, self.unit).partition(" ")
        return value, unit

    @property
    def limit(self) -> str:
        """The limit as text, such as `< 80 %`; empty if the cell has no limit."""
        return limit_text(self.healthy, self.unit) if self.healthy else ""

    def address(self, links: Links, host: str) -> str:
        """Return the link of the cell: to its alert, else to the signal's dashboard panel, else to the rule."""
        if self.alert:
            return links.to(f"/alerts/{self.alert.id}")
        area, panel = find_panel(self.signal)
        return (
            f"{links.to(f'/dashboards/{area}', host=host)}#panel-{panel}" if area else links.to(f"/rules/{self.key[0]}")
        )


def has_cell(rule: Rule) -> bool:
    """Return whether cells may show a rule: its severity is not info, or its signal has a fixed column."""
    return rule.severity != "info" or rule.signal in load_areas().health.hosts


def list_cells(judged: Iterable[RuleState], alerts: Iterable[Alert], catalogue: Catalogue) -> Mapping[str, HostCell]:
    """Return the cell of each signal of a host; of a signal's instances, the worst is shown."""
    firing = {alert.key: alert for alert in sorted(alerts, key=lambda alert: alert.kind == "rule") if alert.signal}
    cells = [_make_state_cell(state, firing.pop(state.key, None), catalogue) for state in judged]
    # The other alerts have had no samples for so long that they are no longer judged.
    subjects = group_pairs(
        ((cell.signal, cell.key[2]), cell) for cell in [*cells, *map(_make_alert_cell, firing.values())]
    )
    signals: dict[str, list[HostCell]] = {}
    for (signal, _), candidates in subjects.items():
        usual = min(candidates, key=lambda cell: (cell.rank[0], *cell.rank[2:])).healthy
        signals.setdefault(signal, []).append(replace(min(candidates, key=lambda cell: cell.rank), usual=usual))
    return {signal: _choose_worst(instances) for signal, instances in signals.items()}


def _make_state_cell(state: RuleState, alert: Alert | None, catalogue: Catalogue) -> HostCell:
    """Return the cell for the current state of a rule; `alert` is the rule's firing alert, if any."""
    rule, signal, value, healthy = state.rule, catalogue.signals[state.rule.signal], state.value, None
    standing: Standing = "none" if state.state == State.NO_DATA else "ok"
    if rule.severity != "info":
        healthy = state.healthy
        if alert or state.state == State.FIRING:
            standing = rule.severity
            value = alert.last if alert and isnan(value) else value
        elif state.state == State.PENDING:
            standing = "pending"
    can_end = standing in SEVERE and rule.recover and not rule.scale
    is_inside = can_end and state.healthy.holds(np.array([state.value]))[0]
    return HostCell(
        key=state.key,
        signal=rule.signal,
        title=signal.title,
        unit=signal.unit,
        instance=state.subject.instance,
        standing=standing,
        severity=rule.severity,
        value=value,
        healthy=healthy,
        since=(alert.begin if alert else state.since) if standing in CROSSED else None,
        alert=alert,
        impossible=state.impossible,
        ends=describe_healthy(rule.recover, signal.unit) if rule.recover and is_inside else "",
        is_special=bool(rule.and_ or rule.reduce == "increase"),
    )


def _make_alert_cell(alert: Alert) -> HostCell:
    """Return the cell for an alert whose rule has no current state."""
    return HostCell(
        key=alert.key,
        signal=alert.signal,
        title=alert.details.title,
        unit=alert.details.unit,
        instance=alert.instance,
        standing="critical" if alert.severity == "critical" else "warning",
        severity=alert.severity,
        value=alert.last,
        healthy=Healthy.parse(alert.healthy) if alert.healthy else None,
        since=alert.begin,
        alert=alert,
    )


def _choose_worst(instances: Sequence[HostCell]) -> HostCell:
    worst = min(instances, key=lambda cell: cell.place)
    crossed = sum(cell.standing in CROSSED for cell in instances) - (worst.standing in CROSSED)
    silent = sum(cell.standing == "none" for cell in instances) - (worst.standing == "none")
    return replace(worst, crossed=crossed, silent=silent) if crossed or silent else worst
