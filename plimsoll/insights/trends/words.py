"""Trends, in words."""

from plimsoll.insights.beside_limits import told as told_beside
from plimsoll.insights.insight import Told
from plimsoll.insights.trends.find import SOME_LOAD, WEEK_S, Movement, SignalTrend
from plimsoll.model.times import SECOND, Zone, duration_text
from plimsoll.model.value_text import number, percent, quantity
from plimsoll.review.findings import CROSSED
from plimsoll.review.sentences import limit_of, titled
from plimsoll.rules.wording import exactly

_MOST_AHEAD = 2
_PRIVATE = "process.private_bytes"
_HELD = (_PRIVATE, "process.handles")
_MOST_OF_IT = 0.5  # our choice: of the memory that is lost


def told(found: tuple[SignalTrend, ...], zone: Zone) -> Told:
    """The first notable ones."""
    return told_beside([(sentence(one),) for one in found if one.notable])


def ahead(found: tuple[SignalTrend, ...]) -> tuple[str, ...]:
    """The limits that a leak reaches within a week, the soonest first."""
    soon = [
        (one.reaches_s[0], f"At the rate of this run {titled(one.signal.title, one.subject)} reaches {_reaching(one)}.")
        for one in found
        if one.notable and one.reaches_s and one.limit and one.limit.outcome not in CROSSED
    ]
    return tuple(text for seconds, text in sorted(soon)[:_MOST_AHEAD] if 0 < seconds <= WEEK_S)


def step(found: tuple[SignalTrend, ...]) -> str:
    """Which process to watch, where memory falls towards its limit: the one that takes most of what is lost."""
    leaks = {one.subject.host: one for one in found if one.name == "memory.available" and one.notable and one.reaches_s}
    for host, leak in leaks.items():
        of_host = [one for one in found if one.name in _HELD and one.notable and one.subject.host == host]
        memory = [one for one in of_host if one.name == _PRIVATE]
        most = max(memory, key=lambda one: one.trend.slope, default=None)
        if most is None or most.trend.slope < _MOST_OF_IT * -leak.trend.slope:
            continue
        grown = [one for name in _HELD for one in of_host if one.name == name and one.subject == most.subject]
        rates = " and ".join(_change(one.per_hour[0], one.signal.unit) for one in grown)
        return f"Watch {most.subject.instance} on {host}, which gains {rates} an hour."
    return ""


def doubt(found: tuple[SignalTrend, ...]) -> str:
    """What moves to its limit and was past it at the end, or is before it would count that it is."""
    for one in found:
        if not one.notable or one.signal.trend == "should_rise":
            continue
        what = f"{one.signal.title} of {one.subject}"
        if one.passed:
            text = exactly(limit_of(one.passed).limit, one.signal.unit)
            return f"{what} {one.movement}, and had just reached its limit of {text} when the recording ended"
        limit, reaches = one.limit, one.reaches_s
        if limit and reaches and limit.outcome not in CROSSED and reaches[0] * SECOND <= limit.rule.for_:
            return f"{what} {one.movement}, and is about to reach its limit"
    return ""


def sentence(one: SignalTrend) -> str:
    """How fast it changes, over what, and when it reaches its limit."""
    place, unit = titled(one.signal.title, one.subject), one.signal.unit
    title = place if place.endswith(":") else f"{place}:"
    slope, low, high = one.per_hour
    where = f"in the {one.phase} phase" if one.phase else f"over {duration_text(one.end - one.start)}"
    if one.movement == Movement.NONE and one.signal.trend != "should_rise":
        return f"{title} no trend {where} (between {_change(low, unit)} and {_change(high, unit)} an hour)."
    if one.movement == Movement.NONE:
        should = f"; it should be above {exactly(limit_of(one.limit).limit, unit)}" if one.limit and one.notable else ""
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
    reaching = _reaching(one)
    return f" At this rate it reaches {reaching}." if reaching else ""


def _reaching(one: SignalTrend) -> str:
    """`its limit of 1,000 MB in 3 h (2 h 40 min to 3 h 30 min)`; empty if that is too far away to tell."""
    if one.reaches_s is None or one.limit is None:
        return ""
    limit = exactly(limit_of(one.limit).limit, one.signal.unit)
    best, early, late = (duration_text(int(seconds * SECOND)) for seconds in one.reaches_s)
    return f"its limit of {limit} in {best}{_between(early, late)}"


def _change(value: float, unit: str) -> str:
    """A change in the unit; that of a percentage is in points, as `5 %` might mean a twentieth of it."""
    return f"{number(value)} points" if unit == "%" else quantity(value, unit)


def _between(least: str, most: str) -> str:
    """An interval in brackets; empty where it is too narrow to see."""
    return f" ({least} to {most})" if least != most else ""
