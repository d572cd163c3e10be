"""All rules for all hosts of a folder, and the verdict."""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from . import folder as logs
from . import settings as toml
from .catalogue import Condition, Pack, Rule, can_be, packs, signals
from .judging import EVERY, Judgement, grid, judged
from .recording import Column
from .resources import is_lacking
from .settings import DOCUMENTED, Settings, applied
from .signals import Finder, Signal, named, same_processor, stands_for
from .windows import width

FOREVER = 2**63
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
    signal: Signal | None = None

    def __post_init__(self):
        self.severity = self.severity or self.rule.severity

    @property
    def key(self):
        """What tells it from the others."""
        return (self.rule.id, (self.host or "").casefold(), self.instance)


@dataclass
class Review:
    """What a review must say."""

    findings: list[Finding]
    verdict: str


def review(
    folder: Path,
    chosen: list[Pack] | None = None,
    between: tuple[datetime, datetime] | None = None,
    added: list[Pack] | None = None,
) -> Review:
    """The review of a folder, under the packs chosen or those whose counters were recorded.

    Those in `added` are judged beside the latter.
    """
    first, last = (round(moment.timestamp() * 1000) for moment in between) if between else (0, FOREVER)
    hosts, settings, catalogue = logs.read(folder), toml.read(folder), signals()
    findings: list[Finding] = []
    by_hand = [*(chosen or ()), *(added or ())]
    judged_by = chosen or [*packs(), *by_hand]
    catalogue = catalogue | {name: signal for pack in judged_by for name, signal in pack.signals.items()}
    of_host = {host: _Host(host, columns, settings, catalogue, first, last) for host, columns in hosts.items()}
    for pack in judged_by:
        applies = [host for host, columns in hosts.items() if _applies(pack, columns)]
        if not applies and pack in by_hand:
            applies = list(hosts)
        for rule in pack.rules:
            if not applies:
                findings.append(Finding(rule, None, None, Judgement("does-not-apply"), rule.main.limit.number))
            for host in applies:
                findings += of_host[host].findings(rule)
    _stand_in(findings)
    of_hand = {rule.id for pack in by_hand for rule in pack.rules}
    _supersede([one for one in findings if one.rule.id not in of_hand and not _set(settings, one)], findings, of_host)
    lacking = settings.expected - {host.casefold() for host in hosts}
    ends = [column.times[-1] for columns in hosts.values() for column in columns if column.times]
    end = min(max(ends, default=0), last)
    died = any(_broken_off(one, end, bool(settings.phases)) for one in findings)
    spoilt = any(_spoilt(one) for one in findings)
    unjudged = any(is_lacking(_of_host(findings, host), catalogue, (*CROSSED, "held")) for host in hosts) and not chosen
    undecided = any(_undecided(one) or _unfinished(one, bool(settings.phases)) for one in findings)
    return Review(findings, verdict(findings, bool(lacking) or died or spoilt or unjudged or undecided))


def _of_host(findings: list[Finding], host: str) -> list[Finding]:
    return [one for one in findings if one.host == host]


def _undecided(one: Finding) -> bool:
    """Whether it was crossed for more than half of what counts, in a time that hardly holds more."""
    made, for_ = one.judgement, one.rule.for_
    short = made.state in ("held", "too-short") and (made.stretch or 0) < 2 * for_
    return one.severity in ALARMS and short and 2 * made.longest_brief > for_


def _unfinished(one: Finding, phases: bool) -> bool:
    """Whether it was crossed when its data ended, for more than half of what counts."""
    made = one.judgement
    known = one.severity in ALARMS and made.state == "held" and not (one.rule.phase and phases)
    return known and made.crossed_until is not None and 2 * made.last_brief > one.rule.for_


def _set(settings: Settings, one: Finding) -> bool:
    return bool(one.host and settings.override(one.host, one.rule.id))


def _stand_in(findings: list[Finding]) -> None:
    """Rules that stand in for others do not apply where one of those was judged, or nothing was recorded."""
    for one in findings:
        if not one.rule.stands_in_for or one.judgement.state in ("off", "does-not-apply"):
            continue
        better = [
            other.instance
            for other in findings
            if other.rule.id in one.rule.stands_in_for
            and other.host == one.host
            and other.judgement.state in (*CROSSED, "held")
        ]
        if one.judgement.state == "not-recorded" or any(_alike(one.instance, other) for other in better):
            one.judgement = replace(one.judgement, state="does-not-apply")


def _alike(one: str | None, other: str | None) -> bool:
    if one is None or other is None or "_total" in (one.casefold(), other.casefold()):
        return True
    return stands_for(one, [other])


