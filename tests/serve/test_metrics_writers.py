"""Prometheus, Grafana Alloy and OpenTelemetry's programs write their metrics here as they are."""

import gzip
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from google.protobuf import json_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from plimsoll.api import inputs
from plimsoll.collect.collector import Collector
from plimsoll.receive.line_protocol.series_names import Bounds
from plimsoll.rules.load import load
from plimsoll.rules.signal_finder import Finder
from plimsoll.serve.credentials import create_token
from plimsoll.serve.limits import RequestLimits
from tests.conftest import built, free_port
from tests.receive.messages import first, labelled, part, second, snappy, varint
from tests.serve.site import EVERYWHERE, site, wait_until

REMOTE, OTLP = "/api/v1/write", "/v1/metrics"
V1 = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}
V2 = {**V1, "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request"}
NOW_MS = time.time_ns() // 10_000_000_000 * 10_000
JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}


@pytest.fixture
def here(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data") as made:
        yield made


SERIES = [
    (labelled("node_load1"), [(2.5, NOW_MS), (3.5, NOW_MS + 10_000)]),
    (labelled("node_memory_MemTotal_bytes"), [(8e9, NOW_MS)]),
    (labelled("node_memory_MemAvailable_bytes"), [(2e9, NOW_MS)]),
    (labelled("go_goroutines"), [(7, NOW_MS)]),
    (labelled("node_load5"), [(float("nan"), NOW_MS)]),
]
STORED = {
    ("app01", "system", (), "load1", NOW_MS * 1_000_000): 2.5,
    ("app01", "system", (), "load1", (NOW_MS + 10_000) * 1_000_000): 3.5,
    ("app01", "mem", (), "total", NOW_MS * 1_000_000): 8e9,
    ("app01", "mem", (), "available", NOW_MS * 1_000_000): 2e9,
    ("app01", "mem", (), "available_percent", NOW_MS * 1_000_000): 25,
}


@pytest.mark.parametrize(("headers", "message"), [(V1, first(*SERIES)), (V2, second(*SERIES))], ids=["1", "2"])
def test_remote_write(headers, message, here):
    answer = here.request("POST", REMOTE, snappy(message), headers)
    assert answer.status == 204, answer.data
    assert answer.headers["X-Prometheus-Remote-Write-Samples-Written"] == "6"
    assert here.stored() == STORED
    assert (here.writing.state.unread, here.writing.state.names) == (1, {"go_goroutines"})


def test_it_needs_the_token_of_agents_elsewhere(duckdb, tmp_path):
    with site(duckdb, tmp_path / "data", listen=EVERYWHERE) as here:
        token = create_token(here.folder)
        body = snappy(first(*SERIES))
        assert here.request("POST", REMOTE, body, V1).status == 401
        assert here.request("POST", OTLP, b"{}", JSON).status == 401
        assert here.request("POST", REMOTE, body, {**V1, "Authorization": f"Bearer {token}"}).status == 204


@pytest.mark.parametrize(
    ("body", "headers", "status", "why"),
    [
        (first(*SERIES), V1, 400, "snappy"),
        (snappy(b"\x0a\xff"), V1, 400, "protobuf: "),
        (snappy(part(1, part(1, b"\x0a\x01\xff") + part(2, part(1, 1.0)))), V1, 400, "protobuf: "),
        (snappy(part(5, part(1, varint(7)) + part(2, part(1, 1.0)))), V2, 400, "a label is none of the symbols"),
        (varint(1 << 31) + b"\x00", V1, 413, "too large"),
        (snappy(first(*SERIES)), {**V1, "Content-Encoding": "zstd"}, 415, "packed with snappy"),
        (snappy(first(*SERIES)), {**V1, "Content-Type": "text/plain"}, 415, "application/x-protobuf"),
        (snappy(first((labelled("node_load1", ""), [(1, NOW_MS)]))), V1, 400, "no host"),
        (snappy(first((labelled("node_load1"), [(1, 5)]))), V1, 400, "retention"),
    ],
    ids=[
        *("not packed", "cut short", "no text", "no symbol", "too large", "packed otherwise"),
        *("of another type", "no host", "too old"),
    ],
)
def test_what_is_no_remote_write_is_refused_in_one_line(body, headers, status, why, duckdb, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.serve.site.PAST_S", 3600)
    with site(duckdb, tmp_path / "data") as here:
        answer = here.request("POST", REMOTE, body, headers)
        assert answer.status == status
        assert why in answer.data.decode()
        assert b"\n" not in answer.data.strip()
        assert not here.stored()


def test_the_limits_are_those_of_other_writers(duckdb, tmp_path):
    few = RequestLimits(bounds=Bounds(series=2))
    with site(duckdb, tmp_path / "data", limits=few) as here:
        disks = [(labelled("node_disk_reads_completed_total", device=f"d{n}"), [(n, NOW_MS)]) for n in range(9)]
        answer = here.request("POST", REMOTE, snappy(first(*disks)), V1)
        assert answer.status == 400
        assert b"raise limits.series" in answer.data
        assert len(here.stored()) == 2


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=300), how=st.sampled_from(["snappy", "raw", "gzip", "json", "otlp"]))
def test_any_bytes_are_answered(here, body, how):
    path, headers = (REMOTE, V1) if how in ("snappy", "raw") else (OTLP, JSON if how == "json" else PROTOBUF)
    if how == "gzip":
        headers = {**PROTOBUF, "Content-Encoding": "gzip"}
    answer = here.request("POST", path, snappy(body) if how == "snappy" else body, headers)
    assert answer.status in (200, 204, 400, 413)


