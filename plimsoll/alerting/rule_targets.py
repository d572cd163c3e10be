"""Plans which rules are judged for which subjects of live hosts, as a review does."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TypeAlias

from plimsoll.hosts.facts import Drives, Facts
from plimsoll.hosts.overrides import Overrides
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.series import Series, make_host_key
from plimsoll.rules.host_filter import JudgedSubjects, fit_rule, is_for_such, is_silent
from plimsoll.rules.load import Catalogue
from plimsoll.rules.schema.field_types import Resource, Severity
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.signal_finder import Finder, ResolvedSource, ResolvedSources
from plimsoll.rules.subjects import Subject, find_host, has_object, list_host_tags, map_hosts

# The rule id, host and instance of an alert, case-folded.
Key: TypeAlias = tuple[str, str, str | None]
# The most limits that are judged on a host, so that no host takes the time of others.
MOST_OF_HOST = 5_000  # limits of a host, one for each instance: a second or two of a processor
MOST = 50_000


@dataclass(frozen=True)
class Site:
    """The rules to judge, and the settings of hosts in plimsoll.toml.

    `labels` are by case-folded host. `judge` are the required resources: a host is healthy only if limits of all these
    resources are judged.
    """

    catalogue: Catalogue
    overrides: Overrides = field(default_factory=Overrides)
    drives: Drives = field(default_factory=dict[Subject, str])
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    judge: Sequence[Resource] = ("cpu", "memory", "disk")

    def is_judged(self, rule: str, host: str) -> bool:
        """Return whether the rule exists and is not switched off for the host."""
        documented = self.catalogue.rules.get(rule)
        if documented is None:
            return False
        _, override = self.overrides.of(documented, host)
        return not (override and override.off)


@dataclass(frozen=True, eq=False)
class RuleTarget:
    """A rule to judge for a subject, the source of its signal, and what plimsoll.toml changes in the rule (`note`)."""

    rule: Rule
    subject: Subject
    origin: ResolvedSource
    note: str = ""

    @cached_property
    def key(self) -> Key:
        """The key of the target's alerts: rule id, host and instance."""
        return self.rule.id, *self.subject.key


def plan(
    site: Site,
    series: Sequence[Series],
    facts: Facts,
    check: Callable[[], None] = lambda: None,
    finder: Finder | None = None,
) -> tuple[list[RuleTarget], Finder]:
    """Return the targets for these series, and the finder of their signals.

    Superseded rules get severity info, unless their limit was measured on a host of this kind and no current rule is
    judged for the same subject. `check` is called often, and may raise to end the work. A `finder` from an earlier plan
    of the same series has found their signals already.
    """
    finder = finder or Finder(site.catalogue.signals, series, lambda _: True, facts.find)
    tags = list_host_tags(site.catalogue.signals)
    hosts = map_hosts(series, tags)
    kinds: dict[tuple[str, str | None], Series] = {}
    on_host: dict[str, set[tuple[str, str | None]]] = {}
    for recorded in series:
        kind = recorded.measurement, recorded.tag("objectname")
        kinds.setdefault(kind, recorded)
        on_host.setdefault(make_host_key(find_host(recorded, tags)), set()).add(kind)
    rule_targets: list[RuleTarget] = []
    for pack in site.catalogue.packs:
        fitting = {kind for kind, series in kinds.items() if is_for(pack, [series])}
        where = [name for host, name in hosts.items() if not on_host[host].isdisjoint(fitting)]
        if not where and pack.pack in site.catalogue.by_hand:
            where = [*hosts.values()]
        for rule in pack.rules:
            check()
            rule_targets += _plan_targets(site, rule, finder.find(rule.signal), where, facts)
    rule_targets = _drop_stand_ins(rule_targets)
    by_hand = {rule.id for pack in site.catalogue.packs if pack.pack in site.catalogue.by_hand for rule in pack.rules}
    return _downgrade_superseded(rule_targets, by_hand, facts), finder


def is_for(pack: Pack, series: Iterable[Series]) -> bool:
    """Return whether a pack is for a host that has these series."""
    kind = pack.applies_to
    return kind is None or any(has_object(series, kind.objects, kind.measurements) for series in series)


