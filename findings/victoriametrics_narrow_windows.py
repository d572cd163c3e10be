"""VictoriaMetrics gives growth over a window that has one sample or none of the growth in it; Prometheus gives
nothing.

VictoriaMetrics 1.150.0 beside the engine of Prometheus 3.13.3. Guess: a rate needs two samples within its window,
everywhere. VictoriaMetrics looks back to the sample before the window, however far it is up to its own limit:
`increase` over 5 s of samples every 10 s is the growth of 10 s, and a step over a gap of 50 s is seen in a window
of 30 s. Prometheus leaves the window's left edge out, so that a window as wide as the interval holds one sample. An
alert moves between the two and falls silent.

Seen: see `_ANSWERS`.
"""

from pathlib import Path

from common import run_finding
from programs import expect_answers

_SERIES = {"steady": "0 10 20 30 40 50 60", "gap": "5 5 5 5 _ _ _ _ 6"}
_ANSWERS = (
    # query, second, what Prometheus and VictoriaMetrics answer
    ("increase(steady[5s])", 30, [], [10]),
    ("rate(steady[10s])", 30, [], [1]),
    ("rate(steady[15s])", 35, [], [1]),
    ("increase(steady[25s])", 35, [25], [20]),
    ("increase(gap[30s])", 80, [], [1]),
    ("idelta(gap[30s])", 80, [], [1]),
    ("deriv(steady[30s])", 80, [], [0]),
)


def probe(folder: Path) -> None:
    """Ask both engines for growth over windows that hold fewer than two samples."""
    expect_answers(folder, _SERIES, _ANSWERS)


if __name__ == "__main__":
    run_finding(probe)
