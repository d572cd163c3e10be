"""The critical rule that a warning waits for: a warning does not fire while the critical limit is crossed."""

from plimsoll.export.grafana.alerts.query import BoundCondition
from plimsoll.hosts.site import Site, Target
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Pack, Rule


def critical_of(rule: Rule, pack: Pack) -> Rule | None:
    """Return the critical rule for this warning: on the same signal, reduced alike, with a limit further out."""
    if rule.severity != "warning" or rule.recover or _plain(rule) is None:
        return None
    found = [one for one in pack.rules if one.severity == "critical" and _plain(one) == _plain(rule)]
    return next((one for one in found if _further(one.healthy, rule.healthy)), None)


def held(critical: Rule | None, target: Target, site: Site) -> Rule | None:
    """Return the critical rule as it applies to the target, or None if it does not apply there."""
    if critical is None:
        return None
    judged = site.held(critical, target.host or "")
    alike = _plain(judged.rule) == _plain(target.rule) and _further(judged.rule.healthy, target.rule.healthy)
    return judged.rule if alike and not judged.off else None


def not_critical(critical: Rule | None, own: BoundCondition, interval: int) -> list[BoundCondition]:
    """Return the condition that some sample kept the critical limit for as long as the critical rule takes to fire.

    It keeps the warning firing until the critical rule fires. `interval` is the time between samples (ns).
    """
    if critical is None:
        return []
    least = "max" if critical.healthy.worse == "lower" else "min"
    length = max(critical.over, 2 * interval) + critical.for_
    condition = critical.model_copy(update={"reduce": least, "over": length})
    factor = own.healthy.limit / own.condition.healthy.limit if own.condition.scale else 1
    inside = _inverted(critical.healthy.scaled(factor))
    return [BoundCondition(condition, inside, own.variant, own.wheres, length, worst=own.worst)]


def _plain(rule: Rule) -> tuple[object, ...] | None:
    """Return a key that is equal for rules that differ in their limits only; None for rules with more conditions."""
    if (
        rule.and_
        or rule.when_phase_unknown
        or rule.drive
        or rule.reduce not in ("mean", "median", "min", "max", "last")
    ):
        return None
    return (rule.signal, rule.over, rule.reduce, rule.scale, rule.phase, rule.healthy.worse)


def _further(healthy: Healthy, than: Healthy) -> bool:
    return healthy.limit < than.limit if healthy.worse == "lower" else healthy.limit > than.limit


def _inverted(healthy: Healthy) -> Healthy:
    """Return the limit that is crossed exactly where this one is not."""
    opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[healthy.operator]
    return Healthy(opposite, healthy.limit)  # pyright: ignore[reportArgumentType]
