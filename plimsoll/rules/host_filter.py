"""Decides, from the facts of a host, whether a rule applies to the host (`where`)."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.rules.schema.field_types import Fact
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.subjects import Instances, Subject, is_total
from plimsoll.rules.wording import format_fact


class JudgedSubjects:
    """The instances that each rule judged, by rule and host (case-folded)."""

    def __init__(self, judged: Iterable[tuple[Rule, Subject]]) -> None:
        self._instances_by_rule: dict[tuple[str, str], _JudgedInstances] = {}
        for rule, subject in judged:
            self._instances_by_rule.setdefault((rule.id, subject.key[0]), _JudgedInstances()).add(subject.key[1])

    def discard(self, rule: Rule, subject: Subject) -> None:
        """Remove a subject for which a rule was not judged after all."""
        if judged := self._instances_by_rule.get((rule.id, subject.key[0])):
            judged.discard(subject.key[1])

    def better(self, rule: Rule, subject: Subject) -> str | None:
        """Return the id of a better rule (of `stands_in_for`) judged for the same instance or whole host; else None."""
        host, instance = subject.key
        for name in rule.stands_in_for:
            judged = self._instances_by_rule.get((name, host))
            if judged and judged.has(instance):
                return name
        return None


class _JudgedInstances:
    """The instances of one host that one rule judged."""

    def __init__(self) -> None:
        self._whole: set[str | None] = set()  # the host as a whole: no instance, or a total
        self._named: set[str] = set()
        self._instances = Instances()

    def add(self, instance: str | None) -> None:
        if instance is None or is_total(instance):
            self._whole.add(instance)
        elif instance not in self._named:
            self._named.add(instance)
            self._instances.add(instance)

    def discard(self, instance: str | None) -> None:
        self._whole.discard(instance)
        if instance is not None and instance in self._named:
            self._named.discard(instance)
            self._instances.remove(instance)

    def has(self, instance: str | None) -> bool:
        """Return whether the rule judged this instance, under any name, or a part of it (`1:vm:2:vcpu` of `1:vm`).

        The host as a whole counts as any instance.
        """
        if self._whole:
            return True
        if instance is None or is_total(instance):
            return bool(self._named)
        if instance in self._named or self._instances.same(instance) is not None:
            return True
        return any(name.startswith(f"{instance}:") for name in self._named)


_SIDES = {"<": "less than ", "<=": "at most ", ">": "more than ", ">=": "at least ", "=": ""}


def matches(rule: Rule, fact_of: Callable[[Fact], float | None]) -> bool | Fact:
    """Return whether a rule's `where` matches a host's facts; if that depends on an unknown fact, return that fact.

    `fact_of` returns None for an unknown fact. One known fact that does not match is enough for False.
    """
    values: dict[Fact, float | None] = {fact: fact_of(fact) for fact in rule.where}
    if any(value is not None and not rule.where[fact].holds(np.array(value)) for fact, value in values.items()):
        return False
    return next((fact for fact, value in values.items() if value is None), True)


@dataclass(frozen=True)
class Fitted:
    """How a rule applies to one host, given the host's facts.

    Attributes:
        rule: The rule with its severity on that host.
        judged: Whether the rule is judged on that host.
        outside: Whether `where` limits the rule to other hosts.
        unknown: The unknown fact on which `where` depends; None if the known facts suffice.
    """

    rule: Rule
    judged: bool = True
    outside: bool = False
    unknown: Fact | None = None


def fit_rule(rule: Rule, fact_of: Callable[[Fact], float | None]) -> Fitted:
    """Return how a rule applies to a host; `fact_of` returns the host's facts, None for an unknown fact."""
    note = replace(rule, severity="info")
    match matches(rule, fact_of):
        case True:
            return Fitted(rule)
        case False:
            is_judged = rule.where_outside == "info"
            return Fitted(note if is_judged else rule, is_judged, outside=True)
        case fact:
            is_judged = rule.where_unknown in ("info", "judge")
            return Fitted(note if rule.where_unknown == "info" else rule, is_judged, unknown=fact)


def is_applicable(rule: Rule, fact_of: Callable[[Fact], float | None]) -> bool:
    """Return whether a rule may be judged on a host: False only if known facts exclude it (`where_outside: skip`)."""
    return rule.where_outside != "skip" or matches(rule, fact_of) is not False


def describe_hosts(rule: Rule) -> str:
    """Return a phrase on the hosts that match a rule's `where`: `hosts with at most 4,096 MB of memory`."""
    limits = [f"{_SIDES[limit.operator]}{format_fact(fact, limit.limit)}" for fact, limit in rule.where.items()]
    return f"hosts with {' and '.join(limits)}"


def downgrade_superseded(packs: Sequence[Pack], by_hand: Collection[str] = ()) -> tuple[Pack, ...]:
    """Return the packs with severity info for rules that a loaded rule supersedes, except in the packs `by_hand`."""
    ids = {rule.id for pack in packs for rule in pack.rules}

    def noted(rule: Rule) -> Rule:
        return replace(rule, severity="info") if ids & set(rule.superseded_by) else rule

    rules = {pack.pack: pack.rules if pack.pack in by_hand else tuple(map(noted, pack.rules)) for pack in packs}
    return tuple(replace(pack, rules=rules[pack.pack]) for pack in packs)


def is_for_such(rule: Rule, fact_of: Callable[[Fact], float | None]) -> bool:
    """Return whether a host or instance is like the systems on which an old limit was measured.

    All facts in `where` must match, and the fact that scales the limit must be known (a disk has spindles only if
    plimsoll.toml gives them). False for a rule without `where` and without scale: nothing identifies such systems.
    """
    named = bool(rule.where) or rule.scale is not None
    return named and matches(rule, fact_of) is True and (rule.scale is None or fact_of(rule.scale) is not None)


def is_silent(rule: Rule, fact_of: Callable[[Fact], float | None]) -> bool:
    """Return whether a rule is superseded (severity info) and its limit scales with an unknown fact of the host."""
    is_old_note = rule.severity == "info" and bool(rule.superseded_by)
    return is_old_note and rule.scale is not None and fact_of(rule.scale) is None


def is_note(rule: Rule) -> bool:
    """Return whether a rule has severity info because another rule supersedes it (see `downgrade_superseded`)."""
    return bool(rule.superseded_by) and rule.severity == "info"
