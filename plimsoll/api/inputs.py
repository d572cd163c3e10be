"""The inputs to read: logs by path, a stored run as `run:NAME`, live hosts as `live:HOST`, servers by URL."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from plimsoll.ingest.files.open import STDIN
from plimsoll.ingest.read import NothingRead, find_logs, read_files, skipped_folders
from plimsoll.ingest.reading import LogSet, ReadOptions
from plimsoll.ingest.shared.zones import by_windows
from plimsoll.model.errors import Unusable, printable
from plimsoll.model.log import Log
from plimsoll.model.names import Names, shipped
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.series import host_key
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import SECOND, Zone
from plimsoll.receive.servers.address import ServerAddress, scheme_of
from plimsoll.receive.servers.registry import SERVERS

if TYPE_CHECKING:
    from plimsoll.rules.schema.signal import Signal

Notify: TypeAlias = Callable[[str], None]
_log = logging.getLogger(__name__)
RUN = "run:"
LIVE = "live:"
_HOUR = 3600 * SECOND
_DAY = 24 * _HOUR
_LAST_INSTANT = 2**62  # of the sources in a store


@dataclass(frozen=True)
class Inputs:
    """The inputs to read, as the user names them. `notify` is called with what reading waits for.

    `sources` are the LOG arguments; a file whose name begins with `live:` must be written as `./live:x`. `when` is the
    range to read of live hosts and servers; logs and runs are read completely. `signals` returns the shipped signals
    and the user's own, which decide which metrics of a server are read, and how names in VictoriaMetrics are split.
    `only_hosts` and `match` (a condition of PromQL) limit what is read of servers. `partly` is as in `read_files`.
    """

    sources: tuple[str, ...]
    zone: str | None = None
    format: str | None = None
    encoding: str | None = None
    names: tuple[Path, ...] = ()
    store: str | None = None
    when: TimeRange = field(default_factory=TimeRange)
    notify: Notify = _log.warning
    signals: Callable[[], Mapping[str, "Signal"]] | None = None
    only_hosts: tuple[str, ...] = ()
    match: str | None = None
    partly: bool = False

    @property
    def requested_zone(self) -> Zone | None:
        """The time zone that the user named (--zone), or None. Raise Unusable if it does not exist."""
        return by_windows(self.zone) or Zone.parse(self.zone) if self.zone is not None else None

    @property
    def run(self) -> str | None:
        """The name of the stored run to read, or None. Raise Unusable if the sources name anything besides the run."""
        runs = [source.removeprefix(RUN) for source in self.sources if source.startswith(RUN)]
        if runs and len(self.sources) > 1:
            raise Unusable(f"{RUN}{runs[0]}: name it alone; a run is reviewed by itself")
        return runs[0] if runs else None

    @property
    def servers(self) -> tuple[str, ...]:
        """The URLs of servers among the sources. Raise Unusable for a URL that is not of such a server."""
        urls = (source for source in self.sources if not source.startswith((RUN, LIVE)))
        return tuple(source for source in urls if scheme_of(source, SERVERS))

    @property
    def is_part(self) -> bool:
        """Whether all sources are live hosts or servers, of which only the range `when` is read."""
        return self.hosts is not None or len(self.servers) == len(self.sources)

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The live hosts to read (empty: all hosts); None if no source is a live host.

        Raise Unusable if the sources name live hosts together with anything else.
        """
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
    """Return the inputs that the arguments of a Python call name. Raise Unusable if there is no source."""
    if not sources:
        raise Unusable("name a log, a folder of logs, run:NAME or live:HOST")
    paths = tuple(str(fspath(source)) for source in sources)
    return Inputs(paths, zone, format_, encoding, tuple(map(Path, names)), store, when)