def otlp_json(*metrics, attributes=None):
    def told(pairs):
        return [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items()]

    return {
        "resourceMetrics": [
            {
                "resource": {
                    "attributes": told({"host.name": "app02", "os.type": "linux"} if attributes is None else attributes)
                },
                "scopeMetrics": [
                    {
                        "metrics": [
                            {
                                "name": name,
                                kind: {
                                    "aggregationTemporality": 2,
                                    "dataPoints": [
                                        {"timeUnixNano": str(NOW_MS * 1_000_000), **value, "attributes": told(labels)}
                                        for value, labels in points
                                    ],
                                },
                            }
                            for name, kind, points in metrics
                        ]
                    }
                ],
            }
        ]
    }


METRICS = [
    (
        "system.filesystem.usage",
        "sum",
        [
            (
                {"asInt": str(size)},
                {"device": "/dev/sda1", "mountpoint": "/", "type": "ext4", "mode": "rw", "state": state},
            )
            for state, size in (("used", 60), ("free", 30), ("reserved", 10))
        ],
    ),
    ("system.cpu.load_average.1m", "gauge", [({"asDouble": 1.5}, {})]),
    ("process.runtime.go", "gauge", [({"asDouble": 1.5}, {})]),
]


def stored_short(here):
    return {(host, field): value for (host, _, _, field, _), value in here.stored().items()}


def as_protobuf(message):
    """The message of JSON in protobuf."""
    return json_format.ParseDict(message, ExportMetricsServiceRequest(), ignore_unknown_fields=True).SerializeToString()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", [JSON, PROTOBUF], ids=["json", "protobuf"])
def test_otlp(kind, packed, here):
    message = otlp_json(*METRICS)
    body = json.dumps(message).encode() if kind is JSON else as_protobuf(message)
    headers = {**kind, "Content-Encoding": "gzip"} if packed else kind
    answer = here.request("POST", OTLP, gzip.compress(body) if packed else body, headers)
    assert (answer.status, answer.headers["Content-Type"]) == (200, kind["Content-Type"])
    assert answer.data == (b"{}" if kind is JSON else b"")
    assert stored_short(here) == {
        ("app02", "used"): 60,
        ("app02", "free"): 30,
        ("app02", "total"): 100,
        ("app02", "used_percent"): pytest.approx(200 / 3),
        ("app02", "load1"): 1.5,
    }
    assert (here.writing.state.unread, here.writing.state.names) == (1, {"process.runtime.go"})


