"""The middle of 1, 2, 3, 4 is 2, 2.5 or 3, by library and by function, each without a setting.

polars 2.1.0, DuckDB 2.0.0, numpy 2.4.6, pyarrow 26.0.1. Guess: linear interpolation, 2.5, as numpy and Excel do.
polars' `quantile` takes the nearest value, and of two equally near the upper one, beside its own `median`; DuckDB's
`quantile` takes the lower one, as does `approx_quantile`. A percentile of few samples, a short run's 95th, differs
by a whole sample.

Seen: numpy 2.5, pyarrow 2.5; polars quantile 3.0, median 2.5; DuckDB quantile 2, quantile_cont 2.5, approx_quantile
2
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Ask four libraries for the middle of four values."""
    use_python_packages(folder, "polars==2.1.0", "duckdb==2.0.0", "numpy==2.4.6", "pyarrow==26.0.1")
    import duckdb
    import numpy
    import polars
    import pyarrow.compute

    values = [1, 2, 3, 4]
    column = polars.Series(values)
    expect(float(numpy.quantile(values, 0.5)), 2.5, "numpy's quantile")
    median = pyarrow.compute.call_function("quantile", [pyarrow.array(values)])
    expect(median.to_pylist(), [2.5], "pyarrow's quantile")
    expect((column.quantile(0.5), column.median()), (3.0, 2.5), "polars' quantile and median")
    duck = duckdb.execute(
        "select quantile(x, 0.5), quantile_cont(x, 0.5), approx_quantile(x, 0.5) from (select unnest([1, 2, 3, 4]) x)"
    )
    expect(duck.fetchone(), (2, 2.5, 2), "DuckDB's quantile, quantile_cont and approx_quantile")


if __name__ == "__main__":
    run_finding(probe)
