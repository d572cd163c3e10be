"""Reads Gatling's text `simulation.log`: tab-separated lines of completed requests, and of users who start or end.

The columns before a request's name differ between versions; after the name always come start, end, and state (OK or
KO), and the message of a failure. From version 3.12 on the file is binary (`gatling_binary`).
"""

import re

import numpy as np
import polars as pl

from plimsoll.ingest.files.streams import Data
from plimsoll.ingest.formats.load_results.requests import Requests, convert_epoch, log_of, read_cells, select_whole_rows
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log, Times, Values
from plimsoll.model.remark import Remarks

NAME = "Gatling"
_BEGINS = re.compile(rb"(RUN\t[^\t\n]*\t[^\t\n]*\t|ASSERTION\t)")
_STATES = ("OK", "KO")
_FIRST_STATE = 4  # the least column that it can be in: behind a name, a start and an end
_FEWEST_COLUMNS = 6  # those of users


def sniff(text: Text) -> bool:
    """Return whether the first line is a RUN or ASSERTION line of Gatling."""
    return _BEGINS.match(text.header) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return a log of the requests: rates, response times and users."""
    del options
    remarks = Remarks(str(text.path))
    state = _find_state_column(text.data)
    if state is None:
        raise Unusable(f"{text.path}: holds no request that is done; is it the file of a run that sent some?")
    rows = read_cells(
        text,
        has_header=False,
        separator="\t",
        quote_char=None,
        schema={f"c{at}": pl.String for at in range(max(state + 2, _FEWEST_COLUMNS))},
        missing_columns="insert",
        extra_columns="ignore",
    )
    done = rows.lazy().filter(pl.col("c0") == "REQUEST")
    done = done.select(
        operation=pl.col(f"c{state - 3}"),
        start=convert_epoch(f"c{state - 2}"),
        end=convert_epoch(f"c{state - 1}"),
        failed=pl.when(pl.col(f"c{state}").is_in(_STATES)).then(pl.col(f"c{state}") == "KO"),
        reason=pl.col(f"c{state + 1}"),
    )
    done = done.with_columns(end=pl.when(pl.col("end") >= pl.col("start")).then(pl.col("end")))
    done = select_whole_rows(done.collect(), ("operation", "start", "end", "failed"), remarks)
    users = _count_users(rows.filter(pl.col("c0") == "USER"))
    start, end = (done[name].to_numpy().astype(np.int64) for name in ("start", "end"))
    reasons = done.filter("failed")["reason"]
    requests = Requests(start, end, done["operation"], done["failed"].to_numpy(), users, reasons=reasons)
    return log_of(text.path, NAME, requests, remarks)


def _find_state_column(data: Data) -> int | None:
    """Return the index of the column with the state (OK or KO), found in the first request; None without requests."""
    at = -1
    while (at := data.find(b"\nREQUEST\t", at + 1)) >= 0:
        end = data.find(b"\n", at + 1)
        cells = data[at + 1 : len(data) if end < 0 else end].decode("utf-8", errors="replace").rstrip("\r").split("\t")
        value = next((column for column, cell in enumerate(cells) if cell in _STATES and column >= _FIRST_STATE), None)
        if value is not None:
            return value
    return None


def _count_users(rows: pl.DataFrame) -> tuple[Times, Values] | None:
    """Return the times (UTC ns) and the number of users after each start or end of a user; None without users."""
    if not len(rows):
        return None
    sign = max((2, 3), key=lambda at: int(rows[f"c{at}"].is_in(["START", "END"]).sum()))
    # Older versions give both times of a user; when one starts, both are equal or the second is 0.
    first, second = convert_epoch(f"c{sign + 1}"), convert_epoch(f"c{sign + 2}")
    begins = pl.col(f"c{sign}") == "START"
    events = rows.select(
        at=pl.when(begins).then(first).otherwise(pl.coalesce(second, first)),
        change=pl.when(begins).then(1).otherwise(-1),
    ).drop_nulls()
    events = events.sort("at", maintain_order=True)
    if not len(events):
        return None
    return events["at"].to_numpy().astype(np.int64), events["change"].cum_sum().cast(pl.Float64).to_numpy()
