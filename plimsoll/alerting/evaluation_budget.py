"""How much is judged: of each host and of all hosts, so that none takes the time in which others are judged."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from plimsoll.alerting.rule_targets import RuleTarget

MOST_OF_HOST = 5_000  # limits of a host, one for each instance: a second or two of a processor
MOST = 50_000


@dataclass(frozen=True, slots=True)
class Share:
    """What is judged, and the hosts (case-folded) of which not everything is."""

    planned: Sequence[RuleTarget]
    beyond: Collection[str]


def shared(
    planned: Iterable[RuleTarget], hosts: Iterable[str], *, most: int = MOST, of_host: int = MOST_OF_HOST
) -> Share:
    """What is judged of what was planned. `hosts` (case-folded) have their turns in this order.

    Of a host with too much, the rules with many instances are judged for the first ones only.
    """
    by_host: dict[str, list[RuleTarget]] = {host: [] for host in hosts}
    for one in planned:
        by_host.setdefault(one.subject.key[0], []).append(one)
    kept: list[RuleTarget] = []
    beyond: set[str] = set()
    for host, wanted in by_host.items():
        found = wanted if len(wanted) <= of_host else _cut(wanted, of_host)
        if len(found) < len(wanted) or len(kept) + len(found) > most:
            beyond.add(host)
        if len(kept) + len(found) <= most:
            kept += found
    return Share(kept, beyond)


def _cut(wanted: Sequence[RuleTarget], most: int) -> list[RuleTarget]:
    """At most so many, alike of each rule that has more than its part."""
    by_rule: dict[str, list[RuleTarget]] = {}
    for one in wanted:
        by_rule.setdefault(one.rule.id, []).append(one)
    kept: list[RuleTarget] = []
    for at, some in enumerate(sorted(by_rule.values(), key=len)):
        kept += some[: (most - len(kept)) // (len(by_rule) - at)]
    return kept
