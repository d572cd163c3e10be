"""The hosts of series that are written, without looking at the same series again."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.series import Series
from plimsoll.rules.subjects import host_of

_MOST_KNOWN = 500_000


class SeriesHosts:
    """Numbers for the hosts of series; `names` has the host of each. `tags` name it: see `rules.subjects.host_of`."""

    def __init__(self, tags: Collection[str]) -> None:
        self._tags = tags
        self._known: dict[int, int] = {}  # by the id of a series, which is looked up faster than the series itself
        self._held: list[Series] = []  # so that no other one gets the same id
        self._numbers: dict[str, int] = {}
        self.names: list[str] = []

    def numbers(self, series: Sequence[Series]) -> NDArray[np.intp]:
        """The number of each series' host."""
        if len(self._known) > _MOST_KNOWN:  # series come and go
            self._known.clear()
            self._held.clear()
        known = self._known
        found = [known.get(id(one), -1) for one in series]
        if -1 in found:
            found = [self._number(one) if number < 0 else number for one, number in zip(series, found, strict=True)]
        return np.array(found, np.intp)

    def _number(self, series: Series) -> int:
        host = host_of(series, self._tags)
        number = self._numbers.setdefault(host, len(self.names))
        if number == len(self.names):
            self.names.append(host)
        self._known[id(series)] = number
        self._held.append(series)
        return number
