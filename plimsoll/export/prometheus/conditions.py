"""The condition of a rule as the expression of an alert.

PromQL knows no "no data": a comparison that is false gives nothing, and so does one without samples. An alert that
fires must go on without data, as silence is no recovery. So the expression has a second part: what fires (Prometheus
keeps that as `ALERTS`) and has no value that says otherwise. Its value is +Inf, which no comparison gives.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.export.grafana.alerts.query import Inexpressible
from plimsoll.export.prometheus.selectors import number, text
from plimsoll.export.prometheus.values import by
from plimsoll.rules.schema.healthy import Healthy, Operator

_CROSSED: dict[Operator, str] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!="}
_HELD: dict[Operator, str] = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "=": "=="}


@dataclass(frozen=True)
class Compared:
    """A value with its limit, and the labels that it has."""

    value: str
    group: tuple[str, ...]
    healthy: Healthy

    def crossed(self, limit: Healthy | None = None) -> str:
        """The comparison that gives the values past the limit, or past another one."""
        limit = limit or self.healthy
        return f"{self.value} {_CROSSED[limit.operator]} {number(limit.limit)}"

    def held(self, limit: Healthy | None = None) -> str:
        """The comparison that gives the values on the healthy side of the limit, or of another one."""
        limit = limit or self.healthy
        return f"{self.value} {_HELD[limit.operator]} {number(limit.limit)}"


def expression(own: Compared, others: Sequence[Compared], alert: dict[str, str], recover: Healthy | None) -> str:
    """The expression of an alert that has these labels, besides those of its subject."""
    if recover and not _is_further(recover, own.healthy):
        raise Inexpressible(f"it recovers at {recover}, which is not on the healthy side of {own.healthy}")
    lines = [own.crossed(), *(f"and {_on(own, one)} {one.crossed()}" for one in others)]
    if recover:
        active = _alerts(own, alert, "pending|firing")
        lines += ["or", own.crossed(recover), *(f"and {_on(own, one)} {one.crossed()}" for one in others)]
        lines.append(f"and on ({', '.join(own.group)}) {active}")
    lines += ["or", f"({_alerts(own, alert, 'firing')} + Inf)"]
    if others or recover:
        lines += [f"unless {own.held(recover)}", *(f"unless {_on(own, one)} {one.held()}" for one in others)]
    else:
        lines.append(f"unless {own.value}")
    return "\n".join(lines)


def _alerts(own: Compared, labels: dict[str, str], states: str) -> str:
    given = ", ".join(f"{name}={text(value)}" for name, value in labels.items())
    which = f'alertstate=~"{states}"' if "|" in states else f'alertstate="{states}"'
    return f"max {by(own.group)} (ALERTS{{{given}, {which}}})"


def _on(own: Compared, other: Compared) -> str:
    common = [tag for tag in own.group if tag in other.group]
    if not common:
        raise Inexpressible(f"its signals have no label in common ({', '.join(own.group)}; {', '.join(other.group)})")
    return f"on ({', '.join(common)})"


def _is_further(recover: Healthy, healthy: Healthy) -> bool:
    """Whether a value that is crossed has not recovered: the limit to recover at is not beyond the other."""
    if healthy.worse == "either":
        return recover == healthy
    return recover.limit >= healthy.limit if healthy.worse == "lower" else recover.limit <= healthy.limit
