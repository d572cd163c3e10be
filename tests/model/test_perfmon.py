"""Counter paths, and the names Telegraf would give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.names import load_shipped
from plimsoll.model.perfmon import CounterPath, make_telegraf_name, split_object

name = st.text(st.characters(codec="utf-8", exclude_characters="\\()\0\r\n"), min_size=1).filter(str.strip)
instance = st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0()\\"), min_size=1))


@given(name, name, instance, name)
def test_a_path_that_is_written_is_read_back(computer, object_, inside, counter):
    path = CounterPath(computer, object_, inside, counter)
    assert CounterPath.parse(str(path)) == path


@pytest.mark.parametrize(
    ("text", "object_", "inside", "counter"),
    [
        (r"\\H\Paging File(\??\D:\pagefile.sys)\% Usage", "Paging File", r"\??\D:\pagefile.sys", "% Usage"),
        (r"\\H\Processor Information(0,_Total)\% C1 Time", "Processor Information", "0,_Total", "% C1 Time"),
        (r"\\H\Process(a(b)\X", "Process", "a(b", "X"),
        (r"\\H\Process(a)b)\X", "Process", "a)b", "X"),
        (r"\\H\Process(foo))\X", "Process", "foo)", "X"),
        (r"\\H\Foo (bar)(inst)\X", "Foo (bar)", "inst", "X"),
        (r"\\H\SQLServer:Buffer Node\Lifetime (s)", "SQLServer:Buffer Node", None, "Lifetime (s)"),
        (r"\\H\Net(Intel[R] Ethernet [7] I219-V)\B/sec", "Net", "Intel[R] Ethernet [7] I219-V", "B/sec"),
        (r"\System\Threads", "System", None, "Threads"),
    ],
)
def test_hard_paths(text, object_, inside, counter):
    path = CounterPath.parse(text)
    assert (path.object, path.instance, path.counter) == (object_, inside, counter)
    assert str(path) == text


def test_a_second_backslash_behind_the_computer_is_none_of_the_object():
    assert str(CounterPath.parse(r"\\H\\Processor(0)\% User Time")) == r"\\H\Processor(0)\% User Time"


@pytest.mark.parametrize(
    "text", ["", "x", "\\", "\\\\", "\\\\H", "\\\\H\\", "\\\\H\\Object", "\\\\\\O\\C", "\\\\H\\()\\C", "(PDH-CSV 4.0)"]
)
def test_what_is_no_path(text):
    with pytest.raises(ValueError, match="is not a counter path"):
        CounterPath.parse(text)


@pytest.mark.parametrize(
    ("counter", "field"),
    [
        ("% Processor Time", "Percent_Processor_Time"),
        ("Context Switches/sec", "Context_Switches_persec"),
        ("Copy Reads/Sec", "Copy_Reads_persec"),
        ("Avg. Disk sec/Read", "Avg._Disk_sec/Read"),
        ("Copy Read Hits %", "Copy_Read_Hits_Percent"),
        (r"a\b", "ab"),
    ],
)
def test_fields_are_named_as_telegraf_names_them(counter, field):
    assert make_telegraf_name(counter) == field


def test_a_named_sql_server_is_the_same_object():
    assert split_object("MSSQL$PAYROLL:Buffer Manager") == ("SQLServer:Buffer Manager", "PAYROLL")
    series = load_shipped().series(CounterPath.parse(r"\\h\mssql$Payroll:buffer manager\page life expectancy"), "h")
    assert series.path == r"\MSSQL$Payroll:Buffer Manager\Page life expectancy"
    assert series.measurement == "win_sqlserver"


def test_empty_brackets_name_no_instance():
    path = CounterPath.parse(r"\\H\SQLServer:Buffer Manager()\Page life expectancy")
    assert path == CounterPath("H", "SQLServer:Buffer Manager", None, "Page life expectancy")
