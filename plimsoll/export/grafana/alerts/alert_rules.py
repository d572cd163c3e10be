"""Exports one rule as Grafana alert rules: one for each source, and for each host on which the rule differs."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from plimsoll.export.annotations import DOCS, escape_braces, make_annotations, make_value_template
from plimsoll.export.grafana.alerts.pipeline import Json, Pipeline, add_conditions, count_seconds
from plimsoll.export.grafana.influxql import is_other_subject, is_subject
from plimsoll.export.rule_sources import (
    BoundCondition,
    Inexpressible,
    Refusal,
    RuleSource,
    bind_conditions,
    is_default_only,
    list_further_conditions,
    list_rule_sources,
    list_source_labels,
    merge_variants,
    scale_limit,
    use_default_instance,
)
from plimsoll.export.selections import Selection, Variant
from plimsoll.hosts.site import SiteSettings, Target
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Healthy, Operator
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal

_OPPOSITE: dict[Operator, Operator] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
PanelOf: TypeAlias = Callable[[str], tuple[str, int] | None]
GONE_AFTER = 7 * 86_400 * SECOND
_UID_LENGTH = 40
_DIGEST = 8  # characters of the hash at the end of a uid
_LONGEST_TITLE = 190 - len(" (10 of 10)")  # bytes: the column of Grafana's database, and room for a number
_DEFAULT_ONLY = "of SQL Server's named instances, whose objects Grafana cannot match; it judges the default one"


@dataclass(frozen=True)
class GrafanaOptions:
    """How rules are evaluated in Grafana, and whom alerts notify; durations in ns.

    Rules are evaluated every `evaluation_interval`, over windows that end `delay` earlier to wait for late samples.
    `interval` is the time between samples; windows are widened to at least two intervals. `docs` is the URL of the
    rules' pages. `panel_of` returns the uid and panel id of the dashboard panel of a signal, or None. Alerts go to
    `emails` and `webhook`. In the packs `by_hand`, which the user named, superseded limits keep their severity.
    """

    evaluation_interval: int = 10 * SECOND
    delay: int = 30 * SECOND
    interval: int = 10 * SECOND
    docs: str = DOCS
    panel_of: PanelOf = lambda signal: None
    emails: tuple[str, ...] = ()
    webhook: str | None = None
    by_hand: frozenset[str] = frozenset()


def build_alert_rules(
    rule: Rule,
    pack: Pack,
    signals: Mapping[str, Signal],
    site: SiteSettings,
    options: GrafanaOptions,
    critical: Rule | None = None,
) -> Iterator[tuple[Json, Variant] | Refusal]:
    """Yield an alert rule and its variant for each target and source of a rule, or a refusal with the reason.

    While the rule `critical` on the same signal is crossed, the alert rules do not fire.
    """

    def merge(judged: Rule, candidates: Sequence[Variant]) -> Iterable[Variant]:
        weighted = signals[judged.signal].weight is not None
        around_value = judged.healthy.worse == "either" and judged.healthy.limit != 0
        single = list_further_conditions(judged) or weighted or around_value
        return candidates if single else merge_variants(candidates)

    for source in list_rule_sources(rule, pack, signals, site, "Grafana", merge):
        if isinstance(source, Refusal):
            yield source
            continue
        target, variant = source.target, source.variant
        try:
            applied = site.applied(critical, target.host or "") if critical else None
            is_stricter = applied and not applied.off and _is_stricter(target.rule, applied.rule)
            stricter = applied.rule if applied and is_stricter else None
            yield _build_alert_rule(source, pack, signals, options, stricter), variant
        except Inexpressible as error:
            yield Refusal(rule.id, str(error), variant.label)
            continue
        if target.host is None and is_default_only(source):
            yield Refusal(rule.id, _DEFAULT_ONLY, variant.label)


def build_alert_rule(uid: str, title: str, pipeline: Pipeline, condition: str, interval: int, **fields: Any) -> Json:
    """Return an alert rule in Grafana's format, evaluated every `interval` ns.

    `condition` is the refId of the result; the fields `hold` (for Grafana's `for`), annotations and labels are added.
    """
    return {
        "uid": uid,
        "title": title,
        "condition": condition,
        "data": pipeline.queries,
        "noDataState": "KeepLast",
        "execErrState": "Error",
        "for": fields["hold"],
        "missing_series_evals_to_resolve": GONE_AFTER // interval,
        "annotations": fields["annotations"],
        "labels": fields["labels"],
    }


def escape_dollars(text: str) -> str:
    """Escape text for a field in which Grafana expands environment variables: `MSSQL$X` becomes `MSSQL$$X`."""
    return text.replace("$", "$$")


def format_duration(length: int) -> str:
    """Format a duration in ns for Grafana: `5m`, `90s`. Raise Inexpressible if it is no whole number of seconds."""
    length_s = count_seconds(length, "a duration in it is")
    for unit, size in (("h", 3600), ("m", 60)):
        if length_s and length_s % size == 0:
            return f"{length_s // size}{unit}"
    return f"{length_s}s"


def _build_alert_rule(
    source: RuleSource, pack: Pack, signals: Mapping[str, Signal], options: GrafanaOptions, critical: Rule | None
) -> Json:
    """Return the alert rule for one target and source of a rule. It does not fire while `critical` is crossed."""
    source = use_default_instance(source)
    target, rule = source.target, source.target.rule
    bound, further = bind_conditions(source, signals, options.interval, _list_subject_conditions)
    further += list_critical_conditions(critical, bound, options.interval)
    recover = scale_limit(rule.recover, rule, target) if rule.recover else None
    pipeline = Pipeline(options.delay)
    condition, value = add_conditions(pipeline, bound, further, recover)
    labels = list(dict.fromkeys(list_source_labels(source)))
    uid = _make_uid(
        rule.id, *([] if source.variant.alternatives else list_source_labels(source)), target.host, target.instance
    )
    panel = options.panel_of(rule.signal)
    template = make_value_template(f"$values.{value}.Value", signals[rule.signal].unit)
    return build_alert_rule(
        uid,
        escape_dollars(_shorten_title(f"{rule.id}{f' on {target.name}' if target.name else ''}", uid)),
        pipeline,
        condition,
        options.evaluation_interval,
        hold=format_duration(rule.for_),
        annotations={
            **make_annotations(target, signals[rule.signal], bound, template, options.docs, critical),
            **({"__dashboardUid__": panel[0], "__panelId__": str(panel[1])} if panel else {}),
            "counters": escape_braces(" & ".join(labels)),
        },
        labels={"severity": rule.severity, "pack": pack.pack, "rule": rule.id},
    )


def _make_uid(rule: str, *parts: str | None) -> str:
    """Return a uid of at most 40 characters (`[A-Za-z0-9-]`), always the same for a rule, its sources and its host."""
    digest = hashlib.sha256("\0".join((rule, *(part or "" for part in parts))).encode()).hexdigest()[:_DIGEST]
    return f"{rule[: _UID_LENGTH - _DIGEST - 1]}-{digest}"


def _shorten_title(text: str, uid: str) -> str:
    """Return the title, or if it exceeds Grafana's limit, its beginning, the hash in the uid, and its end."""
    encoded = text.encode()
    if len(encoded) <= _LONGEST_TITLE:
        return text
    middle = f" … {uid[-_DIGEST:]} … "
    side = (_LONGEST_TITLE - len(middle.encode())) // 2
    return encoded[:side].decode(errors="ignore") + middle + encoded[-side:].decode(errors="ignore")


def _list_subject_conditions(selection: Selection, target: Target, with_instance: bool) -> Iterator[str]:
    """Yield the InfluxQL conditions for a target's points; conditions on instances only `with_instance`."""
    if target.host is not None:
        yield is_subject(selection, target.host, target.instance if with_instance and selection.instance else None)
    for subject in target.excluded:
        if subject.instance is None or (with_instance and selection.instance):
            yield is_other_subject(selection, subject.host, subject.instance)


def find_critical_rule(rule: Rule, pack: Pack) -> Rule | None:
    """Return the critical rule in the pack that differs from a warning rule only in a stricter limit; else None."""
    if rule.severity != "warning" or rule.recover:
        return None
    criticals = (other for other in pack.rules if other.severity == "critical")
    return next((critical for critical in criticals if _is_stricter(rule, critical)), None)


def list_critical_conditions(critical: Rule | None, bound: BoundCondition, interval: int) -> list[BoundCondition]:
    """Return the condition that the critical rule is not firing yet; an empty list without a critical rule.

    It is true if any sample was within the critical limit during the critical rule's window and `for`, so the warning
    fires until the critical alert does. `interval` is the time between samples (ns).
    """
    if critical is None:
        return []
    extreme = "max" if critical.healthy.worse == "lower" else "min"
    length = max(critical.over, 2 * interval) + critical.for_
    condition = replace(critical, reduce=extreme, over=length)
    limit = critical.healthy
    factor = bound.healthy.limit / bound.condition.healthy.limit if bound.condition.scale else 1
    inside = Healthy(_OPPOSITE[limit.operator], limit.limit * factor)
    return [BoundCondition(condition, inside, bound.variant, bound.matchers, length, worst=bound.worst)]


def _is_stricter(warning: Rule, critical: Rule) -> bool:
    """Return whether two rules differ only in their limits, and values reach the critical limit later."""
    near, far = warning.healthy, critical.healthy
    is_further = far.limit < near.limit if far.worse == "lower" else far.limit > near.limit
    return is_further and _make_key(warning) is not None and _make_key(warning) == _make_key(critical)


def _make_key(rule: Rule) -> tuple[object, ...] | None:
    """Return a key that is equal for rules that differ only in their limits; None for rules with further conditions."""
    simple = rule.reduce in ("mean", "median", "min", "max", "last")
    if rule.and_ or rule.when_phase_unknown or rule.drive or not simple:
        return None
    return (rule.signal, rule.over, rule.reduce, rule.scale, rule.phase, rule.healthy.worse)
