"""What flows through Grafana's pipeline: series, numbers, scalars, or the word that there is no data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Labels: TypeAlias = Mapping[str, str]


class Failed(Exception):
    """The evaluation is an error: the text is what Grafana would show."""


@dataclass(frozen=True)
class Series:
    """Values over time (ns) under labels; None where there is null."""

    labels: Labels
    times: tuple[int, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Number:
    """One value under labels; a scalar has none. None is null."""

    labels: Labels
    value: float | None


@dataclass(frozen=True)
class NoData:
    """A query found nothing."""

    labels: Labels = field(default_factory=dict[str, str])


Value: TypeAlias = Series | Number | NoData
Results: TypeAlias = list[Value]


def is_no_data(results: Results) -> bool:
    """Whether nothing is left."""
    return all(isinstance(one, NoData) for one in results)
