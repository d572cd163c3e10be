"""Words and symbols that the terminal, HTML and JUnit outputs share."""

import math
from collections.abc import Sequence

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.times import Zone, format_duration
from plimsoll.model.value_text import format_percent, format_value, number
from plimsoll.review.findings import CROSSED, Finding, Outcome
from plimsoll.review.phases.found_phases import FoundPhases
from plimsoll.review.review import Review
from plimsoll.review.sentences import (
    describe_crossing,
    describe_worst_reduction,
    find_worst_shown,
    format_range,
    format_threshold,
    limit_of,
    name_place,
)
from plimsoll.review.verdict import Group, count_severities, group_crossed
from plimsoll.rules.crossings import Crossing
from plimsoll.rules.schema.pack import Condition, Rule
from plimsoll.rules.wording import limit_text

_MOST = 3
WITH_REASON = (Outcome.TOO_SHORT, Outcome.NOT_JUDGED, Outcome.OFF)


def describe_scope(review: Review, zone: Zone, *, named: bool = True) -> str:
    """Return what was reviewed: time span, zone, hosts, counters, interval; if `named`, the run and its kind first."""
    parts = [f'run "{review.run.name}"'] if review.run.name and named else []
    parts += ["simulated data"] if review.run.simulated and named else []
    if review.start is not None and review.end is not None:
        when = zone.clock(review.start)
        if review.end > review.start:
            when = f"{zone.span(review.start, review.end)} ({format_duration(review.end - review.start)})"
        parts.append(f"{when}, {zone.label(review.start)}")
    hosts = review.computers
    parts += [f"host {hosts[0]}" if len(hosts) == 1 else f"{len(hosts)} hosts"] if hosts else []
    parts += ["results of a load driver"] if len(review.hosts) > len(hosts) else []
    text = f" every {format_range(review.intervals)}" if review.intervals else ""
    parts.append(f"{format_count(review.counters, 'counter')}{text}")
    if review.pauses:
        start, end, host = max(review.pauses, key=lambda pause: pause[1] - pause[0])
        of = f" of {host}" if len(hosts) > 1 else ""
        when = f"{review.clock(zone, start)}–{review.clock(zone, end)} ({format_duration(end - start)})"
        count = f", the longest of {len(review.pauses):,} pauses" if len(review.pauses) > 1 else ""
        parts.append(f"nothing recorded{of} {when}{count}")
    return " · ".join(parts)


def format_lasting(duration: int) -> str:
    """Return how long (ns) a crossing lasted, as text; `one evaluation` for a duration of 0."""
    return format_duration(duration) if duration else "one evaluation"


def describe_spans(zone: Zone, finding: Finding, crossings: Sequence[Crossing], most: int) -> str:
    """Return when the first, worst and longest crossings were, in time order, at most `most` of them.

    `10:02:50–10:07:40 (4 min 50 s) and 9 more`
    """
    limit = limit_of(finding).limit
    worst = max(crossings, key=lambda crossing: abs(crossing.worst - limit))
    fromkeys = dict.fromkeys([crossings[0], worst, *sorted(crossings, key=lambda crossing: -crossing.duration)])
    shown = sorted([*fromkeys][:most], key=lambda crossing: crossing.start)
    several = len({zone.local(crossing.start).date() for crossing in crossings}) > 1
    texts: list[str] = []
    for at, crossing in enumerate(shown):
        date = several or at == 0
        when = zone.clock(crossing.start, date=date)
        if crossing.end > crossing.start:
            when = zone.span(crossing.start, crossing.end) if date else f"{when}–{zone.clock(crossing.end, date=False)}"
        texts.append(f"{when} ({format_lasting(crossing.duration)})")
    value = len(crossings) - len(shown)
    return ", ".join(texts) + (f" and {value:,} more" if value > 0 else "")


