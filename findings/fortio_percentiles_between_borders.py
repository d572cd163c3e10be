"""fortio's percentiles are drawn between the borders of a histogram, of 1 ms if nothing else is asked for.

fortio 1.63.0. Guess: a percentile is a response time that was measured, or near it. Response times are only counted, in
steps of `-r`, 1 ms, that become wider. A percentile is a point on the line between a step's borders, of which the first
is the shortest time and the last the longest: answers of 0.3 ms have a median above 0.6.

Seen: the median is computed from the counts of the steps to the last digit
"""

import json
from pathlib import Path

from common import expect, install_go_program, output_of, run_finding, serve_pages


def probe(folder: Path) -> None:
    """Compute the median from the steps of the histogram."""
    fortio = install_go_program(folder, "fortio.org/fortio@v1.63.0")
    with serve_pages() as address:
        options = ["load", "-n", "60", "-qps", "0", "-c", "2", "-p", "50", "-json", "-", "-quiet"]
        histogram = json.loads(output_of([fortio, *options, f"{address}/"]))["DurationHistogram"]
    shares = [100 / histogram["Count"], *(step["Percent"] for step in histogram["Data"])]  # first that of the shortest
    position = next(position for position, share in enumerate(shares[1:]) if share >= 50)
    step, below, upto = histogram["Data"][position], shares[position], shares[position + 1]
    drawn = step["Start"] + (50 - below) / (upto - below) * (step["End"] - step["Start"])
    expect(round(histogram["Percentiles"][0]["Value"], 9), round(drawn, 9), "median")
    expect(histogram["Data"][0]["Start"], histogram["Min"], "the first border")
    expect(histogram["Data"][-1]["End"], histogram["Max"], "the last border")


if __name__ == "__main__":
    run_finding(probe)
