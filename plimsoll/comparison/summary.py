"""The answer of a comparison and its summary: the load, what became worse or better, and what did not change."""

from enum import StrEnum

from plimsoll.comparison.compare import Comparison
from plimsoll.comparison.compared_signal import MOST_RUNS, Compared, ComparisonOutcome
from plimsoll.comparison.crossings import find_new_crossings
from plimsoll.comparison.distribution_changes import Reshaped
from plimsoll.comparison.doubts import (
    describe_length,
    find_hidden_changes,
    find_load_doubt,
    find_new_troubles,
    find_suspects,
    list_doubts,
    list_lone_operations,
)
from plimsoll.comparison.sentences import (
    describe_distribution_change,
    describe_move,
    format_interval,
    format_levels,
    format_title,
    group_by_signal,
    name_place,
)
from plimsoll.comparison.signal_settings import list_resources
from plimsoll.insights.insights import load_insights
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.value_text import format_percent, format_value
from plimsoll.review.sentences import describe_breach
from plimsoll.review.statistics import WHOLE_RUN

_ALIKE = (ComparisonOutcome.SAME, ComparisonOutcome.WITHIN)
_MOST_NAMED = 3
_FIRST_LINE = 230  # characters of a sentence that people read first
_MOST_SAME = 2
_SURROUNDINGS = ("cpu.steal",)  # what other machines of a host take, and the build does not change
_SEVERAL = 5  # baselines that show by how much runs differ


class Answer(StrEnum):
    """The answer to whether the second run is worse than the baseline; UNKNOWN if the figures do not tell."""

    WORSE = "worse"
    NOT_WORSE = "not-worse"
    UNKNOWN = "unknown"


ANSWERS = {Answer.WORSE: "Worse.", Answer.NOT_WORSE: "Not worse.", Answer.UNKNOWN: "Not known."}


def answer(comparison: Comparison) -> Answer:
    """Return whether the second run is worse; UNKNOWN if nothing shows that it is, but there is a doubt."""
    if (
        comparison.load.throughput_lost
        or list_critical(comparison)
        or find_new_crossings(comparison)
        or list_peaks(comparison)
    ):
        return Answer.WORSE
    return Answer.UNKNOWN if list_doubts(comparison) else Answer.NOT_WORSE


def list_critical(comparison: Comparison) -> list[Compared]:
    """Return the regressions of critical signals, which make the run worse."""
    return [regression for regression in comparison.regressions if regression.treatment.critical]


def list_peaks(comparison: Comparison) -> list[Reshaped]:
    """Return new stalls, and critical signals with higher peaks or bursts of failures."""
    changes = [(reshaped, reshaped.compared.treatment) for reshaped in comparison.reshaped if reshaped.shape != "noise"]
    telling = [(reshaped, of) for reshaped, of in changes if reshaped.shape == "stalls" or of.critical]
    return [reshaped for reshaped, treatment in telling if treatment.worse != "lower"]


def tell_story(comparison: Comparison) -> list[str]:
    """Return three texts: the load, what became worse or better, and what did not change (may be an empty text)."""
    return [_load(comparison), _describe_worse(comparison), _describe_same(comparison)]


def list_account(comparison: Comparison) -> list[str]:
    """Return all sentences: first the doubts, unless the answer is known or the story has them, then the story."""
    sentences = [sentence for sentence in tell_story(comparison) if sentence]
    if answer(comparison) != Answer.UNKNOWN:
        return sentences
    # A doubt is left out if a sentence already has it, or what follows its colon (`...: searches fell from 2 to 1`).
    shown = " ".join(sentences)
    left = [doubt for doubt in list_doubts(comparison) if (doubt.partition(": ")[2] or doubt) not in shown]
    if not left:
        return sentences
    first, *more = left
    while more and len(first) + len(more[0]) < _FIRST_LINE:
        first = f"{first}; {more.pop(0)}"
    also = [f"Also: {'; '.join(more)}."] if more else []
    begins_with_a_name = first.startswith((f"{comparison.first.called} ", f"{comparison.second.called} "))
    return [f"{first if begins_with_a_name else f'{first[0].upper()}{first[1:]}'}.", *also, *sentences]


