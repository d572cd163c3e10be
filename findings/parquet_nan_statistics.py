"""DuckDB leaves NaN rows of a Parquet file out: `isnan(x)` finds none, and `x > 100` neither.

DuckDB 2.0.0 over files of pyarrow 26.0.1 and polars 2.1.0. Guess: a filter finds the same rows in a file as in a
table, where DuckDB takes NaN for greater than every number. But the writers leave NaN out of a row group's minimum
and maximum, as Parquet asks them to, and DuckDB skips a row group whose maximum is too small. Of pyarrow's file
`max(x)` is read off the statistics too. DuckDB's own files of such a column have no minimum and maximum, so that
they are read in full. polars finds the row.

Seen, of a column 1, 2, NaN:
    table            isnan 1 row, x > 100 1 row,  max nan
    pyarrow's file   isnan 0 rows, x > 100 0 rows, max 2.0
    polars' file     isnan 0 rows, x > 100 0 rows, max 2.0
    DuckDB's file    isnan 1 row, x > 100 1 row,  max nan
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Ask DuckDB for the NaN of a column in a table and in the files of three writers."""
    use_python_packages(folder, "duckdb==2.0.0", "pyarrow==26.0.1", "polars==2.1.0")
    import duckdb
    import polars
    import pyarrow
    import pyarrow.parquet

    values = [1.0, 2.0, float("nan")]
    connection = duckdb.connect()
    connection.execute("create table t as select unnest([1.0::double, 2.0, 'nan'::double]) as x")
    pyarrow.parquet.write_table(pyarrow.table({"x": values}), folder / "pyarrow.parquet")
    polars.DataFrame({"x": values}).write_parquet(folder / "polars.parquet")
    connection.execute(f"copy t to '{folder}/duckdb.parquet' (format parquet)")

    def ask(source: str) -> tuple[object, ...]:
        queries = ("count(*) from {} where isnan(x)", "count(*) from {} where x > 100", "max(x)::varchar from {}")
        rows = [connection.execute("select " + query.format(source)).fetchone() for query in queries]
        return tuple(row[0] for row in rows if row)

    expect(ask("t"), (1, 1, "nan"), "rows of a table with NaN, above 100, and its maximum")
    expect(ask(f"'{folder}/duckdb.parquet'"), (1, 1, "nan"), "the same of DuckDB's file")
    expect(ask(f"'{folder}/pyarrow.parquet'"), (0, 0, "2.0"), "the same of pyarrow's file")
    expect(ask(f"'{folder}/polars.parquet'"), (0, 0, "nan"), "the same of polars' file")
    lazy = polars.scan_parquet(folder / "pyarrow.parquet").filter(polars.col("x") > 100).collect()
    expect(lazy.height, 1, "rows above 100 that polars finds in pyarrow's file")


if __name__ == "__main__":
    run_finding(probe)
