"""Rules as they apply to the hosts in plimsoll.toml, and the hosts that need alert rules of their own."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from plimsoll.hosts.facts import DEFAULTS, Drives, Facts
from plimsoll.hosts.settings import Settings
from plimsoll.model.errors import Unusable
from plimsoll.model.series import make_host_key
from plimsoll.rules.host_filter import describe_hosts, fit_rule
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.field_types import AnyFact, Fact
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.subjects import Subject

_ALL_HOSTS = ""
_Place: TypeAlias = tuple[str | None, str | None, tuple[Subject, ...]]  # host, instance, and what is excluded


@dataclass(frozen=True)
class Judged:
    """A rule as it applies to a host.

    `note` says how it differs from the documented rule. The rule is not judged if it is `off`, or if it is only for
    certain hosts and `unknown` (else empty) says why it is not known whether the host is one of these hosts.
    """

    rule: Rule
    note: str = ""
    off: bool = False
    unknown: str = ""


@dataclass(frozen=True)
class SiteSettings:
    """The hosts that plimsoll.toml names, with their facts, drives and changed rules.

    `hosts` are spelled as in the file. `judged` returns a rule as it applies to a host, or for an empty name as it
    applies to hosts that the file does not name.
    """

    hosts: Sequence[str] = ()
    judged: Callable[[Rule, str], Judged] = field(default=lambda rule, _: Judged(rule))
    facts: Facts = field(default_factory=Facts)
    drives: Drives = field(default_factory=dict[Subject, str])

    def applied(self, rule: Rule, host: str = _ALL_HOSTS) -> Judged:
        """Return a rule as it applies to a host; if `host` is empty, to hosts that plimsoll.toml does not name."""
        judged = self.judged(rule, host)
        if judged.off:
            return judged
        rule = judged.rule
        fit = fit_rule(rule, partial(self.facts.find, Subject(host)))
        only = f"It is for {describe_hosts(rule)}" if rule.where else ""
        if fit.outside:
            note = f"{judged.note} {only}{', here it is a note' if fit.judged else ''}.".strip()
            return replace(judged, rule=fit.rule, off=not fit.judged, note=note)
        if fit.unknown is None:
            return judged
        if not fit.judged:
            is_skipped = rule.where_unknown == "skip"
            return replace(
                judged, off=is_skipped, unknown="" if is_skipped else _explain_missing_fact(rule, fit.unknown, host)
            )
        becomes = "it is a note" if rule.where_unknown == "info" else "it is taken to be one"
        note = f"{judged.note} {only}; where plimsoll.toml does not give {fit.unknown} {becomes}.".strip()
        return replace(judged, rule=fit.rule, note=note)


def load_site(settings: Settings, path: Path, catalogue: Catalogue) -> SiteSettings:
    """Return the hosts that a plimsoll.toml names, with their settings.

    Raise Unusable if the file has a pattern of host names, or a threshold that does not fit its rule.
    """
    overrides = settings.overrides(path, catalogue.rules, catalogue.signals)
    if settings.patterns:
        raise Unusable(f'{path}: hosts."{next(iter(settings.patterns))}": alert rules need names; name each host')

    def judged(rule: Rule, host: str) -> Judged:
        changed, override = overrides.of(rule, host)
        if override and rule.id in catalogue.rules:
            # A limit set in plimsoll.toml keeps its severity even if the documented one is superseded.
            changed = replace(changed, severity=catalogue.rules[rule.id].severity)
        return Judged(changed, f"{override.note}." if override else "", bool(override and override.off))

    return SiteSettings(tuple(settings.hosts), judged, Facts(settings.facts()), settings.drives())


@dataclass(frozen=True)
class Target:
    """The hosts to which one exported alert rule applies.

    Without a `host`, these are all hosts but `excluded`; else the host without its `excluded` instances, or only its
    `instance`. `factors` are the facts by which the limit scales.
    """

    rule: Rule
    host: str | None = None
    instance: str | None = None
    excluded: tuple[Subject, ...] = ()
    factors: Mapping[Fact, float] = field(default_factory=dict[Fact, float])
    note: str = ""
    fact_value: Callable[[AnyFact], float | None] = lambda fact: None

    @property
    def name(self) -> str:
        """The host and instance as text; empty if the target is all hosts."""
        return " ".join(part for part in (self.host, self.instance) if part)


class UnknownSetting(LookupError):
    """The reason why a rule cannot be judged on a target, such as a fact of the host that is unknown."""


def list_targets(
    rule: Rule, site: SiteSettings, weighing: Collection[AnyFact] = ()
) -> Iterator[Target | UnknownSetting]:
    """Yield a target for hosts in general, and a target for each host or instance on which the rule differs.

    Instead of a target on which the rule cannot be judged, an UnknownSetting with the reason is yielded. `weighing`
    are the facts that weight the operands of the rule's signal.
    """
    if rule.drive:
        marked = [subject for subject, holds in site.drives.items() if holds == rule.drive]
        if not marked:
            yield UnknownSetting(f'it is for the disks that plimsoll.toml marks drive = "{rule.drive}", and none is')
        yield from _list_judged_targets(rule, site, [(subject.host, subject.instance, ()) for subject in marked])
        return
    needed: set[AnyFact] = {condition.scale for condition in rule.conditions if condition.scale}
    needed |= set(weighing)
    general = site.applied(rule)
    on_hosts = {host: site.applied(rule, host) for host in site.hosts}
    needed |= {judged.rule.scale for judged in (general, *on_hosts.values()) if judged.rule.scale}
    differing = [
        host for host, judged in on_hosts.items() if _make_comparison_key(judged) != _make_comparison_key(general)
    ]
    with_facts = [subject for subject, values in site.facts.configured.items() if needed & set(values)]
    separate_hosts = {
        make_host_key(host): host
        for host in (*differing, *(subject.host for subject in with_facts if subject.instance is None))
    }
    separate_instances = [subject for subject in with_facts if subject.instance is not None]
    outside = tuple(
        [Subject(host) for host in separate_hosts.values()]
        + [subject for subject in separate_instances if make_host_key(subject.host) not in separate_hosts]
    )
    places: list[_Place] = [(None, None, outside)]
    for key, host in separate_hosts.items():
        places.append((host, None, tuple(subject for subject in separate_instances if subject.key[0] == key)))
    places += [(subject.host, subject.instance, ()) for subject in separate_instances]
    yield from _list_judged_targets(rule, site, places)


def _make_comparison_key(judged: Judged) -> tuple[Rule, bool, bool]:
    return judged.rule, judged.off, bool(judged.unknown)


def _list_judged_targets(rule: Rule, site: SiteSettings, places: Iterable[_Place]) -> Iterator[Target | UnknownSetting]:
    for host, instance, excluded in places:
        judged = site.applied(rule, host or _ALL_HOSTS)
        if not judged.off:
            yield _make_target(judged, site, host, instance, excluded)


def _explain_missing_fact(rule: Rule, fact: Fact, host: str) -> str:
    """Return why a rule for certain hosts cannot be judged if a fact is unknown."""
    whose = f" of {host}" if host else ""
    text = f"it is for {describe_hosts(rule)}, and {fact}{whose} is not known; give it in plimsoll.toml"
    return text if host else f"{text} for a host"


def _make_target(
    judged: Judged, site: SiteSettings, host: str | None, instance: str | None, excluded: tuple[Subject, ...]
) -> Target | UnknownSetting:
    """Return the target for a host or instance, with the factors of limits; an UnknownSetting if a fact is unknown."""
    if judged.unknown:
        return UnknownSetting(judged.unknown)
    fact_value = partial(site.facts.find, Subject(host or _ALL_HOSTS, instance))
    factors: dict[Fact, float] = {}
    scales: set[Fact] = {condition.scale for condition in judged.rule.conditions if condition.scale}
    for fact in sorted(scales):
        value = fact_value(fact) or DEFAULTS.get(fact)
        if value is None:
            whose = f"of {host} " if host else ""
            return UnknownSetting(
                f"its limit scales by {fact}, which {whose}is not known; give it in plimsoll.toml for a host"
            )
        factors[fact] = value
    return Target(judged.rule, host, instance, excluded, factors, judged.note, fact_value)
