"""What a command reads: logs by their paths, a run in a store as `run:NAME`, or what was collected as `live:HOST`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ingest.open import STDIN
from ingest.read import read_logs, refusal
from ingest.reading import Reading
from ingest.several import remarks_on
from ingest.shared.zones import by_windows
from model.errors import Unusable, printable
from model.log import Log
from model.names import Names, shipped
from model.remark import Kind, Remark
from model.run import StoredRun
from model.time_arguments import TimeRange
from model.times import SECOND, Zone
from plimsoll.console import tell
from plimsoll.files import expand, not_looked_into

RUN = "run:"
LIVE = "live:"
_HOUR = 3600 * SECOND
_DAY = 24 * _HOUR


@dataclass(frozen=True)
class Named:
    """Which logs, run or hosts to read, and how, as typed. `when` cuts what is read of what was collected live.

    What a place begins with says which it is: `./live:x` is a file.
    """

    places: tuple[str, ...]
    zone: str | None = None
    format: str | None = None
    encoding: str | None = None
    names: tuple[Path, ...] = ()
    store: str | None = None
    when: TimeRange = field(default_factory=TimeRange)

    @property
    def shown_in(self) -> Zone | None:
        """The zone asked for."""
        return zone_named(self.zone) if self.zone is not None else None

    @property
    def run(self) -> str | None:
        """The run that is named. Unusable if something else is named beside it."""
        found = [place.removeprefix(RUN) for place in self.places if place.startswith(RUN)]
        if found and len(self.places) > 1:
            raise Unusable(f"{RUN}{found[0]}: name it alone; a run is reviewed by itself")
        return found[0] if found else None

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The hosts whose collected data are named, none meaning all of them; None where logs or a run are."""
        kinds = {place.startswith(LIVE) for place in self.places}
        if kinds == {True}:
            return tuple(host for place in self.places if (host := place.removeprefix(LIVE)))
        if True in kinds:
            raise Unusable(f"{LIVE}HOST cannot be read together with logs or runs")
        return None


def zone_named(text: str) -> Zone:
    """A zone as `Zone.parse` reads it, or by Windows' name, `GMT Standard Time`. Unusable if it is neither."""
    return by_windows(text) or Zone.parse(text)


class Read(NamedTuple):
    """Logs, what is to be said of them together, and the run they are of where a store knows it.

    `whole` is whether all there is of a run was to be read, as from a folder, and not single logs of it; `bare` are
    logs that were named and hold no row.
    """

    logs: list[Log]
    remarks: list[Remark]
    run: StoredRun | None = None
    whole: bool = False
    bare: tuple[Log, ...] = ()


def read(named: Named) -> Read:
    """Read what was named. Unusable if there is nothing."""
    if named.run is not None:
        return _run(named, named.run)
    if named.hosts is not None:
        return _live(named, named.hosts)
    return _logs(named)


def _logs(named: Named) -> Read:
    if "" in named.places:
        raise Unusable('"": is no log; name logs, or a folder of them')
    names = Names(named.names) if named.names else shipped()
    how = Reading(named.shown_in, named.format, named.encoding, names)
    logs: list[Log] = []
    remarks: list[Remark] = []
    bare: list[Log] = []
    refused: list[tuple[Unusable, Path]] = []
    paths = [Path(place) for place in named.places]
    for path, in_a_folder in expand(paths):
        try:
            found, said = read_logs(path, how)
        except Unusable as error:
            if not in_a_folder:
                raise
            refused.append((error, path))
        else:
            logs += found
            remarks += said
            if not in_a_folder and len(found) == 1:
                bare += [log for log in found if not len(log.times)]
    remarks += [refusal(error, path, logs) for error, path in refused]
    inside = not_looked_into(paths)
    if not logs:
        tell(remarks)
        raise Unusable(f"{', '.join(named.places)}: no log in it could be read{f'; {inside}' if inside else ''}")
    if inside:
        remarks.append(Remark(Kind.SKIPPED, inside))
    whole = any(path != STDIN and path.is_dir() for path in paths)
    return Read(logs, [*remarks, *remarks_on(logs)], whole=whole, bare=tuple(bare))


def refuse_bare(found: Read) -> None:
    """Unusable, naming it, if a log that was named holds no row: nothing can be judged, or kept, of it."""
    for log in found.bare:
        raise Unusable(f"{log.path}: no samples: it holds a header and no rows; record it again, or leave it out")


def _run(named: Named, name: str) -> Read:
    from plimsoll.stores import opened  # noqa: PLC0415  not everybody has a store
    from store.logs import logs_of  # noqa: PLC0415

    with opened(named.store) as store:
        run = store.run(name)
        listed = {one.name: one for one in store.runs()}
        if run is None:
            raise Unusable(f'run "{printable(name)}" is not in {store.name}; it has {", ".join(listed) or "no runs"}')
        remarks = [*run.remarks]
        if not listed[name].complete:
            done = f"{listed[name].loaded:,} of {listed[name].values:,} values"
            remarks.append(
                Remark(Kind.SKIPPED, f'run "{name}" was loaded in part ({done}): call plimsoll ingest again')
            )
        if refused := listed[name].refused:
            remarks.append(Remark(Kind.SKIPPED, f'{refused:,} points of run "{name}" were refused when it was loaded'))
        return Read(logs_of(store, run), remarks, run, whole=run.whole)


def _live(named: Named, hosts: Sequence[str]) -> Read:
    from plimsoll.stores import opened  # noqa: PLC0415
    from store.logs import live  # noqa: PLC0415

    zone = named.shown_in or Zone.parse("UTC")
    start, end = _range(named, zone)
    with opened(named.store) as store:
        logs, remarks = live(store, start, end, hosts, zone)
        if not logs:
            who = ", ".join(hosts) or "any host"
            raise Unusable(f"{store.name}: nothing of {who} from {zone.clock(start)} to {zone.clock(end)}")
    return Read(logs, remarks, whole=not hosts)


def _range(named: Named, zone: Zone) -> tuple[int, int]:
    """From when to when: an hour where one end is not said, the last one where neither is. Unusable if it is none."""
    now = time.time_ns()
    # A clock time is the latest there was; the end is the first such time after the start.
    first, last = named.when.resolve(zone, now - _DAY, now, "it is")
    end = now if last is None else last
    start = end - _HOUR if first is None else first
    return max(start, 0), min(end, 2**62)
