"""A response time above the largest that a HdrHistogram tracks is dropped: no error, no count, no maximum.

hdrhistogram 0.10.8 for Python. Guess: it raises an error, as in Java, or counts as the largest. `record_value` returns
False, and the time is in no count: of nine requests of 10 ms and one of two hours, with an hour as the limit, all took
10 ms, and there were nine. Fractions are cut: 1.9 ms is 1. Within a step the standard deviation is 0: of 1,000 to 1,003
with two digits the mean is 1,002 and the deviation 0.

Seen: False; 9 values, maximum and 99.9th percentile 10; 1.9 is 1; mean 1002.0, deviation 0.0
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Record times beyond the range, with fractions, and within a step."""
    use_python_packages(folder, "hdrhistogram==0.10.8")
    from hdrh.histogram import HdrHistogram

    hour_ms = 3_600_000
    limited = HdrHistogram(1, hour_ms, 2)
    for _ in range(9):
        limited.record_value(10)
    expect(limited.record_value(2 * hour_ms), False, "what recording two hours returns")
    figures = limited.get_total_count(), limited.get_max_value(), limited.get_value_at_percentile(99.9)
    expect(figures, (9, 10, 10), "count, maximum and 99.9th percentile")
    fractions = HdrHistogram(1, hour_ms, 2)
    fractions.record_value(1.9)
    expect(fractions.get_max_value(), 1, "maximum of 1.9")
    step = HdrHistogram(1, hour_ms, 2)
    for value in (1000, 1001, 1002, 1003):
        step.record_value(value)
    expect((step.get_mean_value(), step.get_stddev()), (1002.0, 0.0), "mean and standard deviation of 1000 to 1003")


if __name__ == "__main__":
    run_finding(probe)
