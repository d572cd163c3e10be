"""An episode: one time that a rule fired for a subject, as the judging of stored samples finds it."""

from dataclasses import dataclass

from plimsoll.alerting.alert import Key
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.subjects import Subject


@dataclass(frozen=True, slots=True)
class AlertInterval:
    """One time that a rule fired for a subject; times are evaluations (UTC ns).

    `since` is the first evaluation with the condition true, `ended_at` the one at which it recovered, None if it fires
    still. `value` is that at `fired_at`, `worst` the one furthest past the limit from `since` to the end. `known` is
    the last evaluation that had data. The rest is as in a Transition.
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
    known: int | None = None

    @property
    def key(self) -> Key:
        """The rule and subject."""
        return self.rule.id, *self.subject.key
