"""The values in Grafana's pipeline: series, numbers, scalars, or no data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Labels: TypeAlias = Mapping[str, str]


class Failed(Exception):
    """The evaluation is an error; the text is Grafana's message."""


@dataclass(frozen=True)
class Series:
    """A labelled series of values over time (ns); None is null."""

    labels: Labels
    times: tuple[int, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Number:
    """One labelled value; a scalar has no labels. None is null."""

    labels: Labels
    value: float | None


@dataclass(frozen=True)
class NoData:
    """A query found nothing."""

    labels: Labels = field(default_factory=dict[str, str])


Value: TypeAlias = Series | Number | NoData
Results: TypeAlias = list[Value]


def is_no_data(results: Results) -> bool:
    """Whether the results contain no values."""
    return all(isinstance(one, NoData) for one in results)
