"""The answer in a sentence, and what it rests on in another."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from model.names import Unrecognised
from model.remark import counted
from model.times import words
from review.findings import Finding, Outcome
from review.numbers import number, percent, quantity
from rules.healthy import Healthy


class Verdict(StrEnum):
    """Whether the run was good."""

    HEALTHY = "healthy"
    NOT_HEALTHY = "not-healthy"
    UNKNOWN = "unknown"


_SAID = {Verdict.HEALTHY: "Healthy.", Verdict.NOT_HEALTHY: "Not healthy.", Verdict.UNKNOWN: "Not known."}
_SHOULD = {"<": "stay below", "<=": "stay at or below", ">": "stay above", ">=": "stay at or above", "=": "be"}


def verdict(findings: Sequence[Finding], doubtful: Sequence[Unrecognised] = ()) -> Verdict:
    """Not healthy if a warning or critical threshold was crossed.

    Unknown if nothing could be judged, or if what was not may lie under names that were not recognised.
    """
    if any(f.outcome == Outcome.CROSSED and f.rule.severity != "info" for f in findings):
        return Verdict.NOT_HEALTHY
    judged = any(f.outcome in (Outcome.HELD, Outcome.CROSSED) for f in findings)
    return Verdict.HEALTHY if judged and not doubtful else Verdict.UNKNOWN


def said(answer: Verdict) -> str:
    """The verdict as the first words of the headline."""
    return _SAID[answer]


def headline(findings: Sequence[Finding], doubtful: Sequence[Unrecognised] = ()) -> str:
    """What stands after the verdict: the worst breach, or what held."""
    crossed = [f for f in findings if f.outcome == Outcome.CROSSED and f.rule.severity != "info"]
    held = [f for f in findings if f.outcome == Outcome.HELD]
    if crossed:
        others = len(crossed) - 1
        more = f" {others} more {'threshold was' if others == 1 else 'thresholds were'} crossed." if others else ""
        return f"{breach_sentence(crossed[0])}{more}"
    if doubtful:
        count = sum(one.counters for one in doubtful)
        names = ", ".join(dict.fromkeys(one.object for one in doubtful))
        judged = f"{counted(len(held), 'threshold')} held, but " if held else "No threshold could be judged: "
        lie = "lies" if count == 1 else "lie"
        return f"{judged}{counted(count, 'counter')} ({names}) {lie} under names that are not recognised; see --names."
    if noted := [f for f in findings if f.outcome == Outcome.CROSSED]:
        count = f"{counted(len(noted), 'limit')} of severity info {'was' if len(noted) == 1 else 'were'} crossed"
        return f"No threshold was crossed; {count}: {breach_sentence(noted[0])}"
    if not held:
        off = any(f.outcome == Outcome.OFF for f in findings)
        switched = ", or they are switched off in plimsoll.toml" if off else ""
        return f"None of the thresholds could be judged: their counters are not in these logs{switched}."
    brief = sum(bool(f.brief) for f in held)
    crossed_briefly = f" {brief} {'was' if brief == 1 else 'were'} crossed, too briefly to count." if brief else ""
    inside = [f for f in held if f.margin is not None and not f.brief]
    closest = min(inside, key=lambda f: f.margin or 0.0, default=None)
    every = (
        "Every threshold that could be judged held" if len(held) > 1 else "The one threshold that could be judged held"
    )
    if closest is None:
        return f"{every}.{crossed_briefly}"
    reached = quantity(closest.worst, closest.signal.unit)
    return f"{every}; closest was {subject_title(closest)} with {reached} (it {should(closest)}).{crossed_briefly}"


def breach_sentence(finding: Finding) -> str:
    """One breach in a sentence: `Page life expectancy of DB01 never passed 1,064 s; it should stay above 3,600 s.`"""
    track = finding.track
    if track is None:
        raise ValueError(f"{finding.rule.id} was not judged")
    unit = finding.signal.unit
    if finding.share_of_time == 1 and track.healthy.worse != "either":
        best = np.nanmax(track.values) if track.healthy.worse == "lower" else np.nanmin(track.values)
        did = f"never {'passed' if track.healthy.worse == 'lower' else 'fell below'} {quantity(float(best), unit)}"
    else:
        side = {"lower": "under", "higher": "over", "either": "off"}[track.healthy.worse]
        pick = min if track.healthy.worse == "lower" else max
        worst = pick(one.worst for one in finding.breaches)
        did = f"was {side} its limit {how_long(finding)}, at worst {quantity(worst, unit)}"
    return f"{subject_title(finding)} {did}{in_phase(finding)}; it {should(finding)}."


def subject_title(finding: Finding) -> str:
    """`Page life expectancy of SQLSRV01`, `Disk queue length of SQLSRV01, 2 E:`."""
    subject = finding.subject
    place = "" if subject is None else f" of {subject.host}" + (f", {subject.instance}" if subject.instance else "")
    return f"{finding.signal.title}{place}"


def should(finding: Finding) -> str:
    """`should stay above 3,600 s`, with the limit as scaled for the subject."""
    healthy = limit_of(finding)
    return f"should {_SHOULD[healthy.operator]} {quantity(healthy.limit, finding.signal.unit)}"


def limit_of(finding: Finding) -> Healthy:
    """The limit that was applied, or would have been."""
    return finding.track.healthy if finding.track else finding.rule.healthy


def threshold(finding: Finding) -> str:
    """`> 3,600 s`, with the limit as scaled for the subject."""
    healthy = limit_of(finding)
    sign = {"<=": "≤", ">=": "≥"}.get(healthy.operator, healthy.operator)
    reduced = f" gained in {words(finding.rule.over)}" if finding.rule.reduce == "increase" else ""
    return f"{sign} {quantity(healthy.limit, finding.signal.unit)}{reduced}"


def margin(finding: Finding) -> str:
    """How far the worst value stayed from the limit: `37.5 % below`, `7 % above`, `17 × the limit`; or nothing."""
    share = finding.margin
    if share is None:
        return ""
    if share < 0:
        return "crossed briefly"
    if finding.track and finding.track.healthy.worse == "lower":
        return f"{number(round(1 + share, 1))} × the limit" if share >= 1 else f"{percent(share)} above"
    return f"{percent(share)} below"


def extreme(finding: Finding) -> str:
    """`highest` or `lowest`: which extreme the worst value is."""
    return "lowest" if limit_of(finding).worse == "lower" else "highest"


def in_phase(finding: Finding) -> str:
    """` in the steady phase` where the rule was kept to one."""
    known = finding.rule.phase and finding.track is not None and finding.track.phase_known
    return f" in the {finding.rule.phase} phase" if known else ""


def how_long(finding: Finding) -> str:
    """`for 1 h 24 min`, or `3 times (41 min in all)`."""
    breaches = finding.breaches
    total = words(sum(one.duration for one in breaches))
    if len(breaches) == 1:
        return f"for {total}"
    return f"{len(breaches)} times ({total} in all)"


def counts(findings: Sequence[Finding]) -> dict[str, int]:
    """Findings by state, crossed ones by severity as well."""
    by_outcome = Counter(str(f.outcome) for f in findings)
    by_severity = Counter(f.rule.severity for f in findings if f.outcome == Outcome.CROSSED)
    return {
        **{severity: by_severity[severity] for severity in ("critical", "warning", "info")},
        **{str(outcome): by_outcome[str(outcome)] for outcome in Outcome},
    }


_LISTED = (
    (Outcome.HELD, "held"),
    (Outcome.NO_DATA, "without data"),
    (Outcome.NOT_JUDGED, "could not be judged"),
    (Outcome.NOT_RECORDED, "not recorded in these logs"),
    (Outcome.DOES_NOT_APPLY, "do not apply"),
    (Outcome.OFF, "switched off"),
)


def tally(findings: Sequence[Finding]) -> str:
    """`1 critical and 1 warning crossed · 14 held · 9 not recorded in these logs · 3 do not apply`."""
    found = counts(findings)
    severe = [
        f"{number(found[severity])} {severity}" for severity in ("critical", "warning", "info") if found[severity]
    ]
    crossed = (
        f"{' and '.join([', '.join(severe[:-1]), severe[-1]] if severe[1:] else severe)} crossed"
        if severe
        else "none crossed"
    )
    return " · ".join([crossed, *(f"{number(found[o])} {text}" for o, text in _LISTED if found[o])])
