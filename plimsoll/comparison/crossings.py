"""Documented limits that the second run crossed significantly, and the baseline did not cross.

A level just below a limit in one run may be just above it in the next. So the baseline's values are first made worse by
the spread between runs of one build and by what the load explains. A crossing counts only if the second run was beyond
the limit for a larger share of the time than this worsened baseline. A signal that grows with the clock (such as
uptime) counts only if it fell.
"""

from dataclasses import replace

import numpy as np

from plimsoll.analysis.bootstrap import Difference, estimate
from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.signal_settings import SAME
from plimsoll.model.log import Values
from plimsoll.review.findings import Finding
from plimsoll.rules.evaluations import RuleEvaluation

_CHANCE = 0.001  # of a false alarm: many limits are judged at once
_SIGMAS = 3.090232306167813  # the quantile of a normal distribution for that chance
_LONG = 0.1  # of the time beyond a limit: enough to be certain where the baseline never is; our choice
_FALL = 0.05  # of what climbs, as a share; our choice


def find_new_crossings(comparison: Comparison) -> list[Finding]:
    """Return the findings whose limit the second run crossed significantly in comparison with every baseline."""
    baselines = (comparison, *comparison.against)
    return [
        finding
        for finding in comparison.thresholds.only_second
        if all(_is_counted(baseline, finding) for baseline in baselines if finding not in baseline.thresholds.unjudged)
    ]


def find_surprises(comparison: Comparison) -> list[Finding]:
    """Return findings of critical limits that the second run crossed briefly, and that the baseline was far from."""

    def is_far(finding: Finding) -> bool:
        climbs = comparison.treatments.of(finding.rule.signal, finding.signal).integrates
        judged = finding not in comparison.thresholds.unjudged
        beyond = _mark_beyond(comparison, finding) if judged and not climbs else None
        return beyond is not None and bool(beyond[1].any()) and not beyond[0].any()

    counted = find_new_crossings(comparison)
    critical = [finding for finding in comparison.thresholds.only_second if finding.rule.severity == "critical"]
    return [finding for finding in critical if finding not in counted and is_far(finding)]


def _is_counted(comparison: Comparison, finding: Finding) -> bool:
    """Return whether the second run was beyond the limit for significantly longer than the worsened baseline."""
    if finding not in comparison.thresholds.only_second:
        return False
    other = _find_same_rule(comparison, finding)
    if other is None or other.track is None or finding.track is None:
        return True
    if comparison.treatments.of(finding.rule.signal, finding.signal).integrates:
        return _has_falls(finding.track) and not _has_falls(other.track)
    beyond = _mark_beyond(comparison, finding)
    if beyond is None:
        return True
    before, after = beyond
    difference = Difference.of(estimate(before), estimate(after))
    sure = difference.value > 0 and difference.chance < _CHANCE
    return sure or bool(not before.any() and after.mean() >= _LONG)


def _mark_beyond(comparison: Comparison, finding: Finding) -> tuple[Values, Values] | None:
    """Return two arrays, for the baseline and the second run: 1 for each evaluation beyond the limit, else 0.

    The baseline is worsened by the spread between runs of one build and by what the load explains. None unless both
    runs have values.
    """
    other = _find_same_rule(comparison, finding)
    if other is None or other.track is None or finding.track is None or other.subject is None:
        return None
    here, values = _select_present(other.track), _select_present(finding.track)
    if not len(here) or not len(values):
        return None
    treatment = comparison.treatments.of(finding.rule.signal, finding.signal)
    level = float(here.mean())
    effect = comparison.effect(comparison.phase)
    key = finding.subject.key if finding.subject else None
    band = effect.band(treatment.load, treatment.whole, level, key) if comparison.load.signals else SAME
    in_use = comparison.memory_in_use(other.signal, other.subject, level)
    off = _SIGMAS * float(np.sqrt(2)) * treatment.between_runs(level, in_use)
    ends = [band.whole + factor * (here - band.whole) for factor in (band.low, band.high)]
    as_bad = np.minimum(*ends) - off if finding.track.healthy.worse == "lower" else np.maximum(*ends) + off
    healthy = replace(finding.track.healthy, limit=other.track.healthy.limit)
    return (~healthy.holds(as_bad)).astype(float), (~finding.track.healthy.holds(values)).astype(float)


def _find_same_rule(comparison: Comparison, finding: Finding) -> Finding | None:
    """Return the baseline's finding of the same rule, host and instance; None if there is none."""
    if finding.subject is None:
        return None
    key = comparison.hosts.in_first(finding.subject.key)
    same = (other for other in comparison.first.review.findings if other.rule.id == finding.rule.id)
    return next((other for other in same if other.subject and other.subject.key == key), None)


def _select_present(track: RuleEvaluation) -> Values:
    return track.values[np.isfinite(track.values)]


def _has_falls(track: RuleEvaluation) -> bool:
    """Return whether a signal ever fell by more than a twentieth from one evaluation to the next."""
    values = _select_present(track)
    return bool((np.diff(values) < -_FALL * np.abs(values[:-1])).any())
