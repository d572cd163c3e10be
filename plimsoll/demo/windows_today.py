"""A current physical server with the counters that current limits use; in trouble it crosses them all."""

from datetime import datetime

from plimsoll.demo.tables import Breach, Combined, Counter, Host, Points, System, between
from plimsoll.demo.writers import ZONE, pdh

HOST = "APPSRV01"
PROCESSORS = 8
MEMORY_MB = 32768
LINK = 10_000_000_000  # bit/s
PERCENT = LINK / 8 / 100  # bytes/s
FROM_S, TO_S, END_S = 600, 1320, 2400  # start and end of the trouble, end of the run
MINUTE = 60
WINDOW_S = 5 * MINUTE  # window of most rules; others use a minute

CPU = "\\Processor Information"
ADAPTER = "\\Network Interface(Intel[R] Ethernet Controller X710 for 10GbE SFP+)\\"
TUNNEL = "\\Network Interface(isatap.corp.example.com)\\"  # virtual: its speed is invented
SYSTEM_DISK, DATA_DISK = "\\PhysicalDisk(0 C:)\\", "\\PhysicalDisk(1 D:)\\"
SYSTEM_VOLUME, DATA_VOLUME = "\\LogicalDisk(C:)\\", "\\LogicalDisk(D:)\\"
RECOVERY = "\\LogicalDisk(HarddiskVolume1)\\"  # nearly full by design
EACH = tuple(f"{CPU}(0,{number})\\% Processor Time" for number in range(PROCESSORS))

# The levels of counters that change, in the healthy run and in trouble.
QUIET = {
    CPU + "(_Total)\\% Privileged Time": 7.0,
    "\\System\\Processor Queue Length": 1.0,
    "\\Memory\\Available MBytes": 14_200.0,
    "\\Memory\\% Committed Bytes In Use": 46.0,
    "\\Memory\\Pages/sec": 40.0,
    DATA_DISK + "Avg. Disk sec/Read": 0.0011,
    DATA_DISK + "Avg. Disk sec/Write": 0.0014,
    DATA_DISK + "Avg. Disk sec/Transfer": 0.0012,
    DATA_DISK + "Avg. Disk Queue Length": 0.6,
    ADAPTER + "Bytes Sent/sec": 6 * PERCENT,
    ADAPTER + "Bytes Received/sec": 4 * PERCENT,
    ADAPTER + "Output Queue Length": 0.0,
}
TROUBLE = {
    CPU + "(_Total)\\% Privileged Time": 60.0,
    "\\System\\Processor Queue Length": 120.0,
    "\\Memory\\Available MBytes": 310.0,
    "\\Memory\\% Committed Bytes In Use": 97.0,
    "\\Memory\\Pages/sec": 3200.0,
    DATA_DISK + "Avg. Disk sec/Read": 0.085,
    DATA_DISK + "Avg. Disk sec/Write": 0.11,
    DATA_DISK + "Avg. Disk sec/Transfer": 0.095,
    DATA_DISK + "Avg. Disk Queue Length": 8.0,
    ADAPTER + "Bytes Sent/sec": 95 * PERCENT,
    ADAPTER + "Bytes Received/sec": 90 * PERCENT,
    ADAPTER + "Output Queue Length": 7.0,
}
CPU_QUIET, CPU_TROUBLE = 24.0, 96.5
FREE_QUIET, FREE_TROUBLE = 31.0, 2.0  # % of the data volume
DATA_MB = 200_000  # size of the data volume
GAUGES = (
    "\\System\\Processor Queue Length",
    "\\Memory\\Available MBytes",
    ADAPTER + "Output Queue Length",
)


def _counter(path: str) -> Counter:
    """A counter that changes in trouble, with its healthy level."""
    kind = "gauge" if path in GAUGES else "fraction" if path.endswith("In Use") else "interval"
    return Counter(path, QUIET[path], kind, 0.02 if path.startswith("\\Memory\\A") else 0.1)


def _still(path: str, level: float, spread: float = 0.1) -> Counter:
    return Counter(path, level, spread=spread)


def _trouble(path: str) -> Points:
    return between(FROM_S, TO_S, TROUBLE[path], QUIET[path])


def _crossed(
    rule: str, path: str, limit: float, why: str, instance: str | None = None, window: int = WINDOW_S
) -> Breach:
    """The breach of a rule on the mean over its window; the limit is in the unit of the counter."""
    return _mean(rule, QUIET[path], TROUBLE[path], limit, why, instance, window)


def _mean(
    rule: str, quiet: float, trouble: float, limit: float, why: str, instance: str | None = None, window: int = WINDOW_S
) -> Breach:
    share = (limit - quiet) / (trouble - quiet)
    return Breach(rule, HOST, instance, FROM_S + round(share * window), TO_S + round((1 - share) * window), why)