def list_account_of_rows(comparison: Comparison) -> list[str]:
    """Return the sentences above the table of signals that became worse; they name the cause first, and no signal."""
    regressed = list_critical(comparison)
    if not regressed or comparison.load.throughput_lost:
        return list_account(comparison)
    count = format_count(len(group_by_signal(regressed)), "signal")
    changed = join_names([change.text for change in comparison.set_differently], _MOST_NAMED)
    sentences = [
        _describe_cause(comparison, regressed[0].name) or f"{count} became worse.",
        _load(comparison),
        _describe_failures(comparison).strip(),
        f"Set differently: {changed}." if changed else "",
        _describe_same(comparison),
    ]
    return list(filter(None, sentences))


def _load(comparison: Comparison) -> str:
    """Return the sentences on the load, with what was requested in one run alone unless the doubts have it."""
    lone = list_lone_operations(comparison) if answer(comparison) != Answer.UNKNOWN else []
    return " ".join([_describe_load(comparison), *(f"{clause}." for clause in lone)])


def _describe_load(comparison: Comparison) -> str:
    load, compared = comparison.load, comparison.load.first
    phase = "" if comparison.phase.name == WHOLE_RUN else f" in the {comparison.phase.name} phase"
    if compared is None:
        return "No load was recorded in both runs, so the differences may come from different loads."
    text = format_title(compared)
    if load.loss:
        return f"Throughput was lost in {comparison.second.called}: {load.loss.clause}."
    if lost := load.fewer:
        meanwhile = "users waited" if lost is load.answered else "connections were held"
        return (
            f"Throughput was lost{phase}: as many {meanwhile}, but {format_title(lost)} of {name_place(lost)} "
            f"{describe_move(lost)}."
        )
    if not load.is_same:
        differs = "was not" if load.is_same is False else "may not have been"
        doubt = find_load_doubt(comparison) if answer(comparison) == Answer.UNKNOWN else ""
        what_follows = doubt or "what goes with it is compared for each operation"
        return f"The load {differs} the same{phase}: {text} {describe_move(compared)}; {what_follows}."
    sure = "" if compared.precision <= compared.tolerated else ", as far as the samples tell"
    return f"The load was the same{phase}{sure}: {text} {format_levels(compared)}{format_interval(compared)}."


def _describe_worse(comparison: Comparison) -> str:
    """Return the sentences on what became worse or better, with the cause."""
    name, baseline = comparison.second.called, _describe_baseline(comparison)
    regressed = list_critical(comparison)
    signs = [regression for regression in comparison.regressions if regression not in regressed]
    better = comparison.of(ComparisonOutcome.IMPROVEMENT)
    crossed = find_new_crossings(comparison)
    if regressed:
        cause = f" {text}" if (text := _describe_cause(comparison, regressed[0].name)) else ""
        also = f"; {format_count(len(group_by_signal(better)), 'signal')} improved" if better else ""
        titles = join_names(list(dict.fromkeys(finding.signal.title for finding in crossed)), _MOST_NAMED)
        limits = f" It crossed limits that {comparison.first.called} held: {titles}." if crossed else ""
        stalls = "".join(f"{text}; " for text in _list_stalls(comparison))
        worse = f"{name} is worse than {baseline}: {stalls}{_name_signals(regressed)}{also}."
        return f"{worse}{limits}{_describe_failures(comparison)}{cause}"
    if crossed:
        first, rest = crossed[0], len(crossed) - 1
        also = f" Also crossed in it alone: {format_count(rest, 'more limit')}." if rest else ""
        cause = _describe_cause(comparison)
        return (
            f"{name} is worse than {baseline}, as it crossed what {comparison.first.called} held: "
            f"{describe_breach(first)}{also}{_describe_failures(comparison)}{f' {cause}' if cause else ''}"
        )
    if high := list_peaks(comparison):
        changes = "; ".join(describe_distribution_change(reshaped) for reshaped in high[:_MOST_NAMED])
        return f"{name} is worse than {baseline}: {changes}."
    if (new := find_new_troubles(comparison)) and not better:
        return f"In {name}, and not in {comparison.first.called}, there is a trend: {new[0].sentence}"
    if unknown := find_hidden_changes(comparison):
        return f"It is not known whether {name} is worse: {unknown[0]}."
    if unsure := find_suspects(comparison):
        return f"{name} differs from {baseline}: {_name_signals(unsure)}. {_describe_undecided(comparison, unsure)}"
    if signs:
        return f"Nothing became worse that matters by itself; of its signs {_name_signals(signs)}."
    also = "Apart from the throughput, " if comparison.load.throughput_lost else ""
    if texts := _describe_better(comparison, better):
        rest = "" if also else "; nothing became worse"
        return f"{also}{name} is better: {texts}{rest}."
    if also:
        return f"{also}nothing became worse or better."
    changed = comparison.of(ComparisonOutcome.CHANGE)
    if around := [compared for compared in changed if compared.name in _SURROUNDINGS]:
        return f"Nothing became worse or better, though the surroundings differed: {_name_signals(around)}."
    count = format_count(len(group_by_signal(changed)), "other signal")
    return f"Nothing became worse or better{f'; {count} changed: {_name_signals(changed)}' if changed else ''}."


