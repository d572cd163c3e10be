"""Which mark is the decimal one in numbers that a spreadsheet wrote."""

import re
from collections.abc import Sequence
from pathlib import Path

from plimsoll.model.errors import Unusable
from plimsoll.model.remark import Kind, Remarks, counted, short

JOINT = "\x1f"  # between the cells of a row; stands in no number
_TO_DO = "export the log again as it was recorded (relog, not a spreadsheet)"
# What is not UTF-8 may be a no-break space, but only between groups of three digits; elsewhere it is damage.
_GROUPED = re.compile(
    r"(?:[0-9](?:[ '’\u00a0\u2009\u202f][0-9]{3}|[.,][0-9]+[.,][0-9])"
    r"|(?<![0-9.,\ufffd])[0-9]{1,3}(?:\ufffd[0-9]{3})+(?![0-9\ufffd]))[^\x1f]*"
)
_SHORT = re.compile(r"[0-9][.,]?E\+[0-9]+")  # what stands before the last digit does not matter
# Numbers in which a mark cannot stand for thousands: 0,5  1234,567  1,5  1,2345
_DECIMAL = r"(?<![0-9.,])(?:0[0-9]*{0}[0-9]|[0-9]{{4,}}{0}[0-9]|[0-9]+{0}(?:[0-9]{{1,2}}|[0-9]{{4,}})(?![0-9]))"
_IS_DECIMAL = {mark: re.compile(_DECIMAL.format(re.escape(mark))) for mark in ".,"}
_HAS = {mark: re.compile(rf"[0-9]{re.escape(mark)}[0-9]+") for mark in ".,"}


def decimal_mark(path: Path, rows: Sequence[str], lines: Sequence[int], separator: str, remarks: Remarks) -> str:
    """The decimal mark of all numbers: a point or a comma.

    Unusable if numbers are grouped by thousands, or have both marks, or could mean either.
    """
    first: dict[str, tuple[int, str]] = {}
    certain: set[str] = set()
    rounded = 0
    for line, row in zip(lines, rows, strict=True):
        if grouped := _GROUPED.search(row):
            start = row.rfind(JOINT, 0, grouped.start()) + 1
            shown = short(row[start : grouped.end()])
            raise Unusable(f'{path}:{line}: "{shown}" has its thousands marked, so it is not certain; {_TO_DO}')
        for mark in ".,":
            if mark in row and mark not in certain:
                if mark not in first and (found := _HAS[mark].search(row)):
                    first[mark] = (line, short(row[row.rfind(JOINT, 0, found.start()) + 1 : found.end()]))
                if _IS_DECIMAL[mark].search(row):
                    certain.add(mark)
        rounded += len(_SHORT.findall(row)) if "E+" in row else 0
    if len(first) > 1:
        (point, other), (comma, shown) = first["."], first[","]
        raise Unusable(
            f'{path}:{max(point, comma)}: there are numbers with points ("{other}") and with commas ("{shown}"), '
            f"so what the marks mean is not certain; {_TO_DO}"
        )
    mark = "," if "," in first else "."
    # In a log separated by commas a point is what Windows wrote.
    if first and mark not in certain and not (mark == "." and separator == ","):
        line, shown = first[mark]
        raise Unusable(f'{path}:{line}: "{shown}" may be a fraction or thousands, and no number settles it; {_TO_DO}')
    if mark == ",":
        line, shown = first[mark]
        remarks.add(Kind.REPAIRED, f'numbers have decimal commas ("{shown}"): read as decimal points', line=line)
    if rounded:
        remarks.add(
            Kind.NOTED, f"{counted(rounded, 'number')} rounded by a spreadsheet (such as 8.12E+08)", count=rounded
        )
    return mark
