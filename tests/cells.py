"""The cells of a log's column."""

from math import isnan


def cells(values):
    """The values of a column; None where there is no sample."""
    return [None if isnan(value) else value for value in values.tolist()]


def samples(values):
    """The values of a column that are samples."""
    return [value for value in values.tolist() if not isnan(value)]
