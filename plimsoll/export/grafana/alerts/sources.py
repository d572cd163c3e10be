"""Chooses the sources of a rule's signals that are combined in an alert rule."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import product

from plimsoll.export.grafana.alerts.query import BoundCondition, Inexpressible
from plimsoll.export.grafana.selections import ANYWHERE, Variant, default_instance, variants
from plimsoll.rules.collectors.counters import is_everywhere
from plimsoll.rules.schema.pack import Condition, Pack, Rule
from plimsoll.rules.schema.signal import Signal

_BY_NODE = "Processor Information"


def is_for_pack(pack: Pack, way: Variant) -> bool:
    """Whether the sources of a variant are recorded only on hosts that the pack is for.

    Nothing else is known about a host in Grafana.
    """
    if pack.applies_to is None:
        return True
    objects, measurements = pack.applies_to.objects, pack.applies_to.measurements
    for one in way.selections:
        if one.source.path:
            found = one.source.path.object
            named = bool(objects) and (not is_everywhere(found) or any(fnmatchcase(found, name) for name in objects))
        else:
            linux = one.collector is not None and bool(set(measurements) - set(ANYWHERE))
            named = one.measurement in measurements or linux
        if named:
            return True
    return False


def further_conditions(rule: Rule) -> tuple[Condition, ...]:
    """Return the conditions of a rule besides its own, including those for unknown phases."""
    return (*rule.and_, *(rule.when_phase_unknown if rule.phase else ()))


def source_combinations(rule: Rule, variant: Variant, signals: Mapping[str, Signal]) -> Iterator[Mapping[str, Variant]]:
    """Yield combinations of variants, by signal, for the further conditions of a rule.

    All sources of a combination have the same collector as the rule's own variant.
    """
    names = list(dict.fromkeys(one.signal for one in further_conditions(rule)))
    for ways in product(*(_ways(name, rule, variant, signals) for name in names)):
        everything = [*variant.selections, *(one for way in ways for one in way.selections)]
        if variant.alternatives or len({one.collector for one in everything} - {None}) <= 1:
            yield dict(zip(names, ways, strict=True))


def _ways(name: str, rule: Rule, variant: Variant, signals: Mapping[str, Signal]) -> Iterable[Variant]:
    if name == rule.signal:
        return (variant,)
    operands = [one for one in variant.selections if one.signal == name]
    return (Variant(name, None, (operands[0],)),) if operands else variants(name, signals)


def check_joinable(own: Variant, other: Variant) -> None:
    """Raise Inexpressible if Grafana cannot match the values of two signals by their labels."""
    kinds = {one.kind for one in (*own.selections, *other.selections) if one.instance}
    if _BY_NODE in kinds and len(kinds) > 1:
        (others,) = kinds - {_BY_NODE}
        raise Inexpressible(f"{_BY_NODE} writes a processor with its node (0,5), and {others} by its number (5)")
    hosts = {one.host for one in (*own.selections, *other.selections)}
    if len(hosts) > 1:
        raise Inexpressible(f"{other.label} has its host in another tag ({', '.join(sorted(hosts))})")
    objects = {one.sql_object for one in (*own.selections, *other.selections)} - {None}
    if len(objects) > 1:
        raise Inexpressible(
            f"it takes values of several objects of one SQL Server: {', '.join(sorted(map(str, objects)))}"
        )


def of_one_instance(variant: Variant, sources: Mapping[str, Variant]) -> tuple[Variant, Mapping[str, Variant]]:
    """The variants of a rule, all of SQL Server's default instance if one of them is: labels of named ones differ."""
    if not is_default_only(variant, sources):
        return variant, sources
    return _default(variant), {name: _default(one) for name, one in sources.items()}


def is_default_only(variant: Variant, sources: Mapping[str, Variant]) -> bool:
    """Whether a rule with these variants can judge SQL Server's default instance alone."""
    return any(one.default_only for way in (variant, *sources.values()) for one in way.selections)


def _default(variant: Variant) -> Variant:
    return replace(variant, selections=tuple(map(default_instance, variant.selections)))


def at_default_instance(own: BoundCondition, other: BoundCondition) -> BoundCondition:
    """Restrict `other`, if it is a signal of SQL Server, to the default instance, unless `own` is one too."""
    if "objectname" in own.variant.group:
        return other
    return replace(other, variant=_default(other.variant))


def counted_unrecorded(rule: Rule) -> list[str]:
    """Return the signals of which a condition counts as crossed where they are not recorded."""
    return list(dict.fromkeys(one.signal for one in rule.and_ if one.if_not_recorded))
