"""Exports one rule as alerting rules, one for each source, and for each host on which the rule differs.

PromQL has no "no data": a comparison gives nothing both if it is false and if there are no samples. A firing alert must
continue without data, as silence is no recovery. So the expression has a second part: alerts that fire (Prometheus has
these in `ALERTS`) and have no contradicting value. The value of this part is +Inf, which no comparison gives.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from plimsoll.export.annotations import make_annotations, make_value_template
from plimsoll.export.prometheus.promql import express_signal, format_duration, group_by, match_host, number, quote_text
from plimsoll.export.rule_sources import (
    BoundCondition,
    Inexpressible,
    Refusal,
    RuleSource,
    bind_conditions,
    list_rule_sources,
    list_source_labels,
    scale_limit,
)
from plimsoll.export.selections import Selection
from plimsoll.hosts.site import SiteSettings, Target
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.field_types import Healthy, Operator
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal

_CROSSED: dict[Operator, str] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!="}
_WITHIN: dict[Operator, str] = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "=": "=="}


@dataclass(frozen=True)
class PrometheusOptions:
    """How rules are evaluated: every `evaluation_interval` ns, over samples every `interval` ns.

    `docs` is the URL of the rules' pages; if empty, alerts have no links. In the packs `by_hand`, which the user named,
    superseded limits keep their severity. `names` are the exporters whose metrics get Telegraf's names.
    """

    evaluation_interval: int = 10 * SECOND
    interval: int = 10 * SECOND
    docs: str = ""
    by_hand: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()


class _Comparison(NamedTuple):
    """A value as PromQL, the labels that it has, and the limit with which it is compared."""

    value: str
    group: tuple[str, ...]
    healthy: Healthy

    def crossed(self, limit: Healthy | None = None) -> str:
        """Return the comparison for values past `limit`, by default the comparison's own limit."""
        limit = limit or self.healthy
        return f"{self.value} {_CROSSED[limit.operator]} {number(limit.limit)}"

    def within(self, limit: Healthy | None = None) -> str:
        """Return the comparison for values on the healthy side of `limit`, by default the comparison's own limit."""
        limit = limit or self.healthy
        return f"{self.value} {_WITHIN[limit.operator]} {number(limit.limit)}"


def list_alerting_rules(
    rule: Rule, pack: Pack, signals: Mapping[str, Signal], site: SiteSettings, options: PrometheusOptions
) -> Iterator[dict[str, object] | Refusal]:
    """Yield an alerting rule for each target and source of a rule, or a refusal with the reason."""
    for source in list_rule_sources(rule, pack, signals, site, "Prometheus"):
        if isinstance(source, Refusal):
            yield source
            continue
        try:
            yield _build_alerting_rule(source, pack, signals, options)
        except Inexpressible as error:
            yield Refusal(rule.id, str(error), source.variant.label)


def _build_alerting_rule(
    source: RuleSource, pack: Pack, signals: Mapping[str, Signal], options: PrometheusOptions
) -> dict[str, object]:
    """Return the alerting rule for one target and source of a rule."""
    target, rule, signal = source.target, source.target.rule, signals[source.target.rule.signal]
    if rule.healthy.worse != "higher" and signal.weight:
        raise Inexpressible("a time per request is 0 where there were none, and low values break its limit")
    bound, further = bind_conditions(source, signals, options.interval, _list_matchers)
    for condition in further:
        sides = (bound.variant, condition.variant)
        left, right = ({selection.instance for selection in side.selections} - {None} for side in sides)
        if left and right and not left & right:
            raise Inexpressible(f"{sides[1].label} has its instance in another label than {sides[0].label}")
    labels = {
        "severity": rule.severity,
        "pack": pack.pack,
        "signal": rule.signal,
        "counters": " & ".join(dict.fromkeys(list_source_labels(source))),
        **({"only": target.name} if target.name else {}),
    }
    recover = scale_limit(rule.recover, rule, target) if rule.recover else None
    alert = {"alertname": rule.id, **{name: labels[name] for name in ("counters", "only") if name in labels}}
    compared = [_compare(condition, signals, options) for condition in (bound, *further)]
    # +Inf is the value of an alert without data.
    shown = make_value_template("$value", signal.unit)
    template = f'{{{{ if eq (printf "%g" $value) "+Inf" }}}}not known now (no data){{{{ else }}}}{shown}{{{{ end }}}}'
    return {
        "alert": rule.id,
        "expr": _build_expression(compared[0], compared[1:], alert, recover),
        **({"for": format_duration(rule.for_)} if rule.for_ else {}),
        "labels": labels,
        "annotations": make_annotations(target, signal, bound, template, options.docs),
    }


