"""Several samples of one counter and one time: the first that has a value counts."""

from dataclasses import replace

import polars as pl

from model.log import Log


def one_row_a_time(log: Log) -> Log:
    """A log in which rows of the same time are one: of each column the first value among them."""
    if log.times_differ:
        return log
    frame = pl.DataFrame([pl.Series("time", log.times), *(c.alias(f"c{at}") for at, c in enumerate(log.columns))])
    frame = frame.group_by("time", maintain_order=True).agg(pl.all().drop_nulls().first())
    times, *columns = frame.get_columns()
    return replace(log, times=times.to_numpy(), columns=tuple(columns))


def one_column_a_series(log: Log) -> Log:
    """A log in which columns of the same counter are one, spelled as the first: at each time the first value."""
    first: dict[object, int] = {}
    columns: dict[int, pl.Series] = {}
    for at, (series, column) in enumerate(zip(log.series, log.columns, strict=True)):
        of = first.setdefault(series.key, at)
        columns[of] = columns[of].zip_with(columns[of].is_not_null(), column) if of in columns else column
    return replace(log, series=tuple(log.series[at] for at in columns), columns=tuple(columns.values()))
