"""The maximum of a column with NaN is another one by which function is asked.

polars 2.1.0, DuckDB 2.0.0, pyarrow 26.0.1. Guess: NaN is ignored everywhere, or spreads everywhere. polars' `max`
ignores it, `rolling_max` gives it, `quantile` takes it for the greatest number; DuckDB's `max` gives it and its
`avg` spreads it; pyarrow's `max` ignores it. A reading that "has no value" has to be null before any of them.

Seen, of 1, NaN, 2:
    polars max 2.0, rolling_max(3) NaN, quantile(1.0) NaN, quantile(0.5) 2.0, mean NaN
    DuckDB max nan, quantile_cont(0.5) 2.0; pyarrow max 2.0
"""

import math
from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Ask three libraries for the greatest of three values."""
    use_python_packages(folder, "polars==2.1.0", "duckdb==2.0.0", "pyarrow==26.0.1")
    import duckdb
    import polars
    import pyarrow.compute

    values = [1.0, math.nan, 2.0]
    column = polars.Series(values)
    shown = [column.max(), column.rolling_max(3)[2], column.quantile(1.0), column.quantile(0.5), column.mean()]
    expect(str(shown), "[2.0, nan, nan, 2.0, nan]", "polars' max, rolling_max, quantile 1, quantile 0.5, mean")
    duck = duckdb.execute("select max(x), quantile_cont(x, 0.5) from (select unnest($1::double[]) as x)", [values])
    expect(str(duck.fetchone()), "(nan, 2.0)", "DuckDB's max and median")
    expect(pyarrow.compute.call_function("max", [pyarrow.array(values)]).as_py(), 2.0, "pyarrow's max")


if __name__ == "__main__":
    run_finding(probe)
