"""What hosts do besides, one counter past its limit or all of them well."""

from collections.abc import Iterator

from .recording import Host, Level
from .windows import base

_SQL = r"\SQLServer:"
_NAMED = r"\MSSQL$PAYROLL:"
_EXCHANGE = r"\MSExchange Database ==> Instances"
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
    ),
    "domain controller": (
        (r"\DirectoryServices(NTDS)\LDAP Bind Time", 3, 70),
        (r"\DirectoryServices(NTDS)\ATQ Outstanding Queued Requests", 0, 25),
        (r"\DirectoryServices(NTDS)\DRA Pending Replication Operations", 0, 180),
        (r"\Netlogon(_Total)\Average Semaphore Hold Time", 0.02, 4),
        (r"\Netlogon(\\DC02.corp.example)\Average Semaphore Hold Time", 0.02, 4),
        (r"\NTDS\LDAP Bind Time", 4, 60),
    ),
    "iis": (
        (r"\HTTP Service Request Queues(DefaultAppPool)\CurrentQueueSize", 0, 420),
        (r"\ASP.NET Applications(_LM_W3SVC_1_ROOT)\Requests In Application Queue", 0, 35),
        (r"\ASP.NET\Requests Queued", 0, 160),
        (r"\ASP.NET v4.0.30319\Requests Queued", 0, 60),
    ),
    "exchange": (
        (_EXCHANGE + r"(DB02/_Total)\I/O Database Reads (Attached) Average Latency", 6, 120),
        (_EXCHANGE + r"(DB02/_Total)\I/O Log Writes Average Latency", 2, 60),
        (r"\MSExchange RpcClientAccess\RPC Averaged Latency", 18, 900),
        (r"\MSExchange ADAccess Domain Controllers(dc01.corp.example)\LDAP Search Time", 6, 240),
    ),
    "hyper-v": (
        (r"\Hyper-V Hypervisor Logical Processor(_Total)\% Total Run Time", 38, 97),
        (r"\Hyper-V Dynamic Memory VM(APP01)\Average Pressure", 55, 118),
        (r"\Hyper-V Virtual Machine Health Summary\Health Critical", 0, 2),
    ),
    "windows": (
        (r"\Network Interface(Intel[R] Ethernet Connection [7] I219-V)\Output Queue Length", 0, 30),
        (r"\Processor(_Total)\% Privileged Time", 6, 72),
    ),
}  # fmt: skip


def roles() -> Iterator[Host]:
    """Each counter of each role, well and sick, beside those of a host that is well."""
    for role, counters in ROLES.items():
        for path, well, sick in counters:
            for value, verdict in ((None, "healthy"), (sick, "not-healthy")):
                columns = base() | {path: Level(well, value, spread=0.02)}
                yield Host(f"{role}, {path.strip(chr(92))}, {verdict}", columns, verdict)
    for verdict, sick in (("healthy", None), ("not-healthy", 97.0)):
        columns = base() | {
            rf"\Hyper-V Hypervisor Logical Processor(Hv LP {n})\% Total Run Time": Level(40, sick, spread=0.02)
            for n in range(4)
        }
        yield Host(f"hyper-v, logical processors without a total, {verdict}", columns, verdict)
