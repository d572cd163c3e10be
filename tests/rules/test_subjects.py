"""The host of a series: the computer it describes, whichever agent collected it."""

import pytest

from plimsoll.model.names import load_shipped
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.series import Series
from plimsoll.rules.load import load_signals
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.subjects import find_host, list_host_tags


def busy(host, source, instance="_Total"):
    tags = (("instance", instance), ("objectname", "Processor"), ("source", source))
    return Series(host, "win_cpu", tags, "Percent_Processor_Time")


def test_computers_that_one_agent_polls_are_subjects_of_their_own():
    result = Finder(load_signals(), [busy("AGENT", "WEB1"), busy("AGENT", "WEB2")], lambda item: True).find("cpu.busy")
    assert {subject.host for subject, _ in result.values()} == {"WEB1", "WEB2"}


@pytest.mark.parametrize(
    ("host", "source", "of"),
    [
        ("WEB1", "web1", "WEB1"),
        ("web1.example.org", "WEB1", "web1.example.org"),
        ("WEB1", "web1.example.org", "WEB1"),
        ("web1.a.example", "web1.b.example", "web1.b.example"),
        ("AGENT", "localhost", "AGENT"),
        ("AGENT", "WEB1", "WEB1"),
    ],
)
def test_one_computer_written_in_two_ways_is_one_host(host, source, of):
    assert find_host(busy(host, source)) == of


def test_a_tag_called_source_names_the_host_of_windows_counters_only():
    assert find_host(Series("AGENT", "cpu", (("source", "x"),), "usage_idle")) == "AGENT"


def test_what_a_database_server_tells_of_itself_is_its_own():
    series = Series("AGENT", "sqlserver_performance", (("sql_instance", "DB1"),), "value")
    assert find_host(series, list_host_tags(load_signals())) == "DB1"


@pytest.mark.parametrize(("server", "beside"), [("SQLServer", ""), ("MSSQL$PAYROLL", "PAYROLL/")])
def test_databases_that_are_left_out_are_left_out_of_named_servers_too(server, beside):
    paths = [
        CounterPath(None, f"{server}:Databases", database, "Percent Log Used")
        for database in ("_Total", "model", "MASTER", "Sales")
    ]
    series = [load_shipped().series(path, "DB1") for path in paths]
    result = Finder(load_signals(), series, lambda item: True).find("sql.log_used")
    assert [subject.instance for subject, _ in result.values()] == [f"{beside}Sales"]


def test_numa_nodes_and_the_whole_server_are_told_apart():
    paths = [
        CounterPath(None, "SQLServer:Buffer Manager", None, "Database pages"),
        CounterPath(None, "SQLServer:Buffer Node", "000", "Database pages"),
        CounterPath(None, "SQLServer:Buffer Node", "001", "Database pages"),
    ]
    finder = Finder(load_signals(), [load_shipped().series(path, "DB1") for path in paths], lambda item: True)
    assert [subject.instance for subject, _ in finder.find("sql.data_cache").values()] == [None]
    assert [subject.instance for subject, _ in finder.find("sql.node_share").values()] == ["000", "001"]


def test_all_processors_together_are_no_processor():
    """Telegraf's sysstat plugin writes the total beside the single processors, as sar does."""
    series = [
        Series("WEB1", "per_cpu", (("device", name),), field)
        for name in ("all", "cpu0", "cpu1")
        for field in ("pct_idle", "pct_iowait")
    ]
    result = Finder(load_signals(), series, lambda item: True).find("cpu.processor_busy")
    assert {subject.instance for subject, _ in result.values()} == {"cpu0", "cpu1"}
