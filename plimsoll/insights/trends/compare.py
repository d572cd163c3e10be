"""Trends of two runs held against each other."""

from collections.abc import Callable

from plimsoll.insights.insight import News, SubjectKey
from plimsoll.insights.trends.find import SignalTrend
from plimsoll.insights.trends.words import sentence


def news(
    first: tuple[SignalTrend, ...], second: tuple[SignalTrend, ...], as_in_first: Callable[[SubjectKey], SubjectKey]
) -> list[News]:
    """What climbs or falls in the second run and must not, as memory that is never given back, and did not before."""
    before = {(one.name, one.subject.key) for one in first if one.notable}
    return [
        News(one.signal.title, sentence(one))
        for one in second
        if one.notable and one.signal.trend != "should_rise" and (one.name, as_in_first(one.subject.key)) not in before
    ]
