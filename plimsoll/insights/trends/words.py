"""Trends, in words."""

from plimsoll.insights.beside_limits import told as told_beside
from plimsoll.insights.insight import Told
from plimsoll.insights.trends.find import SOME_LOAD, Movement, SignalTrend
from plimsoll.model.times import SECOND, Zone, duration_text
from plimsoll.model.value_text import number, percent, quantity
from plimsoll.review.sentences import limit_of
from plimsoll.rules.wording import exactly


def told(found: tuple[SignalTrend, ...], zone: Zone) -> Told:
    """The first notable ones."""
    return told_beside([(sentence(one),) for one in found if one.notable])


def sentence(one: SignalTrend) -> str:
    """How fast it changes, over what, and when it reaches its limit."""
    place, unit = f"{one.signal.title} of {one.subject}", one.signal.unit
    title = place if place.endswith(":") else f"{place}:"
    slope, low, high = one.per_hour
    where = f"in the {one.phase} phase" if one.phase else f"over {duration_text(one.end - one.start)}"
    if one.movement == Movement.NONE and one.signal.trend != "should_rise":
        return f"{title} no trend {where} (between {_change(low, unit)} and {_change(high, unit)} an hour)."
    if one.movement == Movement.NONE:
        should = f"; it should be above {exactly(limit_of(one.limit).limit, unit)}" if one.limit else ""
        return (
            f"{title} never above {quantity(one.highest, unit)} {where} and no climb (between "
            f"{_change(low, unit)} and {_change(high, unit)} an hour){should}."
        )
    way = "up" if slope > 0 else "down"
    best, least, most = (_change(rate, unit) for rate in (abs(slope), *sorted((abs(low), abs(high)))))
    text = (
        f"{title} {way} {best} an hour{_between(least, most)} {where}, from {quantity(one.trend.start, unit)} to "
        f"{quantity(one.trend.end, unit)}"
    )
    return f"{text}{_beside_load(one)}.{_healthy(one)}{_outlook(one)}"


def _healthy(one: SignalTrend) -> str:
    if one.signal.trend != "should_rise" or one.limit is None or one.trend.start > limit_of(one.limit).limit:
        return ""
    limit = exactly(limit_of(one.limit).limit, one.signal.unit)
    return f" While it rises it is healthy below its limit of {limit}, too."


def _beside_load(one: SignalTrend) -> str:
    if one.signal.trend == "should_rise":
        return ""
    if one.load is None:
        return "; no load was recorded that could explain it"
    if one.load_share < SOME_LOAD:
        return f", while {one.load.signal.title} did not climb"
    return f", while {one.load.signal.title} climbed by only {percent(one.load_share)}"


def _outlook(one: SignalTrend) -> str:
    if one.reaches_s is None or one.limit is None:
        return ""
    limit = exactly(limit_of(one.limit).limit, one.signal.unit)
    best, early, late = (duration_text(int(seconds * SECOND)) for seconds in one.reaches_s)
    return f" At this rate it reaches its limit of {limit} in {best}{_between(early, late)}."


def _change(value: float, unit: str) -> str:
    """A change in the unit; that of a percentage is in points, as `5 %` might mean a twentieth of it."""
    return f"{number(value)} points" if unit == "%" else quantity(value, unit)


def _between(least: str, most: str) -> str:
    """An interval in brackets; empty where it is too narrow to see."""
    return f" ({least} to {most})" if least != most else ""