PRIVILEGED = CPU + "(_Total)\\% Privileged Time"
QUEUE, AVAILABLE = "\\System\\Processor Queue Length", "\\Memory\\Available MBytes"
COMMITTED, PAGES = "\\Memory\\% Committed Bytes In Use", "\\Memory\\Pages/sec"
READ, WRITE = DATA_DISK + "Avg. Disk sec/Read", DATA_DISK + "Avg. Disk sec/Write"
TRANSFER, DISK_QUEUE = DATA_DISK + "Avg. Disk sec/Transfer", DATA_DISK + "Avg. Disk Queue Length"
SENT, RECEIVED = ADAPTER + "Bytes Sent/sec", ADAPTER + "Bytes Received/sec"
OUTPUT_QUEUE, SEND_ERRORS = ADAPTER + "Output Queue Length", ADAPTER + "Packets Outbound Errors"
FREE = DATA_VOLUME + "% Free Space"
DISK, NIC = "1 D:", "Intel[R] Ethernet Controller X710 for 10GbE SFP+"

BREACHES = (
    _mean("cpu-busy", CPU_QUIET, CPU_TROUBLE, 80, "96 % of all processors", window=MINUTE),
    _mean("windows-cpu-busy-critical", CPU_QUIET, CPU_TROUBLE, 90, "96 % of all processors", window=MINUTE),
    *(_mean("processor-busy", CPU_QUIET, CPU_TROUBLE, 80, "96 % of each", f"0,{one}") for one in range(PROCESSORS)),
    _crossed("windows-privileged-time", PRIVILEGED, 30, "60 % in the kernel", window=MINUTE),
    _crossed("windows-privileged-time-critical", PRIVILEGED, 50, "60 % in the kernel", window=MINUTE),
    # The processors' 5 min mean crosses its limit last.
    *(
        _mean(f"windows-processor-queue{level}", CPU_QUIET, CPU_TROUBLE, 80, "15 threads wait for each processor")
        for level in ("", "-critical")
    ),
    _crossed("windows-memory-available-share", AVAILABLE, MEMORY_MB / 10, "310 MB of 32 GB are available"),
    _crossed("windows-memory-available-share-critical", AVAILABLE, MEMORY_MB / 20, "310 MB of 32 GB are available"),
    _crossed("windows-memory-available", AVAILABLE, 1000, "310 MB are available"),
    _crossed("windows-memory-available-critical", AVAILABLE, 500, "310 MB are available"),
    _crossed("windows-memory-committed", COMMITTED, 80, "97 % of the commit limit"),
    _crossed("windows-memory-committed-critical", COMMITTED, 90, "97 % of the commit limit"),
    _crossed("windows-paging-share", AVAILABLE, MEMORY_MB / 10, "3,200 pages/s while memory is short"),
    _crossed("windows-paging", AVAILABLE, 1000, "3,200 pages/s while memory is short"),
    *(
        _crossed(f"windows-disk-{way}-latency{level}", path, limit, f"{why} a {way}", DISK, MINUTE)
        for way, path, why in (("read", READ, "85 ms"), ("write", WRITE, "110 ms"))
        for level, limit in (("", 0.025), ("-critical", 0.05))
    ),
    _crossed("windows-disk-overwhelmed", TRANSFER, 0.015, "95 ms a transfer, 8 outstanding", DISK, MINUTE),
    _crossed("windows-disk-overwhelmed-critical", TRANSFER, 0.035, "95 ms a transfer, 8 outstanding", DISK, MINUTE),
    _crossed("disk-queue-per-spindle", DISK_QUEUE, 3, "8 outstanding; 3 for a spindle", DISK, MINUTE),
    Breach("windows-disk-free", HOST, "D:", FROM_S, END_S, "the volume fills up to 98 %: 4,000 MB are left"),
    Breach("windows-disk-free-critical", HOST, "D:", FROM_S, END_S, "the volume fills up to 98 %: 4,000 MB are left"),
    *(
        _crossed(f"windows-network-{way}{level}", path, limit * PERCENT, f"{why} of the link", NIC, MINUTE)
        for way, path, why in (("sent", SENT, "95 %"), ("received", RECEIVED, "90 %"))
        for level, limit in (("", 50), ("-critical", 80))
    ),
    _crossed("windows-network-output-queue", OUTPUT_QUEUE, 2, "7 packets wait to be sent", NIC, MINUTE),
    Breach("windows-network-outbound-errors", HOST, NIC, 912, 1548, "10 packets a second could not be sent; 2 at most"),
    Breach("network-errors", HOST, NIC, 915, 2085, "6,000 packets could not be sent; one is allowed in 10 minutes"),
)

