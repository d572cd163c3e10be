"""What an evaluation found on each host. Its cells are made when somebody looks at them, as most are not shown."""

from collections.abc import Collection, Iterable, Mapping
from math import isnan

from plimsoll.alerting.book.record import Alert
from plimsoll.alerting.judged_now import JudgedNow
from plimsoll.alerting.planning import Key
from plimsoll.model.host_key import HostKey, host_key
from plimsoll.pages.health.host_cells import Cell, cells
from plimsoll.report.html.gauge import level_of
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.healthy import Healthy, Operator
from plimsoll.rules.states import State

_CROSSED = (State.PENDING, State.FIRING)


class JudgedHosts:
    """What is judged, by key, and the alerts that fire. Requests may come from several threads.

    `crossed` are the signals with a warning or critical limit that is crossed, by host; `pending` the hosts with one
    that is not crossed for long enough to alert. `level` is the highest water level of all hosts: 1 at the limit, None
    if there is none.
    """

    def __init__(self, judged: Mapping[Key, JudgedNow], alerts: Iterable[Alert], catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._judged: dict[HostKey, dict[Key, JudgedNow]] = {}
        self._alerts: dict[HostKey, list[Alert]] = {}
        self._cells: dict[HostKey, Mapping[str, Cell]] = {}
        for key, one in judged.items():
            self._judged.setdefault(one.subject.key[0], {})[key] = one
        for one in alerts:
            if one.signal:
                self._alerts.setdefault(host_key(one.host), []).append(one)
        self._rules = {host: self._rules_of(host) for host in {**self._judged, **self._alerts}}
        self._severe = [one for one in judged.values() if one.rule.severity != "info"]
        self.crossed = self._crossed()
        self.pending = {one.subject.key[0] for one in self._severe if one.state == State.PENDING}
        self.level = self._level()

    def _rules_of(self, host: HostKey) -> frozenset[str]:
        fires = (one.rule for one in self._alerts.get(host, ()))
        return frozenset([*(rule for rule, _, _ in self._judged.get(host, ())), *fires])

    def of(self, host: HostKey) -> Iterable[JudgedNow]:
        """What is judged on a host."""
        return self._judged.get(host, {}).values()

    def cells(self, host: HostKey) -> Mapping[str, Cell]:
        """The cells of a host by signal."""
        if host not in self._cells:
            found = cells(self._judged.get(host, {}), self._alerts.get(host, ()), self._catalogue)
            self._cells[host] = found.get(host, {})
        return self._cells[host]

    def rules(self, host: HostKey) -> frozenset[str]:
        """The ids of the rules that are judged on a host; hosts of a kind have the same ones."""
        return self._rules.get(host, frozenset())

    def packs(self, host: HostKey) -> Collection[str]:
        """The titles of the packs whose limits are judged on a host."""
        own = self.rules(host)
        return {pack.title for pack in self._catalogue.packs if any(rule.id in own for rule in pack.rules)}

    def _crossed(self) -> Mapping[HostKey, Collection[str]]:
        found: dict[HostKey, set[str]] = {}
        for host, fires in self._alerts.items():
            found.setdefault(host, set()).update(one.signal for one in fires)
        for one in self._severe:
            if one.state in _CROSSED:
                found.setdefault(one.subject.key[0], set()).add(one.rule.signal)
        return found

    def _level(self) -> float | None:
        limits: dict[tuple[Operator, float], list[float]] = {}
        for one in self._severe:
            # A value that is crossed only together with another one, or by its change, says nothing by itself.
            if one.state in _CROSSED or not (one.rule.and_ or one.rule.reduce == "increase"):
                limits.setdefault((one.healthy.operator, one.healthy.limit), []).append(one.value)
        fires = [one for own in self._alerts.values() for one in own if one.healthy]
        levels = [level_of(one.last, Healthy.parse(one.healthy)) for one in fires]
        for limit, values in limits.items():
            if there := [one for one in values if not isnan(one)]:
                levels += [level_of(one, Healthy(*limit)) for one in (min(there), max(there))]
        return max((one for one in levels if one is not None), default=None)
