"""Locust's percentiles are of rounded times, and its median is often its minimum.

Locust 2.47.0. Guess: percentiles are some of the response times. Times are rounded to two digits before they are
counted, from 100 ms on: 1,449 ms is 1,400, and so is the "100%" of a run whose Max Response Time is 1,449. A limit
of 1,400 ms on a percentile is kept by responses of up to 1,450. Halves go to the even digit: 1,450 is 1,400 and 1,550
is 1,600. The median is then clipped to lie between minimum and maximum, and becomes the minimum wherever the times
lie close together above a rounded one: of 151.4, 152.8 and 153.9 it is 151.4.

Seen: "100%" 1400, Max 1449; 1400 for 1450, 1600 for 1550; median 151.4
"""

from pathlib import Path
from typing import Any

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Count response times as Locust does."""
    use_python_packages(folder, "locust==2.47.0")
    from locust.stats import RequestStats

    def entry(*times_ms: float) -> Any:
        stats = RequestStats()
        for time_ms in times_ms:
            stats.log_request("GET", "/", time_ms, 0)
        return stats.get("/", "GET")

    slow = entry(1449.0)
    expect((slow.get_response_time_percentile(1), slow.max_response_time), (1400, 1449.0), "100% and the maximum")
    halves = [entry(time_ms).get_response_time_percentile(1) for time_ms in (1450.0, 1550.0)]
    expect(halves, [1400, 1600], "percentiles of 1,450 and 1,550 ms")
    expect(entry(151.4, 152.8, 153.9).median_response_time, 151.4, "the median of 151.4, 152.8 and 153.9 ms")


if __name__ == "__main__":
    run_finding(probe)
