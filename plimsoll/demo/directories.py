"""Two directories of Site Server: the dynamic directory in memory, and the membership directory."""

from datetime import datetime

from plimsoll.demo.tables import Breach, Combined, Counter, Host, Points, System, between
from plimsoll.demo.writers import ZONE, pdh

PROCESSORS = ("0", "1", "2", "3")
EACH = tuple(f"\\Processor({number})\\% Processor Time" for number in PROCESSORS)
CPU = Combined("\\System\\% Total Processor Time", EACH, mean=True)
SWITCHES = "\\System\\Context Switches/sec"
AVAILABLE = "\\Memory\\Available Bytes"

# --- Site Server Dynamic Directory ("DYN" below), 1,000 users of NetMeeting

DYN_HOST = "DYNDIR01"
DYN = "\\Site Server LDAP Service(1)\\"
RECORDS = 1000
MEMORY_KB, BASE_KB, RECORD_KB, CONNECTION_KB = 64 * 1024, 32_768, 5.275, 8.323  # memory equation
CONNECTIONS = 1000
PRIVATE = "\\Process(inetinfo)\\Private Bytes"
# Clients that never close their connections.
LEFT_OPEN: Points = ((1200, CONNECTIONS), (2100, 3000))


def _private(connections: float) -> float:
    return 1024 * (RECORD_KB * RECORDS + CONNECTION_KB * connections)


def _available(connections: float) -> float:
    return 1024 * (MEMORY_KB - BASE_KB) - _private(connections)


def _searched(before: float, loaded: float, switching: float) -> Points:
    return (
        *((300, before), (360, loaded), (600, loaded)),
        *((900, switching), (1500, switching), (1560, loaded)),
    )


DYNAMIC = System(
    folder="dynamic-directory",
    title="Dynamic directory",
    document="Site Server Dynamic Directory",
    start=datetime(1998, 1, 15, 10, 0, tzinfo=ZONE),
    minutes=40,
    interval_s=15,
    steady_from_s=300,
    hosts=(
        Host(
            DYN_HOST,
            processors=4,
            clock_mhz=200,
            memory_mb=64,
            counters=(
                # Table 11, 1,000 users: 40.23 PPEM, of the 800 that four processors have
                *(Counter(path, 5.0, "percent", 0.15) for path in EACH),
                CPU,
                Counter(SWITCHES, 390, spread=0.1),  # Table 11
                Counter(DYN + "Dynamic Search per sec", 2.23),  # Table 11
                Counter(DYN + "Dynamic Add per sec", 1.102, spread=0.2),  # Table 11
                Counter(DYN + "Dynamic Modify per sec", 1.398, spread=0.2),  # Table 11
                Counter(DYN + "Dynamic delete per sec", 1.116, spread=0.2),  # Table 11
                Counter(DYN + "Bytes Sent/sec", 190_606),  # Table 11
                Counter(DYN + "Bytes Received/sec", 1117),  # Table 11
                Counter(DYN + "Connection Current", CONNECTIONS, "gauge", 0.01),
                Counter(PRIVATE, _private(CONNECTIONS), "gauge", 0.01),
                Counter(AVAILABLE, _available(CONNECTIONS), "gauge", 0.01),
            ),
        ),
    ),
    changes={
        # The load rises at 5:00. At 10:00 context switches rise, and fewer searches are served.
        (DYN_HOST, DYN + "Dynamic Search per sec"): _searched(2.23, 4.0, 3.6),  # 6.639 at most: Table 3, 1,008 users
        (DYN_HOST, DYN + "Bytes Sent/sec"): _searched(190_606, 403_464, 363_118),  # 100.866 KB a search: Table 5
        (DYN_HOST, DYN + "Connection Current"): LEFT_OPEN,
        (DYN_HOST, PRIVATE): tuple((at, _private(count)) for at, count in LEFT_OPEN),
        (DYN_HOST, AVAILABLE): tuple((at, _available(count)) for at, count in LEFT_OPEN),
        (DYN_HOST, SWITCHES): between(600, 1500, 22_000, 1200),  # "it is not uncommon to exceed 20,000": footnote 9
        **{(DYN_HOST, path): between(600, 1500, 66, 11) for path in EACH},
    },
    breaches=(
        Breach("context-switches", DYN_HOST, None, 640, 1520, "22,000/s"),
        Breach(
            "ldap-context-switches-without-work",
            DYN_HOST,
            None,
            1000,
            1180,
            "the processors are 55 points busier than ten minutes before, and searches fell from 4.0 to 3.6/s",
        ),
        Breach("memory-available", DYN_HOST, None, 2015, 2400, "2,811 connections and more leave less than 4 MB"),
        Breach("windows-memory-available-share", DYN_HOST, None, 2030, 2400, "they leave less than a tenth of 64 MB"),
    ),
    write=pdh,
)

# --- Site Server Membership Directory ("MEM"), with counters of Active Directory: those of Site Server count no binds

MEM_HOST = "MEMDIR01"
MEM = "\\NTDS\\LDAP "

MEMBERSHIP = System(
    folder="membership-directory",
    title="Membership directory",
    document="Site Server Membership Directory",
    start=datetime(1998, 1, 16, 10, 0, tzinfo=ZONE),
    minutes=40,
    interval_s=15,
    steady_from_s=300,
    hosts=(
        Host(
            MEM_HOST,
            processors=4,
            clock_mhz=200,
            memory_mb=256,
            counters=(
                *(Counter(path, 23.21, "percent", 0.25) for path in EACH),  # LDAP verification, row of 48.88 searches/s
                CPU,
                Counter(SWITCHES, 827, spread=0.1),  # same row
                Counter(MEM + "Searches/sec", 48.88),  # same row
                Counter(MEM + "Outbound Bytes/sec", 47_604),  # same row
                Counter(MEM + "Successful Binds/sec", 40),  # 100 at most: Summary
                Counter(MEM + "Client Sessions", 600, "gauge", 0.02),
                Counter(AVAILABLE, 96 * 2**20, "gauge", 0.02),
            ),
        ),
    ),
    changes={
        (MEM_HOST, EACH[0]): between(600, 1500, 96, 23.21),  # it serves the network adapter's interrupts
        (MEM_HOST, SWITCHES): between(600, 1500, 7599, 827),  # row of 130.55 searches/s
        (MEM_HOST, MEM + "Successful Binds/sec"): between(900, 1800, 130, 40),
    },
    breaches=(
        Breach("processor-busy", MEM_HOST, "0", 840, 1570, "96 % of processor 0, less than half of the others"),
        Breach("ldap-bind-rate", MEM_HOST, None, 940, 1820, "130 clients a second connect anew"),
    ),
    write=pdh,
)
