"""The rows of one section of `sadf -d` as columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ingest.formats.sadf.blocks import Block
from ingest.formats.sadf.names import OMITTED, Section, device
from ingest.shared.clock_rules import LATEST
from model.errors import Unusable
from model.log import Times, Values
from model.remark import Kind, Remarks, and_more, counted, short

_UTC = "%Y-%m-%d %H:%M:%S UTC"
_LOCAL = "%Y-%m-%d %H:%M:%S"
_ZONE = r" ([A-Za-z]{3,7}|[+-]\d{2,4})$"  # as versions after 12.6.1 write after local times


@dataclass(frozen=True)
class SectionTable:
    """A block as columns. `stamps` are UTC in ns, or where `local` says so the recorder's clock.

    `zone` is what the first of these calls its zone, which says no offset for certain; None if nothing.
    `intervals` are the seconds since the row before, as the row itself says; -1 where it does not.
    Before rows that are `anew` a header stands, before those that are `restarted` a restart is told.
    """

    section: Section
    lines: NDArray[np.int64]
    hosts: pl.Series
    devices: pl.Series
    stamps: Times
    local: NDArray[np.bool_]
    zone: str | None
    intervals: NDArray[np.int64]
    anew: NDArray[np.bool_]
    restarted: NDArray[np.bool_]
    values: list[Values | None]

    def rows(self, at: NDArray[np.intp]) -> "SectionTable":
        """The table with these rows alone."""
        columns = {name: each[at] for name, each in vars(self).items() if isinstance(each, np.ndarray | pl.Series)}
        return replace(self, **columns, values=[None if each is None else each[at] for each in self.values])


def table_of(path: Path, block: Block, remarks: Remarks) -> SectionTable:
    """The rows of a block; those without a time and cells that are no numbers are remarked.

    Unusable if most rows have no time, or a column has text alone.
    """
    labelled = block.section.label is not None
    common = ["host", "interval", "time", *(["device"] if labelled else [])]
    names = [str(at) for at in range(block.cells - len(common))]
    cells = pl.read_csv(
        "\n".join(block.rows).encode(),
        has_header=False,
        separator=";",
        quote_char=None,
        schema=dict.fromkeys([*common, *names], pl.String),
        empty_string_is_null=False,
    )
    lines = np.array(block.lines, dtype=np.int64)
    stamps, local = _stamps(cells.get_column("time"))
    if stamps.null_count():
        good = stamps.is_not_null()
        _tell_bad_times(path, cells.get_column("time"), ~good, lines, remarks)
        cells, stamps, local, lines = cells.filter(good), stamps.filter(good), local.filter(good), lines[good]
    instances = cells.get_column("device") if labelled else pl.Series([""] * len(cells), dtype=pl.String)
    shown = {name: device(block.section, name) for name in instances.unique()} if labelled else {"": ""}
    fields = block.section.fields if not block.section.is_per_cpu else names
    values = [
        _numbers(path, cells.get_column(name), f"{block.section.label or ''} {shown_as}".strip(), lines, remarks)
        for name, shown_as in zip(names, fields, strict=True)
    ]
    return SectionTable(
        block.section,
        lines,
        cells.get_column("host"),
        instances.replace_strict(shown, return_dtype=pl.String),
        stamps.to_numpy(),
        local.to_numpy(),
        cells.get_column("time").filter(local).head(1).str.extract(_ZONE).item() if local.any() else None,
        cells.get_column("interval").cast(pl.Int64, strict=False).fill_null(-1).to_numpy(),
        _first_behind(block.headers, lines),
        _first_behind(block.restarts, lines),
        values,
    )


def _first_behind(marks: Sequence[int], lines: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows are the first behind any of these lines."""
    return np.isin(np.arange(len(lines)), np.searchsorted(lines, marks, side="right"))


def _stamps(times: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Times in ns, null where a cell is none, and whether each is of the recorder's clock and not UTC."""
    known = _parsed(times, _UTC)
    if not known.null_count():  # as is the rule
        return known, pl.repeat(False, len(known), eager=True)
    # 10.0.2 to 10.0.4 write 06-00-01.
    times = times.str.replace(r" (\d\d)-(\d\d)-(\d\d)", " $1:$2:$3")
    seconds = _in_ns(times.str.extract(r"^(\d{9,11})$").cast(pl.Int64) * 1_000_000)
    known = known.fill_null(_parsed(times, _UTC)).fill_null(seconds)
    local = _parsed(times.str.replace(_ZONE, ""), _LOCAL)
    return known.fill_null(local), known.is_null() & local.is_not_null()


def _parsed(times: pl.Series, how: str) -> pl.Series:
    return _in_ns(times.str.to_datetime(how, strict=False, time_unit="us").cast(pl.Int64))


def _in_ns(since_1970: pl.Series) -> pl.Series:
    """Microseconds as nanoseconds; null where no recorder is of that year, which these may not reach."""
    return since_1970.set(~since_1970.is_between(0, LATEST // 1000), None) * 1000


def _tell_bad_times(path: Path, times: pl.Series, bad: pl.Series, lines: NDArray[np.int64], remarks: Remarks) -> None:
    at = np.flatnonzero(bad.to_numpy())
    first, line = short(times[int(at[0])]), int(lines[at[0]])
    if 2 * len(at) > len(times):
        raise Unusable(
            f'{path}:{line}: "{first}" is not a time as sadf writes it (YYYY-MM-DD HH:MM:SS UTC); '
            "write the file again with sadf -d FILE -- -A"
        )
    remarks.add(Kind.SKIPPED, f'"{first}" is not a time: {counted(len(at), "row")} left out', line=line, count=len(at))


def _numbers(path: Path, text: pl.Series, counter: str, lines: NDArray[np.int64], remarks: Remarks) -> Values | None:
    """A column's values, NaN where a cell is no number; None where none is one. All is told.

    Unusable if they are all text, as sadf writes none: something about the file was not understood.
    """
    text = cells = text.str.strip_chars()
    if text.str.contains(",", literal=True).any():
        text = text.str.replace(",", ".", literal=True)
        remarks.add_once(
            Kind.REPAIRED, "numbers have decimal commas, as sadf writes them in some locales: read as decimal points"
        )
    numbers = text.cast(pl.Float64, strict=False)
    values = numbers.to_numpy()
    bad = np.flatnonzero(~np.isfinite(values) & (text != "").to_numpy())
    if not len(bad):
        return values
    first = short(cells[int(bad[0])])
    if numbers.is_null().all() and not counter.endswith(OMITTED):
        raise Unusable(
            f'{path}:{lines[bad[0]]}: "{first}" in the column {counter} is no number, nor is any other cell of it; '
            "sadf writes nothing but numbers there: write the file again with sadf -d FILE -- -A"
        )
    where = {"line": int(lines[bad[0]]), "count": len(bad)}
    if len(bad) == len(values):
        told = f'is no number ("{first}"{and_more(len(bad))}): left out'
        remarks.add(Kind.SKIPPED, told, counter=counter, **where)
        return None
    told = f'"{first}" is not a number: no sample{and_more(len(bad))}'
    remarks.add(Kind.SKIPPED, told, counter=counter, **where)
    return np.where(np.isfinite(values), values, np.nan)
