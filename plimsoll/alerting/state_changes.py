"""The outcome of evaluations: changes of state, and the intervals in which alerts fired."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from plimsoll.alerting.rule_targets import Key
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State, Status
from plimsoll.rules.subjects import Subject


class _OfRule:
    """The base of results that concern one rule and one subject."""

    __slots__ = ()
    rule: Rule
    subject: Subject

    @property
    def key(self) -> Key:
        """The key of the alerts of the rule and the subject, case-folded."""
        return self.rule.id, *self.subject.key


@dataclass(frozen=True, slots=True)
class StateChange(_OfRule):
    """A change of the state of one rule for one subject, at one evaluation.

    Attributes:
        at: The evaluation (UTC ns).
        rule: The rule as it applies to the host: with the limit, `for` and severity of plimsoll.toml.
        subject: The host or instance.
        since: From which evaluation the condition has been true; None if it is not.
        value: The rule's reduced value, in the signal's unit; NaN for no data.
        healthy: The limit, scaled for the subject.
        note: What differs from the documented rule, empty if nothing does.
        covered: The longest part of the rule's window (ns) that samples cover; None if they cover all of it.
        worst: The value furthest past the limit since `since`, as far as it is known.
    """

    at: int
    rule: Rule
    subject: Subject
    before: State
    after: State
    since: int | None
    value: float
    healthy: Healthy
    note: str = ""
    covered: int | None = None
    worst: float = nan


@dataclass(frozen=True, slots=True)
class AlertInterval(_OfRule):
    """One time that a rule fired for a subject, as a replay finds it; times are evaluations (UTC ns).

    `since` is the first evaluation with the condition true, `ended_at` the one at which it recovered, None if it fires
    still. `value` is that at `fired_at`, `worst` the one furthest past the limit from `since` to the end. `last_data`
    is the last evaluation that had data. The rest is as in a StateChange.
    """

    rule: Rule
    subject: Subject
    since: int | None
    fired_at: int
    ended_at: int | None
    value: float
    worst: float
    healthy: Healthy
    note: str = ""
    covered: int | None = None
    last_data: int | None = None


@dataclass(frozen=True)
class EvaluationStep:
    """The outcome of evaluations up to `at`: the changes of state in order, and the statuses after the last one.

    `readings` are the values of firing rules, NaN for no data (stale). `heard` has the hosts with new samples, each
    with the evaluation, or for late samples a time that is not after the newest one.
    """

    at: int
    changes: Sequence[StateChange]
    readings: Mapping[Key, float]
    statuses: Mapping[Key, Status]
    heard: Mapping[str, int]
