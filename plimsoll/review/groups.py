"""Crossed findings grouped by signal: a group has all rules of the signal, on all hosts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from plimsoll.model.series import host_key
from plimsoll.review.findings import CROSSED, JUDGED, Finding
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.wording import SEVERITIES


@dataclass(frozen=True)
class Group:
    """The crossed findings about one signal, worst first.

    `not_counted` are the findings of old limits that a current rule supersedes, crossed or not, worst first. `judged`
    is the number of hosts on which a limit of the signal was judged.
    """

    signal: str
    findings: tuple[Finding, ...]
    not_counted: tuple[Finding, ...] = ()
    judged: int = 0

    @property
    def worst(self) -> Finding:
        """The worst finding."""
        return self.findings[0]

    @property
    def severity(self) -> Severity:
        """That of its worst finding."""
        return self.worst.rule.severity

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """The hosts it was crossed on, the worst first."""
        hosts: dict[str, str] = {}
        for finding in self.findings:
            if finding.subject:
                hosts.setdefault(host_key(finding.subject.host), finding.subject.host)
        return tuple(hosts.values())

    @property
    def on_hosts(self) -> str:
        """`on 3 of 20 hosts`: of those on which a limit of the signal was judged."""
        return f"on {len(self.hosts):,} of {self.judged:,} hosts"

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that were crossed, the worst first."""
        return tuple({finding.rule.id: finding.rule for finding in self.findings}.values())

    def instances_on(self, host: str) -> int:
        """Return how many instances of a host it was crossed for."""
        subjects = {finding.subject.key for finding in self.findings if finding.subject}
        return sum(key[0] == host_key(host) for key in subjects)


def crossed_groups(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Return the groups, worst first, of findings that are sorted so.

    An old limit belongs to the group of its signal, else to that of a rule that supersedes it. If it was crossed and
    neither of those was, it is a group of its own, unless a rule that supersedes it was judged: then it is set aside.
    """
    ordered = list(findings)
    by_signal, old, alone, _ = _placed(ordered)
    judged: dict[str, set[str]] = {}
    for finding in ordered:
        if finding.subject and finding.track:
            judged.setdefault(finding.rule.signal, set()).add(host_key(finding.subject.host))
    return tuple(
        Group(signal, tuple(findings), tuple(old.get(signal, ())), len(judged.get(signal, ())))
        for signal, findings in (by_signal | alone).items()
    )


def set_aside(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Old limits that were crossed and are in no group, as current limits were judged in their place and held."""
    return tuple(_placed(list(findings))[3])


_BySignal = dict[str, list[Finding]]


def _placed(findings: Sequence[Finding]) -> tuple[_BySignal, _BySignal, _BySignal, list[Finding]]:
    """What was crossed; the old limits in groups of others, those that are groups of their own, and those set aside."""
    by_signal: _BySignal = {}
    signal_of: dict[str, str] = {}
    judged: set[tuple[str, str]] = set()
    for finding in findings:
        if finding.outcome in CROSSED and not finding.superseded_by:
            by_signal.setdefault(finding.rule.signal, []).append(finding)
            signal_of.setdefault(finding.rule.id, finding.rule.signal)
        if finding.outcome in JUDGED and finding.subject:
            judged.add((finding.rule.id, finding.subject.key[0]))
    old: _BySignal = {}
    alone: _BySignal = {}
    aside: list[Finding] = []
    for finding in findings:
        if finding.superseded_by and finding.outcome in JUDGED:
            named = (signal_of[name] for name in finding.superseded_by if name in signal_of)
            signal = finding.rule.signal if finding.rule.signal in by_signal else next(named, None)
            if signal is not None:
                old.setdefault(signal, []).append(finding)
            elif finding.outcome in CROSSED and any((name, _host(finding)) in judged for name in finding.superseded_by):
                aside.append(finding)
            elif finding.outcome in CROSSED:
                alone.setdefault(finding.rule.signal, []).append(finding)
    return by_signal, old, alone, aside


def _host(finding: Finding) -> str:
    return finding.subject.key[0] if finding.subject else ""


def severities(groups: Iterable[Group]) -> str:
    """`1 critical, 2 warning`: the number of groups of each severity; empty without groups."""
    names = [group.severity for group in groups]
    return ", ".join(f"{names.count(severity):,} {severity}" for severity in SEVERITIES if severity in names)
