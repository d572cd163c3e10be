"""Reads the three formats of Performance Monitor: PDH-CSV, PDH-TSV, and the output of typeperf."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from plimsoll.ingest.formats.perfmon.header import TableLayout, explain_missing_paths, find_zone, read_header
from plimsoll.ingest.formats.perfmon.plain import CounterTable, read_plain
from plimsoll.ingest.reading import ReadOptions
from plimsoll.ingest.shared.clock import convert_to_utc, sort_times
from plimsoll.ingest.shared.same_time import are_many, compare_columns
from plimsoll.ingest.shared.text import Text
from plimsoll.model.counter_names.unrecognised import is_judged
from plimsoll.model.errors import Unusable
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Log, PartlyRead, Times, Values, count_samples, find_sampling_interval
from plimsoll.model.names import Names
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.remark import MAX_SHOWN, Kind, Remarks, format_count, shorten
from plimsoll.model.series import UNNAMED, Series

# A computer's name after a single backslash, and then something that is not part of an instance.
_ONE_BACKSLASH = re.compile(r"\\[^\\()/%\s]+\\[^\\]+\\")
# Likewise without a backslash between instance and counter: `Processor(_Total)% Processor Time`.
_NO_BACKSLASH = re.compile(r"(?:\\\\?[^\\()]+)?\\[^\\()]+\((?!.*\)\\).*\)% [^\\]*")
_NAMESAKES = ("Process", "Thread")
_ESCAPED = re.compile(r"(?<=[(,])\\_(?:Total|Global\\_)(?=\))")


@dataclass(frozen=True)
class CounterColumns:
    """The counters of a log: series, and the indices of their columns (`kept`).

    `strange` are indices of columns whose name is not a counter path. `nameless` counts paths without a computer.
    """

    series: tuple[Series, ...]
    kept: tuple[int, ...]
    strange: tuple[int, ...]
    nameless: int


_TYPEPERF = re.compile(rb'"*\(PDH-[CT]SV 4\.0\)"*[,;\t]')
# typeperf's -1, its blank replacement, and other whole numbers: in quotes, and without.
_QUOTED = re.compile(rb'"-1"'), b'" "', re.compile(rb'[,;\t]"(?!-1")-?\d+"')
_BARE = re.compile(rb"(?<=[,;\t])-1(?=[,;\t\r\n]|\Z)"), b" ", re.compile(rb"[,;\t](?!-1[,;\t\r\n])-?\d+[,;\t\r\n]")
_SAMPLE = 1 << 18
_MANY_COLUMNS, _MUCH = 200, 8 << 20  # of fewer columns or bytes, reading all costs little


@dataclass(frozen=True)
class _Format:
    """A format of Performance Monitor: its name, how its header may begin, and the separator of its cells."""

    NAME: str
    signs: tuple[bytes, ...]
    separator: str

    def sniff(self, text: Text) -> bool:
        """Return whether the first line is a header of this format."""
        return text.header.lstrip(b'"').startswith(self.signs)

    def read(self, text: Text, options: ReadOptions) -> Log:
        """Read the log. Raise Unusable if its header, rows or times are damaged or ambiguous."""
        remarks = Remarks(str(text.path))
        log = read_pdh(replace_no_data(text, remarks), self.NAME, self.separator, options)
        return replace(log, remarks=(*remarks, *log.remarks))


CSV = _Format("PDH-CSV", (b"(PDH-CSV 4.0) (", b"(PDH-CSV 4.0)("), ",")
TSV = _Format("PDH-TSV", (b"(PDH-TSV 4.0)",), "\t")
# typeperf writes no time zone.
TYPEPERF = _Format("typeperf", (b'(PDH-CSV 4.0)"', b"(PDH-CSV 4.0),"), ",")


def read_pdh(text: Text, format_: str, separator: str, options: ReadOptions) -> Log:
    """Read a log whose first line is a PDH header."""
    file = str(text.path)
    remarks, of_rows = Remarks(file), Remarks(file)
    first_cell, layout = read_header(text, separator, remarks)
    zone, counters = find_zone(first_cell, options.zone, remarks), layout.counters
    # polars parses the rows without the GIL, while Python looks up the names of the counters.
    with ThreadPoolExecutor(1) as pool:
        partly = options.columns is not None and layout.width > _MANY_COLUMNS and len(text.data) > _MUCH
        rows = None if partly else pool.submit(_read_rows, text, layout, of_rows)
        columns = parse_columns(file, counters, options.names)
        if columns is None:
            raise explain_missing_paths(text)
        table = rows.result() if rows else _read_needed(text, layout, columns, of_rows)
    tell_columns(columns, counters, table.columns, remarks)
    remarks.items += of_rows
    instants = convert_to_utc(table.local, zone, table.lines, remarks, table.headers)
    times, order = sort_times(instants, table.lines, table.headers, remarks)
    values: Sequence[Values]
    if order is None and options.columns and isinstance(table.columns, PartlyRead):
        in_memory = table.columns.in_memory
        places = {place: in_memory[at] for place, at in enumerate(columns.kept) if at in in_memory}
        values = PartlyRead(len(columns.kept), places, partial(_read_again, options.columns, file, len(times)))
    else:
        values = tuple(table.columns[at] for at in columns.kept)
        values = values if order is None else tuple(column[order] for column in values)
    tell_twins(columns.series, values, times, remarks)
    left_out = {at for at in columns.strange if count_samples(table.columns[at])}
    unread = tuple(counters[at] for at in sorted(left_out.union(table.unread)))
    return Log(text.path, format_, times, values, columns.series, zone, tuple(remarks), unread=unread)


def _read_rows(text: Text, layout: TableLayout, remarks: Remarks) -> CounterTable:
    """Return all rows of a log: without polars if it is small, else by `read_rows`."""
    if table := read_plain(text.data, layout):
        return table
    from plimsoll.ingest.formats.perfmon.rows import read_rows  # noqa: PLC0415  polars is slow to import

    return read_rows(text, layout, remarks)


def _read_needed(text: Text, layout: TableLayout, columns: CounterColumns, remarks: Remarks) -> CounterTable:
    """Return all rows of a wide log, with only the columns that rules need in memory.

    If rules need half of the columns or more, or if a cell is damaged, all columns are in memory.
    """
    from plimsoll.ingest.formats.perfmon.rows import read_needed  # noqa: PLC0415  polars is slow to import

    recorded = list(zip(columns.kept, columns.series, strict=True))
    # One column of each counter tells of nearly every row whether anything was recorded.
    first = {(series.measurement, series.field): at for at, series in reversed(recorded)}
    needed = sorted({*(at for at, series in recorded if is_judged(series)), *first.values(), *columns.strange})
    table = read_needed(text, layout, needed, remarks) if 2 * len(needed) < layout.width else None
    return table or _read_rows(text, layout, remarks)


def _read_again(columns: Callable[[], Sequence[Values]], file: str, rows: int) -> Sequence[Values]:
    """Return all columns, read by calling `columns`. Raise Unusable if one has not `rows` values: the file changed."""
    read = columns()
    if any(len(column) != rows for column in read):
        raise Unusable(f"{file}: was changed while it was read; read it again")
    return read


def replace_no_data(text: Text, remarks: Remarks) -> Text:
    """Return typeperf's text with its -1 (no data) replaced by blanks; return other text unchanged.

    typeperf writes numbers with six decimals, and a whole -1 only for no data. If other numbers are whole as well,
    another program wrote the file, and -1 stays, as it may be a number.
    """
    if not _TYPEPERF.match(text.header):
        return text
    start = text.first_line[2]
    sign, blank, whole = _QUOTED if b'"' in text.line_at(start + 1) else _BARE
    first = sign.search(text.data, start)
    if not first:
        return text
    data, count = sign.subn(blank, text.data[start:])
    line, cells = text.data[: first.start()].count(b"\n") + 1, format_count(count, "cell")
    if whole.search(text.data, start, start + _SAMPLE):
        name = f"-1 is what typeperf writes where a counter gives no data; here it may be a number ({cells})"
        remarks.add(Kind.NOTED, name, line=line, count=count)
        return text
    name = f"typeperf writes -1 where a counter gives no data: no sample ({cells})"
    remarks.add(Kind.SKIPPED, name, line=line, count=count)
    return replace(text, data=text.data[:start] + data)


def parse_columns(file: str, cells: Sequence[str], names: Names) -> CounterColumns | None:
    """Return the counters that a header's cells name; None if no cell is a counter path.

    Raise Unusable if a web page or an editor changed the paths.
    """
    _refuse_changed_paths(file, cells)
    series: list[Series] = []
    kept: list[int] = []
    strange: list[int] = []
    nameless = 0
    for at, cell in enumerate(cells):
        try:
            counter = CounterPath.parse(cell)
        except ValueError:
            strange.append(at)
            continue
        nameless += counter.computer is None
        series.append(names.series(counter, counter.computer or UNNAMED))
        kept.append(at)
    return CounterColumns(tuple(series), tuple(kept), tuple(strange), nameless) if series else None


def tell_columns(columns: CounterColumns, cells: Sequence[str], values: Sequence[Values], remarks: Remarks) -> None:
    """Add remarks on columns that are left out, as no counter path names them, and on counters without a computer."""
    for at in columns.strange[:MAX_SHOWN]:
        cell, present = cells[at], count_samples(values[at])
        has = format_count(present, "value") if present else "no values"
        if not cell.strip():
            text = f"has {has} but no name: left out" if present else "has neither a name nor values"
        elif not present and at == len(cells) - 1 and not cell.startswith("\\"):
            text = f'is the Data Collector Set\'s description: "{cell}"'
        else:
            text = f'is not a counter path: "{cell}"' + (f"; its {has} are left out" if present else "")
        remarks.add(Kind.SKIPPED, f"column {at + 2} {text}", count=max(present, 1))
    if (value := len(columns.strange) - MAX_SHOWN) > 0:
        remarks.add(Kind.SKIPPED, f"{format_count(value, 'more column')} like these: left out", count=value)
    if columns.nameless:
        text = f'{format_count(columns.nameless, "counter")} without a computer: shown as of host "{UNNAMED}"'
        remarks.add(Kind.GUESSED, text, count=columns.nameless)


def tell_twins(series: Sequence[Series], values: Sequence[Values], times: Times, remarks: Remarks) -> None:
    """Add a remark on each counter with several columns: a contradiction if many values of these columns differ."""
    # Cheap check before building keys.
    if len({(counter.measurement, counter.field, counter.tags[0][1].casefold()) for counter in series}) == len(series):
        return
    columns = group_pairs((counter.key, at) for at, counter in enumerate(series))
    interval = find_sampling_interval(times)
    for twins in (same for same in columns.values() if len(same) > 1):
        named = series[twins[0]]
        first, *others = (values[at] for at in twins)
        text, kind = f"{len(twins)} columns of the same counter: read as one", Kind.NOTED
        if differing := sum(int(((first != other) & ~np.isnan(first) & ~np.isnan(other)).sum()) for other in others):
            text += f"; {format_count(differing, 'value')} different: the first that is there counts"
            contrary = np.any([compare_columns(first, other) for other in others], axis=0)
            # Only one of two values can be right, and rules need it; but two processes may have one name.
            counts = is_judged(named) and named.tag("objectname") not in _NAMESAKES
            if counts and are_many(times[contrary], len(times), interval):
                kind = Kind.CONTRADICTORY
        remarks.add(kind, text, counter=named.path, count=len(twins))


def _refuse_changed_paths(file: str, cells: Sequence[str]) -> None:
    """Raise Unusable if an editor or Markdown added or removed backslashes in counter paths."""
    paths = [cell for cell in cells if cell.startswith("\\")]
    lost = [path for path in paths if _has_lost_backslash(path)]
    if 2 * len(lost) > len(paths):
        raise Unusable(
            f'{file}: paths have lost a backslash ("{shorten(lost[0])}"); put it back before the name of the computer'
        )
    if joined := next((path for path in paths if ")% " in path and _NO_BACKSLASH.fullmatch(path)), None):
        raise Unusable(
            f'{file}: a path has lost the backslash before its counter ("{shorten(joined, 80)}"); put it back'
        )
    if escaped := next((path for path in paths if "\\_" in path and _ESCAPED.search(path)), None):
        raise Unusable(
            f'{file}: a backslash was put before an underscore ("{shorten(escaped)}"), as Markdown does; take it out'
        )


def _has_lost_backslash(path: str) -> bool:
    if not _ONE_BACKSLASH.match(path):
        return False
    try:
        return CounterPath.parse(f"\\{path}").computer is not None
    except ValueError:
        return False
