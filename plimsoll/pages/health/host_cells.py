"""The cells of the health page: how a host is doing by one signal, after the rule that matters most there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal, NamedTuple, cast

import numpy as np

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.alerting.rule_targets import Key
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
_PLACES: Mapping[Standing, int] = {one: place for place, one in enumerate((*CROSSED, "ok", "none"))}


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
        return _PLACES[self.standing], isnan(self.impossible), -(self.level or 0.0), self.instance or ""


def has_cell(rule: Rule) -> bool:
    """Whether a rule may have a cell: a warning or critical one, and any other of a signal with a column of its own."""
    return rule.severity != "info" or rule.signal in load_areas().health.hosts


def cells(judged: Iterable[RuleState], alerts: Iterable[Alert], catalogue: Catalogue) -> Mapping[str, Cell]:
    """The cells of a host by signal. Of a signal with instances it is the worst one."""
    firing = {one.key: one for one in sorted(alerts, key=lambda one: one.kind == "rule") if one.signal}
    rules = [_judged(one, firing.pop(one.key, None)) for one in judged]
    # The others are without samples for so long that they are not judged any more.
    subjects: dict[tuple[str, str | None], list[_Rule]] = {}
    for one in [*rules, *map(_fired, firing.values())]:
        subjects.setdefault((one.signal, one.key[2]), []).append(one)
    signals: dict[str, list[_Subject]] = {}
    for (signal, _), some in subjects.items():
        usual = min(some, key=lambda one: (one.rank[0], *one.rank[2:]))
        signals.setdefault(signal, []).append(_Subject(min(some, key=lambda one: one.rank), usual.healthy))
    return {signal: _worst(some, catalogue) for signal, some in signals.items()}


class _Rule(NamedTuple):
    """A rule for a subject: what is judged, the alert that fires, or both. Few of them become a cell.

    `healthy` is None for a note. `rank` is for choosing the rule to show: the worst; then one that compares the value
    itself, and nothing else.
    """

    key: Key
    signal: str
    standing: Standing
    value: float
    healthy: Healthy | None
    rank: tuple[bool, int, bool, float]
    judged: RuleState | None
    alert: Alert | None


class _Subject(NamedTuple):
    """The rule to show of all rules of a signal for one subject, and the strictest limit of all."""

    rule: _Rule
    usual: Healthy | None


def _judged(one: RuleState, alert: Alert | None) -> _Rule:
    rule, value, healthy = one.rule, one.value, None
    standing: Standing = "none" if one.state == State.NO_DATA else "ok"
    if rule.severity != "info":
        healthy = one.healthy
        if alert or one.state == State.FIRING:
            standing = rule.severity
            value = alert.last if alert and isnan(value) else value
        elif one.state == State.PENDING:
            standing = "pending"
    is_special = bool(rule.and_ or rule.reduce == "increase")
    rank = _rank(standing, value, healthy, is_special=is_special)
    return _Rule(one.key, rule.signal, standing, value, healthy, rank, one, alert)


def _fired(alert: Alert) -> _Rule:
    healthy = Healthy.parse(alert.healthy) if alert.healthy else None
    standing: Standing = "critical" if alert.severity == "critical" else "warning"
    rank = _rank(standing, alert.last, healthy, is_special=False)
    return _Rule(alert.key, alert.signal, standing, alert.last, healthy, rank, None, alert)


def _rank(
    standing: Standing, value: float, healthy: Healthy | None, *, is_special: bool
) -> tuple[bool, int, bool, float]:
    level = level_of(value, healthy) if healthy else None
    return healthy is None, _PLACES[standing], is_special, -(level or 0.0)


def _worst(instances: Sequence[_Subject], catalogue: Catalogue) -> Cell:
    found = [_cell(one, catalogue) for one in instances]
    if len(found) == 1:
        return found[0]
    worst = min(found, key=lambda one: one.place)
    crossed = sum(one.standing in CROSSED for one in found) - (worst.standing in CROSSED)
    silent = sum(one.standing == "none" for one in found) - (worst.standing == "none")
    return replace(worst, crossed=crossed, silent=silent) if crossed or silent else worst


def _cell(subject: _Subject, catalogue: Catalogue) -> Cell:
    rule, usual = subject
    if rule.judged is None:
        alert = cast("Alert", rule.alert)
        return Cell(
            key=rule.key,
            signal=rule.signal,
            title=alert.details.title,
            unit=alert.details.unit,
            instance=alert.instance,
            standing=rule.standing,
            severity=alert.severity,
            value=rule.value,
            healthy=rule.healthy,
            usual=usual,
            since=alert.begin,
            alert=alert,
        )
    one, alert, signal = rule.judged, rule.alert, catalogue.signals[rule.signal]
    since, ends = None, ""
    if rule.standing in CROSSED:
        since, recover = alert.begin if alert else one.since, one.rule.recover
        is_inside = rule.standing != "pending" and one.healthy.holds(np.array([one.value]))[0]
        if is_inside and recover and not one.rule.scale:
            ends = healthy_text(recover, signal.unit)
    return Cell(
        key=rule.key,
        signal=rule.signal,
        title=signal.title,
        unit=signal.unit,
        instance=one.subject.instance,
        standing=rule.standing,
        severity=one.rule.severity,
        value=rule.value,
        healthy=rule.healthy,
        usual=usual,
        since=since,
        alert=alert,
        impossible=one.impossible,
        ends=ends,
    )
