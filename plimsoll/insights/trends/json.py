"""Trends, as JSON."""

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from plimsoll.insights.insights import JsonField
from plimsoll.insights.subject_part import SubjectPart
from plimsoll.insights.trends.find import SignalTrend
from plimsoll.insights.trends.insight import describe_trend
from plimsoll.model.json_part import Instant, make_optional_getter, read_attribute
from plimsoll.review.sentences import limit_of


def _make_getter(name: str, at: int) -> Callable[[SignalTrend], float | None]:
    """Return a function that returns item `at` of a trend's attribute `name`, or None if the attribute is None."""
    return lambda trend: values[at] if (values := getattr(trend, name)) else None


class TrendPart(SubjectPart):
    """The trend of a signal for which the catalogue says what a trend means (`trend` in rules/signals)."""

    sentence: str = read_attribute(describe_trend)
    notable: bool = Field(description="Whether it is worth reporting; notable trends come first.")
    means: Literal["must_not_rise", "must_not_fall", "should_rise"] = read_attribute("meaning")
    movement: Literal["climbs", "falls", "none"] = Field(
        description="climbs, falls: throughout, by at least 5 % of its level; a signal that jumps, levels off, or "
        "goes up and down does neither."
    )
    phase: str | None = Field(description="The examined phase; null for the whole run.")
    start: Instant
    end: Instant
    per_hour: float = read_attribute(_make_getter("per_hour", 0), "The change in an hour.")
    per_hour_low: float = read_attribute(
        _make_getter("per_hour", 1), "With per_hour_high the interval that holds it with 95 % confidence."
    )
    per_hour_high: float = read_attribute(_make_getter("per_hour", 2))
    line_start: float = read_attribute("trend.start", "The value of the line at `start`.")
    line_end: float = read_attribute("trend.end")
    highest: float
    load: str | None = read_attribute(
        make_optional_getter("load.name"), "The load signal it was compared with; null if none was recorded."
    )
    explained_by_load: bool = read_attribute(
        "explained", "Whether the load climbed by at least half as much, as a share."
    )
    limit: float | None = read_attribute(
        lambda trend: limit_of(trend.limit).limit if trend.limit else None,
        "The nearest limit the line leads to, or that it should be above.",
    )
    reaches_limit_s: float | None = read_attribute(
        _make_getter("reaches_s", 0),
        "When the line reaches the limit, after the last sample; null if it does not within five times the time looked "
        "at.",
    )
    reaches_limit_earliest_s: float | None = read_attribute(_make_getter("reaches_s", 1))
    reaches_limit_latest_s: float | None = read_attribute(_make_getter("reaches_s", 2))


FIELD = JsonField("trends", list[TrendPart], "")
