"""Resolves a rule for another system (Grafana, Prometheus) into targets, sources and limits, or refuses it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product
from typing import Literal, NamedTuple

from plimsoll.export.counters.counter_list import is_everywhere
from plimsoll.export.selections import (
    ANYWHERE,
    OBJECT,
    POLLED,
    Selection,
    Variant,
    is_unweighted,
    join_fallback_labels,
    list_variants,
    select_default_instance,
)
from plimsoll.hosts.site import SiteSettings, Target, UnknownSetting, list_targets
from plimsoll.rules.host_filter import describe_hosts
from plimsoll.rules.schema.field_types import AnyFact, Healthy
from plimsoll.rules.schema.pack import Condition, Pack, Rule
from plimsoll.rules.schema.signal import Signal, Source

_BY_NODE = "Processor Information"
Matchers = Callable[[Selection, Target, bool], Iterable[str]]


class Inexpressible(ValueError):
    """Raised if a rule cannot be expressed in the other system; the message is the reason."""


@dataclass(frozen=True)
class Refusal:
    """The reason why a rule, or one source of its signal, is not exported."""

    rule: str
    reason: str
    source: str | None = None

    def __str__(self) -> str:
        return f"{self.rule}{f' from {self.source}' if self.source else ''}: {self.reason}"


class RuleSource(NamedTuple):
    """The target of one exported rule, and the variant of the rule's signal that it reads.

    `further` has a variant for the signal of each further condition.
    """

    target: Target
    variant: Variant
    further: Mapping[str, Variant]


@dataclass(frozen=True)
class BoundCondition:
    """A condition of a rule for one target, with its limit, and the sources of its signal.

    `matchers` has the conditions on the series of each selection; `window` is the length in ns after widening.
    `weights` are the factors of a sum's operands, empty if all are 1. If a host has values from several alternatives,
    `worst` chooses the greatest or the least value.
    """

    condition: Condition
    healthy: Healthy
    variant: Variant
    matchers: tuple[tuple[str, ...], ...]
    window: int
    weights: tuple[float, ...] = ()
    worst: Literal["max", "min"] = "max"


def list_rule_sources(
    rule: Rule,
    pack: Pack,
    signals: Mapping[str, Signal],
    site: SiteSettings,
    server: str,
    merge: Callable[[Rule, Sequence[Variant]], Iterable[Variant]] = lambda rule, candidates: candidates,
) -> Iterator[RuleSource | Refusal]:
    """Yield each combination of a target and a source of a rule, and a refusal for whatever the server cannot judge.

    `server` is the name of the other system, which has nothing but samples. `merge` combines the variants that one
    query can select.
    """
    if reason := _explain_never_firing(rule, server):
        yield Refusal(rule.id, reason)
        return
    facts_needed = [part for part in rule.and_ if part.if_not_recorded and not list_variants(part.signal, signals)]
    if facts_needed:
        names = " or ".join(part.signal for part in facts_needed)
        yield Refusal(rule.id, f"hosts with enough {names} fire, too, as that is divided by a fact of the host")
        rule = replace(rule, and_=tuple(part for part in rule.and_ if part not in facts_needed))
    if unrecorded := list_signals_counted_unrecorded(rule):
        reason = f"it is also for what has no {' or '.join(unrecorded)}, which {server} cannot tell; there it is silent"
        yield Refusal(rule.id, reason)
    try:
        candidates = list_variants(rule.signal, signals)
    except ValueError as error:
        yield Refusal(rule.id, str(error))
        return
    if reason := _explain_missing_sources(rule, pack, candidates, signals):
        yield Refusal(rule.id, reason)
    chosen = [variant for variant in candidates if rule.drive or is_for_pack(pack, variant)]
    if not chosen:
        return
    if fallbacks := join_fallback_labels(rule.signal, signals):
        reason = f"they are for hosts without a better source, which {server} cannot tell"
        yield Refusal(rule.id, reason, fallbacks)
    for source in signals[rule.signal].sources:
        if source.per and not source.fallback:
            yield Refusal(rule.id, f"it is divided by {source.per}, a fact of the host", _name_source(source))
    derived = signals[rule.signal].derived
    weighing: list[AnyFact] = [weight.by for weight in derived.weights.values()] if derived else []
    rule_targets = [*list_targets(rule, site, weighing)]
    if not rule_targets and rule.where:
        yield Refusal(rule.id, f"it is for {describe_hosts(rule)}, and plimsoll.toml tells of no such host")
    for target in rule_targets:
        if isinstance(target, UnknownSetting):
            yield Refusal(rule.id, str(target))
            continue
        for variant in merge(target.rule, chosen):
            for further in _list_combinations(target.rule, variant, signals):
                yield RuleSource(target, variant, further)


def _explain_missing_sources(
    rule: Rule, pack: Pack, candidates: Sequence[Variant], signals: Mapping[str, Signal]
) -> str | None:
    """Return why the server can use no source of a rule's signal; None if it can use any."""
    sources = signals[rule.signal].sources
    if not candidates and sources:
        lacking = join_fallback_labels(rule.signal, signals) or ", ".join(map(_name_source, sources))
        return f"it has no source that is recorded as it is, only {lacking}"
    if (
        pack.applies_to
        and candidates
        and not rule.drive
        and not any(is_for_pack(pack, variant) for variant in candidates)
    ):
        only = ", ".join((*pack.applies_to.objects, *pack.applies_to.measurements))
        return f"it is for hosts that have {only}, and its samples do not tell which those are"
    return None


