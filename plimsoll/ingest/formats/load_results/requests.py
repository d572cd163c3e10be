"""Series computed from single requests: rates of begun, completed and failed requests, and response times.

The series have the host `DRIVER`, since a load driver measures the whole system: the measurement `load_driver` has all
requests, `load_driver_operation` the requests of each operation, and `load_driver_failure` counts the failed requests
of each of the most frequent reasons.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PanicException, PolarsError

from plimsoll.ingest.formats.load_results.perfmon_agent import AgentCounters
from plimsoll.ingest.shared.same_time import MOST_LEFT_OUT
from plimsoll.ingest.shared.separate_runs import run_starts
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable, escape
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Kind, Remarks, format_count, shorten
from plimsoll.model.series import LOAD_DRIVER, Series
from plimsoll.model.times import SECOND, Zone

_SECONDS = 10**10  # above are milliseconds, and so on: the year 2286
_EARLIEST, _LATEST = 10**9 * SECOND // 2, 5 * 10**9 * SECOND  # 1985 to 2128
_MILLION = 10**6
DRIVER = "load driver"  # the host of these series, which no file names
OTHER = "other operations"
# Our choices: enough requests in each step for its percentiles, and enough steps for a short run.
_STEPS = ((600, 10), (60, 5), (0, 1))  # a run of so many seconds, and the length of its steps in seconds
_MOST_OPERATIONS = 30
_MOST_REASONS, _LONGEST_REASON = 3, 120
_PACKAGE = re.compile(r"\b(?:[a-z]\w*\.)+(?=[A-Z])")
# What follows the question mark of an address, addresses and times, ids, and numbers other than statuses.
_CHANGING = r"\?[^\s\"'”]+|\d+(?:[.:]\d+)+|\b[0-9a-f]{8}-[0-9a-f-]+|\b(?:\d|\d\d|[06-9]\d\d|\d{4,})\b"
_CHANGED = "…"
_LONGEST_DAYS = 31
_UNANSWERED = 60 * SECOND  # our choice: users who wait no longer after the last request are about to end
_LEAST_OF_RUN = 10  # requests; fewer, months from the rest, are of a damaged time
_PAUSE, _LEAST_BESIDE = 570 * SECOND, 30  # ten minutes, less what steps hide, with so many requests in them beside it
_PERCENTILES = (0.5, 0.95, 0.99)
__all__ = ["DRIVER", "Requests", "log_of"]


@dataclass(frozen=True, eq=False)
class Requests:
    """Requests in any order: for each request its start and end (UTC ns), its operation, and whether it failed.

    `failed` is None if the file does not tell. `users` are times (UTC ns) and the number of active users from each time
    on. `counters` are the counters of hosts in the same file. `beside` has, by field, times (UTC ns) and counts of
    other things than requests, as of checks and dropped iterations. `reasons` are those of the failed requests, in
    their order, null or empty where the file does not give them.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    operation: pl.Series
    failed: NDArray[np.bool_] | None
    users: tuple[Times, Values] | None = None
    counters: AgentCounters = field(default_factory=AgentCounters)
    beside: Mapping[str, tuple[Times, Values]] = field(default_factory=dict[str, tuple[Times, Values]])
    reasons: pl.Series | None = None

    @property
    def span(self) -> tuple[int, int]:
        """The time from the first start to the last end (UTC ns)."""
        return int(self.start.min()), int(self.end.max())


@dataclass(frozen=True, eq=False)
class DriverLog(Log):
    """A log of series that were computed from `requests`."""

    requests: Requests = field(kw_only=True)


