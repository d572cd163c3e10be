"""Trends in the outputs: sentences, charts, the next step, doubts, and trends that only the second of two runs has."""

from collections.abc import Callable

import numpy as np

from plimsoll.insights.insights import BESIDE_LIMITS, Insight, News, SubjectKey, build_statements
from plimsoll.insights.trends.find import SOME_LOAD, WEEK_S, Movement, SignalTrend, find_trends
from plimsoll.model.document import ChartBlock, ChartLimit, ChartSeries, ChartSpec, Section, Statement
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.model.value_text import format_percent, format_value, number
from plimsoll.review.findings import CROSSED
from plimsoll.review.review import Review
from plimsoll.review.sentences import add_subject, limit_of
from plimsoll.rules.wording import format_limit

_MOST_AHEAD = 2
_PRIVATE = "process.private_bytes"
_LEAKED = (_PRIVATE, "process.handles")
_POOLS, _MANY = ("memory.pool_nonpaged", "memory.pool_paged"), 3  # our choice: times as much as at first
# PAL's for a process, else our choice: a leak of less is no news yet
_LARGE = dict.fromkeys(_POOLS, 2**30) | {
    "process.handles": 16_384,
    "process.threads": 1000,
    "sql.user_connections": 1000,
}
_NARROW = 0.05  # our choice: of the time until a limit; a narrower interval is not shown
_SOON = 0.1  # our choice: of the time watched; what is reached before that is no later matter
_SOON_FULL = 0.25  # our choice: the same of a volume, on which all that writes fails once it is full
_ALIKE = 0.5  # our choice: of the line's change, what was recorded changed by at least so much, or twice it at most
_MOST_OF_IT = 0.5  # our choice: of the memory that is lost


def _build_blocks(trends_: tuple[SignalTrend, ...], review: Review, zone: Zone) -> tuple[Section, ...]:
    """Return a section on the first notable trends, each with a chart."""

    def statement(trend: SignalTrend, with_chart: bool) -> Statement:
        return Statement((describe_trend(trend),), _build_chart(trend, review) if with_chart else None)

    return build_statements("Trends", [trend for trend in trends_ if trend.notable], statement)


def _build_chart(trend: SignalTrend, review: Review) -> ChartBlock:
    """Return a chart of a signal and the line of its trend, and of the limit if the line reaches a limit."""
    samples = review.signals.of(trend.name)[trend.subject].between(trend.start, trend.end)
    title = add_subject(trend.signal.title, trend.subject)
    ends = Samples(np.array([trend.start, trend.end]), np.array([trend.trend.start, trend.trend.end]))
    limits = (ChartLimit.of(limit_of(trend.limit).limit, trend.signal.unit),) if trend.limit and trend.reaches_s else ()
    lines = (ChartSeries("trend", "judged", ends, "trend"), ChartSeries(title, "samples", samples))
    return ChartBlock(ChartSpec(lines, trend.signal.unit, f"{title} and its trend", limits))


def _list_news(
    first: Callable[[], tuple[SignalTrend, ...]],
    second: tuple[SignalTrend, ...],
    as_in_first: Callable[[SubjectKey], SubjectKey],
) -> list[News]:
    """Return the harmful trends of the second run, such as a leak, that the first run does not have."""
    harmful = [trend for trend in second if trend.notable and trend.signal.trend != "should_rise"]
    before = {(trend.name, trend.subject.key) for trend in first() if trend.notable} if harmful else set()
    return [
        News(trend.signal.title, describe_trend(trend))
        for trend in harmful
        if (trend.name, as_in_first(trend.subject.key)) not in before
    ]


