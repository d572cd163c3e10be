"""Values of conditions that were computed, for other rules with the same condition."""

from collections.abc import Sequence

from plimsoll.model.log import Times, Values
from plimsoll.rules.origins import Origin
from plimsoll.rules.schema.field_types import Reduce

_MOST = 4_000_000  # values


class KeptValues:
    """The values of the last conditions, by what they are of: evaluations, origins, and how these are reduced.

    Times and origins are known by their identity, and are kept so that no others get it.
    """

    def __init__(self) -> None:
        self._kept: dict[object, tuple[Times, Sequence[Origin], Values]] = {}
        self._size = 0
        self._end = 0

    def get(self, at: Times, origins: Sequence[Origin], how: Reduce, over: int) -> Values | None:
        """The values, if they are kept."""
        found = self._kept.get((id(at), how, over, *map(id, origins)))
        return found[2] if found else None

    def keep(self, at: Times, origins: Sequence[Origin], how: Reduce, over: int, values: Values) -> None:
        """Keep values, which nobody may change from now on."""
        values.setflags(write=False)
        # Live, time moves on, and what lies before it is not asked for again.
        if self._size + values.size > _MOST or at[0] > self._end:
            self._kept.clear()
            self._size = 0
        self._kept[id(at), how, over, *map(id, origins)] = at, origins, values
        self._size += values.size
        self._end = max(self._end, int(at[-1]))