def log_of(path: Path, name: str, requests: Requests, remarks: Remarks) -> DriverLog:
    """Return a log with the series of requests, computed for steps of equal length in each run.

    Raise Unusable if there are neither requests nor counters, or if a run lasts over a month.
    """
    if not len(requests.start) and not len(requests.counters.times):
        raise Unusable(f"{path}: holds no request that can be read; is it the file of a run that sent some?")
    codes, operations = _number_operations(requests.operation, remarks)
    reasons = _find_reasons(requests.reasons)
    spans = _find_run_spans(requests)
    days = (spans[-1][1] - spans[0][0]) / (86400 * SECOND)
    fewest = min(int(_select_within(requests, span).sum()) for span in spans) if len(requests.start) else _LEAST_OF_RUN
    longest = max(end - start for start, end in spans)
    if days > _LONGEST_DAYS and (fewest < _LEAST_OF_RUN or longest > _LONGEST_DAYS * 86400 * SECOND):
        raise Unusable(f"{path}: its requests reach over {days:,.0f} days; where a time is damaged, delete its line")
    step = next(seconds for shortest, seconds in _STEPS if longest / SECOND >= shortest) * SECOND
    tables: list[tuple[Times, dict[Series, Values]]] = []
    for span in spans:
        inside = _select_within(requests, span)
        start, end, operation = requests.start[inside], requests.end[inside], requests.operation.filter(inside)
        failed = None if requests.failed is None else requests.failed[inside]
        run = Requests(start, end, operation, failed, requests.users, beside=requests.beside)
        edges = _compute_edges(span, step)
        columns = _build_table(run, codes.filter(inside), operations, edges) if len(requests.start) else {}
        if requests.failed is not None:
            columns |= _count_reasons(requests.end[requests.failed], inside[requests.failed], reasons, edges)
        tables.append((edges, columns | requests.counters.columns(edges)))
    times = np.concatenate([edges[1:] for edges, _ in tables])
    columns = {
        series: np.concatenate([table.get(series, np.full(len(edges) - 1, np.nan)) for edges, table in tables])
        for series in dict.fromkeys(series for _, table in tables for series in table)
    }
    values, series = tuple(columns.values()), tuple(columns)
    return DriverLog(path, name, times, values, series, Zone.parse("UTC"), tuple(remarks), requests=requests)


def _find_run_spans(requests: Requests) -> list[tuple[int, int]]:
    """Return the start and end (UTC ns) of each run; the times between them have no rows.

    A pause between two runs is longer than either of these runs, or at least ten minutes in which no request waited: a
    system that does not answer keeps requests waiting. The last run lasts as long as users wait for responses, or
    counters of hosts are recorded in the same file.
    """
    recorded = requests.counters.times
    order = np.argsort(requests.start, kind="stable")
    start, end = requests.start[order], np.maximum.accumulate(requests.end[order])
    if not len(start):
        start = end = recorded
    times, users = requests.users or (recorded, recorded)
    pauses = [] if len(recorded) else _find_pauses(start, end, np.sort(times[users > 0]))
    edges = [0, *sorted({*run_starts(start, end), *pauses}), len(start)]
    spans = [(int(start[first]), int(end[last - 1])) for first, last in pairwise(edges)]
    waiting = max(int(times[users > 0].max(initial=0)), int(recorded.max(initial=0)))
    if waiting - spans[-1][1] > _UNANSWERED:
        spans[-1] = spans[-1][0], waiting
    return spans


def _find_pauses(start: Times, end: Times, at_work: Times) -> list[int]:
    """Return the index of the first request after each pause of ten minutes of a load driver that was busy beside it.

    `start` are the times of requests (UTC ns, ascending), `end` the times at which all requests begun so far were done.
    A time `at_work` within a pause shows that users were at work in it, so that it is none.
    """
    at = np.flatnonzero(start[1:] - end[:-1] >= _PAUSE) + 1
    first, last = end[at - 1], start[at]
    none_at_work = np.searchsorted(at_work, first, side="right") == np.searchsorted(at_work, last)
    before = at - np.searchsorted(start, first - _PAUSE)
    after = np.searchsorted(start, last + _PAUSE) - at
    return at[none_at_work & (np.minimum(before, after) >= _LEAST_BESIDE)].tolist()


