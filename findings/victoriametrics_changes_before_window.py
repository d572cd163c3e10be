"""VictoriaMetrics' `changes` and `resets` count what happened between the last sample before the window and the
first in it.

VictoriaMetrics 1.150.0 beside the engine of Prometheus 3.13.3. Guess: two samples in the window can change once.
VictoriaMetrics counts the step into the window as well, and a series that appears has changed once: a value that
has never been another one. A restart counter watched by `changes(...) > 0` fires when the target is first seen, and
in two windows side by side.

Seen: see `_ANSWERS`.
"""

from pathlib import Path

from common import run_finding
from programs import expect_answers

_SERIES = {"value": "1 2 3 4 5 6 7 8 9", "still": "7 7 7 7", "fall": "10 20 30 5 15 25 35"}
_ANSWERS = (
    # query, second, what Prometheus and VictoriaMetrics answer
    ("changes(value[20s])", 40, [1], [2]),
    ("changes(value[20s])", 0, [0], [1]),
    ("changes(still[1m])", 30, [0], [1]),
    ("resets(fall[30s])", 50, [0], [1]),
)


def probe(folder: Path) -> None:
    """Ask both engines for the changes in windows whose edges lie between two values."""
    expect_answers(folder, _SERIES, _ANSWERS)


if __name__ == "__main__":
    run_finding(probe)