def describe_users(finding: Finding, start: int) -> str:
    """Return the processes that used most of the resource in the breach that began at `start` (UTC ns); else empty.

    `Processor time of a process, mean while crossed (in the rest of the steady phase): sqlservr 312 % (20 %)`
    """
    processes = finding.processes
    uses = processes.by_breach.get(start, ()) if processes else ()
    if processes is None or not uses:
        return ""
    unit = processes.signal.unit
    names = (
        f"{use.instance} {format_value(use.inside, unit)}"
        + (f" ({format_value(use.otherwise, unit)})" if use.otherwise is not None else "")
        for use in uses
    )
    phase = next((use.phase for use in uses if use.otherwise is not None), None)
    rest = "" if phase is None else f" (in the rest of the {phase} phase)"
    return f"{processes.signal.title}, mean while crossed{rest}: {', '.join(names)}"


def find_host(finding: Finding) -> str:
    """Return the host of a finding; empty if its rule applies to no host."""
    return finding.subject.host if finding.subject else ""


def list_old_limits(findings: Sequence[Finding], signal: str = "") -> tuple[str, ...]:
    """Return a line for each old limit: whether it was crossed, and why it does not count.

    The line names the signal unless it is `signal`. `memory-available (> 4 MB, NT 4.0 file server) within limits,
    lowest 36 MB; an old limit, not counted: ...`
    """
    by_rule = group_pairs((finding.rule.id, finding) for finding in findings)
    lines: list[str] = []
    for rule, alike in by_rule.items():
        worst = alike[0]
        other = f"{worst.signal.title}, " if worst.rule.signal != signal else ""
        value = format_value(find_worst_shown(worst), worst.signal.unit)
        limit = f"{rule} ({other}{format_threshold(worst)}, {worst.rule.sources[0].document})"
        where = f" on {name_place(worst)}" + (f", worst of {len(alike):,}" if len(alike) > 1 else "")
        within = f"within limits, {describe_extreme(worst)} {value}"
        came = describe_crossing(worst) if worst.outcome in CROSSED else within
        lines.append(f"{limit} {came}{where}; {worst.notes[0]}")
    return tuple(lines)


def summarize_old_limits(findings: Sequence[Finding]) -> str:
    """Return old limits in one line; empty if there are none.

    `Old limits, not counted: disk-queue (≤ 3 requests) crossed, 8.52 requests; memory-available (> 4 MB) within limits`
    """
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.rule.id, finding)
    parts: list[str] = []
    for rule, finding in first.items():
        crossed = f"crossed, {format_value(find_worst_shown(finding), finding.signal.unit)}"
        state = crossed if finding.outcome in CROSSED else "within limits"
        parts.append(f"{rule} ({format_threshold(finding)}) {state}")
    return f"Old limits, not counted: {'; '.join(parts)}" if parts else ""


def describe_reason(finding: Finding) -> str:
    """Return why a finding was not judged, such as too short a recording or a rule that is off; empty if judged."""
    override = finding.override
    if finding.outcome not in WITH_REASON:
        return ""
    if override and override.off:
        return override.reason
    return next((note for note in finding.notes if override is None or note != override.note), "")


def summarize_crossed(findings: Sequence[Finding]) -> str:
    """Return the number of signals by the severity of their worst finding: `Crossed: 1 critical; 3 notes (info)`."""
    groups = group_crossed(findings)
    severe = [group for group in groups if group.worst.severe]
    notes = len(groups) - len(severe)
    also = f"; {format_count(notes, 'note')} (info)" if notes else ""
    return f"Crossed: {count_severities(severe) or 'nothing'}{also}"


def is_never_tested(finding: Finding) -> bool:
    """Return whether the further conditions of a rule were never met, so that the rule's value was never judged."""
    return finding.outcome in (Outcome.WITHIN, Outcome.TOO_SHORT) and math.isnan(finding.nearest)


def describe_condition(condition: Condition, unit: str) -> str:
    """Return how a condition is judged, in words: `mean over 1 min, for 5 min, in the steady phase`."""
    parts = [f"{condition.reduce} over {format_duration(condition.over)}" if condition.over else condition.reduce]
    if isinstance(condition, Rule):
        parts += [f"for {format_duration(condition.for_)}"] if condition.for_ else []
        parts += [f"in the {condition.phase} phase"] if condition.phase else []
        if condition.recover:
            parts.append(f"until {limit_text(condition.recover, unit, condition.scale)}")
    return ", ".join(parts)