def _name_source(source: Source) -> str:
    return str(source.path or f"{source.measurement}.{'/'.join(source.fields)}")


def bind_conditions(
    source: RuleSource, signals: Mapping[str, Signal], interval: int, matchers: Matchers
) -> tuple[BoundCondition, list[BoundCondition]]:
    """Return the rule's own condition and its further conditions, with the limits and sources for its target.

    Windows are widened to at least two `interval`s (ns), the time between samples. Only the rule's own condition is
    restricted to the target's instance. Raise Inexpressible if a condition cannot be expressed.
    """

    def bind(condition: Condition, variant: Variant, *, with_instance: bool) -> BoundCondition:
        """Return a condition with the limit, the matchers and the window that hold for the target."""
        for selection in variant.selections:
            weight = signals[selection.signal].weight
            if weight and is_unweighted(selection, signals):
                raise Inexpressible(f"{selection.label} is weighted by {weight.rate}, which is no field of its points")
        healthy = scale_limit(condition.healthy, condition, source.target)
        return BoundCondition(
            condition,
            healthy,
            variant,
            tuple(tuple(matchers(selection, source.target, with_instance)) for selection in variant.selections),
            max(condition.over, 2 * interval),
            tuple(weight.of(source.target.fact_value(weight.by)) if weight else 1.0 for weight in variant.weights),
            "min" if healthy.worse == "lower" else "max",
        )

    rule = source.target.rule
    bound = bind(rule, source.variant, with_instance=True)
    further = [
        bind(condition, source.further[condition.signal], with_instance=False)
        for condition in list_further_conditions(rule)
    ]
    for condition in further:
        selections = (*bound.variant.selections, *condition.variant.selections)
        kinds = {selection.kind for selection in selections if selection.instance}
        if _BY_NODE in kinds and len(kinds) > 1:
            (numbered,) = kinds - {_BY_NODE}
            raise Inexpressible(f"{_BY_NODE} writes a processor with its node (0,5), and {numbered} by its number (5)")
        hosts = {selection.host for selection in selections}
        if len(hosts) > 1:
            raise Inexpressible(f"{condition.variant.label} has its host in another tag ({', '.join(sorted(hosts))})")
        objects = sorted({selection.sql_object for selection in selections if selection.sql_object})
        if len(objects) > 1:
            raise Inexpressible(f"it takes values of several objects of one SQL Server: {', '.join(objects)}")
    if OBJECT not in bound.variant.group:
        further = [replace(condition, variant=_choose_default_variant(condition.variant)) for condition in further]
    return bound, further


def scale_limit(limit: Healthy, condition: Condition, target: Target) -> Healthy:
    """Return a limit, multiplied by the target's fact (such as `processors`) if the condition scales by one."""
    return limit.scaled(target.factors[condition.scale]) if condition.scale else limit


def list_source_labels(source: RuleSource) -> list[str]:
    """Return the label of the rule's own variant, then of the variant for each further condition."""
    names = [condition.signal for condition in list_further_conditions(source.target.rule)]
    return [source.variant.label, *(source.further[name].label for name in names)]


def is_for_pack(pack: Pack, variant: Variant) -> bool:
    """Return whether samples of a variant show that the host is of the kind that the pack is for.

    The other system knows nothing about a host except its samples.
    """
    if pack.applies_to is None:
        return True
    objects, measurements = pack.applies_to.objects, pack.applies_to.measurements
    for selection in variant.selections:
        if selection.source.path:
            recorded = selection.source.path.object
            named = any(fnmatchcase(recorded, name) for name in objects)
            if objects and (named or not is_everywhere(recorded)):
                return True
        elif selection.measurement in measurements or (selection.collector and set(measurements) - set(ANYWHERE)):
            return True
    return False


def list_further_conditions(rule: Rule) -> tuple[Condition, ...]:
    """Return the conditions besides the rule's own: `and`, and for a rule of a phase `when_phase_unknown`."""
    return (*rule.and_, *(rule.when_phase_unknown if rule.phase else ()))


