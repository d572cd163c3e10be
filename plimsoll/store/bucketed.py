"""Buckets of samples that are in memory."""

import numpy as np

from plimsoll.model.samples import Samples
from plimsoll.store.protocol import Buckets


def bucketed(samples: Samples, width: int) -> Buckets:
    """Minimum, maximum and mean in buckets of `width` ns, which begin at multiples of it."""
    times, values = samples.present.times, samples.present.values
    if not len(times):
        return Buckets.empty()
    bucket = times // width
    first = np.flatnonzero(np.diff(bucket, prepend=bucket[0] - 1))
    lengths = np.diff(first, append=len(bucket))
    return Buckets(
        bucket[first] * width,
        np.minimum.reduceat(values, first),
        np.maximum.reduceat(values, first),
        np.add.reduceat(values, first) / lengths,
    )
