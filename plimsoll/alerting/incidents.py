"""Incidents: the alerts that fire on one host for one cause, which people count and handle as one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.alerting.alert import Alert
from plimsoll.model.host_key import HostKey
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.severity import SEVERITIES


@dataclass(frozen=True, slots=True)
class Incident:
    """The alerts of one incident: the gravest first, and of those the one that was crossed first."""

    alerts: Sequence[Alert]

    @property
    def worst(self) -> Alert:
        """The alert that stands for the incident."""
        return self.alerts[0]

    @property
    def others(self) -> Sequence[Alert]:
        """The other limits that are past."""
        return self.alerts[1:]

    @property
    def host(self) -> HostKey:
        """The host that it is on; empty if it is on none."""
        return HostKey(self.worst.key[1])

    @property
    def severity(self) -> Severity:
        """The severity of its gravest alert."""
        return self.worst.severity


def incidents(alerts: Iterable[Alert]) -> list[Incident]:
    """The incidents of alerts that fire: the gravest first, and of those the latest first."""
    found: dict[object, list[Alert]] = {}
    for one in alerts:
        found.setdefault(one.incident, []).append(one)
    grouped = [
        Incident(sorted(some, key=lambda one: (_rank(one), one.begin, one.instance or "", one.id)))
        for some in found.values()
    ]
    return sorted(grouped, key=lambda one: (_rank(one.worst), one.worst.kind == "rule", -one.worst.fired_at))


def _rank(alert: Alert) -> int:
    return SEVERITIES.index(alert.severity)
