"""Why it is not known that a run is no worse, although nothing shows that it is."""

import re
from collections.abc import Iterator

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.compared_signal import Compared, Outcome
from plimsoll.comparison.counters import Counter
from plimsoll.comparison.crossings import surprises
from plimsoll.comparison.distribution_changes import Reshaped, is_gathered
from plimsoll.comparison.sentences import moved, place, title, told
from plimsoll.comparison.signal_pairs import Proposal
from plimsoll.insights.insight import News, SubjectKey
from plimsoll.insights.insights import insights
from plimsoll.model.remark import counted, listed
from plimsoll.model.series import host_key
from plimsoll.model.times import duration_text
from plimsoll.model.value_text import number
from plimsoll.review.findings import Doubt
from plimsoll.review.review import Review
from plimsoll.review.sentences import breach_sentence

# Our choices, shares of the baseline: below the first it is said, below the second nothing can be said.
_SHORT = 0.5
_TOO_SHORT = 0.25
_MOST_NAMED = 3
_MOST_COUNTERS = 2
_SUSPECT_CHANCE = 0.05
_SLOW_SUSPECT = 2.0  # times what is tolerated, of a signal too slow for any chance to be known
_MUCH_MORE = 1.5  # times the load: beyond, what an operation costs is not known to be the same


def doubts(comparison: Comparison) -> list[str]:
    """Why nothing can be said although nothing became worse; each a clause."""
    found = _load_doubts, _piled_up, _too_short, _unjudged, _lacking, _interrupted, _surprises, _hidden, _unclear
    return [clause for each in found for clause in each(comparison)]


def _piled_up(comparison: Comparison) -> Iterator[str]:
    if held := comparison.load.piled_up:
        yield f"far more were held for as much work, as if they piled up: {title(held)} {moved(held)}"


def _load_doubts(comparison: Comparison) -> Iterator[str]:
    told = comparison.load.first
    if told is None and (found := comparison.of(Outcome.LOAD)):
        names = listed(list(dict.fromkeys(title(one) for one in found)), _MOST_NAMED)
        yield f"no load was recorded in both runs, and another load may be why these differ: {names}"
    if told is None or comparison.load.is_same or comparison.load.throughput_lost or _is_merely_more(comparison):
        return
    if not told.signal.load and comparison.load.is_same is None and not comparison.of(Outcome.LOAD):
        return  # bytes, which vary by themselves, and nothing that they would explain
    same = "the load was not the same" if comparison.load.is_same is False else "the load may not have been the same"
    yield f"{same}: {title(told)} {moved(told)}"


def _is_merely_more(comparison: Comparison) -> bool:
    """Whether the load was higher, though not by far, and nothing that waits became slower with it."""
    ratios = comparison.load.ratios
    if comparison.load.is_same is not False or not ratios or not 1 <= min(ratios) <= max(ratios) <= _MUCH_MORE:
        return False
    slower = [one for one in comparison.of(Outcome.LOAD) if one.treatment.critical]
    return all(one.treatment.load == "proportion" for one in slower)


def _too_short(comparison: Comparison) -> Iterator[str]:
    text, is_too_short = length_remark(comparison)
    if is_too_short:
        yield f"{text}, too little to compare"


def _unjudged(comparison: Comparison) -> Iterator[str]:
    """Limits that the second run crossed, and of which nothing is known in the first."""
    found = [one for one in comparison.thresholds.unjudged if one in comparison.second.review.findings]
    if found:
        yield f"{comparison.second.called} crossed what could not be judged in {comparison.first.called}: " + (
            listed([one.signal.title for one in found], _MOST_NAMED)
        )


def _surprises(comparison: Comparison) -> Iterator[str]:
    """Critical limits that the second run crossed, if not for long, and the baseline by far did not."""
    if found := surprises(comparison):
        more = f", and {counted(len(found) - 1, 'more critical limit')}" if len(found) > 1 else ""
        yield f"in {comparison.second.called} {breach_sentence(found[0]).removesuffix('.')}{more}"


