"""How much of a recording may be lost before a run is not known to be healthy."""

import numpy as np

from plimsoll.model.sampling import Times
from plimsoll.model.times import SECOND

MOST_LEFT_OUT = 0.1  # of the rows, or of the cells of a column
LONGEST_HOLE = 300 * SECOND  # most thresholds count once they are crossed for five minutes
_PAUSE = 2.5  # intervals


def are_many(lost: Times, rows: int, interval: int | None) -> bool:
    """Whether the times of rows that are lost are more than a tenth of all rows, or reach over five minutes on end.

    `lost` is ascending, `interval` the sampling interval (ns).
    """
    return len(lost) > MOST_LEFT_OUT * rows or last_long(lost, interval)


def last_long(times: Times, interval: int | None) -> bool:
    """Whether ascending times reach over five minutes without a pause; `interval` is the sampling interval (ns)."""
    runs = np.split(times, np.flatnonzero(np.diff(times) > _PAUSE * (interval or 0)) + 1)
    return any(len(run) > 1 and run[-1] - run[0] >= LONGEST_HOLE for run in runs)