def _list_matchers(selection: Selection, target: Target, with_instance: bool) -> Iterator[str]:
    """Yield the matchers for a target's series; matchers for instances only `with_instance`."""
    if target.host is not None:
        yield match_host(selection, target.host)
        if target.instance is not None and with_instance and selection.instance:
            yield match_host(selection, target.host, target.instance)
    for subject in target.excluded:
        if subject.instance is None:
            yield match_host(selection, subject.host, other=True)
        elif with_instance and selection.instance:
            if target.host is None:
                raise Inexpressible(f"it differs for {subject}, which no selector leaves out; set it for the host")
            yield match_host(selection, subject.host, subject.instance, other=True)


def _compare(bound: BoundCondition, signals: Mapping[str, Signal], options: PrometheusOptions) -> _Comparison:
    derived = signals[bound.condition.signal].derived
    value = express_signal(bound, options.interval, partial=bool(derived and derived.partial))
    return _Comparison(value, bound.variant.group, bound.healthy)


def _build_expression(
    comparison: _Comparison, further: Sequence[_Comparison], alert: Mapping[str, str], recover: Healthy | None
) -> str:
    """Return the PromQL of an alert, which keeps firing until the value is within `recover` (None: within its limit).

    `alert` has the labels that distinguish this alert in `ALERTS`, besides the labels of its subject.
    """
    if recover and not _is_further(recover, comparison.healthy):
        raise Inexpressible(f"it recovers at {recover}, which is not on the healthy side of {comparison.healthy}")
    also_crossed = [f"and {_match_on(comparison, other)} {other.crossed()}" for other in further]
    lines = [comparison.crossed(), *also_crossed]
    if recover:
        lines += ["or", comparison.crossed(recover), *also_crossed]
        active = _select_alerts(comparison, alert, '=~"pending|firing"')
        lines.append(f"and on ({', '.join(comparison.group)}) {active}")
    firing = _select_alerts(comparison, alert, '="firing"')
    lines += ["or", f"({firing} + Inf)"]
    if further or recover:
        lines += [
            f"unless {comparison.within(recover)}",
            *(f"unless {_match_on(comparison, other)} {other.within()}" for other in further),
        ]
    else:
        lines.append(f"unless {comparison.value}")
    return "\n".join(lines)


def _select_alerts(comparison: _Comparison, labels: Mapping[str, str], states: str) -> str:
    matchers = ", ".join(f"{name}={quote_text(value)}" for name, value in labels.items())
    return f"max {group_by(comparison.group)} (ALERTS{{{matchers}, alertstate{states}}})"


def _match_on(comparison: _Comparison, other: _Comparison) -> str:
    common = [tag for tag in comparison.group if tag in other.group]
    if not common:
        raise Inexpressible(
            f"its signals have no label in common ({', '.join(comparison.group)}; {', '.join(other.group)})"
        )
    return f"on ({', '.join(common)})"


def _is_further(recover: Healthy, healthy: Healthy) -> bool:
    """Return whether `recover` is at least as strict as `healthy`, so that no crossed value counts as recovered."""
    if healthy.worse == "either":
        return recover == healthy
    return recover.limit >= healthy.limit if healthy.worse == "lower" else recover.limit <= healthy.limit
