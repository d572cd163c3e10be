"""Files of sadf one behind the other in one file (`cat sa21.txt sa20.txt`), and clocks that step back.

Where a section begins anew, another file may begin; but sadf itself does so too behind a restart.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ingest.formats.sadf.table import SectionTable
from ingest.shared import steps_back
from model.log import Times
from model.remark import Remarks


def tell_steps_back(tables: Sequence[SectionTable], instants: Sequence[Times], remarks: Remarks) -> None:
    """Tell where rows are earlier than those before, and why; each step once, as all sections show it."""
    steps_back.tell(_steps(tables, instants), remarks)


def _steps(tables: Sequence[SectionTable], instants: Sequence[Times]) -> Iterator[tuple[str, int, int]]:
    ends: set[int] = set()
    for table, moments in zip(tables, instants, strict=True):
        at = np.flatnonzero(np.diff(moments) < 0) + 1
        steps = list(zip(at.tolist(), moments[at - 1].tolist(), moments[at].tolist(), strict=True))
        for row, before, after in steps:
            # A section may lack the row before a step or the one after it.
            if ends.isdisjoint((before, after)):
                yield _what(table, row), int(table.lines[row]), before - after
        ends.update(end for _, *both in steps for end in both)


def _what(table: SectionTable, row: int) -> str:
    if not table.anew[row]:
        return steps_back.CLOCK
    return steps_back.RESTARTED if table.restarted[row] else steps_back.JOINED
