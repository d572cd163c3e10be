"""A current SQL Server for an hour: healthy, and while a report reads whole tables."""

from datetime import datetime

from plimsoll.demo.tables import Array, Breach, Counter, Host, Points, System
from plimsoll.demo.windows_host import CORES, INTERVAL_S, MINUTES, volume, windows
from plimsoll.demo.writers import ZONE, pdh

SQL = "SQL01"
END = 60 * MINUTES
TROUBLE_FROM_S = 900
CACHE_PAGES = 12 * 524_288  # 48 GB, so pages should live at least an hour
BUFFER, STATISTICS = "\\SQLServer:Buffer Manager\\", "\\SQLServer:SQL Statistics\\"
MEMORY, LOCKS = "\\SQLServer:Memory Manager\\", "\\SQLServer:Locks(_Total)\\"
LATCHES = "\\SQLServer:Latches\\"
PAGE_LIFE = BUFFER + "Page life expectancy"
READ, WRITE = "\\LogicalDisk(E:)\\Avg. Disk sec/Read", "\\LogicalDisk(L:)\\Avg. Disk sec/Write"
LOG_USED = "\\SQLServer:Databases(Sales)\\Percent Log Used"


def _from(quiet: float, trouble: float) -> Points:
    return ((TROUBLE_FROM_S - 1, quiet), (TROUBLE_FROM_S, trouble))


SQL_SERVER_TODAY = System(
    folder="sql-server-today",
    title="SQL Server of today",
    document="Limits of today: SQL Server",
    start=datetime(2026, 1, 20, 10, 0, tzinfo=ZONE),
    minutes=MINUTES,
    interval_s=INTERVAL_S,
    steady_from_s=300,
    hosts=(
        Host(
            SQL,
            processors=CORES,
            clock_mhz=2900,
            memory_mb=65_536,
            counters=(
                *windows(busy=35, available_mb=9000),
                *volume("C", free_percent=48, free_mb=98_000),
                *volume("E", free_percent=35, free_mb=700_000),
                *volume("L", free_percent=60, free_mb=120_000),
                Counter(PAGE_LIFE, 14_000, "gauge", 0.01),
                Counter(BUFFER + "Database pages", CACHE_PAGES, "gauge", 0.001),
                Counter(BUFFER + "Buffer cache hit ratio", 99.9, "fraction", 0.0005),
                Counter(BUFFER + "Lazy writes/sec", 0.5, spread=0.5),
                Counter(BUFFER + "Free list stalls/sec", 0),
                Counter(BUFFER + "Checkpoint pages/sec", 120, spread=0.5),
                Counter(MEMORY + "Memory Grants Pending", 0, "gauge"),
                Counter(MEMORY + "Target Server Memory (KB)", 54 * 2**20, "gauge", 0),
                Counter(MEMORY + "Total Server Memory (KB)", 54 * 2**20, "gauge", 0),
                Counter(LOCKS + "Number of Deadlocks/sec", 0),
                Counter(LOCKS + "Average Wait Time (ms)", 40, spread=0.3),
                Counter(LOCKS + "Lock Timeouts (timeout > 0)/sec", 0),
                Counter(LOG_USED, 22, "gauge", 0.02),
                Counter("\\SQLServer:Databases(tempdb)\\Percent Log Used", 35, "gauge", 0),
                # No log of a database, so it is not judged.
                Counter("\\SQLServer:Databases(_Total)\\Percent Log Used", 95, "gauge", 0),
                Counter(STATISTICS + "Batch Requests/sec", 2400, spread=0.06),
                Counter(STATISTICS + "SQL Compilations/sec", 60, spread=0.1),
                Counter(STATISTICS + "SQL Re-Compilations/sec", 1, spread=0.1),
                Counter(LATCHES + "Latch Waits/sec", 90, spread=0.1),
                Counter(LATCHES + "Total Latch Wait Time (ms)", 150, spread=0.1),
                Counter("\\SQLServer:General Statistics\\User Connections", 240, "gauge", 0.02),
            ),
            disks={"E:": Array(8, "database"), "L:": Array(4, "log")},
        ),
    ),
    changes={
        # A report reads whole tables: pages are evicted as fast as they are read, the disk is slow, and other
        # queries wait for its locks.
        (SQL, PAGE_LIFE): _from(14_000, 90),
        (SQL, BUFFER + "Lazy writes/sec"): _from(0.5, 260),
        (SQL, BUFFER + "Free list stalls/sec"): _from(0, 14),
        (SQL, MEMORY + "Memory Grants Pending"): _from(0, 12),
        (SQL, READ): _from(0.003, 0.16),
        (SQL, WRITE): _from(0.002, 0.13),
        (SQL, LOCKS + "Number of Deadlocks/sec"): _from(0, 0.2),
        (SQL, LOCKS + "Average Wait Time (ms)"): _from(40, 4200),
        (SQL, LOG_USED): _from(22, 97),  # held by the oldest transaction
        (SQL, LATCHES + "Total Latch Wait Time (ms)"): _from(150, 9000),
    },
    breaches=(
        Breach("sql-page-life-expectancy", SQL, None, 945, END, "from 14,000 s to 90 s; above 3,600 s"),
        Breach("sql-page-life-for-cache", SQL, None, 1800, END, "90 s for 48 GB of cache; 3,600 s at least"),
        Breach("sql-page-life-critical", SQL, None, 1800, END, "90 s, for a quarter of an hour; 300 s at least"),
        Breach("sql-memory-grants-pending", SQL, None, 960, END, "12 queries wait for memory; none should"),
        Breach("sql-lazy-writes", SQL, None, 925, END, "260/s; 20/s at most"),
        Breach("sql-free-list-stalls", SQL, None, 945, END, "14/s; 2/s at most"),
        Breach("sql-read-latency", SQL, "E:", 905, END, "160 ms; 15 ms at most"),
        Breach("sql-read-latency-critical", SQL, "E:", 940, END, "160 ms; 100 ms at most"),
        Breach("sql-write-latency", SQL, "L:", 905, END, "130 ms; 15 ms at most"),
        Breach("sql-write-latency-critical", SQL, "L:", 945, END, "130 ms; 100 ms at most"),
        Breach("windows-disk-read-latency", SQL, "E:", 905, END, "160 ms; 25 ms at most, on any disk"),
        Breach("windows-disk-read-latency-critical", SQL, "E:", 920, END, "160 ms; 50 ms at most, on any disk"),
        Breach("windows-disk-write-latency", SQL, "L:", 905, END, "130 ms; 25 ms at most, on any disk"),
        Breach("windows-disk-write-latency-critical", SQL, "L:", 920, END, "130 ms; 50 ms at most, on any disk"),
        Breach("sql-deadlocks", SQL, None, 950, END, "one every 5 s; 10 in 5 min at most"),
        Breach("sql-lock-wait-time", SQL, None, 935, END, "4.2 s; 500 ms at most"),
        Breach("sql-log-used", SQL, "Sales", 1200, END, "97 % for at least 5 minutes; 80 % at most"),
        Breach("sql-log-used-critical", SQL, "Sales", 1200, END, "97 % for at least 5 minutes; 90 % at most"),
        Breach("sql-latch-wait", SQL, None, 930, END, "100 ms each; 10 ms at most"),
        Breach("sql-latch-wait-total", SQL, None, 917, END, "8,600 ms a second; 500 ms at most"),
    ),
    write=pdh,
)
