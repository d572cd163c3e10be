"""Documented limits that one run crossed and the other did not."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from plimsoll.comparison.hosts import Hosts
from plimsoll.review.findings import CROSSED, JUDGED, Finding
from plimsoll.review.review import Review

Key = tuple[str, str, str | None]  # rule, host of the first run, instance


@dataclass(frozen=True)
class Thresholds:
    """What was crossed in one run only, and in both; the worst first. Of a signal and subject each once.

    `unjudged` are those crossed in one run whose rule was not judged in the other: nothing is known of it there.
    """

    only_first: tuple[Finding, ...]
    only_second: tuple[Finding, ...]
    both: tuple[tuple[Finding, Finding], ...]
    unjudged: tuple[Finding, ...]
    hosts: Hosts

    @cached_property
    def order(self) -> Mapping[Key, int]:
        """The signals and subjects of the first run whose limit was crossed in one run only, the most telling first.

        Limits for the role of a host tell more than those for every host.
        """
        found = sorted((*self.only_second, *self.only_first), key=lambda one: one.pack.applies_to is None)
        return {self._place(one): at for at, one in reversed(list(enumerate(found)))}

    def crossed_in(self, key: Key) -> Literal["baseline", "other"] | None:
        """Return the only run that crossed a limit of a signal and subject; None if none or both did."""
        if key not in self.order:
            return None
        return "other" if any(self._place(found) == key for found in self.only_second) else "baseline"

    def _place(self, one: Finding) -> Key:
        return _place(one, self.hosts if one in self.only_second else None)


def thresholds(first: Review, second: Review, hosts: Hosts) -> Thresholds:
    """Compare what was crossed."""
    sides = [_by_key(first, None), _by_key(second, hosts)]
    judged = [{key for key, one in side.items() if one.outcome in JUDGED} for side in sides]
    crossed = [{key: one for key, one in side.items() if _counts(one)} for side in sides]
    only: list[tuple[Finding, ...]] = []
    unjudged: list[Finding] = []
    for own, other, known in ((crossed[0], crossed[1], judged[1]), (crossed[1], crossed[0], judged[0])):
        lone = {key: one for key, one in own.items() if key not in other}
        only.append(_worst({key: one for key, one in lone.items() if key in known}))
        unjudged += _worst({key: one for key, one in lone.items() if key not in known})
    both = _worst({key: one for key, one in crossed[1].items() if key in crossed[0]})
    pairs = tuple((crossed[0][_key(one, hosts)], one) for one in both)
    return Thresholds(only[0], only[1], pairs, tuple(unjudged), hosts)


def _counts(one: Finding) -> bool:
    return one.outcome in CROSSED and one.severe and not one.superseded_by


def _by_key(review: Review, hosts: Hosts | None) -> dict[Key, Finding]:
    return {_key(one, hosts): one for one in reversed(review.findings) if one.subject}


def _key(one: Finding, hosts: Hosts | None) -> Key:
    key = one.subject.key if one.subject else ("", None)
    host, instance = key if hosts is None else hosts.in_first(key)
    return one.rule.id, host, instance


def _place(one: Finding, hosts: Hosts | None = None) -> Key:
    return one.rule.signal, *_key(one, hosts)[1:]


def _worst(found: dict[Key, Finding]) -> tuple[Finding, ...]:
    """The worst finding of each signal and subject; findings are sorted so in each review, the last being the worst."""
    worst: dict[Key, Finding] = {}
    for one in found.values():
        worst[_place(one)] = one
    return tuple(reversed(worst.values()))
