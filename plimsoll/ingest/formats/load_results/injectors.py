"""Joins the results of load drivers that sent requests at the same time, as the injectors of one test do."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.ingest.formats.load_results.perfmon_agent import AgentCounters
from plimsoll.ingest.formats.load_results.requests import DriverLog, Requests, log_of
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Kind, Remark, Remarks, format_count, join_names
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_percent

_MILLISECOND = SECOND // 1000
_LONGEST = 2**24  # ms, of a duration in a number that identifies a request
# Our choices: fewer requests of two injectors begin in the same millisecond and last as long, and two formats of one
# test differ by fewer requests, and begin and end within a second.
_BY_CHANCE, _SAME_COUNT = 0.1, 0.01
# Our choices: an injector that ends by so much of the test earlier, with so much of the load, or of which so many
# requests fail while those of the others do not, has not done its part.
_EARLY, _LEAST_EARLY, _LEAST_LOAD, _MOST_FAILED = 0.1, 60 * SECOND, 0.1, 0.5
_BESIDE, _MOSTLY = 0.1, 0.5  # of the time of the shorter, that two files overlap
_MOST_NAMED = 3


def join_injectors(logs: Sequence[Log]) -> list[Log]:
    """Return the logs; those with requests of the same time become one log, in the place of the first of them.

    Requests that stand in two files, as of two listeners, count once.
    """
    joined: dict[int, Log | None] = {}
    drivers = [log for log in logs if isinstance(log, DriverLog) and len(log.requests.start)]
    for tells in (True, False):
        for group in _group_overlapping([log for log in drivers if (log.requests.failed is not None) == tells]):
            joined |= dict.fromkeys(map(id, group))
            joined[id(group[0])] = _join(group)
    results = (joined.get(id(log), log) for log in logs)
    return [log for log in results if log is not None]


def _group_overlapping(logs: Sequence[DriverLog]) -> list[list[DriverLog]]:
    """Return the logs in groups that overlap in time; files that follow each other, as rotated ones, stay apart."""
    groups: list[list[DriverLog]] = []
    for log in logs:
        near = [group for group in groups if any(_find_overlap(log, other) >= _BESIDE for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*chain.from_iterable(near), log])
    order = {id(log): at for at, log in enumerate(logs)}
    return [sorted(group, key=lambda log: order[id(log)]) for group in groups]


def _find_overlap(log: DriverLog, other: DriverLog) -> float:
    """Return the time in which both sent requests, as a share of the time of the shorter; negative if there is none."""
    (start, end), (other_start, other_end) = log.requests.span, other.requests.span
    return (min(end, other_end) - max(start, other_start)) / max(min(end - start, other_end - other_start), 1)


def _join(group: Sequence[DriverLog]) -> Log:
    """Return a log of the requests of all logs in a group."""
    first = group[0]
    if len(group) == 1:
        return _drop_requests(first)
    remarks = Remarks(str(first.path))
    parts: list[DriverLog] = []
    for log in sorted(group, key=lambda log: -len(log.requests.start)):
        rest = _leave_out_recorded(log, parts, remarks)
        if len(rest.requests.start):
            parts.append(rest)
    path = first.path
    if len(parts) > 1:
        path = Path(f"{first.path}, {join_names([log.path.name for log in group[1:]], _MOST_NAMED)}")
        text = f"requests of {len(parts)} files were sent at the same time: added up, as of the injectors of one test"
        remarks.items += () if remarks.items else _remark_idle(parts)
        remarks.add(Kind.NOTED, text)
    log = log_of(path, first.format, _add_up([log.requests for log in parts]), remarks)
    digest = hashlib.sha256("".join(log.digest or "" for log in group).encode()).hexdigest()
    both = (*(remark for log in group for remark in log.remarks), *log.remarks)
    return _drop_requests(replace(log, file=first.file, sha256=digest, remarks=both))


def _leave_out_recorded(log: DriverLog, parts: Sequence[DriverLog], remarks: Remarks) -> DriverLog:
    """Return the log without the requests that stand in one of `parts`, too; add a remark on each part with some."""
    rest = log
    for part in parts:
        recorded = _mark_recorded(rest, part) if len(rest.requests.start) else np.zeros(0, dtype=bool)
        if count := int(recorded.sum()):
            text = f"{format_count(count, 'request')} stand in {part.path} too: counted once"
            remarks.items.append(Remark(Kind.REPAIRED, text, file=str(log.path), count=count))
            rest = replace(rest, requests=_select(rest.requests, ~recorded))
    return rest


def _remark_idle(logs: Sequence[DriverLog]) -> Iterator[Remark]:
    """Yield remarks on injectors that ended before those beside them, and on those that alone mostly failed."""
    spans, counts = np.array([log.requests.span for log in logs]), np.array([len(log.requests.start) for log in logs])
    failed = np.array([0 if log.requests.failed is None else log.requests.failed.sum() for log in logs])
    others_failed = (failed.sum() - failed) / (counts.sum() - counts)
    missing = spans[:, 1].max() - spans[:, 1]
    tolerated = max(_EARLY * (spans[:, 1].max() - spans[:, 0].min()), _LEAST_EARLY)
    early = [at for at in np.flatnonzero(missing > tolerated).tolist() if _is_load_lost(logs, at)]
    if early:
        most = f"{'up to ' if len(early) > 1 else ''}{format_duration(int(missing[early].max()))}"
        names = join_names(sorted(logs[at].path.name for at in early), _MOST_NAMED)
        yield Remark(Kind.CUT, f"the requests of {names} end {most} before those of other files")
    for at in np.flatnonzero((failed >= _MOST_FAILED * counts) & (others_failed < _MOST_FAILED)).tolist():
        share = format_percent(failed[at] / counts[at])
        yield Remark(Kind.CUT, f"{share} of the requests of {logs[at].path.name} failed, unlike those of other files")


def _is_load_lost(logs: Sequence[DriverLog], at: int) -> bool:
    """Return whether a part of the load ended with an injector, while others that had run beside it went on."""
    log, starts = logs[at], np.concatenate([log.requests.start for log in logs])
    start, end = log.requests.span
    goes_on = [other for other in logs if other.requests.span[1] > end and _find_overlap(log, other) >= _MOSTLY]
    if not goes_on:
        return False
    until = max(other.requests.span[1] for other in goes_on)
    before = np.count_nonzero((starts >= start) & (starts <= end)) / (end - start)
    after = np.count_nonzero((starts > end) & (starts <= until)) / (until - end)
    rate = len(log.requests.start) / (end - start)
    # After a test a probe may go on; what is lost may be made up for by other injectors.
    return bool(min(after, rate) >= _LEAST_LOAD * before and before - after >= rate / 2)


def _drop_requests(log: DriverLog) -> Log:
    """Return the log alone: requests take much memory."""
    return Log(**{field.name: getattr(log, field.name) for field in fields(Log)})


def _mark_recorded(log: DriverLog, other: DriverLog) -> NDArray[np.bool_]:
    """Return a mask of the requests of a log that another log has, too; none if they may be so by chance."""
    keys, other_keys = _identify(log.requests), np.sort(_identify(other.requests))
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    number = np.empty(len(keys), dtype=np.int64)  # of each request among those that begin and end with it
    number[order] = np.arange(len(keys)) - np.searchsorted(ranked, ranked)
    recorded = number < np.searchsorted(other_keys, keys, "right") - np.searchsorted(other_keys, keys)
    if recorded.mean() >= _BY_CHANCE:
        return recorded
    is_same = (
        log.format != other.format
        and abs(len(keys) - len(other_keys)) <= _SAME_COUNT * len(other_keys)
        and bool((np.abs(np.subtract(log.requests.span, other.requests.span)) <= SECOND).all())
    )
    return np.full(len(keys), is_same)


def _identify(requests: Requests) -> NDArray[np.int64]:
    """Return a number for each request, of its start and its duration in ms."""
    took = np.clip((requests.end - requests.start) // _MILLISECOND, 0, _LONGEST - 1)
    return requests.start // _MILLISECOND * _LONGEST + took


def _select(requests: Requests, chosen: NDArray[np.bool_]) -> Requests:
    return replace(
        requests,
        start=requests.start[chosen],
        end=requests.end[chosen],
        operation=requests.operation.filter(pl.Series(chosen)),
        failed=None if requests.failed is None else requests.failed[chosen],
        reasons=None
        if requests.reasons is None or requests.failed is None
        else requests.reasons.filter(pl.Series(chosen[requests.failed])),
    )


def _add_up(parts: Sequence[Requests]) -> Requests:
    """Return all requests, with the sum of the users."""
    counters: list[pl.DataFrame] = []
    for part in parts:
        labels = {label for rows in counters for label in rows["label"].unique()}
        counters.append(part.counters.rows.filter(~pl.col("label").is_in(labels)))
    names = dict.fromkeys(name for part in parts for name in part.beside)
    return Requests(
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.end for part in parts]),
        pl.concat([part.operation.cast(pl.String) for part in parts]),
        None if parts[0].failed is None else np.concatenate([part.failed for part in parts if part.failed is not None]),
        _sum_users(parts),
        AgentCounters(pl.concat(counters).sort("time")),
        {name: _append([part.beside[name] for part in parts if name in part.beside]) for name in names},
        pl.concat([_list_reasons(part) for part in parts]),
    )


def _list_reasons(requests: Requests) -> pl.Series:
    """Return the reason of each failed request; null where none is recorded."""
    failures = 0 if requests.failed is None else int(requests.failed.sum())
    return pl.Series([None] * failures if requests.reasons is None else requests.reasons, dtype=pl.String)


def _append(parts: Sequence[tuple[Times, Values]]) -> tuple[Times, Values]:
    times, values = zip(*parts, strict=True)
    return np.concatenate(times), np.concatenate(values)


def _sum_users(parts: Sequence[Requests]) -> tuple[Times, Values] | None:
    """Return times (UTC ns) and the users of all parts from each on; None if a part has none.

    The users of a part end with its last request.
    """
    changes: list[tuple[Times, Values]] = []
    for part in parts:
        if part.users is None or not len(part.users[0]):
            return None
        order = np.argsort(part.users[0], kind="stable")
        times = np.append(part.users[0][order], max(part.users[0].max(), part.end.max()))
        changes.append((times, np.diff(np.append(part.users[1][order], 0.0), prepend=0.0)))
    times, steps = _append(changes)
    order = np.argsort(times, kind="stable")
    return times[order], np.cumsum(steps[order])
