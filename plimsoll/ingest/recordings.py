"""Checks the recordings of one run: overlaps, clocks that differ, and hosts with two names."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.ingest.shared.clock import QUARTER
from plimsoll.ingest.shared.same_time import LONGEST_HOLE, are_many, compare_columns
from plimsoll.model.counter_names.unrecognised import is_judged
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import MAX_SHOWN, Kind, Remark, format_count
from plimsoll.model.series import UNNAMED, make_host_key
from plimsoll.model.times import SECOND, format_duration

# Our choices. Two recorders of one machine read different values from moment to moment, but over some minutes the same
# range of them. That ten values each have nothing in common, and one is at least twice the other, is no chance.
_BLOCK = 150 * SECOND  # five minutes always hold a whole one
_LEAST_VALUES = 10
_FACTOR = 2.0
# Of the values: where most differ, two recorders sampled, whose moments may be a second of ten apart.
_OF_RECORDERS = 0.1
_LEAST_SHIFT = 2 * QUARTER
_MOST_SHIFT = 104 * QUARTER  # from UTC-12 to UTC+14


def list_remarks(logs: Sequence[Log]) -> list[Remark]:
    """Return remarks on recordings that overlap, clocks that differ, unknown zones, and hosts of two names."""
    filled = [log for log in logs if len(log.times)]
    return [
        *_remark_overlaps(filled),
        *_limit_remarks(_remark_clocks(filled)),
        *_limit_remarks(_remark_zones(filled)),
        *_limit_remarks(_remark_namesakes(filled)),
    ]


def refuse_unnamed(logs: Sequence[Log]) -> None:
    """Raise Unusable if overlapping recordings differ and name no computer, so that their hosts are unknown."""
    unnamed = [log for log in logs if len(log.times) and UNNAMED in log.hosts]
    for pair in _pair_overlapping(unnamed):
        first, second = (unnamed[at] for at in pair)
        both = _find_shared(first, second, _index_columns(first, UNNAMED), _index_columns(second, UNNAMED))
        if both and (both.differing or both.between):
            raise Unusable(
                f"{second.path}: was recorded while {first.path} was, of the same counters, and neither names its "
                r"computer: take each by itself, or write \\NAME before the counters"
            )


def _limit_remarks(remarks: Iterator[Remark]) -> Iterator[Remark]:
    """Yield the first of many remarks, and one remark on the number of further remarks."""
    yield from islice(remarks, MAX_SHOWN)
    if rest := list(remarks):
        yield Remark(rest[0].kind, f"{format_count(len(rest), 'more remark')} like these", count=len(rest))


def _remark_overlaps(logs: Sequence[Log]) -> Iterator[Remark]:
    """Yield a remark on each pair of overlapping recordings, first on pairs that contradict each other.

    If there are many pairs, the last remark gives the number of the remaining pairs.
    """
    columns = cache(lambda at: _index_columns(logs[at]))
    pairs = _pair_overlapping(logs)
    remarks = (_remark_overlap(logs[number], logs[other], columns(number), columns(other)) for number, other in pairs)
    ordered = sorted((remark for remark in remarks if remark), key=lambda remark: remark.kind != Kind.CONTRADICTORY)
    yield from ordered[:MAX_SHOWN]
    if (value := len(ordered) - MAX_SHOWN) > 0:
        text = f"{format_count(value, 'more pair')} of recordings of one host overlap"
        yield Remark(
            Kind.REPAIRED, f"{text}: values that are in both count once, as in the log named first", count=value
        )


def _index_columns(log: Log, host: str | None = None) -> Mapping[object, int]:
    """Return the column index of each series by its key; if `host` is given, only of the series of that host."""
    return {series.key: at for at, series in enumerate(log.series) if host in (None, series.host)}


def _remark_overlap(
    first: Log, second: Log, columns: Mapping[object, int], other_columns: Mapping[object, int]
) -> Remark | None:
    """Return the remark on two recordings that share counters and times; None if the recordings do not overlap."""
    both = _find_shared(first, second, columns, other_columns)
    if both and both.between:
        rows = (
            f"{format_count(both.between, 'row')} of {format_count(both.counters, 'counter')} lie between those of "
            f"{first.path}"
        )
        kind, values = (Kind.CONTRADICTORY, " and with very different values") if both.contrary else (Kind.NOTED, "")
        text = f"{rows}, at times of their own{values}: all count"
        return Remark(kind, text, file=str(second.path), count=both.between)
    if both and both.common:
        rows = (
            f"{format_count(both.common, 'row')} of {format_count(both.counters, 'counter')} stand in {first.path} too"
        )
        if both.differing:
            text = f"{rows}, {format_count(both.differing, 'value')} of them different: those of {first.path} count"
        else:
            text = f"{rows}: counted once"
        kind = Kind.CONTRADICTORY if both.contrary else Kind.REPAIRED
        return Remark(kind, text, file=str(second.path), count=both.common)
    return None


class _Shared(NamedTuple):
    """What two recordings share: the number of `counters`, and the rows of these counters.

    `common` counts rows with the same time, `differing` the values that differ in these rows. Without common rows,
    `between` counts rows that lie between rows of the other recording. `contrary` means that the values contradict each
    other for so long that the choice of recording matters.
    """

    counters: int
    common: int = 0
    differing: int = 0
    between: int = 0
    contrary: bool = False


def _find_shared(
    first: Log, second: Log, columns: Mapping[object, int], other_columns: Mapping[object, int]
) -> _Shared | None:
    """Return the counters and rows that two recordings share; None if they share no counter."""
    shared = [(columns[key], other_columns[key]) for key in columns.keys() & other_columns.keys()]
    if not shared:
        return None
    common, rows, other_rows = np.intersect1d(first.times, second.times, return_indices=True)
    if len(common):

        def pair_columns() -> Iterator[tuple[Values, Values]]:
            return ((first.column(a)[rows], second.column(b)[other_rows]) for a, b in shared)

        differing, contrary, are_of_two = 0, np.zeros(len(common), dtype=bool), False
        for values, other in pair_columns():
            differs, present = compare_columns(values, other), np.isfinite(values + other)
            differing += int(np.count_nonzero((values != other)[present]))
            contrary |= differs
            are_of_two |= 2 * np.count_nonzero(differs) > np.count_nonzero(present)
        if are_of_two:
            width = max(_LEAST_VALUES, LONGEST_HOLE // first.interval) if first.interval else _LEAST_VALUES
            contrary = np.any([_find_far_apart(*pair, width) for pair in pair_columns()], axis=0)
        if first.interval == second.interval:
            shorter = min(len(first.times), len(second.times))
            lasting = are_many(common[contrary], shorter, first.interval)
        else:  # values are means over intervals of different lengths
            lasting = is_different_for_long(first, second, shared)
        return _Shared(len(shared), len(common), differing, contrary=lasting)
    between = _count_within(second, first) if _count_within(first, second) else 0
    return _Shared(
        len(shared), between=between, contrary=bool(between) and is_different_for_long(first, second, shared)
    )


def _find_far_apart(values: Values, other: Values, width: int) -> NDArray[np.bool_]:
    """Return the rows around which most values, of `width` rows, differ by more than two recorders of one host do."""
    present = np.abs(values[np.isfinite(values)])
    usual = np.maximum(np.abs(values), np.abs(other)).clip(np.median(present) if len(present) else 0.0)
    rounding = any(column.any() and (column == column.round())[np.isfinite(column)].all() for column in (values, other))
    is_far = np.abs(values - other) > np.maximum(_OF_RECORDERS * usual, rounding)
    return np.convolve(is_far, np.full(min(width, len(values)), 1 / min(width, len(values))), "same") > 1 / 2


def _count_within(log: Log, other: Log) -> int:
    """Return how many rows of a log lie between the first and the last row of another log."""
    return int(np.count_nonzero((log.times >= other.times[0]) & (log.times <= other.times[-1])))


def _pair_overlapping(logs: Sequence[Log]) -> list[tuple[int, int]]:
    """Return the index pairs of recordings that share a host and overlap in time.

    With many hosts, or a log that was rotated many times, these are far fewer than all pairs of recordings.
    """
    by_host: dict[str, list[int]] = defaultdict(list)
    for at in sorted(range(len(logs)), key=lambda at: logs[at].times[0]):
        for host in logs[at].hosts:
            by_host[make_host_key(host)].append(at)
    pairs: set[tuple[int, int]] = set()
    for of_host in by_host.values():
        going_on: list[int] = []
        for at in of_host:
            going_on = [before for before in going_on if logs[before].times[-1] >= logs[at].times[0]]
            pairs.update((min(before, at), max(before, at)) for before in going_on)
            going_on.append(at)
    return sorted(pairs)


def _remark_clocks(logs: Sequence[Log]) -> Iterator[Remark]:
    """Yield a remark on each pair of hosts whose recordings do not overlap, or seem shifted by a time zone's offset."""
    spans = _find_spans(logs)
    for (host, (start, end)), (other, (other_start, other_end)) in combinations(spans.items(), 2):
        shift, length, other_length = other_start - start, end - start, other_end - other_start
        # Both may have been started and ended together, by hand or by a schedule.
        are_alike = length > QUARTER and abs(length - other_length) <= max(0.02 * length, 30 * SECOND)
        # Zones are whole quarter-hours from UTC.
        nearest = round(shift / QUARTER) * QUARTER
        is_of_zones = _LEAST_SHIFT <= abs(nearest) <= _MOST_SHIFT and abs(shift - nearest) <= 60 * SECOND
        if are_alike and is_of_zones:
            yield Remark(
                Kind.NOTED,
                f"the recording of {other} begins {format_duration(abs(shift))} {'after' if shift > 0 else 'before'} "
                f"that of {host} and is as long: is a clock or a time zone wrong?",
            )
        elif other_start > end or start > other_end:
            apart = other_start - end if other_start > end else start - other_end
            yield Remark(
                Kind.NOTED,
                f"the recordings of {host} and {other} do not meet: {format_duration(apart)} lie between them",
            )


