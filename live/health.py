"""What `plimsoll up` says about itself on its page."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class HostState(StrEnum):
    """Whether data of a host arrives, and whether an alert fires for it."""

    HEALTHY = "healthy"
    NOT_JUDGED = "not judged"
    ALERT = "alert"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class HostHealth:
    """A host: its state, and a few words on it (`last data 09:12:40 UTC`)."""

    name: str
    state: HostState
    note: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the whole; `headline` is the answer to whether it is healthy.

    `alerts` are those that fire, each in a sentence. `points_a_minute` is how many values were written in the last
    minute, `text` how many fields were left out since the start because they hold text or booleans. `problems` are
    what somebody has to mend, in sentences: a full disk, notifications that cannot be delivered.
    """

    headline: str = ""
    hosts: Sequence[HostHealth] = ()
    alerts: Sequence[str] = ()
    problems: Sequence[str] = ()
    points_a_minute: int = 0
    store: str = ""
    store_bytes: int | None = None
    notes: Sequence[str] = ()
