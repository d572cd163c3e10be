"""Reads inputs that are no files: a stored run, live hosts, and servers that recorded samples."""

import time
from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path

from plimsoll.alerting import silences
from plimsoll.alerting.alerts_file import AlertsFile, is_like
from plimsoll.api.data_folder import find_default_folder
from plimsoll.api.inputs import Inputs
from plimsoll.api.open_store import open_store
from plimsoll.ingest.reading import LogSet
from plimsoll.ingest.runs.read_run import read_run
from plimsoll.model.counter_names.own_names import load_stored_names
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.series import make_host_key
from plimsoll.model.time_arguments import TimeRange
from plimsoll.model.times import SECOND, Zone
from plimsoll.receive.servers.address import ServerAddress, find_scheme
from plimsoll.receive.servers.registry import SERVERS
from plimsoll.receive.servers.renamed import StoredNames
from plimsoll.rules.load import load
from plimsoll.store.logs import read_live_logs

_HOUR = 3600 * SECOND
_DAY = 24 * _HOUR
_LAST_INSTANT = 2**62  # of the sources in a store


def read_stored(inputs: Inputs, read: Callable[[Inputs], LogSet]) -> LogSet:
    """Read the stored run, the live hosts or the servers among the inputs; `read` reads logs beside servers.

    Raise Unusable if the run, or samples of the hosts, do not exist.
    """
    if inputs.run is not None:
        with open_store(inputs.store, notify=inputs.notify) as store:
            return read_run(store.runs, inputs.run)
    return _read_servers(inputs, read) if inputs.hosts is None else _read_live(inputs, inputs.hosts)


def _read_live(inputs: Inputs, hosts: Sequence[str]) -> LogSet:
    """Read the samples of live hosts (empty, all hosts). Raise Unusable if there are no samples."""
    zone = inputs.requested_zone or Zone.parse("UTC")
    start, end = _find_live_range(inputs.when, zone)
    with open_store(inputs.store, notify=inputs.notify, signals=inputs.signals) as store:
        logs, remarks = read_live_logs(store.samples, start, end, hosts, zone)
        if not logs:
            who = ", ".join(hosts) or "any host"
            raise Unusable(f"{store.name}: nothing of {who} from {zone.clock(start)} to {zone.clock(end)}")
    names = {name for log in logs for name in log.hosts}
    remarks = [*remarks, *_remark_maintenance(inputs.store, names, start, end, zone)]
    return LogSet(logs, remarks, whole=not hosts, apart=True)


def _remark_maintenance(
    store: str | None, hosts: Collection[str], start: int, end: int, zone: Zone
) -> Iterator[Remark]:
    """Yield a remark on each planned maintenance of these hosts in a range (UTC ns), by the alerts.db of `store`."""
    folder = Path(store) if store is not None and Path(store).is_dir() else find_default_folder()
    with ExitStack() as closing_file, suppress(Unusable):
        file = closing_file.enter_context(closing(AlertsFile.existing(folder)))
        for planned in silences.read_maintenance(file, start, end):
            if any(is_like(host, planned.host) for host in hosts):
                whose = ", ".join(text for text in (planned.rule, planned.host) if text != "*")
                place = f" ({whose})" if whose else ""
                span = zone.span(planned.start, planned.until)
                yield Remark(Kind.NOTED, f"planned maintenance{place}, {span}: {planned.reason}")


def _read_servers(inputs: Inputs, read: Callable[[Inputs], LogSet]) -> LogSet:
    """Read the servers among the sources, and by `read` the logs that are named with them.

    If no range is named, the servers are read in the range of the logs. Raise Unusable if a server has no samples, or
    none of a named host.
    """
    logs_beside = tuple(source for source in inputs.sources if source not in inputs.servers)
    files = LogSet([], [], apart=True)
    if logs_beside:
        files = read(replace(inputs, sources=logs_beside, only_hosts=(), match=None))
    signals = inputs.signals() if inputs.signals else load().signals
    names = [StoredNames(*load_stored_names(path)) for path in inputs.names]
    renamed = StoredNames(*(dict(ChainMap(*map(dict, parts))) for parts in zip(*names, strict=True)))
    zone = inputs.requested_zone or next((log.zone for log in files.logs), Zone.parse("UTC"))
    for source in inputs.servers:
        kind = SERVERS[find_scheme(source, SERVERS) or ""]
        address = ServerAddress.parse(source, kind.settings)
        if inputs.match and "match" in kind.settings:
            address = replace(address, settings={"match": inputs.match, **address.settings})
        hosts = address.hosts or inputs.only_hosts
        start, end = _find_server_range(address.when or inputs.when, zone, files.logs)
        with kind.open(address, signals, renamed, inputs.notify) as reader:
            logs, remarks = read_live_logs(reader, start, end, hosts, zone, address.scheme, kind.title)
        read_hosts = {make_host_key(host) for log in logs for host in log.hosts}
        missing = [host for host in hosts if make_host_key(host) not in read_hosts]
        if missing or not logs:
            who = ", ".join(missing) or "any host"
            raise Unusable(
                f"{address.name}: nothing of {who} that is judged, from {zone.clock(start)} to {zone.clock(end)}; "
                f"name the time with {Parameter.FROM} and {Parameter.TO}, and see which hosts and metrics it has"
            )
        files = files._replace(logs=[*files.logs, *logs], remarks=[*files.remarks, *remarks])
    return files._replace(whole=not logs_beside and not inputs.only_hosts)


def _find_server_range(when: TimeRange, zone: Zone, logs: Sequence[Log]) -> tuple[int, int]:
    """Return the range to read of a server (UTC ns). Open ends are taken from the logs, if any log has rows."""
    ends = [int(log.times[end]) for log in logs if len(log.times) for end in (0, -1)]
    if not ends:
        return _find_live_range(when, zone)
    first, last = when.resolve(zone, min(ends), max(ends))
    return min(ends) if first is None else first, max(ends) if last is None else last


def _find_live_range(when: TimeRange, zone: Zone) -> tuple[int, int]:
    """Return the range to read of live hosts (UTC ns).

    An open begin is an hour before the end, and an open end is now.
    """
    now = time.time_ns()
    # --from 10:22 is the latest 10:22 before now, and --to 10:22 the first one after --from.
    first, last = when.resolve(zone, now - _DAY, now, "it is")
    end = now if last is None else last
    start = end - _HOUR if first is None else first
    return max(start, 0), min(end, _LAST_INSTANT)