def _supersede(old: list[Finding], findings: list[Finding], hosts: "dict[str, _Host]") -> None:
    """Makes notes of old rules, but those for hosts like the one they were measured on, if no newer one was judged.

    A newer one is judged for the same thing if it is for the same instance or the whole host.
    """
    newer = {
        (one.rule.id, (one.host or "").casefold(), (one.instance or "").casefold())
        for one in findings
        if one.judgement.state in (*CROSSED, "held")
    }
    for one in old:
        host, instance = (one.host or "").casefold(), (one.instance or "").casefold()
        if not one.rule.superseded_by or one.host is None:
            continue
        if one.rule.severity == "info" and hosts[one.host].lacks_scale(one.rule, one.instance):
            one.judgement = replace(one.judgement, state="does-not-apply")
            continue
        judged_too = {where for rule, on, where in newer if rule in one.rule.superseded_by and on == host}
        is_newer = bool(judged_too) and (instance in judged_too or "" in judged_too or not instance)
        if is_newer and one.judgement.state in ("no-data", "not-judged", "not-recorded"):
            one.judgement = replace(one.judgement, state="does-not-apply")
        is_judged = one.judgement.state in (*CROSSED, "held", "too-short")
        if is_judged and (is_newer or not hosts[one.host].is_as_measured(one.rule, one.instance)):
            one.severity = "info"


def _spoilt(finding: Finding) -> bool:
    """Whether more than a tenth of the values cannot be, beyond those that one sample spoils; or all."""
    count, valid = finding.judgement.spoilt, finding.judgement.valid
    one_sample = (finding.over or 0) // EVERY + 1
    return finding.severity in ALARMS and count > 0 and (not valid or count > one_sample + 0.1 * (count + valid))


def _broken_off(finding: Finding, end: int, phases: bool) -> bool:
    """Whether it was crossed when its samples ended, though those of others went on for longer than counts."""
    until = finding.judgement.crossed_until
    if until is None or finding.judgement.state != "held" or finding.severity not in ALARMS:
        return False
    return not (finding.rule.phase and phases) and end - until > max(finding.rule.for_, 2 * finding.over)


def verdict(findings: list[Finding], doubt: bool) -> str:
    """Not healthy, healthy or unknown, as far as outcomes decide it: logs that cannot be read are not this evaluator's."""
    alarms = [one for one in findings if one.severity in ALARMS]
    states = [one.judgement.state for one in alarms]
    if any(state in CROSSED for state in states):
        return "not-healthy"
    cut_off = any(one.judgement.state == "too-short" and one.judgement.crossed_at_an_end for one in alarms)
    too_little = any(_too_little(alarms, host) for host in {one.host for one in alarms if one.host})
    return "unknown" if "held" not in states or cut_off or too_little or doubt else "healthy"


def _too_little(alarms: list[Finding], host: str) -> bool:
    """Whether at least half of a host's rules whose counters were recorded could not fire, or had no data.

    A rule could fire if it could for any instance.
    """
    recorded: dict[str, set[str]] = {}
    for one in alarms:
        if one.host == host and one.judgement.state in ("held", "too-short", "no-data"):
            recorded.setdefault(one.rule.id, set()).add(one.judgement.state)
    lacking = [states for states in recorded.values() if "held" not in states]
    return 0 < len(recorded) <= 2 * len(lacking)


def _applies(pack: Pack, columns: list[Column]) -> bool:
    if pack.objects is None:
        return True
    by_object = any(named(column.object, pattern) for column in columns if column.object for pattern in pack.objects)
    return by_object or any(column.measurement in (pack.measurements or ()) for column in columns)