def read(inputs: Inputs) -> LogSet:
    """Read the inputs. Raise Unusable if no log can be read; the notes of the error are the remarks on the files."""
    if inputs.run is not None:
        from plimsoll.api.open_store import open_store  # noqa: PLC0415
        from plimsoll.ingest.runs.read_run import read_run  # noqa: PLC0415

        with open_store(inputs.store, notify=inputs.notify) as store:
            return read_run(store.runs, inputs.run)
    if inputs.hosts is not None:
        return _read_live(inputs, inputs.hosts)
    if inputs.servers:
        return _read_servers(inputs)
    if inputs.only_hosts or inputs.match:
        raise Unusable(f"{Parameter.HOST} and {Parameter.MATCH} are for a server, such as prometheus://HOST:9090")
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
    """Read the samples of live hosts (empty, all hosts). Raise Unusable if there are no samples."""
    from plimsoll.api.open_store import open_store  # noqa: PLC0415
    from plimsoll.store.logs import live  # noqa: PLC0415

    zone = inputs.requested_zone or Zone.parse("UTC")
    start, end = _live_range(inputs.when, zone)
    with open_store(inputs.store, notify=inputs.notify, signals=inputs.signals) as store:
        logs, remarks = live(store.samples, start, end, hosts, zone)
        if not logs:
            who = ", ".join(hosts) or "any host"
            raise Unusable(f"{store.name}: nothing of {who} from {zone.clock(start)} to {zone.clock(end)}")
    return LogSet(logs, remarks, whole=not hosts, apart=True)


def _read_servers(inputs: Inputs) -> LogSet:
    """Read the servers among the sources, and the logs that are named with them.

    If no range is named, the servers are read in the range of the logs. Raise Unusable if a server has no samples, or
    none of a named host.
    """
    from plimsoll.rules.load import load  # noqa: PLC0415
    from plimsoll.store.logs import live  # noqa: PLC0415

    others = tuple(source for source in inputs.sources if source not in inputs.servers)
    files = read(replace(inputs, sources=others, only_hosts=(), match=None)) if others else LogSet([], [], apart=True)
    signals = inputs.signals() if inputs.signals else load().signals
    zone = inputs.requested_zone or next((log.zone for log in files.logs), Zone.parse("UTC"))
    for source in inputs.servers:
        kind = SERVERS[scheme_of(source, SERVERS) or ""]
        address = ServerAddress.parse(source, kind.settings)
        if inputs.match and "match" in kind.settings:
            address = replace(address, settings={"match": inputs.match, **address.settings})
        hosts = address.hosts or inputs.only_hosts
        start, end = _server_range(address.when or inputs.when, zone, files.logs)
        with kind.opened(address, signals, inputs.notify) as reader:
            logs, remarks = live(reader, start, end, hosts, zone, address.scheme, kind.title)
        found = {host_key(host) for log in logs for host in log.hosts}
        missing = [host for host in hosts if host_key(host) not in found]
        if missing or not logs:
            who = ", ".join(missing) or "any host"
            raise Unusable(
                f"{address.name}: nothing of {who} that is judged, from {zone.clock(start)} to {zone.clock(end)}; "
                f"name the time with {Parameter.FROM} and {Parameter.TO}, and see which hosts and metrics it has"
            )
        files = files._replace(logs=[*files.logs, *logs], remarks=[*files.remarks, *remarks])
    return files._replace(whole=not others and not inputs.only_hosts)


def _server_range(when: TimeRange, zone: Zone, logs: Sequence[Log]) -> tuple[int, int]:
    """Return the range to read of a server (UTC ns). An open end is that of the logs, if any has rows."""
    ends = [int(log.times[end]) for log in logs if len(log.times) for end in (0, -1)]
    if not ends:
        return _live_range(when, zone)
    first, last = when.resolve(zone, min(ends), max(ends))
    return min(ends) if first is None else first, max(ends) if last is None else last


def _live_range(when: TimeRange, zone: Zone) -> tuple[int, int]:
    """Return the range to read of live hosts (UTC ns).

    An open begin is an hour before the end, and an open end is now.
    """
    now = time.time_ns()
    # --from 10:22 is the latest 10:22 before now, and --to 10:22 the first one after --from.
    first, last = when.resolve(zone, now - _DAY, now, "it is")
    end = now if last is None else last
    start = end - _HOUR if first is None else first
    return max(start, 0), min(end, _LAST_INSTANT)
