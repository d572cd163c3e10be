"""Windows of 7 minutes or of a week begin at four different times in DuckDB, polars and InfluxQL.

DuckDB 2.0.0, polars 2.1.0, InfluxDB 1.6.7. Guess: all count from 1970, or all from midnight. DuckDB's `time_bucket`
counts from Monday 2000-01-03 , polars' `truncate` from 1970, but its `1w` from Monday and its `7d` from Thursday
1970-01-01; InfluxQL has Thursday for a week. Windows agree only where their width divides a day, or by luck.

Seen, of Friday 2025-11-28 09:40:
    7 minutes   DuckDB 09:35   polars 09:36   InfluxQL 09:36
    a week      DuckDB Mon 24  polars `1w` Mon 24, `7d` Thu 27   InfluxQL `1w` Thu 27
"""

from datetime import datetime, timedelta
from pathlib import Path

from common import expect, run_finding, use_python_packages
from programs import START, run_influxdb


def probe(folder: Path) -> None:
    """Ask each for the beginning of the window that holds one instant."""
    use_python_packages(folder, "duckdb==2.0.0", "polars==2.1.0")
    import duckdb
    import polars

    instant = datetime(2025, 11, 28, 9, 40)
    times = polars.Series([instant])
    duck = (
        duckdb.connect()
        .execute(
            "select time_bucket(interval 7 minutes, $1::timestamp), time_bucket(interval 7 days, $1::timestamp)",
            [instant],
        )
        .fetchone()
    )
    polars_windows = [times.dt.truncate(width)[0] for width in ("7m", "1w", "7d")]
    with run_influxdb(folder) as server:
        server.write(f"m v=1 {START}")
        span = f"where time >= {START}s and time < {START + 1}s"
        influx = [
            instant + timedelta(seconds=server.ask(f"select max(v) from m {span} group by time({width})")[0][0])
            for width in ("7m", "1w")
        ]

    def day(date: int, hour: int = 0, minute: int = 0) -> datetime:
        return instant.replace(day=date, hour=hour, minute=minute)

    expect(duck, (day(28, 9, 35), day(24)), "DuckDB's windows of 7 minutes and 7 days")
    expect(polars_windows, [day(28, 9, 36), day(24), day(27)], "polars' windows of 7m, 1w and 7d")
    expect(influx, [day(28, 9, 36), day(27)], "InfluxQL's windows of 7m and 1w")


if __name__ == "__main__":
    run_finding(probe)
