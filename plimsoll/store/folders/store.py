"""The store that keeps each run as a folder of Parquet files, in a folder that several computers may share.

    FOLDER/plimsoll-runs.json      says that it is one, and its version
    FOLDER/nightly-42/run.json     the run: name, hosts, labels, state
                      manifest     what was loaded: files, times, series, remarks, settings
                      000000-....parquet
    FOLDER/.GENERATION/            a run that is being loaded, or deleted
    FOLDER/.claims/                who loads or deletes a run

A run has its name when it is complete: what is read is whole. All that is in the folder of a run goes with it.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from plimsoll.model.errors import Unusable
from plimsoll.model.host_key import host_key
from plimsoll.model.log import Log
from plimsoll.model.points import Points
from plimsoll.model.run import Recording
from plimsoll.model.samples import Samples, joined
from plimsoll.model.series import Series, hosts_of
from plimsoll.store.bucketed import bucketed
from plimsoll.store.folders import files, samples
from plimsoll.store.folders.claims import Claims
from plimsoll.store.folders.runs import VERSION, FolderRuns, read_json
from plimsoll.store.line_protocol import as_stored
from plimsoll.store.m4 import Drawn, m4
from plimsoll.store.protocol import Buckets, FoundSeries, RunSummary, WriteResult
from plimsoll.store.run_states import Claim, State, Work

MARK = "plimsoll-runs.json"
PREFIX = "runs:"
_NOTHING = Samples(np.empty(0, np.int64), np.empty(0))


def folder_of_runs(store: str) -> Path | None:
    """The folder of runs that a store is named by: `runs:FOLDER`, or the path of one that is there; None for others."""
    if store.startswith(PREFIX):
        return Path(store.removeprefix(PREFIX))
    return Path(store) if (Path(store) / MARK).is_file() else None


class RunFolders(FolderRuns):
    """Runs in a folder. See `plimsoll.store.protocol.Store`; it takes no live samples.

    Values of a run are read when it is complete, and before that by the store through which it is being loaded.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._claims = Claims(folder / ".claims")
        self._loading: dict[str, str] = {}
        self._known: dict[Path, samples.File] = {}

    @classmethod
    def open(cls, folder: Path, *, make: bool = False) -> "RunFolders":
        """Open a folder of runs. With `make`, an empty or missing one becomes one. Unusable if it is none.

        Hidden files do not count: another process may be making it one, and shares have some of their own.
        """
        mark = folder / MARK
        with files.told(folder):
            if make and not mark.exists():
                folder.mkdir(parents=True, exist_ok=True)
                held = any(not one.name.startswith(".") for one in folder.iterdir())
                if held and not mark.exists():
                    raise Unusable(f"{folder}: is no folder of runs, and not empty; name a new one")
                files.write(mark, lambda file: file.write(json.dumps({"version": VERSION}).encode()))
            if not mark.exists():
                raise Unusable(f"{folder}: is no folder of runs; plimsoll ingest makes one")
            read_json(mark)
        return cls(folder)

    def close(self) -> None:
        """Nothing: no file is kept open."""

    @property
    def settle_s(self) -> float:
        """None: what is committed is on the disk."""
        return 0.0

    def write(self, batches: Iterable[Log], run: RunSummary | None = None) -> Generator[WriteResult]:
        """Write each batch as a file in the folder of the run, which must be loading."""
        if run is None:
            raise Unusable(f"{self.name}: keeps only what belongs to a run")
        folder = self.hidden(run)
        with files.told(folder):
            number = len(samples.files_of(folder))
            for at, batch in enumerate(batches, number):
                samples.write(folder, at, batch)
                yield WriteResult(batch.present)

    def write_points(self, points: Points) -> WriteResult:
        """Unusable: live samples belong to no run."""
        raise Unusable(f"{self.name}: is a folder of runs, and keeps no live samples; name another store for them")

    def remove(
        self,
        recording: Recording,
        keep: Sequence[Recording] = (),
        *,
        whole: bool = True,
        before_each: Callable[[], None] = lambda: None,
    ) -> None:
        """Nothing: the samples of a run are removed with it, and those of others are theirs."""
        before_each()

    def recover(self) -> None:
        """Remove folders whose removal was cut off, and those of runs that were not even saved an hour ago."""
        with files.told(self._folder), suppress(FileNotFoundError):
            for folder in self.leftovers():
                files.remove(folder)

    def oldest(self) -> int | None:
        """None: runs are kept for ever."""
        return None

    def hosts(self, start: int, end: int) -> list[str]:
        """The hosts with samples in a range, sorted."""
        return sorted(hosts_of(self.series(start, end).series), key=host_key)

    def series(self, start: int, end: int, hosts: Sequence[str] = (), *, live: bool = False) -> FoundSeries:
        """The series with a sample in a range, sorted."""
        asked = {host_key(host) for host in hosts}
        found: dict[object, Series] = {}
        for file in [] if live else self._files(start, end):
            new = {
                key: one
                for key, one in file.columns.items()
                if key not in found and (not hosts or host_key(one.host) in asked)
            }
            found.update((key, new[key]) for key, one in self._rows(file, [*new], start, end) if len(one.times))
        return FoundSeries(sorted(found.values(), key=lambda one: one.key), 0)

    def read(
        self, series: Sequence[Series], start: int, end: int, *, live: bool = False, recorded: bool = False
    ) -> list[Samples]:
        """The samples of each series in a range; of runs that have the same, those of the one that was saved last."""
        keys = [as_stored(one).key for one in series]
        parts: dict[object, list[Samples]] = defaultdict(list)
        for file in [] if live else self._files(start, end):
            wanted = [key for key in dict.fromkeys(keys) if key in file.columns]
            for key, one in self._rows(file, wanted, start, end):
                parts[key].append(one)
        return [_one(parts.get(key, [])) for key in keys]

    def drawn(self, series: Sequence[Series], start: int, end: int, buckets: int) -> list[Drawn]:
        """Samples that draw the line of each series in a range."""
        return [Drawn(m4(one, start, end, buckets), len(one.times)) for one in self.read(series, start, end)]

    def buckets(self, series: Sequence[Series], start: int, end: int, width: int) -> list[Buckets]:
        """Minimum, maximum and mean of each series in buckets."""
        return [bucketed(one, width) for one in self.read(series, start, end)]

    def counts(self, series: Sequence[Series], start: int, end: int, *, recorded: bool = False) -> list[int]:
        """How many samples each series has in a range."""
        return [len(one.times) for one in self.read(series, start, end)]

    def claim(self, claim: Claim) -> None:
        """Write a claim."""
        self._claims.claim(claim)
        if claim.work is Work.LOADING:
            self._loading[claim.holder] = claim.run

    def beat(self, claim: Claim) -> None:
        """Save that the holder of a claim is alive."""
        self._claims.beat(claim)

    def claims(self, life_s: float) -> list[Claim]:
        """All claims."""
        return self._claims.claims(life_s)

    def withdraw(self, holder: str) -> None:
        """Remove the claim of a holder."""
        self._loading.pop(holder, None)
        self._claims.withdraw(holder)

    def _files(self, start: int, end: int) -> list[samples.File]:
        """The files with rows in a range; those that were written last come first."""
        loading = {*self._loading.values()}
        found: list[samples.File] = []
        for held in sorted(self.all(), key=lambda one: -one.saved):
            readable = held.run.complete or (held.run.state is State.LOADING and held.run.name in loading)
            if readable and held.run.start <= end and start <= held.run.end:
                found += filter(None, map(self._file, reversed(samples.files_of(held.folder))))
        return [one for one in found if one.first <= end and start <= one.last]

    def _file(self, path: Path) -> samples.File | None:
        if path not in self._known:
            with files.told(path):
                try:
                    self._known[path] = samples.File.of(path)
                except FileNotFoundError:
                    return None  # the run was deleted meanwhile
        return self._known[path]

    def _rows(
        self, file: samples.File, keys: Sequence[object], start: int, end: int
    ) -> Iterable[tuple[object, Samples]]:
        """The samples of a file; none if its run was deleted meanwhile."""
        with files.told(file.path), suppress(FileNotFoundError):
            return list(file.rows(keys, start, end)) if keys else []
        return []


def _one(parts: Sequence[Samples]) -> Samples:
    if len(parts) == 1 and bool((parts[0].times[1:] > parts[0].times[:-1]).all()):
        return parts[0]
    return joined(parts) if parts else _NOTHING
