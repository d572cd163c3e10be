"""Exports one rule as Grafana alert rules: one for each source, and for each host on which the rule differs."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from plimsoll.export.grafana.alerts.annotations import annotations
from plimsoll.export.grafana.alerts.critical import held, not_critical
from plimsoll.export.grafana.alerts.file import (
    LONGEST_NAME,
    AlertRule,
    expanded,
    plain,
)
from plimsoll.export.grafana.alerts.query import BoundCondition, Inexpressible, Pipeline, decide
from plimsoll.export.grafana.alerts.sources import (
    at_default_instance,
    check_joinable,
    counted_unrecorded,
    further_conditions,
    is_default_only,
    is_for_pack,
    of_one_instance,
    source_combinations,
)
from plimsoll.export.grafana.alerts.templates import template
from plimsoll.export.grafana.links import DOCS
from plimsoll.export.grafana.merging import merged
from plimsoll.export.grafana.selections import Selection, Variant, is_unweighted, left_out, variants
from plimsoll.export.grafana.subjects import only, without
from plimsoll.hosts.site import Site, Target, Unknown, targets
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import AnyFact
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Condition, Pack, Rule
from plimsoll.rules.schema.signal import Signal

PanelOf = Callable[[str], tuple[str, int] | None]

GONE_AFTER = 7 * 86_400 * SECOND
_UID_LENGTH = 40
_DIGEST = 8  # characters of the hash at the end of a uid
_NUMBER = len(" (10 of 10)")
_DEFAULT_ONLY = "of SQL Server's named instances, whose objects Grafana cannot match; it judges the default one"


@dataclass(frozen=True)
class Options:
    """How rules are evaluated in Grafana; durations in ns.

    Rules are evaluated every `every`, over windows that end `delay` earlier so that late samples are included.
    `interval` is the time between samples; windows shorter than twice that are widened. `docs` is the URL of the rules'
    pages. `panel_of` returns the dashboard and panel of a signal. `emails` and `webhook` are notified. `by_hand` are
    packs chosen by name, whose superseded limits stay in force.
    """

    every: int = 10 * SECOND
    delay: int = 30 * SECOND
    interval: int = 10 * SECOND
    docs: str = DOCS
    panel_of: PanelOf = lambda signal: None
    emails: tuple[str, ...] = ()
    webhook: str | None = None
    by_hand: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Refused:
    """A rule, or one of its sources, that is not exported, and the reason."""

    rule: str
    reason: str
    source: str | None = None

    def __str__(self) -> str:
        return f"{self.rule}{f' from {self.source}' if self.source else ''}: {self.reason}"


def alert_rules(
    rule: Rule,
    pack: Pack,
    signals: Mapping[str, Signal],
    site: Site,
    options: Options,
    critical: Rule | None = None,
) -> Iterator[tuple[AlertRule, Variant] | Refused]:
    """Yield the alert rules of one rule, for each target and source, and its refusals.

    The alert rules do not fire while `critical`, a rule on the same signal, is crossed.
    """
    if reason := never(rule):
        yield Refused(rule.id, reason)
        return
    if unrecorded := counted_unrecorded(rule):
        yield Refused(
            rule.id,
            f"it is also for what has no {' or '.join(unrecorded)}, which Grafana cannot tell; there it is silent",
        )
    derived = signals[rule.signal].derived
    weighing: list[AnyFact] = [weight.by for weight in derived.weights.values()] if derived else []
    for target in targets(rule, site, weighing):
        if isinstance(target, Unknown):
            yield Refused(rule.id, str(target))
            continue
        try:
            ways = variants(rule.signal, signals)
        except ValueError as error:
            yield Refused(rule.id, str(error))
            return
        healthy = target.rule.healthy
        is_weighted = signals[rule.signal].weight is not None
        single = further_conditions(target.rule) or is_weighted or (healthy.worse == "either" and healthy.limit != 0)
        meant = [way for way in ways if rule.drive or is_for_pack(pack, way)]
        if ways and not meant:
            only = ", ".join((*pack.applies_to.objects, *pack.applies_to.measurements)) if pack.applies_to else ""
            yield Refused(rule.id, f"it is for hosts that have {only}, and its samples do not tell which those are")
            return
        if target.host is None and (others := left_out(rule.signal, signals)):
            yield Refused(rule.id, "they are for hosts without a better source, which Grafana cannot tell", others)
        for variant in meant if single else merged(meant):
            for sources in source_combinations(target.rule, variant, signals):
                try:
                    yield (
                        _alert_rule(target, pack, signals, options, variant, sources, held(critical, target, site)),
                        variant,
                    )
                except Inexpressible as error:
                    yield Refused(rule.id, str(error), variant.label)
                    continue
                if target.host is None and is_default_only(variant, sources):
                    yield Refused(rule.id, _DEFAULT_ONLY, variant.label)


def uid_of(rule: str, *parts: str) -> str:
    """Return a uid that is stable for a rule, its sources and its host; at most 40 of `[A-Za-z0-9-]`."""
    digest = hashlib.sha256("\0".join((rule, *parts)).encode()).hexdigest()[:_DIGEST]
    return f"{rule[: _UID_LENGTH - _DIGEST - 1]}-{digest}"


def duration(length: int) -> str:
    """Format a duration in ns for Grafana: `5m`, `90s`."""
    if length % SECOND:
        raise Inexpressible("a duration in it is not in whole seconds")
    seconds = length // SECOND
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _check_weighted(variants: Iterable[Variant], signals: Mapping[str, Signal]) -> None:
    """Raise Inexpressible if a time per request lacks the rate of the requests in the same points."""
    for one in (selection for variant in variants for selection in variant.selections):
        if is_unweighted(one, signals):
            rate = signals[one.signal].weight
            raise Inexpressible(
                f"{one.label} is weighted by {rate.rate if rate else ''}, which is no field of its points"
            )


def _alert_rule(
    target: Target,
    pack: Pack,
    signals: Mapping[str, Signal],
    options: Options,
    variant: Variant,
    sources: Mapping[str, Variant],
    critical: Rule | None,
) -> AlertRule:
    rule, pipeline, signal = target.rule, Pipeline(options.delay), signals[target.rule.signal]
    variant, sources = of_one_instance(variant, sources)
    _check_weighted([variant, *sources.values()], signals)
    own = _bound(rule, variant, target, options, own=True)
    others = [_bound(one, sources[one.signal], target, options) for one in further_conditions(rule)]
    for other in others:
        check_joinable(own.variant, other.variant)
    others += not_critical(critical, own, options.interval)
    recover = _scaled(rule.recover, rule, target) if rule.recover else None
    decision = decide(pipeline, own, [at_default_instance(own, other) for other in others], recover)
    labels = [variant.label, *(sources[one.signal].label for one in further_conditions(rule))]
    named = [] if variant.alternatives else list(dict.fromkeys(labels))
    uid = uid_of(rule.id, *(labels if named else ()), target.host or "", target.instance or "")
    return AlertRule(
        uid=uid,
        title=expanded(_title(f"{rule.id}{f' on {target.name}' if target.name else ''}", uid)),
        condition=decision.condition,
        data=pipeline.queries,
        noDataState="KeepLast",
        execErrState="Error",
        **{"for": duration(rule.for_)},  # pyright: ignore[reportArgumentType]
        missing_series_evals_to_resolve=GONE_AFTER // options.every,
        annotations={
            **annotations(rule, target, signal, own, template(decision.value, signal.unit), options.docs, critical),
            **_link(options.panel_of(rule.signal)),
            "counters": plain(" & ".join(dict.fromkeys(labels))),
        },
        labels={"severity": rule.severity, "pack": pack.pack, "rule": rule.id},
    )


def _title(text: str, uid: str) -> str:
    """Return a title that fits: the middle of a longer one is replaced by the hash of the uid."""
    encoded = text.encode()
    if len(encoded) <= LONGEST_NAME - _NUMBER:
        return text
    middle = f" … {uid[-_DIGEST:]} … "
    side = (LONGEST_NAME - _NUMBER - len(middle.encode())) // 2
    return encoded[:side].decode(errors="ignore") + middle + encoded[-side:].decode(errors="ignore")


def _link(panel: tuple[str, int] | None) -> dict[str, str]:
    """The annotations that link an alert to a panel."""
    return {"__dashboardUid__": panel[0], "__panelId__": str(panel[1])} if panel else {}


def _bound(
    condition: Condition, variant: Variant, target: Target, options: Options, *, own: bool = False
) -> BoundCondition:
    over = max(condition.over, 2 * options.interval)
    wheres = tuple(tuple(_whom(selection, target, own=own)) for selection in variant.selections)
    weights = tuple(one.of(target.known(one.by)) if one else 1.0 for one in variant.weights)
    healthy = _scaled(condition.healthy, condition, target)
    worst = "min" if healthy.worse == "lower" else "max"
    return BoundCondition(condition, healthy, variant, wheres, over, weights, worst)


def _scaled(limit: Healthy, condition: Condition, target: Target) -> Healthy:
    return limit.scaled(target.factors[condition.scale]) if condition.scale else limit


def _whom(selection: Selection, target: Target, *, own: bool) -> Iterator[str]:
    """Yield the conditions for points of the target. The target's instance is ignored unless the condition is `own`."""
    if target.host is not None:
        instance = target.instance if own and selection.instance else None
        yield only(selection, target.host, instance)
    for subject in target.excluded:
        if subject.instance is None or (own and selection.instance):
            yield without(selection, subject.host, subject.instance)


def never(rule: Rule, server: str = "Grafana") -> str | None:
    """Return why a server that has the samples only cannot judge a rule at all.

    A rule may be for where others were not judged; or two conditions on one value exclude each other where phases are
    not known.
    """
    if rule.stands_in_for:
        return f"it is for hosts without {' and '.join(rule.stands_in_for)}, and {server} cannot tell those"
    conditions = (rule, *further_conditions(rule)) if rule.phase else ()
    for one in conditions:
        for other in conditions:
            alike = (one.signal, one.reduce, one.over, one.scale) == (
                other.signal,
                other.reduce,
                other.over,
                other.scale,
            )
            below = one.healthy.worse == "lower" and other.healthy.worse == "higher"
            if alike and below and one.healthy.limit < other.healthy.limit:
                return f"it is for the phase {rule.phase}, and where phases are not known it never fires"
    return None
