"""The evaluations of a recording: when rules are judged."""

import numpy as np

from plimsoll.model.errors import Unusable
from plimsoll.model.log import Times
from plimsoll.model.parameters import Parameter
from plimsoll.model.times import SECOND, duration_text, utc

EVERY = 10 * SECOND
_MOST_EVALUATIONS = 20_000_000


def grid(times: Times, every: int = EVERY, reach: int = 0) -> Times:
    """The evaluations of a recording: from the first grid point at or after the first sample to the
    first at or after the last.

    Of a pause longer than `reach` (the longest window) only the first evaluation without data is kept: the others
    change no state. Unusable if there are still too many evaluations to hold in memory.
    """
    if not len(times):
        return np.empty(0, dtype=np.int64)
    pauses = np.flatnonzero(np.diff(times) > reach + 2 * every)
    starts = -(-times[np.concatenate(([0], pauses + 1))] // every) * every
    ends = np.concatenate((times[pauses] + reach + every, [-(-times[-1] // every) * every]))
    counts = (ends - starts) // every + 1
    if counts.sum() > _MOST_EVALUATIONS:
        raise Unusable(
            f"the samples lie too far apart to be judged every {duration_text(every)}: {len(times)} rows from "
            f"{utc(int(times[0])):%Y-%m-%d} to {utc(int(times[-1])):%Y-%m-%d}; choose a part "
            f"with {Parameter.FROM} and {Parameter.TO}"
        )
    return np.concatenate([np.arange(s, e + 1, every) for s, e in zip(starts.tolist(), ends.tolist(), strict=True)])
