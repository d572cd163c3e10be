"""`round(-2.5)` is -3 in VictoriaMetrics and -2 in Prometheus; both say that 2.5 is 3.

VictoriaMetrics 1.150.0 beside the engine of Prometheus 3.13.3. Guess: both round halves to even, as Go's
`RoundToEven`, or both away from zero, as Go's `Round`. Prometheus rounds halves up, toward plus infinity;
VictoriaMetrics away from zero, and 0.5 below 0 becomes -1 in one and 0 in the other. Values that are rounded to
compare or to label differ for negative halves alone.

Seen: see `_ANSWERS`.
"""

from pathlib import Path

from common import run_finding
from programs import expect_answers

_SERIES = {"five": "5 5", "one": "1 1"}
_ANSWERS = (
    # query, second, what Prometheus and VictoriaMetrics answer
    ("round(five / 2)", 10, [3], [3]),
    ("round(five / -2)", 10, [-2], [-3]),
    ("round(one / -2)", 10, [0], [-1]),
)


def probe(folder: Path) -> None:
    """Round halves on both sides of zero."""
    expect_answers(folder, _SERIES, _ANSWERS)


if __name__ == "__main__":
    run_finding(probe)
