"""The configurations for Linux, loaded and run by a real Telegraf."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from plimsoll.model.samples import Samples
from plimsoll.review.recorded_signals import compute_signal_samples
from plimsoll.rules.load import load_signals
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.subjects import find_subject

TELEGRAF = Path(__file__).parents[2] / "telegraf"
SERVICES = ("openldap.conf", "sqlserver.conf")
# sysstat files swapping under a measurement of Telegraf's.
SYSSTAT_SWAP = {"pswpout_per_s", "pswpin_per_s"}
# Ways to take a signal that are for what was stored by older versions of linux.conf, which put these together itself.
OF_OLD = {"transfers", "r_await", "w_await", "bytes_total", "pgpg_total"}
# What Telegraf on Linux gives signals of the host.
LINUX = {
    "network.total_utilization",
    "cpu.busy",
    "cpu.processor_busy",
    "cpu.context_switches",
    "cpu.interrupts",
    "memory.available",
    "memory.total",
    "memory.cache_bytes",
    "paging_file.used",
    "disk.queue_length",
    "disk.busy",
    "disk.reads",
    "disk.writes",
    "disk.transfers",
    "disk.reads_and_writes",
    "disk.read_latency",
    "disk.write_latency",
    "disk.bytes",
    "network.bytes",
    "network.bytes_total",
    "network.to_disk_bytes",
    "network.outbound_errors",
    "network.received_errors",
    "network.errors",
    "cpu.privileged",
    "cpu.privileged_share",
    "cpu.working",
    "cpu.iowait",
    "cpu.steal",
    "cpu.load",
    "cpu.waited_for",
    "memory.available_percent",
    "memory.swapped_out",
    "memory.swapped_in",
    "memory.major_faults",
    "memory.oom_kills",
    "memory.stalled",
    "memory.stalled_now",
    "memory.waited_for",
    "disk.free",
    "disk.free_bytes",
    "disk.size",
    "disk.size_percent",
    "disk.inodes_used",
    "disk.stalled",
    "network.sent",
    "network.received",
    "network.link_percent",
    "network.sent_utilization",
    "network.received_utilization",
    "network.received_error_rate",
    "network.received_packets",
    "network.received_discards",
    "network.received_discard_share",
    "network.sent_packets",
    "network.sent_discards",
    "network.sent_discard_share",
    "network.received_error_share",
    "network.sent_error_rate",
    "network.sent_error_share",
    "network.connections_tracked",
    "network.accept_overflows",
    "tcp.segments_sent",
    "tcp.segments_retransmitted",
    "tcp.retransmitted_share",
    "system.open_files",
}


def series_of(points):
    return {series: value for point in points for series, value in point.series().items()}


@pytest.fixture
def checked(telegraf, environment, tmp_path):
    """Loads configurations as `telegraf config check` does."""

    def check(*texts):
        files = []
        for at, text in enumerate(texts):
            files.append(tmp_path / f"{at}.conf")
            files[-1].write_text(text)
        command = [str(telegraf), "--strict-env-handling", "config", "check", *(f"--config={file}" for file in files)]
        variables = {**os.environ, **environment, "SQLSERVER_CONNECTION": "Server=sql1;Password=x;"}
        return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300, check=False)

    return check


def texts(*names):
    return [(TELEGRAF / name).read_text() for name in names]


@pytest.mark.parametrize(
    "names", [("linux.conf",), *(("linux.conf", name) for name in SERVICES), ("linux.conf", *SERVICES)]
)
def test_loads(checked, names):
    done = checked(*texts(*names))
    assert done.returncode == 0, done.stderr
    assert "E!" not in done.stderr


def test_gives_the_series_signals_are_taken_from(collect):
    points, result = collect(TELEGRAF / "linux.conf", seconds=6)
    series = series_of(points)
    signals = load_signals()
    measured = {point.measurement for point in points}
    missing = {
        f"{name}: {source.measurement} {field}"
        for name, signal in signals.items()
        for source in signal.sources
        if source.measurement in measured and source.instance != "device" and source.fields[0] not in SYSSTAT_SWAP
        for field in source.fields
        if field not in OF_OLD
        and not any(
            item.measurement == source.measurement and item.field == field and find_subject(source, item)
            for item in series
        )
    }
    assert missing == set()
    assert measured >= {"cpu", "disk", "kernel", "kernel_vmstat", "mem", "net", "diskio", "processes", "swap", "system"}
    assert measured >= {"conntrack", "linux_sysctl_fs", "nstat", "pressure"}
    assert "E! [inputs" not in result


def test_every_signal_that_applies_is_found(collect):
    points, _ = collect(TELEGRAF / "linux.conf", seconds=6)
    series = series_of(points)
    signals = load_signals()
    finder = Finder(signals, list(series), lambda item: isinstance(series[item], float))
    names = {name for name, signal in signals.items() if finder.find(name) and not signal.fact}
    assert names == LINUX


def test_disk_latencies_come_where_there_are_requests(collect):
    """A latency exists only where a disk's counts moved between two samples."""
    points, _ = collect(TELEGRAF / "linux.conf", seconds=5)
    of_disk = [entry for entry in points if entry.measurement == "diskio"]
    times = np.array(sorted({entry.time for entry in of_disk}))
    values = {}
    for point in of_disk:
        for item, value in point.series().items():
            values.setdefault(item, np.full(len(times), np.nan))[times == point.time] = value
    finder = Finder(load_signals(), list(values), lambda entry: True)
    for signal, count in (("disk.read_latency", "reads"), ("disk.write_latency", "writes")):
        for subject, origin in finder.find(signal).values():
            requests = next(
                v for entry, v in values.items() if entry.tag("name") == subject.instance and entry.field == count
            )
            result = compute_signal_samples(origin, lambda entry: Samples(times, values[entry]))
            assert result is not None
            assert result.times.tolist() == times[1:][np.diff(requests) > 0].tolist()
            assert (result.values >= 0).all()


