"""The configurations for Linux, loaded and run by a real Telegraf."""

import os
import subprocess
from pathlib import Path

import pytest

from rules.finder import Finder, subject_of
from rules.load import load_signals

TELEGRAF = Path(__file__).parents[2] / "telegraf"
SERVICES = ("openldap.conf", "sqlserver.conf")
# Fields that are there only when a disk was read or written between two samples.
AWAITS = {"r_await": "reads", "w_await": "writes"}
# What Telegraf on Linux gives signals of the host.
LINUX = {
    "cpu.busy",
    "cpu.processor_busy",
    "cpu.context_switches",
    "cpu.interrupts",
    "memory.available",
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
        return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)

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


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("linux.conf", "flush_interval"),
        ("linux.conf", "organization"),
        ("linux.conf", "percpu"),
        ("linux.conf", "source"),
        ("openldap.conf", "reverse_metric_names"),
        ("openldap.conf", "signal"),
        ("sqlserver.conf", "include_query"),
    ],
)
def test_a_misspelt_option_is_refused(checked, name, option):
    wrong = [text.replace(f"  {option} = ", f"  {option}s = ") for text in texts("linux.conf", name)]
    done = checked(*wrong[name == "linux.conf" :])
    assert done.returncode != 0
    assert f"{option}s" in done.stderr


def test_gives_the_series_signals_are_taken_from(collect):
    points, said = collect(TELEGRAF / "linux.conf", seconds=6)
    series = series_of(points)
    signals = load_signals()
    measured = {point.measurement for point in points}
    missing = {
        f"{name}: {source.measurement} {source.field}"
        for name, signal in signals.items()
        for source in signal.sources
        if source.measurement in measured
        and source.field not in AWAITS
        and not any(
            one.measurement == source.measurement and one.field == source.field and subject_of(source, one)
            for one in series
        )
    }
    assert missing == set()
    assert measured >= {"cpu", "kernel", "kernel_vmstat", "mem", "net", "diskio", "processes", "swap", "system"}
    assert "E! [inputs" not in said
    assert "E! [processors" not in said


def test_every_signal_that_applies_is_found(collect):
    points, _ = collect(TELEGRAF / "linux.conf", seconds=6)
    series = series_of(points)
    signals = load_signals()
    finder = Finder(signals, list(series), lambda one: isinstance(series[one], float))
    found = {name for name, signal in signals.items() if finder.find(name) and not signal.fact}
    latencies = {"disk.read_latency", "disk.write_latency"}
    assert found - latencies == LINUX - latencies


def test_what_is_put_together(collect, tmp_path):
    """The processor of linux.conf, fed with samples whose outcome is known."""
    lines = [
        "diskio,host=a,name=sda reads=100i,read_time=1000i,writes=10i,write_time=50i 1000000000",
        "diskio,host=a,name=sdb reads=7i,read_time=70i,writes=0i,write_time=0i 1000000000",
        "diskio,host=a,name=sda reads=140i,read_time=1100i,writes=10i,write_time=50i 11000000000",
        "diskio,host=a,name=sdb reads=7i,read_time=70i,writes=4i,write_time=30i 11000000000",
        # Counting began again.
        "diskio,host=a,name=sda reads=3i,read_time=9i,writes=12i,write_time=20i 21000000000",
        "diskio,host=a,name=sda reads=5i,read_time=10i,writes=12i,write_time=20i 31000000000",
        "net,host=a,interface=eth0 bytes_recv=1000i,bytes_sent=234i 1000000000",
        "kernel_vmstat,host=a pgpgin=40i,pgpgout=2i 1000000000",
        "mem,host=a available=1i 1000000000",
    ]
    fed = tmp_path / "fed"
    fed.write_text("\n".join(lines) + "\n")
    feed = tmp_path / "feed.conf"
    feed.write_text(f'[[inputs.file]]\nfiles = ["{fed}"]\ndata_format = "influx"\n')
    points, _ = collect(TELEGRAF / "linux.conf", feed, options=["--strict-env-handling", "--input-filter", "file"])
    made = {"r_await", "w_await", "transfers", "bytes_total", "pgpg_total"}
    assert len(points) == len(lines)
    # Sorted, since --once may take inputs in any order: the file's own is kept for each series.
    assert sorted(
        (
            point.tags.get("name", point.measurement),
            point.time // 10**9,
            {k: v for k, v in point.fields.items() if k in made},
        )
        for point in points
    ) == [
        ("kernel_vmstat", 1, {"pgpg_total": 42}),
        ("mem", 1, {}),
        ("net", 1, {"bytes_total": 1234}),
        ("sda", 1, {"transfers": 110}),
        ("sda", 11, {"transfers": 150, "r_await": 2.5}),
        ("sda", 21, {"transfers": 15}),
        ("sda", 31, {"transfers": 17, "r_await": 0.5}),
        ("sdb", 1, {"transfers": 7}),
        ("sdb", 11, {"transfers": 11, "w_await": 7.5}),
    ]


def test_disk_latencies_come_where_there_are_requests(collect):
    """Real ones: where the counts of a disk moved between two samples there is a latency, elsewhere none."""
    points, _ = collect(TELEGRAF / "linux.conf", seconds=5)
    last = {}
    for point in (one for one in points if one.measurement == "diskio"):
        before = last.get(point.tags["name"])
        for name, count in AWAITS.items():
            moved = before is not None and point.fields[count] > before[count]
            assert (name in point.fields) == moved
        last[point.tags["name"]] = point.fields
    assert last


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
        ("windows.conf", "ObjectName = ", {}, "MSSQL$SQLEXPRESS:Buffer Manager"),
        ("windows.conf", "alias = ", {}, "MSSQL$SQLEXPRESS:Buffer Manager"),
        ("windows.conf", "ObjectName = ", {"SQLSERVER_INSTANCE": "PAYROLL"}, "MSSQL$PAYROLL:Buffer Manager"),
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
