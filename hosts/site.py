"""What is known of one's own hosts: thresholds set otherwise, facts that limits scale by, what disks hold."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from rules.field_types import AnyFact, Fact
from rules.host_filter import hosts_text, matches
from rules.pack_schema import Rule
from rules.subjects import Subject

# One processor, one spindle: the documents' limits are for these, where nobody says otherwise.
DEFAULTS: Mapping[Fact, float] = {"processors": 1, "spindles": 1}

Place = tuple[str, str | None]  # a host, or one of its instances


@dataclass(frozen=True)
class Judged:
    """A rule as it holds for a host. `note` says what made it so; one that is off is not judged there.

    Nor is one that is for some hosts where nobody knows whether this is one of them: `unknown` says so.
    """

    rule: Rule
    note: str = ""
    off: bool = False
    unknown: str = ""


@dataclass(frozen=True)
class Site:
    """Everything that is said of hosts.

    `hosts` are those of which something is said, as they are written; `judged` gives a rule as plimsoll.toml has it
    for one of them, or, with an empty name, for every other. Facts are by host and instance (None for the host as a
    whole).
    """

    hosts: Sequence[str] = ()
    judged: Callable[[Rule, str], Judged] = field(default=lambda rule, _: Judged(rule))
    facts: Mapping[Subject, Mapping[str, float]] = field(default_factory=dict[Subject, Mapping[str, float]])
    drives: Mapping[Subject, str] = field(default_factory=dict[Subject, str])

    def held(self, rule: Rule, host: str) -> Judged:
        """A rule as it holds for a host, or, with an empty name, for every host of which nothing is said."""
        judged = self.judged(rule, host)
        if judged.off:
            return judged
        rule = judged.rule
        match matches(rule, lambda fact: self.known(host, None, fact)):
            case True:
                return judged
            case False if rule.where_outside == "info":
                note = f"{judged.note} It is for {hosts_text(rule)}, here it is a note.".strip()
                return replace(judged, rule=rule.model_copy(update={"severity": "info"}), note=note)
            case False:
                return replace(judged, off=True, note=f"{judged.note} It is for {hosts_text(rule)}.".strip())
            case str(fact):
                only = f"It is for {hosts_text(rule)}; where plimsoll.toml does not give {fact}"
                match rule.where_unknown:
                    case "judge":
                        return replace(judged, note=f"{judged.note} {only} it is taken to be one.".strip())
                    case "info":
                        note = f"{judged.note} {only} it is a note.".strip()
                        return replace(judged, rule=rule.model_copy(update={"severity": "info"}), note=note)
                    case "skip":
                        return replace(judged, off=True)
                    case None:
                        whom = f" of {host}" if host else ""
                        said = f"it is for {hosts_text(rule)}, and {fact}{whom} is not known; give it in plimsoll.toml"
                        return replace(judged, unknown=said if host else f"{said} for a host")

    def known(self, host: str | None, instance: str | None, fact: AnyFact) -> float | None:
        """The value of a fact as plimsoll.toml gives it: the instance's, else the host's."""
        known = {subject.key: facts for subject, facts in self.facts.items()}
        for key in (Subject(host, instance).key, Subject(host).key) if host else ():
            if fact in known.get(key, {}):
                return known[key][fact]
        return None

    def fact(self, host: str | None, instance: str | None, fact: Fact) -> float | None:
        """The value of a fact: the instance's, else the host's, else the documents'. None where none is known."""
        value = self.known(host, instance, fact)
        return DEFAULTS.get(fact) if value is None else value

    def places_with(self, facts: set[AnyFact]) -> Iterator[Subject]:
        """The hosts and instances of which one of these facts is said."""
        return (subject for subject, known in self.facts.items() if facts & set(known))


@dataclass(frozen=True)
class Target:
    """Whom one alert rule is for: everyone but `excluded`, or one host, or one instance of it."""

    rule: Rule
    host: str | None = None
    instance: str | None = None
    excluded: tuple[Subject, ...] = ()
    factors: Mapping[Fact, float] = field(default_factory=dict[Fact, float])
    note: str = ""
    known: Callable[[AnyFact], float | None] = lambda fact: None

    @property
    def name(self) -> str:
        """The host and instance as people write them; empty for everyone."""
        return " ".join(part for part in (self.host, self.instance) if part)


class Unknown(LookupError):
    """A rule needs a fact that nobody knows; the text says which and of whom."""


def targets(rule: Rule, site: Site, weighing: Collection[AnyFact] = ()) -> Iterator[Target | Unknown]:
    """The general rule and those of the hosts and instances for which it holds otherwise.

    `weighing` are the facts that its signal's operands are weighed by. An Unknown stands where a target cannot be:
    the reason is its text.
    """
    if rule.drive:
        yield from _marked(rule, site)
        return
    needed: set[AnyFact] = {one.scale for one in rule.conditions if one.scale}
    needed |= set(weighing)
    general = site.held(rule, "")
    apart = {host: site.held(rule, host) for host in site.hosts}
    apart = {host: one for host, one in apart.items() if _alike(one) != _alike(general)}
    scaled = {host: one for host in site.hosts if (one := site.held(rule, host)).rule.scale}
    needed |= {one.rule.scale for one in (general, *scaled.values()) if one.rule.scale}
    with_facts = list(site.places_with(needed))
    own_hosts = {host.casefold(): host for host in (*apart, *(one.host for one in with_facts if one.instance is None))}
    own_instances = [one for one in with_facts if one.instance is not None]
    outside = tuple(
        [Subject(host) for host in own_hosts.values()]
        + [one for one in own_instances if one.host.casefold() not in own_hosts]
    )
    if not general.off:
        yield _target(general, site, needed, None, None, outside)
    for host in own_hosts.values():
        judged = site.held(rule, host)
        if not judged.off:
            inside = tuple(one for one in own_instances if one.host.casefold() == host.casefold())
            yield _target(judged, site, needed, host, None, inside)
    for one in own_instances:
        judged = site.held(rule, one.host)
        if not judged.off:
            yield _target(judged, site, needed, one.host, one.instance, ())


def _alike(judged: Judged) -> tuple[Rule, bool, bool]:
    return judged.rule, judged.off, bool(judged.unknown)


def _marked(rule: Rule, site: Site) -> Iterator[Target | Unknown]:
    marked = [subject for subject, holds in site.drives.items() if holds == rule.drive]
    if not marked:
        yield Unknown(f'it is for the disks that plimsoll.toml marks drive = "{rule.drive}", and none is')
    for subject in marked:
        judged = site.held(rule, subject.host)
        if not judged.off:
            needed: set[AnyFact] = {one.scale for one in judged.rule.conditions if one.scale}
            yield _target(judged, site, needed, subject.host, subject.instance, ())


def _target(
    judged: Judged,
    site: Site,
    needed: set[AnyFact],
    host: str | None,
    instance: str | None,
    excluded: tuple[Subject, ...],
) -> Target | Unknown:
    if judged.unknown:
        return Unknown(judged.unknown)
    factors: dict[Fact, float] = {}
    scales: set[Fact] = {one.scale for one in judged.rule.conditions if one.scale and one.scale in needed}
    for fact in sorted(scales):
        value = site.fact(host, instance, fact)
        if value is None:
            whom = f"of {host} " if host else ""
            return Unknown(f"its limit scales by {fact}, which {whom}is not known; give it in plimsoll.toml for a host")
        factors[fact] = value
    known = partial(site.known, host, instance)
    return Target(judged.rule, host, instance, excluded, factors, judged.note, known)
