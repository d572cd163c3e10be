"""Limits that were crossed while what a rule demands besides was not recorded: whether it counts is not known."""

from collections.abc import Callable, Mapping, Sequence

from plimsoll.model.remark import listed
from plimsoll.model.times import duration_text
from plimsoll.review.doubts import Doubt
from plimsoll.review.findings import JUDGED, Finding, Outcome
from plimsoll.review.sentences import limit_of, subject_title
from plimsoll.rules.grid import EVERY
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import Truth

_SIDES = {"lower": "below", "higher": "above", "either": "off"}
_MOST_NAMED = 2
_WITH_VALUES = (*JUDGED, Outcome.NO_DATA, Outcome.TOO_SHORT)

IsRecorded = Callable[[str, str], bool]


def without_their_conditions(
    findings: Sequence[Finding], signals: Mapping[str, Signal], recorded: IsRecorded
) -> list[Doubt]:
    """What was past its limit for as long as counts, where another condition of the rule has no data.

    `recorded` says whether a signal was recorded on a host. A limit that another rule could judge is left out, and of
    several rules on one signal of a subject one is named.
    """
    judged = [one for one in findings if one.severe and one.subject and one.outcome in _WITH_VALUES]
    open_ = {one: past for one in judged if one.rule.and_ and (past := _time_past(one))}
    if not open_:
        return []
    settled = {_limit(one) for one in judged if not _lacking(one, recorded)}
    found: dict[object, Doubt] = {}
    for one, past in open_.items():
        if (lacking := _lacking(one, recorded)) and _limit(one) not in settled:
            side, names = _SIDES[limit_of(one).worse], [signals[name].title for name in lacking]
            reason = f"{subject_title(one)} was {side} its limit for {duration_text(past)}, which counts or not by"
            doubt = Doubt(f"{reason} {listed(names, _MOST_NAMED)}", "record that, too", about=one)
            found.setdefault((one.rule.signal, one.subject), doubt)
    return list(found.values())


def _lacking(one: Finding, recorded: IsRecorded) -> list[str]:
    """The signals of a rule's other conditions that were not recorded."""
    host = one.subject.host if one.subject else ""
    needed = [part.signal for part in one.rule.and_ if not part.if_not_recorded]
    return [name for name in dict.fromkeys(needed) if not recorded(name, host)]


def _limit(one: Finding) -> object:
    return one.rule.signal, one.subject.key if one.subject else None, limit_of(one)


def _time_past(one: Finding) -> int:
    """For how long (ns) the value was past its limit and the condition had no data; 0 if that is less than counts."""
    track = one.track
    if track is None:
        return 0
    past = ~track.healthy.holds(track.values) & (track.values == track.values) & (track.truths == Truth.NO_DATA)
    total = int(past.sum()) * EVERY
    return total if total >= one.rule.for_ and past.mean() >= one.rule.often else 0
