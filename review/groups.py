"""What was crossed, as people think of it: by signal, whatever rules say so and on however many hosts."""

from collections.abc import Iterable
from dataclasses import dataclass

from review.findings import CROSSED, Finding
from rules.schema import Rule, Severity

_SEVERITY = {"critical": 0, "warning": 1, "info": 2}


@dataclass(frozen=True)
class Group:
    """The findings of one signal, worst first."""

    signal: str
    findings: tuple[Finding, ...]

    @property
    def worst(self) -> Finding:
        """The finding that stands for the group."""
        return self.findings[0]

    @property
    def severity(self) -> Severity:
        """That of the worst."""
        return self.worst.rule.severity

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts on which it was crossed, the worst first."""
        first: dict[str, str] = {}
        for finding in self.findings:
            if finding.subject:
                first.setdefault(finding.subject.host.casefold(), finding.subject.host)
        return tuple(first.values())

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that were crossed, the worst first."""
        return tuple({finding.rule.id: finding.rule for finding in self.findings}.values())


def crossed_groups(findings: Iterable[Finding]) -> list[Group]:
    """What was crossed, worst first. `findings` are in that order, apart from their severity."""
    crossed = sorted((one for one in findings if one.outcome in CROSSED), key=lambda one: _SEVERITY[one.rule.severity])
    by_signal: dict[str, list[Finding]] = {}
    for finding in crossed:
        by_signal.setdefault(finding.rule.signal, []).append(finding)
    return [Group(signal, tuple(found)) for signal, found in by_signal.items()]
