"""What the collector gives on Windows, from a host that has the counters of the test."""

import csv
import itertools
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from plimsoll.collect import pdh
from plimsoll.collect.collector import Collector
from plimsoll.collect.pdh import PdhError
from plimsoll.collect.sources import windows
from plimsoll.collect.sources.reading import Patient
from plimsoll.export.counters.counter_list import make_counter_list
from plimsoll.model.names import load_shipped
from plimsoll.model.perfmon import CounterPath
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load_signals
from plimsoll.rules.signal_finder import Finder
from tests.conftest import lacking

AT = 1_800_000_000 * SECOND
SIGNALS = load_signals()
SHARED = Path(__file__).parents[3] / "shared" / "reference" / "counters.csv"


class Host:
    """Answers as pdh.dll does. `values` has, by English path, a number, or names and numbers for `(*)`."""

    def __init__(self, values):
        self.values_of = values
        self.failing = set()
        self.handles = itertools.count(1)
        self.paths = {}
        self.closed = 0

    def objects(self):
        return sorted({CounterPath.parse(path).object for path in self.values_of})

    def open(self):
        return next(self.handles)

    def close(self, query):
        self.closed += 1

    def add(self, query, path):
        if path not in self.values_of:
            return None
        handle = next(self.handles)
        self.paths[handle] = path
        return handle

    def collect(self, query):
        if query in self.failing:
            raise PdhError("PdhCollectQueryData", 0xC0000BDB)
        return True

    def value(self, counter):
        return self.values_of.get(self.paths[counter])

    def values(self, counter):
        return self.values_of.get(self.paths[counter], [])


@pytest.fixture
def minutes(monkeypatch):
    """The minutes that have passed, for what is looked for anew each minute."""
    now = [0.0]
    for module in (windows, pdh):
        monkeypatch.setattr(module.time, "monotonic", lambda: 1e6 + 60 * now[0])
    return now


def collector(host, signals=SIGNALS):
    return Collector("WIN1", windows.list_object_groups("WIN1", signals, host), signals)


def given(points):
    return {series.path or series.key: value for series, value in zip(points.series, points.values, strict=True)}


def by_tags(points):
    return {
        (series.measurement, series.tag("objectname"), series.tag("instance"), series.field): value
        for series, value in zip(points.series, points.values, strict=True)
    }


def test_every_signal_of_a_data_collector_set_is_collected(minutes):
    result = make_counter_list(tuple(SIGNALS), SIGNALS)
    entries = [("spoolsv", 1.0), ("_Total", 2.0)]
    host = Host({str(item): entries if item.instance == "*" else 1.0 for item in result.recorded})
    points = collector(host).collect(AT)
    finder = Finder(SIGNALS, list(points.series), lambda item: True)
    recordable = [name for name in SIGNALS if make_counter_list([name], SIGNALS).paths]
    assert not [name for name in recordable if not finder.find(name) and not SIGNALS[name].fact]
    assert len(recordable) > 250


def test_series_are_those_of_a_log_with_the_same_counters(minutes):
    host = Host(
        {
            r"\Memory\Committed Bytes": 5.0,
            r"\PhysicalDisk(*)\Avg. Disk sec/Read": [("0 C:", 0.012), ("_Total", 0.012)],
            r"\SQLServer:Buffer Manager\Page life expectancy": 4000.0,
        }
    )
    names = load_shipped()
    paths = [
        r"\\WIN1\Memory\Committed Bytes",
        r"\\WIN1\PhysicalDisk(0 C:)\Avg. Disk sec/Read",
        r"\\WIN1\SQLServer:Buffer Manager\Page life expectancy",
    ]
    logged = {names.series(CounterPath.parse(path), "WIN1").key for path in paths}
    points = collector(host).collect(AT)
    assert logged <= {series.key for series in points.series}


def test_the_counters_of_the_studies_are_collected(minutes):
    """The counters of counters.csv that have a name and that current Windows has."""
    if not SHARED.is_file():
        lacking("counters.csv", "it lies in ../shared/reference")
    recorded = {(item.object, item.counter) for item in make_counter_list(tuple(SIGNALS), SIGNALS).recorded}
    with SHARED.open(encoding="utf-8", newline="") as file:
        named = {row["modern_path_suggestion"] for row in csv.DictReader(file) if row["modern_path_suggestion"]}
    rows = {CounterPath.parse("\\" + name) for name in named}
    lost = {
        (item.object, item.counter)
        for item in rows
        # A processor's counters are those of Processor Information, which has all of them.
        if (item.object.replace("Processor", "Processor Information"), item.counter) not in recorded
        and (item.object, item.counter) not in recorded
    }
    assert lost <= {("Memory", "Cache Bytes Peak")}, "only what no signal needs is left out"
    assert len(rows) > 25


