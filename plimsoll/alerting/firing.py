"""The alerts that fire, grouped once for all who ask: pages, metrics and the HTTP API ask for them at each look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.alerts_file import AlertsFile
from plimsoll.alerting.incidents import Incident, incidents
from plimsoll.alerting.open_alerts import OpenAlerts
from plimsoll.alerting.patterns import is_like
from plimsoll.model.host_key import HostKey

_open = WeakKeyDictionary[AlertsFile, OpenAlerts]()
_kept = WeakKeyDictionary[AlertsFile, "Firing"]()


@dataclass(frozen=True, eq=False)
class Firing:
    """All alerts that fire, critical ones first, then the latest first."""

    every: Sequence[Alert] = ()

    def like(self, rule: str, host: str, instance: str) -> int:
        """How many match these patterns."""
        on_hosts = (some for name, some in self._by_host.items() if is_like(name, host))
        return sum(
            is_like(one.rule, rule) and is_like(one.instance or "", instance) for some in on_hosts for one in some
        )

    @cached_property
    def _by_host(self) -> Mapping[str, Sequence[Alert]]:
        found: dict[str, list[Alert]] = {}
        for one in self.every:
            found.setdefault(one.host, []).append(one)
        return found

    @cached_property
    def info(self) -> int:
        """How many are of severity info."""
        return sum(one.severity == "info" for one in self.every)

    @cached_property
    def alerts(self) -> Sequence[Alert]:
        """The warning and critical ones of hosts."""
        return [one for one in self.every if one.severity != "info" and one.kind != "plimsoll"]

    @cached_property
    def incidents(self) -> Sequence[Incident]:
        """The incidents of `alerts`: the gravest first, and of those the latest first."""
        return incidents(self.alerts)

    @cached_property
    def of_host(self) -> Mapping[HostKey, Sequence[Incident]]:
        """The incidents of each host, in the same order; under an empty name what is on none."""
        found: dict[HostKey, list[Incident]] = {}
        for one in self.incidents:
            found.setdefault(one.host, []).append(one)
        return found


def firing(file: AlertsFile) -> Firing:
    """What fires: the same object until that changes."""
    with file.alone():
        every = _open.setdefault(file, OpenAlerts()).now(file)
        if file not in _kept or _kept[file].every is not every:
            _kept[file] = Firing(every)
        return _kept[file]
