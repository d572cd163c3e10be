"""What stays as it is, such as the size of a volume: known where it has no data, from before or after."""

import numpy as np

from plimsoll.model.log import Values


class Constants:
    """The last values of some rows, whose evaluations come in the order of time."""

    def __init__(self, rows: int) -> None:
        self._last = np.full((rows, 1), np.nan)

    def filled(self, values: Values) -> Values:
        """The values; instead of NaN the last one before it, or else the next one."""
        if not values.shape[1]:
            return values
        filled = _forward(np.concatenate((self._last, values), axis=1))[:, 1:]
        self._last = filled[:, -1:].copy()
        return _forward(filled[:, ::-1])[:, ::-1]


def _forward(values: Values) -> Values:
    """The values; instead of NaN the last one before it, if there is one."""
    columns = np.where(np.isnan(values), 0, np.arange(values.shape[1]))
    return np.take_along_axis(values, np.maximum.accumulate(columns, axis=1), axis=1)
