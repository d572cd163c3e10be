"""`plimsoll rules counters`: what is to be recorded on a Windows host, for each program that can record it."""

import tomllib
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from plimsoll.model.names import find_measurement, load_shipped
from plimsoll.model.perfmon import CounterPath
from plimsoll.rules.load import load, load_signals
from plimsoll.rules.signal_finder import Finder

# All but what esxtop records on ESXi.
SIGNALS = {name: signal for name, signal in load_signals().items() if not name.startswith("esxi.")}
PACKS = [pack for pack in load().packs if pack.pack != "esxi"]
# Windows, or the product, ended before anything that could record them today.
OF_OLD = {"Network Segment", "Site Server LDAP Service"}
CUSTOM = """\
pack: own
title: Own
about: Limits of our own.
rules:
  - id: own-rule
    signal: {signal}
    healthy: "= 0"
    severity: warning
    summary: Bad.
    look_at: [{look_at}]
    sources:
      - {{document: Capacity plan, place: page 3}}
"""
# The elements of [MS-PLA], section 3.2.4.19, without those that IDataCollectorSet's page has as output only.
OF_A_SET = {
    *("Keyword", "Duration", "Description", "DisplayName", "SchedulesEnabled", "Schedule", "LatestOutputLocation"),
    *("RootPath", "Segment", "SegmentMaxDuration", "SegmentMaxSize", "SerialNumber", "Subdirectory"),
    *("SubdirectoryFormat", "SubdirectoryFormatPattern", "Task", "TaskRunAsSelf", "TaskArguments"),
    *("TaskUserTextArguments", "Security", "StopOnCompletion", "PerformanceCounterDataCollector", "DataManager"),
}
OF_A_COLLECTOR = {
    *("DataCollectorType", "Name", "FileName", "FileNameFormat", "FileNameFormatPattern", "LogAppend", "LogCircular"),
    *("LogOverwrite", "LatestOutputLocation", "DataSourceName", "SampleInterval", "SegmentMaxRecords"),
    *("LogFileFormat", "Counter"),
}


@pytest.fixture
def paths(plimsoll):
    """The paths of the list for some packs, or of every signal."""

    def listed(*options):
        done = plimsoll("rules", "counters", *options)
        assert done.status == 0, done.err
        return [CounterPath.parse(line) for line in done.out.splitlines()]

    return listed


@pytest.fixture
def custom(tmp_path):
    def write(signal, look_at=""):
        path = tmp_path / "own.yaml"
        path.write_text(CUSTOM.format(signal=signal, look_at=look_at), encoding="utf-8")
        return path

    return write


def series_of(path):
    """What a log has of a path: (*) is an instance, the total, and that of the print spooler."""
    for instance in ("a", "_Total", "spoolsv") if path.instance == "*" else (path.instance,):
        yield load_shipped().series(path._replace(instance=instance), "HOST")


def found_in(paths):
    """The signals that a host has of which these paths are recorded."""
    finder = Finder(SIGNALS, [series for path in paths for series in series_of(path)], lambda item: True)
    return {name for name in SIGNALS if finder.find(name)}


def test_a_host_recorded_by_the_list_has_every_signal(paths):
    recorded = paths()
    on_windows = {
        name: [source.path.object for source in signal.sources if source.path] for name, signal in SIGNALS.items()
    }
    missing = {name for name, objects in on_windows.items() if objects} - found_in(recorded)
    assert missing == {name for name, objects in on_windows.items() if objects and set(objects) <= OF_OLD}


def test_of_programs_every_version_is_recorded(paths):
    objects = {path.object for path in paths("--only", "messaging")}
    assert {"LC:USrv - 00 - DBStore", "LS:USrv - 01 - DBStore", "LS:USrv - DBStore"} <= objects


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.pack)
def test_what_a_pack_names_is_recorded(paths, pack):
    """A pack names its conditions and the signals to look at; a derived signal needs its operands."""
    result = found_in(paths("--only", pack.pack))
    named = {item for rule in pack.rules for item in (*(c.signal for c in rule.conditions), *rule.look_at)}
    assert named & found_in(paths()) <= result


def test_a_pack_of_ones_own(paths, custom):
    """The pack has a derived signal, and a signal to look at that is of SQL Server."""
    recorded = paths("--only", custom("memory.pool", "sql.lazy_writes"), "--instance", "PAYROLL")
    assert [str(path) for path in recorded] == [
        r"\Memory\Pool Nonpaged Bytes",
        r"\Memory\Pool Paged Bytes",
        r"\SQLServer:Buffer Manager\Lazy writes/sec",
        r"\MSSQL$PAYROLL:Buffer Manager\Lazy writes/sec",
    ]