def _find_spans(logs: Sequence[Log]) -> dict[str, tuple[int, int]]:
    spans: dict[str, tuple[int, int]] = {}
    names: dict[str, str] = {}
    for log in logs:
        for host in log.hosts:
            name = names.setdefault(make_host_key(host), host)
            start, end = spans.get(name, (int(log.times[0]), int(log.times[-1])))
            spans[name] = (min(start, int(log.times[0])), max(end, int(log.times[-1])))
    return spans


def _remark_zones(logs: Sequence[Log]) -> Iterator[Remark]:
    ordered = [log for log in logs if log.zone.is_specified]
    for log in logs:
        if ordered and not log.zone.is_specified:
            yield Remark(
                Kind.GUESSED,
                f"does not say its time zone while {ordered[0].path} does: taken for UTC, so the two may not match; "
                f"name the zone with {Parameter.ZONE}",
                file=str(log.path),
            )


def _remark_namesakes(logs: Sequence[Log]) -> Iterator[Remark]:
    """Yield a remark on each host with a short name in one recording and its full name in another."""
    names = {make_host_key(host): host for log in logs for host in log.hosts}
    for full, shown in names.items():
        name, dot, _ = full.partition(".")
        plain = make_host_key(name)
        if dot and plain in names and not plain.isdecimal():
            yield Remark(
                Kind.NOTED,
                f"{names[plain]} and {shown} may be one machine under two names: shown as two hosts",
            )


