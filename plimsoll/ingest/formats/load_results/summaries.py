"""Refuses summaries of load drivers, which have no times of requests, with an error that shows their figures.

A summary cannot be compared with counters over time. If many of its requests failed, the error is Unusable, not NoLog:
the summary counts as a recording that was not read, so that the run is not called healthy.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import NoLog, Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import format_count
from plimsoll.model.shipped_tables import load_shipped_table

NAME = "summary-of-a-load-driver"
_MANY = 0.05  # of the requests; the share from which the review doubts a run


@dataclass(frozen=True)
class SummaryFormat:
    """The format of a load driver's summary: a text near its beginning, advice, and JSON paths or columns of figures.

    `scale` converts the mean to seconds. In a table, `status` is the column that tells failures: a row succeeded if the
    cell is in `good`. In a table with a row of totals, `counts` are the columns with the numbers of all and of failed
    requests, and the first row whose `status` is in `good` has the totals.
    """

    begins: str
    advice: str
    requests: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    mean: str = ""
    counts: tuple[str, str] | None = None
    scale: float = 1.0
    status: str = ""
    good: tuple[str, ...] = ()


def _load_formats() -> Mapping[str, SummaryFormat]:
    return load_shipped_table("plimsoll.ingest.formats.load_results", "summaries.yaml", dict[str, SummaryFormat])


def sniff(text: Text) -> bool:
    """Return whether the file is a summary in a known format."""
    return _find_driver(text) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Raise the error that shows the figures: NoLog, or Unusable if many requests failed or the file is damaged."""
    del options
    driver = _find_driver(text) or ""
    form = _load_formats()[driver]
    try:
        requests, failed, mean = _read_figures(text, form)
    except (ValueError, TypeError, AttributeError, LookupError, StopIteration, RecursionError):
        raise Unusable(f"{text.path}: is no whole summary of {driver}; copy it again") from None
    share = failed / requests if requests else 1.0
    took = "" if mean is None else f", {mean * form.scale:.3g} s on average"
    raise (Unusable if share >= _MANY else NoLog)(
        f"{text.path}: a summary of {driver} without the times of its requests, which cannot be laid beside counters: "
        f"{format_count(requests, 'request')}, {failed:,} failed ({100 * share:.3g} %){took}; {form.advice}"
    )


def _find_driver(text: Text) -> str | None:
    head = text.data[: text.first_line[1] + 4096][text.first_line[1] :].decode("utf-8", errors="replace")
    return next((name for name, form in _load_formats().items() if form.begins in head), None)


def _read_figures(text: Text, form: SummaryFormat) -> tuple[int, int, float | None]:
    """Return the number of requests, the number of failed ones, and the mean time in the driver's unit, if given."""
    if not form.status:
        results = json.loads(text.data[:])
        requests, failed = (sum(_list_numbers(results, paths)) for paths in (form.requests, form.failed))
        return round(requests), round(failed), next(_list_numbers(results, (form.mean,)), None)
    lines = text.data[:].decode("utf-8", errors="replace").split("\n")
    rows = list(csv.DictReader(line for line in lines if line.strip()))
    if form.counts is not None:
        total = next(row for row in rows if row[form.status] in form.good)
        return int(total[form.counts[0]]), int(total[form.counts[1]]), float(total[form.mean])
    status = [str(row.get(form.status)) for row in rows]
    times = [float(row[form.mean]) for row in rows if row.get(form.mean)]
    return len(rows), sum(cell not in form.good for cell in status), sum(times) / len(times) if times else None


def _list_numbers(results: Any, paths: Sequence[str]) -> Iterator[float]:
    """Yield the numbers at dotted paths, in which `*` matches all keys, and `5*` all keys that begin with 5."""
    for path in paths:
        name, _, rest = path.partition(".")
        inner = results if isinstance(results, Mapping) else {}
        for key, value in inner.items():
            if key == name or (name.endswith("*") and key.startswith(name[:-1])):
                yield from _list_numbers(value, (rest,)) if rest else (float(value or 0),)