def test_otlp_without_a_host_says_what_to_do(here):
    message = otlp_json(*METRICS, attributes={"os.type": "linux"})
    answer = here.request("POST", OTLP, json.dumps(message).encode(), JSON)
    told = json.loads(answer.data)["partialSuccess"]
    assert (answer.status, told["rejectedDataPoints"]) == (200, "4")
    assert "resourcedetection" in told["errorMessage"]
    assert b"resourcedetection" in here.request("POST", OTLP, as_protobuf(message), PROTOBUF).data
    assert not here.stored()


def test_sums_as_deltas_are_refused_by_name_and_the_rest_is_kept(here):
    message = json.dumps(otlp_json(*METRICS)).replace('"aggregationTemporality": 2', '"aggregationTemporality": 1')
    told = json.loads(here.request("POST", OTLP, message.encode(), JSON).data)["partialSuccess"]
    assert told["rejectedDataPoints"] == "3"
    assert "deltatocumulative" in told["errorMessage"]
    assert stored_short(here) == {("app02", "load1"): 1.5}
    assert here.writing.state.names == {"system.filesystem.usage (delta)", "process.runtime.go"}


def test_deltas_of_a_real_sdk_are_refused_by_name_and_its_gauges_kept(here):
    """What opentelemetry-sdk 1.39.0 sent of its system metrics with the temporality DELTA."""
    body = (Path(__file__).parent / "otlp-deltas.pb").read_bytes()
    told = here.request("POST", OTLP, body, PROTOBUF).data
    assert b"deltatocumulative" in told
    assert here.writing.state.names == {"system.cpu.time (delta)", "system.network.io (delta)"}
    assert stored_short(here) == {("app05", "free"): 8028758016.0, ("app05", "used"): 4205465600.0}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"[1]", JSON, 400),
        (b'{"resourceMetrics": [1]}', JSON, 400),
        (b"{", JSON, 400),
        (b"[" * 100_000, JSON, 400),
        (b"\x0a\x05", PROTOBUF, 400),
        (b"x", {**PROTOBUF, "Content-Encoding": "gzip"}, 400),
        (b"{}", {"Content-Type": "text/plain"}, 415),
    ],
)
def test_what_is_no_otlp_is_refused(body, headers, status, here):
    answer = here.request("POST", OTLP, body, headers)
    assert answer.status == status
    assert b"Traceback" not in answer.data


PROMETHEUS = """
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: node
    static_configs: [{{targets: ["127.0.0.1:{exporter}"], labels: {{host: app03}}}}]
remote_write:
  - url: {address}/api/v1/write
    authorization: {{credentials: "{token}"}}
  - url: {other}/api/v1/write
"""


def recorded(server, host):
    """What `prometheus://` reads of a server, as `Site.stored` returns it."""
    logs = inputs.read(inputs.Inputs((f"prometheus://{server}?host={host}&last=10m",))).logs
    return {
        (series.host, series.measurement, series.tags, series.field, at): value
        for log in logs
        for series, column in zip(log.series, log.columns, strict=True)
        for at, value in zip(log.times.tolist(), column.tolist(), strict=True)
        if math.isfinite(value)
    }


