"""Separates the recordings of several days: in the files of a folder, and in results to which a driver appends runs."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from plimsoll.model.log import Log, Times
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark
from plimsoll.model.series import LOAD_DRIVER, make_host_key
from plimsoll.model.times import SECOND

# Our choices: a recorder or driver that pauses for this long, and for longer than it worked before and afterwards, or
# until the same time of another day, was started again. A driver keeps sending requests even while the system is down.
_SHORTEST_PAUSE = 3600 * SECOND
_SHORTEST_BETWEEN_DAYS, _DAY = 4 * _SHORTEST_PAUSE, 24 * _SHORTEST_PAUSE
_MOST_SHOWN = 3


def run_starts(start: Times, end: Times) -> list[int]:
    """Return the index at which each run but the first begins; a pause between two runs is longer than either run.

    Of runs that begin at the same time of two days, a pause of four hours is enough. `start` are the times of requests
    or recordings (UTC ns, ascending), `end` the times at which all of these begun so far were done.
    """
    candidates = (np.flatnonzero(start[1:] - end[:-1] > _SHORTEST_PAUSE) + 1).tolist()
    edges = [0, *candidates, len(start)]
    lengths = [int(end[last - 1] - start[first]) for first, last in pairwise(edges)]
    begins = [int(start[first]) for first in edges[:-1]]
    return [
        at
        for at, pair, (begin, next_begin) in zip(candidates, pairwise(lengths), pairwise(begins), strict=True)
        if (pause := int(start[at] - end[at - 1])) > max(pair)
        or (pause > _SHORTEST_BETWEEN_DAYS and abs((next_begin - begin + _DAY // 2) % _DAY - _DAY // 2) <= _DAY // 48)
    ]


class _LogPart(NamedTuple):
    """A log or, of a load driver's results, one run in it; `number` is that of the log."""

    number: int
    log: Log

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last time (UTC ns)."""
        return int(self.log.times[0]), int(self.log.times[-1])


class ChosenRecording(NamedTuple):
    """The logs of the recording to judge; if there are others, a remark on them, and a sentence on the choice."""

    logs: list[Log]
    remarks: Sequence[Remark] = ()
    scope: tuple[str, ...] = ()


def choose_recording(logs: Sequence[Log]) -> ChosenRecording:
    """Choose the newest of several recordings of the same hosts, with counters if any has some.

    A recording with less than a tenth of the rows of the longest was a trial, and does not count as the newest. Logs of
    hosts are taken whole; of a log of a load driver one run is taken, that with the most time in common with counters.
    """
    recordings = _group_by_time(logs)
    eligible = [parts for parts in recordings if not all(_is_of_driver(part.log) for part in parts)] or recordings
    rows = [max(len(part.log.times) for part in parts) for parts in eligible]
    if not rows:
        return ChosenRecording(list(logs))
    judged = [parts for parts, count in zip(eligible, rows, strict=True) if 10 * count >= max(rows)][-1]
    unjudged = [parts for parts in recordings if parts is not judged and _is_repeated(parts, judged)]
    left_out = {id(parts) for parts in unjudged}
    kept = [part for parts in recordings if id(parts) not in left_out for part in parts]
    first, last = span = _find_span([part for part in judged if not _is_of_driver(part.log)] or judged)
    kept.sort(key=lambda part: min(part.span[1], last) - max(part.span[0], first))
    chosen = {part.number: part for part in kept}
    unjudged += [[part] for part in kept if chosen[part.number] is not part]
    taken = [
        chosen[at].log if at in chosen else log for at, log in enumerate(logs) if at in chosen or not len(log.times)
    ]
    if not unjudged:
        return ChosenRecording(taken)
    return ChosenRecording(taken, *_describe(judged, span, unjudged, has_counters=eligible is not recordings))


def _group_by_time(logs: Sequence[Log]) -> list[list[_LogPart]]:
    """Return the parts of the logs in the order of time, those of one recording together."""
    parts: list[_LogPart] = []
    for number, log in enumerate(logs):
        edges = [0, *(run_starts(log.times, log.times) if _is_of_driver(log) else ()), len(log.times)]
        cut = [log] if len(edges) == 2 else [log.rows(*ends) for ends in pairwise(edges)]
        parts += [_LogPart(number, run) for run in cut if len(run.times)]
    parts.sort(key=lambda part: part.span[0])
    start, end = np.array([part.span for part in parts], dtype=np.int64).reshape(-1, 2).T
    edges = [0, *run_starts(start, np.maximum.accumulate(end)), len(parts)] if parts else []
    return [parts[first:stop] for first, stop in pairwise(edges)]


def _is_of_driver(log: Log) -> bool:
    return any(series.measurement in LOAD_DRIVER for series in log.series)


def _find_span(parts: Sequence[_LogPart]) -> tuple[int, int]:
    return min(part.span[0] for part in parts), max(part.span[1] for part in parts)


def _is_repeated(parts: Sequence[_LogPart], judged: Sequence[_LogPart]) -> bool:
    """Return whether the judged recording has all hosts of another recording, and most of its objects of hosts."""
    objects, of_judged = _list_objects(parts), _list_objects(judged)
    hosts = {host for host, _ in of_judged}
    return all(host in hosts for host, _ in objects) and 2 * len(objects & of_judged) > len(objects)


def _list_objects(parts: Sequence[_LogPart]) -> set[tuple[str, str]]:
    """Return host and object of each series; results of all load drivers are those of one."""
    series_of_parts = (series for part in parts for series in part.log.series)
    return {
        ("", "") if series.measurement in LOAD_DRIVER else (make_host_key(series.host), series.measurement)
        for series in series_of_parts
    }


def _describe(
    judged: Sequence[_LogPart], span: tuple[int, int], unjudged: Sequence[Sequence[_LogPart]], *, has_counters: bool
) -> tuple[list[Remark], tuple[str]]:
    """Return the remark on the recordings that are not judged, and the sentence on the judged one."""
    spans, zone = sorted(map(_find_span, unjudged)), judged[0].log.zone
    which = "newest" if spans[-1] < span else "newest with counters" if has_counters else "newest that is no trial"
    count, left_out = f"{len(spans) + 1:,} recordings", "older" if spans[-1] < span else "other"
    commands = "; ".join(
        f'{Parameter.FROM} "{zone.clock(start)}" {Parameter.TO} "{zone.clock(end + SECOND - 1)}"'
        for start, end in spans[-_MOST_SHOWN:]
    )
    logs = {part.log.path for parts in (judged, *unjudged) for part in parts}
    places = logs if len(logs) == 1 else {path.parent for path in logs}
    place = str(places.pop()) if len(places) == 1 else None
    text = f"holds {count}, of which the {which} is judged; to judge another: {commands}"
    scope = f"Judged is the {which} of {count}, {zone.span(*span)}; the {left_out}"
    scope = f"{scope} was not judged." if len(spans) == 1 else f"{scope} ones were not judged."
    return [Remark(Kind.NOTED, text if place else f"the run {text}", place)], (scope,)
