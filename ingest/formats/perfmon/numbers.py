"""Rows as columns: polars takes many lines at once, as long as none has too many cells."""

import warnings
from pathlib import Path
from threading import Event

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PanicException, PolarsError

from ingest.formats.perfmon.layout import Layout
from ingest.formats.perfmon.quiet import panics_unheard

# polars says so, on stderr, of lines that a quote encloses; here they come out as too few rows.
warnings.filterwarnings("ignore", "CSV malformed", UserWarning)


def columns_of(
    rows: Path | bytes,
    layout: Layout,
    *,
    skip_lines: int = 0,
    strict: bool = False,
    begun: Event | None = None,
) -> pl.DataFrame | None:
    """The time of each row as it is written, and its numbers; None where a row has more cells than the header.

    Null is what is no number, blank or missing; with `strict`, a cell that is no number gives None for all.
    `begun`: see `read_pdh`.
    """
    try:
        with panics_unheard():
            plan = pl.scan_csv(
                rows,
                glob=False,
                has_header=False,
                skip_lines=skip_lines,
                separator=layout.separator,
                schema=layout.schema,
                ignore_errors=not strict,
            )
            if begun:
                begun.set()
            return plan.collect()
    except (PolarsError, PanicException):
        return None


def nulls_of_rows(numbers: pl.DataFrame) -> NDArray[np.int64]:
    """How many cells of each row hold no number."""
    return np.isnan(numbers.to_numpy()).sum(axis=1)
