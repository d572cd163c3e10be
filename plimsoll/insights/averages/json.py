"""Averages that mislead, as JSON."""

from typing import Literal

from pydantic import Field

from plimsoll.insights.averages.insight import describe_average
from plimsoll.insights.insights import JsonField
from plimsoll.insights.subject_part import SubjectPart
from plimsoll.model.json_part import OrZero, read_attribute


class AveragePart(SubjectPart):
    """An average that misleads."""

    sentence: str = read_attribute(describe_average)
    kind: Literal["bursts", "tail", "two levels"] = Field(
        description="bursts: most samples are zero; tail: p99 is at least five times the mean; two levels: values "
        "alternate between two levels and are hardly ever near their mean."
    )
    mean: OrZero = read_attribute("figures.mean")
    nonzero_share: OrZero = read_attribute("figures.nonzero_share")
    nonzero_mean: OrZero = read_attribute("figures.nonzero_mean")
    p99: OrZero = read_attribute("figures.p99")
    max: OrZero = read_attribute("figures.maximum")
    low: float | None = Field(description="The lower of two levels; null for other kinds.")
    high: float | None
    high_share: float | None = read_attribute("share", "The share of samples at the higher level.")


FIELD = JsonField("averages", list[AveragePart], "Averages that mislead, the worst first.")
