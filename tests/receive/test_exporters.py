"""Metrics of exporters become the series that Telegraf records."""

import contextlib
import json
import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.counter_names.name_clues import fold_name, load_objects
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.receive.exporters import otlp
from plimsoll.receive.exporters.scrape import ScrapeTarget, parse_samples, read
from plimsoll.receive.exporters.translate import AcceptedMetrics, NotMetrics, Translator, find_host
from plimsoll.rules.exporters.exporter_files import Formula, load_exporters
from plimsoll.rules.load import load
from tests.receive.scraping import NOW, WEB1, reported, scraped

CPUS = [
    f'node_cpu_seconds_total{{cpu="{cpu}",mode="{mode}"}}'
    for cpu in (0, 1)
    for mode in ("idle", "user", "nice", "system", "iowait", "irq", "softirq", "steal")
]


def cpus(*values):
    return [f"{name} {value}" for name, value in zip(CPUS, values, strict=True)]


BEFORE = cpus(100, 10, *[0] * 6, 50, 10, *[0] * 6)
AFTER = cpus(104, 16, *[0] * 6, 60, 10, *[0] * 6)


def usage(values, cpu="cpu-total", field="usage_idle"):
    return [value for (item, _), value in values.items() if item.field == field and item.tag("cpu") == cpu]


def test_a_share_waits_for_all_parts_of_a_scrape(translator):
    scraped(translator, "\n".join(BEFORE).encode())
    part = scraped(translator, "\n".join(AFTER[:11]).encode(), 10)
    assert usage(part, "cpu0") == [40]
    assert not usage(part, "cpu1")
    assert not usage(part)
    rest = scraped(translator, "\n".join(AFTER[11:]).encode(), 10)
    assert usage(rest, "cpu1") == [100]
    assert usage(rest) == [70]


def test_a_share_does_not_depend_on_the_order_of_requests(translator):
    scraped(translator, "\n".join(BEFORE).encode())
    later = cpus(108, 22, *[0] * 6, 70, 10, *[0] * 6)
    scraped(translator, "\n".join(later[:8]).encode(), 20)
    assert usage(scraped(translator, "\n".join(AFTER).encode(), 10)) == [70]
    assert usage(scraped(translator, "\n".join(later[8:]).encode(), 20)) == [70]


def test_counts_that_begin_anew_and_long_gaps_have_no_growth(translator):
    scraped(translator, "\n".join(AFTER).encode())
    assert not usage(scraped(translator, "\n".join(BEFORE).encode(), 10))
    assert usage(scraped(translator, "\n".join(AFTER).encode(), 20)) == [70]
    assert not usage(scraped(translator, "\n".join(cpus(*range(200, 216))).encode(), 20 + 601))


def test_a_processor_that_was_added_or_went_offline_makes_no_jump(translator):
    scraped(translator, "\n".join(BEFORE[:8]).encode())
    assert not usage(scraped(translator, "\n".join(AFTER).encode(), 10))
    later = cpus(108, 22, *[0] * 6, 70, 10, *[0] * 6)
    assert usage(scraped(translator, "\n".join(later).encode(), 20)) == [70]
    # Nobody can tell yet whether the rest is still to come; after some minutes it is gone.
    for minute in range(1, 8):
        alone = cpus(108 + 30 * minute, 22 + 30 * minute, *[0] * 14)[:8]
        result = usage(scraped(translator, "\n".join(alone).encode(), 20 + 60 * minute))
        assert result == ([50] if minute > 6 else [])


def test_processors_that_were_added_up_before_are_not_counted(translator):
    """The OpenTelemetry collector adds them up by default."""
    text = """
system_cpu_time_seconds_total{state="user"} %d
system_cpu_time_seconds_total{state="system"} 0
system_cpu_time_seconds_total{state="idle"} %d
system_cpu_time_seconds_total{state="interrupt"} 0
"""
    scraped(translator, (text % (10, 10)).encode())
    result = scraped(translator, (text % (15, 25)).encode(), 10)
    assert usage(result) == [75]
    assert not [item for item, _ in result if item.field == "n_cpus"]
    assert [value for _, value in scraped(translator, b"system_cpu_logical_count 4").items()] == [4]


