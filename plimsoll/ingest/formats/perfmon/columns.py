"""Which columns of a Perfmon log are counters, and the series they are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from plimsoll.ingest.shared.losses import are_many
from plimsoll.ingest.shared.same_time import differ
from plimsoll.model.counter_names.unrecognised import is_judged
from plimsoll.model.errors import Unusable
from plimsoll.model.names import Names
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.remark import MAX_SHOWN, Kind, Remarks, counted, short
from plimsoll.model.sampling import Times, sampling_interval
from plimsoll.model.series import UNNAMED, Series

# A computer's name behind a single backslash, and then something that is not part of an instance.
_ONE_BACKSLASH = re.compile(r"\\[^\\()/%\s]+\\[^\\]+\\")
# The same with a sign between an instance and its counter: `Processor(_Total)% Processor Time`.
_NO_BACKSLASH = re.compile(r"(?:\\\\?[^\\()]+)?\\[^\\()]+\((?!.*\)\\).*\)% [^\\]*")
_NAMESAKES = ("Process", "Thread")
_ESCAPED = re.compile(r"(?<=[(,])\\_(?:Total|Global\\_)(?=\))")


@dataclass(frozen=True)
class Columns:
    """The series of the columns `kept`; the names of those of `strange` are not counter paths.

    `nameless` counts those without a computer; `twins` are columns of the same counter, by their places in `series`.
    """

    series: tuple[Series, ...]
    kept: tuple[int, ...]
    strange: tuple[int, ...]
    nameless: int
    twins: tuple[tuple[int, ...], ...]


def columns_of(file: str, cells: Sequence[str], names: Names) -> Columns | None:
    """The columns under a header's cells; None if no name is a path. Unusable if paths were changed by a page."""
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
    return Columns(tuple(series), tuple(kept), tuple(strange), nameless, _twins(series)) if series else None


def tell_columns(columns: Columns, cells: Sequence[str], values: Sequence[pl.Series], remarks: Remarks) -> None:
    """Remark columns that are left out, since they have no counter's name, and counters without a computer."""
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


def tell_twins(columns: Columns, values: Sequence[pl.Series], times: Times, remarks: Remarks) -> None:
    """Remark columns of the same counter, which contradict each other if many rows have other values."""
    interval = sampling_interval(times) if columns.twins else None
    for twins in columns.twins:
        first, *others = (values[at] for at in twins)
        said, kind = f"{len(twins)} columns of the same counter: read as one", Kind.NOTED
        if differing := sum(int((first != other).sum()) for other in others):
            said += f"; {counted(differing, 'value')} different: the first that is there counts"
            contrary = np.any([differ(first.to_numpy(), other.to_numpy()) for other in others], axis=0)
            if _is_one_thing(columns.series[twins[0]]) and are_many(times[contrary], len(times), interval):
                kind = Kind.CONTRADICTORY
        remarks.add(kind, said, counter=columns.series[twins[0]].path, count=len(twins))


def _is_one_thing(series: Series) -> bool:
    """Whether only one of two values can be right, and rules need it: processes of one name may well be two."""
    return is_judged(series) and series.tag("objectname") not in _NAMESAKES


def unread_columns(columns: Columns, values: Sequence[pl.Series], many_strange: Sequence[int]) -> list[int]:
    """The columns whose values are left out, all or many of them."""
    return sorted({at for at in columns.strange if values[at].null_count() < len(values[at])}.union(many_strange))


def _refuse_changed_paths(file: str, cells: Sequence[str]) -> None:
    """Unusable if a page or Markdown changed backslashes, as the series would get other names."""
    paths = [cell for cell in cells if cell.startswith("\\")]
    lost = [path for path in paths if _has_lost_backslash(path)]
    if 2 * len(lost) > len(paths):
        raise Unusable(
            f'{file}: paths have lost a backslash ("{short(lost[0])}"); put it back before the name of the computer'
        )
    if joined := next((path for path in paths if ")% " in path and _NO_BACKSLASH.fullmatch(path)), None):
        raise Unusable(f'{file}: a path has lost the backslash before its counter ("{short(joined, 80)}"); put it back')
    if escaped := next((path for path in paths if "\\_" in path and _ESCAPED.search(path)), None):
        raise Unusable(
            f'{file}: a backslash was put before an underscore ("{short(escaped)}"), as Markdown does; take it out'
        )


def _has_lost_backslash(path: str) -> bool:
    if not _ONE_BACKSLASH.match(path):
        return False
    try:
        return CounterPath.parse(f"\\{path}").computer is not None
    except ValueError:
        return False


def _twins(series: Sequence[Series]) -> tuple[tuple[int, ...], ...]:
    """The series of the same counter, however it is spelled."""
    # Cheap check before building keys.
    if len({(one.measurement, one.field, one.tags[0][1].casefold()) for one in series}) == len(series):
        return ()
    places: dict[object, list[int]] = {}
    for at, one in enumerate(series):
        places.setdefault(one.key, []).append(at)
    return tuple(tuple(twins) for twins in places.values() if len(twins) > 1)
