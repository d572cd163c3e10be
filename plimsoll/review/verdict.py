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
from plimsoll.rules.grid import EVERY
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
    severe = [one for one in findings if one.severe]
    if any(one.outcome in CROSSED for one in severe):
        return Verdict.NOT_HEALTHY
    return Verdict.UNKNOWN if doubts or not any(one.outcome in JUDGED for one in severe) else Verdict.HEALTHY


def verdict_text(answer: Verdict) -> str:
    """The verdict as the first words of the headline."""
    return _TEXTS[answer]


def headline(findings: Sequence[Finding], doubts: Sequence[Doubt], span: int, planned: Sequence[Planned] = ()) -> str:
    """What follows the verdict: the worst crossing, or why the verdict is not known, or what came closest to its limit.

    `span` is how long the run is, in ns; `planned` is what is not judged.
    """
    groups = [one for one in crossed_groups(findings) if one.severity != "info"]
    answer = verdict(findings, doubts)
    if answer == Verdict.NOT_HEALTHY:
        sentences = [group_sentence(groups[0]), *_also(groups[1:])]
    elif answer == Verdict.UNKNOWN:
        held = len({_threshold(one) for one in findings if one.outcome == Outcome.HELD and one.severe})
        but = (
            f"{counted(held, 'threshold')} held, but " if held else "No warning or critical threshold could be judged: "
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
            *(one.sentence[:1].upper() + one.sentence[1:] for one in doubts),
        ]
    )


def _changed_limits(findings: Sequence[Finding]) -> Iterator[str]:
    """Limits that plimsoll.toml changes or switches off, where they would have been judged."""
    changed = [one for one in findings if one.override and (one.override.off or one.rule != one.override.documented)]
    names = dict.fromkeys(one.rule.id for one in changed if one.outcome in (*JUDGED, Outcome.TOO_SHORT, Outcome.OFF))
    if names:
        yield f"plimsoll.toml changes {counted(len(names), 'limit')}: {listed(list(names), _MOST_UNABLE)}."


def _left_out(planned: Sequence[Planned]) -> Iterator[str]:
    """What plimsoll.toml leaves out as planned work."""
    if planned:
        reasons = listed([f"{printable(one.reason)}, {duration_text(one.end - one.start)}" for one in planned], 2)
        limits = {name for one in planned for name in one.rules} if all(one.rules for one in planned) else ()
        of = f" of {counted(len(limits), 'limit')}" if limits else ""
        yield f"Planned work was not judged{of}: {reasons}."


def group_sentence(group: Group) -> str:
    """What was crossed, on one host or on several: `... on 20 of 20 hosts, worst on WEB07: ...`."""
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
    """A lower limit of the same subject that was crossed for at least twice as long as the worst."""
    worst = group.worst
    others = (one for one in group.findings if one.subject == worst.subject and one.severe and one.track)
    longer = [one for one in others if _counted(one) >= 2 * _counted(worst) and limit_of(one) != limit_of(worst)]
    return max(longer, key=_counted, default=None)


def _counted(finding: Finding) -> int:
    return sum(one.duration for one in finding.counted)


def _both_clauses(worst: Finding, longer: Finding) -> str:
    """`went above 50 ms 2 times (19 min in all), at worst 81 ms, and above 25 ms throughout; it should ... 25 ms.`"""
    unit = worst.signal.unit
    higher, lower = (exactly(limit_of(one).limit, unit) for one in (worst, longer))
    side = "below" if limit_of(longer).worse == "lower" else "above"
    when = f"throughout{in_phase(longer).removeprefix(' in')}" if longer.share_of_time == 1 else how_long(longer)
    first = crossed_clause(worst).replace("its limit", higher, 1)
    return f"{first}, and {side} {lower} {when}; it {should(longer)}."


def _also(groups: Sequence[Group]) -> Iterator[str]:
    if groups:
        yield f"{counted(len(groups), 'more signal')} crossed {'its limit' if len(groups) == 1 else 'their limits'}."


