"""VictoriaMetrics keeps every sample that is written for one instant, and sums and counts them all.

VictoriaMetrics 1.150.0. Guess: a sample for an instant that has one replaces it, as in InfluxDB, or is refused, as
in Prometheus. Unless `-dedup.minScrapeInterval` is set, all are kept: a body that is sent again doubles
`count_over_time` and `sum_over_time`, and leaves `avg_over_time` and the instant's value as they were, so that
dashboards look right.

Seen, of 4 written twice and 6 once for an instant: count 3, sum 14, value 6 (InfluxDB: count 1, sum 6)
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, run_influxdb, run_victoriametrics


def probe(folder: Path) -> None:
    """Write one instant three times to two stores."""
    with run_victoriametrics(folder) as metrics:
        for value in ("4", "4", "6"):
            metrics.store({"m": value})
        queries = ("count_over_time(m[1m])", "sum_over_time(m[1m])", "m")
        expect([metrics.ask(query, 10) for query in queries], [[3], [14], [6]], "count, sum and value")
    with run_influxdb(folder) as influx:
        for value in (4, 4, 6):
            influx.write(f"m v={value} {START}")
        expect(influx.ask("select count(v), sum(v) from m"), [[None, 1, 6]], "count and sum in InfluxDB")


if __name__ == "__main__":
    run_finding(probe)
