"""Recording rules give Prometheus what `plimsoll up` makes of the same metrics."""

import json
import re
import subprocess
from collections import defaultdict
from dataclasses import replace

import pytest
import yaml

from plimsoll.export.prometheus.alerting_rules import PrometheusOptions
from plimsoll.export.prometheus.rule_files import export
from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.scrape import ScrapeTarget, read
from plimsoll.receive.exporters.translate import Translator
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.rules.exporters.exporter_files import load_exporters, make_plain_name
from plimsoll.rules.load import load
from tests.conftest import built

SAMPLES = 8
PERIOD = 10
# What Prometheus averages over a window, Plimsoll averages as the kernel does.
AVERAGES = ("pressure_avg10", "pressure_avg60")
LABELS = {
    "cpu": ["0", "1"],
    "core": ["0,0", "0,1"],
    "device": ["sda", "/dev/sdb", "lo", "loop3"],
    "mountpoint": ["/", "/var lib"],
    "volume": ["C:"],
    "disk": ["0", "1"],
    "nic": ["Intel R"],
    "file": ["p", "q"],
    "fstype": ["ext4"],
    "type": ["ext4", "tmpfs"],
    "mode": ["rw"],
    "mssql_instance": ["MSSQLSERVER", "PAY"],
    "resource": ["Key", "Page", "_Total"],
    "database": ["app"],
    "process": ["w3wp", "Idle"],
    "process_id": ["7"],
    "site": ["shop", "_Total"],
    "method": ["GET", "POST"],
    **{
        name: ["a b"]
        for name in ("app", "name", "server", "share", "vm", "balancer", "vm_device", "adapter", "session_name")
    },
    "replica": ["app:B"],
    "namespace": ["shop"],
    "pod": ["web-1"],
    "container": ["app"],
}


def recorded_by(exporter):
    """Series of every metric of an exporter, with the newest of its names: each with a slope of its own."""
    fields = {}
    for group in load_exporters()[exporter].groups:
        needed = dict.fromkeys((*group.over, *group.labels))
        for metrics in group.sources.values():
            metric = next(item for item in metrics if re.fullmatch(r"\w+", item.name))
            pairs = [{}]
            for label in needed:
                pairs = [{**pair, label: value} for pair in pairs for value in LABELS[label]]
            for pair in pairs:
                labels = {**pair, **dict(metric.labels)}
                fields[metric.name, tuple(sorted(labels.items()))] = None
    steps = {}
    for at, key in enumerate(sorted(fields)):
        steps[key] = [float(100 + at + (at % 7 + 1) * 8 * n) for n in range(SAMPLES)]
        if key[0].endswith("readonly"):
            steps[key] = [0.0] * SAMPLES
    return steps


def written_labels(labels):
    return ",".join(f"{name}={json.dumps(value)}" for name, value in labels)


def by_plimsoll(steps):
    """What `plimsoll up` makes of the series: by metric in Prometheus and labels, the value at each time."""
    translator, parser = Translator(load().signals), Parser()
    result = defaultdict(dict)
    for n in range(SAMPLES):
        text = "".join(
            f"{name}{{{written_labels(labels)}}} {values[n]!r}\n" for (name, labels), values in steps.items()
        )
        at = n * PERIOD * SECOND
        lines = read(text.encode(), ScrapeTarget("http://app01:9100/"), translator, at).lines
        points = parser.parse(lines, now=at).points
        for which, value in zip(points.which.tolist(), points.values.tolist(), strict=True):
            series = points.series[which]
            name = make_plain_name(f"{series.measurement}_{series.field}")
            result[name, (("host", series.host), *series.tags)][n] = value
    return result


@pytest.mark.parametrize("exporter", sorted(load_exporters()))
def test_prometheus_records_what_plimsoll_receives(exporter, tmp_path):
    promtool = built("promtool")
    signals = load().signals
    result = export(load((), ("linux",)).packs, signals, options=PrometheusOptions(names=(exporter,)))
    name = f"{exporter}.names.rules.yaml"
    (tmp_path / name).write_text(result.files[name])
    recorded = {rule["record"] for rule in yaml.safe_load(result.files[name])["groups"][0]["rules"]}
    steps = recorded_by(exporter)
    expected = {
        key: values for key, values in by_plimsoll(steps).items() if key[0] in recorded and key[0] not in AVERAGES
    }
    assert {name for name, _ in expected} == recorded - set(AVERAGES)
    last = SAMPLES - 1
    tests = [
        {
            "expr": f"round({metric}, 0.000001)",
            "eval_time": f"{last * PERIOD}s",
            "exp_samples": [
                {"labels": f"{{{written_labels(labels)}}}", "value": round(values[last], 6)}
                for (of, labels), values in expected.items()
                if of == metric
            ],
        }
        for metric in sorted(recorded - set(AVERAGES))
    ]
    document = {
        "rule_files": [name],
        "evaluation_interval": f"{PERIOD}s",
        "fuzzy_compare": True,
        "tests": [
            {
                "interval": f"{PERIOD}s",
                "input_series": [
                    {
                        "series": f"{metric}{{{written_labels((*labels, ('instance', 'app01:9100'), ('job', 'node')))}}}",
                        "values": " ".join(f"{value:.10g}" for value in values),
                    }
                    for (metric, labels), values in steps.items()
                ],
                "promql_expr_test": tests,
            }
        ],
    }
    (tmp_path / "names.test.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [promtool, "test", "rules", tmp_path / "names.test.yaml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_fire_on_what_windows_exporter_records(tmp_path):
    """A host whose memory is nearly used up fires the rule that reads Telegraf's name of the metric."""
    promtool = built("promtool")
    (pack,) = load((), ("windows",)).packs
    read = tuple(rule for rule in pack.rules if rule.signal == "memory.committed")
    result = export(
        [replace(pack, rules=read)],
        load().signals,
        options=PrometheusOptions(names=("windows_exporter",)),
    )
    for name, content in result.files.items():
        (tmp_path / name).write_text(content)
    document = {
        "rule_files": [*result.files],
        "evaluation_interval": "10s",
        "tests": [
            {
                "interval": "10s",
                "input_series": [
                    {"series": 'windows_memory_commit_limit{instance="W:9182",job="w"}', "values": "100x100"},
                    {"series": 'windows_memory_committed_bytes{instance="W:9182",job="w"}', "values": "99x100"},
                ],
                "promql_expr_test": [
                    {
                        "expr": 'count by (alertname, host) (ALERTS{alertstate="firing", signal="memory.committed"}) > 0',
                        "eval_time": "16m",
                        "exp_samples": [
                            {"labels": f'{{alertname="{name}", host="W"}}', "value": 1}
                            for name in ("windows-memory-committed", "windows-memory-committed-critical")
                        ],
                    }
                ],
            }
        ],
    }
    (tmp_path / "alerts.test.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [promtool, "test", "rules", tmp_path / "alerts.test.yaml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_that_are_not_known(plimsoll, tmp_path):
    done = plimsoll("prometheus", "export", "--out", tmp_path / "rules", "--names", "node-exporter")
    assert (done.status, done.out) == (2, "")
    assert 'did you mean "node_exporter"?' in done.err
