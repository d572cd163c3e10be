"""Rules for their subjects as they were after the last evaluation: a column for each rule, a row for each subject."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np
from numpy.typing import NDArray

from plimsoll.alerting.rule_targets import Key, RuleTarget
from plimsoll.model.log import Times, Values
from plimsoll.model.series import HostKey
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State, States
from plimsoll.rules.subjects import Subject

CROSSED = (State.PENDING, State.FIRING)


@dataclass(frozen=True, slots=True)
class RuleState:
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


class Limits:
    """The limits of a rule for its subjects, a row each; None where a fact is lacking."""

    def __init__(self, judged: Sequence[RuleTarget | RuleState], each: list[Healthy | None]) -> None:
        self.judged = judged
        self.each = each

    @cached_property
    def rows(self) -> Mapping[Healthy, NDArray[np.intp]]:
        """The rows of each limit: most subjects have the same one."""
        found: dict[Healthy, list[int]] = {}
        for row, healthy in enumerate(self.each):
            if healthy is not None:
                found.setdefault(healthy, []).append(row)
        return {healthy: np.array(rows) for healthy, rows in found.items()}


@dataclass(frozen=True, slots=True)
class RuleStates:
    """A rule for all its subjects, a row each."""

    rule: Rule
    limits: Limits
    values: Values
    states: States
    since: Times
    impossible: Values

    @property
    def crossed(self) -> NDArray[np.bool_]:
        """Which rows are pending or firing."""
        return (self.states == State.PENDING) | (self.states == State.FIRING)

    def at(self, rows: Sequence[int]) -> Iterator[RuleState]:
        """What is known of some rows, but for those where a fact is lacking."""
        columns = (one[rows].tolist() for one in (self.values, self.states, self.since, self.impossible))
        for row, value, state, since, odd in zip(rows, *columns, strict=True):
            one, healthy = self.limits.judged[row], self.limits.each[row]
            if healthy is not None:
                begun = since if state in CROSSED else None
                yield RuleState(one.rule, one.subject, healthy, value, State(state), begun, one.key, one.note, odd)


class HostRows:
    """Where the rows of each host are. It is the same object until other subjects are judged."""

    def __init__(self, rules: Sequence[Sequence[RuleTarget | RuleState]]) -> None:
        self._rules = rules

    @cached_property
    def hosts(self) -> Sequence[HostKey]:
        """The hosts."""
        return [*dict.fromkeys(one.subject.key[0] for judged in self._rules for one in judged)]

    @cached_property
    def numbers(self) -> Sequence[NDArray[np.intp]]:
        """For each rule the host of each row, as its place in `hosts`."""
        number = {host: at for at, host in enumerate(self.hosts)}
        return [np.array([number[one.subject.key[0]] for one in judged], np.intp) for judged in self._rules]

    @cached_property
    def of_host(self) -> Mapping[HostKey, Mapping[int, Sequence[int]]]:
        """The rows of each rule on a host, by the rule's place."""
        found: dict[HostKey, dict[int, list[int]]] = {}
        for at, judged in enumerate(self._rules):
            for row, one in enumerate(judged):
                found.setdefault(one.subject.key[0], {}).setdefault(at, []).append(row)
        return found


class LatestEvaluation:
    """All rules for all their subjects. What is known of one is put together when somebody asks: few are looked at."""

    def __init__(self, rules: Sequence[RuleStates] = (), hosts: HostRows | None = None) -> None:
        self.rules = rules
        self.places = hosts or HostRows([states.limits.judged for states in rules])

    def on(self, host: HostKey) -> list[RuleState]:
        """What is judged on a host."""
        batches = self.places.of_host.get(host, {})
        return [state for rule, rows in batches.items() for state in self.rules[rule].at(rows)]

    def pending(self) -> list[RuleState]:
        """What is crossed, but not for as long yet as it takes to alert."""
        rows = (np.flatnonzero(states.states == State.PENDING).tolist() for states in self.rules)
        return [state for states, pending in zip(self.rules, rows, strict=True) for state in states.at(pending)]

    def __iter__(self) -> Iterator[RuleState]:
        return iter(self._all)

    @cached_property
    def _all(self) -> list[RuleState]:
        return [state for states in self.rules for state in states.at(range(len(states.values)))]
