"""The states of all rules after the last evaluation: a batch for each rule, with a row for each subject."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np
from numpy.typing import NDArray

from plimsoll.alerting.rule_targets import Key, RuleTarget
from plimsoll.alerting.state_changes import StateChange
from plimsoll.hosts.facts import UnknownFact
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import Times, Values
from plimsoll.model.series import HostKey
from plimsoll.rules.evaluate import RuleEvaluator, SubjectBatch
from plimsoll.rules.evaluations import ConditionMatrix
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import FIRING, NO_DATA, OK, PENDING, TRUE, State, States, Status, step
from plimsoll.rules.subjects import Subject


class RuleBatch:
    """A rule with its subjects, a row each: their conditions at the last evaluation, and their states.

    Attributes:
        states: PENDING or FIRING; OK stands for all other states.
        since: The time (UTC ns) from which the condition has been true; 0 unless pending or firing.
        worst: The worst value from `since` on while pending; NaN otherwise.
        limits: The limits of the subjects.
        values: The reduced values at the last evaluation; NaN for no data.
        has_data: Whether it could be decided at the last evaluation whether the condition was true.
        odd: The reduced values that the signal cannot have; NaN elsewhere.
        retired: Whether the host of a subject is retired, so that its samples are ignored.
    """

    def __init__(self, targets: Sequence[RuleTarget]) -> None:
        self.rule = targets[0].rule
        self.targets = targets
        self.keys: list[Key] = [target.key for target in targets]
        count = len(targets)
        self.states = np.zeros(count, dtype=np.int8)
        self.since = np.zeros(count, dtype=np.int64)
        self.worst = np.full(count, nan)
        self.limits = Limits(targets, [None] * count)
        self.values = np.full(count, nan)
        self.has_data = np.zeros(count, dtype=np.bool_)
        self.odd = np.full(count, nan)
        self.retired = np.zeros(count, dtype=np.bool_)
        self.parts: list[tuple[SubjectBatch, NDArray[np.intp]]] | None = None
        self._evaluations = 0

    @property
    def active(self) -> NDArray[np.bool_]:
        """A mask of the pending and firing rows."""
        return (self.states == PENDING) | (self.states == FIRING)

    def set(self, row: int, status: Status, worst: float = nan) -> None:
        """Replace the status of a row."""
        is_active = status.state in CROSSED
        self.states[row] = status.state if is_active else State.OK
        self.since[row] = status.since if is_active and status.since is not None else 0
        self.worst[row] = worst if status.state == State.PENDING else nan

    def intervals_changed(self, widest: int) -> None:
        """Record that sampling intervals changed, which affects windows of up to `widest` ns."""
        if min(condition.over for condition in self.rule.conditions) < widest:
            self.parts = None

    def prepare(self, judge: RuleEvaluator, evaluations: int, lacking: Callable[[RuleTarget, str], None]) -> bool:
        """Resolve the conditions for this many evaluations at once; return whether they were not resolved yet.

        `lacking` is called with each target that is not judged because a fact is unknown, and with the fact.
        """
        if self.parts is not None and evaluations <= self._evaluations:
            return False
        self.parts, self._evaluations = [*self._make_parts(judge, evaluations, lacking)], evaluations
        return True

    def advance(
        self, judge: RuleEvaluator, at: Times, covered: Callable[[RuleTarget, int], int | None]
    ) -> Iterator[StateChange]:
        """Evaluate the prepared rule at the times `at`, and yield the changes of state.

        `covered` returns how much (ns) of a rule's window samples cover at an evaluation; None for a whole window.
        """
        for part, rows in self.parts or ():
            matrix = judge.evaluate_batch(part, at)
            if self.retired[rows].any():
                matrix = matrix.without(self.retired[rows][:, np.newaxis])
            if len(matrix.times):
                self.values[rows] = matrix.values[:, -1]
                self.has_data[rows] = matrix.enter[:, -1] != NO_DATA
                self.odd[rows] = matrix.impossible[:, -1]
            if self.states[rows].any() or (matrix.enter == TRUE).any():
                yield from self._step(matrix, rows, covered)

    def _make_parts(
        self, judge: RuleEvaluator, evaluations: int, lacking: Callable[[RuleTarget, str], None]
    ) -> Iterator[tuple[SubjectBatch, NDArray[np.intp]]]:
        parts = [(target.subject, target.origin) for target in self.targets]
        self.limits = Limits(self.targets, [*self.limits.by_row])  # pages may be reading the last ones
        try:
            yield from self._place_parts([*judge.split_batches(self.rule, parts, evaluations)], [*range(len(parts))])
        except UnknownFact:
            for row, part in enumerate(parts):
                try:
                    yield from self._place_parts([*judge.split_batches(self.rule, [part], evaluations)], [row])
                except UnknownFact as unknown:
                    lacking(self.targets[row], unknown.fact)

    def _place_parts(
        self, parts: Sequence[SubjectBatch], rows: Sequence[int]
    ) -> Iterator[tuple[SubjectBatch, NDArray[np.intp]]]:
        at = 0
        for part in parts:
            of_part = rows[at : at + len(part.subjects)]
            at += len(of_part)
            for row, healthy in zip(of_part, part.limits.limits, strict=True):
                self.limits.by_row[row] = healthy
            yield part, np.array(of_part)

    def _step(
        self, matrix: ConditionMatrix, rows: NDArray[np.intp], covered: Callable[[RuleTarget, int], int | None]
    ) -> Iterator[StateChange]:
        """Step the states of `rows` through the evaluations of a matrix, and yield the changes of state."""
        for column, at in enumerate(matrix.times.tolist()):
            before, values = self.states[rows], matrix.values[:, column]
            after, since = step(
                before, self.since[rows], at, matrix.enter[:, column], matrix.stay[:, column], self.rule.for_
            )
            active = (after == PENDING) | (after == FIRING)
            kept = np.where(active, after, OK)
            self._worsen(rows, np.flatnonzero(active & (before != FIRING)), matrix, column)
            self.states[rows], self.since[rows] = kept, since
            for place in np.flatnonzero(kept != before).tolist():
                target, row, crossed = self.targets[rows[place]], rows[place], bool(active[place])
                yield StateChange(
                    at,
                    self.rule,
                    target.subject,
                    State(int(before[place])),
                    State(int(after[place])),
                    int(since[place]) if crossed else None,
                    float(values[place]),
                    matrix.healthy[place],
                    target.note,
                    covered(target, at),
                    float(self.worst[row]) if crossed else nan,
                )
            self.worst[rows[after != PENDING]] = nan

    def _worsen(self, rows: NDArray[np.intp], pending: NDArray[np.intp], matrix: ConditionMatrix, column: int) -> None:
        """Update the worst values, at one evaluation, of the rows that are pending or begin to fire."""
        if not len(pending):
            return
        worsening, values = rows[pending], matrix.values[pending, column]
        match matrix.healthy[0].worse:
            case "higher":
                self.worst[worsening] = np.fmax(self.worst[worsening], values)
            case "lower":
                self.worst[worsening] = np.fmin(self.worst[worsening], values)
            case "either":
                limits = np.array([matrix.healthy[place].limit for place in pending.tolist()])
                further = ~(np.abs(self.worst[worsening] - limits) >= np.abs(values - limits)) & ~np.isnan(values)
                self.worst[worsening] = np.where(further, values, self.worst[worsening])


CROSSED = (State.PENDING, State.FIRING)


@dataclass(frozen=True, slots=True)
class RuleState:
    """The state of a rule for a host or instance.

    `healthy` is the subject's limit, `value` the reduced value (NaN for no data). `since` is the time (UTC ns) from
    which the limit has been crossed if the rule is pending or firing, else None. `key` is the key of its alerts. `note`
    says what plimsoll.toml changes. `impossible` is a value that the signal cannot have, which counts as no data.
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
    """The limits of a rule for its subjects, a row for each; None where a limit needs an unknown fact."""

    def __init__(self, judged: Sequence[RuleTarget | RuleState], healthies: list[Healthy | None]) -> None:
        self.judged = judged
        self.by_row = healthies

    @cached_property
    def rows(self) -> Mapping[Healthy, NDArray[np.intp]]:
        """The rows by limit; most subjects share one limit."""
        rows_of = group_pairs((healthy, row) for row, healthy in enumerate(self.by_row) if healthy is not None)
        return {healthy: np.array(rows) for healthy, rows in rows_of.items()}


