"""InfluxQL's percentile takes a sample by half-up rounding, gives no row for a low rank, and is no median at 50.

InfluxDB 1.6.7. Guess: interpolation, or the nearest rank by rounding up, so that a percentile of a series that has
samples is always a value. It is the sample at N x p / 100, rounded half up, and where that is 0 the answer has no
row at all: of 12 samples percentiles below 4.2 do not exist, of one sample those below 50. `median` beside it
interpolates.

Seen, of 1..12: percentile 4 no row, 5 -> 1, 50 -> 6 (median 6.5), 95 -> 11, 99 -> 12; of one sample: 49 no row, 50
-> 1
"""

from pathlib import Path

from common import expect, run_finding
from programs import START, run_influxdb


def probe(folder: Path) -> None:
    """Ask for percentiles of 12 samples and of one."""
    with run_influxdb(folder) as server:
        server.write("\n".join(f"dozen v={second + 1} {START + second}" for second in range(12)))
        server.write(f"single v=1 {START}")

        def ask(rank: int, measurement: str = "dozen") -> list[float]:
            return [row[1] for row in server.ask(f"select percentile(v, {rank}) from {measurement}")]

        expect([ask(rank) for rank in (4, 5, 50, 95, 99)], [[], [1], [6], [11], [12]], "percentiles of 1..12")
        expect([ask(rank, "single") for rank in (49, 50)], [[], [1]], "percentiles of one sample")
        expect(server.ask("select median(v) from dozen")[0][1], 6.5, "the median of 1..12")


if __name__ == "__main__":
    run_finding(probe)
