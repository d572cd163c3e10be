"""Server roles: the counters of each, well and sick, beside those of a host that is well."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from .recording import SICK, Host, Level
from .windows import base


@dataclass(frozen=True)
class Count(Level):
    """A count since the start of a service: `well` before, and `sick` more with each sick row."""

    def at(self, row: int, chance: random.Random) -> float:
        """The value of a row."""
        return self.well + (self.sick or 0) * sum(item <= row for item in SICK)


def _level(well: float, sick: float) -> Level:
    return Level(well, sick, spread=0.02)


_REPLICA, _SALES = r"\SQLServer:Database Replica(Sales)", r"\SQLServer:Databases(Sales)"
_CHANNEL = r"\Netlogon(\\DC02.corp.example)"
_WCF = r"\ServiceModelService 4.0.0.0(Orders@net.tcp:||app01|orders)"
_STORE, _QUEUES = r"\MSExchange Database ==> Instances", r"\MSExchangeTransport Queues(_total)"
_CSV, _BIZTALK = r"\Cluster CSV File System(Volume1)", r"\BizTalk:Message Agent(BizTalkServerApplication)"
# What each role records, and the rules that must find it ill. Together they ask for every row of the first tier whose window fits in.
ROLES: dict[str, tuple[dict[str, Level], set[str]]] = {
    "sql engine": (
        {
            _REPLICA + r"\Recovery Queue": _level(40, 900_000),
            _REPLICA + r"\Redone Bytes/sec": _level(4e6, 4e5),
            _REPLICA + r"\Log Send Queue": _level(20, 900_000),
            _SALES + r"\Log Bytes Flushed/sec": _level(3e6, 1.5e5),
            _SALES + r"\Log Growths": Count(4, 1),
            r"\SQLAgent:Jobs(_Total)\Failed jobs": Count(2, 1),
            r"\SQLServer:Access Methods\Page Splits/sec": _level(3, 200),
            r"\SQLServer:Buffer Manager\Free list stalls/sec": _level(0, 9),
            r"\SQLServer:Locks(_Total)\Lock Timeouts/sec": _level(0, 7),
            r"\SQLServer:SQL Statistics\Batch Requests/sec": _level(900, 900),
        },
        {
            *("sql-fail-over-time", "sql-data-loss-time", "sql-failed-jobs", "sql-page-splits"),
            *("sql-free-list-stalls", "sql-lock-timeouts"),
        },
    ),
    "asp.net": (
        {
            r"\ASP.NET\Requests Rejected": Count(12, 3),
            r"\ASP.NET\Requests Queued": _level(0, 6200),
            r"\.NET CLR Memory(w3wp)\% Time in GC": _level(2, 45),
            r"\.NET CLR Memory(w3wp)\# Gen 0 Collections": Count(4100, 20),
            r"\APP_POOL_WAS(Shop)\Current Application Pool State": Level(3, 5, spread=0),
            r"\Active Server Pages\Requests Queued": _level(0, 60),
        },
        {"aspnet-rejected-requests", "aspnet-queue", "aspnet-queue-critical", "iis-pool-disabled", "asp-queued"},
    ),
    "wcf": (
        {
            _WCF + r"\Percent Of Max Concurrent Calls": _level(12, 93),
            _WCF + r"\Calls Failed": Count(3, 1),
            _WCF + r"\Calls Duration": _level(0.05, 4),
        },
        {"wcf-calls-of-limit", "wcf-failed-calls", "wcf-duration"},
    ),
    "exchange store": (
        {
            r"\MSExchange ADAccess Processes(w3wp)\LDAP Search Time": _level(5, 260),
            r"\MSExchange ADAccess Processes(w3wp)\LDAP Read Time": _level(5, 260),
            _STORE + r"(information store/DB01)\I/O Database Writes (Attached) Average Latency": _level(6, 140),
            r"\MSExchange RpcClientAccess\RPC Requests": _level(3, 120),
            r"\MSExchangeIS Store(DB01)\RPC Average Latency": _level(4, 180),
            r"\MSExchangeIS Store(DB01)\RPC Requests": _level(2, 90),
            r"\MSExchange Database(Information Store)\Database Page Fault Stalls/sec": _level(0, 12),
            r"\MSExchange Database(Information Store)\Log Record Stalls/sec": _level(0, 150),
        },
        {
            *("exchange-process-ldap-search-time-critical", "exchange-process-ldap-read-time-critical"),
            *("exchange-database-writes-critical", "exchange-rpc-requests", "exchange-store-rpc-latency-critical"),
            *("exchange-store-rpc-requests", "exchange-page-stalls", "exchange-log-stalls-critical"),
        },
    ),
    "exchange transport": (
        {
            _STORE + r"(edgetransport/Transport Mail Database)\Version buckets allocated": _level(40, 1900),
            _QUEUES + r"\Submission Queue Length": _level(4, 14_000),
            _QUEUES + r"\Internal Aggregate Delivery Queue Length (All Internal Queues)": _level(9, 6500),
            _QUEUES + r"\External Aggregate Delivery Queue Length (All External Queues)": _level(14, 6500),
            _QUEUES + r"\Poison Queue Length": _level(0, 2),
        },
        {
            *("exchange-version-buckets-critical", "exchange-submission-queue-critical"),
            *("exchange-internal-queue-critical", "exchange-external-queue-critical", "exchange-poison"),
        },
    ),
    "secure channel": (
        {
            _CHANNEL + r"\Semaphore Waiters": _level(0, 14),
            _CHANNEL + r"\Semaphore Acquires": Count(90_000, 900),
            _CHANNEL + r"\Semaphore Timeouts": Count(3, 4),
            _CHANNEL + r"\Average Semaphore Hold Time": _level(0.01, 4),
        },
        {"ad-ntlm-wait", "ad-ntlm-waiters", "ad-ntlm-calls", "ad-ntlm-timeouts"},
    ),
    "dhcp and dns": (
        {r"\DHCP Server\Packets Expired/sec": _level(0, 4), r"\DNS\Recursive TimeOut/sec": _level(1, 900)},
        {"dhcp-expired", "dns-recursive-timeouts"},
    ),
    "hyper-v": (
        {
            r"\Hyper-V Hypervisor Logical Processor(_Total)\% Total Run Time": _level(40, 40),
            r"\Hyper-V Hypervisor Root Virtual Processor(Root VP 0)\% Total Run Time": _level(15, 96),
            r"\Hyper-V Virtual Storage Device(vhd)\Error Count": Count(0, 1),
            r"\Hyper-V Dynamic Memory Balancer(System Balancer)\Average Pressure": _level(60, 97),
            r"\Hyper-V Virtual Machine Health Summary\Health Critical": _level(0, 2),
        },
        {"hyper-v-root-busy", "hyper-v-disk-errors", "hyper-v-host-memory-pressure", "hyper-v-critical-guests"},
    ),
    "hyper-v without a total": (
        {rf"\Hyper-V Hypervisor Logical Processor(Hv LP {n})\% Total Run Time": _level(40, 97) for n in range(4)},
        {"hyper-v-host-busy-critical"},
    ),
    "drivers": ({r"\Processor(_Total)\% DPC Time": _level(0.5, 24)}, {"windows-dpc-time"}),
    "vmware guest": (
        {r"\VM Memory\Memory Swapped in MB": _level(0, 700), r"\VM Memory\Memory Ballooned in MB": _level(0, 900)},
        {"vmware-swapped", "vmware-ballooned"},
    ),
    "smb": (
        {
            r"\Server Work Queues(SMB2 NonBlocking 0)\Queue Length": _level(2, 260),
            r"\SMB Client Shares(\FS01\vms)\Avg. sec/Read": _level(0.004, 0.09),
            r"\SMB Client Shares(\FS01\vms)\Read Requests/sec": _level(120, 120),
            r"\SMB Client Shares(\FS01\vms)\Avg. sec/Write": _level(0.005, 0.09),
            r"\SMB Client Shares(\FS01\vms)\Write Requests/sec": _level(80, 80),
        },
        {"smb-work-queue", "smb-client-read-latency-critical", "smb-client-write-latency-critical"},
    ),
    "print server": (
        {r"\Print Queue(Floor 2)\Job Errors": Count(40, 1), r"\Process(spoolsv)\% Processor Time": _level(4, 88)},
        {"print-job-errors", "print-spooler-busy"},
    ),
    "session host": (
        {
            r"\User Input Delay per Session(3)\Max Input Delay": _level(30, 4200),
            r"\RemoteFX Network(RDP-Tcp 3)\Loss rate": _level(0, 12),
            r"\RemoteFX Graphics(RDP-Tcp 3)\Average Encoding Time": _level(8, 70),
        },
        {"rds-input-delay", "rds-input-delay-critical", "rds-loss", "rds-encoding-time"},
    ),
    "xenapp": (
        {r"\Citrix MetaFrame Presentation Server\WorkItem Queue Ready Count": _level(0, 30)},
        {"citrix-work-items"},
    ),
    "sharepoint": (
        {
            r"\SharePoint Publishing Cache(Portal)\Publishing cache flushes / second": _level(0, 9),
            r"\SharePoint Disk-Based Cache(Portal)\Blob Cache fill ratio": _level(40, 95),
        },
        {"sharepoint-cache-flushes", "sharepoint-blob-fill", "sharepoint-blob-fill-full"},
    ),
    "dynamics crm": (
        {
            r"\CRM Async Service(_Total)\Total Operations Failed": Count(9, 1),
            r"\CRM Authentication\WindowsAuthenticationFailuresInTheLastMinute": _level(2, 90),
        },
        {"crm-operations", "crm-windows-logons"},
    ),
    "biztalk": (
        {
            _BIZTALK + r"\Message delivery throttling state": Level(0, 5, spread=0),
            _BIZTALK + r"\Message publishing throttling state": Level(0, 6, spread=0),
            r"\XLANG/s Orchestrations(App)\MessageBox databases connection failures": Count(1, 1),
        },
        {
            *("biztalk-delivery-throttled", "biztalk-publishing-throttled", "biztalk-connection-failures"),
        },
    ),
    "biztalk, throttled by the user": (
        {
            _BIZTALK + r"\Message delivery throttling state": Level(10, 10, spread=0),
            _BIZTALK + r"\Message publishing throttling state": Level(11, 11, spread=0),
        },
        set(),
    ),
    "cluster": (
        {
            r"\Cluster NetFt Heartbeats(10.0.0.2:3343)\Missing heartbeats": Level(0, 4, spread=0),
            _CSV + r"\Volume State": Level(4, 1, spread=0),
            _CSV + r"\Redirected Read Bytes/sec": _level(2000, 9e6),
            _CSV + r"\Redirected Write Bytes/sec": _level(4000, 9e6),
            r"\Cluster CSV Volume Manager(Volume1)\Direct IO Failure Redirection/sec": _level(0, 140),
        },
        {
            *("cluster-heartbeats", "cluster-volume-state", "cluster-redirected-reads", "cluster-redirected-writes"),
            "cluster-direct-io-failures",
        },
    ),
    "report server": (
        {r"\ReportServer:Service\Memory Pressure State": Level(1, 5, spread=0)},
        {"ssrs-memory-pressure"},
    ),
    "skype front end": (
        {
            r"\LS:USrv - DBStore\USrv - Queue Latency (msec)": _level(6, 14_000),
            r"\LS:USrv - DBStore\USrv - Sproc Latency (msec)": _level(9, 14_000),
            r"\LS:USrv - DBStore\USrv - Throttled requests/sec": _level(0, 3),
            r"\LS:SIP - Responses\SIP - Local 503 Responses/sec": _level(0, 5),
            r"\LS:SIP - Load Management\SIP - Average Holding Time For Incoming Messages": _level(0.1, 9),
            r"\LS:LYSS - Storage Service API\LYSS - Current percentage of space used by Storage Service DB.": _level(
                9, 91
            ),
            r"\LS:USrv - Cluster Manager\USrv - Number of data loss events with state change": Count(0, 1),
            r"\LS:RoutingApps - Emergency Call Routing\RoutingApps - Number of incoming failure responses": Count(0, 1),
            r"\LS:AVMCU - MCU Health And Performance\AVMCU - MCU Health State": Level(0, 3, spread=0),
        },
        {
            *("skype-db-queue-latency-critical", "skype-db-sproc-latency-critical", "skype-throttled"),
            *("skype-local-503", "skype-holding-time-critical", "skype-storage-used", "skype-data-loss-with"),
            *("skype-emergency-calls", "skype-av-mcu-full"),
        },
    ),
    "skype mediation": (
        {r"\LS:MediationServer - Health Indices\- Load Call Failure Index": _level(0, 40)},
        {"skype-load-call-failures"},
    ),
}


def server_roles() -> Iterator[tuple[Host, set[str]]]:
    """Hosts that are well, and of each role one with all its counters sick; with the rules that must find it."""
    # Some roles record the same counters, each in its own way.
    levels_list: list[dict[str, Level]] = []
    for role, (counters, rules) in ROLES.items():
        well = {path: type(counter)(counter.well, None, counter.spread) for path, counter in counters.items()}
        beside = next((item for item in levels_list if not item.keys() & well.keys()), None)
        if beside is None:
            levels_list.append(beside := {})
        beside |= well
        if rules:
            yield Host(f"{role}, not-healthy", base() | counters, "not-healthy"), rules
    for number, well in enumerate(levels_list):
        yield Host(f"roles that are well, {number}", base() | well, "healthy"), set()
