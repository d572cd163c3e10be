"""Several recordings of one run: what is worth knowing before they are looked at as one."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations

import numpy as np

from model.log import Log
from model.remark import Kind, Remark, counted
from model.times import SECOND, words

_QUARTER = 900 * SECOND
_LEAST_SHIFT = 2 * _QUARTER


def remarks_on(logs: Sequence[Log]) -> list[Remark]:
    """Recordings that overlap, clocks that seem to be apart, zones not known, one host under two names."""
    filled = [log for log in logs if len(log.times)]
    return [*_overlaps(filled), *_clocks(filled), *_zones(filled), *_namesakes(filled)]


def _overlaps(logs: Sequence[Log]) -> Iterator[Remark]:
    columns = cache(lambda at: {series.key: column for column, series in enumerate(logs[at].series)})
    for one, other in _meeting(logs):
        first, second = logs[one], logs[other]
        shared = [(columns(one)[key], columns(other)[key]) for key in columns(one).keys() & columns(other).keys()]
        if not shared:
            continue
        common, here, there = np.intersect1d(first.times, second.times, return_indices=True)
        if not len(common):
            continue
        differing = sum(_differ(first.column(a)[here], second.column(b)[there]) for a, b in shared)
        rows = f"{counted(len(common), 'row')} of {counted(len(shared), 'counter')} stand in {first.path} too"
        if differing:
            text = f"{rows}, {counted(differing, 'value')} of them different: those of {first.path} count"
        else:
            text = f"{rows}: counted once"
        yield Remark(Kind.REPAIRED, text, file=str(second.path), count=len(common))


def _meeting(logs: Sequence[Log]) -> list[tuple[int, int]]:
    """The pairs of recordings, by their places, that have a host in common and overlap in time.

    Of many hosts, or of a log that was rotated many times, these are few of all pairs.
    """
    by_host: dict[str, list[int]] = defaultdict(list)
    for at in sorted(range(len(logs)), key=lambda at: logs[at].times[0]):
        for host in logs[at].hosts:
            by_host[host.casefold()].append(at)
    pairs: set[tuple[int, int]] = set()
    for of_host in by_host.values():
        going_on: list[int] = []
        for at in of_host:
            going_on = [before for before in going_on if logs[before].times[-1] >= logs[at].times[0]]
            pairs.update((min(before, at), max(before, at)) for before in going_on)
            going_on.append(at)
    return sorted(pairs)


def _differ(one: np.ndarray, other: np.ndarray) -> int:
    return int(np.count_nonzero((one != other) & ~np.isnan(one) & ~np.isnan(other)))


def _clocks(logs: Sequence[Log]) -> Iterator[Remark]:
    """Two hosts' recordings that are as long as each other and begin a whole number of quarter-hours apart."""
    spans = _spans(logs)
    for (host, (start, end)), (other, (other_start, other_end)) in combinations(spans.items(), 2):
        length, other_length = end - start, other_end - other_start
        shift = other_start - start
        nearest = round(shift / _QUARTER) * _QUARTER
        alike = length > _QUARTER and abs(length - other_length) <= max(0.02 * length, 30 * SECOND)
        if alike and abs(nearest) >= _LEAST_SHIFT and abs(shift - nearest) <= 60 * SECOND:
            yield Remark(
                Kind.NOTED,
                f"the recording of {other} begins {words(abs(shift))} {'after' if shift > 0 else 'before'} that of "
                f"{host} and is as long: is a clock or a time zone wrong?",
            )
        elif other_start > end or start > other_end:
            apart = other_start - end if other_start > end else start - other_end
            yield Remark(
                Kind.NOTED, f"the recordings of {host} and {other} do not meet: {words(apart)} lie between them"
            )


def _spans(logs: Sequence[Log]) -> dict[str, tuple[int, int]]:
    spans: dict[str, tuple[int, int]] = {}
    names: dict[str, str] = {}
    for log in logs:
        for host in log.hosts:
            name = names.setdefault(host.casefold(), host)
            start, end = spans.get(name, (int(log.times[0]), int(log.times[-1])))
            spans[name] = (min(start, int(log.times[0])), max(end, int(log.times[-1])))
    return spans


def _zones(logs: Sequence[Log]) -> Iterator[Remark]:
    known = [log for log in logs if log.zone.known]
    for log in logs:
        if known and not log.zone.known:
            yield Remark(
                Kind.GUESSED,
                f"does not say its time zone while {known[0].path} does: taken for UTC, so the two may not match; "
                "name the zone with --zone",
                file=str(log.path),
            )


def _namesakes(logs: Sequence[Log]) -> Iterator[Remark]:
    """A host by its short name in one recording and by its full name in another."""
    names = {host.casefold(): host for log in logs for host in log.hosts}
    for full, shown in names.items():
        short, dot, _ = full.partition(".")
        if dot and short in names and not short.isdecimal():
            yield Remark(
                Kind.NOTED,
                f"{names[short]} and {shown} may be one machine under two names: shown as two hosts",
            )
