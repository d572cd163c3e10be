"""Times that a spreadsheet wrote: the order of their dates, and what they have lost."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.remark import Kind, Remarks, short

_TO_DO = "export the log again with relog"
_WRITE = f"write times as YYYY-MM-DD HH:MM:SS, or {_TO_DO}"
_WINDOWS = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\.\d+", re.ASCII)
_TIME = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>[./-] ?)(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,4})(?:\.? |T)"
    r"(?P<hour>\d{1,2})(?P<colon>[:.])(?P<minute>\d\d)(?:(?P=colon)(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?: ?(?P<half>AM|PM))?",
    re.IGNORECASE | re.ASCII,
)
# Other times, with what to say of them.
_KNOWN = {
    "is no date and time; a spreadsheet may have cut it": re.compile(r"\d+:[\d:.,]+|\d+([./-] ?)\d+\1\d+\.?", re.ASCII),
    "is a day's number as a spreadsheet counts": re.compile(r"[2-6]\d{4}(?:[.,]\d+)?", re.ASCII),
    "counts seconds since 1970": re.compile(r"1\d{9}(?:[.,]\d+)?", re.ASCII),
    "counts milliseconds since 1970": re.compile(r"1\d{12}", re.ASCII),
    "says how far it is from UTC, which the header says": re.compile(r"\d.*:\d\d.*(?:Z|UTC|[+-]\d\d:?\d\d)"),
}
_ORDERS = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}


def evenly_spaced(text: str) -> str:
    """A time with single plain spaces, whatever kinds it had."""
    return " ".join(text.split())


def is_time(text: str) -> bool:
    """Whether a text is a date and time in any order."""
    return _TIME.fullmatch(text) is not None


def is_as_windows_writes(text: str) -> bool:
    """Whether a text is a time as Perfmon writes it, with milliseconds."""
    return _WINDOWS.fullmatch(text) is not None


@dataclass(frozen=True)
class Dates:
    """The order in which all dates of a log are written: `dmy`, `mdy` or `ymd`."""

    path: Path
    order: str

    @classmethod
    def of(
        cls, path: Path, times: Sequence[str], lines: Sequence[int], decimal_commas: bool, remarks: Remarks
    ) -> "Dates":
        """Find the order from all times of a log.

        Unusable if they are not written alike, if day and month are not certain, or if rows share a time whose
        seconds are lost.
        """
        found: list[re.Match[str]] = []
        for time, line in zip(times, lines, strict=True):
            match = _TIME.fullmatch(time)
            if match is None:
                raise Unusable(f"{path}:{line}: {_no_time(time)}")
            if found and _build(match) != _build(found[0]):
                raise Unusable(
                    f'{path}:{line}: "{time}" is not written as "{times[0]}" in line {lines[0]} is, so a spreadsheet '
                    f"took some dates for others; {_TO_DO}"
                )
            found.append(match)
        if not found:
            return cls(path, "mdy")
        dates = cls(path, _order(path, found, lines, decimal_commas))
        dates._tell(found, lines, remarks)
        return dates

    def _tell(self, found: Sequence[re.Match[str]], lines: Sequence[int], remarks: Remarks) -> None:
        first = found[0]
        if self.order != "mdy" or not is_as_windows_writes(first[0]):
            moment = datetime.strptime(self.rewritten(first[0], lines[0])[:10], "%m/%d/%Y")
            told = f'dates are read {_ORDERS[self.order]}: "{first[0]}" is {moment.day} {moment:%B %Y}'
            if "." not in first["mark"] or any(int(match["a"]) > 12 for match in found):
                remarks.add(Kind.REPAIRED, told, line=lines[0])
            else:
                remarks.add(Kind.GUESSED, f"{told}, as dots have it; no day above 12 confirms it", line=lines[0])
        if first["second"] is None:
            for at, (one, next_) in enumerate(pairwise(found)):
                if one[0] == next_[0]:
                    raise Unusable(
                        f'{self.path}:{lines[at + 1]}: "{next_[0]}" is the time of the row before too: the seconds are '
                        f"lost; {_TO_DO}"
                    )
            remarks.add(Kind.NOTED, "times have lost their seconds: each may be off by up to a minute", line=lines[0])

    def rewritten(self, time: str, line: int) -> str:
        """A time as Windows writes it. Unusable if there is no such day or hour."""
        found = _TIME.fullmatch(time)
        if found is None:
            raise ValueError(time)
        parts = dict(zip(self.order, map(int, found.group("a", "b", "c")), strict=True))
        hour = int(found["hour"])
        if half := found["half"]:
            hour = hour % 12 + 12 * (half.upper() == "PM") if 1 <= hour <= 12 else 99
        try:
            moment = datetime(parts["y"], parts["m"], parts["d"], hour, int(found["minute"]), int(found["second"] or 0))
        except ValueError:
            raise Unusable(
                f'{self.path}:{line}: "{time}" is not a time, read {_ORDERS[self.order]}; {_TO_DO}'
            ) from None
        return f"{moment:%m/%d/%Y %H:%M:%S}.{found['part'] or '000'}"


def _no_time(text: str) -> str:
    """What a text is that is not such a time, and what to do."""
    known = next((said for said, pattern in _KNOWN.items() if pattern.fullmatch(text)), None)
    to_do = _TO_DO if known and "cut" in known else _WRITE
    return f'"{short(text)}" {known or "is no date and time in a way that is known"}: {to_do}'


def _build(found: re.Match[str]) -> tuple[object, ...]:
    """What all times of a log must have in common; with the year first, a whole second may lack its fraction."""
    year_first = len(found["a"]) == 4
    parts = ("second", "half") if year_first else ("second", "part", "half")
    return (found["mark"], year_first, *(found[part] is None for part in parts))


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
    if "." in first["mark"]:
        return "dmy"
    day_first = next((at for at, match in enumerate(found) if int(match["a"]) > 12), None)
    month_first = next((at for at, match in enumerate(found) if int(match["b"]) > 12), None)
    if day_first is not None and month_first is not None:
        raise Unusable(
            f'{path}:{lines[month_first]}: "{found[month_first][0]}" has the month first and '
            f'"{found[day_first][0]}" in line {lines[day_first]} the day; {_TO_DO}'
        )
    if day_first is not None:
        return "dmy"
    # Windows writes milliseconds, two digits throughout, and the month first. Decimal commas show that another program
    # turned the log into another country's writing.
    untouched = all(is_as_windows_writes(match[0]) for match in found) and not decimal_commas
    if month_first is not None or untouched or all(match["a"] == match["b"] for match in found):
        return "mdy"
    raise Unusable(
        f'{path}:{lines[0]}: whether "{first[0]}" has the day or the month first cannot be told, as no day is above '
        f"12; {_TO_DO}"
    )
