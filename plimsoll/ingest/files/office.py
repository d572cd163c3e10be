"""Files of office programs: which of them may hold a log, and what to do about it."""

import re
from collections.abc import Iterable

from plimsoll.model.errors import NoLog, Unusable

# The cells of a spreadsheet, and what the header of a log has in one of them.
_SHEET = re.compile(r"xl/sharedStrings\.xml|xl/worksheets/.*\.xml|content\.xml")
_CELL = re.compile(rb"<(c|t|v|is|si|text:p)\b")
_COUNTER = re.compile(rb"PDH-[CT]SV|\\[^\\<>]+\\[^\\<>]|Processor Time")
SPREADSHEET = (
    "a spreadsheet; save its sheet as CSV there and see that no time lost its seconds, or better take the log as it "
    "was recorded"
)
DOCUMENT = "a document, not a log; if a log is in it, save that as text"


def of_office(name: str, members: Iterable[tuple[str, bytes]]) -> Unusable:
    """Why a file of an office program is refused. NoLog if it has no sheet, or its sheets hold no counter.

    `members` are the files in it by their names.
    """
    is_spreadsheet = False
    sheets: list[bytes] = []
    for inner, data in members:
        is_spreadsheet = is_spreadsheet or inner.startswith("xl/") or (inner == "mimetype" and b"spreadsheet" in data)
        if _SHEET.match(inner):
            sheets.append(data)
    if not is_spreadsheet:
        return NoLog(f"{name}: is {DOCUMENT}")
    is_other = any(map(_CELL.search, sheets)) and not any(map(_COUNTER.search, sheets))
    return (NoLog if is_other else Unusable)(f"{name}: is {SPREADSHEET}")
