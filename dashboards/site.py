"""What is known of one's own hosts: thresholds set otherwise, facts that limits scale by, what disks hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rules.schema import Fact, Rule
from rules.signals import Subject

# One processor, one spindle: the documents' limits are for these, where nobody says otherwise.
DEFAULTS: Mapping[Fact, float] = {"processors": 1, "spindles": 1}

Place = tuple[str, str | None]  # a host, or one of its instances


@dataclass(frozen=True)
class Judged:
    """A rule as it holds for a host. `note` says what made it so; one that is off is not judged there."""

    rule: Rule
    note: str = ""
    off: bool = False


@dataclass(frozen=True)
class Site:
    """Everything that is said of hosts.

    `hosts` are those of which something is said, as they are written; `judged` gives a rule as it holds for one of
    them, or, with an empty name, for every other. Facts are by host and instance (None for the host as a whole).
    """

    hosts: Sequence[str] = ()
    judged: Callable[[Rule, str], Judged] = field(default=lambda rule, _: Judged(rule))
    facts: Mapping[Subject, Mapping[str, float]] = field(default_factory=dict[Subject, Mapping[str, float]])
    drives: Mapping[Subject, str] = field(default_factory=dict[Subject, str])

    def fact(self, host: str | None, instance: str | None, fact: Fact) -> float | None:
        """The value of a fact: the instance's, else the host's, else the documents'. None where none is known."""
        known = {subject.key: facts for subject, facts in self.facts.items()}
        if host is not None:
            for key in (Subject(host, instance).key, Subject(host).key):
                if fact in known.get(key, {}):
                    return known[key][fact]
        return DEFAULTS.get(fact)

    def places_with(self, facts: set[Fact]) -> Iterator[Subject]:
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

    @property
    def name(self) -> str:
        """The host and instance as people write them; empty for everyone."""
        return " ".join(part for part in (self.host, self.instance) if part)


class Unknown(LookupError):
    """A limit scales by a fact that nobody knows; the text says which and of whom."""


def targets(rule: Rule, site: Site) -> Iterator[Target | Unknown]:
    """The general rule and those of the hosts and instances for which it holds otherwise.

    An Unknown stands where one cannot be: the reason is its text.
    """
    if rule.drive:
        yield from _marked(rule, site)
        return
    needed: set[Fact] = {one.scale for one in rule.conditions if one.scale}
    general = site.judged(rule, "")
    apart = {host: site.judged(rule, host) for host in site.hosts}
    apart = {host: one for host, one in apart.items() if (one.rule, one.off) != (general.rule, general.off)}
    scaled = {host: one for host in site.hosts if (one := site.judged(rule, host)).rule.scale}
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
        judged = site.judged(rule, host)
        if not judged.off:
            inside = tuple(one for one in own_instances if one.host.casefold() == host.casefold())
            yield _target(judged, site, needed, host, None, inside)
    for one in own_instances:
        judged = site.judged(rule, one.host)
        if not judged.off:
            yield _target(judged, site, needed, one.host, one.instance, ())


def _marked(rule: Rule, site: Site) -> Iterator[Target | Unknown]:
    marked = [subject for subject, holds in site.drives.items() if holds == rule.drive]
    if not marked:
        yield Unknown(f'it is for the disks that plimsoll.toml marks drive = "{rule.drive}", and none is')
    for subject in marked:
        judged = site.judged(rule, subject.host)
        if not judged.off:
            needed: set[Fact] = {one.scale for one in judged.rule.conditions if one.scale}
            yield _target(judged, site, needed, subject.host, subject.instance, ())


def _target(
    judged: Judged, site: Site, needed: set[Fact], host: str | None, instance: str | None, excluded: tuple[Subject, ...]
) -> Target | Unknown:
    factors: dict[Fact, float] = {}
    for fact in sorted(needed & {one.scale for one in judged.rule.conditions if one.scale}):
        value = site.fact(host, instance, fact)
        if value is None:
            whom = f"of {host} " if host else ""
            return Unknown(f"its limit scales by {fact}, which {whom}is not known; give it in plimsoll.toml for a host")
        factors[fact] = value
    return Target(judged.rule, host, instance, excluded, factors, judged.note)