def _select_within(requests: Requests, span: tuple[int, int]) -> NDArray[np.bool_]:
    return (requests.start >= span[0]) & (requests.start <= span[1])


def _build_table(requests: Requests, codes: pl.Series, operations: Sequence[str], edges: Times) -> dict[Series, Values]:
    """Return the values of one run's series in each step between `edges` (UTC ns)."""
    at = np.clip(_find_edges(requests.end, edges) - 1, 0, len(edges) - 2)
    frame = pl.DataFrame({"step": at, "operation": codes, "took": (requests.end - requests.start) / SECOND})
    if requests.failed is not None:
        frame = frame.with_columns(failed=pl.Series(requests.failed))
    columns: dict[Series, Values] = {}
    _add(columns, None, frame, edges)
    seconds = np.diff(edges) / SECOND
    # The length of all steps but the last is that of the first.
    steps = np.clip((requests.start - edges[0]) // (edges[1] - edges[0]), 0, len(edges) - 2)
    columns[make_driver_series("requests_begun")] = np.bincount(steps, minlength=len(seconds)) / seconds
    waited = _sum_waits(requests.start, edges) - _sum_waits(requests.end, edges)
    columns[make_driver_series("in_flight")] = np.diff(waited) / seconds
    for name, (times, counts) in requests.beside.items():
        inside = (times >= edges[0]) & (times <= edges[-1])
        at = np.clip(_find_edges(times[inside], edges) - 1, 0, len(edges) - 2)
        columns[make_driver_series(name)] = np.bincount(at, weights=counts[inside], minlength=len(seconds)) / seconds
    if requests.users is not None:
        columns[make_driver_series("users")] = _average_steps(*requests.users, edges)
    if len(operations) > 1:
        for code, operation in enumerate(operations):
            _add(columns, operation, frame.filter(pl.col("operation") == code), edges)
    return columns


def _compute_edges(span: tuple[int, int], step: int) -> Times:
    """Return the edges (UTC ns) of a run's steps of `step` ns; the last may be up to half a step shorter or longer."""
    start, end = span
    count = max(round((end - start) / step), 1)
    edges = start + np.arange(count + 1, dtype=np.int64) * step
    edges[-1] = max(end, start + SECOND // 1000)
    return edges


def _find_edges(times: Times, edges: Times) -> Times:
    """Return the index of the first edge at or after each time."""
    return np.clip(-((edges[0] - times) // (edges[1] - edges[0])), 0, len(edges) - 1)


def _number_operations(names: pl.Series, remarks: Remarks) -> tuple[pl.Series, list[str]]:
    """Return the operation number of each request, and the operations' names by number.

    Beyond `_MOST_OPERATIONS`, the rarest operations become one operation, `OTHER`, with a remark.
    """
    coded = names.cast(pl.Categorical)  # numbers are faster than names
    numbers, distinct = coded.to_physical().to_numpy(), coded.unique()
    counts = np.bincount(numbers)
    number = dict(zip(distinct.cast(pl.String).to_list(), distinct.to_physical().to_list(), strict=True))
    by_count = sorted(number, key=lambda name: (-counts[number[name]], name))
    kept = sorted(by_count if len(by_count) <= _MOST_OPERATIONS else by_count[: _MOST_OPERATIONS - 1])
    if len(kept) < len(by_count):
        remarks.add(
            Kind.NOTED,
            f"{format_count(len(by_count), 'operation')}: the {len(kept)} with most requests are kept apart, the "
            "others are "
            f'one, "{OTHER}"; give requests whose addresses differ one name in the script',
        )
    code = np.full(len(counts), len(kept))
    code[[number[name] for name in kept]] = range(len(kept))
    return pl.Series(code[numbers]), kept if len(kept) == len(by_count) else [*kept, OTHER]


def _find_reasons(reasons: pl.Series | None) -> dict[str, NDArray[np.bool_]]:
    """Return the most frequent reasons, and a mask of the failed requests that have each of them.

    Reasons that differ only in addresses, numbers or ids are one, with dots for what differs.
    """
    if reasons is None:
        return {}
    coded = reasons.str.strip_chars().cast(pl.Categorical)  # numbers are faster than texts
    rows = pl.DataFrame({"text": coded, "code": coded.to_physical()})
    counts = rows.drop_nulls().group_by("text", "code").len().cast({"text": pl.String}).filter(pl.col("text") != "")
    alike = pl.col("text").str.replace_all(_CHANGING, _CHANGED).str.head(_LONGEST_REASON)
    kinds = counts.group_by(alike.alias("kind")).agg(pl.col("text").min(), pl.col("len").sum(), "code")
    text = pl.when(pl.col("code").list.len() == 1).then("text").otherwise("kind")
    kinds = kinds.with_columns(text=text)
    most = kinds.sort("len", "text", descending=[True, False]).head(_MOST_REASONS)
    return {
        _name_reason(text): rows["code"].is_in(codes.implode()).fill_null(False).to_numpy()
        for text, codes in zip(most["text"], most["code"], strict=True)
    }


def _name_reason(text: str) -> str:
    """Return a reason as it is shown: a bare HTTP status with its phrase, and a class of Java without its package."""
    phrase = {str(status.value): f" {status.phrase}" for status in HTTPStatus}.get(text, "")
    return escape(shorten(" ".join(_PACKAGE.sub("", f"{text}{phrase}").split()), _LONGEST_REASON))


def _count_reasons(
    ends: Times, inside: NDArray[np.bool_], reasons: Mapping[str, NDArray[np.bool_]], edges: Times
) -> dict[Series, Values]:
    """Return the number of failed requests of a run, ended at `ends`, for each reason and step between `edges`."""
    columns: dict[Series, Values] = {}
    for reason, has_reason in reasons.items():
        at = np.clip(_find_edges(ends[inside & has_reason], edges) - 1, 0, len(edges) - 2)
        series = Series(DRIVER, LOAD_DRIVER[2], (("reason", reason),), "failures", f"load driver({reason}) failures")
        columns[series] = np.bincount(at, minlength=len(edges) - 1).astype(np.float64)
    return columns


def _add(columns: dict[Series, Values], operation: str | None, frame: pl.DataFrame, edges: Times) -> None:
    """Add the series of one operation, or of all requests (None); a request counts in the step in which it ends."""
    count, seconds = len(edges) - 1, np.diff(edges) / SECOND
    expressions = [pl.len().alias("n"), pl.col("took").mean().alias("mean")]
    expressions += [pl.col("took").quantile(value, "linear").alias(f"p{value * 100:.0f}") for value in _PERCENTILES]
    if "failed" in frame.columns:
        expressions.append(pl.col("failed").sum().alias("failed"))
    steps = frame.group_by("step").agg(expressions)
    at = steps["step"].to_numpy()

    def column(name: str, otherwise: float) -> Values:
        filled = np.full(count, otherwise)
        filled[at] = steps[name].to_numpy()
        return filled

    done = column("n", 0)
    columns[make_driver_series("requests", operation)] = done / seconds
    if "failed" in frame.columns:
        failed = column("failed", 0)
        columns[make_driver_series("errors", operation)] = failed / seconds
        share = np.divide(100 * failed, done, out=np.full(count, np.nan), where=done > 0)
        columns[make_driver_series("error_percent", operation)] = share
    for name in ("mean", *(f"p{value * 100:.0f}" for value in _PERCENTILES)):
        columns[make_driver_series(f"response_{name}_s", operation)] = column(name, np.nan)


def _sum_waits(times: Times, edges: Times) -> Values:
    """Return for each edge the sum, over all earlier `times`, of the seconds from that time to the edge."""
    at = _find_edges(times, edges)
    before = np.cumsum(np.bincount(at, minlength=len(edges)))
    sums = np.cumsum(np.bincount(at, weights=(times - edges[0]) / SECOND, minlength=len(edges)))
    return (edges - edges[0]) / SECOND * before - sums


def _average_steps(times: Times, values: Values, edges: Times) -> Values:
    """Return the time-weighted mean in each step; a value lasts until the next value. NaN before the first value."""
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[order]
    full = np.full(len(edges) - 1, np.nan)
    for at, (start, end) in enumerate(pairwise(edges.tolist())):
        first, last = np.searchsorted(times, [start, end], side="right").tolist()
        inside = slice(max(first - 1, 0), max(last, 1))
        clip = np.clip(times[inside], start, end)
        if times[inside][0] <= end:
            lengths = np.diff(np.append(clip, end)).astype(np.float64)
            whole = float(lengths.sum())
            full[at] = float((lengths * values[inside]).sum() / whole) if whole else float(values[inside][-1])
    return full


def make_driver_series(field: str, operation: str | None = None) -> Series:
    """Return the load driver's series of a field, for one operation, or for all requests (None)."""
    if operation is None:
        return Series(DRIVER, LOAD_DRIVER[0], (), field, f"load driver {field}")
    shown = escape(operation)
    return Series(DRIVER, LOAD_DRIVER[1], (("operation", shown),), field, f"load driver({shown}) {field}")


def read_columns(text: Text, columns: Sequence[str], separator: str = ",") -> pl.DataFrame:
    """Return the named columns of a CSV file, as text. Raise Unusable if the file is damaged."""
    return read_cells(text, columns=list(columns), separator=separator, infer_schema=False)


def read_cells(text: Text, **options: Any) -> pl.DataFrame:
    """Return a CSV file as parsed by polars with the given options. Raise Unusable if the file is damaged."""
    try:
        try:
            return pl.read_csv(text.source, truncate_ragged_lines=True, glob=False, **options)
        except PolarsError:  # replacing invalid UTF-8 takes a fifth longer, and is rarely needed
            return pl.read_csv(text.source, truncate_ragged_lines=True, glob=False, encoding="utf8-lossy", **options)
    except (PolarsError, PanicException, ValueError):
        raise Unusable(f"{text.path}: is no whole table; copy it again, or delete the lines that are damaged") from None


def select_whole_rows(frame: pl.DataFrame, needed: Sequence[str], remarks: Remarks) -> pl.DataFrame:
    """Return the rows that have all `needed` cells; add a remark on the other rows."""
    if not sum(frame[name].null_count() for name in needed):
        return frame
    whole = frame.drop_nulls(list(needed))
    lost = len(frame) - len(whole)
    if lost:
        remarks.add(
            Kind.CUT if lost > max(MOST_LEFT_OUT * len(frame), 1) else Kind.SKIPPED,
            f"{format_count(lost, 'row')} without a time, a duration, an operation or a result left out",
            count=lost,
        )
    return whole


def convert_epoch(column: str) -> pl.Expr:
    """Return an expression that converts times since 1970 to UTC ns; null for implausible times.

    The size of a number tells whether it is in s, ms, µs or ns.
    """
    number = pl.col(column).cast(pl.Int64, strict=False)
    otherwise = (
        pl.when(number < _SECONDS)
        .then(number * SECOND)
        .when(number < _SECONDS * 1000)
        .then(number * _MILLION)
        .when(number < _SECONDS * _MILLION)
        .then(number * 1000)
        .otherwise(number)
    )
    return pl.when(otherwise.is_between(_EARLIEST, _LATEST)).then(otherwise)


def convert_milliseconds(column: str) -> pl.Expr:
    """Return an expression that converts milliseconds to ns; null for text, negative numbers, and more than a month."""
    number = pl.col(column).cast(pl.Float64, strict=False)
    return pl.when(number.is_between(0, 31 * 86_400_000)).then((number * _MILLION).round().cast(pl.Int64))
