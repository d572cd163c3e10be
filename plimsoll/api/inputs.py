"""The inputs to read: logs by path, a stored run as `run:NAME`, live hosts as `live:HOST`, servers by URL."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from plimsoll.ingest.files.open import STDIN
from plimsoll.ingest.read import NothingRead, describe_skipped_folders, find_logs, read_files
from plimsoll.ingest.reading import LogSet, ReadOptions
from plimsoll.ingest.shared.zones import find_windows_zone
from plimsoll.model.errors import Unusable, escape
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.names import Names, load_shipped
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import Zone
from plimsoll.receive.servers.address import find_scheme
from plimsoll.receive.servers.registry import SERVERS

if TYPE_CHECKING:
    from plimsoll.rules.schema.signal import Signal

Notify: TypeAlias = Callable[[str], None]
_log = logging.getLogger(__name__)
RUN = "run:"
LIVE = "live:"


@dataclass(frozen=True)
class Inputs:
    """The inputs to read, as the user names them. `notify` is called with what reading waits for.

    `sources` are the LOG arguments; a file whose name begins with `live:` must be written as `./live:x`. `when` is the
    range to read of live hosts and servers; logs and runs are read completely. `signals` returns the shipped signals
    and the user's own, which decide which metrics of a server are read, and how names in VictoriaMetrics are split.
    `only_hosts` and `match` (a condition of PromQL) limit what is read of servers. `partly` is as in `read_files`,
    `progress` as in `ReadOptions`.
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
    progress: Callable[[int], None] | None = None

    @property
    def requested_zone(self) -> Zone | None:
        """The time zone that the user named (--zone), or None. Raise Unusable if it does not exist."""
        return find_windows_zone(self.zone) or Zone.parse(self.zone) if self.zone is not None else None

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
        return tuple(source for source in urls if find_scheme(source, SERVERS))

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


def name_inputs(
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
    if inputs.run is not None or inputs.hosts is not None or inputs.servers:
        # Stores and clients of servers are slow to import, and logs need none.
        from plimsoll.api.stored_inputs import read_stored  # noqa: PLC0415

        return read_stored(inputs, read)
    if inputs.only_hosts or inputs.match:
        raise Unusable(f"{Parameter.HOST} and {Parameter.MATCH} are for a server, such as prometheus://HOST:9090")
    if "" in inputs.sources:
        raise Unusable('"": is no log; name logs, or a folder of them')
    names = Names(inputs.names) if inputs.names else load_shipped()
    options = ReadOptions(inputs.requested_zone, inputs.format, inputs.encoding, names, progress=inputs.progress)
    paths = [Path(source) for source in inputs.sources]
    whole = any(path != STDIN and path.is_dir() for path in paths)
    try:
        files = read_files(find_logs(paths), options, whole=whole, partly=inputs.partly)
    except NothingRead as error:
        skipped = describe_skipped_folders(paths)
        unusable = Unusable(f"{', '.join(inputs.sources)}: {error}{f'; {skipped}' if skipped else ''}")
        for remark in error.remarks:
            unusable.add_note(escape(str(remark)))
        raise unusable from None
    skipped = describe_skipped_folders(paths)
    return files._replace(remarks=[*files.remarks, Remark(Kind.SKIPPED, skipped)]) if skipped else files
