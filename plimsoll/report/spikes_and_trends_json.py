"""Fills the parts of a review's JSON on regular spikes, trends and averages that mislead."""

from plimsoll.insights.averages.find import MisleadingAverage
from plimsoll.insights.spikes.find import PeriodicSpikes, SignalSpikes
from plimsoll.insights.spikes.rising import LimitInSpikes, Rising
from plimsoll.insights.trends.find import SignalTrend
from plimsoll.model.times import iso
from plimsoll.report.spikes_and_trends_schema import (
    AveragePart,
    InSpikesPart,
    RisingPart,
    SpikesPart,
    SpikingPart,
    TrendPart,
)
from plimsoll.review.sentences import limit_of


def spikes_part(one: PeriodicSpikes) -> SpikesPart:
    """One rhythm."""
    return SpikesPart(
        sentence=one.sentence,
        with_it=one.with_it,
        consequence=one.consequence,
        period_s=one.period_s,
        period_reach_s=one.main.spikes.reach_s,
        first=iso(int(one.main.events.starts[0])),
        last=iso(int(one.main.events.starts[-1])),
        count=one.count,
        missing=one.main.spikes.missing,
        agreement=one.main.spikes.agreement,
        main=_spiking(one.main),
        same=[_spiking(other) for other in one.same],
        rising=[_rising(other) for other in one.rising],
        processes=[_rising(other) for other in one.processes],
        limits=[_limit(limit) for limit in one.limits],
    )


def _spiking(one: SignalSpikes) -> SpikingPart:
    return SpikingPart(
        signal=one.name,
        title=one.signal.title,
        host=one.subject.host,
        instance=one.subject.instance,
        unit=one.signal.unit,
        count=len(one.events.starts),
        typical=one.typical,
        highest=one.highest,
        level=one.spikes.level,
        width_s=one.spikes.width_s,
    )


def _rising(one: Rising) -> RisingPart:
    return RisingPart(
        signal=one.name,
        title=one.signal.title,
        host=one.subject.host,
        instance=one.subject.instance,
        unit=one.signal.unit,
        inside=one.inside,
        between=one.between,
    )


def _limit(one: LimitInSpikes) -> InSpikesPart:
    return InSpikesPart(
        rule=one.rule,
        signal=one.name,
        title=one.signal.title,
        host=one.subject.host,
        instance=one.subject.instance,
        limit=one.limit.limit,
        unit=one.signal.unit,
        highest=one.highest,
        passed=one.passed,
    )


def trend_part(one: SignalTrend) -> TrendPart:
    """One trend."""
    slope, low, high = one.per_hour
    best, early, late = one.reaches_s or (None, None, None)
    return TrendPart(
        sentence=one.sentence,
        notable=one.notable,
        signal=one.name,
        title=one.signal.title,
        host=one.subject.host,
        instance=one.subject.instance,
        unit=one.signal.unit,
        means=one.meaning,
        movement=one.movement.value,
        phase=one.phase,
        start=iso(one.start),
        end=iso(one.end),
        per_hour=slope,
        per_hour_low=low,
        per_hour_high=high,
        line_start=one.trend.start,
        line_end=one.trend.end,
        highest=one.highest,
        load=one.load.name if one.load else None,
        explained_by_load=one.explained,
        limit=limit_of(one.limit).limit if one.limit else None,
        reaches_limit_s=best,
        reaches_limit_earliest_s=early,
        reaches_limit_latest_s=late,
    )


def average_part(one: MisleadingAverage) -> AveragePart:
    """One average that misleads."""
    figures = one.figures
    return AveragePart(
        sentence=one.sentence,
        kind=one.kind,
        signal=one.name,
        title=one.signal.title,
        host=one.subject.host,
        instance=one.subject.instance,
        unit=one.signal.unit,
        mean=figures.mean or 0.0,
        nonzero_share=figures.nonzero_share or 0.0,
        nonzero_mean=figures.nonzero_mean or 0.0,
        p99=figures.p99 or 0.0,
        max=figures.maximum or 0.0,
        low=one.low,
        high=one.high,
        high_share=one.share,
    )
