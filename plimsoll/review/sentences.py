"""Sentences about one finding: what was crossed, by how much, for how long, and what its limit is."""

from collections.abc import Sequence

import numpy as np

from plimsoll.model.times import duration_text
from plimsoll.model.value_text import percent, quantity
from plimsoll.review.findings import CROSSED, Finding, Outcome
from plimsoll.rules.crossings import CrossingColumns
from plimsoll.rules.evaluations import RuleEvaluation, spans_of
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.states import State, Truth
from plimsoll.rules.subjects import Subject
from plimsoll.rules.wording import exactly, is_sample, limit_text, reduced_text, reduction, should_text

_LONGER = 1.1  # our choice: times as long as the rule's conditions together
_SIDE = {"lower": "below its limit", "higher": "above its limit", "either": "off its limit"}


def breach_sentence(finding: Finding, title: str | None = None) -> str:
    """Return a sentence on a crossed limit, which begins with `title`, by default the signal and its place.

    `Page life expectancy of DB01 stayed below 1,064 s (1 min mean) throughout; it should stay above 3,600 s.`
    """
    return f"{title or subject_title(finding)} {crossed_clause(finding)}; it {should(finding)}."


def note_sentence(finding: Finding) -> str:
    """Return a sentence on a crossed limit of severity info: `... went above 15,000 /s for 1 h; a note, which ...`"""
    limit = exactly(limit_of(finding).limit, finding.signal.unit)
    clause = crossed_clause(finding)
    text = clause.replace("its limit", limit, 1) if "its limit" in clause else f"{clause}, beyond {limit}"
    return f"{subject_title(finding)} {text}; a note, which the verdict does not count."


def crossed_clause(finding: Finding) -> str:
    """Return how a limit was crossed: `went above its limit for 12 min, at worst 95 % in the steady phase`."""
    track = finding.track
    if track is None:
        raise ValueError(f"{finding.rule.id} was not judged")
    if finding.share_of_time == 1 and finding.outcome != Outcome.OFTEN and track.healthy.worse != "either":
        return _throughout(finding, track)
    worst, limit = worst_crossed(finding), track.healthy
    beyond = "to its limit" if worst == limit.limit else _SIDE["higher" if worst > limit.limit == 0 else limit.worse]
    side, at_worst = f"{beyond}{_conditions(track)}", f"at worst {worst_text(finding, worst)}"
    if finding.outcome == Outcome.OFTEN:
        return f"went {often(finding)}, {at_worst}"
    return f"went {side} {how_long(finding)}, {at_worst}{in_phase(finding)}{_not_back(finding, track)}"


def _conditions(track: RuleEvaluation) -> str:
    """Return `, with the rule's other conditions,` if the value was past its limit for clearly longer; else empty.

    Longer means by more than a tenth than the time at which all conditions of the rule were met.
    """
    past = (track.truths != Truth.NO_DATA) & ~np.isnan(track.values) & ~track.healthy.holds(track.values)
    crossed = np.count_nonzero(track.truths == Truth.TRUE)
    return ", with the rule's other conditions," if np.count_nonzero(past) > _LONGER * crossed else ""


def _not_back(finding: Finding, track: RuleEvaluation) -> str:
    """Return `, and did not come back to 20 % for 25 min` if `recover` prolonged an alert; else empty."""
    recover, longest = finding.rule.recover, int(finding.crossings.durations.max(initial=0))
    if recover is None or finding.rule.scale or longest >= finding.rule.for_:
        return ""
    active = (track.states == State.PENDING) | (track.states == State.FIRING)
    kept = max((int(track.times[span][-1] - track.times[span][0]) for span in spans_of(active)), default=0)
    if kept <= longest:
        return ""
    return f", and did not come back to {exactly(recover.limit, finding.signal.unit)} for {duration_text(kept)}"


def _throughout(finding: Finding, track: RuleEvaluation) -> str:
    """Return `stayed below 1,064 s (1 min mean) throughout the steady phase`, for a limit crossed all the time."""
    low, high = float(np.nanmin(track.values)), float(np.nanmax(track.values))
    nearest, side = (high, "below") if track.healthy.worse == "lower" else (low, "above")
    value = worst_text(finding, nearest)
    phase = in_phase(finding).removeprefix(" in")
    return f"stayed {'at' if low == high else side} {value} throughout{phase}"


def worst_crossed(finding: Finding) -> float:
    """Return the value furthest past the limit within the crossings, where all conditions of the rule were met."""
    worst = shown_crossings(finding).worst
    return float(worst[np.abs(worst - limit_of(finding).limit).argmax()]) if len(worst) else finding.worst


