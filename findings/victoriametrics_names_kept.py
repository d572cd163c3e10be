"""VictoriaMetrics keeps the metric's name through `avg_over_time`, `max_over_time` and `clamp_max`, which
Prometheus drops.

VictoriaMetrics 1.150.0 beside the engine of Prometheus 3.13.3. Guess: every function drops the name, as PromQL
says. Functions that do not change what a value is keep it, so that a regular expression over names works in
VictoriaMetrics and is refused by Prometheus: two series would have equal labels. `count_over_time` and `rate` drop
it in both, and are refused by both.

Seen: avg_over_time over two names: VictoriaMetrics [4.0, 30.0], Prometheus "vector cannot contain metrics with the
same labelset"
"""

from pathlib import Path

from common import expect, run_finding
from programs import compare_engines

_TWO = '({__name__=~"a|b"}[30s])'


def probe(folder: Path) -> None:
    """Apply functions to two metrics that differ in their names alone."""
    series = {"a": "1 2 3 4 5", "b": "0 10 20 30 40"}
    queries = [(f"avg_over_time{_TWO}", 40), (f"rate{_TWO}", 40)]
    average, rate = compare_engines(folder, series, queries)
    expect(average[0], "vector cannot contain metrics with the same labelset", "what Prometheus says to avg_over_time")
    expect(average[1], [4.0, 30.0], "what VictoriaMetrics says to avg_over_time")
    expect(rate[0], "vector cannot contain metrics with the same labelset", "what Prometheus says to rate")
    expect("duplicate output timeseries" in rate[1], True, "whether VictoriaMetrics refuses rate")


if __name__ == "__main__":
    run_finding(probe)
