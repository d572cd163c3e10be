"""Deletes exactly what a recording wrote to InfluxDB, which can only delete whole points in a range of time.

If all points of a host in the range belong to the recording, one delete per measurement is enough. Otherwise each run
of the recording's points is deleted, and what others have in it is written again.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Times
from plimsoll.model.run import Recording
from plimsoll.model.series import Series
from plimsoll.store.influx.quoting import has_tags, identifier, time_range
from plimsoll.store.influx.server import EVER, Server
from plimsoll.store.line_protocol import as_stored, point, value

KEPT = "plimsoll_kept"
_PART_CHARACTERS = 16 * 1024  # at most four bytes each, so within InfluxDB's 64 KB for a string

# To write so many points again takes less time than one more delete.
_FEWER_THAN_A_DELETE = 1000

_Tags: TypeAlias = tuple[tuple[str, str], ...]
_Columns: TypeAlias = Mapping[str, Callable[[], Times]]


class _Place(NamedTuple):
    """A measurement and a set of tags, including the host."""

    measurement: str
    tags: _Tags

    @property
    def host(self) -> str:
        return dict(self.tags).get("host", "")


def remove(
    server: Server,
    recording: Recording,
    keep: Sequence[Recording],
    *,
    whole: bool,
    before_each: Callable[[], None],
) -> None:
    """Remove the samples of a recording, except those that recordings in `keep` contain too."""
    before_each()
    restore_points(server)
    if not len(recording.times):
        return
    columns = _columns(recording)
    kept: dict[_Place, list[_Columns]] = defaultdict(list)
    for other in keep:
        for place, fields in _columns(other).items():
            kept[place].append(fields)
    by_measurement: dict[tuple[str, str], list[_Place]] = defaultdict(list)
    for place in columns:
        by_measurement[place.measurement, place.host].append(place)
    start, end = int(recording.times[0]), int(recording.times[-1])
    for (measurement, host), places in by_measurement.items():
        stored = dict(_counts(server, measurement, host, start, end))
        ours = {place: {field: len(times()) for field, times in columns[place].items()} for place in places}
        # All our points exist, so if the counts match there are no others.
        if whole and all(counts == ours.get(place) and not kept[place] for place, counts in stored.items()):
            before_each()
            server.delete(start, end, f"_measurement={identifier(measurement)} AND host={identifier(host)}")
            continue
        types = {} if whole else _types(server, measurement)
        for place in places:
            if place in stored:
                own = _own(columns[place], kept[place])
                if not whole:
                    # Plimsoll writes floats, so InfluxDB refused its values for a field of another type.
                    own = {field: times for field, times in own.items() if "float" in types.get(field, ())}
                if own:
                    before_each()
                    _remove_among_others(server, place, own, stored)


def _columns(recording: Recording) -> dict[_Place, _Columns]:
    """The times of each field, by measurement and tags; computed on demand, as there may be thousands of columns."""
    found: dict[_Place, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, (series, present) in enumerate(zip(recording.series, recording.present, strict=True)):
        if present:
            one = as_stored(series)
            found[_place(one)][one.field].append(at)
    return {
        place: {field: partial(_held, recording, columns) for field, columns in fields.items()}
        for place, fields in found.items()
    }


def _held(recording: Recording, columns: Sequence[int]) -> Times:
    """The times at which any of several columns of the same counter has a sample."""
    return reduce(np.union1d, (recording.held(at) for at in columns))


def _own(columns: _Columns, kept: Sequence[_Columns]) -> dict[str, Times]:
    """The times of each field that no other recording contains."""
    own = {field: times() for field, times in columns.items()}
    for other in kept:
        for field in own.keys() & other.keys():
            own[field] = np.setdiff1d(own[field], other[field]())
    return own


def _place(series: Series) -> _Place:
    return _Place(series.measurement, tuple(sorted([("host", series.host), *series.tags])))


def _counts(
    server: Server, measurement: str, host: str, start: int, end: int
) -> Iterator[tuple[_Place, dict[str, int]]]:
    where = f"{time_range(start, end)} AND {has_tags([('host', host)])}"
    for table in server.query(f"SELECT count(*) FROM {identifier(measurement)} WHERE {where} GROUP BY *"):
        tags = tuple(sorted((name, value) for name, value in table.tags.items() if value != ""))
        counts = {
            column.removeprefix("count_"): int(value)
            for column, value in zip(table.columns[1:], table.rows[0][1:], strict=True)
            if value
        }
        yield _Place(table.measurement, tags), counts


def _remove_among_others(server: Server, place: _Place, own: dict[str, Times], stored: Collection[_Place]) -> None:
    """Delete the recording's values of one set of tags, and keep those of others."""
    every = reduce(np.union1d, own.values())
    points = list(_points(server, place, int(every[0]), int(every[-1]))) if len(every) else []
    times = np.array([time for time, _ in points], dtype=np.int64)
    mine = {field: np.isin(times, held) for field, held in own.items()}
    rests = [
        {field: held for field, held in values.items() if field not in mine or not mine[field][at]}
        for at, (_, values) in enumerate(points)
    ]
    touched = np.array([len(rest) < len(values) for rest, (_, values) in zip(rests, points, strict=True)], dtype=bool)
    ranges = [*_stretches(touched)]
    stretches = [(int(times[first]), int(times[last])) for first, last in ranges]
    deleted = (at for first, last in ranges for at in range(first, last + 1))
    again = [(place, points[at][0], rests[at]) for at in deleted if rests[at]]
    # A delete by tags also deletes points that have further tags.
    for wider in stored:
        if set(place.tags) < set(wider.tags):
            for first, last in stretches:
                again += [(wider, time, values) for time, values in _points(server, wider, first, last)]
    types = _types(server, place.measurement) if again else {}
    certain: list[str] = []
    either: list[str] = []
    for one, time, values in again:
        choices = [*_choices({name: _possible(types[name], held) for name, held in values.items()})]
        written = ({name: value(values[name], kind) for name, kind in chosen.items()} for chosen in choices)
        lines = [point(one.measurement, dict(one.tags), fields, time) for fields in written]
        (certain if len(lines) == 1 else either).extend(lines)
    is_saved = _save_points(server, certain, either, int(every[-1]) if len(every) else 0)
    for first, last in stretches:
        server.delete(first, last, _predicate(place))
    # Not from what is saved: if this was paused for long, another command may have restored that before the delete.
    _write_back(server, certain, either)
    if is_saved:
        _forget_saved(server)


