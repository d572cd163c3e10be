"""Sections of the HTML report that tell several things of one kind, the first ones with a chart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from plimsoll.charts.chart import Chart
from plimsoll.insights.insight import Section

_MOST_DRAWN = 3
_MOST_TOLD = 5
T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """What is told of one of them, with a chart if it is among the first."""

    sentences: tuple[str, ...]
    chart: Chart | None


def entries(
    found: Sequence[T], sentences: Callable[[T], tuple[str, ...]], draw: Callable[[T], Chart | None]
) -> Section | None:
    """A section of the first ones; None if there are none."""
    if not found:
        return None
    shown = tuple(
        Entry(sentences(one), draw(one) if at < _MOST_DRAWN else None) for at, one in enumerate(found[:_MOST_TOLD])
    )
    return Section(shown, max(0, len(found) - _MOST_TOLD))
