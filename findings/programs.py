"""The programs that several findings run: Telegraf, InfluxDB, VictoriaMetrics, and the engine of Prometheus."""

import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import (
    Changed,
    build_go_program,
    debian_libraries,
    expect,
    fetch,
    free_port,
    install_debian_package,
    install_go_program,
    install_maven_packages,
    output_of,
    serve,
)

START = 1764322800  # 2025-11-28 09:40:00 UTC, where the series of all findings begin

_TELEGRAF_PLUGINS = (
    "custom aggregators.basicstats inputs.file inputs.mem inputs.prometheus outputs.file outputs.prometheus_client "
    "parsers.csv parsers.influx parsers.prometheus processors.dedup "
    "serializers.csv serializers.graphite serializers.influx serializers.json"
)


def install_telegraf(folder: Path) -> Path:
    """Build Telegraf 1.37.2 with the plugins that the findings use."""
    return install_go_program(folder, "github.com/influxdata/telegraf/cmd/telegraf@v1.37.2", *_TELEGRAF_PLUGINS.split())


def convert_once(telegraf: Path, folder: Path, plugin: str, serializer: str) -> list[str]:
    """Return the lines that Telegraf writes from what an input plugin, a section of TOML, reads once."""
    settings = folder / "once.conf"
    settings.write_text(
        f'[agent]\n  omit_hostname = true\n{plugin}\n[[outputs.file]]\n  files = ["stdout"]\n{serializer}\n', "utf-8"
    )
    return output_of([telegraf, "--config", settings, "--once"], folder).splitlines()


def expose(telegraf: Path, folder: Path, plugin: str, metric_version: int) -> list[str]:
    """Return the samples of an input plugin, read each second, as Telegraf's `prometheus_client` exposes them."""
    port = free_port()
    settings = folder / f"expose-{metric_version}.conf"
    settings.write_text(
        '[agent]\n  omit_hostname = true\n  interval = "1s"\n  flush_interval = "1s"\n'
        f"{plugin}\n[[outputs.prometheus_client]]\n"
        f'  listen = "127.0.0.1:{port}"\n  metric_version = {metric_version}\n'
        '  collectors_exclude = ["gocollector", "process"]\n',
        "utf-8",
    )
    url = f"http://127.0.0.1:{port}/metrics"
    with serve([telegraf, "--config", settings], url, folder):
        for _ in wait(20):
            if lines := [line for line in fetch(url).splitlines() if not line.startswith("#")]:
                return sorted(lines)
    raise Changed("prometheus_client shows nothing within 20 s")


def wait(seconds: float) -> Iterator[None]:
    """Yield every quarter of a second until the time is over."""
    for _ in range(int(seconds * 4)):
        yield
        time.sleep(0.25)


def run_java(folder: Path, source: str, *packages: str) -> str:
    """Run a class `Probe` with packages of Maven on its path; return what it prints."""
    file = folder / "Probe.java"
    file.write_text(source, "utf-8")
    return output_of(["java", "-cp", f"{install_maven_packages(folder, *packages)}/*", file])


@dataclass(frozen=True)
class InfluxDB:
    """An InfluxDB 1.6.7 that runs, with the database `d`."""

    url: str

    def write(self, body: str) -> str:
        """Write line protocol with times in seconds; return what the server answers, nothing if it took all."""
        return fetch(f"{self.url}/write?db=d&precision=s", body.encode())

    def ask(self, query: str) -> list[list[Any]]:
        """Return the rows of a query, times in seconds after START, of all its series."""
        result = json.loads(fetch(f"{self.url}/query", b"", db="d", q=query, epoch="s"))["results"][0]
        if "error" in result:
            raise Changed(f"{query}: {result['error']}")
        rows = [row for series in result.get("series", ()) for row in series["values"]]
        return [[row[0] - START if row[0] else None, *row[1:]] for row in rows]


@contextmanager
def run_influxdb(folder: Path) -> Generator[InfluxDB]:
    """Run the InfluxDB of Debian 12, version 1.6.7, whose InfluxQL InfluxDB 2 and 3 have too."""
    root = install_debian_package(folder, "influxdb=1.6.7~rc0-1+b13")
    url, backup = (f"127.0.0.1:{free_port()}" for _ in range(2))
    settings = folder / "influxdb.conf"
    settings.write_text(
        f'reporting-disabled = true\nbind-address = "{backup}"\n'
        f'[meta]\ndir = "{folder}/meta"\n[data]\ndir = "{folder}/data"\nwal-dir = "{folder}/wal"\n'
        f'[http]\nbind-address = "{url}"\n[monitor]\nstore-enabled = false\n',
        "utf-8",
    )
    server = InfluxDB(f"http://{url}")
    with serve([root / "usr/bin/influxd", "-config", settings], f"{server.url}/ping", folder):
        fetch(f"{server.url}/query", b"", q="create database d")
        yield server