def test_two_prometheus_that_scrape_a_host_at_nearly_the_same_time(translator):
    scraped(translator, "\n".join(BEFORE).encode())
    scraped(translator, "\n".join(BEFORE).encode(), 0.1)
    assert usage(scraped(translator, "\n".join(AFTER).encode(), 10)) == [70]
    assert usage(scraped(translator, "\n".join(AFTER).encode(), 10.1)) == [70]


def test_a_file_system_has_the_tags_and_the_share_that_telegraf_gives_it(translator):
    labels = 'device="/dev/sda1",fstype="ext4",mountpoint="/var"'
    values = {"size_bytes": 100, "free_bytes": 40, "avail_bytes": 30, "files": 0, "files_free": 0, "readonly": 1}
    text = "".join(f"node_filesystem_{name}{{{labels}}} {value}\n" for name, value in values.items())
    result = scraped(translator, text.encode() + text.replace("ext4", "tmpfs").encode())
    tags = (("device", "sda1"), ("fstype", "ext4"), ("mode", "ro"), ("path", "/var"))
    assert {(item.measurement, item.tags) for item, _ in result} == {("disk", tags)}
    shares = {item.field: value for (item, _), value in result.items()}
    assert shares["used_percent"] == pytest.approx(200 / 3)
    assert shares["inodes_used_percent"] == 0  # as of file systems without a number of inodes


def test_a_metric_that_never_comes_though_others_of_its_group_do_is_named(translator):
    mount = '{device="/dev/sda1",fstype="ext4",mountpoint="/"}'
    for at in range(0, 700, 10):
        scraped(translator, f"node_filesystem_avail_bytes{mount} 9\nnode_load1 1\n".encode(), at)
    assert translator.missing(NOW + 300 * SECOND) == {}
    assert translator.missing(NOW + 700 * SECOND) == {"web1": {"node_filesystem_size_bytes": "space"}}
    for at in range(700, 720, 10):
        text = f"node_filesystem_avail_bytes{mount} 9\nnode_filesystem_size_bytes{mount} 90\n"
        scraped(translator, text.encode(), at)
    assert translator.missing(NOW + 720 * SECOND) == {}


def test_pressure_is_averaged_as_the_kernel_does(translator):
    name = "node_pressure_memory_stalled_seconds_total"
    fields = {}
    for at in range(0, 130, 10):  # half of the time for a minute, then none
        fields |= scraped(translator, f"{name} {min(at, 60) / 2}\n".encode(), at)
    averages = [value for (item, _), value in fields.items() if item.field == "avg60"]
    assert averages[0] == 50  # once the minute is known
    assert len(averages) == 7
    assert averages[-1] == pytest.approx(50 / 2.718281828)
    late = {at: f"{name} {1.02 * at}\n".encode() for at in range(1000, 1030, 10)}  # taken later from time to time
    fields = {key: value for at, text in late.items() for key, value in scraped(translator, text, at).items()}
    assert {value for (item, _), value in fields.items() if item.field == "avg10"} == {100}


def test_telegrafs_own_names_of_prometheus_client(translator):
    text = rb"""
cpu_usage_idle{cpu="cpu-total",host="app01",instance="10.0.0.1:9273",job="telegraf"} 12
win_disk_Avg__Disk_sec_Read{instance="C:",objectname="LogicalDisk",source="APP02",host="APP02"} 0.5
win_mem_Available_Bytes{instance="10.0.0.1:9273",objectname="Memory",source="APP02",host="APP02"} 5
linux_sysctl_fs_file_nr{host="app01"} 3
sqlserver_performance{counter="Page life expectancy",host="APP02",instance="",object="SQLServer:Buffer Manager"} 4000
win_sqlserver_Average_Wait_Time__ms{instance="Page",objectname="SQLServer:Locks",source="APP02",host="APP02"} 7
something_else{host="app01"} 3
"""
    result = scraped(translator, text, target=ScrapeTarget("http://a:1/metrics", host_label="host"))
    assert {(item.host, item.measurement, item.tags, item.field): value for (item, _), value in result.items()} == {
        ("app01", "cpu", (("cpu", "cpu-total"),), "usage_idle"): 12,
        (
            "APP02",
            "win_disk",
            (("instance", "C:"), ("objectname", "LogicalDisk"), ("source", "APP02")),
            "Avg._Disk_sec/Read",
        ): 0.5,
        ("APP02", "win_mem", (("objectname", "Memory"), ("source", "APP02")), "Available_Bytes"): 5,
        ("app01", "linux_sysctl_fs", (), "file-nr"): 3,
        (
            "APP02",
            "sqlserver_performance",
            (("counter", "Page life expectancy"), ("object", "SQLServer:Buffer Manager")),
            "value",
        ): 4000,
        (
            "APP02",
            "win_sqlserver",
            (("instance", "Page"), ("objectname", "SQLServer:Locks"), ("source", "APP02")),
            "Average_Wait_Time_(ms)",
        ): 7,
    }


