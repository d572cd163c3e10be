"""The store that has live samples in VictoriaMetrics, and runs in another store beside it."""

from collections.abc import Callable, Generator, Iterable, Sequence

from plimsoll.model.host_key import host_key
from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.run import Recording, StoredRun
from plimsoll.model.samples import Samples, joined
from plimsoll.model.series import Series
from plimsoll.store.bucketed import bucketed
from plimsoll.store.m4 import Drawn, m4
from plimsoll.store.protocol import Buckets, FoundSeries, RunSummary, Store, WriteResult
from plimsoll.store.run_states import Claim, State
from plimsoll.store.victoriametrics.live import LiveSamples
from plimsoll.store.victoriametrics.turn import Turn


class VictoriaStore:
    """Live samples in VictoriaMetrics, and all that belongs to runs in the store `beside`, which keeps it exactly.

    See `plimsoll.store.protocol.Store`. Live samples differ from it: times are kept to the millisecond and values to
    about 15 digits, and of two values of the same series and time the higher one stays.
    """

    def __init__(self, live: LiveSamples, beside: Store) -> None:
        self._live = live
        self.beside = beside

    def turn(self) -> Turn:
        """The turn of this process to alert."""
        return Turn(self._live.server)

    @property
    def name(self) -> str:
        """The address of VictoriaMetrics, and where runs are."""
        return f"{self._live.name}, runs in {self.beside.name}"

    def close(self) -> None:
        """Close both."""
        self._live.close()
        self.beside.close()

    @property
    def settle_s(self) -> float:
        """How long after a write the store of runs may still lose it."""
        return self.beside.settle_s

    def write(self, batches: Iterable[Log], run: RunSummary | None = None) -> Generator[WriteResult]:
        """Write recorded samples beside."""
        return self.beside.write(batches, run)

    def write_points(self, points: Points) -> WriteResult:
        """Write live samples; VictoriaMetrics has acknowledged them when it returns."""
        return self._live.write_points(points)

    def remove(
        self,
        recording: Recording,
        keep: Sequence[Recording] = (),
        *,
        whole: bool = True,
        before_each: Callable[[], None] = lambda: None,
    ) -> None:
        """Remove the samples of a recording, except those that others contain too."""
        self.beside.remove(recording, keep, whole=whole, before_each=before_each)

    def recover(self) -> None:
        """Finish what an interrupted removal left to do."""
        self.beside.recover()

    def oldest(self) -> int | None:
        """The instant before which no recorded value is kept."""
        return self.beside.oldest()

    def hosts(self, start: int, end: int) -> list[str]:
        """The hosts with samples in a range, sorted."""
        found = [*self.beside.hosts(start, end), *self._live.hosts(start, end)]
        return sorted({host_key(one): one for one in reversed(found)}.values(), key=host_key)

    def series(self, start: int, end: int, hosts: Sequence[str] = (), *, live: bool = False) -> FoundSeries:
        """The series with a sample in a range, sorted; in one of many hours, live ones with a sample on its days."""
        found = self._live.series(start, end, hosts)
        if live:
            return FoundSeries(found, 0)
        recorded = self.beside.series(start, end, hosts)
        every = {one.key: one for one in [*found, *recorded.series]}
        return FoundSeries(sorted(every.values(), key=lambda one: one.key), recorded.text, recorded.unread)

    def read(
        self, series: Sequence[Series], start: int, end: int, *, live: bool = False, recorded: bool = False
    ) -> list[Samples]:
        """The samples of each series in a range; where a run and a live sample have the same time, that of the run."""
        if recorded:
            return self.beside.read(series, start, end, recorded=True)
        found = self._live.read(series, start, end)
        if live:
            return found
        return [_both(*pair) for pair in zip(self.beside.read(series, start, end), found, strict=True)]

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Samples that draw the line of each series in a range."""
        found = self._live.drawn(series, start, end, buckets)
        recorded = self.beside.drawn(series, start, end, buckets)
        mixed = [at for at, (a, b) in enumerate(zip(recorded, found, strict=True)) if a.count and b.count]
        drawn = [a if a.count else b for a, b in zip(recorded, found, strict=True)]
        for at, one in zip(mixed, self._read_some(series, mixed, start, end), strict=True):
            drawn[at] = Drawn(m4(one, start, end, buckets), len(one.times))
        return drawn

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Minimum, maximum and mean of each series in buckets."""
        found = self._live.buckets(series, start, end, width)
        recorded = self.beside.buckets(series, start, end, width)
        pairs = list(zip(recorded, found, strict=True))
        mixed = [at for at, (a, b) in enumerate(pairs) if len(a.times) and len(b.times)]
        result = [a if len(a.times) else b for a, b in pairs]
        for at, one in zip(mixed, self._read_some(series, mixed, start, end), strict=True):
            result[at] = bucketed(one, width)
        return result

    def counts(self, series: Sequence[Series], start: int, end: int, *, recorded: bool = False) -> list[int]:
        """How many samples each series has in a range."""
        if recorded:
            return self.beside.counts(series, start, end, recorded=True)
        return [len(one.times) for one in self.read(series, start, end)]

    def save(self, run: StoredRun) -> RunSummary:
        """Save a run in place of one of the same name."""
        return self.beside.save(run)

    def mark(self, run: RunSummary, state: State, *, loaded: int, refused: int) -> RunSummary:
        """Save the next state of a run."""
        return self.beside.mark(run, state, loaded=loaded, refused=refused)

    def runs(self) -> list[RunSummary]:
        """All runs, latest first."""
        return self.beside.runs()

    def run(self, name: str) -> StoredRun | None:
        """The run of a name."""
        return self.beside.run(name)

    def forget(self, run: RunSummary) -> None:
        """Remove a run from the list, but not its samples."""
        self.beside.forget(run)

    def claim(self, claim: Claim) -> None:
        """Write a claim."""
        self.beside.claim(claim)

    def beat(self, claim: Claim) -> None:
        """Save that the holder of a claim is alive."""
        self.beside.beat(claim)

    def claims(self, life_s: float) -> list[Claim]:
        """All claims."""
        return self.beside.claims(life_s)

    def withdraw(self, holder: str) -> None:
        """Remove the claim of a holder."""
        self.beside.withdraw(holder)

    def _read_some(self, series: Sequence[Series], which: Sequence[int], start: int, end: int) -> list[Samples]:
        return self.read([series[at] for at in which], start, end) if which else []


def _both(recorded: Samples, live: Samples) -> Samples:
    if not len(recorded.times):
        return live
    return joined([recorded, live]) if len(live.times) else recorded
