"""The two interfaces of stores: one for samples, one for runs. `tests/store/test_contract.py` tests both.

All methods raise Unreachable if a store does not answer, and Unusable if it refuses.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import uuid4

import numpy as np

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.points import Points
from plimsoll.model.run import StoredRun
from plimsoll.model.samples import Samples, joined
from plimsoll.model.series import Series, host_key, hosts_of
from plimsoll.store.m4 import Drawn, m4


class StoreFull(Unusable):
    """There is no room for more: nothing was written. What is stored can be read; write again when there is room."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of writing a batch: values written, points refused, and the store's reason."""

    values: int
    refused: int = 0
    why: str = ""


class FoundSeries(NamedTuple):
    """The series in a range, and the number of others left out because they hold text or booleans.

    `unread` lists the losses of the store in the range, such as `FILE is damaged`.
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
    def joined(cls, parts: Sequence["Buckets"] = ()) -> "Buckets":
        """Return the buckets of all parts in order of time; of those that begin at the same time, the first one."""
        if len(parts) == 1:
            return parts[0]
        times, first = np.unique(np.concatenate([np.empty(0, np.int64), *(p.times for p in parts)]), return_index=True)
        columns = ([p.minimum for p in parts], [p.maximum for p in parts], [p.mean for p in parts])
        return cls(times, *(np.concatenate([np.empty(0), *column])[first] for column in columns))

    @classmethod
    def of(cls, samples: Samples, width: int) -> "Buckets":
        """Aggregate samples into buckets of `width` ns, which begin at multiples of it."""
        times, values = samples.present.times, samples.present.values
        if not len(times):
            return cls.joined()
        bucket = times // width
        first = np.flatnonzero(np.diff(bucket, prepend=bucket[0] - 1))
        return cls(
            bucket[first] * width,
            np.minimum.reduceat(values, first),
            np.maximum.reduceat(values, first),
            np.add.reduceat(values, first) / np.diff(first, append=len(bucket)),
        )


def joined_spellings(series: Series, parts: Sequence[tuple[Series, Samples]]) -> Samples:
    """Return the samples of a series from its parts, which may spell host and instance differently.

    At equal times, the part with the spelling of `series` counts.
    """
    if len(parts) == 1:
        return parts[0][1]
    return joined([samples for _, samples in sorted(parts, key=lambda part: part[0] != series)])


class SampleReader(Protocol):
    """Samples that can be read.

    Series have the names that Telegraf gives; those that differ only in the case of the host are the same. Ranges of
    time include both ends (UTC ns). Samples are finite: missing values, NaN and infinities are not stored.

    What follows from `series` and `read` is computed from them, unless a server can compute it.
    """

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the numeric series with a sample in a range, sorted; of these hosts, or of all."""
        ...

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range; empty if there are none."""
        ...

    def hosts(self, start: int, end: int) -> list[str]:
        """Return the hosts with samples in a range, sorted."""
        return sorted(hosts_of(self.series(start, end).series), key=host_key)

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Return samples that draw each series in a range: at most four for each of this number of equal buckets."""
        read = self.read(series, start, end)
        return [Drawn(m4(samples, start, end, buckets), len(samples.times)) for samples in read]

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Return minimum, maximum and mean of each series in buckets of `width` ns, which begin at multiples of it."""
        return [Buckets.of(samples, width) for samples in self.read(series, start, end)]

    def counts(self, series: Sequence[Series], start: int, end: int) -> list[int]:
        """Return the number of samples of each series in a range."""
        return [len(samples.times) for samples in self.read(series, start, end)]


class SampleStore(SampleReader, Protocol):
    """Live samples."""

    @property
    def name(self) -> str:
        """The name of the store for people: its address or file."""
        ...

    def close(self) -> None:
        """Close connections and files, after the writes in progress."""
        ...

    def write_points(self, points: Points) -> WriteResult:
        """Write samples in place of earlier ones of the same series and time; committed when it returns.

        Any thread may call it, and others may read meanwhile.
        """
        ...


class StoreState(StrEnum):
    """The state of a run in a store. Only a complete run has all its values.

        absent -> loading -> complete -> deleting -> absent

    A load that was cut off is continued, a deletion can begin at any time, and a run whose deletion was cut off can be
    saved and loaded anew.
    """

    LOADING = "loading"
    COMPLETE = "complete"
    DELETING = "deleting"

    def to(self, state: "StoreState") -> "StoreState":
        """Return the next state. ValueError if it cannot follow this one."""
        if state not in _NEXT[self]:
            raise ValueError(f"a run cannot go from {self} to {state}")
        return state


_NEXT: Mapping[StoreState, frozenset[StoreState]] = {
    StoreState.LOADING: frozenset(StoreState),
    # Loading again: values were found missing.
    StoreState.COMPLETE: frozenset({StoreState.LOADING, StoreState.DELETING}),
    StoreState.DELETING: frozenset({StoreState.DELETING}),
}
# Of two generations of a run, a save was cut off; the first of these states is shown.
PREFERRED = (StoreState.COMPLETE, StoreState.LOADING, StoreState.DELETING)


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
    state: StoreState = StoreState.LOADING
    generation: str = ""

    @classmethod
    def new(cls, run: StoredRun, generation: str = "") -> "RunSummary":
        """Summarise a run that is saved now, in a new generation."""
        return cls(
            run.name,
            run.start,
            run.end,
            run.hosts,
            run.run.labels,
            len(run.recordings),
            run.values,
            generation=generation or uuid4().hex,
        )

    @property
    def complete(self) -> bool:
        """Whether all its values are there, but for refused ones."""
        return self.state is StoreState.COMPLETE


def latest_first(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """Sort runs, with one generation of each name."""
    shown: dict[str, RunSummary] = {}
    for run in runs:
        other = shown.setdefault(run.name, run)
        shown[run.name] = min(run, other, key=lambda generation: PREFERRED.index(generation.state))
    return sorted(shown.values(), key=lambda run: (-run.start, run.name))


class Work(StrEnum):
    """What a command does with a run."""

    LOADING = "loading"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class Claim:
    """A command that works on a run.

    `holder` is unique, `who` is for people. `since` and `heard` (its last heartbeat) are UTC ns by the store's
    clock; `alive` is false if that was too long ago.
    """

    run: str
    holder: str
    work: Work
    who: str
    since: int = 0
    heard: int = 0
    alive: bool = True


class Claims(Protocol):
    """The claims of commands on runs; see `store.lease`."""

    def claim(self, claim: Claim) -> None:
        """Write a claim, with the time by the store's clock as `since`."""
        ...

    def beat(self, claim: Claim) -> None:
        """Save that the holder of a claim is alive. It does not bring back a claim that was withdrawn."""
        ...

    def current(self, life_s: float) -> list[Claim]:
        """Return all claims; those whose holder was not heard of for `life_s` are not alive."""
        ...

    def withdraw(self, holder: str) -> None:
        """Remove the claim of a holder."""
        ...