@dataclass(frozen=True, slots=True)
class RuleStates:
    """The states of a rule for all its subjects, a row for each subject."""

    rule: Rule
    limits: Limits
    values: Values
    states: States
    since: Times
    impossible: Values

    @property
    def crossed(self) -> NDArray[np.bool_]:
        """A mask of the pending and firing rows."""
        return (self.states == PENDING) | (self.states == FIRING)

    def at(self, rows: Sequence[int]) -> Iterator[RuleState]:
        """Yield the states of some rows, except rows without a limit."""
        columns = (column[rows].tolist() for column in (self.values, self.states, self.since, self.impossible))
        for row, value, state, since, odd in zip(rows, *columns, strict=True):
            judged, healthy = self.limits.judged[row], self.limits.by_row[row]
            if healthy is not None:
                begun, target = since if state in CROSSED else None, (judged.key, judged.note)
                yield RuleState(judged.rule, judged.subject, healthy, value, State(state), begun, *target, odd)


class HostRows:
    """An index from hosts to the rows of rules, rebuilt only when other subjects are judged."""

    def __init__(self, rules: Sequence[Sequence[RuleTarget | RuleState]]) -> None:
        self._rules = rules

    @cached_property
    def hosts(self) -> Sequence[HostKey]:
        """The hosts that have rows."""
        return [*dict.fromkeys(target.subject.key[0] for judged in self._rules for target in judged)]

    @cached_property
    def numbers(self) -> Sequence[NDArray[np.intp]]:
        """For each rule, an array with the index (in `hosts`) of each row's host."""
        number = {host: at for at, host in enumerate(self.hosts)}
        return [np.array([number[target.subject.key[0]] for target in judged], np.intp) for judged in self._rules]

    @cached_property
    def of_host(self) -> Mapping[HostKey, Mapping[int, Sequence[int]]]:
        """By host: the rows of each rule, by the rule's position in the order of rules."""
        rows_of: dict[HostKey, dict[int, list[int]]] = {}
        for at, judged in enumerate(self._rules):
            for row, target in enumerate(judged):
                rows_of.setdefault(target.subject.key[0], {}).setdefault(at, []).append(row)
        return rows_of


class LatestEvaluation:
    """The states of all rules for all subjects. RuleState objects are built on demand, as few are needed."""

    def __init__(self, rules: Sequence[RuleStates] = (), hosts: HostRows | None = None) -> None:
        self.rules = rules
        self.places = hosts or HostRows([states.limits.judged for states in rules])

    def on(self, host: HostKey) -> list[RuleState]:
        """Return the states of all rules for the subjects of a host."""
        batches = self.places.of_host.get(host, {})
        return [state for rule, rows in batches.items() for state in self.rules[rule].at(rows)]

    def pending(self) -> list[RuleState]:
        """Return the states that are pending, of all rules."""
        rows = (np.flatnonzero(states.states == State.PENDING).tolist() for states in self.rules)
        return [state for states, pending in zip(self.rules, rows, strict=True) for state in states.at(pending)]

    def __iter__(self) -> Iterator[RuleState]:
        return iter(self._rule_states)

    @cached_property
    def _rule_states(self) -> list[RuleState]:
        return [state for states in self.rules for state in states.at(range(len(states.values)))]
