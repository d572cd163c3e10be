"""The firing alerts, grouped into incidents once for pages, metrics and the HTTP API."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

from plimsoll.alerting import alert_queries
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alerts_file import AlertsFile, is_like
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.series import HostKey
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.wording import SEVERITIES


@dataclass(frozen=True, slots=True)
class Incident:
    """The firing alerts of one host and one cause: the most severe first, and within a severity the earliest first."""

    alerts: Sequence[Alert]

    @property
    def worst(self) -> Alert:
        """The first alert, which represents the incident."""
        return self.alerts[0]

    @property
    def other_alerts(self) -> Sequence[Alert]:
        """The alerts of the incident other than `worst`."""
        return self.alerts[1:]

    @property
    def host(self) -> HostKey:
        """The host of the incident; empty if the incident is about no host."""
        return HostKey(self.worst.key[1])

    @property
    def severity(self) -> Severity:
        """The severity of the incident's most severe alert."""
        return self.worst.severity


def group_incidents(alerts: Iterable[Alert]) -> list[Incident]:
    """Group firing alerts into incidents: the most severe first, and within a severity the latest first."""
    groups = group_pairs((alert.incident, alert) for alert in alerts)
    grouped = [
        Incident(sorted(group, key=lambda alert: (_rank(alert), alert.begin, alert.instance or "", alert.id)))
        for group in groups.values()
    ]
    return sorted(
        grouped, key=lambda incident: (_rank(incident.worst), incident.worst.kind == "rule", -incident.worst.fired_at)
    )


def _rank(alert: Alert) -> int:
    return SEVERITIES.index(alert.severity)


@dataclass(frozen=True, eq=False)
class Firing:
    """All firing alerts: the critical first, and within a severity the latest first."""

    all_alerts: Sequence[Alert] = ()

    def like(self, rule: str, host: str, instance: str) -> int:
        """Return the number of firing alerts that match these patterns."""
        on_hosts = (alerts for name, alerts in self._alerts_by_host.items() if is_like(name, host))
        return sum(
            is_like(alert.rule, rule) and is_like(alert.instance or "", instance)
            for alerts in on_hosts
            for alert in alerts
        )

    @cached_property
    def _alerts_by_host(self) -> Mapping[str, Sequence[Alert]]:
        return group_pairs((alert.host, alert) for alert in self.all_alerts)

    @cached_property
    def info(self) -> int:
        """The number of firing alerts of severity info."""
        return sum(alert.severity == "info" for alert in self.all_alerts)

    @cached_property
    def alerts(self) -> Sequence[Alert]:
        """The firing alerts of severity warning and critical that are about hosts."""
        return [alert for alert in self.all_alerts if alert.severity != "info" and alert.kind != "plimsoll"]

    @cached_property
    def incidents(self) -> Sequence[Incident]:
        """The incidents of `alerts`, most severe and then latest first; silent hosts share one if all are silent."""
        all_silent = any(alert.kind == "all-silent" for alert in self.alerts)
        return group_incidents(alert for alert in self.alerts if not (all_silent and alert.kind == "host-silent"))

    @cached_property
    def of_host(self) -> Mapping[HostKey, Sequence[Incident]]:
        """The incidents by host (case-folded), in the order of `incidents`; the key is empty if there is no host."""
        return group_pairs((incident.host, incident) for incident in self.incidents)


_kept = WeakKeyDictionary[AlertsFile, tuple[tuple[int, int], Firing]]()


def load_firing(file: AlertsFile) -> Firing:
    """Return the firing alerts; the result is cached until alerts.db changes."""
    with file.alone():
        version = file.version
        if version is None:  # within a transaction, which may be undone
            return Firing(alert_queries.read_firing_alerts(file))
        if file not in _kept or _kept[file][0] != version:
            _kept[file] = version, Firing(alert_queries.read_firing_alerts(file))
        return _kept[file][1]
