"""What hosts do besides, one counter past its limit or all of them well."""

from collections.abc import Iterator

from .recording import Host, Level
from .windows import base

_SQL = r"\SQLServer:"
_NAMED = r"\MSSQL$PAYROLL:"
_EXCHANGE = r"\MSExchange Database ==> Instances"
_LOGICAL = r"\Hyper-V Hypervisor Logical Processor(_Total)"
# Counter, well, sick, and how far it moves. A well value of 0 is 0 throughout.
ROLES: dict[str, tuple[tuple[str, float, float], ...]] = {
    "sql server": (
        (_SQL + r"Buffer Manager\Page life expectancy", 21_000, 110),
        (_SQL + r"Memory Manager\Memory Grants Pending", 0, 6),
        (_SQL + r"Buffer Manager\Lazy writes/sec", 1, 90),
        (_SQL + r"Locks(_Total)\Average Wait Time (ms)", 12, 2400),
        (_SQL + r"Locks(_Total)\Number of Deadlocks/sec", 0, 0.4),
        (_SQL + r"Databases(Sales)\Percent Log Used", 22, 97),
        (_SQL + r"Databases(tempdb)\Percent Log Used", 18, 96),
        (_SQL + r"General Statistics\Processes blocked", 0, 14),
        (_NAMED + r"Memory Manager\Memory Grants Pending", 0, 5),
        (_SQL + r"Buffer Manager\Free list stalls/sec", 0, 9),
        (_SQL + r"Buffer Manager\Buffer cache hit ratio", 99.6, 84),
        (_SQL + r"Locks(_Total)\Lock Timeouts/sec", 0, 7),
    ),
    "domain controller": (
        (r"\DirectoryServices(NTDS)\LDAP Bind Time", 3, 70),
        (r"\DirectoryServices(NTDS)\ATQ Outstanding Queued Requests", 0, 25),
        (r"\DirectoryServices(NTDS)\DRA Pending Replication Operations", 0, 180),
        (r"\Netlogon(_Total)\Average Semaphore Hold Time", 0.02, 4),
        (r"\Netlogon(\\DC02.corp.example)\Average Semaphore Hold Time", 0.02, 4),
        (r"\NTDS\LDAP Bind Time", 4, 60),
        (r"\NTDS\LDAP Client Sessions", 400, 5300),
    ),
    "iis": (
        (r"\HTTP Service Request Queues(DefaultAppPool)\CurrentQueueSize", 0, 420),
        (r"\ASP.NET Applications(_LM_W3SVC_1_ROOT)\Requests In Application Queue", 0, 35),
        (r"\ASP.NET\Requests Queued", 0, 160),
        (r"\ASP.NET v4.0.30319\Requests Queued", 0, 60),
        (r"\HTTP Service Request Queues(_Total)\CurrentQueueSize", 0, 420),
        (r"\.NET CLR Memory(w3wp#2)\% Time in GC", 2, 45),
    ),
    "exchange": (
        (_EXCHANGE + r"(DB02/_Total)\I/O Database Reads (Attached) Average Latency", 6, 120),
        (_EXCHANGE + r"(DB02/_Total)\I/O Log Writes Average Latency", 2, 60),
        (_EXCHANGE + r"(_Total)\I/O Database Reads (Attached) Average Latency", 6, 120),
        (r"\MSExchange RpcClientAccess\RPC Averaged Latency", 18, 900),
        (r"\MSExchange ADAccess Domain Controllers(dc01.corp.example)\LDAP Search Time", 6, 240),
    ),
    "hyper-v": (
        (_LOGICAL + r"\% Total Run Time", 38, 97),
        (_LOGICAL + r"\% Idle Time", 62, 3),
        (r"\Hyper-V Dynamic Memory VM(APP01)\Average Pressure", 55, 118),
        (r"\Hyper-V Virtual Machine Health Summary\Health Critical", 0, 2),
    ),
    "windows": (
        (r"\Network Interface(Intel[R] Ethernet Connection [7] I219-V)\Output Queue Length", 0, 30),
        (r"\Processor(_Total)\% Privileged Time", 6, 72),
        (r"\Processor(_Total)\% Interrupt Time", 0.4, 27),
        (r"\Processor(_Total)\% DPC Time", 0.5, 24),
    ),
}  # fmt: skip


def roles() -> Iterator[Host]:
    """Each role with all its counters well, and with each of them sick, beside those of a host that is well."""
    for role, counters in ROLES.items():
        well = {path: Level(value, spread=0.02) for path, value, _ in counters}
        yield Host(f"{role}, healthy", base() | well, "healthy")
        for path, value, sick in counters:
            processors = {_LOGICAL + r"\% Total Run Time": Level(40)} if role == "hyper-v" else {}
            processors = {} if path.startswith(_LOGICAL) else processors
            columns = base() | processors | {path: Level(value, sick, spread=0.02)}
            yield Host(f"{role}, {path.strip(chr(92))}, not-healthy", columns, "not-healthy")
    for verdict, sick in (("healthy", None), ("not-healthy", 97.0)):
        columns = base() | {
            rf"\Hyper-V Hypervisor Logical Processor(Hv LP {n})\% Total Run Time": Level(40, sick, spread=0.02)
            for n in range(4)
        }
        yield Host(f"hyper-v, logical processors without a total, {verdict}", columns, verdict)
    guests = base() | {r"\Hyper-V Dynamic Memory VM(APP01)\Average Pressure": Level(55)}
    yield Host("hyper-v, the root partition alone", guests, "unknown", needs="processors of SRV01 were not judged; record "
               r"Hyper-V Hypervisor Logical Processor(_Total)\% Total Run Time")  # fmt: skip