@dataclass(frozen=True)
class VictoriaMetrics:
    """A VictoriaMetrics 1.150.0 that runs."""

    url: str

    def store(self, series: Mapping[str, str], step_s: int = 10) -> None:
        """Store series by name, their values from START on, `_` for a sample that is missing."""
        samples = [
            f"{name} {value} {(START + position * step_s) * 1000}"
            for name, values in series.items()
            for position, value in enumerate(values.split())
            if value != "_"
        ]
        fetch(f"{self.url}/api/v1/import/prometheus", "\n".join(samples).encode())
        self.flush()

    def flush(self) -> None:
        """Make what was stored visible to queries."""
        fetch(f"{self.url}/internal/force_flush")

    def ask(self, query: str, second: float) -> list[float] | str:
        """Return the values of a query at a second after START, or what the server objects to."""
        answer = json.loads(fetch(f"{self.url}/api/v1/query", query=query, time=str(START + second), nocache="1"))
        if answer["status"] != "success":
            return answer["error"]
        return [float(series["value"][1]) for series in answer["data"]["result"]]


@contextmanager
def run_victoriametrics(folder: Path) -> Generator[VictoriaMetrics]:
    """Build and run VictoriaMetrics 1.150.0."""
    program = install_go_program(folder, "github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics@v1.150.0")
    address = f"127.0.0.1:{free_port()}"
    options = [f"-storageDataPath={folder}/data", f"-httpListenAddr={address}", "-retentionPeriod=100y"]
    with serve([program, *options], f"http://{address}/health", folder):
        yield VictoriaMetrics(f"http://{address}")


def ask_prometheus(
    folder: Path, series: Mapping[str, str], queries: Sequence[tuple[str, float]], step_s: int = 10
) -> list[list[float] | str]:
    """Return the values of each query at its second after START, or what the engine of Prometheus 3.13.3 objects to.

    Series are those of `VictoriaMetrics.store`.
    """
    version = "v0.313.3"
    module = "github.com/prometheus/prometheus"
    source = (Path(__file__).parent / "promql_engine.go").read_text("utf-8")
    program = build_go_program(folder, source, f"{module}/tsdb@{version}", f"{module}/promql@{version}")
    task = {
        "Folder": str(folder / "prometheus"),
        "Start": START,
        "Step": step_s,
        "Series": series,
        "Queries": [{"Query": query, "Millisecond": int(second * 1000)} for query, second in queries],
    }
    answers = json.loads(output_of([program], text=json.dumps(task)))
    return [answer if isinstance(answer, str) else [float(value) for value in answer] for answer in answers]


def compare_engines(
    folder: Path, series: Mapping[str, str], queries: Sequence[tuple[str, float]]
) -> list[tuple[list[float] | str, list[float] | str]]:
    """Return what Prometheus and VictoriaMetrics answer to each query."""
    with run_victoriametrics(folder) as server:
        server.store(series)
        stored = [server.ask(*question) for question in queries]
    return list(zip(ask_prometheus(folder, series, queries), stored, strict=True))


def expect_answers(
    folder: Path, series: Mapping[str, str], answers: Sequence[tuple[str, float, Sequence[float], Sequence[float]]]
) -> None:
    """Raise Changed if an engine does not answer as stated: the query, its second, Prometheus, VictoriaMetrics."""
    seen = compare_engines(folder, series, [(query, second) for query, second, *_ in answers])
    for (query, second, *stated), both in zip(answers, seen, strict=True):
        expect(list(both), stated, f"{query} at {second} s, by Prometheus and VictoriaMetrics")


@dataclass(frozen=True)
class RRDtool:
    """RRDtool 1.7.2, with the folder of its files."""

    root: Path
    folder: Path

    def __call__(self, command: str, file: str, *arguments: str) -> str:
        """Run a command on a file, of steps of 10 s from START on, and return its output."""
        begin = ["--start", str(START), "--step", "10"] if command == "create" else []
        program = self.root / "usr/bin/rrdtool"
        return output_of(
            [program, command, file, *begin, *arguments], self.folder, LD_LIBRARY_PATH=debian_libraries(self.root)
        )

    def fetch(self, file: str, function: str, resolution_s: int, end_s: int) -> list[list[float]]:
        """Return the values of each step from START to `end_s` after it, NaN where there is none."""
        span = ["-r", str(resolution_s), "-s", str(START), "-e", str(START + end_s)]
        return [
            [float(value) for value in row.partition(":")[2].split()]
            for row in self("fetch", file, function, *span).splitlines()
            if ":" in row
        ]


def install_rrdtool(folder: Path) -> RRDtool:
    """Return RRDtool 1.7.2 of Debian 12."""
    return RRDtool(
        install_debian_package(folder, "rrdtool=1.7.2-4+b8", "librrd8=1.7.2-4+b8", "libdbi1=0.9.0-6"), folder
    )
