"""Samples of logs as live samples of a store."""

import numpy as np

from plimsoll.model.points import Points


def points_of(log):
    """Return the samples of a log as live samples."""
    which, rows = np.nonzero(~np.isnan(np.stack([log.column(at) for at in range(len(log.series))])))
    values = np.array([log.column(at)[row] for at, row in zip(which, rows, strict=True)], np.float64)
    return Points(log.series, which.astype(np.int32), log.times[rows], values)
