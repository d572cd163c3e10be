"""What a different load explains: between which values a signal is to be expected, if only the load differs.

A resource takes so much for each operation and something when idle: it grows by less than in proportion, and by no less
than the square root of it. What waits, and what queues, grows the faster, the busier the resource: a queue of one
server as 1 / (1 - utilisation), several servers faster; the square of that, and
its cube for a queue, are more than any of them (Kleinrock, "Queueing systems", 1975).
"""

from dataclasses import dataclass

from plimsoll.comparison.run_to_run import Growth

_BUSIEST = 0.95
UNKNOWN_BUSY = 0.7  # our choice, where no utilisation was recorded


@dataclass(frozen=True, slots=True)
class Band:
    """Between which multiples of the baseline a signal is to be expected; with `whole`, of what it lacks to that.

    An idle time of 90 % is to be 88 % under a load that is a fifth higher.
    """

    low: float = 1.0
    high: float = 1.0
    whole: float = 0.0

    @property
    def explains(self) -> bool:
        """Whether the load explains anything."""
        return (self.low, self.high) != (1.0, 1.0)

    def ends(self, baseline: float) -> tuple[float, float]:
        """The lowest and the highest expected value."""
        low, high = sorted(self.whole + factor * (baseline - self.whole) for factor in (self.low, self.high))
        return low, high


SAME = Band()  # the load explains nothing


@dataclass(frozen=True, slots=True)
class LoadEffect:
    """By which factors the load differs, the lowest and the highest of those recorded.

    `busy` is the utilisation of the busiest resource of the baseline, 0 to 1.
    """

    low: float = 1.0
    high: float = 1.0
    busy: float = UNKNOWN_BUSY

    def band(self, growth: Growth, whole: float = 0.0) -> Band:
        """What is to be expected of a signal that goes with the load like this, or of what it lacks to `whole`."""
        found = [edge for factor in (self.low, self.high) for edge in self._edges(growth, factor)]
        return Band(min(found), max(found), whole)

    def _edges(self, growth: Growth, factor: float) -> tuple[float, float]:
        if growth == "none" or factor == 1:
            return 1.0, 1.0
        if growth == "proportion":
            return factor**0.5, factor
        if growth == "partly":
            return factor, 1 / factor
        waiting = (1 - self.busy) / (1 - min(_BUSIEST, self.busy * factor))
        return 1.0, (waiting if growth == "waiting" else (factor * waiting) ** 1.5) ** 2
