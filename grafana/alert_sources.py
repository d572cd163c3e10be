"""Which sources of a rule's signals go together in an alert rule, and which Grafana cannot use."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import product

from grafana.alert_query import Inexpressible, Taken
from grafana.selections import ANYWHERE, Variant, default_instance, variants
from rules.counters import is_everywhere
from rules.pack_schema import Condition, Pack, Rule
from rules.signal_schema import Signal

_BY_NODE = "Processor Information"


def tells(pack: Pack, way: Variant) -> bool:
    """Whether samples of these sources are of hosts that the pack is for: Grafana knows no more of a host."""
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


def further(rule: Rule) -> tuple[Condition, ...]:
    """The further conditions where phases are not known."""
    return (*rule.and_, *(rule.when_phase_unknown if rule.phase else ()))


def together(rule: Rule, variant: Variant, signals: Mapping[str, Signal]) -> Iterator[Mapping[str, Variant]]:
    """For each further signal of a rule a way to take it, as far as one collector records it with the rule's own."""
    names = list(dict.fromkeys(one.signal for one in further(rule)))
    for ways in product(*(_ways(name, rule, variant, signals) for name in names)):
        everything = [*variant.selections, *(one for way in ways for one in way.selections)]
        if variant.alternatives or len({one.collector for one in everything} - {None}) <= 1:
            yield dict(zip(names, ways, strict=True))


def _ways(name: str, rule: Rule, variant: Variant, signals: Mapping[str, Signal]) -> Iterable[Variant]:
    if name == rule.signal:
        return (variant,)
    operands = [one for one in variant.selections if one.signal == name]
    return (Variant(name, None, (operands[0],)),) if operands else variants(name, signals)


def joinable(own: Variant, other: Variant) -> None:
    """Inexpressible where Grafana cannot tell which values of two signals belong together."""
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


def reachable(own: Taken, other: Taken) -> Taken:
    """A signal of SQL Server, joined to one of the host, is that of the default instance."""
    if "objectname" in own.variant.group:
        return other
    chosen = tuple(default_instance(one) for one in other.variant.selections)
    return replace(other, variant=replace(other.variant, selections=chosen))
