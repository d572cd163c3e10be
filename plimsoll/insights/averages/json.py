"""Averages that mislead, as JSON."""

from typing import Literal

from pydantic import Field

from plimsoll.insights.averages.find import MisleadingAverage
from plimsoll.insights.averages.words import sentence
from plimsoll.insights.insight import JsonField, Part


class AveragePart(Part):
    """An average that misleads."""

    sentence: str
    kind: Literal["bursts", "tail", "two levels"] = Field(
        description="bursts: most samples are zero; tail: p99 is at least five times the mean; two levels: values go "
        "to and fro between two levels and are hardly ever near their mean."
    )
    signal: str
    title: str
    host: str
    instance: str | None
    unit: str
    mean: float
    nonzero_share: float
    nonzero_mean: float
    p99: float
    max: float
    low: float | None = Field(description="The lower of two levels; null for other kinds.")
    high: float | None
    high_share: float | None = Field(description="The share of samples at the higher level.")


def averages_part(found: tuple[MisleadingAverage, ...]) -> list[AveragePart]:
    """All of them."""
    return [_average(one) for one in found]


def _average(one: MisleadingAverage) -> AveragePart:
    figures = one.figures
    return AveragePart(
        sentence=sentence(one),
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


FIELD = JsonField("averages", list[AveragePart], "Averages that mislead, the worst first.", averages_part)
