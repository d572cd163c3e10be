"""What the collector gives on this computer."""

import logging
import sys
import threading
import time
import tomllib
from pathlib import Path

import psutil
import pytest

from plimsoll.collect.collector import Collector
from plimsoll.collect.sources import disks, file_systems
from plimsoll.collect.sources.file_systems import FileSystemSpace, Mount
from plimsoll.collect.sources.reading import Reading
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load_signals
from plimsoll.rules.signal_finder import Finder
from tests.telegraf.test_linux import LINUX

ROOT = Path(__file__).parents[2]
AT = 1_800_000_000 * SECOND


def twice(collector):
    """The points of two collections, of which the second has what is between two samples."""
    collector.collect(AT)
    time.sleep(0.2)
    return collector.collect(AT + 10 * SECOND)


def outcome(points):
    signals = load_signals()
    finder = Finder(signals, list(points.series), lambda item: True)
    return {name for name, signal in signals.items() if finder.find(name) and not signal.fact}


@pytest.mark.skipif(sys.platform != "linux", reason="of Linux")
def test_every_signal_of_a_linux_host_is_found():
    assert outcome(twice(Collector())) == LINUX


@pytest.mark.skipif(sys.platform != "linux", reason="telegraf/linux.conf is for Linux")
def test_leaves_out_what_linux_conf_leaves_out():
    inputs = tomllib.loads((ROOT / "telegraf" / "linux.conf").read_text())["inputs"]
    assert list(file_systems.LEFT_OUT) == inputs["disk"][0]["ignore_fs"]
    assert list(disks.LEFT_OUT) == inputs["diskio"][0]["tagdrop"]["name"]


def test_a_collection_has_one_time_on_the_grid_and_the_series_of_the_one_before():
    collector = Collector("web01")
    first, second = collector.collect(AT + 3 * SECOND), collector.collect(AT + 13 * SECOND)
    assert set(first.times.tolist()) == {AT}
    assert set(second.times.tolist()) == {AT + 10 * SECOND}
    assert {series.host for series in first.series} == {"web01"}
    assert {id(series) for series in first.series} <= {id(series) for series in second.series}


def test_what_fails_is_said_once_and_the_rest_is_collected(caplog):
    broken = True

    def first():
        yield Reading("net", {"bytes_sent": 1.0})
        if broken:
            raise psutil.AccessDenied(7)

    collector = Collector(
        "a", {"network adapters": first, "memory": lambda: [Reading("mem", {"available": 2.0, "odd": float("nan")})]}
    )
    for at in range(3):
        assert {series.field for series in collector.collect(AT + at).series} == {"bytes_sent", "available"}
    broken = False
    collector.collect(AT)
    assert [record.getMessage() for record in caplog.records] == [
        "network adapters: cannot be collected: AccessDenied (pid=7)",
        "network adapters: collected again",
    ]


def test_a_file_system_that_does_not_answer_holds_nothing_up(caplog):
    answers = threading.Event()
    mounts = [Mount("server:/home", "/home", "nfs4", "rw"), Mount("/dev/sda1", "/", "ext4", "ro,relatime")]

    readers = {}

    def usage(path):
        readers[path] = threading.current_thread()
        if path == "/home":
            answers.wait(600)
        return {"total": 100.0, "used_percent": 40.0}

    free_space = FileSystemSpace(lambda: mounts, usage)
    begun = time.monotonic()
    assert [dict(item.tags)["path"] for item in free_space()] == ["/"]
    assert time.monotonic() - begun < 300
    begun = time.monotonic()
    assert [dict(item.tags)["mode"] for item in free_space()] == ["ro"]
    assert time.monotonic() - begun < 300, "it is waited for again"
    answers.set()
    while "/home" not in (paths := [dict(item.tags)["path"] for item in free_space()]):
        assert time.monotonic() - begun < 300
    assert paths == ["/home", "/"]
    assert readers["/"] is threading.current_thread(), "a thread costs more than a file system on a disk"
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    assert caplog.messages == [
        "/home: does not answer; nothing is collected of it until it does",
        "/home: answers again",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="of Linux")
def test_mounts_are_those_the_first_process_sees(monkeypatch, tmp_path):
    """A service without write access sees all mounts as read-only, and signals exclude read-only mounts."""
    for process, mode in (("1", "rw"), ("self", "ro")):
        (tmp_path / process).mkdir()
        (tmp_path / process / "mountinfo").write_text(
            f"22 1 8:1 / / {mode},relatime shared:1 - ext4 /dev/sda1 rw\n"
            f"30 22 0:50 / /mnt/two\\040words {mode} - nfs4 server:/a\\040b rw\n"
            f"31 22 0:51 / /auto {mode} - autofs systemd-1 rw\n"
            f"32 22 0:52 / /home {mode} - fuse.gocryptfs /mnt/server/home rw\n"
        )
    monkeypatch.setattr(file_systems, "PROC", tmp_path)
    touched, real = [], file_systems.read_kernel_file
    monkeypatch.setattr(file_systems, "read_kernel_file", lambda path: touched.append(str(path)) or real(path))
    result = list(FileSystemSpace(usage=lambda path: {"total": 1.0})())
    assert [item.tags for item in result] == [
        (("device", "sda1"), ("fstype", "ext4"), ("mode", "rw"), ("path", "/")),
        (("device", "server:/a b"), ("fstype", "nfs4"), ("mode", "rw"), ("path", "/mnt/two words")),
        (("device", "/mnt/server/home"), ("fstype", "fuse.gocryptfs"), ("mode", "rw"), ("path", "/home")),
    ]
    assert not any("server" in path for path in touched), "a file server is asked, and may not answer"


def test_macos_has_no_counts_of_the_kernel(monkeypatch):
    # psutil gives other quantities under these names there.
    monkeypatch.setattr(sys, "platform", "darwin")
    points = twice(Collector())
    assert {"cpu.busy", "cpu.load", "memory.available", "paging_file.used"} <= outcome(points)
    assert not {"cpu.context_switches", "cpu.interrupts", "memory.swapped_out"} & outcome(points)