def _save_points(server: Server, certain: Sequence[str], either: Sequence[str], time: int) -> bool:
    """Save others' points that a delete will remove too, so that an interruption does not lose them; False if none."""
    parts = [(lines, is_sure) for all_, is_sure in ((certain, True), (either, False)) for lines in _parts(all_)]
    points = [
        point(KEPT, {"part": f"{at:06}"}, {"lines": value(lines, "string"), "sure": value(is_sure, "boolean")}, time)
        for at, (lines, is_sure) in enumerate(parts)
    ]
    if points and server.post("".join(points).encode())[0]:
        raise Unusable(f"{server.url}: InfluxDB refuses to save the points of others first: nothing more was deleted")
    return bool(points)


def restore_points(server: Server) -> None:
    """Restore the points of others that an interrupted removal has saved, and may have deleted."""
    found = False
    for table in server.query(f'SELECT "lines", "sure" FROM "{KEPT}" WHERE {time_range(*EVER)} GROUP BY "part"'):
        for _, lines, is_sure in table.rows:
            found = True
            _write_back(server, *(([lines], []) if is_sure else ([], [lines])))
    if found:
        _forget_saved(server)


def _write_back(server: Server, certain: Sequence[str], either: Sequence[str]) -> None:
    """Write points of others again. Of those that were written with several types, InfluxDB accepts one."""
    for text in _parts(certain):
        refused, why = server.post(text.encode())
        if refused:
            raise Unusable(
                f'{server.url}: InfluxDB refuses points that must be restored ({why}); they are saved in "{KEPT}"'
            )
    for text in _parts(either):
        server.post(text.encode())


def _forget_saved(server: Server) -> None:
    server.delete(*EVER, f"_measurement={identifier(KEPT)}")


def _parts(lines: Sequence[str]) -> Iterator[str]:
    """The lines joined into texts that fit into one InfluxDB string."""
    held: list[str] = []
    for line in lines:
        if held and sum(map(len, held)) + len(line) > _PART_CHARACTERS:
            yield "".join(held)
            held = []
        held.append(line)
    if held:
        yield "".join(held)


def _possible(kinds: Sequence[str], held: object) -> Sequence[str]:
    """The types of a field that a value can have."""
    if isinstance(held, float) and not held.is_integer():
        return ["float"]
    return kinds


def _choices(kinds: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Candidate types for the fields of a point: the type of a field may differ between shards."""
    for at in range(max(map(len, kinds.values()), default=0)):
        yield {name: some[min(at, len(some) - 1)] for name, some in kinds.items()}


def _points(server: Server, place: _Place, start: int, end: int) -> Iterator[tuple[int, dict[str, Any]]]:
    where = f"{time_range(start, end)} AND {has_tags(place.tags)}"
    for table in server.query(f"SELECT *::field FROM {identifier(place.measurement)} WHERE {where} GROUP BY *"):
        if {(name, value) for name, value in table.tags.items() if value != ""} == set(place.tags):
            for time, *values in table.rows:
                yield (
                    time,
                    {name: one for name, one in zip(table.columns[1:], values, strict=True) if one is not None},
                )


def _stretches(mine: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """The first and last index of each run of true values; shorter runs of false values between them are included."""
    at = np.flatnonzero(mine)
    for run in np.split(at, np.flatnonzero(np.diff(at) > _FEWER_THAN_A_DELETE) + 1):
        if len(run):
            yield int(run[0]), int(run[-1])


def _predicate(place: _Place) -> str:
    equal = [f"{identifier(name)}={identifier(value)}" for name, value in place.tags]
    return " AND ".join([f"_measurement={identifier(place.measurement)}", *equal])


def _types(server: Server, measurement: str) -> dict[str, list[str]]:
    """The types of each field of a measurement. JSON answers do not distinguish 5 from 5.0."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for table in server.query(f"SHOW FIELD KEYS FROM {identifier(measurement)}"):
        for name, kind in table.rows:
            kinds[name].append(kind)
    return kinds