def is_different_for_long(first: Log, second: Log, shared: Sequence[tuple[int, int]]) -> bool:
    """Return whether a counter that rules may need differs widely between two recordings for some minutes.

    `shared` has the column indices of each common counter in the first and the second recording. Each recording needs
    ten samples in those minutes.
    """
    start = max(int(first.times[0]), int(second.times[0]))
    end = min(int(first.times[-1]), int(second.times[-1]))
    block = max(_BLOCK, _LEAST_VALUES * max(first.interval or 0, second.interval or 0))
    edges = np.arange(start, end + 1, block)
    for a, b in shared if len(edges) > 1 else ():
        if is_judged(first.series[a]):
            low, high, count = _summarize_blocks(first.times, first.column(a), edges)
            other_low, other_high, other_count = _summarize_blocks(second.times, second.column(b), edges)
            enough = (count >= _LEAST_VALUES) & (other_count >= _LEAST_VALUES)
            # In some block, one range of values is above twice the other.
            if (enough & ((low > _FACTOR * other_high) | (other_low > _FACTOR * high))).any():
                return True
    return False


def _summarize_blocks(times: Times, values: Values, edges: Times) -> tuple[Values, Values, Times]:
    """Return the lowest value, the highest value and the number of values between each two successive edges."""
    inside = np.isfinite(values) & (times >= edges[0]) & (times < edges[-1])
    block = np.searchsorted(edges, times[inside], side="right") - 1
    lowest, highest = np.full(len(edges) - 1, np.inf), np.full(len(edges) - 1, -np.inf)
    np.minimum.at(lowest, block, values[inside])
    np.maximum.at(highest, block, values[inside])
    return lowest, highest, np.bincount(block, minlength=len(edges) - 1)
