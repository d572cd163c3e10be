"""Doubts about when hosts and their services were recorded: pauses of the recorder, restarts, missing services.

While SQL Server, a directory or a web server is stopped, Windows leaves its counters empty.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import PurePath
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import Log, Times, Values, find_other_intervals, find_sampling_interval, merge_times
from plimsoll.model.remark import RESTARTED, STARTED, Remark, format_count, join_names
from plimsoll.model.run import Planned
from plimsoll.model.series import LOAD_DRIVER, Series, make_host_key
from plimsoll.model.shipped_tables import load_shipped_table
from plimsoll.model.times import SECOND, format_duration
from plimsoll.review.doubts import PAUSE, SHORTEST_ABSENCE, Clock, advise_part, compute_long_absence
from plimsoll.review.findings import Doubt
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.subjects import has_object, is_among

_CHECK = "see whether it was down"
_UPTIME, _PAGE_LIFE = "system.uptime", "sql.page_life_expectancy"
_EMPTIED = 3000  # s; our choice
_SHORTEST_GAP = 60 * SECOND  # and PAUSE intervals: rules have no values in it, either
LONG_PAUSE = 120 * SECOND  # from which on the first screen says when it was; our choice
_MOST_NAMED = 3
_BOOT = 60 * SECOND  # the first program starts at most this long before or after the begin of the system's uptime
# Our choice: separate recordings, as on two days, are further apart than each is long.
_APART = 1.5
_MEANT = "if that was meant, name the time under [[run.except]] in plimsoll.toml"
Key = TypeVar("Key", bound=Hashable)


def find_rows_of_hosts(
    logs: Iterable[Log], part: tuple[int, int], loaded: tuple[int, int] | None = None
) -> tuple[int, int]:
    """Return the first and last row (UTC ns), within `part`, of all logs of hosts; (0, 0) without rows.

    The load of a load driver, from the one time of `loaded` to the other, counts, too.
    """
    of_hosts = [log.times for log in logs if any(series.measurement not in LOAD_DRIVER for series in log.series)]
    inside = [values for times in of_hosts if len(values := times[(times >= part[0]) & (times <= part[1])])]
    if not inside:
        return 0, 0
    first, last = loaded or (part[1], part[0])
    return min(first, *(int(values[0]) for values in inside)), max(last, *(int(values[-1]) for values in inside))


def map_recordings(
    logs: Iterable[Log], hosts: Sequence[str], host_of: Callable[[Series], str], part: tuple[int, int]
) -> dict[str, list[Times]]:
    """Return, by host, the times (UTC ns) within `part` of each recording of the host; load drivers are left out."""
    names = {make_host_key(host): host for host in hosts}
    return map_times(
        lambda series: None if series.measurement in LOAD_DRIVER else names[make_host_key(host_of(series))], logs, part
    )


def map_times(
    key_of: Callable[[Series], Key | None], logs: Iterable[Log], part: tuple[int, int]
) -> dict[Key, list[Times]]:
    """Return by key, for each log, the times within `part` (UTC ns) of rows with a value in any series of the key.

    `key_of` returns the key of a series, None to leave the series out. Rows without values do not count, as a recorder
    may continue without getting values.
    """
    times_lists: dict[Key, list[Times]] = {}
    for log in logs:
        first, stop = np.searchsorted(log.times, [part[0], part[1] + 1]).tolist()
        columns: dict[Key, list[int]] = {}
        for at, series in enumerate(log.series):
            if (key := key_of(series)) is not None:
                columns.setdefault(key, []).append(at)
        in_memory = log.in_memory
        for key, items in columns.items():
            ordered = map(log.column, sorted(items, key=lambda at: at not in in_memory))
            times = log.times[first:stop][_mark_filled(ordered, first, stop)]
            if len(times):
                times_lists.setdefault(key, []).append(times)
    return times_lists


def _mark_filled(columns: Iterable[Values], first: int, stop: int) -> NDArray[np.bool_]:
    """Return which rows from `first` to before `stop` have a value in any of the columns."""
    filled = np.zeros(stop - first, dtype=bool)
    for column in columns:
        filled |= ~np.isnan(column[first:stop])
        if filled.all():
            break
    return filled


class Absence(NamedTuple):
    """How long (`length`, ns) a host was recorded without a service or counter, in a total time of `of` (ns).

    `is_long`: long enough for a doubt. `at_the_end`: the absence lasts until the end of the recording.
    """

    length: int = 0
    of: int = 0
    is_long: bool = False
    at_the_end: bool = False

    @classmethod
    def while_recorded(cls, host: Times, nothing: NDArray[np.bool_], value: int) -> "Absence":
        """Return the absence as the sum of the steps between samples of a host that `nothing` marks.

        `host` are the times of the samples. Steps longer than `value` (ns) do not count: the host itself was not
        recorded.
        """
        steps = np.diff(host)
        counted = np.where(steps > value, 0, steps)
        absent = int(counted[nothing].sum())
        at_the_end = bool(nothing.any()) and bool(nothing[int(np.argmax(nothing)) :].all())
        is_long = absent > max(value, compute_long_absence(int(counted.sum())))
        return cls(absent, int(host[-1] - host[0]), is_long, at_the_end)

    def __str__(self) -> str:
        """Return the absence as text: `the last 20 min of 1 h`."""
        return f"{'the last ' if self.at_the_end else ''}{format_duration(self.length)} of {format_duration(self.of)}"


def mark_lost(host: Times, counter: Times, pause: int) -> NDArray[np.bool_]:
    """Return which steps between samples of a host lie in a time longer than `pause` (ns) without values of a counter.

    A step with a value of the counter at both ends does not count, however long: the host itself was not recorded in
    it. `host` are the times of the host's samples, `counter` the times of the counter's values; both ascend and are not
    empty.
    """
    at = counter.searchsorted(host[:-1], side="right")
    before = np.where(at > 0, counter[at - 1], host[0])
    after = np.append(counter, host[-1])[at]
    return (after - before > pause) & ((before < host[:-1]) | (after > host[1:]))


def doubt_pauses(
    recordings: Mapping[str, Sequence[Times]], planned: Sequence[Planned], smallest_share: float, clock: Clock
) -> Iterator[Doubt]:
    """Yield a doubt about hosts without samples for long, and for `smallest_share` of their recorded time or more.

    `recordings` are the times of each recording of each host (UTC ns).
    """
    texts: list[str] = []
    longest: list[tuple[int, int]] = []
    for host, parts in recordings.items():
        pauses, of = find_pauses(parts, planned)
        absent = sum(end - start for start, end in pauses)
        if absent > max(compute_long_absence(of), smallest_share * of):
            texts.append(f"{host} for {format_duration(absent)} of {format_duration(of)}")
            starts, ends = zip(*pauses, strict=True)
            times = merge_times(parts)
            bounds = zip((int(times[0]), *ends), (*starts, int(times[-1])), strict=True)
            longest.append(max(bounds, key=lambda part: part[1] - part[0]))
    if texts:
        which = texts[0] if len(texts) == 1 else f"{len(texts):,} hosts: {join_names(texts, _MOST_NAMED)}"
        whole = merge_times([times for parts in recordings.values() for times in parts])
        part = max(start for start, _ in longest), min(end for _, end in longest)
        rest = advise_part(clock, part, (int(whole[0]), int(whole[-1])))
        yield Doubt(f"nothing was recorded of {which}", rest or "what happened in that time is not known")


def find_pauses(parts: Sequence[Times], planned: Sequence[Planned]) -> tuple[list[tuple[int, int]], int]:
    """Return the samples (UTC ns) of a host around each pause of its recorder, and the time (ns) its recordings span.

    Planned pauses are left out, and so is the time between separate recordings, such as recordings of several days.
    """
    times = merge_times(parts)
    steps = np.diff(times)
    longest = find_pause_lengths(times)
    at = np.flatnonzero(steps > np.maximum(longest, SHORTEST_ABSENCE))
    bounds = np.concatenate(([0], at + 1, [len(times)]))
    lengths = (times[bounds[1:] - 1] - times[bounds[:-1]]).tolist()
    beside = {row: max(pair) for row, pair in zip(at.tolist(), pairwise(lengths), strict=True)}
    pauses: list[tuple[int, int]] = []
    of = int(times[-1] - times[0])
    for row in np.flatnonzero(steps > longest).tolist():
        before, after, pause = int(times[row]), int(times[row + 1]), int(steps[row])
        within = any(part[0] <= before and part[-1] >= after for part in parts)
        if not within and row in beside and pause > _APART * beside[row]:
            of -= pause
        elif not any(work.covers(after - longest[row], before + longest[row]) for work in planned):
            pauses.append((before, after))
    return pauses, of


def find_pause_lengths(times: Times) -> Values:
    """Return the length (ns) beyond which each step between samples is a pause, by the interval at that step."""
    longest = np.full(len(times) - 1, PAUSE * (find_sampling_interval(times) or 0))
    for part in find_other_intervals(times):
        inside = (times[:-1] >= part.start) & (times[1:] <= part.end)
        borders = ~inside & (times[:-1] >= part.before) & (times[1:] <= part.until)
        longest[inside] = PAUSE * part.interval
        longest[borders] = np.maximum(longest[borders], PAUSE * part.interval)
    return np.maximum(longest, _SHORTEST_GAP)


def doubt_restarts(
    recorded: RecordedSignals, logs: Sequence[Log], remarks: Sequence[Remark], planned: Sequence[Planned]
) -> Iterator[Doubt]:
    """Yield a doubt for each host that was restarted in the middle of the run, or its SQL Server, outside planned work.

    A restart before the first sample of a log counts if another log of the host began before.
    """
    named: set[str] = set()
    for signal, text in (
        (_UPTIME, "{} was restarted{}"),
        (_PAGE_LIFE, "SQL Server of {} was restarted or lost its cache{}"),
    ):
        for subject, samples in recorded.of(signal).items():
            age = samples.present
            steps, falls = np.diff(age.times), -np.diff(age.values)
            begun = (falls > 0) & (age.values[1:] * SECOND <= steps + _BOOT)
            if signal == _PAGE_LIFE and begun.any():  # a cache that was flushed tells so by itself
                begun &= (falls >= _EMPTIED) & (steps > find_pause_lengths(age.times))
            unplanned = [
                instant
                for instant in age.times[1:][begun].tolist()
                if not any(work.covers(instant, instant) for work in planned)
            ]
            if unplanned and subject.host not in named:
                named.add(subject.host)
                yield Doubt(
                    f"{text.format(subject.host, _format_times(len(unplanned)))} in the middle of the run", _MEANT
                )
    restarts: Counter[str] = Counter()
    for remark in remarks:
        is_first = remark.text.startswith(STARTED) and not _is_continued(remark.file, logs)
        if remark.text.startswith(RESTARTED) and remark.file and not is_first:
            restarts[remark.file] += remark.count
    # A remark has no time: with work planned for all rules, it may be about that.
    for file, count in restarts.items() if all(work.rules for work in planned) else ():
        yield Doubt(f"{PurePath(file).name} says that its host was restarted{_format_times(count)}", _MEANT)


def _is_continued(file: str | None, logs: Sequence[Log]) -> bool:
    """Return whether a log begins later than another log of its host."""
    begun = [(str(log.path) == file, make_host_key(log.series[0].host), log.times[0]) for log in logs if len(log.times)]
    return any(mine and other[1] == host and other[2] < begin for mine, host, begin in begun for other in begun)


def _format_times(count: int) -> str:
    return "" if count == 1 else f" {format_count(count, 'time')}"


class _Services:
    """The services that packs have rules for, named by measurement or by the first part of the performance object."""

    def __init__(self, packs: Iterable[Pack]) -> None:
        no_services = _load_no_services()
        self._roles = [pack.applies_to for pack in packs if pack.applies_to and pack.pack not in no_services["packs"]]
        self._left_out = no_services["objects"]
        self._named: dict[tuple[str, str | None], str | None] = {}

    def of(self, series: Series) -> str | None:
        """Return the service to which a series belongs; None if it belongs to no service."""
        key = series.measurement, series.tag("objectname")
        if key not in self._named:
            name = key[1] or key[0]
            left_out = key[0] in LOAD_DRIVER or is_among(name, self._left_out)
            has_rules = any(has_object(series, role.objects, role.measurements) for role in self._roles)
            self._named[key] = name.partition(":")[0] if has_rules and not left_out else None
        return self._named[key]


def doubt_gone_services(
    logs: Sequence[Log],
    hosts: Sequence[str],
    host_of: Callable[[Series], str],
    part: tuple[int, int],
    packs: Iterable[Pack],
    planned: Sequence[Planned],
) -> Iterator[Doubt]:
    """Yield doubts about services, with rules of their own, that have no values throughout or for a long time."""
    names, services = {make_host_key(host): host for host in hosts}, _Services(packs)

    def key_of(series: Series) -> tuple[str, str] | None:
        service = services.of(series)
        return (names[make_host_key(host_of(series))], service) if service else None

    of_service = {key: merge_times(times) for key, times in map_times(key_of, logs, part).items()}
    of_host = map_recordings(logs, hosts, host_of, part) if of_service else {}
    until: dict[tuple[str, str], int] = {}
    for log in logs:
        for key in set(filter(None, map(key_of, log.series))) if len(log.times) else ():
            until[key] = max(until.get(key, 0), int(log.times[-1]))
    together: dict[tuple[str, str], list[str]] = {}
    for (host, service), times in of_service.items():
        recorded = merge_times(of_host[host])
        absence = _compute_service_absence(recorded[recorded <= until[host, service]], times, planned)
        if absence.is_long:
            together.setdefault((host, str(absence)), []).append(service)
    never = group_pairs((host, service) for host, service in until if (host, service) not in of_service)
    for host, items in never.items():
        yield Doubt(f"there is no value in what was recorded of {join_names(items, _MOST_NAMED)} of {host}", _CHECK)
    texts = [
        f"{join_names(entries, _MOST_NAMED)} of {host} for {absence}" for (host, absence), entries in together.items()
    ]
    if texts:
        yield Doubt(f"nothing was recorded of {join_names(texts, _MOST_NAMED)}", _CHECK)


def _compute_service_absence(host: Times, service: Times, planned: Sequence[Planned]) -> Absence:
    """Return for how long, after a service's first value and outside planned work, its host was recorded without it."""
    if len(service) == len(host):
        return Absence()
    counted = host >= service[0]
    for work in planned:
        if not work.rules:
            counted &= (host < work.start) | (host > work.end)
    host = host[counted]
    pause = int(max(SHORTEST_ABSENCE, PAUSE * (find_sampling_interval(service) or 0)))
    return Absence.while_recorded(host, mark_lost(host, service, pause), pause) if len(host) > 1 else Absence()


@cache
def _load_no_services() -> dict[str, list[str]]:
    return load_shipped_table("plimsoll.review", "no_services.yaml", dict[str, list[str]])
