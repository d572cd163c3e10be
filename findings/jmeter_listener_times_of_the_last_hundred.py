"""JMeter's InfluxDB listener counts the requests of five seconds, and gives times of the last hundred beside them.

JMeter 5.6.3, its listener's default settings. Guess: a line every five seconds has the count, mean, maximum and
percentiles of the requests of these five seconds. `count` is; `avg`, `min`, `max` and `pct95.0` are of the last 100
requests of that name (`backend_metrics_window`), however old: one slow request is the maximum of every line until a
hundred have followed, of a page that is asked for once a minute for an hour and a half. `transaction=all` counts a
transaction beside its requests, which JMeter's own summary does not, and a transaction fails with its request:
`countError` is twice what failed.

Seen, of 24 requests, every second one failed, in 12 transactions: counts of `all` add up to 36, `countError` to 24,
`summary = 24`; the last line of `page` counts less than 12 and has the mean and the maximum of all 12
"""

import re
from pathlib import Path

from common import expect, run_finding
from jmeter import run_plan

_LINE = re.compile(r"transaction=(\w+),statut=all count=(\d+)(?:,countError=(\d+))?,avg=([\d.]+),.*?max=([\d.]+)")


def probe(folder: Path) -> None:
    """Run a page and one that fails, for eight seconds and more."""
    results = run_plan(folder, {"page": "/", "failing": "/error"}, loops=12)
    found = [match for match in map(_LINE.search, results.lines) if match]
    total = [match for match in found if match[1] == "all"]
    expect(sum(int(match[2]) for match in total), 36, "counts of all")
    expect(sum(int(match[3]) for match in total), 24, "counts of errors")
    expect(re.findall(r"summary = +(\d+)", results.printed)[-1], "24", "requests of JMeter's summary")
    elapsed_ms = [int(row["elapsed"]) for row in results.rows if row["label"] == "page"]
    last = [match for match in found if match[1] == "page"][-1]
    expect(int(last[2]) < len(elapsed_ms) == 12, True, f"whether the last line counts a part: {last[2]}")
    expect(round(float(last[4]), 3), round(sum(elapsed_ms) / 12, 3), "mean of the last line")
    expect(float(last[5]), max(elapsed_ms), "maximum of the last line")


if __name__ == "__main__":
    run_finding(probe)
