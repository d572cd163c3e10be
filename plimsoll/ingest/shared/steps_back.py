"""Rows that are earlier than those before them: where, and why that may be."""

from collections.abc import Iterable

from plimsoll.model.remark import Kind, Remarks
from plimsoll.model.times import duration_text

CLOCK = "the clock steps back"
# Where a header stands again, another file may begin (`cat b.csv a.csv`).
JOINED = "files are joined out of order or overlap, as times step back"
RESTARTED = "the clock was set back at a restart, or files are joined out of order or overlap, as times step back"


def tell(steps: Iterable[tuple[str, int, int]], remarks: Remarks) -> None:
    """Remark steps back in time. Each is given as a text, its line, and how far it goes back (ns)."""
    found: dict[str, list[tuple[int, int]]] = {}
    for what, line, back in steps:
        found.setdefault(what, []).append((line, back))
    for what, each in found.items():
        line, back = min(each)
        told = f"{what} by {duration_text(back)}: rows are put in the order of time"
        remarks.add(Kind.REPAIRED, told, line=line, count=len(each))
