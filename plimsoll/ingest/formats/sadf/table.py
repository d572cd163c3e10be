"""The rows of one section of `sadf -d`, as columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plimsoll.ingest.formats.sadf.blocks import RowBlock
from plimsoll.ingest.formats.sadf.sections import AGAIN, SadfSection, name_device
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Times, Values
from plimsoll.model.remark import Kind, Remarks, format_count, format_more, shorten
from plimsoll.model.times import convert_to_instant

_SHARES_OFF = 5.0  # percentage points; our choice: rounding ten columns adds up to 0.05
_SPACE = ("MBfsfree", "MBfsused", "%fsused", "%ufsused")
_ZONE = r" ([A-Za-z]{3,7}|[+-]\d{2,4})$"  # after local times, since sysstat 12.6.2
_LATEST = convert_to_instant(datetime(2201, 1, 1, tzinfo=UTC)) // 1000  # us; nanoseconds end in 2262


@dataclass(frozen=True)
class SectionTable:
    """The rows of a block, as columns.

    `stamps` are times in UTC (ns), or in local time where `local` is True; `zone` is the zone's name after the first
    local time, None if there is none. `intervals` are the seconds since the previous row, or -1 where a row does not
    state them. `is_after_header` and `is_after_restart` mark the first row after a header or restart.
    """

    section: SadfSection
    lines: NDArray[np.int64]
    hosts: pl.Series
    devices: pl.Series
    stamps: Times
    local: NDArray[np.bool_]
    zone: str | None
    intervals: NDArray[np.int64]
    is_after_header: NDArray[np.bool_]
    is_after_restart: NDArray[np.bool_]
    values: list[Values]

    def rows(self, at: NDArray[np.intp]) -> "SectionTable":
        """Return the table with only the rows at these indices."""
        columns = {name: var[at] for name, var in vars(self).items() if isinstance(var, np.ndarray | pl.Series)}
        return replace(self, **columns, values=[value[at] for value in self.values])


def build_table(path: Path, block: RowBlock, remarks: Remarks) -> SectionTable:
    """Return a block as columns. Rows without a time, and cells that are not numbers, are left out with remarks.

    Raise Unusable if most rows have no time, a column has only text, or an instance has spaces around it.
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
    stamps, local = _parse_stamps(cells.get_column("time"))
    if stamps.null_count():
        good = stamps.is_not_null()
        _remark_bad_times(path, cells.get_column("time"), ~good, lines, remarks)
        cells, stamps, local, lines = cells.filter(good), stamps.filter(good), local.filter(good), lines[good]
    instances = cells.get_column("device") if labelled else pl.Series([""] * len(cells), dtype=pl.String)
    if (padded := (instances != instances.str.strip_chars()).to_numpy()).any():
        raise Unusable(f"{path}:{lines[padded.argmax()]}: the row has spaces around its cells; {AGAIN}")
    shown = {name: name_device(block.section, name) for name in instances.unique()} if labelled else {"": ""}
    fields = block.section.fields if not block.section.is_per_cpu else names
    values = [
        _parse_numbers(path, cells.get_column(name), f"{block.section.label or ''} {shown_as}".strip(), lines, remarks)
        for name, shown_as in zip(names, fields, strict=True)
    ]
    if {"%idle", "%iowait", "%steal"} <= set(fields):
        values = _check_shares(values, lines, remarks)
    section = block.section
    if set(_SPACE) <= set(fields):
        section = replace(section, fields=(*fields, "MBfsavail", "%fsavail"))
        values += _compute_available(*(values[fields.index(name)] for name in _SPACE))
    return SectionTable(
        section,
        lines,
        cells.get_column("host"),
        instances.replace_strict(shown, return_dtype=pl.String),
        stamps.to_numpy(),
        local.to_numpy(),
        cells.get_column("time").filter(local).head(1).str.extract(_ZONE).item() if local.any() else None,
        cells.get_column("interval").cast(pl.Int64, strict=False).fill_null(-1).to_numpy(),
        _mark_first_after(block.headers, lines),
        _mark_first_after(block.restarts, lines),
        values,
    )