def _describe_limits_ahead(signal_trends: tuple[SignalTrend, ...]) -> tuple[str, ...]:
    """Return sentences on limits reached within a week, the soonest first, except the limit of `_describe_doubt`."""
    leaks = [describe_trend(trend) for trend in signal_trends if _is_large_leak(trend) and trend.name not in _POOLS]
    soon = [
        (trend.reaches_s[0], f"At the rate of this run {_name(trend)} {_describe_reach(trend)}.")
        for trend in signal_trends
        if trend.notable and trend.reaches_s and trend.limit and trend.limit.outcome not in CROSSED
        if trend.passed or not _describe_doubt((trend,))
    ]
    return (*(text for seconds, text in sorted(soon)[:_MOST_AHEAD] if 0 < seconds <= WEEK_S), *leaks[:_MOST_AHEAD])


def _is_large_leak(trend: SignalTrend) -> bool:
    """Return whether what only a leak explains has grown several times as large, and is large."""
    first, last = trend.ends
    return trend.notable and last >= max(_LARGE.get(trend.name, np.inf), _MANY * first)


def _describe_next_step(signal_trends: tuple[SignalTrend, ...]) -> str:
    """Return a sentence on the process to examine, which gains most of the memory that its host loses; else empty."""
    leaks = {
        trend.subject.host: trend
        for trend in signal_trends
        if trend.name == "memory.available" and trend.notable
        if trend.reaches_s or trend.ends[1] < _MOST_OF_IT * trend.ends[0]
    }
    for host, leak in leaks.items():
        of_host = [
            trend for trend in signal_trends if trend.name in _LEAKED and trend.notable and trend.subject.host == host
        ]
        memory = [trend for trend in of_host if trend.name == _PRIVATE]
        most = max(memory, key=lambda trend: trend.trend.slope, default=None)
        if most is None or most.trend.slope < _MOST_OF_IT * -leak.trend.slope:
            continue
        grown = [trend for name in _LEAKED for trend in of_host if trend.name == name and trend.subject == most.subject]
        rates = " and ".join(_format_change(trend.per_hour[0], trend.signal.unit) for trend in grown)
        dumps = "two dumps an hour apart (`procdump -ma`, `gcore`, or of .NET `dotnet-gcdump collect`)"
        return f"Find what grows in {most.subject.instance} on {host}, which gains {rates} an hour, by {dumps}."
    return ""


def _describe_doubt(signal_trends: tuple[SignalTrend, ...]) -> str:
    """Return a clause on a signal that moves towards a limit, and was past it at the end or soon is; else empty."""
    for trend in signal_trends:
        wrong = Movement.FALLS if trend.signal.trend == "must_not_fall" else Movement.CLIMBS
        if trend.movement != wrong or trend.signal.trend == "should_rise":
            continue
        if trend.passed:
            text = format_limit(limit_of(trend.passed).limit, trend.signal.unit)
            if not trend.passed.stood_at_end:  # else that is said
                return f"{_name(trend)} {trend.movement}, and was past its limit of {text} when the recording ended"
            continue
        if trend.name in _POOLS and _is_large_leak(trend):
            before, after = (format_value(value, trend.signal.unit) for value in trend.ends)
            return f"{_name(trend)} grew from {before} to {after}, as where a driver leaks"
        limit, reaches = trend.limit, trend.reaches_s
        if trend.notable and limit and reaches and limit.outcome not in CROSSED:
            share = _SOON_FULL if trend.signal.resource == "space" else _SOON
            soon = max(limit.rule.for_, share * (trend.end - trend.start))
            if reaches[0] * SECOND <= soon:
                return f"{_name(trend)} {trend.movement}, and {_describe_reach(trend)}"
    return ""


