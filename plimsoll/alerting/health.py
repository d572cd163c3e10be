"""What `plimsoll up` says about itself on its page, and how far its judging is."""

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
    """How far the loop is: the last evaluation, when it was performed (UTC ns), how long it took, and what is wrong.

    `judged` is the number of warning and critical limits that are judged, by host (case-folded); `pending` of them are
    crossed, but not yet for as long as they must be. `lacking` are the facts that limits need and nobody gives, by
    host, and `impossible` the values that are not judged because they cannot be. `ahead` is how far the clocks of some
    hosts are ahead (ns), and `behind` of others behind. `begun` is when the first evaluation after a start, or with new
    settings, began, while it runs: it takes long for a large fleet. `left_out` hosts are not judged, as there are too
    many; of those `beyond` (case-folded) not everything is, as they have too many limits. `unsent` are the resources
    that hosts (case-folded) send no more though they send, with the newest sample (UTC ns).
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
    """The state of the whole: `answer`, why in `reason`, and what that rests on in `basis`.

    `firing` is what fires; `info` is how many alerts of severity info.
    `problems` are what somebody has to mend, in sentences: a full disk, notifications that cannot be delivered.
    `warnings` are those with which all is judged still: values of a day that are missing.
    `evaluated` is the last evaluation (UTC ns), `points_a_minute` how many values were written in the last minute.
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
        """The warning and critical ones that fire for hosts, the worst first."""
        return self.firing.alerts

    @property
    def headline(self) -> str:
        """The answer in a sentence: `Not healthy: 2 alerts on 1 host`."""
        return f"{self.answer}: {self.reason}"
