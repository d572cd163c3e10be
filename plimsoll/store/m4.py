"""Samples for drawing: the first, last, lowest and highest of each bucket of time (M4).

With one bucket for each pixel, a line through these samples covers the same pixels as a line through all samples.
"""

from dataclasses import dataclass

import numpy as np

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples


@dataclass(frozen=True, eq=False)
class Drawn:
    """The samples that draw a line, and the number of samples that they were chosen from (`count`)."""

    samples: Samples
    count: int


def reduce_to_m4(samples: Samples, start: int, end: int, buckets: int) -> Samples:
    """Return at most four samples for each of `buckets` equal parts of a range (ns, both ends included)."""
    times, values = samples.times, samples.values
    if not len(times):
        return samples
    bucket = (times - start) // compute_bucket_width(start, end, buckets)
    first = np.flatnonzero(np.diff(bucket, prepend=bucket[0] - 1))
    lengths = np.diff(first, append=len(bucket))
    chosen = [first, first + lengths - 1]
    for extreme in (np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)):
        reached = np.flatnonzero(values == np.repeat(extreme, lengths))
        chosen.append(reached[np.diff(bucket[reached], prepend=bucket[0] - 1) != 0])
    rows = np.unique(np.concatenate(chosen))
    return Samples(times[rows], values[rows])


def join_corners(times: Times, values: Values) -> Samples:
    """Return the first, lowest, highest and last sample of each bucket (a row of each array) as one list.

    A sample that is, for example, both first and lowest appears once.
    """
    first, last = values[:, :1], values[:, 3:]
    at_end = np.where(values == last, times[:, 3:], times)
    corners = np.where(values == first, times[:, :1], at_end)
    corners[:, 3] = times[:, 3]
    unique, rows = np.unique(corners.ravel(), return_index=True)
    return Samples(unique, values.ravel()[rows])


def compute_bucket_width(start: int, end: int, buckets: int) -> int:
    """Return the length (ns) of each bucket if this number of buckets covers a range, both ends included."""
    return -(-(end - start + 1) // buckets)
