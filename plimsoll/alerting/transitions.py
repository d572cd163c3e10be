"""What the alert loop tells: a rule changed its state for a subject."""

from dataclasses import dataclass
from math import isnan, nan

from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True, slots=True)
class Transition:
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
    def key(self) -> tuple[str, str, str | None]:
        """The rule and subject, by which alerts are told apart: hosts and instances compare without regard to case."""
        return self.rule.id, *self.subject.key


@dataclass(frozen=True, slots=True)
class Reading:
    """The value of an alert that fires, at an evaluation: NaN if there is no data, which makes it stale."""

    key: tuple[str, str, str | None]
    at: int
    value: float

    @property
    def is_stale(self) -> bool:
        """Whether there was no data."""
        return isnan(self.value)
