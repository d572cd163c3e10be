"""Documented limits that the second run crossed and the baseline held, where that is no chance of these two runs.

A level just below a limit in one run is just above it in the next. A crossing counts where the second run was beyond
the limit for a larger share of the time than the baseline would have been, had it been worse by as much as runs of one
build differ and as the load explains. A signal that climbs with the clock counts only where it fell.
"""

from dataclasses import replace
from functools import cache
from statistics import NormalDist

import numpy as np

from plimsoll.analysis.bootstrap import Difference, estimate
from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.run_to_run import SAME
from plimsoll.model.log import Values
from plimsoll.review.findings import Finding
from plimsoll.rules.evaluations import RuleEvaluation

_CHANCE = 0.001  # of a false alarm: many limits are judged at once
_LONG = 0.1  # of the time beyond a limit, that nothing of the kind in the baseline makes certain; our choice
_FALL = 0.05  # of what climbs, as a share; our choice


def crossings(comparison: Comparison) -> list[Finding]:
    """Return the crossings that count against every baseline."""
    result = (comparison, *comparison.against)
    return [
        finding
        for finding in comparison.thresholds.only_second
        if all(_counts(comparison, finding) for comparison in result if _is_judged(comparison, finding))
    ]


def _is_judged(comparison: Comparison, finding: Finding) -> bool:
    """Return whether the baseline judged the limit."""
    return finding not in comparison.thresholds.unjudged


def surprises(comparison: Comparison) -> list[Finding]:
    """Critical limits that the second run crossed for too short a time to count, and from which the baseline was so far
    that runs of one build do not differ by as much.
    """
    counted = crossings(comparison)
    critical = [finding for finding in comparison.thresholds.only_second if finding.rule.severity == "critical"]
    return [finding for finding in critical if finding not in counted and _is_far(comparison, finding)]


def _is_far(comparison: Comparison, finding: Finding) -> bool:
    """Return whether the second run was beyond a limit and the baseline would not have been, had it been worse."""
    climbs = comparison.treatments.of(finding.rule.signal, finding.signal).integrates
    beyond = _beyond(comparison, finding) if _is_judged(comparison, finding) and not climbs else None
    return beyond is not None and bool(beyond[1].any()) and not beyond[0].any()


def _counts(comparison: Comparison, finding: Finding) -> bool:
    """Return whether the second run was beyond the limit for longer, for certain."""
    if finding not in comparison.thresholds.only_second:
        return False
    other = _same_rule(comparison, finding)
    if other is None or other.track is None or finding.track is None:
        return True
    if comparison.treatments.of(finding.rule.signal, finding.signal).integrates:
        return _falls(finding.track) and not _falls(other.track)
    beyond = _beyond(comparison, finding)
    if beyond is None:
        return True
    before, after = beyond
    if not before.any() and after.mean() >= _LONG:
        return True
    difference = Difference.of(estimate(before), estimate(after))
    return difference.value > 0 and difference.chance < _CHANCE


def _beyond(comparison: Comparison, finding: Finding) -> tuple[Values, Values] | None:
    """Whether the baseline, had it been as much worse as runs of one build differ and as the load explains, and the
    second run were beyond a limit, at each evaluation; None without values of both.
    """
    other = _same_rule(comparison, finding)
    if other is None or other.track is None or finding.track is None:
        return None
    here, values = _present(other.track), _present(finding.track)
    if not len(here) or not len(values):
        return None
    treatment = comparison.treatments.of(finding.rule.signal, finding.signal)
    level = float(here.mean())
    effect = comparison.effect(comparison.phase)
    band = effect.band(treatment.load, treatment.whole) if comparison.load.signals else SAME
    off = _sigmas() * float(np.sqrt(2)) * treatment.between_runs(level, _memory_in_use(comparison, other, level))
    ends = [band.whole + factor * (here - band.whole) for factor in (band.low, band.high)]
    as_bad = np.minimum(*ends) - off if finding.track.healthy.worse == "lower" else np.maximum(*ends) + off
    healthy = replace(finding.track.healthy, limit=other.track.healthy.limit)
    return (~healthy.holds(as_bad)).astype(float), (~finding.track.healthy.holds(values)).astype(float)


def _memory_in_use(comparison: Comparison, finding: Finding, level: float) -> float | None:
    return comparison.memory_in_use(finding.signal, finding.subject, level) if finding.subject else None


def _same_rule(comparison: Comparison, finding: Finding) -> Finding | None:
    """Return the finding of the same rule, host and instance in the baseline."""
    if finding.subject is None:
        return None
    key = comparison.hosts.in_first(finding.subject.key)
    same = (other for other in comparison.first.review.findings if other.rule.id == finding.rule.id and other.subject)
    return next((other for other in same if other.subject and other.subject.key == key), None)


def _present(track: RuleEvaluation) -> Values:
    return track.values[np.isfinite(track.values)]


def _falls(track: RuleEvaluation) -> bool:
    """Return whether what climbs fell."""
    values = _present(track)
    return bool((np.diff(values) < -_FALL * np.abs(values[:-1])).any())


@cache
def _sigmas() -> float:
    return NormalDist().inv_cdf(1 - _CHANCE)
