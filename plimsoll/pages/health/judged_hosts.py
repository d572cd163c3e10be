"""What an evaluation found on each host. Its cells are made when somebody looks at them, as most are not shown."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain

import numpy as np

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.causes import unjudged
from plimsoll.alerting.firing import Firing
from plimsoll.alerting.latest_evaluation import LatestEvaluation, RuleState, RuleStates
from plimsoll.model.log import Values
from plimsoll.model.series import HostKey
from plimsoll.pages.health.host_cells import Cell, cells, has_cell
from plimsoll.report.html.gauge import level_of
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.states import State


class JudgedHosts:
    """What is judged, what silent hosts were judged on, and the alerts that fire. Requests may come from several
    threads.
    """

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
        self._cells: dict[HostKey, Mapping[str, Cell]] = {}

    def cells(self, host: HostKey) -> Mapping[str, Cell]:
        """The cells of a host by signal."""
        if host not in self._cells:
            judged = [one for one in self._judged.on(host) if has_cell(one.rule)]
            self._cells[host] = cells(chain(judged, self._gone.get(host, ())), self._alerts(host), self._catalogue)
        return self._cells[host]

    def rules(self, host: HostKey) -> frozenset[str]:
        """The ids of the rules that are judged on a host; hosts of a kind have the same ones."""
        return self._rules.get(host, frozenset())

    def packs(self, host: HostKey) -> Collection[str]:
        """The titles of the packs whose limits are judged on a host."""
        own = self.rules(host)
        return {pack.title for pack in self._catalogue.packs if any(rule.id in own for rule in pack.rules)}

    def lacking(self, host: HostKey) -> str:
        """Which resources of a host no limit judges now."""
        return unjudged(host, self._judged, self._catalogue.signals)

    @cached_property
    def crossed(self) -> Mapping[HostKey, Collection[str]]:
        """The signals with a warning or critical limit that is crossed, by host."""
        found = {host: {one.signal for one in self._alerts(host)} for host in self._firing.of_host}
        for rule, hosts in self._severe:
            for host in self._hosts(hosts[rule.crossed]):
                found.setdefault(host, set()).add(rule.rule.signal)
        return found

    @cached_property
    def pending(self) -> Collection[HostKey]:
        """The hosts with a warning or critical limit that is not crossed for long enough to alert."""
        return {host for rule, hosts in self._severe for host in self._hosts(hosts[rule.states == State.PENDING])}

    @cached_property
    def level(self) -> float | None:
        """The highest water level of all hosts: 1 at the limit, None if there is none."""
        fires: dict[str, list[float]] = {}
        for alert in self._firing.alerts:
            if alert.signal and alert.healthy:
                fires.setdefault(alert.healthy, []).append(alert.last)
        values: list[tuple[Healthy, Values]] = [(Healthy.parse(one), np.array(last)) for one, last in fires.items()]
        for rule, _ in self._severe:
            # A value that is crossed only together with another one, or by its change, says nothing by itself.
            is_special = rule.rule.and_ or rule.rule.reduce == "increase"
            its = np.where(rule.crossed, rule.values, np.nan) if is_special else rule.values
            values += [(healthy, its[rows]) for healthy, rows in rule.limits.rows.items()]
        levels = (level_of(end, healthy) for healthy, some in values for end in _ends(some))
        return max((one for one in levels if one is not None), default=None)

    def _alerts(self, host: HostKey) -> list[Alert]:
        """The alerts of limits that fire on a host."""
        return [alert for one in self._firing.of_host.get(host, ()) for alert in one.alerts if alert.signal]

    @cached_property
    def _severe(self) -> Sequence[tuple[RuleStates, np.ndarray]]:
        """The warning and critical rules, with the place of each row's host."""
        each = zip(self._judged.rules, self._judged.places.numbers, strict=True)
        return [(rule, hosts) for rule, hosts in each if rule.rule.severity != "info"]

    def _hosts(self, places: np.ndarray) -> list[HostKey]:
        return [self._judged.places.hosts[place] for place in np.unique(places).tolist()]

    @cached_property
    def _rules(self) -> Mapping[HostKey, frozenset[str]]:
        shown = [one.rule.id if has_cell(one.rule) else "" for one in self._judged.rules]
        of_kind = cache(lambda rules: frozenset(shown[at] for at in rules if shown[at]))
        found = {host: of_kind(tuple(rows)) for host, rows in self._judged.places.of_host.items()}
        for host, gone in self._gone.items():
            found[host] = found.get(host, frozenset()).union(one.rule.id for one in gone)
        for host in self._firing.of_host:
            found[host] = found.get(host, frozenset()).union(one.rule for one in self._alerts(host))
        return found


def _ends(values: Values) -> Sequence[float]:
    """The lowest and the highest value; none if there are no values."""
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if len(known) else ()
