"""The interfaces of stores: of samples, and of runs. `tests/store/test_contract.py` tests every store against them.

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
from plimsoll.model.samples import Samples, join_samples
from plimsoll.model.series import Series, list_hosts, make_host_key
from plimsoll.store.m4 import Drawn, reduce_to_m4


class StoreFull(Unusable):
    """The error that the store has no room for a write.

    Nothing was written; stored data stays readable, and the write can be retried.
    """


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of writing a batch: values written, points refused, and the store's reason for a refusal."""

    values: int
    refused: int = 0
    why: str = ""


class FoundSeries(NamedTuple):
    """The numeric series in a range, and the number of series left out because their values are text or booleans.

    `unread` lists data that the store lost in the range, such as `FILE is damaged`; `notes` lists other remarks.
    """

    series: list[Series]
    text: int
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Buckets:
    """One series in buckets of equal length: start (UTC ns), minimum, maximum and mean of each bucket with samples."""

    times: Times
    minimum: Values
    maximum: Values
    mean: Values

    @classmethod
    def joined(cls, parts: Sequence["Buckets"] = ()) -> "Buckets":
        """Return the buckets of all parts in order of time; of buckets with the same start, the first."""
        if len(parts) == 1:
            return parts[0]
        times, first = np.unique(np.concatenate([np.empty(0, np.int64), *(p.times for p in parts)]), return_index=True)
        columns = ([p.minimum for p in parts], [p.maximum for p in parts], [p.mean for p in parts])
        return cls(times, *(np.concatenate([np.empty(0), *column])[first] for column in columns))

    @classmethod
    def of(cls, samples: Samples, width: int) -> "Buckets":
        """Return samples as buckets of `width` ns, which begin at multiples of `width`."""
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


def join_spellings(series: Series, parts: Sequence[tuple[Series, Samples]]) -> Samples:
    """Return the samples of a series, joined from series that differ only in the spelling of host and instance.

    Of samples at the same time, the sample of the part spelled like `series` is used.
    """
    if len(parts) == 1:
        return parts[0][1]
    return join_samples([samples for _, samples in sorted(parts, key=lambda part: part[0] != series)])


class SampleReader(Protocol):
    """The interface for reading samples.

    Series have Telegraf's names; series that differ only in the case of the host are the same. Ranges of time include
    both ends (UTC ns). Samples are finite: missing values, NaN and infinities are not stored.

    Implementations need only `series` and `read`, from which the other methods are computed by default.
    """

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the numeric series with a sample in a range, sorted; only those of `hosts`, if given."""
        ...

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range; empty if there are none."""
        ...

    def hosts(self, start: int, end: int) -> list[str]:
        """Return the hosts with samples in a range, sorted."""
        return sorted(list_hosts(self.series(start, end).series), key=make_host_key)

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Return at most four samples for drawing each series in each of `buckets` equal parts of a range."""
        read = self.read(series, start, end)
        return [Drawn(reduce_to_m4(samples, start, end, buckets), len(samples.times)) for samples in read]

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Return minimum, maximum and mean of each series in buckets of `width` ns, from multiples of `width` on."""
        return [Buckets.of(samples, width) for samples in self.read(series, start, end)]

    def counts(self, series: Sequence[Series], start: int, end: int) -> list[int]:
        """Return the number of samples of each series in a range."""
        return [len(samples.times) for samples in self.read(series, start, end)]


class SampleStore(SampleReader, Protocol):
    """The interface of a store of live samples."""

    @property
    def name(self) -> str:
        """The name of the store for people: its address or file."""
        ...

    def close(self) -> None:
        """Close connections and files, after the writes in progress."""
        ...

    def write_points(self, points: Points) -> WriteResult:
        """Write samples, replacing earlier samples of the same series and time; all are committed on return.

        Threads may write concurrently, and while other threads read.
        """
        ...


