"""A signal as it was recorded: in its own unit, at the times of its samples."""

from collections.abc import Callable

import numpy as np

from model.samples import Samples
from model.series import Series
from model.times import SECOND
from rules.evaluate import combined
from rules.signals import Derived, Origin, Taken


def drawn(origin: Origin, samples_of: Callable[[Series], Samples]) -> Samples | None:
    """The samples of a signal; None where it is computed from others that were not sampled together."""
    match origin:
        case Taken(series, rate, transform):
            samples = samples_of(series)
            if transform.scale != 1 or transform.offset != 0:
                samples = Samples(samples.times, transform.scale * samples.values + transform.offset)
            return _rates(samples.present) if rate else samples
        case Derived(operation, operands):
            parts = [drawn(operand, samples_of) for operand in operands]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts) or any(not np.array_equal(known[0].times, p.times) for p in known[1:]):
                return None
            return Samples(known[0].times, combined(operation, [part.values for part in known]))


def _rates(counts: Samples) -> Samples:
    """What a growing count gained per second between neighbours; a reset gives none."""
    rise = np.diff(counts.values)
    return Samples(counts.times[1:], np.where(rise >= 0, rise / (np.diff(counts.times) / SECOND), np.nan))
