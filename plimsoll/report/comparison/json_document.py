"""Fills the JSON document of a comparison."""

from collections.abc import Iterable, Sequence

from plimsoll.analysis.quantiles import difference
from plimsoll.analysis.significance import shift
from plimsoll.comparison.compare import Comparison, Side
from plimsoll.comparison.counters import Counters
from plimsoll.comparison.doubts import doubts
from plimsoll.comparison.judging import Compared, Outcome
from plimsoll.comparison.levels import Level
from plimsoll.comparison.pairs import Lone
from plimsoll.comparison.phases import CommonPhase
from plimsoll.comparison.run_table import run_table
from plimsoll.comparison.shapes import Reshaped
from plimsoll.comparison.story import answer, story
from plimsoll.model.times import iso
from plimsoll.report.comparison.json_schema import (
    BeyondPart,
    ComparisonDocument,
    ComparisonPart,
    CounterPart,
    CountersPart,
    CrossedPart,
    HostPart,
    IntervalPart,
    LevelPart,
    LoadPart,
    PhasePart,
    RecordedPart,
    RenamedPart,
    RowPart,
    RunPart,
    SetPart,
    SignalPart,
    ThresholdsPart,
)
from plimsoll.review.findings import Finding
from plimsoll.review.sentences import breach_sentence


def document(comparisons: Sequence[Comparison]) -> ComparisonDocument:
    """The comparisons of runs with one baseline as schema plimsoll.comparison/1."""
    return ComparisonDocument(
        baseline=_run(comparisons[0].first),
        comparisons=[_comparison(one) for one in comparisons],
        table=[
            RowPart(run=row.side.name, labels=row.side.review.run.labels, cells=dict(row.cells))
            for row in run_table(comparisons)
        ],
    )


def _comparison(comparison: Comparison) -> ComparisonPart:
    load, found = comparison.load, comparison.thresholds
    phase = comparison.phase.name
    return ComparisonPart(
        run=_run(comparison.second),
        baselines=[one.name for one in comparison.baselines],
        answer=answer(comparison).value,
        story=story(comparison),
        doubts=doubts(comparison),
        phase=phase,
        phases=[_phase(one) for one in comparison.phases],
        set_differently=[
            SetPart(what=one.what, baseline=one.first, other=one.second) for one in comparison.set_differently
        ],
        load=LoadPart(
            same=load.is_same,
            throughput_lost=load.throughput_lost is not None,
            tolerance=load.tolerance,
            signals=[_signal(one, phase, None) for one in load.signals],
        ),
        counts={outcome.value: len(comparison.of(outcome)) for outcome in Outcome},
        regressions=[_signal(one, phase, comparison) for one in comparison.regressions],
        signals=[_signal(one, p.name, comparison) for p in comparison.phases for one in comparison.in_phase(p)],
        thresholds=ThresholdsPart(
            only_baseline=_crossed(found.only_first),
            only_other=_crossed(found.only_second),
            both=_crossed(one for _, one in found.both),
            unjudged=_crossed(found.unjudged),
        ),
        beyond_means=[_beyond(one) for one in comparison.reshaped],
        counters=_counters(comparison.others),
        not_compared=[one.title for one in comparison.integrating],
        only_baseline=[_recorded(one) for one in comparison.lone[0]],
        only_other=[_recorded(one) for one in comparison.lone[1]],
        hosts=[HostPart(baseline=first, other=second) for first, second in comparison.hosts.pairs],
        hosts_only_baseline=list(comparison.hosts.alone[0]),
        hosts_only_other=list(comparison.hosts.alone[1]),
        perhaps_renamed=[
            RenamedPart(baseline=one.first, other=one.second, host=one.host) for one in comparison.proposals
        ],
    )


def _run(side: Side) -> RunPart:
    review = side.review
    return RunPart(
        name=side.name,
        source=side.source,
        labels=review.run.labels,
        simulated=review.run.simulated,
        start=None if review.start is None else iso(review.start),
        end=None if review.end is None else iso(review.end),
        hosts=list(review.hosts),
        verdict=review.verdict.value,
    )


def _phase(one: CommonPhase) -> PhasePart:
    return PhasePart(
        name=one.name,
        baseline_start=iso(one.first.start) if one.first else None,
        baseline_end=iso(one.first.end) if one.first else None,
        start=iso(one.second.start) if one.second else None,
        end=iso(one.second.end) if one.second else None,
    )


def _signal(one: Compared, phase: str, comparison: Comparison | None) -> SignalPart:
    low, high = one.difference.interval()
    peaks = difference(one.first.quantile(0.95), one.second.quantile(0.95))
    return SignalPart(
        signal=one.name,
        title=one.signal.title,
        unit=one.signal.unit,
        host=one.subject.host,
        instance=one.subject.instance,
        other_host=one.other.host,
        phase=phase,
        outcome=one.outcome.value,
        critical=one.treatment.critical,
        worse=one.treatment.worse,
        tolerance=one.tolerated,
        baseline=_level(one.first),
        other=_level(one.second),
        difference=one.difference.value,
        interval=IntervalPart(low=low, high=high),
        change=one.change,
        compatible=one.compatible,
        chance=one.chance,
        shift=shift(one.first.blocks, one.second.blocks) if one.ranks else None,
        shift_chance=one.ranks.chance if one.ranks else None,
        p95_difference=peaks.value,
        p95_interval=IntervalPart(low=peaks.interval.low, high=peaks.interval.high),
        comparable_peaks=one.first.samples.interval == one.second.samples.interval,
        limit_crossed_in=comparison.thresholds.crossed_in(one) if comparison else None,
    )


def _level(level: Level) -> LevelPart:
    return LevelPart(
        mean=level.mean.mean,
        error=level.mean.error,
        samples=level.mean.samples,
        effective_samples=level.mean.effective,
        p5=level.quantile(0.05).value,
        p95=level.quantile(0.95).value,
        min=level.lowest,
        max=level.highest,
    )


def _crossed(found: Iterable[Finding]) -> list[CrossedPart]:
    return [
        CrossedPart(
            rule=one.rule.id,
            signal=one.rule.signal,
            severity=one.rule.severity,
            host=one.subject.host if one.subject else "",
            instance=one.subject.instance if one.subject else None,
            sentence=breach_sentence(one),
        )
        for one in found
    ]


def _beyond(one: Reshaped) -> BeyondPart:
    compared = one.compared
    return BeyondPart(
        what=one.what,
        signal=compared.name,
        title=compared.signal.title,
        unit=compared.signal.unit,
        host=compared.subject.host,
        instance=compared.subject.instance,
        baseline=one.before,
        other=one.after,
    )


def _counters(found: Counters) -> CountersPart:
    return CountersPart(
        compared=found.compared,
        constant=found.constant,
        too_few=found.too_few,
        only_baseline=len(found.only_first),
        only_other=len(found.only_second),
        changed=[
            CounterPart(
                counter=one.name,
                host=one.series.host,
                baseline=one.before,
                other=one.after,
                grows=one.grows,
                peaks=one.peaks,
                costs=one.costs,
            )
            for one in found.changed
        ],
    )


def _recorded(one: Lone) -> RecordedPart:
    return RecordedPart(signal=one.name, title=one.signal.title, host=one.host, instances=list(one.instances))
