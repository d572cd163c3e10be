"""In VictoriaMetrics a result that is not a number is no result: it is absent, not counted, and gives way to `or`.

VictoriaMetrics 1.150.0 beside the engine of Prometheus 3.13.3. Guess: both speak PromQL, where 0/0 is a sample with
the value NaN, which `count` counts, `or` keeps and `!=` lets pass. VictoriaMetrics drops it, so that `absent(0/0)`
holds, `or vector(7)` takes over, and `scalar()` of nothing compares to nothing where Prometheus says 0.
`clamp_max(x, NaN)` is x. An alert written as "not equal" or with `absent` fires in one engine alone.

Seen: see `_ANSWERS`.
"""

from pathlib import Path

from common import run_finding
from programs import expect_answers

_SERIES = {"value": "1 2 3 4 5 6 7 8 9"}
_ANSWERS = (
    # query, second, what Prometheus and VictoriaMetrics answer
    ("count(0 * value / 0)", 40, [1], []),
    ("absent(0 * value / 0)", 40, [], [1]),
    ("count((0 * value / 0) != 1)", 40, [1], []),
    ("count(((0 * value / 0) or vector(7)) == 7)", 40, [], [1]),
    ("scalar(missing) > bool 1", 40, [0], []),
    ("count(clamp_max(value, NaN) == 5)", 40, [], [1]),
)


def probe(folder: Path) -> None:
    """Ask both engines for what becomes of 0/0."""
    expect_answers(folder, _SERIES, _ANSWERS)


if __name__ == "__main__":
    run_finding(probe)
