"""Metrics of windows_exporter, of containers and of SQL Server become the series that Telegraf records."""

import re
from pathlib import Path

import numpy as np
import pytest

from plimsoll.hosts.settings import Settings
from plimsoll.ingest.reading import LogSet
from plimsoll.model.log import Log
from plimsoll.model.times import SECOND, Zone
from plimsoll.review.findings import CROSSED
from plimsoll.review.review_logs import review_logs
from plimsoll.rules.load import load
from plimsoll.rules.signal_finder import Finder
from tests.receive.scraping import NOW, reported, scraped

WINDOWS = (Path(__file__).parent / "samples/windows_exporter.txt").read_bytes()


def grown(text, by):
    """The metrics 10 s later: each that begins with a text has grown by a number."""

    def line(values):
        item = next((result for start, result in by.items() if values[0].startswith(start)), 0)
        return f"{values[1]} {float(values[2]) + item!r}"

    return re.sub(r"(?m)^(\w+(?:\{.*\})?) (\S+)$", line, text.decode()).encode()


LATER = {
    'windows_cpu_time_total{core="0,0",mode="idle"': 2,
    'windows_cpu_time_total{core="0,0",mode="user"': 7,
    'windows_cpu_time_total{core="0,0",mode="priv': 1,
    'windows_cpu_time_total{core="0,1",mode="idle"': 10,
    "windows_system_context": 5000,
    "windows_memory_swap_page_op": 300,
    "windows_logical_disk_reads_total": 100,
    "windows_logical_disk_read_latency": 2.5,
    "windows_logical_disk_read_seconds": 2.5,
    "windows_logical_disk_idle": 7.5,
    "windows_net_bytes_sent": 1_250_000,
}


def test_windows_exporter_becomes_the_counters_that_telegraf_records(translator):
    first = scraped(translator, WINDOWS)
    assert reported(first, "win_mem") == {
        ("Memory,web1", "Available_Bytes"): 4_294_967_296,
        ("Memory,web1", "Cache_Bytes"): 250_000_000,
        ("Memory,web1", "Commit_Limit"): 2e10,
        ("Memory,web1", "Committed_Bytes"): 5e9,
        ("Memory,web1", "Percent_Committed_Bytes_In_Use"): 25,
        ("Memory,web1", "Pool_Nonpaged_Bytes"): 3e8,
        ("Memory,web1", "Pool_Paged_Bytes"): 5e8,
    }
    now = scraped(translator, grown(WINDOWS, LATER), 10)
    assert reported(now, "win_cpu")["0,0", "Percent_Processor_Time"] == 80
    assert reported(now, "win_cpu")["_Total", "Percent_Processor_Time"] == 40
    assert reported(now, "win_system")["System,web1", "Context_Switches_persec"] == 500
    assert reported(now, "win_mem")["Memory,web1", "Pages_persec"] == 30
    disk = reported(now, "win_disk")
    assert disk["C:", "Avg._Disk_sec/Read"] == 0.025
    assert disk["C:", "Avg._Disk_sec/Write"] == 0
    assert disk["C:", "Percent_Idle_Time"] == 75
    assert disk["C:", "Percent_Free_Space"] == 25
    net = reported(now, "win_net")
    assert net["Intel R PRO", "Bytes_Sent_persec"] == 125_000
    assert net["Intel R PRO", "Current_Bandwidth"] == 1e9
    assert net["Intel R PRO", "Packets_Received_Errors"] == 4


def test_rules_for_windows_find_their_signals(translator):
    scraped(translator, WINDOWS)
    series = [item for item, _ in scraped(translator, grown(WINDOWS, LATER), 10)]
    finder = Finder(load().signals, series, lambda _: True)
    pack = next(pack for pack in load().packs if pack.pack == "windows")
    lacking = {rule.signal for rule in pack.rules if not len(finder.find(rule.signal))}
    # Processes have no names of their own there, and that host sent nothing over IPv6.
    processes = {"process.cpu", "process.handles", "process.private_bytes", "process.threads"}
    assert lacking <= {*processes, "tcp.ipv6_retransmitted_share"}


