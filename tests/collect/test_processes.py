"""Which processes used most: of this computer, and of hosts whose agent records them."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict

import psutil
import pytest

from plimsoll.alerting.process_lines import ProcessLines, read_top_processes
from plimsoll.collect.processes import KEPT, ProcessUse, ProcessWatch, TopProcesses
from plimsoll.demo.live_host import BACK, HOST, simulate_points
from plimsoll.model.errors import Unreachable
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load_signals
from plimsoll.store.duck.duck_store import open_embedded

MINUTE = 60 * SECOND
BUSY = "import sys, time\nheld = bytearray(80_000_000)\nprint(flush=True)\nwhile True: pass"
SECRET = "--password=Kap-Arkona-28"


@contextmanager
def running(code, *arguments):
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def by_resource(top):
    return {item.resource: item for item in top}


@pytest.fixture
def only(monkeypatch):
    """Makes these processes the only ones that are seen: others on this computer may be busier."""

    def restrict(*pids):
        item = psutil.process_iter
        monkeypatch.setattr(psutil, "process_iter", lambda: (entry for entry in item() if entry.pid in pids))

    return restrict


def processor_seconds(process):
    times = process.cpu_times()
    return times.user + times.system


def test_a_busy_process_is_named_for_the_time_it_was_busy_and_without_its_arguments(only):
    watch = ProcessWatch()
    begun = time.time_ns()
    watch.look(begun)
    with running(BUSY, SECRET) as busy:
        only(os.getpid(), busy.pid)
        process = psutil.Process(busy.pid)
        while processor_seconds(process) < 0.5 or time.time_ns() <= begun + SECOND:
            time.sleep(0.05)
        now = time.time_ns()
        outcome = processor_seconds(process)
        top = watch.top(begun, now, now)
        most = processor_seconds(process)
        result = by_resource(top)
        (use,) = [item for item in result["processor time"].uses if item.pid == busy.pid]
        share = 100 * SECOND / (now - begun)
        assert outcome * share <= use.value * 1.001 <= most * share * 1.002
        assert json.loads(json.dumps([asdict(item) for item in top]))
        assert SECRET not in str([asdict(item) for item in top])
        assert f"({busy.pid})" in str(result["processor time"])
    later = now + 20 * MINUTE
    watch.look(later)
    assert busy.pid in [item.pid for item in by_resource(watch.top(begun, now, later))["processor time"].uses]
    recent = watch.top(now + MINUTE, later, later)
    assert busy.pid not in [use.pid for item in recent for use in item.uses]


def test_looks_once_a_minute_and_keeps_half_an_hour(monkeypatch):
    looks = []
    real = psutil.process_iter
    monkeypatch.setattr(psutil, "process_iter", lambda: looks.append(1) or real())
    watch, start = ProcessWatch(), time.time_ns()
    for at in range(start, start + 60 * MINUTE, 10 * SECOND):
        watch.look(at)
    assert len(looks) == 60
    end = start + 59 * MINUTE
    assert watch.top(end - KEPT - 10 * MINUTE, end - KEPT - 5 * MINUTE, end) == []
    assert watch.top(end - KEPT, end, end) != []


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_what_may_not_be_read_of_a_process_is_left_out(monkeypatch):
    def refused(process):
        raise psutil.AccessDenied(process.pid)

    monkeypatch.setattr(psutil.Process, "io_counters", refused)
    watch, start = ProcessWatch(), time.time_ns()
    watch.look(start - MINUTE)
    assert set(by_resource(watch.top(start - MINUTE, start, start))) <= {"processor time", "memory"}


def test_a_process_that_windows_tells_nothing_of_costs_no_other(monkeypatch):
    real, me = psutil.Process.name, os.getpid()

    def name(process):
        if process.pid != me:
            raise OSError(22, "The parameter is incorrect")
        return real(process)

    monkeypatch.setattr(psutil.Process, "name", name)
    watch, start = ProcessWatch(), time.time_ns()
    watch.look(start - MINUTE)
    assert {use.pid for item in watch.top(start - MINUTE, start, start) for use in item.uses} == {me}


def test_names_of_strangers_cannot_draw_on_a_terminal():
    line = str(TopProcesses("processor time", "%", (ProcessUse("a\x1b[2J\nb" + "c" * 200, os.getpid(), 99.0),)))
    assert line.isprintable()
    assert len(line) < 120


def test_processes_that_an_agent_records_are_found_in_the_store(tmp_path):
    start = 1_800_000_000 * SECOND
    store = open_embedded(tmp_path)
    store.live.write_points(simulate_points(start, start - BACK, start))
    cpu, memory = read_top_processes(store.live, load_signals(), HOST, start - 3 * MINUTE, start)
    assert [use.name for use in cpu.uses] == ["sqlservr", "ReportingServices", "MsMpEng"]
    assert cpu.uses[1].value > 100, "of the time of the report"
    assert str(memory).startswith("Private memory of a process: sqlservr 54 GB, ")
    assert read_top_processes(store.live, load_signals(), "another", start - 3 * MINUTE, start) == []


def test_an_alert_gets_the_processes_of_its_host_and_comes_without_them_if_they_cannot_be_read(
    tmp_path, caplog, monkeypatch
):
    at = 1_800_000_000 * SECOND
    store = open_embedded(tmp_path)
    store.live.write_points(simulate_points(at, at - BACK, at))
    watch = ProcessWatch()
    watch.look(at - MINUTE)
    lines = ProcessLines(store.live, load_signals(), "Own", watch, clock=lambda: at)
    result = lines(at, ["own", HOST, "neither"])
    assert any(line.startswith("memory: ") for line in result["own"])
    assert result[HOST][0].startswith("Processor time of a process: sqlservr 2")
    assert result["neither"] == []

    def broken(*_):
        raise Unreachable("the store does not answer")

    monkeypatch.setattr(store.live, "series", broken)
    assert HOST not in lines(at, [HOST])
    assert f"the processes of {HOST}: cannot be read" in caplog.text