def _describe_better(comparison: Comparison, better: list[Compared]) -> str:
    """Return what became better: signals, throughput no longer lost, limits no longer crossed; empty if nothing."""
    regained = comparison.load.regained
    texts = [_name_signals(better)] if better else []
    texts += [f"throughput is not lost ({comparison.first.called}: {regained.clause})"] if regained else []
    names = {compared.name for compared in better}
    titles = [finding.signal.title for finding in comparison.thresholds.only_first if finding.rule.signal not in names]
    if titles:
        limits = join_names(list(dict.fromkeys(titles)), _MOST_NAMED)
        texts.append(f"it stays within limits that {comparison.first.called} crossed: {limits}")
    return "; ".join(texts)


def _list_stalls(comparison: Comparison) -> list[str]:
    """Return clauses on the stalls that make the run worse."""
    return [describe_distribution_change(peak) for peak in list_peaks(comparison) if peak.shape == "stalls"]


def _describe_failures(comparison: Comparison) -> str:
    """Return sentences on bursts of failures, to follow a sentence on other reasons; empty if there are none."""
    return "".join(
        f" Also, {describe_distribution_change(peak)}." for peak in list_peaks(comparison) if peak.shape == "failures"
    )


def _describe_baseline(comparison: Comparison) -> str:
    """Return the baseline in words: the name of its only run, or `3 runs of the baseline`."""
    count = len(comparison.earlier) + 1
    return f"{format_count(count, 'run')} of the baseline" if count > 1 else comparison.first.called


def _describe_undecided(comparison: Comparison, unsure: list[Compared]) -> str:
    """Return why it is unknown whether the signals are worse, and how many baseline runs would tell."""
    spread = [compared for compared in unsure if compared.outcome == ComparisonOutcome.SPREAD]
    if not spread:
        return "There are too few independent samples to be sure."
    if any(compared.crossed_in for compared in spread):
        return f"{comparison.second.called} crossed a limit of it that {comparison.first.called} held."
    needed = spread[0].runs_needed
    if needed is not None:
        return f"Runs of one build may differ by as much; about {needed} runs of the baseline would decide it."
    alone = not comparison.earlier  # the spread of a single baseline is unknown, and may be less than assumed
    text = f"{_SEVERAL} to {MOST_RUNS} runs of the baseline would show whether they do"
    text = text if alone else f"more than {MOST_RUNS} runs of the baseline would be needed"
    return f"Runs of one build may differ by as much; {text}."


def _name_signals(compareds: list[Compared]) -> str:
    groups = group_by_signal(compareds)
    texts: list[str] = []
    for first, *others in groups[:_MOST_NAMED]:
        more = f" (and {len(others)} more)" if others else ""
        texts.append(f"{format_title(first)} of {name_place(first)}{more} {describe_move(first)}")
    rest = len(groups) - len(texts)
    return ", ".join(texts) + (f", and {format_count(rest, 'more signal')}" if rest else "")


def _describe_cause(comparison: Comparison, signal: str = "") -> str:
    """Return why the second run is worse; empty if unknown.

    The cause is from an insight, else from the rule of the signal's limit that the second run alone crossed.
    """
    sides = comparison.first.insights, comparison.second.insights
    for insight in load_insights():
        if insight.cause and (text := insight.cause(*(side.of(insight) for side in sides))):
            return text
    summaries = (f.rule.summary for f in comparison.thresholds.only_second if f.rule.signal == signal)
    return next(summaries, "")


