"""The critical rule that a warning waits for: a warning does not fire while the critical limit is crossed."""

from plimsoll.export.rule_sources import BoundCondition
from plimsoll.hosts.site import Site, Target
from plimsoll.rules.schema.healthy import Healthy, Operator
from plimsoll.rules.schema.pack import Pack, Rule

_OPPOSITE: dict[Operator, Operator] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def critical_of(rule: Rule, pack: Pack) -> Rule | None:
    """Return the critical rule for this warning: on the same signal, reduced alike, with a limit further out."""
    if rule.severity != "warning" or rule.recover:
        return None
    criticals = (other for other in pack.rules if other.severity == "critical")
    return next((critical for critical in criticals if _is_stricter(rule, critical)), None)


def critical_for_target(critical: Rule | None, target: Target, site: Site) -> Rule | None:
    """Return the critical rule as it applies to the target, or None if it does not apply there."""
    if critical is None:
        return None
    judged = site.held(critical, target.host or "")
    return judged.rule if not judged.off and _is_stricter(target.rule, judged.rule) else None


def inside_critical(critical: Rule | None, own: BoundCondition, interval: int) -> list[BoundCondition]:
    """Return the condition that some sample kept the critical limit for as long as the critical rule takes to fire.

    It keeps the warning firing until the critical rule fires. `interval` is the time between samples (ns).
    """
    if critical is None:
        return []
    least = "max" if critical.healthy.worse == "lower" else "min"
    length = max(critical.over, 2 * interval) + critical.for_
    condition = critical.model_copy(update={"reduce": least, "over": length})
    limit = critical.healthy
    factor = own.healthy.limit / own.condition.healthy.limit if own.condition.scale else 1
    inside = Healthy(_OPPOSITE[limit.operator], limit.limit * factor)
    return [BoundCondition(condition, inside, own.variant, own.matchers, length, worst=own.worst)]


def _is_stricter(warning: Rule, critical: Rule) -> bool:
    """Return whether two rules differ in their limits only, and the limit of the critical one is further out."""
    key = _key(warning)
    if key is None or key != _key(critical):
        return False
    near, far = warning.healthy, critical.healthy
    return far.limit < near.limit if far.worse == "lower" else far.limit > near.limit


def _key(rule: Rule) -> tuple[object, ...] | None:
    """Return what rules that differ in their limits only have in common; None for rules with more conditions."""
    simple = rule.reduce in ("mean", "median", "min", "max", "last")
    if rule.and_ or rule.when_phase_unknown or rule.drive or not simple:
        return None
    return (rule.signal, rule.over, rule.reduce, rule.scale, rule.phase, rule.healthy.worse)
