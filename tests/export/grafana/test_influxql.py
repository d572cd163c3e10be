"""InfluxQL queries for signals: the fields they read, the quoting of names, the reduction of samples."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plimsoll.export.grafana.influxql import (
    build_panel_query,
    build_sample_rate_query,
    build_span_query,
    build_state_query,
    build_window_query,
    is_other_subject,
    is_subject,
    list_chosen_conditions,
)
from plimsoll.export.selections import list_selections, list_variants, select_default_instance
from plimsoll.model.file_models import parse_content
from plimsoll.model.series import Series
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.field_types import Reduce
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import find_host, is_total
from tests.export.grafana.committed import FOLDER, TEXTS

SIGNALS = load_signals()


def signal(**options):
    return {"s.s": parse_content(Signal, {"title": "t", "unit": "u", "meaning": "m", **options})}


def panel(selection, function, where):
    value, rest = build_panel_query(selection, function, where)
    return f"SELECT {value}{rest}"


def only_one(**source):
    instances = "each" if "instance" in source else "none"
    return list_selections("s.s", signal(sources=[source], instances=instances))[0]


def test_window_is_read_without_grouping_by_time():
    (busy, *_) = list_selections("cpu.busy", SIGNALS)
    assert build_window_query(busy, "mean") == (
        'SELECT mean("Percent_Processor_Time") FROM "win_cpu" WHERE "objectname" = \'Processor\' '
        'AND "instance" = \'_Total\' AND $timeFilter GROUP BY "host", "source"'
    )


def test_panel_follows_interval_and_variables():
    disk = next(item for item in list_selections("disk.reads", SIGNALS) if item.measurement == "diskio")
    assert panel(disk, "max", list_chosen_conditions(disk)).startswith(
        'SELECT non_negative_derivative(max("reads"), 1s) FROM "diskio" WHERE "name" =~ /./'
    )
    assert panel(disk, "max", list_chosen_conditions(disk)).endswith(
        '$timeFilter AND "host" =~ /^$host$/ AND "name" =~ /^$instance$/ GROUP BY time($__interval), "host", "name" fill(none)'
    )


@pytest.mark.parametrize(
    ("reduce", "value"),
    [
        ("mean", '100 - mean("v")'),
        ("min", '100 - max("v")'),
        ("max", '100 - min("v")'),
        ("last", '100 - last("v")'),
        ("count", 'count("v")'),
        ("sum", 'sum("v") * -1 + count("v") * 100'),
        ("increase", '(last("v") - first("v")) * -1'),
    ],
)
def test_transform_applies_to_samples(reduce, value):
    only = only_one(measurement="m", field="v", transform={"scale": -1, "offset": 100})
    assert build_window_query(only, reduce).startswith(f'SELECT {value} FROM "m"')


def test_each_way_to_reduce_is_the_evaluators_at_every_number_of_samples(influx):
    """InfluxQL's percentile differs (no row for low ranks, rounds half up), so no query uses it."""
    values = {n: [float(at * at % 17) for at in range(n)] for n in range(1, 41)}
    influx.write([f"counts,host=h{n} v={v} {5000 + at}\n" for n, value in values.items() for at, v in enumerate(value)])
    ways: dict[Reduce, Callable[..., Any]] = {
        "mean": np.mean,
        "min": np.min,
        "max": np.max,
        "sum": np.sum,
        "count": np.size,
        "median": np.median,
    }
    only = only_one(measurement="counts", field="v")
    time = "time >= 5000ns and time <= 6000ns"
    for way, tables in zip(
        ways, influx.ask([build_window_query(only, way).replace("$timeFilter", time) for way in ways]), strict=True
    ):
        result = {table.tags["host"]: table.rows[0][1] for table in tables}
        assert result == pytest.approx({f"h{n}": float(ways[way](value)) for n, value in values.items()}), way
    files = [*TEXTS.values(), *(path.read_text("utf-8") for path in FOLDER.parents[1].glob("rules/grafana/*.yaml"))]
    queries = [line for text in files for line in text.splitlines() if "SELECT " in line]
    assert len(queries) > 1000
    assert not [query for query in queries if "percentile(" in query or ("fill(0)" in query and "count(" not in query)]


