"""Writes PDH-CSV 4.0, the text format of Windows Performance Monitor."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plimsoll.model.atomic import write_atomically
from plimsoll.model.lazy_imports import pl
from plimsoll.model.log import Times, Values
from plimsoll.model.times import SECOND

_CLOCK = "%m/%d/%Y %H:%M:%S%.3f"
_MISSING = " "


@dataclass(frozen=True, slots=True)
class WallClock:
    """The name of a recording's time zone, and one offset for all rows (minutes): UTC = local time + `bias_minutes`."""

    zone_name: str
    bias_minutes: int


def write_pdh(path: Path, clock: WallClock | None, times: Times, columns: Sequence[tuple[str, Values]]) -> None:
    """Write counters as PDH-CSV 4.0; an existing file is replaced completely or not at all.

    `times` are UTC instants (ns), cut to milliseconds; if `clock` is None, they are written unchanged, and the header
    has no zone, as in typeperf's output. `columns` are counter paths with their computer, and the values of each path.
    Numbers have all digits that are needed to read back the same value; NaN and infinities become missing values. Text
    beyond ASCII is written as UTF-8, where Windows would use the machine's code page. Raise ValueError if a column is
    not as long as `times`, Unusable if the file cannot be written.
    """
    names = [name for name, _ in columns]
    if short := [name for name, values in columns if len(values) != len(times)]:
        raise ValueError(f'"{short[0]}" needs {len(times)} values')
    zone = f" ({clock.zone_name})({clock.bias_minutes})" if clock else ""
    local = pl.Series(times, dtype=pl.Int64) - (clock.bias_minutes * 60 * SECOND if clock else 0)
    numbers = _format_cells([values for _, values in columns], is_zoned=clock is not None)
    cells = pl.DataFrame([local.alias("time").cast(pl.Datetime("ns")), *numbers])
    with write_atomically(path) as partial, partial.open("wb") as file:
        header = io.StringIO()
        csv.writer(header, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow([f"(PDH-CSV 4.0){zone}", *names])
        file.write(header.getvalue().encode())
        cells.write_csv(
            file,
            include_header=False,
            quote_style="always",
            line_terminator="\r\n",
            null_value=_MISSING,
            float_scientific=False,  # which also writes 41.0 as 41
            datetime_format=_CLOCK,
        )


def _format_cells(columns: Sequence[Values], *, is_zoned: bool) -> "list[pl.Series]":
    out: list[pl.Series] = []
    for at, values in enumerate(columns):
        numbers = np.where(np.isfinite(values), values, np.nan)
        cells = pl.Series(str(at), numbers, dtype=pl.Float64, nan_to_null=True)
        # A log without a zone is read as typeperf's, in which an unquoted -1 is no sample.
        if not is_zoned and (cells == -1).any():
            cells = pl.select(pl.when(cells == -1).then(pl.lit("-1.0")).otherwise(cells.cast(pl.String))).to_series()
            cells = cells.alias(str(at))
        out.append(cells)
    return out