def _check_shares(values: list[Values], lines: NDArray[np.int64], remarks: Remarks) -> list[Values]:
    """Return the shares of processor time, with NaN in rows that do not add up to about 100 %.

    On KVM all shares of a processor can be 0, which would look like a busy processor (sysstat's issue 95).
    """
    total = np.sum(values, axis=0)
    wrong = np.flatnonzero(np.abs(total - 100) > _SHARES_OFF)
    if not len(wrong):
        return values
    first = f"{total[wrong[0]]:.4g}"
    remarks.add(
        Kind.SKIPPED,
        f"the shares of a processor add up to {first} % and not to 100: no sample ({format_count(len(wrong), 'row')})",
        line=int(lines[wrong[0]]),
        count=len(wrong),
    )
    return [np.where(np.abs(total - 100) > _SHARES_OFF, np.nan, column) for column in values]


def _compute_available(free: Values, used: Values, used_percent: Values, unavailable_percent: Values) -> list[Values]:
    """Return the space of a file system that users other than root may use: in MB, and in percent as in `df`.

    sysstat's free space includes the blocks reserved for root; `%ufsused` exceeds `%fsused` by these blocks.
    """
    available = np.maximum(free - (unavailable_percent - used_percent) / 100 * (free + used), 0)
    usable = used + available
    return [available, 100 * np.divide(available, usable, out=np.full(len(usable), np.nan), where=usable > 0)]


def _mark_first_after(marks: Sequence[int], lines: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each row whether it is the first row after one of the line numbers `marks`."""
    return np.isin(np.arange(len(lines)), np.searchsorted(lines, marks, side="right"))


def _parse_stamps(times: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return times in ns (null for cells without a time), and whether each is local time."""

    def in_ns(since_1970: pl.Series) -> pl.Series:
        """Convert microseconds to ns; null for implausible years, as some overflow."""
        return since_1970.set(~since_1970.is_between(0, _LATEST), None) * 1000

    def parse(times: pl.Series, form: str) -> pl.Series:
        return in_ns(times.str.to_datetime(form, strict=False, time_unit="us").cast(pl.Int64))

    parsed = parse(times, "%Y-%m-%d %H:%M:%S UTC")
    if not parsed.null_count():
        return parsed, pl.repeat(False, len(parsed), eager=True)
    # Versions 10.0.2 to 10.0.4 write 06-00-01, and some after 12.6.1 a space after times.
    times = times.str.strip_suffix(" ").str.replace(r" (\d\d)-(\d\d)-(\d\d)", " $1:$2:$3")
    seconds = in_ns(times.str.extract(r"^(\d{9,11})$").cast(pl.Int64) * 1_000_000)
    parsed = parsed.fill_null(parse(times, "%Y-%m-%d %H:%M:%S UTC")).fill_null(seconds)
    local = parse(times.str.replace(_ZONE, ""), "%Y-%m-%d %H:%M:%S")
    return parsed.fill_null(local), parsed.is_null() & local.is_not_null()


def _remark_bad_times(path: Path, times: pl.Series, bad: pl.Series, lines: NDArray[np.int64], remarks: Remarks) -> None:
    at = np.flatnonzero(bad.to_numpy())
    first, line = shorten(times[int(at[0])]), int(lines[at[0]])
    if 2 * len(at) > len(times):
        raise Unusable(f'{path}:{line}: "{first}" is not a time as sadf writes it (YYYY-MM-DD HH:MM:SS UTC); {AGAIN}')
    remarks.add(
        Kind.SKIPPED, f'"{first}" is not a time: {format_count(len(at), "row")} left out', line=line, count=len(at)
    )


def _parse_numbers(path: Path, text: pl.Series, counter: str, lines: NDArray[np.int64], remarks: Remarks) -> Values:
    """Return the values of a column, NaN for cells that are not numbers. Raise Unusable if no cell is a number."""
    has_commas = text.str.contains(",", literal=True).any()
    numbers = (text.str.replace(",", ".", literal=True) if has_commas else text).cast(pl.Float64, strict=False)
    if has_commas:
        name = "numbers have decimal commas, as sadf writes them in some locales: read as decimal points"
        remarks.add_once(Kind.REPAIRED, name)
    values = numbers.to_numpy()
    bad = np.flatnonzero(~np.isfinite(values) & (text != "").to_numpy())
    if not len(bad):
        return values
    first = shorten(text[int(bad[0])])
    if numbers.is_null().all():
        raise Unusable(
            f'{path}:{lines[bad[0]]}: "{first}" in the column {counter} is no number, nor is any other cell of it; '
            f"{AGAIN}"
        )
    name = f'"{first}" is not a number: no sample{format_more(len(bad))}'
    remarks.add(Kind.SKIPPED, name, counter=counter, line=int(lines[bad[0]]), count=len(bad))
    return np.where(np.isfinite(values), values, np.nan)
