"""What PDH-CSV, PDH-TSV and typeperf's output have in common: a header of counter paths over rows of samples."""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ingest.formats.perfmon.layout import Layout, Table
from ingest.formats.perfmon.table import parse
from ingest.reading import Reading
from ingest.shared.cells import split
from ingest.shared.clock import in_order, to_utc
from ingest.shared.code_pages import read_as
from ingest.shared.shorten import short
from ingest.shared.text import Text
from ingest.shared.zones import stated
from model.errors import Unusable
from model.log import Log, Times
from model.names import Names
from model.perfmon import CounterPath
from model.remark import MAX_SHOWN, Kind, Remarks, counted
from model.series import UNNAMED, Series
from model.times import Zone

_ZONE = re.compile(r"\(PDH-[CT]SV 4\.0\)\s*\((?P<name>.*)\)\s*\((?P<bias>-?\d{1,4})\)\s*", re.DOTALL)
_NO_ZONE = re.compile(r"\(PDH-[CT]SV 4\.0\)\s*")
# A computer's name, and something behind it that is no instance's.
_ONE_BACKSLASH = re.compile(r"\\[^\\()/%\s]+\\[^\\]+\\")
# What comes before an instance, in the first bracket of a path: a computer or none, and an object.
_BEFORE_INSTANCE = re.compile(r"(?:\\\\?[^\\()]+)?\\[^\\()]*[^\\()\s]\(")
_ESCAPED = re.compile(r"(?<=[(,])\\_(?:Total|Global\\_)(?=\))")
# A quote that no other doubles: part of a name, as recorders write names as they are.
_LONE_QUOTE = re.compile(r'(?<!")"(?:"")*(?!")')
_SEPARATORS = {",": "commas", "\t": "tabs"}
_NO_PATHS = (
    r"{}: no column of the header is a counter path such as \\HOST\System\Threads; export the log again with relog, "
    "or write the paths there"
)
TWO_BESIDE = "another log with times of its own stands beside the first, from column {} on; put each into its own file"


@dataclass(frozen=True)
class _Columns:
    """Which cells of a row are counters, and what they are; `strange` ones are none.

    `twins` are those of the same counter, by their places in `series`.
    """

    series: tuple[Series, ...]
    kept: tuple[int, ...]
    strange: tuple[int, ...]
    nameless: int
    twins: tuple[tuple[int, ...], ...]


def read_pdh(text: Text, format_: str, separator: str, how: Reading) -> Log:
    """Read a log whose first line is a PDH header."""
    path = text.path
    remarks = Remarks(str(path))
    decoded, guessed = text.decode(text.header)
    if guessed:
        remarks.add(Kind.GUESSED, f"the header is not UTF-8: {read_as(guessed)}")
    line, _, stop = text.first_line
    cells, is_cut = _cells(decoded.rstrip(" "), separator)
    if is_cut:
        remarks.add(Kind.NOTED, f"the header is cut short: the name of its last column, {len(cells)}, may not be whole")
    if len(cells) < 2:
        raise Unusable(
            f"{path}:{line}: the cells of the header are not separated by {_SEPARATORS[separator]}; "
            "export the log again with relog"
            if "\\" in cells[0]
            else f"{path}:{line}: the header names no counter; record the log with at least one"
        )
    _fit_last_separator(cells, text.line_at(stop + 1), separator, remarks)
    if not any(cell.startswith("\\") for cell in cells):
        raise Unusable(_NO_PATHS.format(path))
    if beside := another_beside(cells):
        _refuse_other_times_beside(text, beside, separator)
    zone = _zone(cells[0], how.zone, remarks)
    layout = Layout(str(path), stop + 1, line + 1, separator, len(cells), text.header, cells[1:])
    of_rows = Remarks(str(path))
    # Rows are parsed outside Python while it goes through the header. `begun` is set once the parser was handed
    # all it needs, as it would have to wait for Python till then.
    begun = Event()
    with ThreadPoolExecutor(1) as pool:
        rows = pool.submit(parse, text, layout, of_rows, begun)
        rows.add_done_callback(lambda _: begun.set())
        begun.wait()
        columns = _columns(path, _with_computer(_without_escapes(cells[1:], remarks), remarks), how.names)
        table = rows.result()
    _tell_columns(columns, cells[1:], table.columns, remarks)
    remarks.items += of_rows
    _tell_twins(columns, table.columns, remarks)
    times, order = _times(table, zone, remarks)
    values = tuple(table.columns[at] for at in columns.kept)
    if order is not None:
        values = tuple(pl.DataFrame(values)[order].get_columns())
    unread = tuple(cells[1 + at] for at in _unread(columns, table))
    return Log(path, format_, times, values, columns.series, zone, tuple(remarks), unread=unread)


