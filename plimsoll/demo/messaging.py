"""A front end of the messaging system and its SQL Server, for an hour; `demo.ocs` simulates them in more detail."""

from datetime import datetime

from plimsoll.demo.study import CORES, FRONT_END_CPU, SQL_CPU
from plimsoll.demo.tables import Array, Breach, Combined, Counter, Host, Points, System, between
from plimsoll.demo.windows import MB, NIC
from plimsoll.demo.writers import ZONE, pdh

FRONT_END, SQL = "MSGFE01", "MSGSQL01"
STEADY_FROM_S = 1500
EACH = tuple(f"\\Processor({number})\\% Processor Time" for number in range(CORES))
CPU = Combined("\\Processor(_Total)\\% Processor Time", EACH, mean=True)
SWITCHES = "\\System\\Context Switches/sec"
ADAPTER = f"\\Network Interface({NIC})\\"
STORE = "\\LC:USrv - 00 - DBStore\\USrv - "
QUEUE, SPROC = STORE + "002 - Queue Latency (msec)", STORE + "004 - Sproc Latency (msec)"
REFUSED = "\\LC:SIP - 04 - Responses\\SIP - 051 - Local 503 Responses/sec"
PEER = "\\LC:SIP - 01 - Peers(Clients)\\"
PAGE_LIFE = "\\SQLServer:Buffer Manager\\Page life expectancy"
READS = "\\PhysicalDisk(2 E:)\\Disk Reads/sec"


def _then(ramp: float, steady: float) -> Points:
    """One level while users log on, another in steady state."""
    return ((STEADY_FROM_S - 60, ramp), (STEADY_FROM_S, steady))


def _network(rate: float) -> tuple[Counter, ...]:
    return (
        Counter(ADAPTER + "Bytes Total/sec", rate, spread=0.1),
        Counter(ADAPTER + "Packets Outbound Errors", 0, "gauge"),
        Counter(ADAPTER + "Packets Received Errors", 0, "gauge"),
    )


MESSAGING = System(
    folder="messaging",
    title="Messaging",
    document="OCS 2007 on HP BladeSystem",
    start=datetime(2008, 1, 15, 10, 0, tzinfo=ZONE),
    minutes=60,
    interval_s=15,
    steady_from_s=STEADY_FROM_S,
    hosts=(
        Host(
            FRONT_END,
            processors=CORES,
            clock_mhz=2800,
            memory_mb=4096,  # Test topology
            counters=(
                *(Counter(path, _then(FRONT_END_CPU.ramp, FRONT_END_CPU.steady), "percent", 0.15) for path in EACH),
                CPU,
                Counter(SWITCHES, _then(2900, 6400), spread=0.08),  # as in plimsoll.demo.ocs
                Counter(QUEUE, _then(9, 5), spread=0.2),  # as in plimsoll.demo.study, with 8 GB
                Counter(SPROC, _then(14, 8), spread=0.2),
                Counter(
                    "\\LC:SIP - 07 - Load Management\\SIP - 000 - Average Holding Time For Incoming Messages",
                    _then(0.12, 0.05),
                    spread=0.3,
                ),
                # Messages may wait and be refused while users log on: only the steady state counts (counter table).
                Counter(REFUSED, between(600, 630, 0.2, 0), spread=0),
                Counter("\\LC:SIP - 04 - Responses\\SIP - 053 - Local 504 Responses/sec", 0),
                Counter(PEER + "SIP - 000 - Connections Active", ((0, 0), (840, 7500)), "gauge", 0.002),
                Counter(PEER + "SIP - 017 - Sends Outstanding", between(645, 645, 3, 0), "gauge", 0),
                Counter(PEER + "Flow Controlled Connections", 0, "gauge"),
                Counter("\\Memory\\Available Bytes", 2300 * MB, "gauge", 0.01),
                *_network(1.6e6),
            ),
        ),
        Host(
            SQL,
            processors=CORES,
            clock_mhz=2800,
            memory_mb=8192,  # Test topology
            counters=(
                *(Counter(path, _then(SQL_CPU.ramp, SQL_CPU.steady), "percent", 0.1) for path in EACH),
                CPU,
                Counter(SWITCHES, _then(9200, 5200), spread=0.08),  # as in plimsoll.demo.ocs
                Counter(PAGE_LIFE, ((0, 2400), (3600, 6000)), "gauge", 0),  # started 40 minutes before: figure 9
                Counter("\\SQLServer:Buffer Manager\\Buffer cache hit ratio", 99.8, "fraction", 0.0005),
                Counter("\\SQLServer:General Statistics\\User Connections", 220, "gauge", 0.02),
                Counter("\\SQLServer:SQL Statistics\\Batch Requests/sec", _then(1450, 720), spread=0.06),
                Counter(READS, _then(12, 0.5), spread=0.2),  # tapers to near zero: figure 9
                Counter("\\PhysicalDisk(2 E:)\\Disk Writes/sec", 32, spread=0.5),  # mean of all samples: Test results
                Counter("\\PhysicalDisk(2 E:)\\Avg. Disk sec/Write", 0.0025, spread=0.3),  # the same
                Counter("\\PhysicalDisk(2 E:)\\Avg. Disk Queue Length", 0.2, spread=0.5),
                Counter("\\Memory\\Available Bytes", 900 * MB, "gauge", 0.02),
                *_network(1.4e6),
            ),
            disks={"2 E:": Array(4, "database")},
        ),
    ),
    changes={
        # Another program on the SQL Server takes its memory, so pages are evicted and read again; figure 10 shows reads
        # near 50/s.
        (SQL, PAGE_LIFE): ((0, 2400), (1800, 4200), (2100, 900), (3600, 1050)),
        (SQL, READS): ((1440, 12), (1500, 0.5), (1800, 0.5), (2100, 38)),
        (SQL, "\\Memory\\Available Bytes"): ((1800, 900 * MB), (2100, 60 * MB)),
        (FRONT_END, QUEUE): ((1440, 9), (1500, 5), *between(2400, 2880, 180, 5)),
        (FRONT_END, SPROC): ((1440, 14), (1500, 8), *between(2400, 2880, 70, 8)),
        (FRONT_END, REFUSED): (*between(600, 630, 0.2, 0), *between(2700, 2790, 0.4, 0)),
    },
    breaches=(
        Breach("sql-page-life-expectancy", SQL, None, 1885, 3600, "falls from 4,200 s to 900 s within five minutes"),
        Breach("sql-database-reads", SQL, "2 E:", 1910, 3600, "rise from 0.5 to 38/s; 10 at most"),
        Breach("sql-database-reads-and-page-life", SQL, "2 E:", 1910, 3600, "the same, while pages live short"),
        # The fall takes 5 minutes, so the 5 min mean reaches the limits 130, 295 and 325 s after it begins.
        Breach("windows-memory-available-share", SQL, None, 1930, 3600, "60 MB of 8 GB are left; a tenth, at least"),
        Breach("windows-memory-available-critical", SQL, None, 2095, 3600, "60 MB are left; 500, at least"),
        Breach("windows-memory-available-share-critical", SQL, None, 2125, 3600, "60 MB of 8 GB are left"),
        Breach("messaging-db-queue-latency", FRONT_END, None, 2435, 2905, "180 ms, which the slower database brings"),
        Breach("messaging-local-503", FRONT_END, None, 2700, 2850, "requests refused for a minute and a half"),
    ),
    write=pdh,
)
