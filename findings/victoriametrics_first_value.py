"""VictoriaMetrics counts the first value of a series as growth from 0, unless it is large against the next step.

VictoriaMetrics 1.150.0 beside the engine of Prometheus 3.13.3. Guess: `increase` of a series that has just appeared
counts what was added since its first sample, or all of it. It is all of it for a first value below ten times (the
first step + 1), nothing of it above: a counter that appears at 5 and never moves has increased by 5, one that
appears at 100 and grows by 10 by 100 more than that, one that appears at 1000 by 10 alone. `delta`, for gauges, and
`idelta` do the same. Prometheus never counts the first value, and extrapolates to the edges of the window instead.

Seen at 50 s, the series beginning at 30 s (`still` at 0 s): see `_ANSWERS`.
"""

from pathlib import Path

from common import run_finding
from programs import expect_answers

_SERIES = {
    "still": "5 5 5 5 5",
    "nine": "9 9 9 9 9",
    "eleven": "11 11 11 11 11",
    "small": "_ _ _ 100 110 120",
    "large": "_ _ _ 1000 1010 1020",
}
_ANSWERS = (
    # query, second, what Prometheus and VictoriaMetrics answer
    ("increase(still[1m])", 40, [0], [5]),
    ("increase(nine[1m])", 40, [0], [9]),
    ("increase(eleven[1m])", 40, [0], [0]),
    ("increase(small[1m])", 50, [25], [120]),
    ("increase(large[1m])", 50, [25], [20]),
    ("delta(small[1m])", 50, [25], [120]),
    ("increase(small[1m])", 30, [], [0]),
    ("idelta(still[1m])", 0, [], [5]),
)


def probe(folder: Path) -> None:
    """Ask both engines for the growth of series that have just begun."""
    expect_answers(folder, _SERIES, _ANSWERS)


if __name__ == "__main__":
    run_finding(probe)