def _plan_targets(
    site: Site, documented: Rule, origins: ResolvedSources, hosts: Iterable[str], facts: Facts
) -> Iterator[RuleTarget]:
    """Yield the targets of a documented rule on these hosts, changed as plimsoll.toml says."""
    drives = {subject.key: holds for subject, holds in site.drives.items()}
    for host in hosts:
        recorded = origins.by_host.get(make_host_key(host), ())
        if not recorded:
            continue
        rule, override = site.overrides.of(documented, host)
        if override and override.off:
            continue
        fit = fit_rule(rule, partial(facts.find, Subject(host)))
        if not fit.judged:
            continue
        for subject, origin in recorded:
            if fit.rule.drive is None or drives.get(subject.key) == fit.rule.drive:
                yield RuleTarget(fit.rule, subject, origin, override.note if override else "")


def _drop_stand_ins(planned: Sequence[RuleTarget]) -> list[RuleTarget]:
    judged = JudgedSubjects((target.rule, target.subject) for target in planned)
    rule_targets: list[RuleTarget] = []
    for target in planned:
        if judged.better(target.rule, target.subject) is None:
            rule_targets.append(target)
        else:
            judged.discard(target.rule, target.subject)
    return rule_targets


def _downgrade_superseded(planned: Sequence[RuleTarget], by_hand: Container[str], facts: Facts) -> list[RuleTarget]:
    """Return the targets, with severity info for those of superseded rules (see `plan`)."""
    instances: dict[tuple[str, str], set[str | None]] = {}
    for target in planned:
        instances.setdefault((target.rule.id, target.subject.key[0]), set()).add(target.subject.key[1])

    def with_severity(target: RuleTarget) -> RuleTarget:
        is_chosen = target.rule.id in by_hand or target.note  # named by the user, or with a limit from plimsoll.toml
        if is_chosen or not target.rule.superseded_by:
            return target
        is_judged_by_current = any(_is_same_subject(target, instances, name) for name in target.rule.superseded_by)
        if not is_judged_by_current and is_for_such(target.rule, partial(facts.find, target.subject)):
            return target
        severity: Severity = "info"
        return replace(target, rule=replace(target.rule, severity=severity))

    return [
        with_severity(target)
        for target in planned
        if target.rule.id in by_hand or target.note or not is_silent(target.rule, partial(facts.find, target.subject))
    ]


def _is_same_subject(old: RuleTarget, instances: Mapping[tuple[str, str], set[str | None]], current: str) -> bool:
    """Return whether the rule named `current` is judged for the instance of `old`, or either for the whole host."""
    host, instance = old.subject.key
    judged = instances.get((current, host), set())
    return bool(judged) and (instance is None or None in judged or instance in judged)


def limit_targets(
    targets: Iterable[RuleTarget], hosts: Iterable[str], *, most: int = MOST, of_host: int = MOST_OF_HOST
) -> tuple[list[RuleTarget], set[str]]:
    """Return the targets to judge, and the hosts (case-folded) that have too many targets for all to be judged.

    `hosts` (case-folded) is the order of priority. On a host with too many targets, rules with many instances are
    judged for the first instances only.
    """
    by_host: dict[str, list[RuleTarget]] = {host: [] for host in hosts}
    for target in targets:
        by_host.setdefault(target.subject.key[0], []).append(target)
    judged: list[RuleTarget] = []
    beyond: set[str] = set()
    for host, planned in by_host.items():
        share = planned if len(planned) <= of_host else _cut(planned, of_host)
        if len(share) < len(planned) or len(judged) + len(share) > most:
            beyond.add(host)
        if len(judged) + len(share) <= most:
            judged += share
    return judged, beyond


def _cut(targets: Sequence[RuleTarget], most: int) -> list[RuleTarget]:
    """Return at most `most` targets, an even share for each rule: rules with many targets lose some."""
    by_rule = group_pairs((target.rule.id, target) for target in targets)
    kept: list[RuleTarget] = []
    for at, alike in enumerate(sorted(by_rule.values(), key=len)):
        kept += alike[: (most - len(kept)) // (len(by_rule) - at)]
    return kept
