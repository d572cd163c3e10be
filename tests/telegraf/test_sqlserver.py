"""sqlserver.conf, as far as it goes without a SQL Server: what passes, and what happens while the server is away."""

from pathlib import Path

import pytest

from plimsoll.rules.load import load_signals
from plimsoll.rules.signal_finder import Finder

TELEGRAF = Path(__file__).parents[2] / "telegraf"
# Rows as the plugin's query returns them: cumulative counts for counters per second, `Total` for `_Total`.
ROWS = [
    ("Buffer Manager", "Page life expectancy", "", 5400),
    ("Buffer Node", "Page life expectancy", "000", 5300),
    ("Buffer Manager", "Buffer cache hit ratio", "", 99.5),
    ("Buffer Manager", "Lazy writes/sec", "", 1200),
    ("Buffer Manager", "Page reads/sec", "", 640000),
    ("Buffer Manager", "Checkpoint pages/sec", "", 88000),
    ("SQL Statistics", "Batch Requests/sec", "", 910000),
    ("SQL Statistics", "SQL Compilations/sec", "", 91000),
    ("General Statistics", "User Connections", "", 42),
    ("General Statistics", "Processes blocked", "", 0),
    ("Buffer Manager", "Database pages", "", 4194304),
    ("Buffer Node", "Database pages", "000", 4194304),
    ("Buffer Manager", "Free list stalls/sec", "", 7),
    ("SQL Statistics", "SQL Re-Compilations/sec", "", 410),
    ("Memory Manager", "Memory Grants Pending", "", 0),
    ("Memory Manager", "Target Server Memory (KB)", "", 33554432),
    ("Memory Manager", "Total Server Memory (KB)", "", 33554432),
    ("Locks", "Number of Deadlocks/sec", "Total", 12),
    ("Locks", "Lock Timeouts/sec", "Total", 340),
    ("Locks", "Lock Timeouts (timeout > 0)/sec", "Total", 34),
    ("Latches", "Latch Waits/sec", "", 51000),
    ("Latches", "Average Latch Wait Time (ms)", "", 99000),
    ("Databases", "Percent Log Used", "payroll", 41),
    ("Databases", "Percent Log Used", "tempdb", 88),
    ("Databases", "Percent Log Used", "Total", 12),
    ("Database Replica", "Log Send Queue", "payroll", 0),
    ("Database Replica", "Recovery Queue", "payroll", 0),
    ("Databases", "Log Growths", "tempdb", 3),
    ("Databases", "Transactions/sec", "Total", 31000),
    ("Databases", "Log Growths", "payroll", 3),
    ("Databases", "Log Shrinks", "payroll", 1),
    ("Databases", "Log Bytes Flushed/sec", "payroll", 88000000),
    ("Database Replica", "Redone Bytes/sec", "payroll", 87000000),
    ("Access Methods", "Forwarded Records/sec", "", 120),
    ("Access Methods", "Full Scans/sec", "", 4100),
    ("Access Methods", "Index Searches/sec", "", 9100000),
    ("Access Methods", "Page Splits/sec", "", 2100),
    ("Access Methods", "FreeSpace Scans/sec", "", 310),
    ("Access Methods", "Workfiles Created/sec", "", 510),
    ("Access Methods", "Worktables Created/sec", "", 710),
    ("Access Methods", "Worktables From Cache Ratio", "", 93),
    ("Access Methods", "Pages Allocated/sec", "", 5100),
    ("Locks", "Lock Wait Time (ms)", "Total", 45000),
    ("SQL Statistics", "SQL Attention rate", "", 14),
    ("Transactions", "Version Generation rate (KB/s)", "", 210),
    ("Transactions", "Version Cleanup rate (KB/s)", "", 190),
    ("Transactions", "Version Store Size (KB)", "", 40960),
]


@pytest.mark.parametrize(("instance", "prefix"), [("SQL1", "SQLServer"), ("SQL1:PAYROLL", "MSSQL$PAYROLL")])
def test_what_signals_take_passes(collect, tmp_path, instance, prefix):
    fed = tmp_path / "fed"
    fed.write_text(
        "".join(
            f"sqlserver_performance,sql_instance={instance},object={prefix}:{object_},counter={counter}".replace(
                " ", r"\ "
            )
            + (f",instance={of}" if of else "")
            + f" value={value} 1000000000\n"
            for object_, counter, of, value in ROWS
        )
    )
    text = (TELEGRAF / "sqlserver.conf").read_text()
    # The filter of sqlserver.conf, on an input whose points are known.
    passed = text[text.index("counter = [") :]
    feed = tmp_path / "feed.conf"
    feed.write_text(f'[[inputs.file]]\nfiles = ["{fed}"]\ndata_format = "influx"\n[inputs.file.tagpass]\n{passed}')
    points, _ = collect(feed)
    series = {item: value for point in points for item, value in point.series().items()}
    signals = load_signals()
    finder = Finder(signals, list(series), lambda item: True)
    result = {
        name: {subject.host for subject, _ in finder.find(name).values()}
        for name, signal in signals.items()
        if any(source.measurement == "sqlserver_performance" for source in signal.sources)
    }
    assert result
    assert {name: hosts for name, hosts in result.items() if hosts != {instance}} == {}
    assert {point.tags["counter"] for point in points} == {
        source.tags["counter"] for name in result for source in signals[name].sources if source.measurement
    }


def test_a_server_that_is_away_is_told_and_the_rest_goes_on(collect, unused_port):
    secret = "Buelk-21"
    away = {"SQLSERVER_CONNECTION": f"Server=127.0.0.1;Port={unused_port};User Id=telegraf;Password={secret};"}
    points, result = collect(TELEGRAF / "linux.conf", TELEGRAF / "sqlserver.conf", seconds=5, variables=away)
    assert "E! [inputs.sqlserver]" in result
    assert secret not in result
    assert {"cpu", "mem"} <= {point.measurement for point in points}