def test_instances_are_named_as_performance_monitor_names_them(minutes):
    host = Host({r"\Process(*)\Private Bytes": [("svchost", 1.0), ("Svchost", 2.0), ("_Total", 3.0), ("idle", None)]})
    started = collector(host)
    first = by_tags(started.collect(AT))
    host.values_of[r"\Process(*)\Private Bytes"] = [("svchost", 4.0), ("sqlservr", 5.0)]
    second = by_tags(started.collect(AT + 10 * SECOND))
    assert {name[2]: value for name, value in first.items()} == {"svchost": 1, "Svchost#1": 2}
    assert {name[2]: value for name, value in second.items()} == {"svchost": 4, "sqlservr": 5}


def test_a_service_that_starts_later_is_found(minutes):
    host = Host({r"\Memory\Committed Bytes": 5.0})
    started = collector(host)
    assert len(given(started.collect(AT))) == 1
    host.values_of[r"\MSSQL$PAYROLL:Buffer Manager\Page life expectancy"] = 300.0
    host.values_of[r"\DNS\Total Query Received/sec"] = 7.0
    assert len(given(started.collect(AT + 10 * SECOND))) == 1
    minutes[0] = 1
    started.collect(AT + 70 * SECOND)
    result = by_tags(started.collect(AT + 80 * SECOND))
    assert {(name[1], value) for name, value in result.items()} >= {("MSSQL$PAYROLL:Buffer Manager", 300.0)}
    finder = Finder(SIGNALS, list(started.collect(AT + 90 * SECOND).series), lambda item: True)
    assert finder.find("sql.page_life_expectancy")


def test_a_service_that_was_set_up_anew_is_read_again(minutes):
    host = Host({r"\Memory\Committed Bytes": 5.0})
    started = collector(host)
    started.collect(AT)
    value = host.values_of.pop(r"\Memory\Committed Bytes")
    for at in range(1, 8):
        assert not given(started.collect(AT + 10 * at * SECOND))
    host.paths.clear()  # the counters of before are gone for good
    host.values_of[r"\Memory\Committed Bytes"] = value
    minutes[0] = 2
    assert len(given(started.collect(AT + 120 * SECOND))) == 1


def test_an_object_that_fails_is_said_once_and_costs_no_other(minutes, caplog):
    host = Host({r"\Memory\Committed Bytes": 5.0, r"\System\Processor Queue Length": 1.0})
    started = collector(host)
    started.collect(AT)
    host.failing.add(next(handle for handle, path in host.paths.items() if "Memory" in path) - 1)  # its query
    assert len(given(started.collect(AT + 10 * SECOND))) == 1
    started.collect(AT + 20 * SECOND)
    assert caplog.text.count("Performance Monitor Users") == 1


def test_counters_that_are_switched_off_are_refused_with_what_to_do(minutes):
    started = collector(Host({r"\System\System Up Time": 77.0}))
    assert by_tags(started.collect(AT)) == {("win_system", "System", None, "System_Up_Time"): 77}
    assert "lodctr /E:PerfDisk" in started.failing["PhysicalDisk"]
    assert set(started.failing) == {
        *("LogicalDisk", "Memory", "Network Interface", "PhysicalDisk", "Processor Information")
    }


def test_windows_without_pdh_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    started = Collector("WIN1")
    assert not len(started.collect(AT))
    assert "Telegraf" in started.failing["performance counters"]


def test_an_object_that_does_not_answer_costs_no_other_and_is_said(minutes, caplog):
    hang, begun = Event(), Event()

    class Hanging(Host):
        def collect(self, query):
            if query in self.failing:
                begun.set()
                hang.wait()
            return True

    host: Any = Hanging({r"\Memory\Committed Bytes": 5.0, r"\System\Processor Queue Length": 1.0})
    now = [0.0]
    groups = windows.list_object_groups("WIN1", SIGNALS, host)
    for group in groups.values():
        if isinstance(group, Patient):
            group.patience_s, group._clock = 300, lambda: now[0]
    started = Collector("WIN1", groups, SIGNALS)
    started.collect(AT)
    host.failing.add(next(handle for handle, path in host.paths.items() if "Memory" in path) - 1)  # its query
    memory = groups["Memory"]
    assert isinstance(memory, Patient)
    memory.patience_s = 0
    for passed, silent in ((0.0, {}), (10.0, {}), (50.0, {"Memory": 50.0})):
        now[0] = passed
        assert [series.field for series in started.collect(AT + 10 * SECOND).series] == ["Processor_Queue_Length"]
        assert begun.wait(300)
        assert started.silent == silent
    assert caplog.text.count("Memory: cannot be collected") == 1
    host.failing.clear()
    hang.set()
    assert memory._readings
    memory._readings.result(300)
    memory.patience_s = 300
    assert len(given(started.collect(AT + 70 * SECOND))) == 2
    assert started.silent == {}
    assert "Memory: collected again" in caplog.text
