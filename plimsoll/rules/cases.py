"""Runs the test cases of rules: judges a case's samples and compares the result with the expected result."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from plimsoll.model.errors import suggest
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import format_duration
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.evaluations import RuleEvaluation
from plimsoll.rules.host_filter import describe_hosts, is_applicable
from plimsoll.rules.schema.field_types import Fact, parse
from plimsoll.rules.schema.pack import Case, Rule
from plimsoll.rules.schema.signal import Signal, Source
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.states import Truth, list_evaluation_times
from plimsoll.rules.subjects import Subject, is_total

_HOST = "host"
_FIELD = "value in the case"  # no recorded field has this name
_INSTANCE = "instance"
_ANYTHING, _ROWS = "anything", 60  # placeholder series and its rows, for a case that has only facts


def run_case(rule: Rule, case: Case, signals: Mapping[str, Signal]) -> str | None:
    """Return None if the case passes, else a sentence on what happened instead.

    The series of a case contain values of signals, after any rate or transform. For a derived signal the case gives its
    operands. If the rule has `drive`, the instance counts as marked with that drive.
    """
    try:
        track = _judge_case(rule, case, signals)
    except _BadCase as error:
        return str(error)
    if track is None or not track.judged:
        return (
            None
            if case.fires is None
            else f"expected {_EXPECTED[case.fires]}, but {_describe_no_data(rule, case, signals)}"
        )
    fired_at = [crossing.fired_at for crossing in track.crossings if crossing.fired_at is not None]
    if case.fires is bool(fired_at):
        return None
    unit = signals[rule.signal].unit
    happened = _explain_not_firing(rule, track, unit)
    if fired_at:
        after = f"{format_duration(fired_at[0])} into the case" if fired_at[0] else "at once"
        happened = f"it fired {after}; {_describe_extreme(track, unit)}"
    return f"expected {_EXPECTED[case.fires]}, but {happened}"


_EXPECTED = {True: "to fire", False: "to be judged and not to fire", None: "to have no data throughout"}


class _BadCase(ValueError):
    """The error that a case cannot be run; the text says why."""


def _judge_case(rule: Rule, case: Case, signals: Mapping[str, Signal]) -> RuleEvaluation | None:
    """Return the evaluation of a rule for the one subject of a case.

    None if the case lacks the rule's signal, or if its facts exclude the host from the rule.
    """
    of_fact = signals[rule.signal].fact
    if not is_applicable(rule, case.facts.get) or (of_fact and of_fact not in case.facts):
        return None
    samples = dict(_list_recorded(case, signals))
    series = list(samples) or [Series(_HOST, _ANYTHING, (), _FIELD)]
    case_signals = {**signals, **{name: _read_as_recorded(signals[name], name) for name in case.series}}
    finder = Finder(case_signals, series, lambda series: True, lambda _, fact: case.facts.get(fact))
    sample_times = [sample.times for sample in samples.values()] or [np.arange(_ROWS, dtype=np.int64) * case.interval]
    times = max(sample_times, key=len)
    at = list_evaluation_times(times, reach=max(2 * case.interval, *(condition.over for condition in rule.conditions)))
    phases = (Phase(case.phase, 0, int(at[-1])),) if case.phase else ()

    def fact_of(subject: Subject, fact: Fact) -> float:
        if fact not in case.facts:
            raise _BadCase(f"the limit scales by {fact}, which the case does not give; write facts: {{{fact}: 1}}")
        return case.facts[fact]

    judge = RuleEvaluator(finder.find, samples.__getitem__, fact_of, phases, signals)
    return next(iter(judge.evaluate(rule, lambda subject: at)), None)


def _list_recorded(case: Case, signals: Mapping[str, Signal]) -> Iterator[tuple[Series, Samples]]:
    """Yield a case's series, named like their signals, with samples from time 0 on. Raise _BadCase if any is wrong."""
    for name, text in case.series.items():
        signal = signals.get(name)
        if signal is None:
            raise _BadCase(f'its series name "{name}", which is not a signal{suggest(name, list(signals))}')
        if signal.derived:
            operands = ", ".join(signal.derived.operands)
            raise _BadCase(f'its series name "{name}", which is derived: give what it is derived from, {operands}')
        if signal.instances == "each" and is_total(case.instance):
            raise _BadCase(f'its instance "{case.instance}" stands for all the others, and {name} is kept for each')
        if signal.fact:
            raise _BadCase(f'its series name "{name}", which is a fact: write facts: {{{signal.fact}: 1}}')
        tags = ((_INSTANCE, case.instance),) if signal.instances == "each" else ()
        filled = np.array([np.nan if value is None else value for value in parse(text)])
        times = np.arange(len(filled), dtype=np.int64) * case.interval
        yield Series(_HOST, name, tags, _FIELD), Samples(times, filled)


def _read_as_recorded(signal: Signal, name: str) -> Signal:
    """Return a signal whose only source is the series that `_list_recorded` yields, without rate or transform."""
    has_instances = signal.instances == "each"
    source = Source(measurement=name, field=_FIELD, instance=_INSTANCE if has_instances else None)
    return replace(signal, sources=(source,), instances="each" if has_instances else "none")


def _describe_no_data(rule: Rule, case: Case, signals: Mapping[str, Signal]) -> str:
    """Return `it had no data`, with the reason if the phase, the facts or the series of the case show one."""
    if case.phase and rule.phase and case.phase != rule.phase:
        return f'it was not judged: it is for the phase "{rule.phase}", and the case is of "{case.phase}"'
    if not is_applicable(rule, case.facts.get):
        return f"it does not apply: it is for {describe_hosts(rule)}"
    conditions = (rule, *rule.and_) if case.phase or not rule.phase else rule.conditions
    named = [name for condition in conditions for name in list_operands(condition.signal, signals)]
    absent = [name for name in dict.fromkeys(named) if name not in case.series]
    return "it had no data" + (f": the case gives no {', '.join(absent)}" if absent else "")


def list_operands(name: str, signals: Mapping[str, Signal]) -> list[str]:
    """Return the recorded signals that a signal is derived from, at any depth: `[name]` if recorded, `[]` if a fact."""
    if signals[name].fact:
        return []
    derived = signals[name].derived
    return [leaf for operand in derived.operands for leaf in list_operands(operand, signals)] if derived else [name]


def _explain_not_firing(rule: Rule, track: RuleEvaluation, unit: str) -> str:
    """Return a sentence on why a judged rule did not fire."""
    brief = track.crossings
    if brief:
        longest = max(brief, key=lambda crossing: crossing.duration)
        lasted = f"for {format_duration(longest.duration)}" if longest.duration else "at one evaluation"
        return (
            f"it was crossed {lasted} at most, and fires after {format_duration(rule.for_)}; "
            f"{_describe_extreme(track, unit)}"
        )
    crossed = ~np.isnan(track.values) & ~track.healthy.holds(track.values)
    if crossed.any():
        lacking = "had data" if not (track.truths[crossed] == Truth.FALSE).any() else "held"
        return f"its other conditions never {lacking} while its own did; {_describe_extreme(track, unit)}"
    return f"it was never crossed; {_describe_extreme(track, unit)}"


def _describe_extreme(track: RuleEvaluation, unit: str) -> str:
    """Return the worst value and the limit as text: `the highest value was 79 %, healthy is < 80`."""
    which = {"higher": "highest", "lower": "lowest", "either": "worst"}[track.healthy.worse]
    worst = track.worst
    value = "there was no value" if np.isnan(worst) else f"the {which} value was {worst:.6g} {unit}"
    return f"{value}, healthy is {track.healthy.shown}"
