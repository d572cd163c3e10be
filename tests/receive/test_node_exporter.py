"""A host is the same through a real node_exporter as through the collector, which gives what Telegraf gives."""

import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
import urllib3

from plimsoll.collect.collector import Collector
from plimsoll.collect.sources import disks, system
from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.scrape import ScrapeTarget, read
from plimsoll.receive.exporters.translate import Translator
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.rules.load import load
from plimsoll.rules.signal_finder import Finder
from tests.conftest import free_port

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="node_exporter is of Linux")
NOW = 1_790_000_000 * SECOND
FROZEN = (
    *("stat", "meminfo", "vmstat", "diskstats", "net/netstat", "net/snmp", "net/snmp6", "sys/fs/file-nr"),
    *("pressure/cpu", "pressure/io", "pressure/memory"),
)


@contextmanager
def node_exporter(program, *options):
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen([program, f"--web.listen-address={address}", *options], stderr=subprocess.DEVNULL)
    try:
        yield f"http://{address}/metrics"
    finally:
        process.terminate()
        process.wait()


def fetched(url):
    until = time.monotonic() + 300
    while True:
        try:
            return urllib3.request("GET", url, retries=False, timeout=300).data
        except urllib3.exceptions.HTTPError:
            assert time.monotonic() < until
            time.sleep(0.05)


def values(points):
    """The values by measurement, tags and field, without what only one of the two knows."""
    return {
        (item.measurement, tuple(tag for tag in item.tags if tag[0] != "wwid"), item.field): value
        for item, value in zip((points.series[which] for which in points.which), points.values.tolist(), strict=True)
    }


def freeze(folder):
    for name in FROZEN:
        if (source := Path("/proc") / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(source.read_text())


def go_on(folder):
    """Ten seconds later: each processor has idled for 6 s, worked for 3 s, and waited for 1 s."""
    stat = (folder / "stat").read_text()
    processors_of_it = len(re.findall(r"(?m)^cpu\d", stat))

    def later(line):
        times = [int(part) for part in line[2].split()]
        many = processors_of_it if line[1] == "cpu" else 1
        for at, result in ((0, 300), (3, 600), (4, 100)):
            times[at] += result * many
        return f"{line[1]} {' '.join(map(str, times))}"

    (folder / "stat").write_text(re.sub(r"(?m)^(cpu\d*) +(.*)$", later, stat))


def test_the_same_files_of_the_kernel_give_the_same_values(installed, tmp_path, monkeypatch):
    program = installed("prometheus-node-exporter", "prometheus-node-exporter")
    proc = tmp_path / "proc"
    for module in (disks, system):
        monkeypatch.setattr(module, "PROC", proc)
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(proc))
    freeze(proc)
    groups = {
        "cpu": system.ProcessorShares(),
        "kernel": system.read_counts,
        "paging": system.read_paging,
        "queues": system.read_accept_queues,
        "files": system.open_files,
        "disks": disks.DiskRequests(),
    }
    collector, translator = Collector("h", groups), Translator(load().signals)
    with node_exporter(program, f"--path.procfs={proc}") as url:
        scrape_target = ScrapeTarget(url, labels={"host": "h"})
        for at in (NOW, NOW + 10 * SECOND):
            collected = values(collector.collect(at))
            result = values(Parser().parse(read(fetched(url), scrape_target, translator, at).lines, now=at).points)
            go_on(proc)
    assert collected["cpu", (("cpu", "cpu-total"),), "usage_idle"] == pytest.approx(60)
    outcome = {key: value for key, value in collected.items() if key[2] not in ("usage_guest", "usage_guest_nice")}
    outcome = {key: value for key, value in outcome.items() if not key[2].startswith("io_") or key[2] == "io_time"}
    lacking = outcome.keys() - result.keys()
    assert not lacking
    assert {key: result[key] for key in outcome} == pytest.approx(outcome, rel=1e-9)


def test_all_signals_of_a_host_are_found(installed):
    program = installed("prometheus-node-exporter", "prometheus-node-exporter")
    signals = load().signals
    collector, translator = Collector("h"), Translator(signals)
    collector.collect(NOW)
    with node_exporter(program) as url:
        scrape_target = ScrapeTarget(url, labels={"host": "h"})
        read(fetched(url), scrape_target, translator, NOW)
        time.sleep(0.2)
        collected = collector.collect(NOW + 60 * SECOND)
        text = fetched(url)
        points = Parser().parse(read(text, scrape_target, translator, NOW + 60 * SECOND).lines, now=NOW).points
    mine, theirs = (Finder(signals, list(item.series), lambda _: True) for item in (collected, points))
    lacking = {
        name for name, signal in signals.items() if not signal.fact and mine.find(name) and not theirs.find(name)
    }
    assert lacking == set()
    ours, result = values(collected), values(points)
    for key in (("mem", (), "total"), ("system", (), "n_cpus"), ("linux_sysctl_fs", (), "file-max")):
        assert result[key] == ours[key]
    available = ("mem", (), "available_percent")
    assert result[available] == pytest.approx(ours[available], rel=0.2)
    assert {key for key in ours if key[0] == "disk"} <= result.keys()
