"""Crossed findings grouped by signal: a group has all rules of the signal, on all hosts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from plimsoll.model.series import host_key
from plimsoll.review.findings import CROSSED, JUDGED, Finding
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.severity import SEVERITIES


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
        for one in self.findings:
            if one.subject:
                hosts.setdefault(host_key(one.subject.host), one.subject.host)
        return tuple(hosts.values())

    @property
    def on_hosts(self) -> str:
        """`on 3 of 20 hosts`: of those on which a limit of the signal was judged."""
        return f"on {len(self.hosts):,} of {self.judged:,} hosts"

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that were crossed, the worst first."""
        return tuple({one.rule.id: one.rule for one in self.findings}.values())

    def instances_on(self, host: str) -> int:
        """How many instances of a host it was crossed for."""
        subjects = {one.subject.key for one in self.findings if one.subject}
        return sum(key[0] == host_key(host) for key in subjects)


def crossed_groups(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """The groups, worst first, of findings that are sorted so.

    An old limit belongs to the group of its signal, else to that of a rule that supersedes it. If it was crossed and
    neither of those was, it is a group of its own, unless a rule that supersedes it was judged: then it is set aside.
    """
    every = list(findings)
    by_signal, old, alone, _ = _placed(every)
    judged: dict[str, set[str]] = {}
    for one in every:
        if one.subject and one.track:
            judged.setdefault(one.rule.signal, set()).add(host_key(one.subject.host))
    return tuple(
        Group(signal, tuple(found), tuple(old.get(signal, ())), len(judged.get(signal, ())))
        for signal, found in (by_signal | alone).items()
    )


def set_aside(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Old limits that were crossed and are in no group, as limits of today were judged in their place and held."""
    return tuple(_placed(list(findings))[3])


_BySignal = dict[str, list[Finding]]


def _placed(every: Sequence[Finding]) -> tuple[_BySignal, _BySignal, _BySignal, list[Finding]]:
    """What was crossed; the old limits in groups of others, those that are groups of their own, and those set aside."""
    by_signal: _BySignal = {}
    signal_of: dict[str, str] = {}
    judged: set[tuple[str, str]] = set()
    for one in every:
        if one.outcome in CROSSED and not one.superseded_by:
            by_signal.setdefault(one.rule.signal, []).append(one)
            signal_of.setdefault(one.rule.id, one.rule.signal)
        if one.outcome in JUDGED and one.subject:
            judged.add((one.rule.id, one.subject.key[0]))
    old: _BySignal = {}
    alone: _BySignal = {}
    aside: list[Finding] = []
    for one in every:
        if one.superseded_by and one.outcome in JUDGED:
            named = (signal_of[name] for name in one.superseded_by if name in signal_of)
            signal = one.rule.signal if one.rule.signal in by_signal else next(named, None)
            if signal is not None:
                old.setdefault(signal, []).append(one)
            elif one.outcome in CROSSED and any((name, _host(one)) in judged for name in one.superseded_by):
                aside.append(one)
            elif one.outcome in CROSSED:
                alone.setdefault(one.rule.signal, []).append(one)
    return by_signal, old, alone, aside


def _host(finding: Finding) -> str:
    return finding.subject.key[0] if finding.subject else ""


def severities(groups: Iterable[Group]) -> str:
    """`1 critical, 2 warning`: the number of groups of each severity; empty without groups."""
    found = [group.severity for group in groups]
    return ", ".join(f"{found.count(severity):,} {severity}" for severity in SEVERITIES if severity in found)
