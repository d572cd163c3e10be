"""One node of the clustered file server of the study, for 40 minutes: healthy, and in trouble."""

from datetime import datetime

from plimsoll.demo.tables import Array, Breach, Combined, Counter, Host, System, between
from plimsoll.demo.windows import MB
from plimsoll.demo.writers import ZONE, pdh

HOST = "FILESRV01"
PROCESSORS = ("0", "1", "2", "3")
ARRAYS = {
    "1 E:": Array(10, raid=5),
    "2 F:": Array(10, raid=5),
}  # two of the eight RAID 5 sets of ten disks: hardware table
EACH = tuple(f"\\Processor({number})\\% Processor Time" for number in PROCESSORS)
QUEUES = tuple(f"\\Server Work Queues({number})\\Queue Length" for number in PROCESSORS)
BLOCKING = "\\Server Work Queues(Blocking Queue)\\Queue Length"  # exists besides the numbered ones; there is no total
ADAPTER = "\\Network Interface(Compaq Gigabit)\\"
NONPAGED = "\\Memory\\Pool Nonpaged Bytes"
SENT, RECEIVED = "\\Server\\Bytes Transmitted/sec", "\\Server\\Bytes Received/sec"


def _array(instance: str) -> tuple[Counter, ...]:
    path = f"\\PhysicalDisk({instance})\\"
    return (
        Counter(path + "% Disk Time", 31, "percent", 0.2),
        Counter(path + "Avg. Disk Queue Length", 2.4, spread=0.3),
        Counter(path + "Disk Reads/sec", 110, spread=0.1),
        Counter(path + "Disk Writes/sec", 28, spread=0.1),
    )


FILE_SERVER = System(
    folder="file-server",
    title="File server",
    document="NT 4.0 Enterprise file server",
    start=datetime(1998, 12, 3, 10, 0, tzinfo=ZONE),
    minutes=40,
    interval_s=15,
    steady_from_s=300,
    hosts=(
        Host(
            HOST,
            processors=4,
            clock_mhz=400,
            memory_mb=2048,  # hardware table
            counters=(
                *(Counter(path, 45, "percent", 0.1) for path in EACH),
                Combined("\\System\\% Total Processor Time", EACH, mean=True),
                Counter("\\System\\Total Interrupts/sec", 2900, spread=0.1),
                *(Counter(path, 0.4, "gauge", 0.5) for path in QUEUES),
                Counter(BLOCKING, 0, "gauge"),
                Counter(SENT, 14.4e6, spread=0.03),  # 18 MB/s, of which 80 % is sent; at least 15: Project Goals
                Counter(RECEIVED, 3.6e6, spread=0.03),
                Combined("\\Server\\Bytes Total/sec", (SENT, RECEIVED)),
                Counter("\\Server\\Pool Nonpaged Failures", 0, "gauge"),
                Counter("\\Server\\Pool Paged Failures", 0, "gauge"),
                Counter("\\Cache\\Copy Read Hits %", 84, "percent", 0.1),  # goal: 80, Table 2
                Counter("\\Memory\\Cache Bytes", 440 * MB, "gauge", 0.01),  # 512 MB at most: Table 2
                Counter("\\Memory\\Available Bytes", 980 * MB, "gauge", 0.01),
                Counter("\\Memory\\Pages/sec", 60, spread=0.3),
                Counter(NONPAGED, 62 * MB, "gauge", 0.002),
                Counter("\\Memory\\Pool Paged Bytes", 96 * MB, "gauge", 0.002),
                *(counter for instance in ARRAYS for counter in _array(instance)),
                Combined(
                    "\\PhysicalDisk(_Total)\\% Disk Time",
                    tuple(f"\\PhysicalDisk({instance})\\% Disk Time" for instance in ARRAYS),
                    mean=True,
                ),
                # Network and disk bytes match under constant load: Table 2
                Counter("\\PhysicalDisk(_Total)\\Disk Bytes/sec", 18e6, spread=0.02),
                Counter(ADAPTER + "Bytes Total/sec", 18.4e6, spread=0.02),
                Counter(ADAPTER + "Packets Received Errors", 0, "gauge"),
                Counter(ADAPTER + "Packets Outbound Errors", 0, "gauge"),
            ),
            disks=ARRAYS,
        ),
    ),
    changes={
        (HOST, EACH[0]): between(600, 1500, 95, 45),
        (HOST, QUEUES[0]): between(600, 1500, 6, 0.4),
        (HOST, "\\System\\Total Interrupts/sec"): between(600, 1500, 9700, 2900),  # 70 % fewer before: Network Analysis
        (HOST, NONPAGED): ((1200, 62 * MB), (1800, 131 * MB)),
        (HOST, ADAPTER + "Packets Received Errors"): ((1919, 0), (1920, 1), (2099, 1), (2100, 4)),
    },
    breaches=(
        Breach("server-work-queue", HOST, "0", 840, 1532, "6 requests wait for processor 0, which is at 95 %"),
        Breach("processor-busy", HOST, "0", 810, 1590, "95 % of processor 0"),
        Breach("pool-nonpaged", HOST, None, 1710, 2400, "the pool grows from 62 to 131 MB"),
        Breach("network-errors", HOST, "Compaq Gigabit", 2100, 2400, "4 packets arrived damaged; one is allowed"),
    ),
    write=pdh,
)
