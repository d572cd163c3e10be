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
        findings = sorted((*self.only_second, *self.only_first), key=lambda finding: finding.pack.applies_to is None)
        return {self._place(finding): at for at, finding in reversed(list(enumerate(findings)))}

    def crossed_in(self, key: Key) -> Literal["baseline", "other"] | None:
        """Return the only run that crossed a limit of a signal and subject; None if none or both did."""
        if key not in self.order:
            return None
        return "other" if any(self._place(finding) == key for finding in self.only_second) else "baseline"

    def _place(self, finding: Finding) -> Key:
        return _place(finding, self.hosts if finding in self.only_second else None)


def thresholds(first: Review, second: Review, hosts: Hosts) -> Thresholds:
    """Compare what was crossed."""
    sides = [_by_key(first, None), _by_key(second, hosts)]
    judged = [{key for key, finding in side.items() if finding.outcome in JUDGED} for side in sides]
    crossed = [{key: finding for key, finding in side.items() if _counts(finding)} for side in sides]
    only: list[tuple[Finding, ...]] = []
    unjudged: list[Finding] = []
    for findings, other, keys in ((crossed[0], crossed[1], judged[1]), (crossed[1], crossed[0], judged[0])):
        lone = {key: finding for key, finding in findings.items() if key not in other}
        only.append(_worst({key: finding for key, finding in lone.items() if key in keys}))
        unjudged += _worst({key: finding for key, finding in lone.items() if key not in keys})
    both = _worst({key: finding for key, finding in crossed[1].items() if key in crossed[0]})
    pairs = tuple((crossed[0][_key(finding, hosts)], finding) for finding in both)
    return Thresholds(only[0], only[1], pairs, tuple(unjudged), hosts)


def _counts(finding: Finding) -> bool:
    return finding.outcome in CROSSED and finding.severe and not finding.superseded_by


def _by_key(review: Review, hosts: Hosts | None) -> dict[Key, Finding]:
    return {_key(finding, hosts): finding for finding in reversed(review.findings) if finding.subject}


def _key(finding: Finding, hosts: Hosts | None) -> Key:
    key = finding.subject.key if finding.subject else ("", None)
    host, instance = key if hosts is None else hosts.in_first(key)
    return finding.rule.id, host, instance


def _place(finding: Finding, hosts: Hosts | None = None) -> Key:
    return finding.rule.signal, *_key(finding, hosts)[1:]


def _worst(findings: dict[Key, Finding]) -> tuple[Finding, ...]:
    """The worst finding of each signal and subject; findings are sorted so in each review, the last being the worst."""
    worst: dict[Key, Finding] = {}
    for finding in findings.values():
        worst[_place(finding)] = finding
    return tuple(reversed(worst.values()))
