"""What the alert loop tells: a rule changed its state for a subject."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

from plimsoll.alerting.rule_targets import Key
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State, Status
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change of the state of one rule for one subject, at one evaluation.

    Attributes:
        at: The evaluation (UTC ns).
        rule: The rule as it applies to the host: with the limit, `for` and severity of plimsoll.toml.
        subject: The host or instance.
        before: The state before the evaluation.
        after: The state after it.
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

    @property
    def key(self) -> Key:
        """The rule and subject, by which alerts are told apart: hosts and instances compare without regard to case."""
        return self.rule.id, *self.subject.key


@dataclass(frozen=True)
class EvaluationStep:
    """What one or several evaluations brought: changes of state in order, and what is active at the last, `at`.

    `readings` are the values of what fires, NaN for no data (stale). `heard` are the hosts that have samples since the
    step before, or that came late: the evaluation, or (for these) a time that is not after their newest sample.
    """

    at: int
    transitions: Sequence[StateChange]
    readings: Mapping[Key, float]
    statuses: Mapping[Key, Status]
    heard: Mapping[str, int]