@pytest.mark.parametrize(
    "named",
    [
        ({"host": "a", "instance": "b:1"}, "a"),
        ({"instance": "app01.example.org:9100"}, "app01.example.org"),
        ({"instance": "[fe80::1]:9100"}, "fe80::1"),
        ({"instance": "fe80::1"}, "fe80::1"),
        ({"job": "node"}, ""),
    ],
)
def test_the_host_of_labels(named):
    labels, host = named
    assert find_host(labels) == host


def test_no_more_is_kept_than_is_allowed():
    few = Translator(load().signals, most_kept=8_000)
    assert read("\n".join(BEFORE).encode(), WEB1, few, NOW).refused > 0


def test_parts_of_a_total_and_names_without_end_take_bounded_memory():
    few = Translator(load().signals, most_kept=400_000)
    fields = {}
    for n in range(0, 4000, 200):
        many = "".join(
            f'windows_pagefile_limit_bytes{{file="{at}",more="{"x" * 900}"}} 5\n' for at in range(n, n + 200)
        )
        fields = scraped(few, many.encode(), 10.0 * n)
    assert few.kept_bytes < 410_000
    assert not fields
    # What is known goes on; a total that lacks parts is none.
    assert usage(scraped(Translator(load().signals), "\n".join(BEFORE).encode())) == []


def test_labels_without_end_take_bounded_memory(translator, monkeypatch):
    """Each request kept 32 MB of labels, which snappy packs into 1.5 MB."""
    monkeypatch.setattr("plimsoll.receive.exporters.translate._MOST_BYTES", 1 << 20)
    tracemalloc.start()
    try:
        for at in range(40):
            text = "\n".join(f'node_load1{{a="{at}-{n}-{"x" * 3000}"}} 1' for n in range(100))
            read(text.encode(), WEB1, translator, NOW)
        assert tracemalloc.get_traced_memory()[0] < 6 << 20
    finally:
        tracemalloc.stop()


def test_a_total_of_more_than_can_be_kept_is_not_told(translator, monkeypatch):
    monkeypatch.setattr("plimsoll.receive.exporters.counter_state._MOST_PARTS", 12)
    for at, lines in ((0, BEFORE), (10, AFTER)):
        result = scraped(translator, "\n".join(lines).encode(), at)
    assert usage(result, "cpu0") == [40]
    assert not usage(result)


def test_one_value_beyond_all_measure_loses_no_others(translator):
    """The sum of two such values was a defect, and lost the samples of all hosts in the request."""
    large = [re.sub(r" \S+$", " 1.7e308", line) for line in BEFORE]
    for at, lines in ((0, large), (10, [re.sub(r" \S+$", " 1.75e308", line) for line in BEFORE])):
        result = scraped(translator, "\n".join([*lines, "node_load1 3"]).encode(), at)
        assert reported(result, "system")["", "load1"] == 3


def otlp_value(value):
    point = {"timeUnixNano": str(NOW), "asInt": value}
    metric = {"name": "node_load1", "gauge": {"dataPoints": [point]}}
    attribute = {"key": "host.name", "value": {"stringValue": "web1"}}
    scopes = [{"metrics": [metric]}]
    message = {"resourceMetrics": [{"resource": {"attributes": [attribute]}, "scopeMetrics": scopes}]}
    return json.dumps(message).encode()


