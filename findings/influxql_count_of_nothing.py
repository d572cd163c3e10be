"""InfluxQL's count of nothing is no row in one query, 0 in the next, and null with a sum.

InfluxDB 1.6.7. Guess: `count` gives 0 where there is nothing, as in SQL; or nothing at all. Without windows the
answer is empty; with `group by time` a window without samples counts 0 although the default fill is null, and a
`sum` beside it is null; a range without any sample is empty again, whatever the fill. An alert on "count < 1" fires
in a gap and not in an outage.

Seen, of a range without samples: count no row, windows fill(0) no row; of a gap within the range: count 0, sum null
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, run_influxdb


def probe(folder: Path) -> None:
    """Count the samples of a gap, and of a range that has none."""
    with run_influxdb(folder) as server:
        server.write(f"m v=1 {START}\nm v=1 {START + 20}")
        gap = f"from m where time >= {START}s and time < {START + 30}s"
        later = f"from m where time >= {START + 60}s and time < {START + 90}s"
        expect(
            server.ask(f"select count(v), sum(v) {gap} group by time(10s)"),
            [[0, 1, 1], [10, 0, None], [20, 1, 1]],
            "count and sum of windows, the second without samples",
        )
        expect(server.ask(f"select count(v) {later}"), [], "count of a range without samples")
        expect(server.ask(f"select count(v) {later} group by time(10s) fill(0)"), [], "its windows, filled with 0")


if __name__ == "__main__":
    run_finding(probe)
