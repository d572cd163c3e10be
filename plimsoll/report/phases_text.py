"""What the outputs say of phases that were found: whether rules were judged by them, and how to have it otherwise."""

from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import listed
from plimsoll.model.times import Zone
from plimsoll.review.phases.found_phases import FoundPhases
from plimsoll.review.review import Review

_MOST = 3


def phases_text(review: Review, zone: Zone) -> str:
    """A sentence or two on the phases that were found; empty if they were set by hand, or there is nothing to say."""
    found = review.phases_found
    if found is None or not found.worth_telling:
        return ""
    if not any(one.rule.phase and one.track for one in review.findings):
        return "" if found.fallback else found.sentence
    if not found.phases:
        return found.sentence
    if review.judged_by_found:
        return f"{found.sentence} {_used(review, found, zone)}"
    if review.question.whole_run:
        return f"{found.sentence} Rules for the steady state were judged throughout the run, as asked."
    typed = f"{Parameter.STEADY} {steady_typed(review, found, zone)}"
    return f"{found.sentence} This is not sure enough to judge by, so the whole run was judged; {typed} judges by it."


def _used(review: Review, found: FoundPhases, zone: Zone) -> str:
    begin = found.boundaries[0]
    from_ = "throughout" if begin is None else f"from {zone.clock(begin.at, date=_several_days(review, zone))} on"
    used = f"Rules for the steady state were judged {from_}"
    if begin is None:
        return f"{used}."
    used = f"{used}; {Parameter.WHOLE_RUN} judges them throughout."
    if not review.before_steady:
        return used
    crossed = dict.fromkeys(one.signal.title for one in review.before_steady)
    return f"{used} Past a limit before that only, and not counted: {listed(list(crossed), _MOST)}."


def steady_typed(review: Review, found: FoundPhases, zone: Zone) -> str:
    """The steady state as it is typed: `10:22:20/12:32:00`."""
    pattern = "%Y-%m-%dT%H:%M:%S" if _several_days(review, zone) else "%H:%M:%S"
    one = found.steady
    return "/".join(zone.local(at).strftime(pattern) for at in (one.start, one.end)) if one else ""


def _several_days(review: Review, zone: Zone) -> bool:
    return zone.local(review.start or 0).date() != zone.local(review.end or 0).date()