def _nothing_judged(findings: Sequence[Finding]) -> str:
    if any(one.outcome in JUDGED for one in findings):
        return "None of the warning and critical thresholds could be judged: their counters are not in these logs."
    off = any(one.outcome == Outcome.OFF for one in findings)
    switched = ", or they are switched off in plimsoll.toml" if off else ""
    return f"None of the thresholds could be judged: their counters are not in these logs{switched}."


def _closest(findings: Sequence[Finding]) -> str:
    """What came closest to its limit: a brief crossing, else what has the least room left."""
    held = _held(findings)
    every = "Every warning and critical threshold" if len(held) > 1 else "The one warning or critical threshold"
    every = f"{every} that could be judged held"
    closest = closest_of(findings)
    if closest is None:
        return f"{every}."
    if closest.brief:
        return f"{every}; closest was {_crossed_briefly(closest, sum(1 for one in held if one.brief) - 1)}"
    value = worst_text(closest, closest.nearest)
    return f"{every}; closest was {subject_title(closest)} with {value}, and it {should(closest)}."


def _held(findings: Sequence[Finding]) -> list[Finding]:
    return [one for one in findings if one.severe and one.outcome == Outcome.HELD]


def closest_of(findings: Sequence[Finding]) -> Finding | None:
    """Of what held, what came closest: what was crossed briefly for most of the time, else by the room left."""
    held = _held(findings)
    briefly = [one for one in held if one.brief]
    if briefly:
        return max(briefly, key=lambda one: one.share_of_time or 0)
    return min((one for one in held if one.room is not None), key=lambda one: one.room or 0.0, default=None)


def _crossed_briefly(most: Finding, others: int) -> str:
    counts = f", and a crossing counts after {duration_text(most.rule.for_)}" if most.rule.for_ else ""
    were = "was" if others == 1 else "were"
    more = f" {counted(others, 'other threshold')} {were} crossed briefly, too." if others else ""
    sentence = breach_sentence(most, f"{subject_title(most)}, which").removesuffix(".")
    return f"{sentence}{counts}.{more}"


def _sparse(findings: Sequence[Finding], span: int) -> Iterator[str]:
    """Thresholds that held with data for less than half of the run: a gap, blank cells, a log that ends early."""
    names: dict[str, None] = {}
    for one in findings:
        kept_to_phase = one.rule.phase and one.track is not None and one.track.phase_known
        if one.severe and one.outcome == Outcome.HELD and one.track and not kept_to_phase:
            judged = one.track.judged * EVERY
            if 2 * judged < span:
                names[f"{subject_title(one)} ({duration_text(judged)} of {duration_text(span)})"] = None
    if names:
        yield f"Judged for less than half of the run: {listed(list(names), _MOST_UNABLE)}."


def _threshold(finding: Finding) -> tuple[str, str]:
    """A rule on a host, which coverage counts as one threshold."""
    return finding.rule.id, host_key(finding.subject.host) if finding.subject else ""


def _coverage_if_low(findings: Sequence[Finding]) -> Iterator[str]:
    """How many thresholds were judged, if less than a quarter of those that apply: healthy says little then."""
    found = coverage(findings)
    if 4 * found.judged < found.thresholds:
        verb = "was" if found.judged == 1 else "were"
        yield f"Only {found.judged:,} of {found.thresholds:,} thresholds that apply {verb} judged."


def _unable(findings: Sequence[Finding]) -> Iterator[str]:
    """Warning and critical thresholds that could not have fired in this recording."""
    unable = [one for one in findings if one.severe and one.cannot_fire]
    for reason, phase in (
        ("Too little was recorded to judge", False),
        ("The phase was not judged that is meant by", True),
    ):
        found = [one for one in unable if (one.outcome == Outcome.NOT_JUDGED) == phase]
        names = list(dict.fromkeys(f"{one.signal.title} ({one.rule.id})" for one in found))
        if names:
            yield f"{reason} {listed(names, _MOST_UNABLE)}."
