"""Samples recorded during an outage arrive at once: many scrapes in a request, from several senders in turn."""

import json
import logging

import pytest

from plimsoll.model.times import SECOND
from plimsoll.receive.exporters import otlp, remote_write
from plimsoll.receive.exporters.translate import Translator
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.rules.load import load
from tests.receive.messages import first, labelled

NOW = 1_790_000_000 * SECOND
SCRAPES = 60
TIMES = [NOW - 10 * SECOND * back for back in range(SCRAPES, 0, -1)]
# Idle for 6 of 10 s, and a quarter of the memory; a file system of 100 with 60 used and 30 available.
MODES = {"idle": 0.6, "user": 0.4, **dict.fromkeys(("nice", "system", "iowait", "irq", "softirq", "steal"), 0.0)}
MEMORY = {"node_memory_MemTotal_bytes": 8e9, "node_memory_MemAvailable_bytes": 2e9}
DISK = {"size_bytes": 100, "free_bytes": 40, "avail_bytes": 30, "readonly": 0}
EXPECTED = {
    ("cpu", "usage_idle", "cpu0"): (SCRAPES - 1, 60),
    ("cpu", "usage_idle", "cpu1"): (SCRAPES - 1, 60),
    ("cpu", "usage_idle", "cpu-total"): (SCRAPES - 1, 60),
    ("mem", "available_percent", None): (SCRAPES, 25),
    ("disk", "used_percent", None): (SCRAPES, 200 / 3),
}


@pytest.fixture
def translator():
    return Translator(load().signals)


def shares(lines):
    """How many values each share has, and the one that all of them are."""
    points = Parser().parse(lines, now=NOW).points
    fields = {}
    for which, time, value in zip(points.which.tolist(), points.times.tolist(), points.values.tolist(), strict=True):
        series = points.series[which]
        fields.setdefault((series.measurement, series.field, series.tag("cpu")), {})[time] = value
    return {
        key: (len(fields.get(key, ())), pytest.approx(sum(values.values()) / len(values)) if values else None)
        for key in EXPECTED
        if (values := fields.get(key, {})) is not None
    }