def test_what_stands_for_an_unknown_value_is_no_sample(influx):
    """As the speed of a link, of which the kernel and Windows write -1, 0, or the highest number of 32 bits."""
    link = next(item for item in list_selections("network.link_percent", SIGNALS) if item.measurement == "net")
    speeds = {"eth0": (-1, 1000, 0), "eth1": (-1, 0, 4294967295), "eth2": (4294967295, 10, 10)}
    influx.write([f"net,host=h,interface={name} speed={v}i {4000 + at}\n" for name, of in speeds.items() for at, v in enumerate(of)])  # fmt: skip
    time = "time >= 4000ns and time <= 4100ns"
    queries = [build_window_query(link, "mean"), build_state_query(link, "{}"), panel(link, "max", ())]
    for tables in influx.ask([query.replace("$timeFilter", time).replace("$__interval", "1s") for query in queries]):
        assert {table.tags["interface"]: table.rows[0][1] for table in tables} == {"eth0": 1_250_000, "eth2": 12_500}


def test_growing_count_becomes_a_rate_of_pairs_inside_the_window():
    only = only_one(measurement="m", field="n", rate=True)
    assert build_window_query(only, "max") == (
        'SELECT max("rate") FROM (SELECT non_negative_derivative("n", 1s) AS "rate" FROM "m" WHERE $timeFilter '
        'GROUP BY "host") WHERE $timeFilter GROUP BY "host"'
    )


@pytest.mark.parametrize("instance", ["_Total", "0,_total", "cpu-total", "CPU-Total", "all", ""])
def test_totals_are_left_out_where_instances_are_kept(instance, influx):
    assert is_total(instance) or not instance
    tag = f",i={instance.replace(',', chr(92) + ',')}" if instance else ""
    influx.write([f"totals{tag},host=h v=1 1000\n", "totals,host=h,i=0 v=2 1000\n"])
    only = only_one(measurement="totals", field="v", instance="i")
    (tables,) = influx.ask([build_window_query(only, "max").replace("$timeFilter", "time >= 0s and time <= 1s")])
    assert [dict(table.tags) for table in tables] == [{"host": "h", "i": "0"}]


def test_names_are_quoted():
    only = only_one(measurement='a"b', field="c\\d", tags={"t'x": "it's"}, host="h\nost")
    assert build_window_query(only, "last") == (
        'SELECT last("c\\\\d") FROM "a\\"b" WHERE "t\'x" = \'it\\\'s\' AND $timeFilter GROUP BY "h\\nost"'
    )


@pytest.mark.parametrize("host", ["WEB01", "a/b", "x.y", "$(h)|^", "[1] {2}", "ünï-cödé", "back\\slash", "end\\"])
def test_one_host_is_chosen_or_left_out_whatever_its_case_and_letters(host, influx):
    written = host.lower().rstrip("\\")
    tag = "".join(f"\\{letter}" if letter in ",= " else letter for letter in written)
    influx.write([f"hosts,host={tag} v=1 2000\n", "hosts,host=other v=2 2000\n"])
    only = only_one(measurement="hosts", field="v")
    time = "time >= 2000ns and time <= 2000ns"
    queries = [build_window_query(only, "last", [condition]).replace("$timeFilter", time) for condition in (is_subject(only, host), is_other_subject(only, host))]  # fmt: skip
    chosen_tables, left = influx.ask(queries)
    assert [table.tags["host"] for table in chosen_tables] == [written]
    assert written not in [table.tags["host"] for table in left]
    assert "other" in [table.tags["host"] for table in left]


def test_one_instance_of_a_host_is_left_out_alone():
    disk = list_selections("disk.queue_length", SIGNALS)[0]
    assert is_other_subject(disk, "A", "0 C:") == f'({is_other_subject(disk, "A")} OR "instance" !~ /(?i)^0 C:$/)'


