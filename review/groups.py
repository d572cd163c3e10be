"""What was crossed, signal by signal: all rules of a signal, on all its hosts, are one group."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from review.findings import CROSSED, Finding
from rules.schema import Rule, Severity

SEVERITIES: Sequence[Severity] = ("critical", "warning", "info")


@dataclass(frozen=True)
class Group:
    """The crossed findings about one signal, worst first."""

    signal: str
    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Finding:
        """The finding that stands for the group."""
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
                hosts.setdefault(one.subject.host.casefold(), one.subject.host)
        return tuple(hosts.values())

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that were crossed, the worst first."""
        return tuple({one.rule.id: one.rule for one in self.findings}.values())

    def instances_on(self, host: str) -> int:
        """How many instances of a host it was crossed for."""
        subjects = {one.subject.key for one in self.findings if one.subject}
        return sum(key[0] == host.casefold() for key in subjects)


def crossed_groups(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """The groups, worst first. `findings` are in their order, worst first."""
    by_signal: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.outcome in CROSSED:
            by_signal.setdefault(finding.rule.signal, []).append(finding)
    return tuple(Group(signal, tuple(found)) for signal, found in by_signal.items())


def severities(groups: Iterable[Group]) -> str:
    """`1 critical, 2 warning`: how many groups there are of each severity, empty without any."""
    found = [group.severity for group in groups]
    return ", ".join(f"{found.count(severity):,} {severity}" for severity in SEVERITIES if severity in found)