def _describe_same(comparison: Comparison) -> str:
    text, is_too_short = describe_length(comparison)
    sentences = [part(comparison) for part in (_describe_baseline_end, _describe_unchanged, _describe_tolerated)]
    sentences += [f"{text}."] if text and not is_too_short else []
    return " ".join(filter(None, sentences))


def _describe_baseline_end(comparison: Comparison) -> str:
    """Return sentences on the accepted change that begins the baseline, and the change for the worse that ends it."""
    sentences: list[str] = []
    if accepted := comparison.accepted:
        changed = comparison.second.review.question.signals[accepted.signal].title
        sentences += [
            f"The baseline begins with {accepted.run}, whose change was accepted: {changed}, {accepted.reason}."
        ]
    if change := comparison.changed:
        before, after = (format_value(value, change.signal.unit) for value in (change.point.before, change.point.after))
        sentences += [
            f"The baseline changed with {change.run.name} and ends before it, with {comparison.first.called}: "
            f"{change.signal.title} of {change.subject} went from {before} to {after}."
        ]
    return " ".join(sentences)


def _describe_tolerated(comparison: Comparison) -> str:
    """Return a sentence on the tolerated signal that worsened most; empty if none, or if there are regressions."""
    if list_critical(comparison):
        return ""
    worse = {"higher": 1, "lower": -1, "either": 0}
    within = comparison.within_limits(ComparisonOutcome.WITHIN)
    unsure = find_suspects(comparison)
    spread = comparison.of(ComparisonOutcome.SPREAD)
    by_chance = [compared for compared in spread if compared.is_worse and compared not in unsure]
    compareds = [
        compared
        for compared in (*within, *by_chance)
        if compared.treatment.critical
        and compared.difference.value * worse[compared.treatment.worse] > comparison.load.tolerance * compared.before
        and compared.treatment.tolerance * abs(compared.before) >= compared.treatment.smallest  # else it is a trifle
    ]
    if not compareds:
        return ""
    most = max(
        compareds,
        key=lambda compared: (compared.signal.response_time, abs(compared.difference.value) / compared.tolerated),
    )
    moved = f"{most.signal.title} of {name_place(most)} {describe_move(most)}"
    if most.outcome == ComparisonOutcome.SPREAD:
        return f"{moved}; runs of one build may differ by as much."
    return f"{moved}, within the {format_percent(most.treatment.tolerance)} that are tolerated."


def _describe_unchanged(comparison: Comparison) -> str:
    """Return the sentence on what did not change, with the number of signals without enough samples."""
    same = comparison.within_limits(*_ALIKE)
    unclear = group_by_signal(comparison.within_limits(ComparisonOutcome.UNCLEAR))
    few = f" {format_count(len(unclear), 'signal')} had too few samples to tell." if unclear else ""
    compareds = list_unchanged(comparison)
    if not compareds or list_critical(comparison):  # beside regressions a count will do
        return f"{format_count(len(group_by_signal(same)), 'signal')} did not change.{few}" if same else few.strip()
    texts = [
        f"{format_title(compared)} of {name_place(compared)} "
        f"({format_levels(compared)}, no difference above {_format_amount(compared, compared.compatible)})"
        for compared in compareds[:_MOST_SAME]
    ]
    value = len(group_by_signal(same)) - len(texts)
    also = f" and {format_count(value, 'more signal')}" if value > 0 else ""
    return f"What did not change: {', '.join(texts)}{also}.{few}"


def list_unchanged(comparison: Comparison) -> list[Compared]:
    """Return the resource signals that differ on no host or instance, each for its busiest subject."""
    same = comparison.within_limits(*_ALIKE)
    groups = [[compared for compared in same if compared.name == name] for name in list_resources()]
    return [max(group, key=lambda compared: compared.first.mean.mean) for group in groups if group]


def _format_amount(compared: Compared, value: float) -> str:
    """Return a difference in the signal's unit; differences of percentages are in (percentage) points."""
    return format_value(value, "points" if compared.signal.unit == "%" else compared.signal.unit)
