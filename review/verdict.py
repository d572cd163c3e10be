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
from review.unsound import Unsound
from rules.crossings import Crossing
from rules.healthy import Healthy


class Verdict(StrEnum):
    """Whether the run was good."""

    HEALTHY = "healthy"
    NOT_HEALTHY = "not-healthy"
    UNKNOWN = "unknown"


_SAID = {Verdict.HEALTHY: "Healthy.", Verdict.NOT_HEALTHY: "Not healthy.", Verdict.UNKNOWN: "Not known."}
_REDUCED = {"min": "minimum", "max": "maximum"}
_SHOULD = {"<": "stay below", "<=": "stay at or below", ">": "stay above", ">=": "stay at or above", "=": "be"}


def verdict(
    findings: Sequence[Finding], doubtful: Sequence[Unrecognised] = (), unsound: Sequence[Unsound] = ()
) -> Verdict:
    """Not healthy if a warning or critical threshold was crossed.

    Unknown if nothing could be judged, if one was crossed in a recording too short to tell, or if what
    was not judged may lie under names that were not recognised, or if values of a counter say nothing.
    """
    if _severe(findings, Outcome.CROSSED):
        return Verdict.NOT_HEALTHY
    judged = any(f.outcome in (Outcome.HELD, Outcome.CROSSED) for f in findings)
    undecided = doubtful or unsound or _severe(findings, Outcome.TOO_SHORT)
    return Verdict.HEALTHY if judged and not undecided else Verdict.UNKNOWN


def said(answer: Verdict) -> str:
    """The verdict as the first words of the headline."""
    return _SAID[answer]


def headline(
    findings: Sequence[Finding], doubtful: Sequence[Unrecognised] = (), unsound: Sequence[Unsound] = ()
) -> str:
    """What stands after the verdict: the worst breach, or what held."""
    crossed, short = _severe(findings, Outcome.CROSSED), _severe(findings, Outcome.TOO_SHORT)
    held = [f for f in findings if f.outcome == Outcome.HELD]
    if crossed:
        others = len(crossed) - 1
        more = f" {others} more {'threshold was' if others == 1 else 'thresholds were'} crossed." if others else ""
        untold = f" For {number(len(short))} more the recording is too short to tell." if short else ""
        return f"{breach_sentence(crossed[0])}{more}{untold}"
    if short:
        which = "a threshold that was" if len(short) == 1 else f"{number(len(short))} thresholds that were"
        counts_after = f"and a crossing counts after {words(short[0].rule.for_)}"
        return (
            f"The recording is too short to judge {which} crossed in it: "
            f"{breach_sentence(short[0]).removesuffix('.')}, {counts_after}."
        )
    judged = f"{counted(len(held), 'threshold')} held, but " if held else "No threshold could be judged: "
    if unsound:
        first, *others = unsound
        more = f", and so with {counted(len(others), 'more counter')}" if others else ""
        return f"{judged}values of {first.counter} {first.why}{more}; see the remarks."
    if doubtful:
        count = sum(one.counters for one in doubtful)
        names = ", ".join(dict.fromkeys(one.object for one in doubtful))
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
    unable = sum(f.cannot_fire for f in held)
    of_them = "it" if len(held) == 1 else "any of them" if unable == len(held) else f"{number(unable)} of them"
    too_short = f" The recording is too short to show a breach of {of_them}." if unable else ""
    inside = [f for f in held if f.margin is not None and not f.brief]
    closest = min(inside, key=lambda f: f.margin or 0.0, default=None)
    every = (
        "Every threshold that could be judged held" if len(held) > 1 else "The one threshold that could be judged held"
    )
    if closest is None:
        return f"{every}.{too_short}{crossed_briefly}"
    reached = f"{subject_title(closest)} with {worst_text(closest)}"
    return f"{every}; closest was {reached}, and it {should(closest)}.{too_short}{crossed_briefly}"


def _severe(findings: Sequence[Finding], outcome: Outcome) -> list[Finding]:
    return [f for f in findings if f.outcome == outcome and f.rule.severity != "info"]