def bias_of(cell: str) -> int | None:
    """Which minutes the first cell of a header says to add for UTC; None if it says none."""
    match = _ZONE.fullmatch(cell)
    return int(match["bias"]) if match and abs(int(match["bias"])) < 24 * 60 else None


def another_beside(cells: Sequence[str]) -> list[int]:
    """Where in a header those of other logs begin that were put beside the first, in the same lines."""
    return [at for at, cell in enumerate(cells) if at and cell.startswith("(PDH-")]


def _refuse_other_times_beside(text: Text, beside: Sequence[int], separator: str) -> None:
    line, _, stop = text.first_line
    for number, row in enumerate(text.data[stop + 1 :].decode("utf-8", errors="replace").split("\n"), line + 1):
        times = split(row, separator)
        for at in beside:
            if at < len(times) and times[at] != times[0]:
                raise Unusable(f"{text.path}:{number}: {TWO_BESIDE.format(at + 1)}")


def _cells(header: str, separator: str) -> tuple[list[str], bool]:
    """The cells of a header, and whether it breaks off within the last one."""
    cells = split(header, separator)
    if header.count('"') == 2 * len(cells) and not any('"' in cell for cell in cells):
        return cells, False
    between = f'"{separator}"'
    odd = header[:1] == '"' and header.count('"') % 2 == 1
    named = header.removesuffix(separator)
    if named[:1] != '"' or named[-1:] != '"' or (odd and named.endswith(between)):
        return cells, odd
    parts = named[1:-1].split(between)
    if not any(map(_LONE_QUOTE.search, parts)):
        return cells, odd
    return [*parts, *([""] if named != header else [])], False


def _fit_last_separator(cells: list[str], first: bytes, separator: str, remarks: Remarks) -> None:
    """A separator at the end of the header alone, or of the rows alone (as in the first), makes no column."""
    row = first.rstrip(b"\r")
    is_behind = row.endswith(f'"{separator}'.encode())
    if cells[-1] and not is_behind:  # as is the rule
        return
    count = len(split(row.decode("utf-8", errors="replace"), separator))
    if not cells[-1] and count == len(cells) - 1:
        cells.pop()
        remarks.add(Kind.SKIPPED, f"column {len(cells) + 1} has neither a name nor values")
    elif is_behind and count == len(cells) + 1:
        cells.append("")


def _zone(cell: str, given: Zone | None, remarks: Remarks) -> Zone:
    if (bias := bias_of(cell)) is not None and (match := _ZONE.fullmatch(cell)):
        return stated(match["name"], bias, given, remarks)
    if given is not None:
        return given
    if _NO_ZONE.fullmatch(cell):
        remarks.add(Kind.GUESSED, "the log does not say its time zone: times are its own clock's; name it with --zone")
    else:
        remarks.add(
            Kind.GUESSED,
            f'the time zone in the header is cut off ("{short(cell)}"), its offset lost: '
            "times are the log's own clock's; name the zone with --zone",
        )
    return Zone.unknown()


def _without_escapes(cells: Sequence[str], remarks: Remarks) -> Sequence[str]:
    r"""The cells as they are, or as before a page took `\%` for a sign, or put a backslash before `_Total`."""
    whole = [_with_counter(cell) if ")% " in cell else cell for cell in cells]
    _tell_mended(cells, whole, "a backslash is missing between instance and counter: put there", remarks)
    plain = [_ESCAPED.sub(lambda found: found[0].replace("\\", ""), cell) if "\\_" in cell else cell for cell in whole]
    _tell_mended(whole, plain, "a backslash stands before an underscore: taken off", remarks)
    return plain


def _with_counter(path: str) -> str:
    r"""A path with the backslash that it may have lost between `Object(Instance)` and `% Counter`."""
    head, _, counter = path.partition(")% ")
    is_lost = ")\\" not in head and "\\" not in counter and _BEFORE_INSTANCE.match(head)
    return f"{head})\\% {counter}" if is_lost else path


def _tell_mended(before: Sequence[str], after: Sequence[str], told: str, remarks: Remarks) -> None:
    if mended := [was for was, now in zip(before, after, strict=True) if was != now]:
        more = f", and {len(mended) - 1:,} more" if len(mended) > 1 else ""
        remarks.add(Kind.REPAIRED, f'{told} ("{mended[0]}"{more})', count=len(mended))