WINDOWS_TODAY = System(
    folder="windows-today",
    title="Windows of today",
    document="Scenario guide: Troubleshoot performance problems in Windows (Microsoft, 2024-08-14)",
    start=datetime(2026, 1, 20, 10, 0, tzinfo=ZONE),
    minutes=END_S // MINUTE,
    interval_s=15,
    steady_from_s=300,
    hosts=(
        Host(
            HOST,
            processors=PROCESSORS,
            clock_mhz=3000,
            memory_mb=MEMORY_MB,
            counters=(
                *(Counter(path, CPU_QUIET, "percent", 0.1) for path in EACH),
                Combined(CPU + "(_Total)\\% Processor Time", EACH, mean=True),
                _counter(PRIVILEGED),
                _still(CPU + "(_Total)\\% Interrupt Time", 0.4),
                _still(CPU + "(_Total)\\% DPC Time", 0.7),
                _still("\\Process(w3wp)\\% Processor Time", 150),
                _still("\\Process(Idle)\\% Processor Time", 600),
                _still("\\System\\Context Switches/sec", 9200),
                _counter(QUEUE),
                Counter("\\System\\System Up Time", ((0, 1_200_000), (END_S, 1_200_000 + END_S)), "gauge", 0),
                Counter("\\Windows Time Service\\Computed Time Offset", 900, "gauge", 0.5),  # microseconds
                _counter(AVAILABLE),
                _counter(COMMITTED),
                _counter(PAGES),
                Counter("\\Paging File(_Total)\\% Usage", 6, "fraction", 0.05),
                *(
                    counter
                    for disk in (SYSTEM_DISK, DATA_DISK)
                    for counter in (
                        _still(disk + "Disk Reads/sec", 24),
                        _still(disk + "Disk Writes/sec", 14),
                        Counter(disk + "% Idle Time", 78, "percent"),
                    )
                ),
                *(_counter(path) for path in (READ, WRITE, TRANSFER, DISK_QUEUE)),
                _still(SYSTEM_DISK + "Avg. Disk sec/Read", 0.0006),
                _still(SYSTEM_DISK + "Avg. Disk sec/Write", 0.0007),
                _still(SYSTEM_DISK + "Avg. Disk sec/Transfer", 0.0006),
                _still(SYSTEM_DISK + "Avg. Disk Queue Length", 0.2),
                Counter(SYSTEM_VOLUME + "% Free Space", 44, "fraction", 0.001),
                Counter(SYSTEM_VOLUME + "Free Megabytes", 102_000, "gauge", 0.001),
                Counter(FREE, FREE_QUIET, "fraction", 0.001),
                Counter(DATA_VOLUME + "Free Megabytes", FREE_QUIET / 100 * DATA_MB, "gauge", 0.001),
                Counter(RECOVERY + "% Free Space", 4, "fraction", 0),
                Counter(RECOVERY + "Free Megabytes", 19, "gauge", 0),
                *(_counter(path) for path in (SENT, RECEIVED, OUTPUT_QUEUE)),
                Counter(ADAPTER + "Current Bandwidth", LINK, "gauge", 0),
                _still(ADAPTER + "Packets Sent/sec", 60_000),
                _still(ADAPTER + "Packets Received/sec", 42_000),
                Counter(SEND_ERRORS, 3, "gauge", 0),  # earlier errors: only new ones count, by their rate
                *(
                    Counter(ADAPTER + name, 0, "gauge", 0)
                    for name in ("Packets Received Errors", "Packets Outbound Discarded", "Packets Received Discarded")
                ),
                Counter(TUNNEL + "Bytes Sent/sec", 9000, spread=0),
                Counter(TUNNEL + "Bytes Received/sec", 0, spread=0),
                Counter(TUNNEL + "Current Bandwidth", 100_000, "gauge", 0),
                Counter(TUNNEL + "Packets Outbound Errors", ((0, 0), (END_S, 40)), "gauge", 0),
            ),
        ),
    ),
    changes={
        **{(HOST, path): between(FROM_S, TO_S, CPU_TROUBLE, CPU_QUIET) for path in EACH},
        **{(HOST, path): _trouble(path) for path in TROUBLE},
        (HOST, FREE): ((FROM_S - 1, FREE_QUIET), (FROM_S, FREE_TROUBLE), (END_S, FREE_TROUBLE)),
        (HOST, DATA_VOLUME + "Free Megabytes"): (
            (FROM_S - 1, FREE_QUIET / 100 * DATA_MB),
            (FROM_S, FREE_TROUBLE / 100 * DATA_MB),
            (END_S, FREE_TROUBLE / 100 * DATA_MB),
        ),
        (HOST, SEND_ERRORS): ((900, 3), (1500, 6003), (END_S, 6003)),
    },
    breaches=BREACHES,
    write=pdh,
)