@pytest.mark.parametrize(
    "old",
    [
        ("windows_cs_physical_memory_bytes 1048576", ("win_numa_node_memory", "Total_MBytes", 1)),
        ("windows_memory_pool_nonpaged_bytes_total 7", ("win_mem", "Pool_Nonpaged_Bytes", 7)),
        ('windows_net_current_bandwidth{nic="a"} 8e9', ("win_net", "Current_Bandwidth", 8e9)),
        ("windows_os_paging_limit_bytes 8\nwindows_os_paging_free_bytes 2", ("win_swap", "Percent_Usage", 75)),
        ("windows_system_system_up_time 1789999000", ("win_system", "System_Up_Time", 1000)),
    ],
)
def test_names_of_older_windows_exporters(old, translator):
    text, (_, field, value) = old
    assert {item.field: result for (item, _), result in scraped(translator, text.encode()).items()} == {field: value}


ROLES = """
windows_process_cpu_time_total{process="w3wp",process_id="7",mode="user"} COUNT
windows_process_cpu_time_total{process="w3wp",process_id="7",mode="privileged"} COUNT
windows_process_cpu_time_total{process="Idle",process_id="0",mode="user"} COUNT
windows_process_cpu_time_total{process="Idle",process_id="0",mode="privileged"} COUNT
windows_iis_requests_total{site="shop",method="GET"} COUNT
windows_iis_requests_total{site="shop",method="POST"} COUNT
windows_iis_requests_total{site="_Total",method="GET"} COUNT
windows_iis_http_requests_current_queue_size{site="shop"} 3
windows_ad_atq_current_threads{service="ldap"} 4
windows_ad_atq_current_threads{service="other"} 2
windows_smbclient_read_seconds_total{server="fs",share="homes"} COUNT
windows_smbclient_read_requests_total{server="fs",share="homes"} COUNT
windows_exchange_rpc_avg_latency_sec 0.25
windows_exchange_transport_queues_poison{name="_total"} 1
windows_hyperv_health_critical 2
windows_hyperv_hypervisor_virtual_processor_run_time_total{vm="web",core="0"} COUNT
windows_hyperv_vm_device_error_count{vm_device="disk.vhdx"} 5
windows_mssql_locks_wait_time_seconds{mssql_instance="MSSQLSERVER",resource="Key"} COUNT
windows_mssql_locks_count{mssql_instance="MSSQLSERVER",resource="Key"} COUNT
"""


def test_roles_of_windows_exporter_become_their_counters(translator):
    """In ten seconds each count grows by 8; the names of Hyper-V are those of 0.29 and of today."""
    scraped(translator, ROLES.replace("COUNT", "0").encode())
    found = scraped(translator, ROLES.replace("COUNT", "8").encode(), 10)
    assert {(one.tag("objectname"), one.tag("instance"), one.field): value for (one, _), value in found.items()} == {
        ("Process V2", "w3wp:7", "Percent_Processor_Time"): 160,
        ("Web Service", "_Total", "Total_Method_Requests_persec"): 1.6,
        ("HTTP Service Request Queues", "shop", "CurrentQueueSize"): 3,
        ("DirectoryServices", "NTDS", "ATQ_Threads_Total"): 6,
        ("SMB Client Shares", r"\fs\homes", "Read_Requests_persec"): 0.8,
        ("SMB Client Shares", r"\fs\homes", "Avg._sec/Read"): 1,
        ("MSExchange RpcClientAccess", None, "RPC_Averaged_Latency"): 250,
        ("MSExchangeTransport Queues", "_Total", "Poison_Queue_Length"): 1,
        ("Hyper-V Virtual Machine Health Summary", None, "Health_Critical"): 2,
        ("Hyper-V Hypervisor Virtual Processor", "web:Hv VP 0", "Percent_Total_Run_Time"): 80,
        ("Hyper-V Virtual Storage Device", "disk.vhdx", "Error_Count"): 5,
        ("SQLServer:Locks", "_Total", "Average_Wait_Time_(ms)"): 1,
    }


