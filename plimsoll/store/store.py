"""A store: live samples in one place, runs in another, and both read as one."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Protocol

from plimsoll.model.errors import Unusable
from plimsoll.model.samples import Samples, joined
from plimsoll.model.series import Series, host_key
from plimsoll.store.m4 import Drawn, m4
from plimsoll.store.protocol import Buckets, FoundSeries, RunStore, SampleReader, SampleStore


class Upkeep(Protocol):
    """The upkeep of live samples that this process owns."""

    def tidy(self, now: int) -> bool:
        """Do one bounded piece of work; return whether there was any. `now` is UTC ns."""
        ...

    def size(self) -> int:
        """Return the number of bytes in use."""
        ...

    @property
    def damaged(self) -> dict[Path, str]:
        """The files whose samples are missing in every answer, and why."""
        ...


class Election(Protocol):
    """Leader election among several `plimsoll up` that read one store: the leader notifies."""

    def run(self, stop: Event) -> None:
        """Take part until `stop` is set."""
        ...

    def is_leader(self) -> bool:
        """Return whether this process is the leader."""
        ...

    @property
    def status(self) -> str:
        """Who notifies, in a sentence; empty if it is this process."""
        ...


class Store:
    """Live samples and runs. `samples` reads both as one: where both have a value, that of the run counts.

    `runs_place` says how another process opens the runs (`store.remote`). `upkeep` is for live samples that this
    process owns, `election` for a server that several processes read. `beside` is a store that has the runs, and live
    samples of earlier days.
    """

    def __init__(
        self,
        live: SampleStore,
        runs: RunStore,
        *,
        name: str = "",
        runs_place: Sequence[str] = (),
        beside: "Store | None" = None,
        upkeep: Upkeep | None = None,
        election: Election | None = None,
        back_up: Callable[[Path], None] | None = None,
    ) -> None:
        self.live = live
        self.runs = runs
        self.name = name or live.name
        self.runs_place = runs_place or (beside.runs_place if beside else ("folder", runs.name))
        self.samples: SampleReader = Merged(live, beside.samples if beside else runs.samples())
        self.upkeep = upkeep or (beside.upkeep if beside else None)
        self.election = election
        self._beside = beside
        self._back_up = back_up or (beside.back_up if beside else None)

    def close(self) -> None:
        """Close connections and files, after the writes in progress."""
        self.live.close()
        self.runs.close()
        if self._beside:
            self._beside.close()

    def back_up(self, to: Path) -> None:
        """Copy the store to a new file and the folders beside it, while writing goes on.

        Unusable if there is such a file already, or the store is a server.
        """
        if self._back_up is None:
            raise Unusable(
                f"{self.name}: has the samples and the runs; back it up by its own means, and copy alerts.db and "
                "up.toml while plimsoll up does not run"
            )
        self._back_up(to)


class Merged:
    """Live samples and those of runs, read as one."""

    def __init__(self, live: SampleReader, recorded: SampleReader) -> None:
        self._live = live
        self._recorded = recorded

    def hosts(self, start: int, end: int) -> list[str]:
        """Return the hosts with samples in a range, sorted."""
        hosts = [*self._recorded.hosts(start, end), *self._live.hosts(start, end)]
        return sorted({host_key(host): host for host in reversed(hosts)}.values(), key=host_key)

    def series(self, start: int, end: int, hosts: Sequence[str] = ()) -> FoundSeries:
        """Return the numeric series with a sample in a range, sorted."""
        live, recorded = (reader.series(start, end, hosts) for reader in (self._live, self._recorded))
        if not recorded.series:
            return live
        merged = {series.key: series for series in (*live.series, *recorded.series)}
        ordered = sorted(merged.values(), key=lambda series: series.key)
        return FoundSeries(ordered, live.text + recorded.text, (*live.unread, *recorded.unread))

    def read(self, series: Sequence[Series], start: int, end: int) -> list[Samples]:
        """Return the samples of each series in a range."""
        recorded, live = (reader.read(series, start, end) for reader in (self._recorded, self._live))
        return [_join(*pair) for pair in zip(recorded, live, strict=True)]

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Return samples that draw each series in a range."""
        recorded, live = (reader.drawn(series, start, end, buckets) for reader in (self._recorded, self._live))
        pairs = list(zip(recorded, live, strict=True))
        merged = [mine if mine.count else other for mine, other in pairs]
        mixed = [at for at, (mine, other) in enumerate(pairs) if mine.count and other.count]
        for at, samples in zip(mixed, self._read_some(series, mixed, start, end), strict=True):
            merged[at] = Drawn(m4(samples, start, end, buckets), len(samples.times))
        return merged

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Return minimum, maximum and mean of each series in buckets."""
        recorded, live = (reader.buckets(series, start, end, width) for reader in (self._recorded, self._live))
        pairs = list(zip(recorded, live, strict=True))
        merged = [mine if len(mine.times) else other for mine, other in pairs]
        mixed = [at for at, (mine, other) in enumerate(pairs) if len(mine.times) and len(other.times)]
        for at, samples in zip(mixed, self._read_some(series, mixed, start, end), strict=True):
            merged[at] = Buckets.of(samples, width)
        return merged

    def counts(self, series: Sequence[Series], start: int, end: int) -> list[int]:
        """Return the number of samples of each series in a range."""
        recorded, live = (reader.counts(series, start, end) for reader in (self._recorded, self._live))
        merged = [max(pair) for pair in zip(recorded, live, strict=True)]
        mixed = [at for at, pair in enumerate(zip(recorded, live, strict=True)) if all(pair)]
        for at, samples in zip(mixed, self._read_some(series, mixed, start, end), strict=True):
            merged[at] = len(samples.times)
        return merged

    def _read_some(self, series: Sequence[Series], positions: Sequence[int], start: int, end: int) -> list[Samples]:
        return self.read([series[at] for at in positions], start, end) if positions else []


def _join(recorded: Samples, live: Samples) -> Samples:
    if not len(recorded.times):
        return live
    return joined([recorded, live]) if len(live.times) else recorded
