"""Sentences about one finding: what was crossed, by how much, for how long, and what its limit is."""

from collections.abc import Sequence

import numpy as np

from plimsoll.model.times import format_duration
from plimsoll.model.value_text import format_percent, format_value
from plimsoll.review.findings import CROSSED, Finding, Outcome
from plimsoll.rules.crossings import CrossingColumns
from plimsoll.rules.evaluations import RuleEvaluation, find_true_spans
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.states import State, Truth
from plimsoll.rules.subjects import Subject
from plimsoll.rules.wording import describe_reduction, format_limit, is_sample, limit_text, name_reduction, should_text

_LONGER = 1.1  # our choice: times as long as the rule's conditions together
_SIDE = {"lower": "below its limit", "higher": "above its limit", "either": "off its limit"}


def describe_breach(finding: Finding, title: str | None = None) -> str:
    """Return a sentence on a crossed limit, which begins with `title`, by default the signal and its place.

    `Page life expectancy of DB01 stayed below 1,064 s (1 min mean) throughout; it should stay above 3,600 s.`
    """
    return f"{title or format_subject_title(finding)} {describe_crossing(finding)}; it {should(finding)}."


def describe_note(finding: Finding) -> str:
    """Return a sentence on a crossed limit of severity info: `... went above 15,000 /s for 1 h; a note, which ...`"""
    limit = format_limit(limit_of(finding).limit, finding.signal.unit)
    clause = describe_crossing(finding)
    text = clause.replace("its limit", limit, 1) if "its limit" in clause else f"{clause}, beyond {limit}"
    return f"{format_subject_title(finding)} {text}; a note, which the verdict does not count."


def describe_crossing(finding: Finding) -> str:
    """Return how a limit was crossed: `went above its limit for 12 min, at worst 95 % in the steady phase`."""
    track = finding.track
    if track is None:
        raise ValueError(f"{finding.rule.id} was not judged")
    if finding.share_of_time == 1 and finding.outcome != Outcome.OFTEN and track.healthy.worse != "either":
        return _describe_throughout(finding, track)
    worst, limit = find_worst_crossed(finding), track.healthy
    beyond = "to its limit" if worst == limit.limit else _SIDE["higher" if worst > limit.limit == 0 else limit.worse]
    side, at_worst = f"{beyond}{_describe_conditions(track)}", f"at worst {format_worst(finding, worst)}"
    if finding.outcome == Outcome.OFTEN:
        return f"went {describe_often(finding)}, {at_worst}"
    return (
        f"went {side} {describe_length(finding)}, "
        f"{at_worst}{describe_phase(finding)}{_describe_not_back(finding, track)}"
    )


def _describe_conditions(track: RuleEvaluation) -> str:
    """Return `, with the rule's other conditions met,` if the value was past its limit for clearly longer; else empty.

    Clearly longer: by more than a tenth longer than all conditions of the rule were met.
    """
    past = (track.truths != Truth.NO_DATA) & ~np.isnan(track.values) & ~track.healthy.holds(track.values)
    crossed = np.count_nonzero(track.truths == Truth.TRUE)
    return ", with the rule's other conditions met," if np.count_nonzero(past) > _LONGER * crossed else ""


def _describe_not_back(finding: Finding, track: RuleEvaluation) -> str:
    """Return `, and did not come back to 20 % for 25 min` if `recover` prolonged an alert; else empty."""
    recover, longest = finding.rule.recover, int(finding.crossings.durations.max(initial=0))
    if recover is None or finding.rule.scale or longest >= finding.rule.for_:
        return ""
    active = (track.states == State.PENDING) | (track.states == State.FIRING)
    kept = max((int(track.times[span][-1] - track.times[span][0]) for span in find_true_spans(active)), default=0)
    if kept <= longest:
        return ""
    return f", and did not come back to {format_limit(recover.limit, finding.signal.unit)} for {format_duration(kept)}"


def _describe_throughout(finding: Finding, track: RuleEvaluation) -> str:
    """Return `stayed below 1,064 s (1 min mean) throughout the steady phase`, for a limit crossed all the time."""
    low, high = float(np.nanmin(track.values)), float(np.nanmax(track.values))
    nearest, side = (high, "below") if track.healthy.worse == "lower" else (low, "above")
    value = format_worst(finding, nearest)
    phase = describe_phase(finding).removeprefix(" in")
    return f"stayed {'at' if low == high else side} {value} throughout{phase}"


def find_worst_crossed(finding: Finding) -> float:
    """Return the value furthest past the limit within the crossings, where all conditions of the rule were met."""
    worst = select_shown_crossings(finding).worst
    return float(worst[np.abs(worst - limit_of(finding).limit).argmax()]) if len(worst) else finding.worst


def find_worst_shown(finding: Finding) -> float:
    """Return the worst value to display: within the crossings, else while the rule's other conditions were met."""
    if finding.outcome in CROSSED:
        return find_worst_crossed(finding)
    return finding.worst if np.isnan(finding.nearest) else finding.nearest


