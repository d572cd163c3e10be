"""DuckDB turns 2.5 into 3 or into 2, by whether the literal is a decimal or a double.

DuckDB 2.0.0. Guess: a cast to INTEGER truncates, as in C and Python, or rounds half up as `round` does. A cast of a
DECIMAL rounds half away from zero, a cast of a DOUBLE half to even, and `2.5` in SQL is a DECIMAL while a column of
a CSV or Parquet file is a DOUBLE: the query that was tried with a literal buckets the column differently. `round`
rounds both away from zero.

Seen: 2.5::int 3, 2.5::double::int 2, 3.5::double::int 4, round(2.5::double) 3.0, '2.5'::int 3
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Cast the same number from its three types."""
    use_python_packages(folder, "duckdb==2.0.0")
    import duckdb

    casts = duckdb.connect().execute(
        "select 2.5::int, 2.5::double::int, 3.5::double::int, round(2.5::double), '2.5'::int, (-2.5)::int"
    )
    expect(casts.fetchone(), (3, 2, 4, 3.0, 3, -3), "decimal, double, double 3.5, round, text, negative decimal")


if __name__ == "__main__":
    run_finding(probe)