class RunStore(Protocol):
    """Runs with their samples, which are kept apart from live ones and from those of other runs."""

    @property
    def claims(self) -> Claims:
        """The claims of commands on runs."""
        ...

    @property
    def name(self) -> str:
        """The name of the store for people: its address or folder."""
        ...

    @property
    def settle_s(self) -> float:
        """The time (s) after a write in which the store may still lose it. Count after that time to be sure."""
        ...

    def close(self) -> None:
        """Close connections and files."""
        ...

    def oldest(self) -> int | None:
        """Return the instant before which nothing is kept; None if everything is kept."""
        ...

    def save(self, run: StoredRun) -> RunSummary:
        """Save a run in place of one of the same name, in a new generation: loading, with nothing loaded yet."""
        ...

    def write(self, run: RunSummary, batches: Iterable[Log]) -> Generator[WriteResult]:
        """Write the samples of each batch to a run, and yield after each is committed, in order.

        Columns of the same series are merged: at each time the first value that is present counts. Writing the same
        data twice changes nothing.
        """
        ...

    def mark(self, run: RunSummary, state: StoreState, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run: how many values have been processed, and how many of these were refused.

        It changes nothing if the run was forgotten, or saved again. ValueError if the state cannot follow the run's.
        """
        ...

    def summaries(self) -> list[RunSummary]:
        """Return all runs, latest first. A save that is cut off may leave two generations of a run: one is listed."""
        ...

    def get(self, name: str) -> StoredRun | None:
        """Return the run of a name; None if there is none, or nothing but its name is left of it."""
        ...

    def samples(self, run: RunSummary | None = None) -> SampleReader:
        """Return the samples of a run, or those of all complete runs; at each time, the value of one run counts."""
        ...

    def forget(self, run: RunSummary) -> None:
        """Remove a run with its samples. It changes nothing if the run was saved again."""
        ...
