"""The cells of the health page: how a host is doing by one signal, after the rule that matters most there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal, TypeAlias

import numpy as np

from plimsoll.alerting.book.record import Alert
from plimsoll.alerting.judged_now import JudgedNow
from plimsoll.alerting.planning import Key
from plimsoll.dashboards.areas import load_areas
from plimsoll.report.html.gauge import level_of, water
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State
from plimsoll.rules.wording import healthy_text

Standing = Literal["critical", "warning", "pending", "ok", "none"]
CROSSED: tuple[Standing, ...] = ("critical", "warning", "pending")
_ORDER: tuple[Standing, ...] = (*CROSSED, "ok", "none")


@dataclass(frozen=True, slots=True)
class Cell:
    """A signal of a host, or of one of its instances.

    `standing` is `critical` or `warning` while an alert fires, `pending` if a limit is crossed but not yet for long
    enough, and `none` without data. `healthy` is the limit of the rule `key`, `usual` the strictest limit of all; both
    are None where there is no warning or critical limit. `since` (UTC ns) is from when it is crossed. `crossed` and
    `silent` are how many other instances are crossed, or have no data. `impossible` is a value that cannot be, NaN if
    there is none. `ends` is the value at which an alert ends (`below 80 %`) whose value is inside its limit again.
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

    @property
    def level(self) -> float | None:
        """The water level: 1 at the limit, 2 when full; None if the value cannot be compared to the limit."""
        return level_of(self.value, self.healthy) if self.healthy else None

    @property
    def water(self) -> str | None:
        """The water of the gauge as an SVG path; None if there is no gauge."""
        return water(self.level)

    @property
    def place(self) -> tuple[int, bool, float, str]:
        """For sorting, the worst first."""
        return _ORDER.index(self.standing), isnan(self.impossible), -(self.level or 0.0), self.instance or ""


# By host (case-folded) and signal.
Cells: TypeAlias = Mapping[str, Mapping[str, Cell]]


def has_cell(rule: Rule) -> bool:
    """Whether a rule may have a cell: a warning or critical one, and any other of a signal with a column of its own."""
    return rule.severity != "info" or rule.signal in load_areas().health.hosts


def cells(judged: Mapping[Key, JudgedNow], alerts: Iterable[Alert], catalogue: Catalogue) -> Cells:
    """The cells of all hosts. Of a signal with instances it is the worst one."""
    firing = {one.key: one for one in sorted(alerts, key=lambda one: one.kind == "rule") if one.signal}
    subjects: dict[tuple[str, str, str | None], list[tuple[Cell, tuple[object, ...]]]] = {}
    for key, one in judged.items():
        found = _judged(one, key, firing.get(key), catalogue)
        subjects.setdefault((key[1], one.rule.signal, key[2]), []).append((found, _rank(found, one)))
    for key, alert in firing.items():
        if key not in judged:  # without samples for so long that it is not judged any more
            found = _fired(alert)
            subjects.setdefault((key[1], alert.signal, key[2]), []).append((found, _rank(found)))
    instances: dict[tuple[str, str], list[Cell]] = {}
    for (host, signal, _), rules in subjects.items():
        instances.setdefault((host, signal), []).append(_of_subject(rules))
    hosts: dict[str, dict[str, Cell]] = {}
    for (host, signal), some in instances.items():
        hosts.setdefault(host, {})[signal] = _worst(some)
    return hosts


def _judged(one: JudgedNow, key: Key, alert: Alert | None, catalogue: Catalogue) -> Cell:
    signal = catalogue.signals[one.rule.signal]
    standing: Standing = "none" if one.state == State.NO_DATA else "ok"
    since, value, healthy, ends = None, one.value, None, ""
    if one.rule.severity != "info":
        healthy = one.healthy
        if alert or one.state == State.FIRING:
            standing, since = one.rule.severity, alert.begin if alert else one.since
            if one.rule.recover and not one.rule.scale and one.healthy.holds(np.array([one.value]))[0]:
                ends = healthy_text(one.rule.recover, signal.unit)
            value = alert.last if alert and isnan(value) else value
        elif one.state == State.PENDING:
            standing, since = "pending", one.since
    return Cell(
        key=key,
        signal=one.rule.signal,
        title=signal.title,
        unit=signal.unit,
        instance=one.subject.instance,
        standing=standing,
        severity=one.rule.severity,
        value=value,
        healthy=healthy,
        usual=healthy,
        since=since,
        alert=alert,
        impossible=one.impossible,
        ends=ends,
    )


def _fired(alert: Alert) -> Cell:
    healthy = Healthy.parse(alert.healthy) if alert.healthy else None
    return Cell(
        key=alert.key,
        signal=alert.signal,
        title=alert.details.title,
        unit=alert.details.unit,
        instance=alert.instance,
        standing="critical" if alert.severity == "critical" else "warning",
        severity=alert.severity,
        value=alert.last,
        healthy=healthy,
        usual=healthy,
        since=alert.begin,
        alert=alert,
    )


def _rank(cell: Cell, judged: JudgedNow | None = None) -> tuple[object, ...]:
    """For choosing the rule to show: the worst; then one that compares the value itself, and nothing else."""
    rule = judged.rule if judged else None
    is_special = bool(rule and (rule.and_ or rule.reduce == "increase"))
    return cell.healthy is None, _ORDER.index(cell.standing), is_special, -(cell.level or 0.0)


def _of_subject(rules: list[tuple[Cell, tuple[object, ...]]]) -> Cell:
    """The cell of the rule to show, of all rules of a signal for one subject."""
    cell, _ = min(rules, key=lambda one: one[1])
    usual, _ = min(rules, key=lambda one: (one[1][0], *one[1][2:]))
    return cell if usual.healthy == cell.healthy else replace(cell, usual=usual.healthy)


def _worst(instances: list[Cell]) -> Cell:
    worst = min(instances, key=lambda one: one.place)
    crossed = sum(one.standing in CROSSED for one in instances) - (worst.standing in CROSSED)
    silent = sum(one.standing == "none" for one in instances) - (worst.standing == "none")
    return replace(worst, crossed=crossed, silent=silent) if crossed or silent else worst