def test_a_list_is_for_programs_of_windows_and_its_reasons_are_told_beside_it(plimsoll, tmp_path):
    file = tmp_path / "counters.txt"
    done = plimsoll("rules", "counters", "--only", "operating-system", "--out", file)
    written = file.read_bytes()
    assert written.isascii()
    assert written.count(b"\r\n") == written.count(b"\n") > 5
    assert "Processor ends at the 64th processor" in done.err
    printed = plimsoll("rules", "counters", "--only", "operating-system").out
    assert printed.splitlines() == written.decode().splitlines()


def test_a_template_holds_what_the_published_schema_has_and_nothing_a_dll_has_to_say(plimsoll, tmp_path):
    file = tmp_path / "set.xml"
    plimsoll("rules", "counters", "--as", "logman", "--interval", "30s", "--instance", "A", "--out", file)
    root = ET.parse(file).getroot()
    (collector,) = root.findall("PerformanceCounterDataCollector")
    assert root.tag == "DataCollectorSet"
    assert {item.tag for item in root} <= OF_A_SET - {"Description", "DisplayName"}
    assert {item.tag for item in collector} <= OF_A_COLLECTOR
    assert "@" not in "".join(root.itertext())
    assert all(count == 1 for tag, count in Counter(item.tag for item in collector).items() if tag != "Counter")
    result = {item.tag: item.text for item in (*root, *collector)}
    assert (result["SampleInterval"], result["LogFileFormat"], result["Segment"]) == ("30", "3", "-1")
    assert int(result["SegmentMaxSize"] or 0) in range(1, 2048)  # what Windows has for logs
    listed = plimsoll("rules", "counters", "--instance", "A").out.splitlines()
    assert [item.text for item in collector.findall("Counter")] == listed


def test_in_telegraf_no_object_silences_another(plimsoll):
    done = plimsoll("rules", "counters", "--as", "telegraf", "--interval", "30s", "--instance", "A", "--instance", "B")
    plugins = tomllib.loads(done.out)["inputs"]["win_perf_counters"]
    names = [item["ObjectName"].replace("$$", "$") for plugin in plugins for item in plugin["object"]]
    assert len(names) == len(plugins) == len(set(names))
    assert {"SQLServer:Buffer Manager", "MSSQL$A:Buffer Manager", "MSSQL$B:Buffer Manager"} <= set(names)
    assert {plugin["object"][0]["Measurement"] for plugin in plugins} == {find_measurement(name) for name in names}
    assert {plugin["interval"] for plugin in plugins} == {"30s"}
    assert done.err == ""


@pytest.mark.parametrize(
    ("options", "output"),
    [
        (["--only", "sql-servr"], 'pack "sql-servr" is not known (did you mean "sql-server"?)'),
        (["--as", "blg"], "is not one of 'list', 'logman', 'telegraf'"),
        (["--instance", "HOST\\PAYROLL"], "write it like PAYROLL"),
        (["--instance", "MSSQL$PAYROLL"], "write it like PAYROLL"),
        (["--instance", "${NAME}"], "only Telegraf takes variables"),
        (["--instance", "PAYROLL", "--only", "disk"], "none of these counters is SQL Server's"),
        (["--interval", "15s"], "a list does not hold it"),
        (["--interval", "1.5s", "--as", "logman"], "not whole seconds"),
        (["--interval", "often", "--as", "telegraf"], "not a duration"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(plimsoll, options, output):
    done = plimsoll("rules", "counters", *options)
    assert (done.status, done.out) == (2, "")
    assert output in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("signal", ["ldap.response_latency", "ldap.bytes_received"])
def test_a_pack_of_which_windows_has_nothing_says_so(plimsoll, custom, signal):
    done = plimsoll("rules", "counters", "--only", custom(signal))
    assert (done.status, done.out) == (2, "")
    assert "pack own: nothing to collect" in done.err


def test_a_pack_is_not_written_over(plimsoll, custom):
    pack = custom("cpu.busy")
    done = plimsoll("rules", "counters", "--only", pack, "--out", pack)
    assert done.status == 2
    assert pack.read_text(encoding="utf-8").startswith("pack: own")