def suspects(comparison: Comparison) -> list[Compared]:
    """What is worse beyond its tolerance, though runs of one build may differ as much or samples are too few.

    Of several baselines none may be as bad.
    """
    return [
        one for one in comparison.of(Outcome.SPREAD, Outcome.UNCLEAR) if one.treatment.critical and _is_suspect(one)
    ]


def _is_suspect(one: Compared) -> bool:
    if not one.is_worse or (len(one.baselines) > 1 and not one.is_outside):
        return False
    if one.outcome == Outcome.SPREAD or one.between.chance < _SUSPECT_CHANCE:
        return True
    return is_gathered(one) or (one.ranks is None and len(one.baselines) == 1 and one.size >= _SLOW_SUSPECT)


def news(comparison: Comparison) -> list[News]:
    """What the insights tell of the second run that must not be, and not of the first."""
    hosts = comparison.hosts

    def as_in_first(key: SubjectKey) -> SubjectKey:
        return hosts.in_first(key) if key[0] in hosts.first_of else key

    return [
        new
        for one in insights()
        if one.news
        for new in one.news(comparison.first.insights.of(one), comparison.second.insights.of(one), as_in_first)
    ]


def hidden(comparison: Comparison) -> list[str]:
    """What means hide and what no signal knows; each a clause."""
    return list(_hidden(comparison))


def _hidden(comparison: Comparison) -> Iterator[str]:
    if noise := [one for one in comparison.reshaped if _is_noisier(one)]:
        yield told(noise[0])
    if costs := comparison.others.costs:
        names = ", ".join(counter_text(one) for one in costs[:_MOST_COUNTERS])
        more = len(costs) - _MOST_COUNTERS
        also = f", and {counted(more, 'more')}" if more > 0 else ""
        yield f"counters that no signal knows became worse by their names: {names}{also}"


def _is_noisier(one: Reshaped) -> bool:
    """Whether noise grew that matters: of what is critical, or of the load itself."""
    treatment = one.compared.treatment
    return one.what == "noise" and (treatment.critical or treatment.shape == "noise")


def counter_text(one: Counter) -> str:
    r"""`\App(_Total)\Response Time of WEB1 rose from 12 to 36`."""
    verb = "rose" if one.after > one.before else "fell"
    what = "the 99th percentile of " if one.peaks else "the increase of " if one.grows else ""
    return f"{what}{one.label} {verb} from {number(one.before)} to {number(one.after)}"


def not_compared(comparison: Comparison) -> str:
    """How many counters that no signal knows were compared, and how many were not, and why; empty without any."""
    found = comparison.others
    texts = [
        f"{counted(count, 'counter')} {why}"
        for count, why in (
            (found.constant, "constant in both runs"),
            (found.too_few, "with too few samples"),
            (len(found.only_first), f"only in {comparison.first.called}"),
            (len(found.only_second), f"only in {comparison.second.called}"),
        )
        if count
    ]
    if not texts and not found.compared:
        return ""
    rest = f"; not compared: {', '.join(texts)}" if texts else ""
    return f"{counted(found.compared, 'counter')} that no signal knows compared{rest}."


def proposed(comparison: Comparison, one: Proposal) -> str:
    """`“1 D:” of a looks like “2 D:” of b (SQL1)`, and how to say that it is."""
    second = f"{comparison.second.called} ({one.host})" if one.host else comparison.second.called
    return (
        f"“{one.first}” of {comparison.first.called} looks like “{one.second}” of {second}; "
        f"if it is, write {one.setting} under [compare.renamed] in plimsoll.toml"
    )


def _is_critical(comparison: Comparison, one: Proposal) -> bool:
    signals = comparison.first.review.question.signals
    return any(comparison.treatments.of(name, signals[name]).critical for name in one.signals)


