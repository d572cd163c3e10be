"""The processors of the columns of `INTR;CPU*`.

Interrupts have a column for each processor that was online; only the section of processor times names these. As
processors go online and offline, the names at the same time are taken.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

from plimsoll.ingest.formats.sadf.table import SectionTable
from plimsoll.model.log import Times
from plimsoll.model.remark import Kind, Remarks, counted

_SEPARATOR = ";"  # in no name
Part: TypeAlias = tuple[Sequence[str], SectionTable, Times]


def with_processors(tables: Sequence[SectionTable], instants: Sequence[Times], remarks: Remarks) -> Iterator[Part]:
    """Each table with the names of its columns and the times of its rows.

    Tables of interrupts are divided by the processors that were online. Rows of unknown processors are left out.
    """
    processors = None
    for table, moments in zip(tables, instants, strict=True):
        if not table.section.is_per_cpu:
            yield table.section.fields, table, moments
            continue
        if processors is None:
            processors = _processors(tables, instants)
        yield from _by_processors(table, moments, processors, remarks)


def _processors(tables: Sequence[SectionTable], instants: Sequence[Times]) -> pl.DataFrame:
    """The processors at each time, by the first section that lists them."""
    listed = [
        pl.DataFrame({"time": moments, "names": table.devices}).with_columns(table=at)
        for at, (table, moments) in enumerate(zip(tables, instants, strict=True))
        if table.section.label == "CPU"
    ]
    none = pl.DataFrame(schema={"time": pl.Int64, "names": pl.String, "table": pl.Int32})
    rows = pl.concat([none, *listed])
    return (
        rows.group_by("time", "table", maintain_order=True)
        .agg(pl.col("names").unique(maintain_order=True).str.join(_SEPARATOR))
        .unique("time", keep="first", maintain_order=True)
    )


def _by_processors(table: SectionTable, moments: Times, processors: pl.DataFrame, remarks: Remarks) -> Iterator[Part]:
    width = len(table.values)
    sets = processors.get_column("names").unique()
    found = pl.DataFrame({"time": moments}).join(
        processors.select("time", "names"), on="time", how="left", maintain_order="left"
    )
    names = found.get_column("names")
    if len(sets) == 1:
        names = names.fill_null(sets[0])  # the processors never changed
    fits = (names.str.count_matches(_SEPARATOR, literal=True) + 1 == width).fill_null(False)
    for one in names.filter(fits).unique(maintain_order=True):
        rows = np.flatnonzero((names == one).fill_null(False).to_numpy())
        yield one.split(_SEPARATOR), table.rows(rows), moments[rows]
    unlisted = names.is_null()
    _remark_lost(table, unlisted, "no section lists the processors then; sadf -d FILE -- -A writes one", remarks)
    _remark_lost(table, ~fits & ~unlisted, "the section CPU lists more or fewer processors then", remarks)


def _remark_lost(table: SectionTable, lost: pl.Series, why: str, remarks: Remarks) -> None:
    rows = np.flatnonzero(lost.to_numpy())
    if len(rows):
        remarks.add(
            Kind.SKIPPED,
            f"{counted(len(rows), 'row')} of interrupts with {counted(len(table.values), 'column')} left out: {why}",
            line=int(table.lines[rows[0]]),
            count=len(rows),
        )
