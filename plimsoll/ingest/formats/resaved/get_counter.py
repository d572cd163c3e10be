"""Reads Get-Counter's samples as Export-Csv saves them: a row for each time and counter.

The rows of one time are joined into one row, as in a PDH log, and the result is read as a re-saved PDH log.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import replace

from plimsoll.ingest.formats.resaved import read as resaved
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.text import Text
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Log
from plimsoll.model.remark import Kind, Remarks, format_count

NAME = "Get-Counter"
_AMERICAN = re.compile(r"(\d\d?)/(\d\d?)/(\d{4}) (\d\d?:\d\d:\d\d [AP]M)")
_NEEDED = ("Timestamp", "Path", "CookedValue")


def sniff(text: Text) -> bool:
    """Return whether one of the first three lines has the columns Timestamp, Path and CookedValue."""
    return _find_header(text) is not None


def read(text: Text, options: ReadOptions) -> Log:
    """Return the samples as one log.

    Raise Unusable if a row before the last is damaged, or for the reasons for which a re-saved PDH log is refused.
    """
    header = _find_header(text)
    if header is None:
        raise ValueError("not the format that was recognised")
    times: dict[str, dict[str, str]] = {}
    paths: dict[str, None] = {}
    lines = text.data[:].decode(text.encoding or "utf-8", errors="replace").splitlines()
    remarks = Remarks(str(text.path))
    first, separator, names = header
    for number, line in enumerate(lines[first:], first + 1):
        cells = next(csv.reader([line], delimiter=separator), [])
        row = dict(zip(names, cells, strict=False))
        if len(cells) != len(names) or not row["Path"].startswith("\\"):
            if number < len(lines) and line.strip():
                raise Unusable(
                    f"{text.path}:{number}: is no whole row of Get-Counter; delete it, or save the log again"
                )
            remarks.add(Kind.SKIPPED, "the last row was cut short: left out", line=number)
            continue
        paths[row["Path"]] = None
        times.setdefault(row["Timestamp"], {}).setdefault(row["Path"], row["CookedValue"])
    if not times:
        raise Unusable(f"{text.path}: holds no sample of Get-Counter; record it again")
    days = [match for time in times if (match := _AMERICAN.fullmatch(time))]
    if len(days) == len(times) and all(int(match[2]) <= 12 for match in days):
        first_time = next(iter(times))
        text_of = f'"{first_time}" is read month first, as AM and PM suggest; no day above 12 confirms it'
        remarks.add(Kind.GUESSED, text_of, line=first + 1)
        times = {f"{m[3]}-{m[1]}-{m[2]} {m[4]}": row for m, row in zip(days, times.values(), strict=True)}
    data = "\r\n".join(_format_pdh_lines(times, list(paths))) + "\r\n"
    log = resaved.read(replace(text, data=data.encode(), encoding="utf-8"), options)
    whole = [replace(remark, line=None) for remark in log.remarks]  # lines of the table that was made
    remarks.add(Kind.REPAIRED, f"{format_count(len(times), 'time')} put together of rows for each counter")
    return replace(log, format=NAME, remarks=(*remarks, *whole))


def _find_header(text: Text) -> tuple[int, str, list[str]] | None:
    """Return the header's line number, separator and cells; None if no header has the needed columns."""
    head = text.data[:8192].decode("utf-8", errors="replace").splitlines()
    for number, line in enumerate(head[:3], 1):
        for separator in ",;\t":
            cells = next(csv.reader([line], delimiter=separator), [])
            if set(_NEEDED) <= set(cells):
                return number, separator, cells
    return None


def _format_pdh_lines(times: dict[str, dict[str, str]], paths: list[str]) -> Iterator[str]:
    """Yield the lines of a PDH log, with a blank cell where a counter has no sample."""
    yield ",".join(f'"{cell}"' for cell in ("(PDH-CSV 4.0)", *paths))
    for time, values in times.items():
        cells = [values.get(path, " ").replace(",", ".") for path in paths]
        yield ",".join(f'"{cell}"' for cell in (time, *cells))
