"""What a comparison says, in three sentences: the load, what became worse or better, and what did not change."""

from collections.abc import Iterator
from enum import StrEnum

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.judging import Compared, Outcome
from plimsoll.comparison.sentences import by_signal, levels, moved, place, title
from plimsoll.comparison.treatments import resources
from plimsoll.insights.insight import News, SubjectKey
from plimsoll.insights.registry import insights
from plimsoll.model.remark import counted, listed
from plimsoll.model.value_text import quantity
from plimsoll.review.sentences import breach_sentence
from plimsoll.review.statistics import WHOLE_RUN

_MOST_NAMED = 3
_MOST_SAME = 2
_SUSPECT_SIZE, _SUSPECT_CHANCE = 2.0, 0.01


class Answer(StrEnum):
    """Whether the second run is worse than the first. Unknown: something that must be known is not."""

    WORSE = "worse"
    NOT_WORSE = "not-worse"
    UNKNOWN = "unknown"


ANSWERS = {Answer.WORSE: "Worse.", Answer.NOT_WORSE: "Not worse.", Answer.UNKNOWN: "Not known."}


def answer(comparison: Comparison) -> Answer:
    """Worse if a critical signal regressed, throughput was lost, or a limit was crossed that the baseline held.

    Unknown if there is a doubt.
    """
    if critical(comparison) or comparison.thresholds.only_second:
        return Answer.WORSE
    return Answer.UNKNOWN if doubts(comparison) else Answer.NOT_WORSE


def critical(comparison: Comparison) -> list[Compared]:
    """What makes the run worse: regressions of critical signals, and throughput that was lost."""
    lost = comparison.load.throughput_lost
    return [*([lost] if lost else []), *(one for one in comparison.regressions if one.treatment.critical)]


def story(comparison: Comparison) -> list[str]:
    """The sentences."""
    return [_load(comparison), _worse(comparison), _same(comparison)]


def doubts(comparison: Comparison) -> list[str]:
    """Why nothing can be said although nothing became worse; each a clause."""
    return [*_load_doubts(comparison), *_unjudged(comparison), *_lacking(comparison), *_unclear(comparison)]


def _load(comparison: Comparison) -> str:
    load, told = comparison.load, comparison.load.first
    phase = "" if comparison.phase.name == WHOLE_RUN else f" in the {comparison.phase.name} phase"
    if told is None:
        return "No load was recorded in both runs, so the differences may come from different loads."
    what = title(told)
    if load.throughput_lost:
        return f"Throughput was lost{phase}: as many connections were held, but {what} {moved(told)}."
    if load.is_same is False:
        return f"The load was not the same{phase}: {what} {moved(told)}; other differences may come from that."
    if load.is_same is None:
        return f"Whether the load was the same{phase} is not known: {what} {levels(told)}, with too few samples."
    return f"The load was the same{phase}: {what} {levels(told)}."


def _worse(comparison: Comparison) -> str:
    name = comparison.second.called
    worse, better = comparison.regressions, comparison.of(Outcome.IMPROVEMENT)
    if worse:
        cause = _cause(comparison, worse)
        also = f"; {counted(len(by_signal(better)), 'signal')} improved" if better else ""
        return f"{name} is worse: {_named(worse)}{also}.{f' {cause}' if cause else ''}"
    if crossed := comparison.thresholds.only_second:
        first, others = crossed[0], len(crossed) - 1
        more = f" Also crossed in it alone: {counted(others, 'more limit')}." if others else ""
        return f"{name} is worse, as it crossed what {comparison.first.called} held: {breach_sentence(first)}{more}"
    if (new := news(comparison)) and not better:
        return f"In {name}, and not in {comparison.first.called}, there is a trend: {new[0].sentence}"
    if unsure := suspects(comparison):
        return (
            f"It is not known whether {name} is worse: {_named(unsure)}, with too few independent samples to be sure."
        )
    also = "" if comparison.load.throughput_lost is None else "Apart from the throughput, "
    if better:
        rest = "" if also else "; nothing became worse"
        return f"{also}{name} is better: {_named(better)}{rest}."
    if also:
        return f"{also}nothing became worse or better."
    changed = comparison.of(Outcome.CHANGE)
    if changed:
        return f"Nothing became worse or better; {counted(len(by_signal(changed)), 'other signal')} changed: " + (
            f"{_named(changed)}."
        )
    return "Nothing became worse or better."


def _named(found: list[Compared]) -> str:
    groups = by_signal(found)
    texts = [_first_of(group) for group in groups[:_MOST_NAMED]]
    more = len(groups) - len(texts)
    return ", ".join(texts) + (f", and {counted(more, 'more signal')}" if more else "")


def _first_of(group: list[Compared]) -> str:
    more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
    return f"{title(group[0])} of {place(group[0])}{more} {moved(group[0])}"


