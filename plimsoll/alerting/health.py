"""What `plimsoll up` says about itself on its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from plimsoll.alerting.book.record import Alert


class Answer(StrEnum):
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

    `alerts` are the warning and critical ones that fire for hosts, the worst first; `info` is how many others fire.
    `problems` are what somebody has to mend, in sentences: a full disk, notifications that cannot be delivered.
    `evaluated` is the last evaluation (UTC ns), `points_a_minute` how many values were written in the last minute.
    """

    answer: Answer = Answer.NOT_KNOWN
    reason: str = ""
    basis: str = ""
    hosts: Sequence[HostHealth] = ()
    alerts: Sequence[Alert] = ()
    info: int = 0
    problems: Sequence[str] = ()
    evaluated: int | None = None
    points_a_minute: int = 0
    store: str = ""
    store_bytes: int | None = None
    notes: Sequence[str] = ()

    @property
    def headline(self) -> str:
        """The answer in a sentence: `Not healthy: 2 alerts on 1 host`."""
        return f"{self.answer}: {self.reason}"
