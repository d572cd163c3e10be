"""Exports one rule as alerting rules: one for each of its sources, and for each host on which the rule differs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from plimsoll.export.grafana.alerts.alert_rules import Refused, never
from plimsoll.export.grafana.alerts.annotations import annotations
from plimsoll.export.grafana.alerts.query import BoundCondition, Inexpressible
from plimsoll.export.grafana.alerts.sources import (
    at_default_instance,
    check_joinable,
    counted_unrecorded,
    further_conditions,
    is_for_pack,
    source_combinations,
)
from plimsoll.export.grafana.selections import Selection, Variant, is_unweighted, left_out, variants
from plimsoll.export.prometheus.conditions import Compared, expression
from plimsoll.export.prometheus.selectors import duration, of_host
from plimsoll.export.prometheus.templates import in_words
from plimsoll.export.prometheus.values import Reading, value
from plimsoll.hosts.site import Site, Target, Unknown, targets
from plimsoll.model.times import SECOND
from plimsoll.rules.host_filter import hosts_text
from plimsoll.rules.schema.field_types import AnyFact
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Condition, Pack, Rule
from plimsoll.rules.schema.signal import Signal, Source

_SERVER = "Prometheus"


@dataclass(frozen=True)
class Options:
    """How rules are evaluated: every `every` ns, over samples every `interval` ns.

    `docs` is the URL that the pages of rules are below; without it alerts link to none. `by_hand` are packs chosen by
    name, whose superseded limits stay in force. `names` are the exporters whose metrics are given Telegraf's names.
    """

    every: int = 10 * SECOND
    interval: int = 10 * SECOND
    docs: str = ""
    by_hand: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Made:
    """An alerting rule, and what it was made from: the target, and the variant that each signal is read from."""

    alert: str
    expr: str
    hold: int
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    target: Target
    sources: Mapping[str, Variant]

    def document(self) -> dict[str, object]:
        """The rule as it is written."""
        hold = {"for": duration(self.hold)} if self.hold else {}
        told = {"labels": dict(self.labels), "annotations": dict(self.annotations)}
        return {"alert": self.alert, "expr": self.expr, **hold, **told}


def alerts_of(
    rule: Rule, pack: Pack, signals: Mapping[str, Signal], site: Site, options: Options
) -> Iterator[Made | Refused]:
    """Yield the alerting rules of a rule, for each target and source, and its refusals."""
    if reason := never(rule, _SERVER):
        yield Refused(rule.id, reason)
        return
    if unrecorded := counted_unrecorded(rule):
        yield Refused(
            rule.id, f"it is also for what has no {' or '.join(unrecorded)}, which it cannot tell; there it is silent"
        )
    derived = signals[rule.signal].derived
    weighing: list[AnyFact] = [weight.by for weight in derived.weights.values()] if derived else []
    try:
        ways = variants(rule.signal, signals)
    except ValueError as error:
        yield Refused(rule.id, str(error))
        return
    meant = [way for way in ways if rule.drive or is_for_pack(pack, way)]
    if not meant:
        yield Refused(rule.id, _why_none(rule, pack, ways, signals))
        return
    if others := left_out(rule.signal, signals):
        yield Refused(rule.id, "they are for hosts without a better source, which it cannot tell", others)
    for one in signals[rule.signal].sources:
        if one.per and not one.fallback:
            yield Refused(rule.id, f"it is divided by {one.per}, a fact of the host", _name(one))
    found = [*targets(rule, site, weighing)]
    if not found:
        yield Refused(rule.id, f"it is for {hosts_text(rule)}, and plimsoll.toml tells of no such host")
    for target in found:
        if isinstance(target, Unknown):
            yield Refused(rule.id, str(target))
            continue
        for variant in meant:
            for sources in source_combinations(target.rule, variant, signals):
                try:
                    yield _alert(target, pack, signals, options, {**sources, rule.signal: variant})
                except Inexpressible as error:
                    yield Refused(rule.id, str(error), variant.label)


def _why_none(rule: Rule, pack: Pack, ways: tuple[Variant, ...], signals: Mapping[str, Signal]) -> str:
    if ways and pack.applies_to:
        only = ", ".join((*pack.applies_to.objects, *pack.applies_to.measurements))
        return f"it is for hosts that have {only}, and its samples do not tell which those are"
    lacking = left_out(rule.signal, signals) or ", ".join(map(_name, signals[rule.signal].sources))
    return f"it has no source that is recorded as it is, only {lacking or 'facts of the host'}"


def _name(source: Source) -> str:
    return str(source.path or f"{source.measurement}.{'/'.join(source.fields)}")


def _alert(
    target: Target, pack: Pack, signals: Mapping[str, Signal], options: Options, sources: Mapping[str, Variant]
) -> Made:
    rule, variant = target.rule, sources[target.rule.signal]
    if rule.healthy.worse != "higher" and signals[rule.signal].weight:
        raise Inexpressible("a time per request is 0 where there were none, and low values break its limit")
    own = _bound(rule, variant, target, signals, options)
    further = [_bound(one, sources[one.signal], target, signals, options) for one in further_conditions(rule)]
    for other in further:
        check_joinable(own.variant, other.variant)
        _check_instances(own.variant, other.variant)
    further = [at_default_instance(own, other) for other in further]
    used = [variant, *(sources[one.signal] for one in further_conditions(rule))]
    labels = {
        "severity": rule.severity,
        "pack": pack.pack,
        "signal": rule.signal,
        "counters": " & ".join(dict.fromkeys(one.label for one in used)),
        **({"only": target.name} if target.name else {}),
    }
    compared = [_compared(one, target, signals, options, own=one is own) for one in (own, *further)]
    recover = _scaled(rule.recover, rule, target) if rule.recover else None
    alert = {"alertname": rule.id, **{name: labels[name] for name in ("counters", "only") if name in labels}}
    told = annotations(rule, target, signals[rule.signal], own, in_words(signals[rule.signal].unit), options.docs, None)
    if not options.docs:
        del told["runbook_url"]
    return Made(
        rule.id, expression(compared[0], compared[1:], alert, recover), rule.for_, labels, told, target, sources
    )


def _check_instances(own: Variant, other: Variant) -> None:
    """Raise Inexpressible if both have instances, in labels with different names."""
    mine, its = ({one.instance for one in way.selections} - {None} for way in (own, other))
    if mine and its and not mine & its:
        raise Inexpressible(f"{other.label} has its instance in another label than {own.label}")


def _bound(
    condition: Condition, variant: Variant, target: Target, signals: Mapping[str, Signal], options: Options
) -> BoundCondition:
    for one in variant.selections:
        if is_unweighted(one, signals):
            rate = signals[one.signal].weight
            raise Inexpressible(
                f"{one.label} is weighted by {rate.rate if rate else ''}, which is no field of its points"
            )
    over = max(condition.over, 2 * options.interval)
    weights = tuple(one.of(target.known(one.by)) if one else 1.0 for one in variant.weights)
    return BoundCondition(condition, _scaled(condition.healthy, condition, target), variant, (), over, weights)


def _compared(
    bound: BoundCondition, target: Target, signals: Mapping[str, Signal], options: Options, *, own: bool
) -> Compared:
    derived = signals[bound.condition.signal].derived
    whom = tuple(_whom(one, target, own=own) for one in bound.variant.selections)
    reading = Reading(bound.condition.reduce, bound.window, options.interval, whom)
    found = value(bound.variant, reading, weights=bound.weights, partial=bool(derived and derived.partial))
    return Compared(found, bound.variant.group, bound.healthy)


def _scaled(limit: Healthy, condition: Condition, target: Target) -> Healthy:
    return limit.scaled(target.factors[condition.scale]) if condition.scale else limit


def _whom(selection: Selection, target: Target, *, own: bool) -> tuple[str, ...]:
    """The matchers for the series of the target."""
    found: list[str] = []
    if target.host is not None:
        found.append(of_host(selection, target.host))
        if target.instance is not None and own and selection.instance:
            found.append(of_host(selection, target.host, target.instance))
    for subject in target.excluded:
        if subject.instance is None:
            found.append(of_host(selection, subject.host, other=True))
        elif own and selection.instance:
            if target.host is None:
                raise Inexpressible(f"it differs for {subject}, which no selector leaves out; set it for the host")
            found.append(of_host(selection, subject.host, subject.instance, other=True))
    return tuple(found)
