"""The verdict on a run, and the headline that explains it in a sentence or two."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from plimsoll.model.errors import printable
from plimsoll.model.remark import counted, listed
from plimsoll.model.run import Planned
from plimsoll.model.series import host_key
from plimsoll.model.times import duration_text
from plimsoll.review.coverage import coverage
from plimsoll.review.findings import CROSSED, JUDGED, Doubt, Finding, Outcome
from plimsoll.review.groups import Group, crossed_groups
from plimsoll.review.judged_resources import only_in_total
from plimsoll.review.sentences import (
    breach_sentence,
    crossed_clause,
    how_long,
    in_phase,
    limit_of,
    place,
    should,
    subject_title,
    worst_text,
)
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.rules.wording import exactly


class Verdict(StrEnum):
    """Whether the run was good."""

    HEALTHY = "healthy"
    NOT_HEALTHY = "not-healthy"
    UNKNOWN = "unknown"


_TEXTS = {Verdict.HEALTHY: "Healthy.", Verdict.NOT_HEALTHY: "Not healthy.", Verdict.UNKNOWN: "Not known."}
_MOST_UNABLE = 3


def verdict(findings: Sequence[Finding], doubts: Sequence[Doubt]) -> Verdict:
    """Not healthy if a warning or critical threshold was crossed; unknown if there is a doubt or none was judged."""
    severe = [finding for finding in findings if finding.severe]
    if any(finding.outcome in CROSSED for finding in severe):
        return Verdict.NOT_HEALTHY
    return Verdict.UNKNOWN if doubts or not any(finding.outcome in JUDGED for finding in severe) else Verdict.HEALTHY


def verdict_text(answer: Verdict) -> str:
    """Return the verdict as the first words of the headline."""
    return _TEXTS[answer]


def headline(findings: Sequence[Finding], doubts: Sequence[Doubt], span: int, planned: Sequence[Planned] = ()) -> str:
    """What follows the verdict: the worst crossing, or why the verdict is not known, or what came closest to its limit.

    `span` is how long the run is, in ns; `planned` is what is not judged.
    """
    groups = [crossed_group for crossed_group in crossed_groups(findings) if crossed_group.severity != "info"]
    answer = verdict(findings, doubts)
    if answer == Verdict.NOT_HEALTHY:
        sentences = [group_sentence(groups[0]), *_also(groups[1:])]
    elif answer == Verdict.UNKNOWN:
        value = len({_threshold(finding) for finding in findings if finding.outcome == Outcome.HELD and finding.severe})
        but = (
            f"{counted(value, 'threshold')} held, but "
            if value
            else "No warning or critical threshold could be judged: "
        )
        sentences = [f"{but}{doubts[0].sentence}" if doubts else _nothing_judged(findings)]
        doubts = doubts[1:]
    else:
        sentences = [
            _closest(findings),
            *_coverage_if_low(findings),
            *_unable(findings),
            *only_in_total(findings),
            *_sparse(findings, span),
        ]
    return " ".join(
        [
            *sentences,
            *_changed_limits(findings),
            *_left_out(planned),
            *(doubt.sentence[:1].upper() + doubt.sentence[1:] for doubt in doubts),
        ]
    )


def _changed_limits(findings: Sequence[Finding]) -> Iterator[str]:
    """Limits that plimsoll.toml changes or switches off, where they would have been judged."""
    changed = [
        finding
        for finding in findings
        if finding.override and (finding.override.off or finding.rule != finding.override.documented)
    ]
    names = dict.fromkeys(
        finding.rule.id for finding in changed if finding.outcome in (*JUDGED, Outcome.TOO_SHORT, Outcome.OFF)
    )
    if names:
        yield f"plimsoll.toml changes {counted(len(names), 'limit')}: {listed(list(names), _MOST_UNABLE)}."


def _left_out(planned: Sequence[Planned]) -> Iterator[str]:
    """Yield what plimsoll.toml leaves out as planned work."""
    if planned:
        reasons = listed(
            [f"{printable(planned.reason)}, {duration_text(planned.end - planned.start)}" for planned in planned], 2
        )
        limits = (
            {name for planned in planned for name in planned.rules} if all(planned.rules for planned in planned) else ()
        )
        of = f" of {counted(len(limits), 'limit')}" if limits else ""
        yield f"Planned work was not judged{of}: {reasons}."


def group_sentence(group: Group) -> str:
    """Return what was crossed, on one host or on several: `... on 20 of 20 hosts, worst on WEB07: ...`."""
    worst = group.worst
    if worst.subject is None:
        raise ValueError(f"{worst.rule.id} has no subject")
    if len(group.hosts) == 1:
        instances = group.instances_on(worst.subject.host)
        title = subject_title(worst) + (f" (worst of {instances})" if instances > 1 else "")
        longer = _longer(group)
        return breach_sentence(worst, title) if longer is None else f"{title} {_both_clauses(worst, longer)}"
    where = f"{worst.signal.title} crossed its limit {group.on_hosts}, worst on {place(worst)}"
    return f"{where}, where it {crossed_clause(worst)}; it {should(worst)}."


def _longer(group: Group) -> Finding | None:
    """Return a lower limit of the same subject that was crossed for at least twice as long as the worst."""
    worst = group.worst
    findings = (
        finding for finding in group.findings if finding.subject == worst.subject and finding.severe and finding.track
    )
    longer = [
        other for other in findings if _counted(other) >= 2 * _counted(worst) and limit_of(other) != limit_of(worst)
    ]
    return max(longer, key=_counted, default=None)


def _counted(finding: Finding) -> int:
    return sum(crossing.duration for crossing in finding.counted)


def _both_clauses(worst: Finding, longer: Finding) -> str:
    """`went above 50 ms 2 times (19 min in all), at worst 81 ms, and above 25 ms throughout; it should ... 25 ms.`"""
    unit = worst.signal.unit
    higher, lower = (exactly(limit_of(finding).limit, unit) for finding in (worst, longer))
    side = "below" if limit_of(longer).worse == "lower" else "above"
    when = f"throughout{in_phase(longer).removeprefix(' in')}" if longer.share_of_time == 1 else how_long(longer)
    first = crossed_clause(worst).replace("its limit", higher, 1)
    return f"{first}, and {side} {lower} {when}; it {should(longer)}."


def _also(groups: Sequence[Group]) -> Iterator[str]:
    if groups:
        yield f"{counted(len(groups), 'more signal')} crossed {'its limit' if len(groups) == 1 else 'their limits'}."


def _nothing_judged(findings: Sequence[Finding]) -> str:
    if any(finding.outcome in JUDGED for finding in findings):
        return "None of the warning and critical thresholds could be judged: their counters are not in these logs."
    off = any(finding.outcome == Outcome.OFF for finding in findings)
    switched = ", or they are switched off in plimsoll.toml" if off else ""
    return f"None of the thresholds could be judged: their counters are not in these logs{switched}."


def _closest(findings: Sequence[Finding]) -> str:
    """Return what came closest to its limit: a brief crossing, else what has the least room left."""
    items = _within_limits(findings)
    item = "Every warning and critical threshold" if len(items) > 1 else "The one warning or critical threshold"
    item = f"{item} that could be judged held"
    closest = closest_of(findings)
    if closest is None:
        return f"{item}."
    if closest.brief:
        return f"{item}; closest was {_crossed_briefly(closest, sum(1 for finding in items if finding.brief) - 1)}"
    value = worst_text(closest, closest.nearest)
    return f"{item}; closest was {subject_title(closest)} with {value}, and it {should(closest)}."


def _within_limits(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severe and finding.outcome == Outcome.HELD]


def closest_of(findings: Sequence[Finding]) -> Finding | None:
    """Of what held, what came closest: what was crossed briefly for most of the time, else by the room left."""
    items = _within_limits(findings)
    briefly = [finding for finding in items if finding.brief]
    if briefly:
        return max(briefly, key=lambda finding: finding.share_of_time or 0)
    return min(
        (finding for finding in items if finding.room is not None),
        key=lambda finding: finding.room or 0.0,
        default=None,
    )


def _crossed_briefly(most: Finding, value: int) -> str:
    counts = f", and a crossing counts after {duration_text(most.rule.for_)}" if most.rule.for_ else ""
    were = "was" if value == 1 else "were"
    text = f" {counted(value, 'other threshold')} {were} crossed briefly, too." if value else ""
    sentence = breach_sentence(most, f"{subject_title(most)}, which").removesuffix(".")
    return f"{sentence}{counts}.{text}"


def _sparse(findings: Sequence[Finding], span: int) -> Iterator[str]:
    """Thresholds that held with data for less than half of the run: a gap, blank cells, a log that ends early."""
    names: dict[str, None] = {}
    for finding in findings:
        kept_to_phase = finding.rule.phase and finding.track is not None and finding.track.is_phase_determined
        if finding.severe and finding.outcome == Outcome.HELD and finding.track and not kept_to_phase:
            judged = finding.track.judged * EVALUATION_INTERVAL
            if 2 * judged < span:
                names[f"{subject_title(finding)} ({duration_text(judged)} of {duration_text(span)})"] = None
    if names:
        yield f"Judged for less than half of the run: {listed(list(names), _MOST_UNABLE)}."


def _threshold(finding: Finding) -> tuple[str, str]:
    """Return a rule on a host, which coverage counts as one threshold."""
    return finding.rule.id, host_key(finding.subject.host) if finding.subject else ""


def _coverage_if_low(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield how many thresholds were judged, if less than a quarter of those that apply: healthy says little then."""
    result = coverage(findings)
    if 4 * result.judged < result.thresholds:
        verb = "was" if result.judged == 1 else "were"
        yield f"Only {result.judged:,} of {result.thresholds:,} thresholds that apply {verb} judged."


def _unable(findings: Sequence[Finding]) -> Iterator[str]:
    """Warning and critical thresholds that could not have fired in this recording."""
    unable = [finding for finding in findings if finding.severe and finding.cannot_fire]
    for reason, phase in (
        ("Too little was recorded to judge", False),
        ("The phase was not judged that is meant by", True),
    ):
        items = [finding for finding in unable if (finding.outcome == Outcome.NOT_JUDGED) == phase]
        names = list(dict.fromkeys(f"{finding.signal.title} ({finding.rule.id})" for finding in items))
        if names:
            yield f"{reason} {listed(names, _MOST_UNABLE)}."