def test_partitions_are_left_out(collect, tmp_path):
    names = (
        "sda",
        "sda1",
        "vdb",
        "vdb12",
        "nvme0n1",
        "nvme0n1p2",
        "mmcblk0",
        "mmcblk0p1",
        "dm-0",
        "md0",
        "loop3",
        "sr0",
        "xvda1",
    )
    fed = tmp_path / "fed"
    fed.write_text(
        "".join(f"diskio,host=a,name={name} reads=1i,read_time=1i,writes=1i,write_time=1i 1\n" for name in names)
    )
    feed = tmp_path / "feed.conf"
    # The filter of linux.conf's diskio, on an input whose points are known.
    text = (TELEGRAF / "linux.conf").read_text()
    tagdrop = next(line for line in text.splitlines() if line.strip().startswith('name = ["loop*"'))
    feed.write_text(f'[[inputs.file]]\nfiles = ["{fed}"]\ndata_format = "influx"\n[inputs.file.tagdrop]\n{tagdrop}\n')
    points, _ = collect(feed)
    assert {point.tags["name"] for point in points} == {"sda", "vdb", "nvme0n1", "mmcblk0", "dm-0", "md0", "xvda1"}


@pytest.mark.parametrize("handling", ["--strict-env-handling", "--non-strict-env-handling"])
@pytest.mark.parametrize(
    ("name", "setting", "variables", "expected"),
    [
        ("windows.conf", "ObjectName = ", {}, "MSSQL$SQLEXPRESS:Databases"),
        ("windows.conf", "alias = ", {}, "MSSQL$SQLEXPRESS:Databases"),
        ("windows.conf", "ObjectName = ", {"SQLSERVER_INSTANCE": "PAYROLL"}, "MSSQL$PAYROLL:Databases"),
        ("openldap.conf", "environment = ", {}, "LDAP_URL=ldap://localhost:389"),
        ("openldap.conf", "environment = ", {"LDAP_HOST": "ldap1"}, "LDAP_URL=ldap://ldap1:389"),
        ("openldap.conf", "environment = ", {"LDAP_URL": "ldaps://l:636"}, "LDAP_URL=ldaps://l:636"),
        ("openldap.conf", "bind_dn = ", {}, None),
    ],
)
def test_variables_come_out_as_meant(collect, tmp_path, handling, name, setting, variables, expected):
    """In either of Telegraf's ways: its service for Windows knows only the one that is not strict.

    `$` starts a variable, so MSSQL$NAME has to be spelt otherwise.
    """
    lines = [line.strip() for line in (TELEGRAF / name).read_text().splitlines() if setting in line]
    written = next(line for line in lines if "${" in line).removeprefix(setting).strip("[]")
    fed = tmp_path / "fed"
    fed.write_text("x v=1\n")
    feed = tmp_path / "feed.conf"
    feed.write_text(f'[[inputs.file]]\nfiles = ["{fed}"]\ndata_format = "influx"\n[inputs.file.tags]\nx = {written}\n')
    points, _ = collect(feed, variables=variables, options=[handling])
    assert points[0].tags.get("x") == expected
