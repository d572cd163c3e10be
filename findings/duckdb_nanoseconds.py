"""DuckDB rounds a time of nanoseconds when it is cast, and truncates the same time when it is read as text.

DuckDB 2.0.0. Guess: one rule, truncation, so that no time moves into the future. A cast from TIMESTAMP_NS rounds to
the nearest microsecond, as does the reader of Unix times; text, in SQL or a CSV file, loses its last digits. The
same instant from two sources is two instants, and a join on the time finds nothing.

Seen, of 10:00:00.123456789: cast .123457, text .123456, CSV .123456; of 10:00:00.9996 to whole seconds: 10:00:01
"""

from pathlib import Path

from common import expect, run_finding, use_python_packages


def probe(folder: Path) -> None:
    """Give DuckDB one instant in three ways."""
    use_python_packages(folder, "duckdb==2.0.0")
    import duckdb

    connection = duckdb.connect()
    (folder / "times.csv").write_text("time,value\n2026-01-02 10:00:00.123456789,1\n", "utf-8")

    def ask(expression: str, source: str = "") -> object:
        row = connection.execute(f"select ({expression})::varchar {source}").fetchone()
        return row[0] if row else None

    text = "2026-01-02 10:00:00.123456789"
    expect(ask(f"timestamp_ns '{text}'::timestamp"), "2026-01-02 10:00:00.123457", "cast from nanoseconds")
    expect(ask(f"timestamp '{text}'"), "2026-01-02 10:00:00.123456", "read as text")
    expect(ask("epoch_us(time) % 1000000", f"from '{folder}/times.csv'"), "123456", "microseconds read from CSV")
    expect(ask(f"timestamp_ns '{text}'::timestamp = timestamp '{text}'"), "false", "whether the two are one instant")
    expect(ask("timestamp '2026-01-02 10:00:00.9996'::timestamp_s"), "2026-01-02 10:00:01", "cast to whole seconds")


if __name__ == "__main__":
    run_finding(probe)