def worst_shown(finding: Finding) -> float:
    """Return the worst value to display: within the crossings, else while the rule's other conditions were met."""
    if finding.outcome in CROSSED:
        return worst_crossed(finding)
    return finding.worst if np.isnan(finding.nearest) else finding.nearest


def often(finding: Finding) -> str:
    """Return how long a limit was often crossed: `above its limit for 77 % of the run, never for 5 min on end`."""
    of, share = in_phase(finding).removeprefix(" in ") or "the run", percent(finding.share_of_time or 0)
    side = f"{_SIDE[limit_of(finding).worse]}{_conditions(finding.track) if finding.track else ''}"
    return f"{side} for {share} of {of}, never for {duration_text(finding.rule.for_)} on end"


def subject_title(finding: Finding) -> str:
    """Return the title and place of a finding's signal: `Disk time of SQLSRV01`, `Disk queue of SQLSRV01, 2 E:`."""
    return titled(finding.signal.title, finding.subject) if finding.subject else finding.signal.title


def titled(title: str, subject: Subject | str) -> str:
    """Return a title with its subject: `Processor time of WEB01`. A comma precedes `of` if the title has a comma."""
    return f"{title}{',' if ', ' in title else ''} of {subject}"


def place(finding: Finding) -> str:
    """Return the place of a finding: `SQLSRV01` or `SQLSRV01, 2 E:`; empty where the rule applies to no host."""
    return str(finding.subject) if finding.subject else ""


def should(finding: Finding) -> str:
    """Return what the limit, as applied to the subject, requires: `should stay above 3,600 s`."""
    return f"{should_text(limit_of(finding), finding.signal.unit)}{gained_in(finding)}"


def threshold(finding: Finding) -> str:
    """Return the limit as applied to the subject: `> 3,600 s`."""
    return f"{limit_text(limit_of(finding), finding.signal.unit)}{gained_in(finding)}"


def limit_of(finding: Finding) -> Healthy:
    """Return the limit as applied to the subject; the rule's own limit if the rule was not judged."""
    return finding.track.healthy if finding.track else finding.rule.healthy


def gained_in(finding: Finding) -> str:
    """Return ` gained in 5 min` for a rule on an increase; empty for other rules."""
    return f" gained in {window(finding)}" if finding.rule.reduce == "increase" else ""


def reduced(finding: Finding) -> str:
    """Return how the worst value was computed: `5 min mean`; empty if it is a single sample.

    The text is `mean of up to 2 min` if samples never filled a window.
    """
    reduce = finding.rule.reduce
    if is_sample(reduce, limit_of(finding)) or not (finding.track.window if finding.track else finding.rule.over):
        return ""
    if finding.covered is None:
        return reduced_text(reduce, window(finding))
    return f"{reduction(reduce)} of {f'up to {duration_text(finding.covered)}' if finding.covered else 'one sample'}"


def window(finding: Finding) -> str:
    """Return the window: `5 min`, or `1 min to 20 min` if the log has several sampling intervals."""
    if finding.track is None:
        return duration_text(finding.rule.over)
    return between((finding.track.window, *finding.track.other_windows))


def between(durations: Sequence[int]) -> str:
    """Return the range of the durations: `1 min to 20 min`, or `5 min` if all are equal."""
    return " to ".join(duration_text(value) for value in dict.fromkeys((min(durations), max(durations))))


def worst_text(finding: Finding, worst: float | None = None) -> str:
    """Return `worst`, by default the worst of all values, and how it was computed: `15.8 GB (1 min mean)`."""
    value, how = quantity(finding.worst if worst is None else worst, finding.signal.unit), reduced(finding)
    return f"{value} ({how})" if how else value


def in_phase(finding: Finding) -> str:
    """Return ` in the steady phase` if the rule was judged in one phase only; else an empty text."""
    is_known = finding.rule.phase and finding.track is not None and finding.track.is_phase_determined
    return f" in the {finding.rule.phase} phase" if is_known else ""


def how_long(finding: Finding) -> str:
    """Return how long a limit was crossed: `for 1 h 24 min`, or `3 times (41 min in all)`."""
    crossed = shown_crossings(finding)
    total = int(crossed.durations.sum())
    if len(crossed) == 1:
        return f"for {duration_text(total)}" if total else "at one evaluation"
    return f"{len(crossed)} times ({f'{duration_text(total)} in all' if total else 'one evaluation each'})"


def shown_crossings(finding: Finding) -> CrossingColumns:
    """Return the crossings that count; if none counts, all crossings."""
    return finding.counted or finding.crossings
