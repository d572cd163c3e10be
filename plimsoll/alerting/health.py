"""The health that `plimsoll up` shows on its page, and the progress of its alert loop."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import Firing
from plimsoll.model.series import HostKey
from plimsoll.rules.schema.field_types import Resource


class HealthAnswer(StrEnum):
    """The answer to the question whether the hosts are healthy."""

    HEALTHY = "Healthy"
    NOT_HEALTHY = "Not healthy"
    NO_ALERT = "No alert"
    NOT_KNOWN = "Not known"


class HostState(StrEnum):
    """The state of a host: whether its data arrives, and whether an alert fires for it."""

    HEALTHY = "healthy"
    NOT_JUDGED = "not judged"
    ALERT = "alert"
    SILENT = "silent"


@dataclass(frozen=True)
class Progress:
    """The progress of the alert loop: the last evaluation, when it ran (UTC ns), how long it took, and the problem.

    Attributes:
        judged: The number of warning and critical limits that are judged, by host (case-folded).
        pending: The number of limits that are crossed, but for less than `for`.
        lacking: The facts that limits need but that are unknown, by host.
        impossible: The values that are not judged because they are impossible, by host.
        ahead, behind: How far (ns) the clocks of hosts are ahead or behind, by host.
        left_out: The number of hosts that are not judged because there are too many.
        beyond: The hosts (case-folded) that have too many limits, so that some limits are not judged.
        unsent: By host (case-folded), the resources that it stopped sending, with the times of their newest samples
            (UTC ns).
        resources: The resources of which a limit is judged, by host (case-folded).
        required: The resources of which a limit must be judged for a host to be healthy.
        missing: By host, the fields that never came although other fields of their source did, with their resource.
        duplicates: The host names, by case-folded name, under which two computers send.
        begun: When (UTC ns) the first evaluation after a start or new settings began; None once it is over.
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
    resources: Mapping[HostKey, Collection[Resource]] = field(default_factory=dict[HostKey, Collection[Resource]])
    required: Sequence[Resource] = ()
    missing: Mapping[HostKey, Mapping[str, Resource | None]] = field(
        default_factory=dict[HostKey, Mapping[str, Resource | None]]
    )
    duplicates: Mapping[HostKey, str] = field(default_factory=dict[HostKey, str])
    begun: int | None = None


@dataclass(frozen=True, slots=True)
class HostHealth:
    """The health of a host: its state, a note such as `3 limits judged`, and the time of its newest sample (UTC ns)."""

    name: str
    state: HostState
    note: str = ""
    newest: int | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """The health of all hosts: the `answer`, its `reason`, and its `basis`.

    `firing` are the firing alerts, `info` the number of firing alerts of severity info. `problems` are sentences on
    what somebody must solve, such as a full disk. `warnings` are problems despite which everything is still judged,
    such as missing values of a day. `evaluated` is the last evaluation (UTC ns), `points_a_minute` the number of values
    written in the last minute.
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
