"""InfluxQL fills gaps before it derives: `fill(0)` makes spikes, and a first rate out of a window that was not
asked for.

InfluxDB 1.6.7. Guess: `fill` is about the rows of the answer, as it stands at the end of the query. It fills the
windows that the inner function lacks, and the derivative then runs over the zeros: after a gap a counter "grows" by
all that it counts, which `non_negative_derivative` takes for a rate. One window before the range is filled as well,
so that the first row is the counter's whole value over one window, where `fill(none)` and the default have no row.

Seen, of a counter 1000, 1010, no samples for 20 s, 1040, windows of 10 s:
    fill(none)  10 s 1/s, 40 s 1/s
    fill(0)     0 s 100/s, 10 s 1/s, 30 s 0/s, 40 s 104/s
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, run_influxdb


def probe(folder: Path) -> None:
    """Derive a counter with a gap, filled in two ways."""
    with run_influxdb(folder) as server:
        counts = {0: 1000, 10: 1010, 40: 1040}
        server.write("\n".join(f"c v={count} {START + second}" for second, count in counts.items()))
        query = (
            f"select non_negative_derivative(max(v), 1s) from c where time >= {START}s and time < {START + 50}s"
            " group by time(10s) fill({})"
        )
        expect(server.ask(query.format("none")), [[10, 1], [40, 1]], "rates with fill(none)")
        expect(server.ask(query.format("0")), [[0, 100], [10, 1], [30, 0], [40, 104]], "rates with fill(0)")


if __name__ == "__main__":
    run_finding(probe)
