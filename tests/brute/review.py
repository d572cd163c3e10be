"""All rules for all hosts of a folder, and the verdict."""

from dataclasses import dataclass, replace
from pathlib import Path

from . import folder as logs
from . import settings as toml
from .catalogue import Condition, Pack, Rule, packs, signals
from .judging import Judgement, grid, judged
from .recording import Column
from .settings import Settings, applied
from .signals import Finder, Signal, named
from .windows import width

ALARMS = ("warning", "critical")
CROSSED = ("crossed", "often-crossed")


@dataclass
class Finding:
    """One line of the review."""

    rule: Rule
    host: str | None
    instance: str | None
    judgement: Judgement
    limit: float
    over: int = 0
    severity: str = ""

    @property
    def key(self):
        """What tells it from the others."""
        return (self.rule.id, (self.host or "").casefold(), self.instance)


@dataclass
class Review:
    """What a review must say."""

    findings: list[Finding]
    verdict: str


def review(folder: Path, chosen: list[Pack] | None = None) -> Review:
    """The review of a folder, under the packs chosen or those whose counters were recorded."""
    hosts, settings, catalogue = logs.read(folder), toml.read(folder), signals()
    findings: list[Finding] = []
    for pack in chosen or packs():
        applies = [host for host, columns in hosts.items() if chosen or _applies(pack, columns)]
        for rule in pack.rules:
            if not applies:
                findings.append(Finding(rule, None, None, Judgement("does-not-apply"), rule.main.limit.number))
            for host in applies:
                findings += _Host(host, hosts[host], settings, catalogue).findings(rule)
    return Review(findings, verdict(findings))


def verdict(findings: list[Finding]) -> str:
    """Not healthy, unknown or healthy, from the outcomes alone."""
    alarms = [one for one in findings if (one.severity or one.rule.severity) in ALARMS]
    if any(one.judgement.state in CROSSED for one in alarms):
        return "not-healthy"
    recorded: dict[tuple[str, str | None], list[str]] = {}
    for one in alarms:
        if one.judgement.state in ("held", "too-short", "no-data"):
            recorded.setdefault((one.rule.id, one.host), []).append(one.judgement.state)
    lacking = [states for states in recorded.values() if "held" not in states]
    judged_any = any(one.judgement.state in (*CROSSED, "held") for one in findings)
    return "unknown" if 2 * len(lacking) >= len(recorded) or not judged_any else "healthy"


def _applies(pack: Pack, columns: list[Column]) -> bool:
    if pack.objects is None:
        return True
    by_object = any(named(column.object, pattern) for column in columns if column.object for pattern in pack.objects)
    return by_object or any(column.measurement in (pack.measurements or ()) for column in columns)


class _Host:
    """The rules on one host."""

    def __init__(self, host: str, columns: list[Column], settings: Settings, catalogue):
        self.host, self.settings = host, settings
        self.finder = Finder(catalogue, columns)
        times = [time for column in columns for time in (*column.times[:1], *column.times[-1:])]
        self.evaluations = grid(min(times), max(times)) if times else []

    def findings(self, documented: Rule) -> list[Finding]:
        override = self.settings.override(self.host, documented.id)
        rule = applied(documented, override)
        if override.get("off"):
            return [self._unjudged(rule, None, "off")]
        subjects = self.finder.find(rule.main.signal)
        if not subjects:
            return [self._unjudged(rule, None, "not-recorded")]
        if rule.drive:
            marked = self.settings.drives(self.host, rule.drive)
            subjects = {name: signal for name, signal in subjects.items() if (name or "").casefold() in marked}
            if not subjects:
                return [self._unjudged(rule, None, "not-judged")]
        return [self._judged(rule, instance, signal) for instance, signal in subjects.items()]

    def _judged(self, rule: Rule, instance: str | None, signal: Signal) -> Finding:
        phases = self.settings.phases
        unknown = rule.when_phase_unknown if rule.phase and not phases else ()
        conditions: list[tuple[Condition, Signal | None]] = []
        for condition in (*rule.conditions, *unknown):
            factor = self._fact(instance, condition.scale) if condition.scale else 1.0
            if factor is None:
                return self._unjudged(rule, instance, "not-judged")
            found = signal if condition is rule.main else self._joined(condition, instance)
            conditions.append((replace(condition, limit=condition.limit.times(factor)), found))
        evaluations = self.evaluations
        if rule.phase and phases and not any(name == rule.phase for name, _, _ in phases):
            return self._unjudged(rule, instance, "not-judged")
        if rule.phase and phases:
            spans = [(start, end) for name, start, end in phases if name == rule.phase]
            evaluations = [at for at in evaluations if any(start <= at <= end for start, end in spans)]
        made = judged(rule, conditions, evaluations)
        over = width(signal, rule.main.over)
        return Finding(rule, self.host, instance, made, conditions[0][0].limit.number, over)

    def _joined(self, condition: Condition, instance: str | None) -> Signal | None:
        found = self.finder.find(condition.signal)
        if None in found:
            return found[None]
        if self.finder.catalogue[condition.signal].get("instances", "none") == "none":
            # Named instances of SQL Server are no disks: joined on the host. With several nothing says which.
            assert len(found) <= 1
            return next(iter(found.values()), None)
        return {(name or "").casefold(): one for name, one in found.items()}.get((instance or "").casefold())

    def _fact(self, instance: str | None, name: str) -> float | None:
        if name == "processors" and self.finder.processors():
            return float(self.finder.processors())
        return self.settings.fact(self.host, instance, name)

    def _unjudged(self, rule: Rule, instance: str | None, state: str) -> Finding:
        return Finding(rule, self.host, instance, Judgement(state), rule.main.limit.number)
