"""Trends in the HTML report."""

import numpy as np

from plimsoll.charts.chart import Chart, Charts, Limit, Line
from plimsoll.insights.drawn import entries
from plimsoll.insights.insight import Section
from plimsoll.insights.trends.find import SignalTrend
from plimsoll.insights.trends.words import sentence
from plimsoll.model.samples import Samples
from plimsoll.model.times import Zone
from plimsoll.review.review import Review
from plimsoll.review.sentences import limit_of, titled


def section(
    review: Review,
    found: tuple[SignalTrend, ...],
    charts: Charts | None,
    zone: Zone,
) -> Section | None:
    """The first notable trends, each with a chart."""
    if charts is None:
        return None
    notable = [one for one in found if one.notable]
    return entries(notable, lambda one: (sentence(one),), lambda one: _chart(one, review, charts))


def _chart(one: SignalTrend, review: Review, charts: Charts) -> Chart:
    """The signal, the line through it, and the limit if the line reaches it."""
    samples = review.signals.of(one.name)[one.subject].between(one.start, one.end)
    title = titled(one.signal.title, one.subject)
    ends = Samples(np.array([one.start, one.end]), np.array([one.trend.start, one.trend.end]))
    limits = [Limit.of(limit_of(one.limit).limit, one.signal.unit)] if one.limit and one.reaches_s else []
    lines = [Line("trend", "judged", ends, "trend"), Line(title, "samples", samples)]
    return charts.add(lines, one.signal.unit, f"{title} and its trend", limits=limits)