def breach_sentence(finding: Finding) -> str:
    """What was crossed in a sentence.

    `Page life expectancy of DB01 never passed 1,064 s (1 min mean); it should stay above 3,600 s.`
    """
    track = finding.track
    if track is None:
        raise ValueError(f"{finding.rule.id} was not judged")
    unit = finding.signal.unit
    if finding.share_of_time == 1 and track.healthy.worse != "either":
        best = np.nanmax(track.values) if track.healthy.worse == "lower" else np.nanmin(track.values)
        verb = "passed" if track.healthy.worse == "lower" else "fell below"
        did = f"never {verb} {quantity(float(best), unit)}{_in_brackets(reduced(finding))}"
    else:
        side = {"lower": "under", "higher": "over", "either": "off"}[track.healthy.worse]
        limit = track.healthy.limit
        worst = max((one.worst for one in _told(finding)), key=lambda value: abs(value - limit))
        did = f"was {side} its limit {how_long(finding)}, at worst {worst_text(finding, worst)}"
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
    gained = f" gained in {window(finding)}" if finding.rule.reduce == "increase" else ""
    return f"{sign} {quantity(healthy.limit, finding.signal.unit)}{gained}"


def margin(finding: Finding) -> str:
    """How far the worst value stayed from the limit: `37.5 % below`, `7 % above`, `17 × the limit`; or nothing."""
    share = finding.margin
    if share is None:
        return ""
    if share < 0:
        return "crossed briefly" if finding.outcome == Outcome.HELD else "crossed"
    if finding.track and finding.track.healthy.worse == "lower":
        return f"{number(round(1 + share, 1))} × the limit" if share >= 1 else f"{percent(share)} above"
    return f"{percent(share)} below"


def extreme(finding: Finding) -> str:
    """`highest`, `lowest 5 min mean`: which extreme the worst value is, and of what."""
    which = {"higher": "highest", "lower": "lowest", "either": "furthest"}[limit_of(finding).worse]
    return f"{which} {reduced(finding)}".rstrip()


def reduced(finding: Finding) -> str:
    """`5 min mean`: what the worst value is of; empty where it is a sample as recorded."""
    how, worse = finding.rule.reduce, limit_of(finding).worse
    a_sample = how == "last" or (how == "max" and worse != "lower") or (how == "min" and worse != "higher")
    if a_sample or not (finding.track.window if finding.track else finding.rule.over):
        return ""
    return f"{window(finding)} {_REDUCED.get(how, how)}"


def window(finding: Finding) -> str:
    """`5 min`, or `1 min to 20 min` where the log was sampled at several intervals."""
    if finding.track is None:
        return words(finding.rule.over)
    return between((finding.track.window, *finding.track.other_windows))


def between(durations: Sequence[int]) -> str:
    """`5 min` where all are, or `1 min to 20 min`."""
    return " to ".join(words(one) for one in dict.fromkeys((min(durations), max(durations))))


def worst_text(finding: Finding, worst: float | None = None) -> str:
    """`15.8 GB (1 min mean)`: the worst value of all, or of a breach, and what it is of."""
    value = quantity(finding.worst if worst is None else worst, finding.signal.unit)
    return f"{value}{_in_brackets(reduced(finding))}"


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


def in_phase(finding: Finding) -> str:
    """` in the steady phase` where the rule was kept to one."""
    known = finding.rule.phase and finding.track is not None and finding.track.phase_known
    return f" in the {finding.rule.phase} phase" if known else ""


def how_long(finding: Finding) -> str:
    """`for 1 h 24 min`, or `3 times (41 min in all)`."""
    crossed = _told(finding)
    total = sum(one.duration for one in crossed)
    if len(crossed) == 1:
        return f"for {words(total)}" if total else "at one evaluation"
    return f"{len(crossed)} times ({f'{words(total)} in all' if total else 'one evaluation each'})"


def _told(finding: Finding) -> Sequence[Crossing]:
    """The crossings that are told of: the breaches, or all of them where none fired."""
    return finding.breaches or finding.crossings


def counts(findings: Sequence[Finding]) -> dict[str, int]:
    """Findings by state, crossed ones by severity as well."""
    by_outcome = Counter(str(f.outcome) for f in findings)
    by_severity = Counter(f.rule.severity for f in findings if f.outcome == Outcome.CROSSED)
    return {
        **{severity: by_severity[severity] for severity in ("critical", "warning", "info")},
        **{str(outcome): by_outcome[str(outcome)] for outcome in Outcome},
    }


_LISTED = (
    (Outcome.TOO_SHORT, "too short to tell"),
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
