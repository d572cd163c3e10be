"""The 99th percentile of four values is the third of them in a DDSketch, the fourth in a KLL sketch and a t-digest.

ddsketch 3.0.1, datasketches 5.2.0. Guess: a sketch that promises 1 % of error gives the 99th percentile of 1, 2, 3, 4
within 1 % of 4, and the median is 2 or 2.5. DDSketch takes the value at the rank q (n - 1), rounded down: its 99th
percentile is 2.97, a quarter below the largest; its median is 1.99. The sketches of datasketches count values
below, not up to: their median is 3 unless `inclusive` is asked for, and `get_rank(2)` is 0.25.

Seen: 1.99 and 2.97; 3.0 and 4.0; inclusive 2.0 and 4.0
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Ask each sketch for the median and the 99th percentile of 1, 2, 3, 4."""
    use_python_packages(folder, "ddsketch==3.0.1", "datasketches==5.2.0")
    from datasketches import kll_doubles_sketch, tdigest_double
    from ddsketch import DDSketch

    counted = DDSketch(relative_accuracy=0.01)
    ranked, digest = kll_doubles_sketch(200), tdigest_double(100)
    for value in (1.0, 2.0, 3.0, 4.0):
        counted.add(value)
        ranked.update(value)
        digest.update(value)
    expect([round(counted.get_quantile_value(share), 2) for share in (0.5, 0.99)], [1.99, 2.97], "DDSketch")
    expect([ranked.get_quantile(share) for share in (0.5, 0.99)], [3.0, 4.0], "KLL sketch")
    expect([ranked.get_quantile(share, True) for share in (0.5, 0.99)], [2.0, 4.0], "KLL sketch, inclusive")
    expect([digest.get_quantile(share) for share in (0.5, 0.99)], [3.0, 4.0], "t-digest")
    expect((ranked.get_rank(2.0), ranked.get_rank(2.0, True)), (0.25, 0.5), "rank of 2")


if __name__ == "__main__":
    run_finding(probe)
