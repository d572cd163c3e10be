"""Which alerts are a target's: those of its hosts, of hosts with its labels, and of rules of its packs.

What cannot be told to be somebody else's is told: that all hosts are silent, troubles of Plimsoll itself, and, whatever
the packs, that a host is silent, as none of its rules is judged then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.patterns import is_like
from plimsoll.alerting.rule_targets import Site
from plimsoll.model.errors import Unusable
from plimsoll.model.host_key import host_key

_OF_NO_HOST = ("all-silent", "plimsoll")


@dataclass(frozen=True)
class Routing:
    """Patterns of hosts, packs, and patterns of labels; each leaves nothing out if it is empty.

    `packs_of` are the packs of the rules, `labels_of` the labels of the hosts (case-folded).
    """

    hosts: Sequence[str] = ()
    packs: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    packs_of: Mapping[str, str] = field(default_factory=dict[str, str])
    labels_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    def fits(self, alert: Alert) -> bool:
        """Whether an alert is the target's."""
        if alert.kind in _OF_NO_HOST:
            return True
        if self.hosts and not any(is_like(alert.host, pattern) for pattern in self.hosts):
            return False
        own = self.labels_of.get(host_key(alert.host), {})
        if not all(name in own and is_like(own[name], pattern) for name, pattern in self.labels.items()):
            return False
        pack = self.packs_of.get(alert.rule)  # none of an alert of a silent host, or of a rule that is gone
        return not self.packs or pack is None or pack in self.packs

    def check(self, setting: str) -> None:
        """Unusable, naming the setting (`notify.team`), if a pack is not known, or no host has such a label."""
        known = sorted({*self.packs_of.values()})
        for pack in self.packs:
            if pack not in known:
                near = get_close_matches(pack, known, 1)
                meant = f"; did you mean {near[0]}?" if near else "; plimsoll rules list names them all"
                raise Unusable(f'{setting}.packs: no pack "{pack}"{meant}')
        for name, pattern in self.labels.items():
            if not any(name in own and is_like(own[name], pattern) for own in self.labels_of.values()):
                raise Unusable(f'{setting}.labels: no host of plimsoll.toml has the label {name} = "{pattern}"')


def routing(hosts: Sequence[str], packs: Sequence[str], labels: Mapping[str, str], site: Site) -> Routing:
    """The routing of a target at a site."""
    packs_of = {rule.id: pack.pack for pack in site.catalogue.packs for rule in pack.rules}
    return Routing(hosts, packs, labels, packs_of, site.labels)
