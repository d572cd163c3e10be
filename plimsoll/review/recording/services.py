"""Services of which nothing was recorded for a part of the time that their host was: they may have been down.

Windows' counters of SQL Server, a directory or a web server are blank while their service does not run.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache

from plimsoll.model.log import Log, Times, merge_times, sampling_interval
from plimsoll.model.remark import listed
from plimsoll.model.run import Planned
from plimsoll.model.series import LOAD_DRIVER, Series, host_key
from plimsoll.model.shipped_tables import shipped_table
from plimsoll.review.doubts import PAUSE, SHORTEST_ABSENCE
from plimsoll.review.findings import Doubt
from plimsoll.review.recording.host_spans import Absence, lost, recordings, times_by
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.subjects import has_object

_MOST_NAMED = 3
_CHECK = "see whether it was down"


def gone(
    logs: Sequence[Log],
    hosts: Sequence[str],
    host_of: Callable[[Series], str],
    part: tuple[int, int],
    packs: Iterable[Pack],
    planned: Sequence[Planned],
) -> Iterator[Doubt]:
    """Services with rules of their own of which nothing was recorded, or not for long after their first values."""
    names, services = {host_key(host): host for host in hosts}, _Services(packs)

    def key_of(series: Series) -> tuple[str, str] | None:
        service = services.of(series)
        return (names[host_key(host_of(series))], service) if service else None

    of_service = {key: _joined(times) for key, times in times_by(key_of, logs, part).items()}
    of_host = recordings(logs, hosts, host_of, part) if of_service else {}
    until: dict[tuple[str, str], int] = {}
    for log in logs:
        for key in set(filter(None, map(key_of, log.series))) if len(log.times) else ():
            until[key] = max(until.get(key, 0), int(log.times[-1]))
    together: dict[tuple[str, str], list[str]] = {}
    for (host, service), times in of_service.items():
        recorded = _joined(of_host[host])
        absence = _absence(recorded[recorded <= until[host, service]], times, planned)
        if absence.is_long:
            together.setdefault((host, str(absence)), []).append(service)
    never: dict[str, list[str]] = {}
    for host, service in until:
        if (host, service) not in of_service:
            never.setdefault(host, []).append(service)
    for host, items in never.items():
        yield Doubt(f"there is no value in what was recorded of {listed(items, _MOST_NAMED)} of {host}", _CHECK)
    texts = [f"{listed(entries, _MOST_NAMED)} of {host} for {absence}" for (host, absence), entries in together.items()]
    if texts:
        yield Doubt(f"nothing was recorded of {listed(texts, _MOST_NAMED)}", _CHECK)


class _Services:
    """What the packs for a kind of server are about: the first part of an object's name, or a measurement."""

    def __init__(self, packs: Iterable[Pack]) -> None:
        no_services = _no_services()
        self._roles = [pack.applies_to for pack in packs if pack.applies_to and pack.pack not in no_services["packs"]]
        self._left_out = [no_service.casefold() for no_service in no_services["objects"]]
        self._named: dict[tuple[str, str | None], str | None] = {}

    def of(self, series: Series) -> str | None:
        """Return the service a series is of; None if it is of none."""
        key = series.measurement, series.tag("objectname")
        if key not in self._named:
            name = key[1] or key[0]
            left_out = key[0] in LOAD_DRIVER or any(fnmatchcase(name.casefold(), text) for text in self._left_out)
            is_wanted = any(
                has_object(series, applies_to.objects, applies_to.measurements) for applies_to in self._roles
            )
            self._named[key] = name.partition(":")[0] if is_wanted and not left_out else None
        return self._named[key]


def _joined(times: Sequence[Times]) -> Times:
    return times[0] if len(times) == 1 else merge_times(times)


def _absence(host: Times, service: Times, planned: Sequence[Planned]) -> Absence:
    """For how long a host was recorded and a service was not, once it was; planned work is left out."""
    if len(service) == len(host):
        return Absence()
    counted = host >= service[0]
    for work in planned:
        if not work.rules:
            counted &= (host < work.start) | (host > work.end)
    host = host[counted]
    pause = int(max(SHORTEST_ABSENCE, PAUSE * (sampling_interval(service) or 0)))
    return Absence.while_recorded(host, lost(host, service, pause), pause) if len(host) > 1 else Absence()


@cache
def _no_services() -> dict[str, list[str]]:
    return shipped_table("plimsoll.review", "no_services.yaml", dict[str, list[str]])