def scrape(at):
    """A scrape of node_exporter, a series for each sample, as Prometheus sends them."""
    values = [
        (labelled("node_cpu_seconds_total", cpu=cpu, mode=mode), share * at / SECOND)
        for cpu in "01"
        for mode, share in MODES.items()
    ]
    values += [(labelled(name), value) for name, value in MEMORY.items()]
    where = {"device": "/dev/sda1", "fstype": "ext4", "mountpoint": "/"}
    values += [(labelled(f"node_filesystem_{name}", **where), value) for name, value in DISK.items()]
    return [(labels, [(value, at // 1_000_000)]) for labels, value in values]


def written(translator, series, now=NOW):
    return remote_write.read(first(*series), translator, version=remote_write.V1, now=now).lines


BACKLOG = [scrape_settings for at in TIMES for scrape_settings in scrape(at)]


def one_after_the_other(series):
    """Two shards of which one has sent all of its part before the other begins; both have processors and memory."""
    return [series[::2], series[1::2]]


def several_times_in_a_series(series):
    fields = {}
    for labels, samples in series:
        fields.setdefault(tuple(labels.items()), []).extend(samples)
    return [[(dict(labels), samples) for labels, samples in fields.items()]]


@pytest.mark.parametrize(
    "requests",
    [
        lambda series: [series],
        lambda series: [series[:401], series[401:]],
        several_times_in_a_series,
        one_after_the_other,
    ],
    ids=["one", "cut", "a series each", "two shards"],
)
def test_remote_write_of_many_scrapes_loses_no_share(requests, translator):
    lines = [written(translator, request) for request in requests(BACKLOG)]
    assert shares(b"\n".join(lines)) == EXPECTED
    assert not translator.lost


def test_what_has_no_room_to_wait_is_told(translator, monkeypatch, caplog):
    monkeypatch.setattr("plimsoll.receive.exporters.translate.MOST_WAITING", 20_000)
    with caplog.at_level(logging.WARNING):
        lines = [written(translator, result) for result in one_after_the_other(BACKLOG)]
    assert shares(b"\n".join(lines))["mem", "available_percent", None][0] < SCRAPES
    assert translator.lost
    assert "waited for others" in caplog.text
    # One request needs no room at all.
    lost = translator.lost
    other = [({**labels, "instance": "app02:9100"}, samples) for labels, samples in BACKLOG]
    assert shares(written(translator, other)) == EXPECTED
    assert translator.lost == lost


def resource(at):
    """What the collector gives of a host at a time; its batch processor puts many into a request."""

    def point(value, **labels):
        rows = [{"key": key, "value": {"stringValue": text}} for key, text in labels.items()]
        return {"timeUnixNano": str(at), "asDouble": value, "attributes": rows}

    def metric(name, *points):
        return {"name": name, "sum": {"aggregationTemporality": 2, "dataPoints": points}}

    states = {"idle": 0.6, "user": 0.4, **dict.fromkeys(("nice", "system", "wait", "interrupt", "softirq", "steal"), 0)}
    where = {"device": "/dev/sda1", "mountpoint": "/", "type": "ext4", "mode": "rw"}
    metrics = [
        metric(
            "system.cpu.time",
            *(
                point(share * at / SECOND, cpu=cpu, state=state)
                for cpu in ("cpu0", "cpu1")
                for state, share in states.items()
            ),
        ),
        metric("system.memory.limit", point(8e9)),
        metric("system.linux.memory.available", point(2e9)),
        metric(
            "system.filesystem.usage",
            *(point(size, **where, state=state) for state, size in (("used", 60), ("free", 30), ("reserved", 10))),
        ),
    ]
    host = {"key": "host.name", "value": {"stringValue": "app01"}}
    return {"resource": {"attributes": [host]}, "scopeMetrics": [{"metrics": metrics}]}


@pytest.mark.parametrize("dot", [".", "_"])
@pytest.mark.parametrize(("total", "size"), [("", ""), ("_seconds_total", "_bytes")])
def test_names_of_each_translation_strategy_are_known(translator, dot, total, size):
    """Prometheus and the collector's exporter name OpenTelemetry's metrics in four ways."""
    states = {"wait": "iowait", "interrupt": "irq"}
    names = {state: name for name, state in states.items()}
    series = [
        (labelled(f"system.cpu.time{total}", cpu=cpu, state=names.get(mode, mode)), share)
        for cpu in ("cpu0", "cpu1")
        for mode, share in MODES.items()
    ]
    memory = {"system.memory.limit": 8e9, "system.linux.memory.available": 2e9}
    samples = [
        ({**labels, "__name__": labels["__name__"].replace(".", dot)}, [(share * at / SECOND, at // 1_000_000)])
        for at in TIMES
        for labels, share in series
    ] + [
        (labelled(f"{name}{size}".replace(".", dot)), [(value, at // 1_000_000)])
        for at in TIMES
        for name, value in memory.items()
    ]
    expected = {key: value for key, value in EXPECTED.items() if key[0] != "disk"}
    assert expected.items() <= shares(written(translator, samples)).items()


def test_scrapers_that_stamp_their_metrics_one_after_the_other_have_one_time(translator):
    """The collector 0.165.0 stamps them up to 30 ms apart in a message."""
    resources = json.loads(json.dumps([resource(at) for at in TIMES]))
    for metrics in (
        metrics for scrape in resources for scope in scrape["scopeMetrics"] for metrics in [scope["metrics"]]
    ):
        for late, metric in enumerate(metrics):
            for point in metric["sum"]["dataPoints"]:
                point["timeUnixNano"] = str(int(point["timeUnixNano"]) + late * 9_000_000)
    body = json.dumps({"resourceMetrics": resources}).encode()
    assert shares(otlp.read(body, translator, is_json=True, now=NOW).lines) == EXPECTED


def test_otlp_of_many_scrapes_loses_no_share(translator):
    body = json.dumps({"resourceMetrics": [resource(at) for at in TIMES]}).encode()
    assert shares(otlp.read(body, translator, is_json=True, now=NOW).lines) == EXPECTED