@pytest.mark.parametrize("value", [10**400, "x"])
def test_a_number_that_otlp_cannot_have_is_refused(value, translator):
    with pytest.raises(NotMetrics):
        otlp.read(otlp_value(value), translator, is_json=True, now=NOW)


def test_a_point_of_otlp_without_a_value_is_left_out(translator):
    assert not otlp.read(otlp_value(None), translator, is_json=True, now=NOW).lines
    assert otlp.read(otlp_value(5), translator, is_json=True, now=NOW).lines


def test_a_long_message_holds_up_no_other(translator, monkeypatch):
    monkeypatch.setattr("plimsoll.receive.exporters.translate._AT_ONCE", 1)
    entries = []
    lines = translator.lines
    monkeypatch.setattr(
        translator, "lines", lambda *arguments: entries.append(translator.lock.locked()) or lines(*arguments)
    )
    taken = AcceptedMetrics(translator, NOW)
    for n in range(3):
        assert not translator.lock.locked()
        taken.add(n, lambda: ("node_load1", {}, "web1"), [(NOW, 1.0)])
    taken.finish()
    assert entries == [True] * 3
    assert not translator.lock.locked()


def test_names_of_hosts_that_do_not_end_are_left_out(translator):
    assert not scraped(translator, b"node_load1 1", target=ScrapeTarget("http://a/", labels={"host": "h" * 5000}))


@given(st.binary(max_size=200))
def test_any_bytes_are_metrics_or_refused_with_the_line(content):
    with contextlib.suppress(NotMetrics):
        assert all(isinstance(sample.labels, dict) for sample in parse_samples(content))


def test_the_text_format():
    text = rb"""# HELP a Text
a 1
a{} 2 -1
a{b="c\"d\\e\n,}",f="",} +Inf 1790000000123
  a { b = "x y" }  NaN
"""
    rows = [(sample.name, sample.labels, str(sample.value), sample.time) for sample in parse_samples(text)]
    assert rows == [
        ("a", {}, "1.0", None),
        ("a", {}, "2.0", -1_000_000),
        ("a", {"b": 'c"d\\e\n,}', "f": ""}, "inf", 1_790_000_000_123_000_000),
        ("a", {"b": "x y"}, "nan", None),
    ]


@pytest.mark.parametrize("wrong", [b"<html>", b"a", b"a{b=1} 2", b'a{b="c} 2', b"a 1 2 3", b"a one", b"1a 2"])
def test_what_is_no_metric_is_refused(wrong):
    with pytest.raises(NotMetrics, match=r"line 2|labels"):
        assert [sample.labels for sample in parse_samples(b"x 1\n" + wrong)]


def test_every_field_is_one_that_telegraf_gives():
    """Fields are spelled as the signals have them, or belong to an object whose counters are known."""
    read_by = {
        (source.measurement, field)
        for signal in load().signals.values()
        for source in signal.sources
        if source.measurement
        for field in source.fields
    }
    mine = {
        (group.measurement, field)
        for item in load_exporters().values()
        for group in item.groups
        for field in group.fields
    }
    assert {("cpu", "usage_idle"), ("mem", "available_percent"), ("disk", "used_percent")} <= mine & read_by
    for exporter in load_exporters().values():
        for group in exporter.groups:
            if group.object:
                result = load_objects()[fold_name(group.object)].counters
                assert [field for field in group.fields if fold_name(field) not in result] == []


@pytest.mark.parametrize(
    "wrong", ["1 +", "x", "growth()", "a ** 2", "import os", "a.b", "f(a)", "growth(a)(a)", "'a'", "a if a else a"]
)
def test_a_formula_that_is_none(wrong):
    with pytest.raises(ValueError, match=re.escape(wrong)):
        Formula(wrong, {"a": ()})


def test_series_are_named_as_line_protocol_reads_them(translator):
    odd = 'node_disk_reads_completed_total{device="a b,c=d\\\\"} 1\n'
    result = scraped(translator, odd.encode())
    assert [item for item, _ in result] == [Series("web1", "diskio", (("name", "a b,c=d"),), "reads")]
