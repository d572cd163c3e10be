"""What a log holds. Times are whole milliseconds since 1970, UTC."""

import itertools
import math
from dataclasses import dataclass, field


@dataclass
class Column:
    """One series of one host: a Perfmon counter, or a field of a measurement with its tags."""

    host: str
    interval: int | None  # of the log's rows
    object: str = ""
    instance: str | None = None
    counter: str = ""
    measurement: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    times: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    @property
    def name(self):
        """What makes two columns the same series; case does not count."""
        tags = tuple(sorted(self.tags.items()))
        own = (self.host, self.object, self.instance or "", self.counter, self.measurement)
        return (*(part.casefold() for part in own), tags)

    def add(self, time: int, cell: str):
        """Append the sample of a cell, if it holds one: blanks, NaN and infinities are missing."""
        text = cell.strip()
        if not text:
            return
        value = float(text)
        if math.isfinite(value):
            self.times.append(time)
            self.values.append(value)


def interval_of(rows: list[int]) -> int | None:
    """The median distance of rows, of two middle ones the lower; a whole number of seconds if within 2 % of it."""
    distances = sorted(after - before for before, after in itertools.pairwise(rows))
    if not distances:
        return None
    median = distances[(len(distances) - 1) // 2]
    whole = (median + 500) // 1000 * 1000
    return whole if whole and abs(median - whole) <= 0.02 * whole else median
