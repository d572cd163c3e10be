"""Finds frozen counters, which repeat one value because their agent keeps sending the last value it read."""

from collections.abc import Iterable, Sequence

import numpy as np

from plimsoll.model.log import merge_times
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND

# Our choices. Values with few digits may repeat by chance; values with this many digits in all do not.
MANY_DIGITS = 8
_LONG = 300 * SECOND
_SAMPLES = 10
_MB = 1 << 20


def count_digits(values: Iterable[float]) -> int:
    """Return the number of significant digits in all values together, leaving out multiples of 1 MiB.

    0 if all values are integers below 1 MiB, as these repeat by chance.
    """
    numbers = list(values)
    if all(value.is_integer() and value < _MB for value in numbers):
        return 0
    return sum(len(f"{value:.9g}".strip("0").replace(".", "")) for value in numbers if value % 1 or value % _MB)


def find_frozen_times(series: Sequence[Samples]) -> list[tuple[int, int]]:
    """Return the spans (start and end, UTC ns) in which each of several related series repeats one value.

    The values must have many digits in all. Each span is longer than five minutes and ten samples, and ends with the
    first new value of any of the series, or with the last sample.
    """
    filled = [part for part in (samples.present for samples in series) if len(part.times) > _SAMPLES]
    if not filled:
        return []
    changes = [part.times[1:][np.diff(part.values) != 0] for part in filled]
    ends = min(part.times[0] for part in filled), max(part.times[-1] for part in filled)
    bounds = merge_times([np.array(ends), *changes])
    at = np.flatnonzero(np.diff(bounds) > _LONG)
    long = zip(bounds[at].tolist(), bounds[at + 1].tolist(), strict=True)
    return [
        span
        for span in long
        if count_digits(float(values[0]) for part in filled if len(values := part.between(*span).values) > _SAMPLES)
        >= MANY_DIGITS
    ]
