"""The inputs of a command: logs by their paths, a run in a store as `run:NAME`, live hosts as `live:HOST`."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ingest.find_logs import find_logs, skipped_folders
from ingest.open import STDIN
from ingest.read import read_logs, refusal
from ingest.reading import Reading
from ingest.several import remarks_on
from ingest.shared.zones import by_windows
from model.errors import Unusable, printable
from model.log import Log
from model.names import Names, shipped
from model.remark import Kind, Remark, counted
from model.run import StoredRun
from model.time_arguments import TimeRange
from model.times import SECOND, Zone
from plimsoll.console import print_remarks
from store.protocol import RunSummary
from store.run_states import State

RUN = "run:"
LIVE = "live:"
_HOUR = 3600 * SECOND
_DAY = 24 * _HOUR
_LAST_INSTANT = 2**62  # of what a store can be asked for


@dataclass(frozen=True)
class Inputs:
    """What to read and how, as typed.

    `sources` are the LOG arguments; a file whose name begins with `live:` is named `./live:x`. `when` is the time to
    read of live hosts; of logs and runs all is read.
    """

    sources: tuple[str, ...]
    zone: str | None = None
    format: str | None = None
    encoding: str | None = None
    names: tuple[Path, ...] = ()
    store: str | None = None
    when: TimeRange = field(default_factory=TimeRange)

    @property
    def requested_zone(self) -> Zone | None:
        """The zone given with --zone. Unusable if there is none of that name."""
        return by_windows(self.zone) or Zone.parse(self.zone) if self.zone is not None else None

    @property
    def run(self) -> str | None:
        """The name of the run to read, if it is one. Unusable if something else is named with it."""
        found = [source.removeprefix(RUN) for source in self.sources if source.startswith(RUN)]
        if found and len(self.sources) > 1:
            raise Unusable(f"{RUN}{found[0]}: name it alone; a run is reviewed by itself")
        return found[0] if found else None

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The live hosts to read, empty for all of them; None if logs or a run are named. Unusable if both are."""
        live = [source.startswith(LIVE) for source in self.sources]
        if not any(live):
            return None
        if not all(live):
            raise Unusable(f"{LIVE}HOST cannot be read together with logs or runs")
        return tuple(host for source in self.sources if (host := source.removeprefix(LIVE)))


class Found(NamedTuple):
    """The logs that were read, the remarks on all of them together, and the run if it is from a store.

    `whole` is True if the inputs are a whole run, as a folder is, and not some of its logs. `empty` are logs that
    were named and have no rows.
    """

    logs: list[Log]
    remarks: list[Remark]
    run: StoredRun | None = None
    whole: bool = False
    empty: tuple[Log, ...] = ()


def read(inputs: Inputs) -> Found:
    """Read the inputs. Unusable if no log can be read."""
    if inputs.run is not None:
        return _read_run(inputs, inputs.run)
    if inputs.hosts is not None:
        return _read_live(inputs, inputs.hosts)
    return _read_files(inputs)


def refuse_empty(found: Found) -> None:
    """Unusable if a log that was named has no rows: there is nothing in it to judge or load."""
    for log in found.empty:
        raise Unusable(f"{log.path}: no samples: it holds a header and no rows; record it again, or leave it out")


def _read_files(inputs: Inputs) -> Found:
    if "" in inputs.sources:
        raise Unusable('"": is no log; name logs, or a folder of them')
    names = Names(inputs.names) if inputs.names else shipped()
    how = Reading(inputs.requested_zone, inputs.format, inputs.encoding, names)
    logs: list[Log] = []
    remarks: list[Remark] = []
    empty: list[Log] = []
    refused: list[tuple[Unusable, Path]] = []
    paths = [Path(source) for source in inputs.sources]
    for path, in_folder in find_logs(paths):
        try:
            read_here, remarks_here = read_logs(path, how)
        except Unusable as error:
            if not in_folder:
                raise
            refused.append((error, path))
        else:
            logs += read_here
            remarks += remarks_here
            if not in_folder and len(read_here) == 1:
                empty += [log for log in read_here if not len(log.times)]
    remarks += [refusal(error, path, logs) for error, path in refused]
    skipped = skipped_folders(paths)
    if not logs:
        print_remarks(remarks)
        raise Unusable(f"{', '.join(inputs.sources)}: no log in it could be read{f'; {skipped}' if skipped else ''}")
    if skipped:
        remarks.append(Remark(Kind.SKIPPED, skipped))
    whole = any(path != STDIN and path.is_dir() for path in paths)
    return Found(logs, [*remarks, *remarks_on(logs)], whole=whole, empty=tuple(empty))


def _read_run(inputs: Inputs, name: str) -> Found:
    # Imported here, as reading files needs no store.
    from plimsoll.open_store import open_store  # noqa: PLC0415
    from store.logs import logs_of, lost_values  # noqa: PLC0415

    with open_store(inputs.store) as store:
        run = store.run(name)
        listed = {one.name: one for one in store.runs()}
        if name not in listed:
            raise Unusable(f'run "{printable(name)}" is not in {store.name}; it has {", ".join(listed) or "no runs"}')
        if run is None:
            raise Unusable(f"{store.name}: {nothing_known(name)}")
        logs = logs_of(store, run)
        remarks = [*run.remarks, *_incomplete(listed[name], run, lost_values(run, logs))]
        return Found(logs, remarks, run, whole=run.whole)


def nothing_known(name: str) -> str:
    """The error for a run of which nothing but its name is left."""
    return f'run "{name}" is incomplete: what it wrote is not known; load its logs again, with --merge, or delete it'


def _incomplete(listed: RunSummary, run: StoredRun, lost: int) -> Iterator[Remark]:
    """A remark if values of the run are not in the store. What is not there cannot be judged."""
    match listed.state:
        case State.COMPLETE if listed.refused:
            why = f"the store refused {counted(listed.refused, 'point')} when it was loaded"
        case State.COMPLETE if not lost:
            return
        case State.COMPLETE:
            why = "the store has lost them: call plimsoll ingest again"
        case State.LOADING:
            why = "it was loaded in part: call plimsoll ingest again"
        case State.DELETING:
            why = "its deletion was cut off: call plimsoll runs delete or plimsoll ingest again"
    yield Remark(Kind.UNREAD, f'run "{run.name}" lacks {lost:,} of {counted(run.values, "value")}: {why}')


def _read_live(inputs: Inputs, hosts: Sequence[str]) -> Found:
    from plimsoll.open_store import open_store  # noqa: PLC0415
    from store.logs import live  # noqa: PLC0415

    zone = inputs.requested_zone or Zone.parse("UTC")
    start, end = _live_range(inputs.when, zone)
    with open_store(inputs.store) as store:
        logs, remarks = live(store, start, end, hosts, zone)
        if not logs:
            who = ", ".join(hosts) or "any host"
            raise Unusable(f"{store.name}: nothing of {who} from {zone.clock(start)} to {zone.clock(end)}")
    return Found(logs, remarks, whole=not hosts)


def _live_range(when: TimeRange, zone: Zone) -> tuple[int, int]:
    """The range to read of live hosts (UTC ns): one hour if an end is open, the last hour if both are."""
    now = time.time_ns()
    # --from 10:22 is the latest 10:22 before now, and --to 10:22 the first one after --from.
    first, last = when.resolve(zone, now - _DAY, now, "it is")
    end = now if last is None else last
    start = end - _HOUR if first is None else first
    return max(start, 0), min(end, _LAST_INSTANT)
