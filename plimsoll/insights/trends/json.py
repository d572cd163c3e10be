"""Trends, as JSON."""

from typing import Literal

from pydantic import Field

from plimsoll.insights.insight import JsonField, Part
from plimsoll.insights.trends.find import SignalTrend
from plimsoll.insights.trends.words import sentence
from plimsoll.model.times import iso
from plimsoll.review.sentences import limit_of


class TrendPart(Part):
    """The trend of a signal for which the catalogue says what a trend means (`trend` in rules/signals)."""

    sentence: str
    notable: bool = Field(description="Whether it is worth telling; those that are come first.")
    signal: str
    title: str
    host: str
    instance: str | None
    unit: str
    means: Literal["must_not_rise", "must_not_fall", "should_rise"]
    movement: Literal["climbs", "falls", "none"] = Field(
        description="climbs, falls: throughout, by at least 5 % of its level. Not what jumps, levels off, or goes up "
        "and down."
    )
    phase: str | None = Field(description="The phase that was looked at; null for the whole run.")
    start: str
    end: str
    per_hour: float = Field(description="The change in an hour.")
    per_hour_low: float = Field(description="With per_hour_high the interval that holds it with 95 % confidence.")
    per_hour_high: float
    line_start: float = Field(description="The value of the line at `start`.")
    line_end: float
    highest: float
    load: str | None = Field(description="The load signal it was compared with; null if none was recorded.")
    explained_by_load: bool = Field(description="Whether the load climbed by at least half as much, as a share.")
    limit: float | None = Field(description="The nearest limit the line leads to, or that it should be above.")
    reaches_limit_s: float | None = Field(
        description="When the line reaches the limit, after `end`; null if it does not within five times the time "
        "looked at."
    )
    reaches_limit_earliest_s: float | None
    reaches_limit_latest_s: float | None


def trends_part(found: tuple[SignalTrend, ...]) -> list[TrendPart]:
    """All trends."""
    return [_trend(one) for one in found]


def _trend(one: SignalTrend) -> TrendPart:
    slope, low, high = one.per_hour
    best, early, late = one.reaches_s or (None, None, None)
    return TrendPart(
        sentence=sentence(one),
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


FIELD = JsonField("trends", list[TrendPart], "", trends_part)