def describe_often(finding: Finding) -> str:
    """Return how long a limit was often crossed: `above its limit for 77 % of the run, never for 5 min on end`."""
    of, share = describe_phase(finding).removeprefix(" in ") or "the run", format_percent(finding.share_of_time or 0)
    side = f"{_SIDE[limit_of(finding).worse]}{_describe_conditions(finding.track) if finding.track else ''}"
    return f"{side} for {share} of {of}, never for {format_duration(finding.rule.for_)} on end"


def format_subject_title(finding: Finding) -> str:
    """Return the title and place of a finding's signal: `Disk time of SQLSRV01`, `Disk queue of SQLSRV01, 2 E:`."""
    return add_subject(finding.signal.title, finding.subject) if finding.subject else finding.signal.title


def add_subject(title: str, subject: Subject | str) -> str:
    """Return a title with its subject: `Processor time of WEB01`. A comma precedes `of` if the title has a comma."""
    return f"{title}{',' if ', ' in title else ''} of {subject}"


def name_place(finding: Finding) -> str:
    """Return the place of a finding: `SQLSRV01` or `SQLSRV01, 2 E:`; empty where the rule applies to no host."""
    return str(finding.subject) if finding.subject else ""


def should(finding: Finding) -> str:
    """Return what the limit, as applied to the subject, requires: `should stay above 3,600 s`."""
    return f"{should_text(limit_of(finding), finding.signal.unit)}{describe_gain(finding)}"


def format_threshold(finding: Finding) -> str:
    """Return the limit as applied to the subject: `> 3,600 s`."""
    return f"{limit_text(limit_of(finding), finding.signal.unit)}{describe_gain(finding)}"


def limit_of(finding: Finding) -> Healthy:
    """Return the limit as applied to the subject; the rule's own limit if the rule was not judged."""
    return finding.track.healthy if finding.track else finding.rule.healthy


def describe_gain(finding: Finding) -> str:
    """Return ` gained in 5 min` for a rule on an increase; empty for other rules."""
    return f" gained in {format_window(finding)}" if finding.rule.reduce == "increase" else ""


def describe_worst_reduction(finding: Finding) -> str:
    """Return how the worst value was computed: `5 min mean`; empty if it is a single sample.

    The text is `mean of up to 2 min` if samples never filled a window.
    """
    reduce = finding.rule.reduce
    if is_sample(reduce, limit_of(finding)) or not (finding.track.window if finding.track else finding.rule.over):
        return ""
    if finding.covered is None:
        return describe_reduction(reduce, format_window(finding))
    return (
        f"{name_reduction(reduce)} of "
        f"{f'up to {format_duration(finding.covered)}' if finding.covered else 'one sample'}"
    )


def format_window(finding: Finding) -> str:
    """Return the window: `5 min`, or `1 min to 20 min` if the log has several sampling intervals."""
    if finding.track is None:
        return format_duration(finding.rule.over)
    return format_range((finding.track.window, *finding.track.other_windows))


def format_range(durations: Sequence[int]) -> str:
    """Return the range of the durations: `1 min to 20 min`, or `5 min` if all are equal."""
    return " to ".join(format_duration(value) for value in dict.fromkeys((min(durations), max(durations))))


def format_worst(finding: Finding, worst: float | None = None) -> str:
    """Return `worst`, by default the worst of all values, and how it was computed: `15.8 GB (1 min mean)`."""
    value, how = (
        format_value(finding.worst if worst is None else worst, finding.signal.unit),
        describe_worst_reduction(finding),
    )
    return f"{value} ({how})" if how else value


def describe_phase(finding: Finding) -> str:
    """Return ` in the steady phase` if the rule was judged in one phase only; else an empty text."""
    is_known = finding.rule.phase and finding.track is not None and finding.track.is_phase_determined
    return f" in the {finding.rule.phase} phase" if is_known else ""


def describe_length(finding: Finding) -> str:
    """Return how long a limit was crossed: `for 1 h 24 min`, or `3 times (41 min in all)`."""
    crossed = select_shown_crossings(finding)
    total = int(crossed.durations.sum())
    if len(crossed) == 1:
        return f"for {format_duration(total)}" if total else "at one evaluation"
    return f"{len(crossed)} times ({f'{format_duration(total)} in all' if total else 'one evaluation each'})"


def describe_counting(finding: Finding) -> str:
    """Return for how long a limit must be crossed to count, by the reduced values if those alone were not so for long.

    `a crossing counts after 5 min`, or `a crossing counts after 5 min of its 10 min mean`.
    """
    longest = int(select_shown_crossings(finding).durations.max(initial=0))
    of = f" of its {describe_worst_reduction(finding)}" if longest >= finding.rule.for_ else ""
    return f"a crossing counts after {format_duration(finding.rule.for_)}{of}"


def select_shown_crossings(finding: Finding) -> CrossingColumns:
    """Return the crossings that count; if none counts, all crossings."""
    return finding.counted or finding.of_samples(finding.crossings)