@pytest.mark.parametrize("host", ["agent", "polled", "web01", "web01.example.org", "web02", "nobody"])
def test_a_computer_that_an_agent_polls_is_a_host_of_its_own(host, influx):
    """`plimsoll review` treats it in the same way."""
    places = [
        *(("agent", "Agent"), ("agent", "polled"), ("web01.example.org", "web01"), ("web02", "localhost")),
        *(("web02", "web02.example.org"), ("web02", "web01.other.org")),
    ]
    (counter, *_) = list_selections("cpu.context_switches", SIGNALS)
    time = "time >= 3000ns and time <= 3000ns"
    measurement, field = counter.measurement, counter.field
    influx.write(
        [f"{measurement},host={result},source={of},objectname=System {field}=1 3000\n" for result, of in places]
    )
    answers = influx.ask(
        [
            build_window_query(counter, "last", [of(counter, host)]).replace("$timeFilter", time)
            for of in (is_subject, is_other_subject)
        ]
    )
    inside, outside = ({(table.tags["host"], table.tags["source"]) for table in tables} for tables in answers)
    assert inside | outside == set(places)
    tags = [{"objectname": "System", "source": of} for _, of in places]
    of_host = [
        find_host(Series(result, measurement, tuple(tag.items()), field))
        for (result, _), tag in zip(places, tags, strict=True)
    ]
    assert inside == {place for place, name in zip(places, of_host, strict=True) if name == host}


def test_sql_server_instances_are_identified_by_their_objects():
    result, telegraf = list_selections("sql.page_life_expectancy", SIGNALS)
    assert result.group == ("host", "source", "objectname")
    assert '"objectname" =~ /^(SQLServer|MSSQL\\$[^:]+):Buffer Manager$/' in build_window_query(result, "last")
    assert telegraf.group == ("sql_instance",)
    assert "\"objectname\" = 'SQLServer:Buffer Manager'" in build_window_query(select_default_instance(result), "last")
    assert select_default_instance(result).group == ("host", "source")


def test_derived_signal_takes_its_operands_from_one_object():
    kinds = [
        [selection.kind for selection in variant.selections]
        for variant in list_variants("disk.reads_and_writes", SIGNALS)
    ]
    assert kinds[:2] == [["PhysicalDisk"] * 2, ["LogicalDisk"] * 2]
    assert all(len(set(kind)) == 1 for kind in kinds)
    ratio = list_variants("network.to_disk_bytes", SIGNALS)[0]
    assert ratio.expression(["A", "B"]) == "$A / $B + 0 / ($B > 0)"
    assert all(
        len({selection.collector for selection in way.selections}) == 1
        for way in list_variants("network.to_disk_bytes", SIGNALS)
    )


def test_operands_of_one_collector_may_have_two_objects_where_those_of_another_share_a_measurement():
    ways = list_variants("sql.page_splits_per_batch", SIGNALS)
    assert [[selection.kind for selection in way.selections] for way in ways] == [
        ["SQLServer:Access Methods", "SQLServer:SQL Statistics"],
        ["sqlserver_performance"] * 2,
    ]
    assert {selection.group for selection in ways[0].selections} == {("host", "source")}


def test_derived_of_derived_is_refused():
    base = signal(sources=["\\Memory\\Pages/sec"])["s.s"]
    pair = signal(derived={"sum": ["s.a", "s.a"]})["s.s"]
    deep = signal(derived={"sum": ["s.b", "s.b"]})["s.s"]
    with pytest.raises(ValueError, match=r"s\.c is derived from s\.b, which is derived itself"):
        list_variants("s.c", {"s.a": base, "s.b": pair, "s.c": deep})


def test_span_of_one_sample_is_nought(influx):
    influx.write(["spans,host=one v=1 3000\n", "spans,host=two v=1 3000\n", "spans,host=two v=1 3400\n"])
    only = only_one(measurement="spans", field="v")
    (tables,) = influx.ask([build_span_query(only).replace("$timeFilter", "time >= 3000ns and time <= 3400ns")])
    assert {table.tags["host"]: table.rows[0][1] for table in tables} == {"one": 0, "two": 400}


def test_every_query_is_influxql(influxql):
    queries = []
    for name, result in SIGNALS.items():
        for selection in list_selections(name, SIGNALS) if not result.derived else ():
            queries += [
                build_window_query(selection, text)
                for text in ("mean", "min", "max", "last", "sum", "count", "median", "increase")
            ]
            queries += [
                build_span_query(selection),
                build_state_query(selection, "{}"),
                panel(selection, "mean", list_chosen_conditions(selection)),
                build_sample_rate_query([selection], 5),
            ]
    plain = [query.replace("$timeFilter", "time > 0").replace("$__interval", "1s") for query in queries]
    assert [fault for fault in influxql(plain) if fault] == []