def _lacking(comparison: Comparison) -> Iterator[str]:
    """Signals and hosts that must be there and are not."""
    for side, other, alone in zip(
        (comparison.second, comparison.first),
        (comparison.first, comparison.second),
        comparison.hosts.alone,
        strict=True,
    ):
        if alone:
            yield f"{side.called} has no host that belongs to {listed(alone, _MOST_NAMED)} of {other.called}"
    critical = [one for one in comparison.proposals if one.host and _is_critical(comparison, one)]
    if critical:
        yield f"what has another name is not compared: {proposed(comparison, critical[0])}"
    known = {one.name for one in comparison.judged}
    if lacking := [name for name in comparison.treatments.needed if name not in known]:
        yield f"{listed(lacking, _MOST_NAMED)} must be recorded in both runs, and is not"
    lost = dict.fromkeys(one.signal.title for one in comparison.lone[0] if one.signal.load == "operations")
    if lost:
        yield f"{comparison.second.called} does not record the work that was done: {listed(list(lost), _MOST_NAMED)}"
    gone = [one for one in comparison.lone[0] if comparison.treatments.of(one.name, one.signal).critical]
    every = {one.name for one in comparison.judged}
    resources = {(one.subject.key[0], one.signal.resource) for one in comparison.judged}
    names = dict.fromkeys(
        f"{one.signal.title} of {one.host}"
        for one in gone
        if one.name not in every or (one.signal.resource and (host_key(one.host), one.signal.resource) not in resources)
    )
    if names:
        yield f"{comparison.second.called} does not record {listed(list(names), _MOST_NAMED)}"


def _interrupted(comparison: Comparison) -> Iterator[str]:
    """What a review says of the second run against its being whole, and not of the first."""
    before = {_kind(one) for one in _of_recording(comparison.first.review)}
    of_second = [one.reason for one in _of_recording(comparison.second.review) if _kind(one) not in before]
    yield from (f"in {comparison.second.called} {one}" for one in dict.fromkeys(of_second))


def _of_recording(review: Review) -> tuple[Doubt, ...]:
    return *review.interruptions, *review.partly_recorded


def _kind(doubt: Doubt) -> str:
    """What is alike in both runs, where both were interrupted: never for the very same time."""
    return re.sub(r"\d[\d.,]*", "", doubt.reason)


def _unclear(comparison: Comparison) -> Iterator[str]:
    watched = [one for one in comparison.judged if one.treatment.critical]
    unclear = [one for one in watched if one.outcome == Outcome.UNCLEAR]
    needed = [one for one in unclear if one.treatment.needed]
    if needed:
        yield f"there are too few samples to tell whether {title(needed[0])} of {place(needed[0])} differs"
    elif not watched:
        yield "no signal of which one direction is worse is recorded in both runs"
    elif new := news(comparison):
        titles = dict.fromkeys(one.title for one in new)
        yield f"{comparison.second.called} has a trend that must not be: {listed(list(titles), _MOST_NAMED)}"
        if failing := [one for one in suspects(comparison) if one.treatment.shape == "failures"]:
            yield _perhaps(failing)
    elif unsure := suspects(comparison):
        yield _perhaps(unsure)
    elif 2 * len(unclear) > len(watched):
        yield (
            f"there are too few samples to tell whether {len(unclear):,} of {counted(len(watched), 'signal')} differ; "
            "record for longer"
        )


def _perhaps(unsure: list[Compared]) -> str:
    titles = dict.fromkeys(title(one) for one in unsure)
    return f"it may be chance, or not, that it is worse: {listed(list(titles), _MOST_NAMED)}"


def length_remark(comparison: Comparison) -> tuple[str, bool]:
    """Return that much less of the second run is compared, as a clause, and whether it is too little to compare.

    Empty if it is not much less.
    """
    runs = [(side.review.end or 0) - (side.review.start or 0) for side in (comparison.first, comparison.second)]
    phases = comparison.phase.first, comparison.phase.second
    first, second = (phase.end - phase.start if phase else run for phase, run in zip(phases, runs, strict=True))
    shares = [after / before if before else 1.0 for before, after in ((first, second), runs)]
    if shares[0] >= _SHORT and max(shares) >= _TOO_SHORT:
        return "", False
    of = f" of {comparison.phase.name} phase" if comparison.phase.first else ""
    text = (
        f"{comparison.second.called} has {duration_text(second)}{of}, {comparison.first.called} {duration_text(first)}"
    )
    return text, max(shares) < _TOO_SHORT