def describe_trend(trend: SignalTrend) -> str:
    """Return a sentence on how fast a signal changes, over what time, and when it reaches its limit."""
    place, unit = _name(trend), trend.signal.unit
    title = place if place.endswith(":") else f"{place}:"
    slope, low, high = trend.per_hour
    where = f"in the {trend.phase} phase" if trend.phase else f"over {format_duration(trend.end - trend.start)}"
    if trend.movement == Movement.NONE and trend.signal.trend != "should_rise":
        sure = "" if low <= 0 <= high else "that is sure "  # with this many signals, some move by chance
        return (
            f"{title} no trend {sure}{where} (between {_format_change(low, unit)} and {_format_change(high, unit)} an "
            "hour)."
        )
    if trend.movement == Movement.NONE:
        limit = trend.limit if trend.notable else None
        should = f"; it should be above {format_limit(limit_of(limit).limit, unit)}" if limit else ""
        return f"{title} no climb that is sure {where}, with {format_value(trend.highest, unit)} at most{should}."
    way = "up" if slope > 0 else "down"
    best, least, most = (_format_change(rate, unit) for rate in (abs(slope), *sorted((abs(low), abs(high)))))
    text = (
        f"{title} {way} {best} an hour{_format_interval(least, most)} {where}{_describe_ends(trend)}"
        f"{_describe_beside_load(trend)}."
    )
    limit = limit_of(trend.limit).limit if trend.limit else None
    if trend.signal.trend == "should_rise" and limit is not None and trend.trend.start <= limit:
        text += f" While it rises it is healthy below its limit of {format_limit(limit, unit)}, too."
    reaching = _describe_reach(trend)
    if trend.passed and trend.limit is None and (slope < 0 or unit == "%"):  # past all limits: until empty, or full
        bound = 0 if slope < 0 else 100
        left = 3600 * SECOND * (bound - trend.trend.end) / slope
        is_near = 0 < left <= trend.end - trend.start
        reaching = f"is at {format_value(bound, unit)} about {format_duration(round(left))} later" if is_near else ""
    return f"{text} At this rate it {reaching}." if reaching else text


def _describe_ends(trend: SignalTrend) -> str:
    """Return `, from 8.1 GB to 4.6 GB` as recorded; empty where the load or the day moves these more."""
    first, last = trend.ends
    share = (last - first) / (trend.trend.end - trend.trend.start)
    if not _ALIKE < share < 1 / _ALIKE:
        return ""
    return f", from {format_value(first, trend.signal.unit)} to {format_value(last, trend.signal.unit)}"


def _name(trend: SignalTrend) -> str:
    return add_subject(trend.signal.title, trend.subject)


def _describe_beside_load(trend: SignalTrend) -> str:
    if trend.signal.trend == "should_rise":
        return ""
    if trend.load is None:
        return "; no load was recorded that could explain it"
    if trend.load_share < SOME_LOAD:
        return f", while {trend.load.signal.title} did not climb"
    return f", while {trend.load.signal.title} climbed by only {format_percent(trend.load_share)}"


def _describe_reach(trend: SignalTrend) -> str:
    """Return when the limit is reached: `would reach its limit of 10 % about 3 h after the last sample`; else ""."""
    if trend.reaches_s is None or trend.limit is None:
        return ""
    limit = format_limit(limit_of(trend.limit).limit, trend.signal.unit)
    best, early, late = (format_duration(round(seconds) * SECOND) for seconds in trend.reaches_s)
    is_wide = trend.reaches_s[2] - trend.reaches_s[1] > _NARROW * trend.reaches_s[0]
    interval = _format_interval(early, late) if is_wide else ""
    return f"would reach its limit of {limit} about {best}{interval} after the last sample"


def _format_change(value: float, unit: str) -> str:
    """Return a change as text with its unit; changes of percentages are in points, as `5 %` might mean a twentieth."""
    return f"{number(value)} points" if unit == "%" else format_value(value, unit)


def _format_interval(least: str, most: str) -> str:
    """Return an interval in brackets; empty if both ends have the same text."""
    return f" ({least} to {most})" if least != most else ""


INSIGHT = Insight(
    "trends",
    BESIDE_LIMITS,
    find_trends,
    _build_blocks,
    news=_list_news,
    ahead=_describe_limits_ahead,
    step=_describe_next_step,
    doubt=_describe_doubt,
)