def test_a_real_prometheus_writes_what_a_real_node_exporter_gives(duckdb, tmp_path, installed, victoriametrics):
    """What it recorded itself, and what VictoriaMetrics received, gives the same values when it is read there."""
    exporter = installed("prometheus-node-exporter", "prometheus-node-exporter")
    prometheus = installed("prometheus", "prometheus")
    configuration = tmp_path / "prometheus.yml"
    port, own_port = free_port(), free_port()
    with site(duckdb, tmp_path / "data", listen=EVERYWHERE) as here:
        configuration.write_text(
            PROMETHEUS.format(
                exporter=port, address=here.address, token=create_token(here.folder), other=victoriametrics
            )
        )
        running = [
            subprocess.Popen([exporter, f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL),
            subprocess.Popen(
                [
                    prometheus,
                    f"--config.file={configuration}",
                    f"--storage.tsdb.path={tmp_path / 'tsdb'}",
                    f"--web.listen-address=127.0.0.1:{own_port}",
                ],
                stderr=subprocess.DEVNULL,
            ),
        ]
        try:
            wait_until(lambda: ("app03", "usage_idle") in stored_short(here))
            running[0].terminate()
            running[0].wait()
            gone = time.time_ns()
            time.sleep(3)  # some scrapes more, which fail
            wait_until(lambda: recorded(f"127.0.0.1:{own_port}", "APP03") == here.stored())
            # A scrape may have been under way; and VictoriaMetrics keeps 15 digits of a value.
            other = victoriametrics.removeprefix("http://")
            wait_until(lambda: recorded(other, "app03") == pytest.approx(here.stored(), rel=1e-9))
        finally:
            for one in running:
                one.terminate()
                one.wait()
        found = here.stored()
        assert {host for host, *_ in found} == {"app03"}
        assert max(at for *_, at in found) <= gone  # the marks of its end are no samples
        assert all(map(math.isfinite, found.values()))
        idle = [
            value
            for (_, name, tags, field, _), value in found.items()
            if (name, tags, field) == ("cpu", (("cpu", "cpu-total"),), "usage_idle")
        ]
        assert idle
        assert all(0 <= one <= 100 for one in idle)
        assert {"available_percent", "load1", "used_percent", "pgmajfault"} <= {field for _, _, _, field, _ in found}


OTELCOL = """
receivers:
  host_metrics:
    collection_interval: 1s
    scrapers:
      cpu:
      load:
      memory:
        metrics:
          system.linux.memory.available: {{enabled: true}}
          system.memory.limit: {{enabled: true}}
      disk:
      filesystem:
      network:
      paging:
      processes:
processors:
  resource: {{attributes: [{{key: host.name, value: app04, action: upsert}}]}}
exporters:
  otlp_http: {{endpoint: "{address}", headers: {{Authorization: "Bearer {token}"}}, encoding: {encoding}}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    metrics: {{receivers: [host_metrics], processors: [resource], exporters: [otlp_http]}}
"""
# What it does not give: docs/exporters.md says it.
NOT_OF_HOSTMETRICS = {
    *("cpu.context_switches", "cpu.interrupts", "disk.bytes", "network.to_disk_bytes", "memory.oom_kills"),
    *("memory.stalled", "memory.stalled_now", "memory.waited_for", "disk.stalled", "cpu.waited_for"),
    *("network.accept_overflows", "network.connections_tracked", "system.open_files"),
    *("tcp.segments_sent", "tcp.segments_retransmitted", "tcp.retransmitted_share"),
    "cpu.processor_busy",  # by default it adds processors up
    *("network.link_percent", "network.received_utilization", "network.sent_utilization", "network.total_utilization"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="compared with what is collected on Linux")
@pytest.mark.parametrize("encoding", ["proto", "json"])
def test_a_real_opentelemetry_collector_writes_what_is_judged(encoding, duckdb, tmp_path):
    otelcol, configuration = built("otelcol"), tmp_path / "otelcol.yaml"
    with site(duckdb, tmp_path / "data", listen=EVERYWHERE) as here:
        token = create_token(here.folder)
        configuration.write_text(OTELCOL.format(address=here.address, token=token, encoding=encoding))
        process = subprocess.Popen([otelcol, "--config", configuration], stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: {("app04", "usage_idle"), ("app04", "reads")} <= stored_short(here).keys())
        finally:
            process.terminate()
            _, said = process.communicate()
        assert "error" not in said, said
        signals = load().signals
        ever = (0, 2**62)
        series = here.store.live.series(*ever).series
        assert {one.host for one in series} == {"app04"}
        collector = Collector("h")
        collector.collect(0)
        time.sleep(0.2)
        mine = Finder(signals, list(collector.collect(10**10).series), lambda _: True)
        theirs = Finder(signals, series, lambda _: True)
        lacking = {name for name, one in signals.items() if not one.fact and mine.find(name) and not theirs.find(name)}
        assert lacking - ({"paging_file.used"} if not psutil.swap_memory().total else set()) <= NOT_OF_HOSTMETRICS
        processors = {value for (_, field), value in stored_short(here).items() if field == "n_cpus"}
        assert processors == {psutil.cpu_count()}
