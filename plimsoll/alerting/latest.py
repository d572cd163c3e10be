"""What live judging found last: of a rule for a subject, and of all of them in one step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

from plimsoll.alerting.planning import Key, Planned
from plimsoll.alerting.transitions import Reading, Transition
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.states import Status, Truth
from plimsoll.rules.tracks import Conditions, Matrix


@dataclass(frozen=True)
class Step:
    """What one or several evaluations brought: changes of state in order, and what is active at the last, `at`.

    `heard` are the hosts that have samples since the step before, or that came late: the evaluation, or (for these) a
    time that is not after their newest sample.
    """

    at: int
    transitions: Sequence[Transition]
    readings: Sequence[Reading]
    statuses: Mapping[Key, Status]
    heard: Mapping[str, int]


class Latest(NamedTuple):
    """The last evaluations of a rule for a subject: a row of the rule's matrix."""

    planned: Planned
    matrix: Matrix
    row: int

    @property
    def at(self) -> int:
        """The last evaluation (UTC ns)."""
        return int(self.matrix.times[-1])

    @property
    def healthy(self) -> Healthy:
        """The limit."""
        return self.matrix.healthy[self.row]

    @property
    def value(self) -> float:
        """The reduced value; NaN if there is no data."""
        return float(self.matrix.values[self.row, -1])

    @property
    def impossible(self) -> float:
        """The reduced value that cannot be; NaN if it can."""
        return float(self.matrix.impossible[self.row, -1]) if len(self.matrix.times) else nan

    @property
    def has_data(self) -> bool:
        """Whether the condition is known."""
        return bool(self.matrix.enter[self.row, -1] != Truth.NO_DATA)


def by_rule(planned: Sequence[Planned]) -> list[list[Planned]]:
    """What is planned, by rule as it applies: hosts may have limits and severities of their own."""
    found: dict[str, list[list[Planned]]] = {}
    for one in planned:
        alike = found.setdefault(one.rule.id, [])
        some = next((some for some in alike if some[0].rule is one.rule or some[0].rule == one.rule), None)
        if some is None:
            alike.append([one])
        else:
            some.append(one)
    return [some for alike in found.values() for some in alike]


def rows(found: Conditions) -> Iterator[tuple[int, Truth, Truth, float]]:
    """Each evaluation, whether the condition to enter and to stay held, and the value."""
    columns = (found.times.tolist(), found.enter.tolist(), found.stay.tolist(), found.values.tolist())
    for at, enter, stay, value in zip(*columns, strict=True):
        yield at, Truth(enter), Truth(stay), value
