"""The results of evaluations: changes of state, and the intervals in which alerts fired."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from plimsoll.alerting.rule_targets import Key
from plimsoll.rules.schema.field_types import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State, Status
from plimsoll.rules.subjects import Subject


class _OfRule:
    """The base of results that are about one rule and one subject."""

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
        since: The first evaluation at which the condition was true; None if it is false.
        value: The rule's reduced value, in the signal's unit; NaN for no data.
        healthy: The limit, scaled for the subject.
        note: What plimsoll.toml changes in the documented rule; empty if nothing.
        covered: The longest part of the rule's window (ns) that samples cover; None if they cover the whole window.
        worst: The value furthest past the limit since `since`.
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
    """An interval in which a rule fired for a subject, as a replay finds it. Times are evaluations (UTC ns).

    The condition is true from `since`, the rule fires from `fired_at` and recovers at `ended_at` (None: it still
    fires). `value` is the value at `fired_at`, `worst` the value furthest past the limit, `last_data` the last
    evaluation with data. The other fields are those of StateChange.
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
    """The result of evaluations up to `at`: the changes of state in order, and the statuses after the last evaluation.

    `readings` are the values of firing rules, NaN for no data (stale). `heard` has a time (UTC ns) for each host with
    new samples: the last evaluation or, if only late samples came, a time not after the newest late sample.
    """

    at: int
    changes: Sequence[StateChange]
    readings: Mapping[Key, float]
    statuses: Mapping[Key, Status]
    heard: Mapping[str, int]
