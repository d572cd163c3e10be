"""The options for reading logs, and the logs that were read."""

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import NamedTuple

from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log, Values
from plimsoll.model.names import Names, load_shipped
from plimsoll.model.remark import Remark
from plimsoll.model.run import StoredRun
from plimsoll.model.times import Zone


class LogSet(NamedTuple):
    """Logs that were read, with remarks on them, and their run if they come from a store.

    `whole` means that the logs are a complete run, such as a folder, not some logs of a run. `empty` are named logs
    without rows. `apart` means that the hosts were recorded at one time but need not be one system.
    """

    logs: list[Log]
    remarks: list[Remark]
    run: StoredRun | None = None
    whole: bool = False
    empty: tuple[Log, ...] = ()
    apart: bool = False

    def refuse_empty(self) -> None:
        """Raise Unusable if a named log has no rows to judge or load."""
        for log in self.empty:
            raise Unusable(f"{log.path}: no samples: it holds a header and no rows; record it again, or leave it out")


@dataclass(frozen=True)
class ReadOptions:
    """What the caller knows about the logs.

    `zone` is the time zone of logs that state no zone, or state a name and bias that contradict each other.
    `format` is the required format, `encoding` the header's code page; None means that the content decides. `names` are
    the known names of objects and counters. `columns`, if given, is a function that reads all columns of the log again:
    a reader may then leave out columns that no rule judges. `progress` is called with the number of bytes that were
    read since the last call.
    """

    zone: Zone | None = None
    format: str | None = None
    encoding: str | None = None
    names: Names = field(default_factory=load_shipped)
    columns: Callable[[], Sequence[Values]] | None = None
    progress: Callable[[int], None] | None = None
