"""Writes logs, or selected counters and rows of logs, as PDH-CSV, Parquet or InfluxDB line protocol."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from polars.exceptions import PolarsError

from plimsoll.ingest.convert.write_pdh import WallClock, write_pdh
from plimsoll.ingest.shared.clock import LATEST, convert_to_utc
from plimsoll.ingest.shared.same_time import join_columns_of_one_series, join_rows_of_one_time
from plimsoll.model.atomic import write_atomically
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.parameters import Parameter
from plimsoll.model.remark import Kind, Remark, Remarks, format_count
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND, Zone, format_offset
from plimsoll.store.line_protocol import encode, find_same_when_written

_MILLISECOND = 1_000_000


@dataclass(frozen=True)
class LogSelection:
    """The part of a log to convert: some of its counters, a range of time, every n-th row.

    `counters` are patterns of counter paths (`*` stands for any text, case is ignored); empty means all counters.
    `start` and `end` (UTC ns) are both included. `zone` is the zone of times in messages; None means the log's zone.
    """

    counters: Sequence[str] = ()
    start: int | None = None
    end: int | None = None
    nth_row: int = 1
    zone: Zone | None = None

    def of(self, log: Log) -> Log:
        """Return the selected part of a log. Raise Unusable, naming the filter, if nothing is left."""
        kept = [
            at
            for at, series in enumerate(log.series)
            if not self.counters or any(_matches(pattern, _make_path(series)) for pattern in self.counters)
        ]
        if not kept:
            patterns = " or ".join(f'"{pattern}"' for pattern in self.counters)
            raise Unusable(
                f"{log.path}: no counter matches {patterns}; write paths as plimsoll show lists them, "
                r"with * for any text: Processor(*)\*"
            )
        first = 0 if self.start is None else int(np.searchsorted(log.times, self.start, side="left"))
        last = len(log.times) if self.end is None else int(np.searchsorted(log.times, self.end, side="right"))
        if first >= last and len(log.times):
            raise Unusable(f"{log.path}: has no rows {self._describe_spans(log)}")
        step = min(self.nth_row, len(log.times) or 1)
        return replace(
            log,
            times=log.times[first:last:step],
            columns=tuple(log.columns[at][first:last:step] for at in kept),
            series=tuple(log.series[at] for at in kept),
        )

    def _describe_spans(self, log: Log) -> str:
        """Return the time ranges of the selection and of the log as text for a message."""
        ends = ((word, at) for word, at in (("from", self.start), ("to", self.end)) if at is not None)
        zone = self.zone or log.zone
        text = " ".join(f"{word} {zone.clock(min(max(at, 0), LATEST))}" for word, at in ends)
        first, last = (int(at) for at in log.times[[0, -1]])
        reach = f"from {zone.clock(first)} to {zone.clock(last)} ({zone.label(first)})"
        return f"{text}: it reaches {reach}; choose times in between"


class Written(NamedTuple):
    """The result of a conversion: a text such as `12 rows of 3 counters`, and remarks."""

    size: str
    remarks: list[Remark]


def write_csv(log: Log, out: Path) -> Written:
    """Write a log as PDH-CSV. Raise Unusable if a counter has no Perfmon path."""
    if odd := [series for series in log.series if not series.path.startswith("\\")]:
        raise Unusable(f"{log.path}: {odd[0].path} is no Perfmon counter; convert it to parquet or lp")
    columns = [(_make_path(series), log.column(at)) for at, series in enumerate(log.series)]
    remarks = Remarks(str(out))
    write_pdh(out, _find_wall_clock(log, remarks), log.times, columns)
    if fine := int(np.count_nonzero(log.times % _MILLISECOND)):
        remarks.add(Kind.NOTED, f"{format_count(fine, 'time')} cut to milliseconds: CSV holds no more", count=fine)
    return Written(_count_rows(log), remarks.items)


def build_frame(log: Log) -> pl.DataFrame:
    """Return a log as a wide table: `time` (Datetime, ns, UTC), and a Float64 column for each counter.

    A column is named by the counter's path with its computer; repeated paths get a number.
    """
    columns = [pl.Series("time", log.times).cast(pl.Datetime("ns", "UTC"))]
    names = _number_names([_make_path(series) for series in log.series])
    named = zip(names, log.columns, strict=True)
    return pl.DataFrame(columns + [pl.Series(name, column).fill_nan(None) for name, column in named])


def write_parquet(log: Log, out: Path) -> Written:
    """Write a log as Parquet: `time` (UTC, ns), and a column for each counter, named by path and computer.

    Raise Unusable if the file cannot be written.
    """
    frame = build_frame(log)
    with write_atomically(out) as partial, partial.open("wb") as file:
        try:
            frame.write_parquet(file)
        except PolarsError as error:  # for example, the disk is full
            raise OSError(str(error)) from None
    paths = [_make_path(series) for series in log.series]
    first = {path.casefold(): path for path in reversed(paths)}
    remarks = Remarks(str(out))
    for key, count in Counter(map(str.casefold, paths)).items():
        if count > 1:
            text = f"{count} columns of the same counter: numbered"
            remarks.add(Kind.NOTED, text, counter=first[key], count=count)
    return Written(_count_rows(log), remarks.items)


def write_line_protocol(log: Log, out: Path) -> Written:
    """Write a log as InfluxDB line protocol with Telegraf's names: one point for each series and time.

    If several rows have the same time, or several columns the same counter, the first value is written. A counter that
    would be written as the same series as another counter is left out, with a remark. Raise Unusable if the file cannot
    be written.
    """
    alike = find_same_when_written(log.series)
    kept = sorted(set(range(len(log.series))).difference(left for left, _ in alike))
    chosen = replace(log, series=tuple(log.series[at] for at in kept), columns=tuple(log.columns[at] for at in kept))
    points = 0
    with write_atomically(out) as partial, partial.open("wb") as file:
        for piece in encode(join_columns_of_one_series(join_rows_of_one_time(chosen))):
            file.write(piece)
            points += piece.count(b"\n")
    remarks = Remarks(str(out))
    for left, value in alike:
        text = (
            f"left out: written as line protocol it would be mixed with {_make_path(log.series[value])}; choose either "
        )
        text += f"with {Parameter.COUNTER}"
        remarks.add(Kind.SKIPPED, text, counter=_make_path(log.series[left]))
    if not points:
        remarks.add(Kind.NOTED, "there are no values to write: the file is empty")
    return Written(format_count(points, "point"), remarks.items)


WRITERS = {"csv": write_csv, "parquet": write_parquet, "lp": write_line_protocol}


def _count_rows(log: Log) -> str:
    return f"{format_count(len(log.times), 'row')} of {format_count(len(log.series), 'counter')}"


def _number_names(names: Sequence[str]) -> Iterator[str]:
    """Yield the names; a name that repeats an earlier name (case ignored) gets a number: `NAME [2]`."""
    numbers: Counter[str] = Counter()
    taken: set[str] = set()
    for name in names:
        label, key = name, name.casefold()
        while label.casefold() in taken:
            numbers[key] += 1
            label = f"{name} [{numbers[key] + 1}]"
        taken.add(label.casefold())
        yield label


def _make_path(series: Series) -> str:
    r"""Return the path of a series with its host: `\\HOST\PATH`, such as `\\web01\sadf queue runq-sz`."""
    path = series.path if series.path.startswith("\\") else f"\\{series.path}"
    return rf"\\{series.host}{path}"


def _matches(pattern: str, path: str) -> bool:
    r"""Return whether a counter path matches a pattern; the computer is ignored unless the pattern begins with `\\`."""
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    inner = path[path.index("\\", 2) :]
    candidates = [path] if pattern.startswith("\\\\") else [inner, inner.removeprefix("\\")]
    return any(re.fullmatch(expression, candidate, re.IGNORECASE | re.DOTALL) for candidate in candidates)


def _find_wall_clock(log: Log, remarks: Remarks) -> WallClock | None:
    """Return the name of a log's time zone and its offset at the first row, for PDH-CSV; None if the zone is unknown.

    If a reader that applies the zone's rules would get other times, the name is replaced by one such as UTC+01:00, with
    a remark.
    """
    if not log.zone.is_specified:
        return None
    first = log.zone.local(int(log.times[0]) if len(log.times) else 0)
    minutes = (first.utcoffset() or timedelta()) // timedelta(minutes=1)
    zone = Zone.from_bias(log.zone.name, -minutes)
    read_back = convert_to_utc(log.times + minutes * 60 * SECOND, zone, range(len(log.times)), Remarks())
    if np.array_equal(read_back, log.times):
        return WallClock(zone.name, -minutes)
    name = f"UTC{format_offset(minutes)}"
    remarks.add(Kind.NOTED, f"the zone is written as {name}: a clock of {zone.name} would have been changed meanwhile")
    return WallClock(name, -minutes)