def _with_computer(cells: Sequence[str], remarks: Remarks) -> Sequence[str]:
    r"""The cells as they are, or with the backslash that paths have lost: `\HOST\Object(Instance)\Counter`.

    Certain where what comes first is the same in all that have two names behind it, as no object is that has others
    behind it, and most have.
    """
    paths = [cell for cell in cells if cell.startswith("\\")]
    found = [first for path in paths if (first := _computer(path))]
    if 2 * len(found) <= len(paths) or len(set(found)) > 1:
        return cells
    start = f"\\{found[0]}\\"
    lost = [path for path in paths if path.startswith(start)]
    remarks.add(
        Kind.REPAIRED,
        f'paths have lost a backslash ("{short(lost[0])}"): {found[0]} is read as the computer',
        count=len(lost),
    )
    return [f"\\{cell}" if cell.startswith(start) else cell for cell in cells]


def _computer(path: str) -> str | None:
    r"""What would be the computer in a path that has lost its first backslash; None if it seems to have lost none."""
    found = _ONE_BACKSLASH.match(path)
    try:
        return CounterPath.parse(f"\\{path}").computer if found else None
    except ValueError:
        return None


def _columns(path: Path, cells: Sequence[str], names: Names) -> _Columns:
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
    if not series:
        raise Unusable(_NO_PATHS.format(path))
    return _Columns(tuple(series), tuple(kept), tuple(strange), nameless, tuple(_twins(series)))


def _twins(series: Sequence[Series]) -> Iterator[tuple[int, ...]]:
    """Those of the same counter, however it is written."""
    # They have at least this in common, which is told sooner of many than their keys.
    if len({(one.measurement, one.field, one.tags[0][1].casefold()) for one in series}) == len(series):
        return
    places: dict[object, list[int]] = {}
    for at, one in enumerate(series):
        places.setdefault(one.key, []).append(at)
    yield from (tuple(twins) for twins in places.values() if len(twins) > 1)


def _unread(columns: _Columns, table: Table) -> list[int]:
    """The columns whose values are not read, all or a good part of them, since the name or cells are strange."""
    left_out = {at for at in columns.strange if table.columns[at].null_count() < len(table.columns[at])}
    return sorted(left_out.union(table.unread))


def _tell_columns(columns: _Columns, cells: Sequence[str], values: Sequence[pl.Series], remarks: Remarks) -> None:
    """Remark what is left out since its name is none, and counters of no computer."""
    for at in columns.strange[:MAX_SHOWN]:
        cell, present = cells[at], len(values[at]) - values[at].null_count()
        has = counted(present, "value") if present else "no values"
        if not cell.strip():
            told = f"has {has} but no name: left out" if present else "has neither a name nor values"
        elif not present and at == len(cells) - 1 and not cell.startswith("\\"):
            told = f'is the Data Collector Set\'s description: "{cell}"'
        else:
            told = f'is not a counter path: "{cell}"' + (f"; its {has} are left out" if present else "")
        remarks.add(Kind.SKIPPED, f"column {at + 2} {told}", count=max(present, 1))
    if (more := len(columns.strange) - MAX_SHOWN) > 0:
        remarks.add(Kind.SKIPPED, f"{counted(more, 'more column')} like these: left out", count=more)
    if columns.nameless:
        remarks.add(
            Kind.GUESSED,
            f'{counted(columns.nameless, "counter")} without a computer: shown as of host "{UNNAMED}"',
            count=columns.nameless,
        )


def _tell_twins(columns: _Columns, values: Sequence[pl.Series], remarks: Remarks) -> None:
    for twins in columns.twins:
        first, *others = (values[columns.kept[at]] for at in twins)
        said = f"{len(twins)} columns of the same counter: read as one"
        if differing := sum(int((first != other).sum()) for other in others):
            said += f"; {counted(differing, 'value')} different: the first that is there counts"
        remarks.add(Kind.NOTED, said, counter=columns.series[twins[0]].path, count=len(twins))


def _times(table: Table, zone: Zone, remarks: Remarks) -> tuple[Times, NDArray[np.intp] | None]:
    """UTC instants in ascending order, and the order of the rows where that had to change."""
    instants = to_utc(table.local.cast(pl.Int64).to_numpy(), zone, table.lines, remarks, table.headers)
    times, order = in_order(instants, table.lines, table.headers, remarks)
    if same := int(np.count_nonzero(np.diff(times) == 0)):
        remarks.add(
            Kind.NOTED,
            f"{counted(same, 'row')} at the time of the row before: the first that has a value counts",
            count=same,
        )
    return times, order