class StoreState(StrEnum):
    """The state of a run in a store. Only a complete run has all its values.

        absent -> loading -> complete -> deleting -> absent

    An interrupted load can be continued, a deletion can begin at any time, and a run whose deletion was interrupted can
    be saved and loaded again.
    """

    LOADING = "loading"
    COMPLETE = "complete"
    DELETING = "deleting"

    def to(self, state: "StoreState") -> "StoreState":
        """Return `state`, the next state. Raise ValueError if `state` cannot follow this state."""
        if state not in _NEXT[self]:
            raise ValueError(f"a run cannot go from {self} to {state}")
        return state


_NEXT: Mapping[StoreState, frozenset[StoreState]] = {
    StoreState.LOADING: frozenset(StoreState),
    # Loaded again because values were missing.
    StoreState.COMPLETE: frozenset({StoreState.LOADING, StoreState.DELETING}),
    StoreState.DELETING: frozenset({StoreState.DELETING}),
}
# If an interrupted save left two generations of a run, the first of these states is shown.
PREFERRED = (StoreState.COMPLETE, StoreState.LOADING, StoreState.DELETING)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The entry of a run in the list of runs.

    `start` and `end` are UTC ns. The run has `values` values; `loaded` of them have been processed, and `refused` of
    the processed values were refused by the store. `generation` is an identifier that is new each time the run is
    saved.
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
        """Return the summary of a run that is saved now, in a new generation."""
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
        """Whether the store has all values of the run, except refused values."""
        return self.state is StoreState.COMPLETE


def sort_latest_first(runs: Iterable[RunSummary]) -> list[RunSummary]:
    """Return the runs, the latest first; of several generations of a run, only one."""
    shown: dict[str, RunSummary] = {}
    for run in runs:
        other = shown.setdefault(run.name, run)
        shown[run.name] = min(run, other, key=lambda generation: PREFERRED.index(generation.state))
    return sorted(shown.values(), key=lambda run: (-run.start, run.name))


class Work(StrEnum):
    """What a command that holds a claim on a run does: loading or deleting the run."""

    LOADING = "loading"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim: the statement of a command that it works on a run.

    `holder` is a unique identifier of the command, `who` its name for people. `since` and `heard` (the last heartbeat)
    are UTC ns by the store's clock; `alive` is False if the last heartbeat is too old.
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
        """Save a heartbeat of a claim; a withdrawn claim is not restored."""
        ...

    def current(self, life_s: float) -> list[Claim]:
        """Return all claims; `alive` is False for claims without a heartbeat in the last `life_s` seconds."""
        ...

    def withdraw(self, holder: str) -> None:
        """Remove the claim of a holder."""
        ...


class RunStore(Protocol):
    """The interface of a store of runs, whose samples are separate from live samples and from other runs."""

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
        """The time (s) for which the store may still lose an acknowledged write; count values only afterwards."""
        ...

    def close(self) -> None:
        """Close connections and files."""
        ...

    def oldest(self) -> int | None:
        """Return the time (UTC ns) before which the store keeps nothing; None if it keeps everything."""
        ...

    def save(self, run: StoredRun) -> RunSummary:
        """Save a run in place of a run of the same name: a new generation, in the state LOADING, without values."""
        ...

    def write(self, run: RunSummary, batches: Iterable[Log]) -> Generator[WriteResult]:
        """Write batches of samples to a run; yield the result of each batch once it is committed, in order.

        Columns of the same series are merged: the first value at each time is used. Writing the same data twice changes
        nothing.
        """
        ...

    def mark(self, run: RunSummary, state: StoreState, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run, with the numbers of processed and of refused values.

        Nothing changes if the run was removed or saved again. Raise ValueError if `state` cannot follow the run's
        state.
        """
        ...

    def summaries(self) -> list[RunSummary]:
        """Return all runs, latest first; of two generations that an interrupted save left, only one."""
        ...

    def get(self, name: str) -> StoredRun | None:
        """Return the run with this name; None if there is none, or if the run is listed but its content is gone."""
        ...

    def samples(self, run: RunSummary | None = None) -> SampleReader:
        """Return a reader of the samples of a run, or of all complete runs if `run` is None.

        Where several runs have a sample of a series at the same time, one run's sample is used.
        """
        ...

    def forget(self, run: RunSummary) -> None:
        """Remove a run with its samples; nothing changes if the run was saved again."""
        ...
