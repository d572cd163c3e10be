"""Samples for drawing: of each bucket of time the first, the last, the lowest and the highest (M4).

A line through them covers the same pixels as one through all samples, if there is a bucket for each pixel.
"""

import numpy as np

from model.samples import Samples


def m4(samples: Samples, start: int, end: int, buckets: int) -> Samples:
    """At most four samples for each of so many buckets between two times, both included."""
    if len(samples.times) <= buckets:
        return samples
    bucket = (samples.times - start) // bucket_width(start, end, buckets)
    first = np.flatnonzero(np.diff(bucket, prepend=bucket[0] - 1))
    last = np.append(first[1:], len(bucket)) - 1
    # Sorted by value within each bucket, its lowest is where its first was, and its highest where its last was.
    by_value = np.lexsort((samples.values, bucket))
    chosen = np.unique(np.concatenate([first, last, by_value[first], by_value[last]]))
    return Samples(samples.times[chosen], samples.values[chosen])


def bucket_width(start: int, end: int, buckets: int) -> int:
    """The length (ns) of each of so many buckets between two times, both included."""
    return -(-(end - start + 1) // buckets)
