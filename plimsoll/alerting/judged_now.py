"""A rule for one subject as it was after the last evaluation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import NamedTuple, overload

from plimsoll.alerting.planning import Key, Planned
from plimsoll.model.log import Times, Values
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State, States
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True, slots=True)
class JudgedNow:
    """What is known of a rule for a host or instance.

    `healthy` is the limit as it applies there, `value` the reduced value (NaN for no data), `since` (UTC ns) from when
    it is crossed if it is pending or firing. `key` is that of its alerts. `note` says what plimsoll.toml changes.
    `impossible` is the value if the signal cannot have it; it is no data then.
    """

    rule: Rule
    subject: Subject
    healthy: Healthy
    value: float
    state: State
    since: int | None
    key: Key
    note: str = ""
    impossible: float = nan


class RuleNow(NamedTuple):
    """A rule for all its subjects, a row each; the limit is None where a fact is lacking."""

    planned: Sequence[Planned]
    healthy: Sequence[Healthy | None]
    values: Values
    states: States
    since: Times
    impossible: Values


class AllJudged(Sequence[JudgedNow]):
    """All rules for all their subjects, put together when somebody first asks: many evaluations pass unseen."""

    def __init__(self, rules: Sequence[RuleNow]) -> None:
        self._rules = rules

    @overload
    def __getitem__(self, index: int) -> JudgedNow: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[JudgedNow]: ...

    def __getitem__(self, index: int | slice) -> JudgedNow | Sequence[JudgedNow]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[JudgedNow]:
        return iter(self._all)

    @cached_property
    def _all(self) -> list[JudgedNow]:
        return [one for rule in self._rules for one in _each(rule)]


def _each(rule: RuleNow) -> Iterator[JudgedNow]:
    columns = rule.values.tolist(), rule.states.tolist(), rule.since.tolist(), rule.impossible.tolist()
    for one, healthy, value, state, since, odd in zip(rule.planned, rule.healthy, *columns, strict=True):
        if healthy is not None:
            is_active = state in (State.PENDING, State.FIRING)
            begun = since if is_active else None
            yield JudgedNow(one.rule, one.subject, healthy, value, State(state), begun, one.key, one.note, odd)
