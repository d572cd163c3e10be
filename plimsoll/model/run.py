"""Runs: tests or periods of operation that are judged as a whole, and how stores describe them."""

from collections.abc import Collection, Iterable
from dataclasses import field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log, Times
from plimsoll.model.remark import Remark
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, list_hosts
from plimsoll.model.times import Zone

Rows: TypeAlias = NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True)
class Phase:
    """A named part of a run (`ramp-up`, `steady`), from start to end, both included (UTC ns)."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Planned:
    """Planned work, such as a backup, from `start` to `end` (UTC ns), during which `rules` (or all) are not judged."""

    start: int
    end: int
    reason: str
    rules: tuple[str, ...] = ()

    def covers(self, start: int, end: int) -> bool:
        """Return whether no rule is judged in a part of the time from `start` to `end` (UTC ns)."""
        return not self.rules and self.start <= end and self.end >= start


def leave_out_planned(samples: Samples, planned: Iterable[Planned], rules: Collection[str] = ()) -> Samples:
    """Return the samples outside work planned for all or any of `rules`; the first sample after it is of it, too."""
    for work in planned:
        if not work.rules or not set(rules).isdisjoint(work.rules):
            start, end = work.start, work.end + (samples.interval or 0)
            samples = samples.chosen(lambda times, start=start, end=end: (times <= start) | (times >= end))
    return samples


@dataclass(frozen=True)
class Run:
    """The description of a run, without its logs.

    `phases` is empty if they are unknown; rules for a phase are then judged throughout, with a note. `simulated` runs
    are labelled wherever they are shown.
    """

    name: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    phases: tuple[Phase, ...] = ()
    simulated: bool = False


@dataclass(frozen=True, eq=False)
class Recording:
    """A log that was loaded into a store: everything except its values.

    `times` are the log's rows (UTC ns), `series` its columns in order, and `missing` the rows in which each column has
    no sample. The other fields are as in Log.
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
        """Return the recording of a log."""
        missing = tuple(np.flatnonzero(np.isnan(column)).astype(np.uint32) for column in log.columns)
        return cls(str(log.path), log.format, sha256, log.zone, log.times, log.series, missing, log.remarks, log.unread)

    def sample_times(self, column: int) -> Times:
        """Return the times at which a column has a sample."""
        return np.delete(self.times, self.missing[column])

    @property
    def present(self) -> tuple[int, ...]:
        """The number of samples in each column."""
        return tuple(len(self.times) - len(rows) for rows in self.missing)


@dataclass(frozen=True)
class StoredRun:
    """A run in a store, with the list of its recordings, so that exactly these recordings can be read or deleted.

    `remarks` concern the logs as a whole; `settings` is the text of the plimsoll.toml beside the logs. `whole` means
    that a folder was loaded, which should contain every host that the settings name.
    """

    run: Run
    recordings: tuple[Recording, ...]
    remarks: tuple[Remark, ...] = ()
    settings: str | None = None
    whole: bool = False

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.run.name or ""

    @property
    def start(self) -> int:
        """The time of the run's first row (UTC ns); 0 if the run has no rows."""
        return min((int(recording.times[0]) for recording in self.recordings if len(recording.times)), default=0)

    @property
    def end(self) -> int:
        """The time of the run's last row (UTC ns); 0 if the run has no rows."""
        return max((int(recording.times[-1]) for recording in self.recordings if len(recording.times)), default=0)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the run in order of appearance, each spelled as it first appears."""
        return list_hosts(series for recording in self.recordings for series in recording.series)

    @property
    def values(self) -> int:
        """The number of values in the logs of the run."""
        return sum(sum(recording.present) for recording in self.recordings)


@dataclass(frozen=True)
class AcceptedChange:
    """A change of a signal, first seen in `run`, that a user accepted, so that baselines begin with that run.

    `until` is the day (YYYY-MM-DD) after which the acceptance no longer holds; empty if it holds for all later runs.
    """

    run: str
    signal: str
    reason: str
    until: str = ""
