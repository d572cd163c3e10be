"""The health that `plimsoll up` shows on its page, and the progress of its evaluations."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import Firing
from plimsoll.rules.schema.field_types import Resource


class HealthAnswer(StrEnum):
    """Whether the hosts are healthy."""

    HEALTHY = "Healthy"
    NOT_HEALTHY = "Not healthy"
    NO_ALERT = "No alert"
    NOT_KNOWN = "Not known"


class HostState(StrEnum):
    """Whether data of a host arrives, and whether an alert fires for it."""

    HEALTHY = "healthy"
    NOT_JUDGED = "not judged"
    ALERT = "alert"
    SILENT = "silent"


@dataclass(frozen=True)
class Progress:
    """The progress of the loop: the last evaluation, its time of execution (UTC ns), its duration, and the problem.

    Attributes:
        judged: The number of warning and critical limits that are judged, by host (case-folded).
        pending: The number of those that are crossed, but not yet for the time that `for` demands.
        lacking: The facts that limits need and that are not known, by host.
        impossible: The values that are not judged because they are impossible, by host.
        ahead, behind: How far the clocks of hosts are ahead or behind (ns).
        left_out: The number of hosts that are not judged, as there are too many.
        beyond: The hosts (case-folded) that have too many limits, of which some are not judged.
        unsent: The resources that hosts (case-folded) have stopped sending, with the newest sample (UTC ns).
        begun: While the first evaluation after a start or with new settings runs, its begin (UTC ns).
    """

    evaluated: int | None = None
    performed: int | None = None
    took_s: float = 0.0
    problem: str = ""
    judged: Mapping[str, int] = field(default_factory=dict[str, int])
    pending: int = 0
    lacking: Mapping[str, set[str]] = field(default_factory=dict[str, set[str]])
    impossible: Mapping[str, set[str]] = field(default_factory=dict[str, set[str]])
    ahead: Mapping[str, int] = field(default_factory=dict[str, int])
    behind: Mapping[str, int] = field(default_factory=dict[str, int])
    left_out: int = 0
    beyond: Collection[str] = ()
    unsent: Mapping[str, Mapping[Resource, int]] = field(default_factory=dict[str, Mapping[Resource, int]])
    begun: int | None = None


@dataclass(frozen=True, slots=True)
class HostHealth:
    """A host: its state, a few words on it (`3 limits judged`), and when its newest sample was taken (UTC ns)."""

    name: str
    state: HostState
    note: str = ""
    newest: int | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """The health of all hosts: the `answer`, its `reason`, and its `basis`.

    `firing` are the alerts that fire, `info` the number of those of severity info. `problems` are sentences on what
    somebody must solve, such as a full disk; with `warnings`, such as missing values of a day, everything is still
    judged. `evaluated` is the last evaluation (UTC ns), `points_a_minute` the number of values written in the last
    minute.
    """

    answer: HealthAnswer = HealthAnswer.NOT_KNOWN
    reason: str = ""
    basis: str = ""
    hosts: Sequence[HostHealth] = ()
    firing: Firing = field(default_factory=Firing)
    info: int = 0
    problems: Sequence[str] = ()
    warnings: Sequence[str] = ()
    evaluated: int | None = None
    points_a_minute: int = 0
    store: str = ""
    store_bytes: int | None = None
    notes: Sequence[str] = ()

    @property
    def alerts(self) -> Sequence[Alert]:
        """The warning and critical alerts that fire for hosts, the worst first."""
        return self.firing.alerts

    @property
    def headline(self) -> str:
        """The answer in a sentence: `Not healthy: 2 alerts on 1 host`."""
        return f"{self.answer}: {self.reason}"
