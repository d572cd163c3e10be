"""The queries of an alert rule as they are sent to InfluxDB, and the answers as Grafana reads them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from plimsoll.export.grafana.alerts.file import InfluxModel, Query
from plimsoll.model.times import SECOND
from tests.export.grafana.pipeline.values import Failed, NoData, Results, Series

_MILLISECOND = 1_000_000
_DEFAULT_INTERVAL_MS = 1000


class Table(NamedTuple):
    """A series of an answer: its tags, and rows that begin with the time (UTC ns)."""

    tags: Mapping[str, str]
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


def statement(query: Query, at: int) -> str:
    """Return the InfluxQL of a query for an evaluation at an instant (UTC ns), with macros expanded."""
    model, past = query.model, query.relative_time_range
    if not isinstance(model, InfluxModel) or past is None:
        raise Failed(f"{query.ref_id} is no query over a range")
    start, end = ((at - seconds * SECOND) // _MILLISECOND for seconds in (past.from_, past.to))
    interval = model.interval_ms or _DEFAULT_INTERVAL_MS
    macros = {
        "$timeFilter": f"time >= {start}ms and time <= {end}ms",
        "$__interval_ms": str(interval),
        "$__interval": f"{interval}ms",
        "$interval": f"{interval}ms",
    }
    return re.sub(r"\$timeFilter|\$__interval_ms|\$__interval|\$interval", lambda found: macros[found[0]], model.query)


def results(tables: Iterable[Table]) -> Results:
    """Return the answer as series. Raises Failed if a table has more than one value column."""
    found: list[Series] = []
    for table in tables:
        if len(table.columns) != 2:
            raise Failed(f"input data must be a wide series, it has the columns {', '.join(table.columns)}")
        values = tuple(None if row[1] is None else float(row[1]) for row in table.rows)
        found.append(Series(dict(table.tags), tuple(row[0] for row in table.rows), values))
    return [*found] or [NoData()]
