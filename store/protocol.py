"""What every store can do. `tests/store/test_contract.py` says it by behaviour, for every implementation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from model.log import Log, Times, Values
from model.run import Recording, StoredRun
from model.samples import Samples
from model.series import Series


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of a batch: how many values the store took, and what it refused, in its own words."""

    values: int
    refused: int = 0
    why: str = ""


class FoundSeries(NamedTuple):
    """The series in a range, and how many more hold text or true and false, which are left out."""

    series: list[Series]
    text: int


@dataclass(frozen=True, eq=False)
class Buckets:
    """One series in equal parts of time: the starts (UTC ns) of those that hold a sample, and its values there."""

    times: Times
    minimum: Values
    maximum: Values
    mean: Values

    @classmethod
    def empty(cls) -> "Buckets":
        """No samples at all."""
        nothing = np.empty(0)
        return cls(np.empty(0, np.int64), nothing, nothing, nothing)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as a list shows it.

    `start` and `end` are UTC ns. Of its `values`, `loaded` have been dealt with, of which the store
    refused `refused`.
    """

    name: str
    start: int
    end: int
    hosts: tuple[str, ...]
    labels: Mapping[str, str]
    files: int
    values: int
    loaded: int
    refused: int

    @property
    def complete(self) -> bool:
        """Whether loading reached its end; else it was cut off."""
        return self.loaded >= self.values


class Store(Protocol):
    """Where series and runs live.

    Series are what Telegraf would have named them; those that differ only in the case of the host
    are the same. A range of time has both its ends in it (UTC ns). Samples are finite: a value that is
    missing is not stored, and NaN and infinities are missing. Writing the same twice changes nothing, and what
    `write` has yielded is there to stay. Unreachable is raised where the store does not answer,
    Unusable where it refuses.
    """

    @property
    def name(self) -> str:
        """What people call it: its address or its file."""
        ...

    def write(self, batches: Iterable[Log]) -> Iterator[WriteResult]:
        """Write the samples of each batch, and yield once it is committed, in their order.

        Columns of the same series count as one: the first that has a value at a time.
        """
        ...

    def remove(self, recording: Recording, keep: Sequence[Recording] = (), *, whole: bool = True) -> None:
        """Remove the samples of a recording's series at its times, but for those that others hold too.

        Nothing else is removed, whatever lies between them. `whole` is whether all of the recording was written
        and taken; of one that was not, only what can be its own is removed.
        """
        ...

    def oldest(self) -> int | None:
        """The instant before which nothing is kept; None where everything is."""
        ...

    def hosts(self, start: int, end: int) -> list[str]:
        """The hosts that have samples in a range, in order."""
        ...

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """The series of numbers that have a sample in a range, in order; of these hosts, or of all."""
        ...

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """The samples of each of these series in a range; empty where there are none."""
        ...

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Minimum, maximum and mean of each of these series per `width` ns, in parts that begin at multiples of it."""
        ...

    def save(self, run: StoredRun) -> None:
        """Keep a run, with nothing of it loaded yet."""
        ...

    def progress(self, run: StoredRun, loaded: int, refused: int) -> None:
        """Note how many values of a run have been dealt with, and how many of those were refused."""
        ...

    def runs(self) -> list[RunSummary]:
        """All runs, the latest first."""
        ...

    def run(self, name: str) -> StoredRun | None:
        """A run by its name; None where there is none."""
        ...

    def forget(self, name: str) -> None:
        """Take a run out of the list, not its samples."""
        ...
