"""Times that a spreadsheet wrote: what order their dates are in, and what they have lost."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import inf
from pathlib import Path
from statistics import median

from ingest.shared.shorten import short
from model.errors import Unusable
from model.remark import Kind, Remarks

_TO_DO = "export the log again with relog"
_WRITE = f"write times as YYYY-MM-DD HH:MM:SS, or {_TO_DO}"
_WINDOWS = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\.\d+", re.ASCII)
# Morning and afternoon, as languages mark them before or behind the hour.
_HALVES = {
    "English, Spanish": (r"a\.? ?m\.?", r"p\.? ?m\.?"),
    "Greek": (r"π\.?μ\.?", r"μ\.?μ\.?"),
    "Hungarian": (r"de\.", r"du\."),
    "Chinese": ("上午", "下午"),
    "Korean": ("오전", "오후"),
    "Japanese": ("午前", "午後"),
}
_HALF = "|".join(mark for marks in _HALVES.values() for mark in marks)
_AFTERNOON = re.compile("|".join(afternoon for _, afternoon in _HALVES.values()), re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = "|".join(_MONTHS)
_TIME = re.compile(
    rf"(?P<a>\d{{1,4}}|{_NAME})(?P<mark>[./-] ?| )(?P<b>\d{{1,2}}|{_NAME})(?:(?P=mark)|, )(?P<c>\d{{1,4}})(?:\.?,? |T)"
    rf"(?:(?P<before>{_HALF}) ?)?"
    r"(?P<hour>\d{1,2})(?P<colon>[:.])(?P<minute>\d\d)"
    r"(?:(?P=colon)(?P<second>\d\d)(?:(?:[.,]|:(?=\d{3}(?!\d)))(?P<part>\d{1,9}))?)?"
    rf"(?(before)|(?: ?(?P<behind>{_HALF}))?)"
    r"(?: ?(?P<offset>Z|UTC|[+-]\d\d:?\d\d))?",
    re.IGNORECASE | re.ASCII,
)
_CUT = re.compile(r"\d+:[\d:.,]+|\d+([./-] ?)\d+\1\d+\.?", re.ASCII)
_COUNTS = {
    "is a day's number as a spreadsheet counts": re.compile(r"[2-6]\d{4}(?:[.,]\d+)?", re.ASCII),
    "counts seconds since 1970": re.compile(r"1\d{9}(?:[.,]\d+)?", re.ASCII),
    "counts milliseconds since 1970": re.compile(r"1\d{12}", re.ASCII),
}
_ORDERS = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}


def evenly_spaced(text: str) -> str:
    """A time with single usual spaces, whatever kinds it had."""
    return " ".join(text.split())


def is_time(text: str) -> bool:
    """Whether a text is a date and time in any order."""
    return _TIME.fullmatch(text) is not None


def is_as_windows_writes(text: str) -> bool:
    """Whether a text is a time as Perfmon writes it, milliseconds and all."""
    return _WINDOWS.fullmatch(text) is not None


def no_time(text: str) -> str:
    """What a text is that is no such time, and what to do."""
    shown = f'"{short(text)}"'
    if _CUT.fullmatch(text):
        return f"{shown} is no date and time; a spreadsheet may have cut it: {_TO_DO}"
    known = next((said for said, count in _COUNTS.items() if count.fullmatch(text)), None)
    return f"{shown} {known or 'is no date and time in a way that is known'}: {_WRITE}"


def _names_month(found: re.Match[str]) -> bool:
    return not (found["a"] + found["b"]).isdigit()


def _build(found: re.Match[str]) -> tuple[object, ...]:
    """What all times of a log must have in common; where the year is first, whole seconds may lack the fraction."""
    year_first = len(found["a"]) == 4
    parts = ("second", "before", "behind") if year_first else ("second", "part", "before", "behind")
    return (
        found["mark"],
        year_first,
        found["a"].isdigit(),
        found["b"].isdigit(),
        *(found[part] is None for part in parts),
    )


@dataclass(frozen=True)
class Dates:
    """The order in which all dates of a log are written: `dmy`, `mdy` or `ymd`."""

    path: Path
    order: str
    offset: int | None = None
    """How many minutes ahead of UTC the times say they are."""

    @classmethod
    def of(
        cls, path: Path, times: Sequence[str], lines: Sequence[int], decimal_commas: bool, remarks: Remarks
    ) -> "Dates":
        """Tell the order from all times of a log.

        Unusable if not all are written alike, if day and month cannot be told apart, or if rows
        share a time whose seconds are lost.
        """
        if not times:
            return cls(path, "mdy")
        found = [_TIME.fullmatch(time) for time in times]
        for time, line, match in zip(times, lines, found, strict=True):
            if match is None:
                raise Unusable(f"{path}:{line}: {no_time(time)}")
        matches = [match for match in found if match is not None]
        build = _build(matches[0])
        for time, line, match in zip(times, lines, matches, strict=True):
            if _build(match) != build:
                raise Unusable(
                    f'{path}:{line}: "{time}" is not written as "{times[0]}" in line {lines[0]} is, so a spreadsheet '
                    f"took some dates for others; {_TO_DO}"
                )
        dates = cls(path, _order(path, matches, lines, decimal_commas), _offset(path, times, lines, matches))
        dates._tell(times, lines, matches, remarks)
        return dates

    def _tell(
        self, times: Sequence[str], lines: Sequence[int], found: Sequence[re.Match[str]], remarks: Remarks
    ) -> None:
        if self.order != "mdy" or not is_as_windows_writes(times[0]):
            moment = datetime.strptime(self.rewritten(times[0], lines[0])[:10], "%m/%d/%Y")
            told = f'dates are read {_ORDERS[self.order]}: "{times[0]}" is {moment.day} {moment:%B %Y}'
            by_dots = "." in found[0]["mark"] and not _names_month(found[0])
            if not by_dots or any(int(match["a"]) > 12 for match in found):
                remarks.add(Kind.REPAIRED, told, line=lines[0])
            else:
                remarks.add(Kind.GUESSED, f"{told}, as dots have it; no day above 12 confirms it", line=lines[0])
        if found[0]["second"] is None:
            for at, (one, next_) in enumerate(pairwise(times)):
                if one == next_:
                    raise Unusable(
                        f'{self.path}:{lines[at + 1]}: "{next_}" is the time of the row before too: the seconds are '
                        f"lost; {_TO_DO}"
                    )
            remarks.add(Kind.NOTED, "times have lost their seconds: each may be off by up to a minute", line=lines[0])

    def rewritten(self, time: str, line: int) -> str:
        """A time as Windows writes it. Unusable if there is no such day or hour."""
        found = _TIME.fullmatch(time)
        if found is None:
            raise ValueError(time)
        try:
            moment = _moment(found, self.order)
        except ValueError:
            raise Unusable(
                f'{self.path}:{line}: "{time}" is not a time, read {_ORDERS[self.order]}; {_TO_DO}'
            ) from None
        return f"{moment:%m/%d/%Y %H:%M:%S}.{found['part'] or '000'}"


def _moment(found: re.Match[str], order: str) -> datetime:
    """A time to the second. ValueError if there is no such day or hour."""
    parts = dict(zip(order, found.group("a", "b", "c"), strict=True))
    month = parts["m"].lower()
    hour = int(found["hour"])
    if half := found["before"] or found["behind"]:
        hour = hour % 12 + 12 * (_AFTERNOON.fullmatch(half) is not None) if 1 <= hour <= 12 else 99
    number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
    return datetime(int(parts["y"]), number, int(parts["d"]), hour, int(found["minute"]), int(found["second"] or 0))


def _offset(path: Path, times: Sequence[str], lines: Sequence[int], found: Sequence[re.Match[str]]) -> int | None:
    for time, line, match in zip(times, lines, found, strict=True):
        if match["offset"] != found[0]["offset"]:
            raise Unusable(
                f'{path}:{line}: "{time}" is not as far from UTC as "{times[0]}" in line {lines[0]}; write all times '
                "in UTC, or as the recorder's own clock had them"
            )
    said = found[0]["offset"]
    if said is None or said.upper() in ("Z", "UTC"):
        return None if said is None else 0
    return int(f"{said[0]}{int(said[1:3]) * 60 + int(said[-2:])}")


def _order(path: Path, found: Sequence[re.Match[str]], lines: Sequence[int], decimal_commas: bool) -> str:
    first = found[0]
    if len(first["a"]) == 4:
        return "ymd"
    for match, line in zip(found, lines, strict=True):
        if len(match["c"]) != 4:
            raise Unusable(
                f'{path}:{line}: the year of "{match[0]}" has two digits, so which part it is and of which century is '
                "not certain; write years with four digits, or export a log of Windows again with relog"
            )
    if _names_month(first):
        return "dmy" if first["a"].isdigit() else "mdy"
    if "." in first["mark"]:
        return "dmy"
    days_first = next((at for at, match in enumerate(found) if int(match["a"]) > 12), None)
    months_first = next((at for at, match in enumerate(found) if int(match["b"]) > 12), None)
    if days_first is not None and months_first is not None:
        raise Unusable(
            f'{path}:{lines[months_first]}: "{found[months_first][0]}" has the month first and '
            f'"{found[days_first][0]}" in line {lines[days_first]} the day; {_TO_DO}'
        )
    if days_first is not None:
        return "dmy"
    # Milliseconds and two digits throughout are what Windows writes, with the month first;
    # decimal commas say that the log was turned into another country's writing.
    untouched = all(is_as_windows_writes(match[0]) for match in found) and not decimal_commas
    if months_first is not None or untouched or all(match["a"] == match["b"] for match in found):
        return "mdy"
    if (order := _by_midnights(found)) is not None:
        return order
    raise Unusable(
        f'{path}:{lines[0]}: whether "{first[0]}" has the day or the month first cannot be told, as no day is above '
        f"12; {_TO_DO}"
    )


def _by_midnights(found: Sequence[re.Match[str]]) -> str | None:
    """The order by which rows go on over each midnight as they do within a day; None where none tells."""
    within = [(one, next_) for one, next_ in pairwise(found) if _date(one) == _date(next_)]
    over = [(one, next_) for one, next_ in pairwise(found) if _date(one) != _date(next_)]
    if not within or not over:
        return None
    usual = median(_step(*pair, "mdy") for pair in within)
    fitting = [order for order in ("dmy", "mdy") if all(0 < _step(*pair, order) <= 2 * usual for pair in over)]
    return fitting[0] if len(fitting) == 1 else None


def _date(found: re.Match[str]) -> tuple[str | None, ...]:
    return found.group("a", "b", "c")


def _step(one: re.Match[str], next_: re.Match[str], order: str) -> float:
    """Seconds from one row to the next; infinite where one has no such day."""
    try:
        return (_moment(next_, order) - _moment(one, order)).total_seconds()
    except ValueError:
        return inf
