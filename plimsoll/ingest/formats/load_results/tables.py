"""Tables of text, read with every cell as text; what does not fit is counted, never guessed."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from polars.exceptions import PanicException, PolarsError

from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.remark import Kind, Remarks, counted
from plimsoll.model.times import SECOND

_SECONDS = 10**10  # above are milliseconds, and so on: the year 2286
_EARLIEST, _LATEST = 10**9 * SECOND // 2, 5 * 10**9 * SECOND  # 1985 to 2128
_MILLION = 10**6


def table(text: Text, columns: Sequence[str], separator: str = ",", quote: str | None = '"') -> pl.DataFrame:
    """These columns of a table with a header. Unusable if it is no table throughout."""
    return cells(text, columns=list(columns), separator=separator, quote_char=quote, infer_schema=False)


def cells(text: Text, **how: Any) -> pl.DataFrame:
    """What polars reads so of a table. Unusable if it is none throughout."""
    try:
        try:
            return pl.read_csv(text.source, truncate_ragged_lines=True, glob=False, **how)
        except PolarsError:  # mending what is no UTF-8 takes a fifth longer, and is rarely needed
            return pl.read_csv(text.source, truncate_ragged_lines=True, glob=False, encoding="utf8-lossy", **how)
    except (PolarsError, PanicException, ValueError) as error:
        why = str(error).strip().partition("\n")[0][:120]
        raise Unusable(
            f"{text.path}: is no whole table ({why}); copy the file again, or delete the lines that are damaged"
        ) from None


def whole_rows(frame: pl.DataFrame, needed: Sequence[str], remarks: Remarks) -> pl.DataFrame:
    """The rows that have all that is needed; the others are remarked."""
    if not sum(frame[name].null_count() for name in needed):
        return frame
    found = frame.drop_nulls(list(needed))
    lost = len(frame) - len(found)
    if lost:
        remarks.add(
            Kind.SKIPPED,
            f"{counted(lost, 'row')} without a time, a duration, an operation or a result left out",
            count=lost,
        )
    return found


def epoch(column: str) -> pl.Expr:
    """Instants in UTC ns of numbers since 1970: seconds, ms, µs or ns, as their size tells; null for others."""
    number = pl.col(column).cast(pl.Int64, strict=False)
    found = (
        pl.when(number < _SECONDS)
        .then(number * SECOND)
        .when(number < _SECONDS * 1000)
        .then(number * _MILLION)
        .when(number < _SECONDS * _MILLION)
        .then(number * 1000)
        .otherwise(number)
    )
    return pl.when(found.is_between(_EARLIEST, _LATEST)).then(found)


def milliseconds(column: str) -> pl.Expr:
    """Durations in ns of numbers of milliseconds; null for what is none, and below zero or above a month."""
    number = pl.col(column).cast(pl.Float64, strict=False)
    return pl.when(number.is_between(0, 31 * 86_400_000)).then((number * _MILLION).round().cast(pl.Int64))
