"""The options of reading logs, and the logs that were read."""

from dataclasses import dataclass, field
from typing import NamedTuple

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.names import Names, shipped
from plimsoll.model.remark import Remark
from plimsoll.model.run import StoredRun
from plimsoll.model.times import Zone


class LogSet(NamedTuple):
    """The logs that were read, the remarks on all of them together, and the run if it is from a store.

    `whole` is True if the inputs are a whole run, as a folder is, and not some of its logs. `empty` are logs that
    were named and have no rows. `apart`: the hosts were recorded at one time, and are not said to be one system.
    """

    logs: list[Log]
    remarks: list[Remark]
    run: StoredRun | None = None
    whole: bool = False
    empty: tuple[Log, ...] = ()
    apart: bool = False

    def refuse_empty(self) -> None:
        """Raise Unusable if a log that was named has no rows to judge or load."""
        for log in self.empty:
            raise Unusable(f"{log.path}: no samples: it holds a header and no rows; record it again, or leave it out")


@dataclass(frozen=True)
class ReadOptions:
    """The caller's facts about the logs.

    `zone` is that of logs that do not say their own, or whose name and bias contradict each other;
    `format` is the one a log has to be of, `encoding` overrides the guess at a header's code page; `names`
    are what objects and counters are called.
    """

    zone: Zone | None = None
    format: str | None = None
    encoding: str | None = None
    names: Names = field(default_factory=shipped)
