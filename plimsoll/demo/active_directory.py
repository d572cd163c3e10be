"""A current domain controller for an hour: healthy, and with a slow disk and slow partners."""

from datetime import datetime

from plimsoll.demo.tables import Breach, Counter, Host, Points, System
from plimsoll.demo.windows_host import CORES, INTERVAL_S, MINUTES, volume, windows
from plimsoll.demo.writers import ZONE, pdh

DC = "DC01"
END = 60 * MINUTES
TROUBLE_FROM_S = 900
NTDS = "\\DirectoryServices(NTDS)\\"
CHANNEL = "\\Netlogon(_Total)\\"
BIND_TIME, THREADS, QUEUED = (
    NTDS + "LDAP Bind Time",
    NTDS + "ATQ Threads Total",
    NTDS + "ATQ Outstanding Queued Requests",
)
PENDING = NTDS + "DRA Pending Replication Operations"
HOLD_TIME = CHANNEL + "Average Semaphore Hold Time"
READ, WRITE = "\\LogicalDisk(D:)\\Avg. Disk sec/Read", "\\LogicalDisk(D:)\\Avg. Disk sec/Write"


def _from(quiet: float, trouble: float) -> Points:
    return ((TROUBLE_FROM_S - 1, quiet), (TROUBLE_FROM_S, trouble))


ACTIVE_DIRECTORY = System(
    folder="active-directory",
    title="Active Directory",
    document="Limits of today: Active Directory",
    start=datetime(2026, 1, 21, 8, 0, tzinfo=ZONE),
    minutes=MINUTES,
    interval_s=INTERVAL_S,
    steady_from_s=300,
    hosts=(
        Host(
            DC,
            processors=CORES,
            clock_mhz=2900,
            memory_mb=32_768,
            counters=(
                *windows(busy=30, available_mb=14_000),
                *volume("C", free_percent=52, free_mb=61_000),
                *volume("D", free_percent=71, free_mb=160_000),  # NTDS.dit and its log
                Counter(BIND_TIME, 4, "gauge", 0.3),
                Counter(THREADS, 9, "gauge", 0.03),
                Counter(QUEUED, 0, "gauge"),
                Counter(NTDS + "LDAP Client Sessions", 1400, "gauge", 0.02),
                Counter(NTDS + "LDAP Searches/sec", 160, spread=0.1),
                Counter(NTDS + "LDAP Successful Binds/sec", 45, spread=0.1),
                Counter(PENDING, 3, "gauge", 0.5),
                Counter(NTDS + "DRA Sync Failures on Schema Mismatch", 2, "gauge", 0),
                Counter(HOLD_TIME, 0.02, "fraction", 0.3),
                Counter(CHANNEL + "Semaphore Timeouts", 17, "gauge", 0),
            ),
        ),
    ),
    changes={
        # The disk of the directory is slow, so its threads are all in use; a trusted domain is slow too.
        (DC, READ): _from(0.003, 0.023),
        (DC, WRITE): _from(0.002, 0.023),
        (DC, BIND_TIME): _from(4, 60),
        (DC, THREADS): _from(9, 31),
        (DC, QUEUED): _from(0, 40),
        (DC, PENDING): _from(3, 140),
        (DC, HOLD_TIME): _from(0.02, 3.2),
        (DC, CHANNEL + "Semaphore Timeouts"): ((TROUBLE_FROM_S, 17), (END, 310)),
    },
    breaches=(
        Breach("ad-read-latency", DC, "D:", 1080, END, "23 ms; 15 ms at most"),
        Breach("ad-read-latency-critical", DC, "D:", 1155, END, "23 ms; 20 ms at most"),
        Breach("ad-write-latency", DC, "D:", 1086, END, "23 ms; 15 ms at most"),
        Breach("ad-write-latency-critical", DC, "D:", 1157, END, "23 ms; 20 ms at most"),
        Breach("ad-bind-time", DC, None, 912, END, "60 ms; 15 ms at most"),
        Breach("ad-bind-time-critical", DC, None, 917, END, "60 ms; 20 ms at most"),
        Breach("ad-threads", DC, None, 945, END, "31 of the 32 threads of eight processors; 80 % at most"),
        Breach("ad-threads-critical", DC, None, 954, END, "31 of the 32 threads of eight processors; 90 % at most"),
        Breach("ad-queued-requests", DC, None, 960, END, "40 requests wait for a thread"),
        Breach("ad-pending-replication", DC, None, 960, END, "140 operations; fewer than 50"),
        Breach("ad-ntlm-wait", DC, None, 992, END, "3.2 s; less than 1 s"),
        Breach("ad-ntlm-timeouts", DC, None, 930, END, "some every minute; none"),
    ),
    write=pdh,
)