def format_margin(finding: Finding) -> str:
    """Return how far the worst value stayed from the limit: `37.5 % room`, `crossed briefly`; empty if without meaning.

    The worst value is taken only while the rule's further conditions were met.
    """
    share = finding.room
    if share is None and finding.outcome == Outcome.WITHIN and finding.crossed_briefly:
        return "crossed briefly"
    if share is None:
        is_unmet = finding.track and not finding.track.other_conditions_hold.any()
        return "the rule's other condition was never met" if is_unmet else ""
    if share < 0:
        return "crossed briefly" if finding.outcome == Outcome.WITHIN else "crossed"
    return f"{format_percent(share)} room"


def describe_extreme(finding: Finding) -> str:
    """Return which extreme the worst value is: `highest`, `lowest 5 min mean`, `lowest 15 min maximum`.

    If only one value is healthy: `always` if no other value occurred, else `at worst`.
    """
    limit = limit_of(finding)
    only = "always" if find_worst_shown(finding) == limit.limit else "at worst"
    which = {"higher": "highest", "lower": "lowest", "either": only}[limit.worse]
    return f"{which} {describe_worst_reduction(finding)}".rstrip()


def describe_brief_crossings(finding: Finding) -> str:
    """Return the number of crossings that did not fire, and the longest: `3, longest 40 s`; empty if there are none."""
    brief = finding.brief
    longest = int(brief.durations.max(initial=0))
    return f"{number(len(brief))}{f', longest {format_duration(longest)}' if longest else ''}" if brief else ""


def describe_place(group: Group) -> str:
    """Return where a signal was crossed: `SQLSRV01, 2 E:`, `on 20 of 20 hosts, worst WEB07`.

    If several instances of one host crossed a limit, `4 instances on SQLSRV01, worst 2 E:`.
    """
    worst = group.worst.subject
    subjects = list(dict.fromkeys(finding.subject for finding in group.findings if finding.subject))
    if worst is None or len(subjects) == 1:
        return name_place(group.worst)
    if len(group.hosts) > 1:
        return f"{group.on_hosts}, worst {name_place(group.worst)}"
    return f"{number(len(subjects))} instances on {worst.host}, worst {worst.instance}"


def describe_phases(review: Review, zone: Zone) -> str:
    """Return one or two sentences on the phases found; empty if phases were set by hand or could not be found."""
    found_phases = review.phases_found
    if found_phases is None or not found_phases.signal or (found_phases.fallback and not found_phases.is_certain):
        return ""
    if not any(finding.rule.phase and finding.track for finding in review.findings):
        return "" if found_phases.fallback else found_phases.sentence
    if not found_phases.phases:
        return found_phases.sentence
    if review.judged_by_found:
        return f"{found_phases.sentence} {_describe_used(review, found_phases, zone)}"
    if review.question.whole_run:
        return f"{found_phases.sentence} Rules for the steady state were judged throughout the run, as asked."
    pattern = "%Y-%m-%dT%H:%M:%S" if _is_on_several_days(review, zone) else "%H:%M:%S"
    phase = found_phases.steady
    ends = (zone.local(at).strftime(pattern) for at in (phase.start, phase.end)) if phase else ()
    typed = f"{Parameter.STEADY} {'/'.join(ends)}"
    unsure = "This is not sure enough to judge by, so the whole run was judged"
    if not found_phases.ramped:
        unsure = "What comes before the steady state is too much for a ramp-up, so the whole run was judged"
    return f"{found_phases.sentence} {unsure}; {typed} judges by it."


def _describe_used(review: Review, found_phases: FoundPhases, zone: Zone) -> str:
    begin = found_phases.boundaries[0]
    from_ = "throughout" if begin is None else f"from {zone.clock(begin.at, date=_is_on_several_days(review, zone))} on"
    used = f"Rules for the steady state were judged {from_}"
    if begin is None:
        return f"{used}."
    used = f"{used}; {Parameter.WHOLE_RUN} judges them throughout."
    if not review.before_steady:
        return used
    crossed = dict.fromkeys(finding.signal.title for finding in review.before_steady)
    return f"{used} Past a limit before that only, and not counted: {join_names(list(crossed), _MOST)}."


def _is_on_several_days(review: Review, zone: Zone) -> bool:
    return zone.local(review.start or 0).date() != zone.local(review.end or 0).date()
