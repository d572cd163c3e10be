"""The interface of stores. `tests/store/test_contract.py` tests it for every implementation."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from uuid import uuid4

import numpy as np

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.points import Points
from plimsoll.model.run import Recording, StoredRun
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.store.m4 import Drawn
from plimsoll.store.run_states import Claim, State


class StoreFull(Unusable):
    """There is no room for more: nothing was written. What is stored can be read; write again when there is room."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of writing a batch: values written, points refused, and the store's reason."""

    values: int
    refused: int = 0
    why: str = ""


class FoundSeries(NamedTuple):
    """The series in a range, and how many others were left out because they hold text or booleans.

    `unread`: what of the range the store has lost, `FILE is damaged`.
    """

    series: list[Series]
    text: int
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Buckets:
    """One series in buckets of equal length: start (UTC ns), minimum, maximum and mean of each that has a sample."""

    times: Times
    minimum: Values
    maximum: Values
    mean: Values

    @classmethod
    def empty(cls) -> "Buckets":
        """No buckets."""
        nothing = np.empty(0)
        return cls(np.empty(0, np.int64), nothing, nothing, nothing)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in a list.

    `start` and `end` are UTC ns. `loaded` of its `values` have been processed, including `refused` ones. `generation`
    is unique for each time that the run was saved.
    """

    name: str
    start: int
    end: int
    hosts: tuple[str, ...]
    labels: Mapping[str, str]
    files: int
    values: int
    loaded: int = 0
    refused: int = 0
    state: State = State.LOADING
    generation: str = ""

    @classmethod
    def new(cls, run: StoredRun) -> "RunSummary":
        """A run that is saved now, in a new generation."""
        return cls(
            run.name,
            run.start,
            run.end,
            run.hosts,
            run.run.labels,
            len(run.recordings),
            run.values,
            generation=uuid4().hex,
        )

    @property
    def complete(self) -> bool:
        """Whether all its values are there, but for refused ones."""
        return self.state is State.COMPLETE


class Store(Protocol):
    """A store of series and runs.

    Series have the names that Telegraf gives; those that differ only in the case of the host are the same. Ranges of
    time include both ends (UTC ns). Samples are finite: missing values, NaN and infinities are not stored. Writing the
    same data twice changes nothing, and a batch that `write` has yielded is committed.

    All methods raise Unreachable if the store does not answer, and Unusable if it refuses.
    """

    @property
    def name(self) -> str:
        """The name of the store for people: its address or file."""
        ...

    def close(self) -> None:
        """Close connections and files; what is being written is finished first."""
        ...

    @property
    def settle_s(self) -> float:
        """How long after a write the store may still lose it. Whoever must be sure counts then."""
        ...

    def write(self, batches: Iterable[Log], run: RunSummary | None = None) -> Generator[WriteResult]:
        """Write the samples of each batch, and yield after each is committed, in order.

        Columns of the same series are merged: at each time the first value that is present counts. `run`: the one that
        is being loaded, which a store needs that keeps each run by itself.
        """
        ...

    def write_points(self, points: Points) -> WriteResult:
        """Write live samples in place of earlier ones of the same series and time; committed when it returns.

        Any thread may call it, and others may read meanwhile.
        """
        ...

    def remove(
        self,
        recording: Recording,
        keep: Sequence[Recording] = (),
        *,
        whole: bool = True,
        before_each: Callable[[], None] = lambda: None,
    ) -> None:
        """Remove the samples of a recording, except those that recordings in `keep` contain too.

        Nothing else is removed. `whole`: all of the recording was written and none refused; otherwise only samples
        that can be its own are removed. `before_each` is called before each part is removed, and may raise.
        """
        ...

    def recover(self) -> None:
        """Finish what an interrupted removal left to do, so that all samples of others are there."""
        ...

    def oldest(self) -> int | None:
        """The instant before which nothing is kept; None if everything is kept."""
        ...

    def hosts(self, start: int, end: int) -> list[str]:
        """The hosts with samples in a range, sorted."""
        ...

    def series(self, start: int, end: int, hosts: Sequence[str] = (), *, live: bool = False) -> FoundSeries:
        """The numeric series with a sample in a range, sorted; of these hosts, or of all.

        `live`: without the samples of runs, where the store holds them apart; so for `read`.
        """
        ...

    def read(
        self, series: Sequence[Series], start: int, end: int, *, live: bool = False, recorded: bool = False
    ) -> list[Samples]:
        """The samples of each series in a range; empty if there are none.

        `recorded`: without live samples, where the store holds those in another place than runs; so for `counts`.
        """
        ...

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Samples that draw the line of each series in a range: at most four for each of so many equal buckets."""
        ...

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Minimum, maximum and mean of each series in buckets of `width` ns, which begin at multiples of it."""
        ...

    def counts(self, series: Sequence[Series], start: int, end: int, *, recorded: bool = False) -> list[int]:
        """How many samples each series has in a range."""
        ...

    def save(self, run: StoredRun) -> RunSummary:
        """Save a run in place of one of the same name, in a new generation: loading, with nothing loaded yet."""
        ...

    def mark(self, run: RunSummary, state: State, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run: how many values have been processed, and how many of these were refused.

        It changes nothing if the run was forgotten, or saved again. ValueError if the state cannot follow the run's.
        """
        ...

    def runs(self) -> list[RunSummary]:
        """All runs, latest first. `save` that is cut off may leave two generations of a run: one is listed."""
        ...

    def run(self, name: str) -> StoredRun | None:
        """The run of a name; None if there is none, or nothing but its name is left of it."""
        ...

    def forget(self, run: RunSummary) -> None:
        """Remove a run from the list, but not its samples. It changes nothing if the run was saved again."""
        ...

    def claim(self, claim: Claim) -> None:
        """Write a claim, with the time by the store's clock as `since`. `store.lease` says what claims are for."""
        ...

    def beat(self, claim: Claim) -> None:
        """Save that the holder of a claim is alive. It does not bring back a claim that was withdrawn."""
        ...

    def claims(self, life_s: float) -> list[Claim]:
        """All claims; those whose holder was not heard of for `life_s` are not alive."""
        ...

    def withdraw(self, holder: str) -> None:
        """Remove the claim of a holder."""
        ...
