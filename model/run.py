"""A run: a test or a stretch of operation that is judged as one."""

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from model.log import Log, Times
from model.remark import Remark
from model.series import Series, hosts_of
from model.times import Zone

Rows: TypeAlias = NDArray[np.unsignedinteger]
_NONE: Rows = np.empty(0, dtype=np.uint32)


@dataclass(frozen=True, slots=True)
class Phase:
    """A named part of a run (`ramp-up`, `steady`). Both ends belong to it; UTC ns."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Run:
    """What is known of a run beside its logs.

    `phases` is empty where they are not known; rules that want one are then judged throughout
    and marked so. `simulated` runs say so wherever they are shown.
    """

    name: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    phases: tuple[Phase, ...] = ()
    simulated: bool = False


@dataclass(frozen=True, eq=False)
class Recording:
    """A log that was loaded into a store: all that is known of it but the values.

    `times` are its rows (UTC ns), `series` its columns in their order; `missing` holds for each of them the rows
    without a sample. `unread` is as a log has it.
    """

    path: str
    format: str
    sha256: str
    zone: Zone
    times: Times
    series: tuple[Series, ...]
    missing: tuple[Rows, ...]
    remarks: tuple[Remark, ...] = ()
    unread: tuple[str, ...] = ()

    @classmethod
    def of(cls, log: Log, sha256: str) -> "Recording":
        """What is known of a log."""
        missing = tuple(
            column.is_null().arg_true().to_numpy() if column.null_count() else _NONE for column in log.columns
        )
        return cls(str(log.path), log.format, sha256, log.zone, log.times, log.series, missing, log.remarks, log.unread)

    def held(self, column: int) -> Times:
        """The times at which a column has a sample."""
        return np.delete(self.times, self.missing[column])

    @property
    def present(self) -> tuple[int, ...]:
        """How many samples each column has."""
        return tuple(len(self.times) - len(rows) for rows in self.missing)


@dataclass(frozen=True)
class StoredRun:
    """A run in a store: with the manifest of what it wrote, so that it can be read back, and deleted to the sample.

    `remarks` are those on its logs together, `settings` the text of the plimsoll.toml that lay beside them; `whole` is
    whether a folder was loaded, so that every host that the settings name was to be in it.
    """

    run: Run
    recordings: tuple[Recording, ...]
    remarks: tuple[Remark, ...] = ()
    settings: str | None = None
    whole: bool = False

    @property
    def name(self) -> str:
        """The name it is stored by."""
        return self.run.name or ""

    @property
    def start(self) -> int:
        """Its first row (UTC ns); 0 where it has none."""
        return min((int(one.times[0]) for one in self.recordings if len(one.times)), default=0)

    @property
    def end(self) -> int:
        """Its last row."""
        return max((int(one.times[-1]) for one in self.recordings if len(one.times)), default=0)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Its hosts in the order they appear, each written as first seen."""
        return hosts_of(series for one in self.recordings for series in one.series)

    @property
    def values(self) -> int:
        """How many values its logs hold."""
        return sum(sum(one.present) for one in self.recordings)
