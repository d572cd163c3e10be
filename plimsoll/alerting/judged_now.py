"""A rule for one subject as it was after the last evaluation."""

from dataclasses import dataclass
from math import nan

from plimsoll.alerting.planning import Key
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.states import State
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