def list_signals_counted_unrecorded(rule: Rule) -> list[str]:
    """Return the signals whose conditions count as crossed on hosts that do not record the signal."""
    return list(dict.fromkeys(condition.signal for condition in rule.and_ if condition.if_not_recorded))


def merge_variants(candidates: Sequence[Variant]) -> Iterator[Variant]:
    """Yield the variants of a signal in order, but merged if one query can select them.

    Grafana must not get two series with the same labels. InfluxDB combines variants of one measurement; variants of two
    measurements are merged only if their tags differ. Derived variants are not merged.
    """
    groups: list[list[Selection]] = []
    for variant in candidates:
        if variant.operation is None:
            (selection,) = variant.selections
            for group in groups:
                if all(_have_distinct_labels(selection, member) for member in group):
                    group.append(selection)
                    break
            else:
                groups.append([selection])
    for group in groups:
        # Several are grouped by the tags in their conditions, too.
        tags = [(*selection.group, *(_list_condition_tags(selection) if len(group) > 1 else ())) for selection in group]
        merged = (replace(selection, group=tuple(dict.fromkeys(of))) for selection, of in zip(group, tags, strict=True))
        yield Variant(group[0].signal, None, tuple(merged))
    yield from (variant for variant in candidates if variant.operation is not None)


def use_default_instance(source: RuleSource) -> RuleSource:
    """Return the source; restrict all variants to SQL Server's default instance if any variant is restricted to it.

    The labels of named instances differ between the variants.
    """
    if not is_default_only(source):
        return source
    further = {name: _choose_default_variant(variant) for name, variant in source.further.items()}
    return source._replace(variant=_choose_default_variant(source.variant), further=further)


def is_default_only(source: RuleSource) -> bool:
    """Return whether a source can judge only SQL Server's default instance."""
    used = (source.variant, *source.further.values())
    return any(selection.default_only for variant in used for selection in variant.selections)


def _explain_never_firing(rule: Rule, server: str) -> str | None:
    """Return why a server that has only samples cannot judge a rule at all; None if it can.

    Such a rule stands in for rules that lack samples; or it is for a phase, and has conditions that exclude each other
    while phases are unknown.
    """
    if rule.stands_in_for:
        return f"it is for hosts without {' and '.join(rule.stands_in_for)}, and {server} cannot tell those"
    conditions = (rule, *list_further_conditions(rule)) if rule.phase else ()
    for low, high in product(conditions, conditions):
        same_value = _describe_reduction(low) == _describe_reduction(high)
        opposed = low.healthy.worse == "lower" and high.healthy.worse == "higher"
        if same_value and opposed and low.healthy.limit < high.healthy.limit:
            return f"it is for the phase {rule.phase}, and where phases are not known it never fires"
    return None


def _describe_reduction(condition: Condition) -> tuple[object, ...]:
    return condition.signal, condition.reduce, condition.over, condition.scale


def _list_combinations(rule: Rule, variant: Variant, signals: Mapping[str, Signal]) -> Iterator[Mapping[str, Variant]]:
    """Yield each combination of variants, one for the signal of each further condition, by signal.

    All sources are of the collector that records the rule's own variant.
    """
    names = list(dict.fromkeys(condition.signal for condition in list_further_conditions(rule)))
    for combination in product(*(_list_candidates(name, rule, variant, signals) for name in names)):
        used = [*variant.selections, *(selection for other in combination for selection in other.selections)]
        if variant.alternatives or len({selection.collector for selection in used} - {None}) <= 1:
            yield dict(zip(names, combination, strict=True))


def _list_candidates(name: str, rule: Rule, variant: Variant, signals: Mapping[str, Signal]) -> Iterable[Variant]:
    if name == rule.signal:
        return (variant,)
    operands = [selection for selection in variant.selections if selection.signal == name]
    return (Variant(name, None, (operands[0],)),) if operands else list_variants(name, signals)


def _choose_default_variant(variant: Variant) -> Variant:
    return replace(variant, selections=tuple(map(select_default_instance, variant.selections)))


def _list_condition_tags(selection: Selection) -> tuple[str, ...]:
    return (OBJECT,) if selection.source.path else tuple(selection.source.tags)


def _have_distinct_labels(left: Selection, right: Selection) -> bool:
    """Return whether no series of one selection can have the same labels as a series of the other."""
    if left.measurement == right.measurement:
        return left.group == right.group
    if left.source.path and right.source.path:
        return left.source.path.object != right.source.path.object
    left_tags, right_tags = ({*side.group, *_list_condition_tags(side)} for side in (left, right))
    return bool(left_tags - right_tags - {POLLED} or right_tags - left_tags - {POLLED})
