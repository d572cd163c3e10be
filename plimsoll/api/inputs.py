"""The inputs to read: logs by path, a run in a store as `run:NAME`, live hosts as `live:HOST`."""

import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from plimsoll.ingest.files.open import STDIN
from plimsoll.ingest.read import NothingRead, find_logs, read_files, skipped_folders
from plimsoll.ingest.reading import LogSet, ReadOptions
from plimsoll.ingest.shared.zones import by_windows
from plimsoll.model.errors import Unusable, printable
from plimsoll.model.names import Names, shipped
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import SECOND, Zone

Notify: TypeAlias = Callable[[str], None]
_log = logging.getLogger(__name__)
RUN = "run:"
LIVE = "live:"
_HOUR = 3600 * SECOND
_DAY = 24 * _HOUR
_LAST_INSTANT = 2**62  # of the sources in a store


@dataclass(frozen=True)
class Inputs:
    """The inputs to read, as given by the user, and a function that reports what is being waited for.

    `sources` are the LOG arguments; a file whose name begins with `live:` must be given as `./live:x`. `when` is the
    range to read of live hosts; logs and runs are read completely. `measurements` are the measurements of the user's
    own
    signals: VictoriaMetrics needs them to split a metric's name into measurement and field. `partly` is as in
    `read_files`.
    """

    sources: tuple[str, ...]
    zone: str | None = None
    format: str | None = None
    encoding: str | None = None
    names: tuple[Path, ...] = ()
    store: str | None = None
    when: TimeRange = field(default_factory=TimeRange)
    notify: Notify = _log.warning
    measurements: Callable[[], Collection[str]] | None = None
    partly: bool = False

    @property
    def requested_zone(self) -> Zone | None:
        """The time zone given with --zone. Raise Unusable if it does not exist."""
        return by_windows(self.zone) or Zone.parse(self.zone) if self.zone is not None else None

    @property
    def run(self) -> str | None:
        """The name of the stored run to read, or None. Raise Unusable if other inputs are named with the run."""
        runs = [source.removeprefix(RUN) for source in self.sources if source.startswith(RUN)]
        if runs and len(self.sources) > 1:
            raise Unusable(f"{RUN}{runs[0]}: name it alone; a run is reviewed by itself")
        return runs[0] if runs else None

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The live hosts to read (empty: all), or None if logs or a run are read; Unusable if both are named."""
        live = [source.startswith(LIVE) for source in self.sources]
        if not any(live):
            return None
        if not all(live):
            raise Unusable(f"{LIVE}HOST cannot be read together with logs or runs")
        return tuple(host for source in self.sources if (host := source.removeprefix(LIVE)))


def named_inputs(
    sources: Sequence[str | PathLike[str]],
    when: TimeRange,
    zone: str | None,
    format_: str | None,
    encoding: str | None,
    names: Sequence[str | PathLike[str]],
    store: str | None,
) -> Inputs:
    """Return the inputs for the arguments of a Python call."""
    if not sources:
        raise Unusable("name a log, a folder of logs, run:NAME or live:HOST")
    paths = tuple(str(fspath(source)) for source in sources)
    return Inputs(paths, zone, format_, encoding, tuple(map(Path, names)), store, when)


def read(inputs: Inputs) -> LogSet:
    """Read the inputs. The notes of the result are remarks on the files. Raise Unusable if no log can be read."""
    if inputs.run is not None:
        from plimsoll.api.open_store import open_store  # noqa: PLC0415
        from plimsoll.ingest.runs.read_run import read_run  # noqa: PLC0415

        with open_store(inputs.store, notify=inputs.notify) as store:
            return read_run(store.runs, inputs.run)
    if inputs.hosts is not None:
        return _read_live(inputs, inputs.hosts)
    if "" in inputs.sources:
        raise Unusable('"": is no log; name logs, or a folder of them')
    names = Names(inputs.names) if inputs.names else shipped()
    options = ReadOptions(inputs.requested_zone, inputs.format, inputs.encoding, names)
    paths = [Path(source) for source in inputs.sources]
    whole = any(path != STDIN and path.is_dir() for path in paths)
    try:
        files = read_files(find_logs(paths), options, whole=whole, partly=inputs.partly)
    except NothingRead as error:
        skipped = skipped_folders(paths)
        unusable = Unusable(f"{', '.join(inputs.sources)}: {error}{f'; {skipped}' if skipped else ''}")
        for remark in error.remarks:
            unusable.add_note(printable(str(remark)))
        raise unusable from None
    skipped = skipped_folders(paths)
    return files._replace(remarks=[*files.remarks, Remark(Kind.SKIPPED, skipped)]) if skipped else files


def _read_live(inputs: Inputs, hosts: Sequence[str]) -> LogSet:
    """Read the samples of live hosts, all if none is named. Raise Unusable if there are none."""
    from plimsoll.api.open_store import open_store  # noqa: PLC0415
    from plimsoll.store.logs import live  # noqa: PLC0415

    zone = inputs.requested_zone or Zone.parse("UTC")
    start, end = _live_range(inputs.when, zone)
    with open_store(inputs.store, notify=inputs.notify, measurements=inputs.measurements) as store:
        logs, remarks = live(store.samples, start, end, hosts, zone)
        if not logs:
            who = ", ".join(hosts) or "any host"
            raise Unusable(f"{store.name}: nothing of {who} from {zone.clock(start)} to {zone.clock(end)}")
    return LogSet(logs, remarks, whole=not hosts, apart=True)


def _live_range(when: TimeRange, zone: Zone) -> tuple[int, int]:
    """Return the range to read of live hosts (UTC ns): one hour if one end is open, the last hour if both ends are."""
    now = time.time_ns()
    # --from 10:22 is the latest 10:22 before now, and --to 10:22 the first one after --from.
    first, last = when.resolve(zone, now - _DAY, now, "it is")
    end = now if last is None else last
    start = end - _HOUR if first is None else first
    return max(start, 0), min(end, _LAST_INSTANT)
