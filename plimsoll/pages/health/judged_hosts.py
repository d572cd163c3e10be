"""The results of an evaluation by host. Table cells are built on demand, as most hosts are never shown."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain

import numpy as np

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import Firing, Incident
from plimsoll.alerting.latest_evaluation import LatestEvaluation, RuleState, RuleStates
from plimsoll.alerting.wording import describe_confidence
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import Values
from plimsoll.model.series import HostKey
from plimsoll.pages.health.host_cells import HostCell, has_cell, list_cells
from plimsoll.report.html.gauge import compute_value_level
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.states import State


class JudgedHosts:
    """The current rule states, the last rule states of silent hosts, and the firing alerts, by host. Thread-safe."""

    def __init__(
        self,
        judged: LatestEvaluation,
        gone: Mapping[HostKey, Sequence[RuleState]],
        firing: Firing,
        catalogue: Catalogue,
    ) -> None:
        self._judged = judged
        self._gone = gone
        self._firing = firing
        self._catalogue = catalogue
        self._cells: dict[HostKey, Mapping[str, HostCell]] = {}

    def cells(self, host: HostKey) -> Mapping[str, HostCell]:
        """Return the cells of a host by signal."""
        if host not in self._cells:
            judged = [state for state in self._judged.on(host) if has_cell(state.rule)]
            self._cells[host] = list_cells(
                chain(judged, self._gone.get(host, ())), self._list_alerts(host), self._catalogue
            )
        return self._cells[host]

    def rules(self, host: HostKey) -> frozenset[str]:
        """Return the ids of the rules that are judged on a host."""
        return self._rules.get(host, frozenset())

    def packs(self, host: HostKey) -> Collection[str]:
        """Return the titles of the packs whose limits are judged on a host."""
        rules = self.rules(host)
        return {pack.title for pack in self._catalogue.packs if any(rule.id in rules for rule in pack.rules)}

    def confidence(self, incident: Incident) -> str:
        """Return how sure the cause of an incident is."""
        return describe_confidence(incident, self._judged, self._catalogue)

    @cached_property
    def crossed(self) -> Mapping[HostKey, Collection[str]]:
        """The signals whose warning or critical limit is crossed, by host."""
        signals = {host: {alert.signal for alert in self._list_alerts(host)} for host in self._firing.of_host}
        for rule, places in self._severe:
            for host in self._list_hosts(places[rule.crossed]):
                signals.setdefault(host, set()).add(rule.rule.signal)
        return signals

    @cached_property
    def pending(self) -> Collection[HostKey]:
        """The hosts on which a warning or critical limit is crossed, but for less than the rule's `for`."""
        return {
            host for rule, places in self._severe for host in self._list_hosts(places[rule.states == State.PENDING])
        }

    @cached_property
    def level(self) -> float | None:
        """The highest water level on any host (1: at the limit); None if no value has a ratio to its limit."""
        last = group_pairs(
            (alert.healthy, alert.last) for alert in self._firing.alerts if alert.signal and alert.healthy
        )
        samples: list[tuple[Healthy, Values]] = [
            (Healthy.parse(text), np.array(values)) for text, values in last.items()
        ]
        for rule, _ in self._severe:
            # A limit with further conditions, or on an increase, says nothing about a single value.
            is_special = rule.rule.and_ or rule.rule.reduce == "increase"
            values = np.where(rule.crossed, rule.values, np.nan) if is_special else rule.values
            samples += [(healthy, values[rows]) for healthy, rows in rule.limits.rows.items()]
        present = [(healthy, values[~np.isnan(values)]) for healthy, values in samples]
        extremes = [(limit, end) for limit, values in present if len(values) for end in (values.min(), values.max())]
        levels = (compute_value_level(float(value), healthy) for healthy, value in extremes)
        return max((level for level in levels if level is not None), default=None)

    def _list_alerts(self, host: HostKey) -> list[Alert]:
        """Return the firing alerts on a host that are about a signal, without alerts that the host is silent."""
        incidents = self._firing.of_host.get(host, ())
        return [alert for incident in incidents for alert in incident.alerts if alert.signal]

    @cached_property
    def _severe(self) -> Sequence[tuple[RuleStates, np.ndarray]]:
        """The states of each warning or critical rule, and the host number of each of the rule's rows."""
        rules = zip(self._judged.rules, self._judged.places.numbers, strict=True)
        return [(rule, places) for rule, places in rules if rule.rule.severity != "info"]

    def _list_hosts(self, places: np.ndarray) -> list[HostKey]:
        return [self._judged.places.hosts[place] for place in np.unique(places).tolist()]

    @cached_property
    def _rules(self) -> Mapping[HostKey, frozenset[str]]:
        shown = [rule.rule.id if has_cell(rule.rule) else "" for rule in self._judged.rules]
        of_kind = cache(lambda rules: frozenset(shown[at] for at in rules if shown[at]))
        ids = {host: of_kind(tuple(rows)) for host, rows in self._judged.places.of_host.items()}
        for host, gone in self._gone.items():
            ids[host] = ids.get(host, frozenset()).union(state.rule.id for state in gone)
        for host in self._firing.of_host:
            ids[host] = ids.get(host, frozenset()).union(alert.rule for alert in self._list_alerts(host))
        return ids