def _cause(comparison: Comparison, worse: list[Compared]) -> str:
    """What an insight names that makes the second run worse, else what a limit says that only it crossed."""
    for one in insights():
        if one.cause and (text := one.cause(comparison.first.insights.of(one), comparison.second.insights.of(one))):
            return text
    signal = worse[0].name
    found = [one for one in comparison.thresholds.only_second if one.rule.signal == signal]
    return found[0].rule.summary if found else ""


def _same(comparison: Comparison) -> str:
    same = comparison.of(Outcome.SAME, Outcome.WITHIN)
    unclear = by_signal(comparison.of(Outcome.UNCLEAR))
    few = f" {counted(len(unclear), 'signal')} had too few samples to tell." if unclear else ""
    told = unchanged(comparison)
    if not told:
        return f"{counted(len(by_signal(same)), 'signal')} did not change.{few}" if same else few.strip()
    texts = [
        f"{title(one)} ({place(one)}: {levels(one)}, no difference above {_compatible(one)})"
        for one in told[:_MOST_SAME]
    ]
    more = len(by_signal(same)) - len(texts)
    also = f" and {counted(more, 'more signal')}" if more > 0 else ""
    return f"What did not change: {', '.join(texts)}{also}.{few}"


def unchanged(comparison: Comparison) -> list[Compared]:
    """The resources of which no host or instance differs: of each the busiest."""
    same = comparison.of(Outcome.SAME, Outcome.WITHIN)
    moving = {one.name for one in comparison.judged if one.outcome not in (Outcome.SAME, Outcome.WITHIN)}
    return [one for name in resources() if name not in moving for one in _busiest(same, name)]


def _busiest(same: list[Compared], name: str) -> Iterator[Compared]:
    found = [one for one in same if one.name == name]
    if found:
        yield max(found, key=lambda one: one.first.mean.mean)


def _compatible(one: Compared) -> str:
    return quantity(one.compatible, "points" if one.signal.unit == "%" else one.signal.unit)


def _load_doubts(comparison: Comparison) -> Iterator[str]:
    told = comparison.load.first
    if told is None or comparison.load.is_same or comparison.load.throughput_lost:
        return
    same = "the load was not the same" if comparison.load.is_same is False else "the load may not have been the same"
    yield f"{same}: {title(told)} {moved(told)}"


def _unjudged(comparison: Comparison) -> Iterator[str]:
    """Limits that the second run crossed, and of which nothing is known in the first."""
    found = [one for one in comparison.thresholds.unjudged if one in comparison.second.review.findings]
    if found:
        yield f"{comparison.second.called} crossed what could not be judged in {comparison.first.called}: " + (
            listed([one.signal.title for one in found], _MOST_NAMED)
        )


def suspects(comparison: Comparison) -> list[Compared]:
    """What is probably worse, though there are too few samples to be sure: of these it is not known.

    Our choice: at least twice what is tolerated, and improbable by chance on its own or too slow to tell.
    """
    return [
        one
        for one in comparison.of(Outcome.UNCLEAR)
        if one.treatment.worse == ("higher" if one.difference.value > 0 else "lower")
        and one.size >= _SUSPECT_SIZE
        and (one.difference.chance < _SUSPECT_CHANCE or one.ranks is None)
    ]


def news(comparison: Comparison) -> list[News]:
    """What the insights tell of the second run that must not be, and not of the first."""
    first_of = comparison.hosts.first_of

    def as_in_first(key: SubjectKey) -> SubjectKey:
        return first_of.get(key[0], key[0]), key[1]

    return [
        new
        for one in insights()
        if one.news
        for new in one.news(comparison.first.insights.of(one), comparison.second.insights.of(one), as_in_first)
    ]


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
    known = {one.name for one in comparison.judged}
    if lacking := [name for name in comparison.treatments.needed if name not in known]:
        yield f"{listed(lacking, _MOST_NAMED)} must be recorded in both runs, and is not"
    lost = dict.fromkeys(one.signal.title for one in comparison.lone[0] if one.signal.load == "operations")
    if lost:
        yield f"{comparison.second.called} does not record the work that was done: {listed(list(lost), _MOST_NAMED)}"
    gone = [one for one in comparison.lone[0] if comparison.treatments.of(one.name, one.signal).critical]
    every = {one.name for one in comparison.judged}
    names = dict.fromkeys(f"{one.signal.title} of {one.host}" for one in gone if one.name not in every)
    if names:
        yield f"{comparison.second.called} does not record {listed(list(names), _MOST_NAMED)}"


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
    elif unsure := suspects(comparison):
        titles = dict.fromkeys(title(one) for one in unsure)
        yield f"there are too few independent samples to tell whether it is chance: {listed(list(titles), _MOST_NAMED)}"
    elif 2 * len(unclear) > len(watched):
        yield (
            f"there are too few samples to tell whether {len(unclear):,} of {counted(len(watched), 'signal')} differ; "
            "record for longer"
        )
