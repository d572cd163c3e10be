"""Removing exactly what a recording wrote from InfluxDB, which only knows how to delete ranges of time.

Where a host's points in the range are all the recording's, one delete takes a measurement. Where others'
lie between them, what is the recording's is deleted stretch by stretch, and a point both have a part in is
written again without the recording's fields.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from model.errors import Unusable
from model.log import Times
from model.run import Recording
from model.series import Series
from store.influx_server import EVER, Server
from store.line_protocol import as_stored, point, value
from store.quoting import has_tags, identifier, time_range

KEPT = "plimsoll_kept"
_PART_CHARACTERS = 16 * 1024  # of at most four bytes, escaped or not, within InfluxDB's 64 KB

_Tags: TypeAlias = tuple[tuple[str, str], ...]
_Columns: TypeAlias = Mapping[str, Callable[[], Times]]


class _Place(NamedTuple):
    """What points share: a measurement and all tags, the host among them."""

    measurement: str
    tags: _Tags

    @property
    def host(self) -> str:
        return dict(self.tags).get("host", "")


def remove(server: Server, recording: Recording, keep: Sequence[Recording], *, whole: bool) -> None:
    """Remove the samples of a recording, but for those that `keep` hold too."""
    _give_back(server)
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
        # All that was written is there, so as many as that are nobody else's.
        if whole and all(counts == ours.get(place) and not kept[place] for place, counts in stored.items()):
            server.delete(start, end, f"_measurement={identifier(measurement)} AND host={identifier(host)}")
            continue
        types = {} if whole else _types(server, measurement)
        for place in places:
            if place in stored:
                own = _own(columns[place], kept[place])
                if not whole:
                    # What Plimsoll writes is float; where a field is not, its values were refused.
                    own = {field: times for field, times in own.items() if "float" in types.get(field, ())}
                if own:
                    _remove_among_others(server, place, own, stored)


def _columns(recording: Recording) -> dict[_Place, _Columns]:
    """When a recording has samples of each field of a point, told when asked for: there may be thousands of columns."""
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
    """The times at which one of some twin columns has a sample."""
    return reduce(np.union1d, (recording.held(at) for at in columns))


def _own(columns: _Columns, kept: Sequence[_Columns]) -> dict[str, Times]:
    """The times of each field that no other recording holds."""
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
    """Delete the own values of one place between those of others."""
    every = reduce(np.union1d, own.values())
    points = list(_points(server, place, int(every[0]), int(every[-1]))) if len(every) else []
    times = np.array([time for time, _ in points], dtype=np.int64)
    mine = {field: np.isin(times, held) for field, held in own.items()}
    rests = [
        {field: held for field, held in values.items() if field not in mine or not mine[field][at]}
        for at, (_, values) in enumerate(points)
    ]
    touched = np.array([len(rest) < len(values) for rest, (_, values) in zip(rests, points, strict=True)], dtype=bool)
    stretches = [(int(times[first]), int(times[last])) for first, last in _stretches(touched)]
    again = [(place, points[at][0], rests[at]) for at in np.flatnonzero(touched).tolist() if rests[at]]
    # A delete by tags also takes points that have further ones.
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
    _keep(server, certain, either, int(every[-1]) if len(every) else 0)
    for first, last in stretches:
        server.delete(first, last, _predicate(place))
    _give_back(server)


def _keep(server: Server, certain: Sequence[str], either: Sequence[str], time: int) -> None:
    """Lay by what a delete will take along though it is others', so that it is not lost if we are cut off."""
    parts = [(lines, is_sure) for all_, is_sure in ((certain, True), (either, False)) for lines in _parts(all_)]
    points = [
        point(KEPT, {"part": f"{at:06}"}, {"lines": value(lines, "string"), "sure": value(is_sure, "boolean")}, time)
        for at, (lines, is_sure) in enumerate(parts)
    ]
    if points and server.post("".join(points).encode())[0]:
        raise Unusable(f"{server.url}: InfluxDB refuses to keep the points of others: nothing more was deleted")


def _give_back(server: Server) -> None:
    """Write again what was laid by, now or by a call that was cut off."""
    found = False
    for table in server.query(f'SELECT "lines", "sure" FROM "{KEPT}" WHERE {time_range(*EVER)} GROUP BY "part"'):
        for _, lines, is_sure in table.rows:
            found = True
            refused, why = server.post(lines.encode())
            if refused and is_sure:
                raise Unusable(
                    f'{server.url}: InfluxDB refuses points that were to stay ({why}); they are kept in "{KEPT}"'
                )
    if found:
        server.delete(*EVER, f"_measurement={identifier(KEPT)}")


def _parts(lines: Sequence[str]) -> Iterator[str]:
    """Lines together, in texts that InfluxDB takes as one string."""
    held: list[str] = []
    for line in lines:
        if held and sum(map(len, held)) + len(line) > _PART_CHARACTERS:
            yield "".join(held)
            held = []
        held.append(line)
    if held:
        yield "".join(held)


def _possible(kinds: Sequence[str], held: object) -> Sequence[str]:
    """The kinds among those of a field that a value can be of."""
    if isinstance(held, float) and not held.is_integer():
        return ["float"]
    return kinds


def _choices(kinds: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """The kinds the fields of a point may be of: a field of several is of one in each shard, which takes no other."""
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
    """The first and last place of each run of points that are all the recording's."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mine, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)


def _predicate(place: _Place) -> str:
    equal = [f"{identifier(name)}={identifier(value)}" for name, value in place.tags]
    return " AND ".join([f"_measurement={identifier(place.measurement)}", *equal])


def _types(server: Server, measurement: str) -> dict[str, list[str]]:
    """The kinds of each field of a measurement: an answer in JSON does not tell 5 from 5.0."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for table in server.query(f"SHOW FIELD KEYS FROM {identifier(measurement)}"):
        for name, kind in table.rows:
            kinds[name].append(kind)
    return kinds
