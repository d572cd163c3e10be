"""The order of findings: all of them worst first, and those that held by how near they came to their limit."""

from collections.abc import Iterable
from math import log

import numpy as np

from plimsoll.model.series import host_key
from plimsoll.review.findings import CROSSED, Finding, Outcome
from plimsoll.rules.severity import SEVERITIES

_OUTCOME = {outcome: at for at, outcome in enumerate(Outcome)} | {Outcome.OFTEN: 0}


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by rank; of one rule that was crossed for about as long on several, the worst value first."""
    ranked = sorted(findings, key=_rank)
    by_rule: dict[tuple[str, Outcome], list[int]] = {}
    for at, one in enumerate(ranked):
        if one.outcome in CROSSED:
            by_rule.setdefault((one.rule.id, one.outcome), []).append(at)
    for places in by_rule.values():
        alike = sorted((ranked[at] for at in places), key=_by_value)
        for at, one in zip(places, alike, strict=True):
            ranked[at] = one
    return ranked


def _by_value(finding: Finding) -> tuple[int, int, int, float]:
    """Severity, and durations to a tenth, before values."""
    longest, in_all = (
        round(log(max(one, 1)) / log(1.1)) for one in (finding.columns.longest_fired, finding.time_crossed)
    )
    return SEVERITIES.index(finding.rule.severity), -longest, -in_all, -finding.times_past


def _rank(finding: Finding) -> tuple[object, ...]:
    """Worst first: crossed by severity and duration, held by the room left, then what was not judged."""
    subject = finding.subject
    name = finding.rule.id, host_key(subject.host) if subject else "", (subject.instance or "") if subject else ""
    if finding.track is None:  # most are: what is not recorded
        return _OUTCOME[finding.outcome], 0, False, 0, 0, 0, float("inf"), *name
    crossed = finding.outcome in CROSSED
    room = finding.room
    return (
        _OUTCOME[finding.outcome],
        SEVERITIES.index(finding.rule.severity) if crossed or finding.outcome == Outcome.TOO_SHORT else 0,
        finding.outcome == Outcome.OFTEN,
        -finding.columns.longest_fired,
        -finding.time_crossed if crossed else 0,
        -finding.times_past if crossed else 0,
        room if room is not None else float("inf"),
        *name,
    )


def nearness(finding: Finding) -> tuple[bool, bool, float, float, float]:
    """Orders what held: warning and critical ones first, then what was crossed briefly, then by the room left.

    Of those whose other condition never held, the value furthest towards the limit comes first.
    """
    room = finding.room
    brief = not finding.columns.fired.all()
    crossed = -(finding.share_of_time or 0) if brief else 0.0
    lower = finding.rule.healthy.worse == "lower"
    worst = float("inf") if np.isnan(finding.worst) else finding.worst if lower else -finding.worst
    return not finding.severe, not brief, crossed, float("inf") if room is None else room, worst