class _Host:
    """The rules on one host."""

    def __init__(self, host: str, columns: list[Column], settings: Settings, catalogue, first: int, last: int):
        self.host, self.settings = host, settings
        self.finder = Finder(catalogue, columns, self._known)
        times = [time for column in columns for time in (*column.times[:1], *column.times[-1:])]
        whole = grid(min(times), max(times)) if times else []
        self.whole = frozenset(whole)
        self.evaluations = [at for at in whole if first <= at <= last]

    def is_as_measured(self, rule: Rule, instance: str | None) -> bool:
        """Whether facts that are known say so: those the rule is for, and the one its limit is multiplied by."""
        if not rule.where and not rule.main.scale:
            return False
        wanted = [(self._known(instance, fact), limit) for fact, limit in rule.where.items()]
        fits = all(value is not None and limit.healthy(value) for value, limit in wanted)
        return fits and (rule.main.scale is None or self._known(instance, rule.main.scale) is not None)

    def lacks_scale(self, rule: Rule, instance: str | None) -> bool:
        """Whether nobody told the fact that a limit is multiplied by."""
        return bool(rule.main.scale) and self._known(instance, rule.main.scale) is None

    def _for_others(self, rule: Rule, fact: str) -> bool:
        """Whether a host is none of those that a rule is for, by one fact."""
        known = self._known(None, fact)
        if known is None:
            return rule.where_unknown == "skip"
        return rule.where_outside == "skip" and not rule.where[fact].healthy(known)

    def findings(self, documented: Rule) -> list[Finding]:
        override = self.settings.override(self.host, documented.id)
        rule = applied(documented, override)
        if override.get("off"):
            return [self._unjudged(rule, None, "off")]
        subjects = self.finder.find(rule.main.signal)
        if not subjects:
            lacks_fact = "fact" in self.finder.catalogue[rule.main.signal]
            for_others = any(self._for_others(rule, fact) for fact in rule.where)
            state = "not-judged" if lacks_fact else "does-not-apply" if for_others else "not-recorded"
            return [self._unjudged(rule, None, state)]
        severity = rule.severity
        for fact, wanted in rule.where.items():
            known = self._known(None, fact)
            if known is not None and not wanted.healthy(known):
                if rule.where_outside == "skip":
                    return [self._unjudged(rule, None, "does-not-apply")]
                severity = "info"
            if known is None and rule.where_unknown in ("skip", "not-judged"):
                state = "does-not-apply" if rule.where_unknown == "skip" else "not-judged"
                return [self._unjudged(rule, None, state)]
            if known is None and rule.where_unknown == "info":
                severity = "info"
        if rule.drive:
            marked = self.settings.drives(self.host, rule.drive)
            subjects = {name: signal for name, signal in subjects.items() if (name or "").casefold() in marked}
            if not subjects:
                return [self._unjudged(rule, None, "not-judged")]
        rule = replace(rule, severity=severity)
        return [self._judged(rule, instance, signal) for instance, signal in subjects.items()]

    def _judged(self, rule: Rule, instance: str | None, signal: Signal) -> Finding:
        unknown = rule.when_phase_unknown if rule.phase and not self.settings.phases else ()
        conditions: list[tuple[Condition, Signal | None]] = []
        for condition in (*rule.conditions, *unknown):
            factor = self._factor(instance, condition.scale) if condition.scale else 1.0
            if factor is None:
                return self._unjudged(rule, instance, "not-judged")
            found = signal if condition is rule.main else self._joined(condition, instance)
            if found is None and condition.counts_unrecorded:
                continue
            fits = can_be(self.finder.catalogue[condition.signal], condition.reduce)
            conditions.append((replace(condition, limit=condition.limit.times(factor), can_be=fits), found))
        evaluations = self.evaluations
        if rule.phase and self.settings.phases:
            spans = [(start, end) for name, start, end in self.settings.phases if name == rule.phase]
            evaluations = [at for at in evaluations if any(start <= at <= end for start, end in spans)]
            if not evaluations:
                return self._unjudged(rule, instance, "not-judged")
        over = width(signal, rule.main.over)
        made = judged(rule, conditions, evaluations, over, self.whole.difference(evaluations))
        return Finding(rule, self.host, instance, made, conditions[0][0].limit.number, over, signal=signal)

    def _joined(self, condition: Condition, instance: str | None) -> Signal | None:
        found = self.finder.find(condition.signal)
        by_name = {(name or "").casefold(): one for name, one in found.items()}
        if (instance or "").casefold() in by_name:
            return by_name[(instance or "").casefold()]
        if None in found:
            return found[None]
        if self.finder.catalogue[condition.signal].get("instances", "none") == "none":
            # Named instances of SQL Server are no disks: joined on the host. With several nothing says which.
            assert len(found) <= 1
            return next(iter(found.values()), None)
        other = same_processor(instance or "", list(by_name))
        other = other or next((one for one in by_name if stands_for(instance or "", [one])), None)
        return by_name.get(other or "")

    def _known(self, instance: str | None, name: str) -> float | None:
        """A fact that plimsoll.toml tells or the log shows."""
        said = self.settings.fact(self.host, instance, name)
        shown = getattr(self.finder, name) if name in ("processors", "memory_mb") else 0
        return said if said is not None else float(shown) if shown else None

    def _factor(self, instance: str | None, name: str) -> float | None:
        """What a limit is multiplied by: the fact, else what the documents assume."""
        known = self._known(instance, name)
        return DOCUMENTED.get(name) if known is None else known

    def _unjudged(self, rule: Rule, instance: str | None, state: str) -> Finding:
        return Finding(rule, self.host, instance, Judgement(state), rule.main.limit.number)
