"""A store: live samples and runs from two places, read together."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from plimsoll.model.errors import Unusable
from plimsoll.model.samples import Samples, join_samples
from plimsoll.model.series import Series, make_host_key
from plimsoll.store.m4 import Drawn
from plimsoll.store.protocol import Buckets, FoundSeries, RunStore, SampleReader, SampleStore

if TYPE_CHECKING:
    from plimsoll.store.duck.samples import DuckSamples
    from plimsoll.store.victoriametrics.leader_election import LeaderElection

_Result = TypeVar("_Result")


class Store:
    """Live samples and runs. `samples` reads both together; where both have a value, the run's value is used.

    `runs_place` says where another process finds the runs (see `store.remote`). `upkeep` is the embedded store that
    this process owns and must tidy. `election` decides which of several processes on one server sends notifications.
    `beside` is a second store: the embedded store, which has the runs and the older live samples if `live` is a server.
    """

    def __init__(
        self,
        live: SampleStore,
        runs: RunStore,
        *,
        name: str = "",
        runs_place: Sequence[str] = (),
        beside: "Store | None" = None,
        upkeep: "DuckSamples | None" = None,
        election: "LeaderElection | None" = None,
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
        """Copy the store to a new file and the folders beside it, while writes continue.

        Raise Unusable if the file exists, or if the store is a server.
        """
        if self._back_up is None:
            raise Unusable(
                f"{self.name}: has the samples and the runs; back it up by its own means, and copy alerts.db and "
                "up.toml while plimsoll up does not run"
            )
        self._back_up(to)


class Merged(SampleReader):
    """Reads live samples and samples of runs together."""

    def __init__(self, live: SampleReader, recorded: SampleReader) -> None:
        self._live = live
        self._recorded = recorded

    def hosts(self, start: int, end: int) -> list[str]:
        """Return the hosts with samples in a range, sorted."""
        hosts = [*self._recorded.hosts(start, end), *self._live.hosts(start, end)]
        return sorted({make_host_key(host): host for host in reversed(hosts)}.values(), key=make_host_key)

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
        pairs = ([samples for samples in pair if len(samples.times)] for pair in zip(recorded, live, strict=True))
        return [parts[0] if len(parts) == 1 else join_samples(parts) for parts in pairs]

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Return at most four samples for drawing each series in each of `buckets` equal parts of a range."""
        recorded, live = (reader.drawn(series, start, end, buckets) for reader in (self._recorded, self._live))
        merge = partial(super().drawn, start=start, end=end, buckets=buckets)
        return _merge_results(series, recorded, live, lambda drawn: drawn.count, merge)

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Return minimum, maximum and mean of each series in buckets of `width` ns."""
        recorded, live = (reader.buckets(series, start, end, width) for reader in (self._recorded, self._live))
        merge = partial(super().buckets, start=start, end=end, width=width)
        return _merge_results(series, recorded, live, lambda buckets: len(buckets.times), merge)

    def counts(self, series: Sequence[Series], start: int, end: int) -> list[int]:
        """Return the number of samples of each series in a range."""
        recorded, live = (reader.counts(series, start, end) for reader in (self._recorded, self._live))
        return _merge_results(
            series, recorded, live, lambda count: count, partial(super().counts, start=start, end=end)
        )


def _merge_results(
    series: Sequence[Series],
    recorded: Sequence[_Result],
    live: Sequence[_Result],
    count: Callable[[_Result], int],
    merge: Callable[[Sequence[Series]], list[_Result]],
) -> list[_Result]:
    """Return the result for each series: from whichever reader has samples of it, or from `merge` if both have.

    `count` returns the number of samples in a result.
    """
    pairs = list(zip(recorded, live, strict=True))
    results = [of_run if count(of_run) else of_live for of_run, of_live in pairs]
    mixed = [at for at, pair in enumerate(pairs) if all(map(count, pair))]
    for at, result in zip(mixed, merge([series[at] for at in mixed]) if mixed else (), strict=True):
        results[at] = result
    return results
