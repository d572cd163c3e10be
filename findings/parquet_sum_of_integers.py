"""DuckDB writes a sum of integers to Parquet as floating-point, and the last digit of a large one is lost.

DuckDB 2.0.0, read by pyarrow 26.0.1. Guess: `sum` of a BIGINT is a BIGINT, in the file INT64. It is a HUGEINT, of
128 bits, for which Parquet has no type; DuckDB's writer takes DOUBLE without a word, while a table or a result
keeps all digits. `count(*)` beside it is INT64. A sum of INTEGER is a HUGEINT too.

Seen: sum(BIGINT) HUGEINT 9007199254740993; in the file `double`, 9007199254740992.0
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Write a sum to a file and read it back."""
    use_python_packages(folder, "duckdb==2.0.0", "pyarrow==26.0.1")
    import duckdb
    import pyarrow.parquet

    connection = duckdb.connect()
    connection.execute("create table t as select 9007199254740993::bigint as bytes, 1::integer as small")
    sums = "select sum(bytes) as bytes, sum(small) as small, count(*) as rows from t"
    expect(
        connection.execute(f"select typeof(bytes), bytes from ({sums})").fetchone(),
        ("HUGEINT", 9007199254740993),
        "type and value of the sum",
    )
    connection.execute(f"copy ({sums}) to '{folder}/sums.parquet' (format parquet)")
    table = pyarrow.parquet.read_table(folder / "sums.parquet")
    expect([str(field.type) for field in table.schema], ["double", "double", "int64"], "types in the file")
    expect(table.to_pylist()[0]["bytes"], 9007199254740992.0, "the sum in the file")


if __name__ == "__main__":
    run_finding(probe)
