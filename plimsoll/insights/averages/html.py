"""Averages that mislead in the HTML report."""

from plimsoll.charts.chart import Charts
from plimsoll.insights.averages.find import MisleadingAverage
from plimsoll.insights.averages.words import sentence
from plimsoll.insights.drawn import entries
from plimsoll.insights.insight import Section
from plimsoll.model.times import Zone
from plimsoll.review.review import Review


def section(
    review: Review,
    found: tuple[MisleadingAverage, ...],
    charts: Charts | None,
    zone: Zone,
) -> Section | None:
    """The first of them."""
    return entries(found, lambda one: (sentence(one),), lambda _: None)