CADVISOR = """
container_cpu_cfs_periods_total{namespace="shop",pod="web-1",container="app",id="/kubepods/1"} PERIODS
container_cpu_cfs_throttled_periods_total{namespace="shop",pod="web-1",container="app",id="/kubepods/1"} THROTTLED
container_cpu_cfs_periods_total{namespace="shop",pod="web-1",container="",id="/kubepods"} PERIODS
container_cpu_cfs_periods_total{name="db",id="/docker/2"} PERIODS
container_cpu_cfs_throttled_periods_total{name="db",id="/docker/2"} 0
container_memory_working_set_bytes{name="db",id="/docker/2"} 900
container_spec_memory_limit_bytes{name="db",id="/docker/2"} 1000
container_memory_working_set_bytes{name="",id="/"} 5000
container_memory_working_set_bytes{name="free",id="/docker/3"} 900
container_spec_memory_limit_bytes{name="free",id="/docker/3"} 0
"""


def test_a_container_at_its_quota_is_known_by_cadvisors_names(translator):
    """A pod as a whole, and the host, are no containers; a limit of 0 is none."""
    found = {}
    for scrape in range(130):
        text = CADVISOR.replace("PERIODS", str(100 * scrape)).replace("THROTTLED", str(60 * scrape))
        found |= scraped(translator, text.encode(), 10 * scrape)
    series = {one for one, _ in found}
    assert {(one.tag("container_name"), one.field) for one in series} == {
        *((name, f"throttling_{kind}periods") for name in ("shop/web-1/app", "db") for kind in ("", "throttled_")),
        *(("db", field) for field in ("usage", "limit")),
        ("free", "usage"),
    }
    times = np.arange(130) * 10 * SECOND + NOW
    columns = tuple(np.array([found[one, 10.0 * at] for at in range(130)]) for one in series)
    log = Log(Path("log"), "", times, columns, tuple(series), Zone.parse("UTC"), sha256="")
    packs = load(only=("container",))
    review = review_logs(LogSet([log], []), packs, Settings(), None)
    crossed = {(one.rule.id, one.subject.instance) for one in review.of(*CROSSED) if one.subject}
    assert crossed == {("container-throttled", "shop/web-1/app"), ("container-memory", "db")}


SQL = """
windows_mssql_bufman_page_life_expectancy_seconds{mssql_instance="MSSQLSERVER"} 5
windows_mssql_bufman_page_life_expectancy_seconds{mssql_instance="PAYROLL"} 7
windows_mssql_memmgr_target_server_memory_bytes{mssql_instance="PAYROLL"} 2048
windows_mssql_locks_deadlocks{mssql_instance="PAYROLL",resource="Key"} COUNT
windows_mssql_locks_deadlocks{mssql_instance="PAYROLL",resource="Page"} COUNT
windows_mssql_locks_deadlocks{mssql_instance="PAYROLL",resource="_Total"} 1000
"""


def test_instances_of_sql_server_are_told_apart(translator):
    scraped(translator, SQL.replace("COUNT", "0").encode())
    result = scraped(translator, SQL.replace("COUNT", "10").encode(), 10)
    assert {
        (item.tag("objectname"), item.tag("instance"), item.field): value for (item, _), value in result.items()
    } == {
        ("SQLServer:Buffer Manager", None, "Page_life_expectancy"): 5,
        ("MSSQL$PAYROLL:Buffer Manager", None, "Page_life_expectancy"): 7,
        ("MSSQL$PAYROLL:Memory Manager", None, "Target_Server_Memory_(KB)"): 2,
        ("MSSQL$PAYROLL:Locks", "_Total", "Number_of_Deadlocks_persec"): 2,
    }
