"""JMeter's dashboard takes its percentiles from the last 20,000 samples, its mean from all.

JMeter 5.6.3, `-g`. Guess: all figures of a line of `statistics.json` are of the same samples, those that it counts. The
percentiles and the median come from a window of the last 20,000 (`jmeter.reportgenerator.statistic_window`): a test
whose first half was slow has the percentiles of its second half, and nothing in the dashboard says so.

Seen, 20,000 requests of 1,000 ms and then 20,000 of 10 ms: sampleCount 40000, maxResTime 1000, meanResTime 505,
medianResTime 10, and 10 for the 90th, 95th and 99th percentile
"""

import json
from pathlib import Path

from common import expect, run_finding
from jmeter import make_dashboard


def probe(folder: Path) -> None:
    """Make the dashboard of a test that became quick halfway."""
    statistics = json.loads((make_dashboard(folder, [1000] * 20_000 + [10] * 20_000) / "statistics.json").read_text())
    total = statistics["Total"]
    expect((total["sampleCount"], total["maxResTime"]), (40_000, 1000.0), "samples, and the longest")
    expect(round(total["meanResTime"]), 505, "mean")
    names = ("medianResTime", "pct1ResTime", "pct2ResTime", "pct3ResTime")
    expect([total[name] for name in names], [10.0] * 4, "median and percentiles")


if __name__ == "__main__":
    run_finding(probe)
