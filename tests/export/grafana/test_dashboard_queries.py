"""The dashboards' queries against a real InfluxDB: no panel is empty, and each shows what is stored."""

import operator
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from urllib.parse import urlencode

import fleet
import numpy as np
import pytest
import urllib3

from plimsoll.dashboards.areas import load_areas
from plimsoll.export.grafana.dashboards.panel_queries import (
    build_constant_query,
    group_layers,
    group_operands,
    list_computed_groups,
)
from plimsoll.export.grafana.dashboards.parts import load_look
from plimsoll.export.grafana.dashboards.runs import HOSTS_URL
from plimsoll.export.selections import list_drawn_variants, list_selections
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.signal import Fields, Transform
from plimsoll.rules.subjects import find_subject
from plimsoll.rules.window import combine_field_samples
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.runs import make_influx_store
from plimsoll.store.influx.server import InfluxServer
from tests.export.grafana.committed import dashboards
from tests.export.grafana.panel_queries import interval_ms, questions
from tests.stored_runs import points_of

START_S = 1_790_000_400
END_S = START_S + 1_200
HALF_S = (END_S - START_S) // 2  # each of two runs
HOSTS = [
    fleet.Host("WEB01", "windows"),
    fleet.Host("web02", "telegraf"),
    fleet.Host("web03", "sysstat"),
    fleet.Host("web02", None),
]
QUESTIONS = {data["uid"]: [*questions(data)] for data in dashboards().values()}
SPECS = [spec for area in load_areas().areas for spec in area.panels if spec.kind == "lines"]


class Filled:
    """A bucket with 20 minutes of samples for every source of every signal, and two runs."""

    def __init__(self, bucket):
        self._bucket = bucket
        self._connections = urllib3.PoolManager(timeout=300)
        self.store = make_influx_store(InfluxServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token)))
        times = fleet.times(START_S * SECOND, END_S * SECOND)
        logs = [fleet.log(host, times, every=True) for host in HOSTS]
        for log in logs:
            assert self.store.live.write_points(points_of(log)).refused == 0
        self.samples = {
            series.key: Samples(log.times, column)
            for log in logs
            for series, column in zip(log.series, log.columns, strict=True)
        }
        half = len(times) // 2
        for name, rows in (("before", (0, half)), ("after", (half, len(times)))):
            parts = tuple(Recording.of(log.rows(*rows), "ab") for log in logs[:2])
            self.store.runs.save(StoredRun(Run(name, {"memory": "8GB"}), parts))
        self.series = {}
        for item in (series for log in logs for series in log.series):
            self.series.setdefault((item.measurement, item.field), []).append(item)

    def ask(self, *queries):
        """The series of each answer: tags, columns and rows, times in ms. All are one request."""
        bucket = self._bucket
        address = f"{bucket.url}/query?{urlencode({'db': bucket.bucket, 'epoch': 'ms'})}"
        headers = {
            "Authorization": f"Token {bucket.grafana_token}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        response = self._connections.request(
            "POST", address, body=urlencode({"q": ";\n".join(queries)}), headers=headers
        )
        answer = response.json()
        assert "error" not in answer, answer
        for query, item in zip(queries, answer["results"], strict=True):
            assert "error" not in item, f"{item['error']}: {query}"
        return [
            [(entry.get("tags", {}), entry["columns"], entry["values"]) for entry in result.get("series", ())]
            for result in answer["results"]
        ]

    def requests(self, *questions, **variables):
        return self.ask(*(question.requests(START_S * 1_000, END_S * 1_000, variables) for question in questions))


@pytest.fixture(scope="module")
def filled(influxdb):
    return Filled(influxdb.fresh())


def stored(filled, selection, function, width_s):
    """Return the stored values of a selection by time (ms), for each combination of the tags it groups by."""
    source = selection.source
    if isinstance(source.field, Fields):
        return several(filled, selection, source.field, function, width_s)
    flipped = {"max": "min", "min": "max"} if source.transform.scale < 0 else {}
    fields = {}
    for series in filled.series.get((selection.measurement, selection.field), ()):
        if not find_subject(source, series):
            continue
        values = reduced(flipped.get(function, function), filled.samples[series.key].present, width_s)
        if source.rate:
            values = {
                end: (values[end] - values[start]) / ((end - start) / 1_000)
                for start, end in pairwise(values)
                if values[end] >= values[start]
            }
        transform = source.transform
        key = tuple(series.host if tag == "host" else series.tag(tag) or "" for tag in selection.group)
        result = {at: transform.scale * value + transform.offset for at, value in values.items()}
        before = fields.get(key, {})  # instances of a sum have the same key
        fields[key] = {at: result.get(at, 0) + before.get(at, 0) for at in {*result, *before}}
    return fields


def reduced(function, samples, width_s):
    """Return what a function makes of the samples of each interval, by its start (ms)."""
    starts = samples.times // (width_s * SECOND) * width_s * 1_000
    first = np.flatnonzero(np.diff(starts, prepend=starts[0] - 1))
    if function == "mean":
        values = np.add.reduceat(samples.values, first) / np.diff(first, append=len(starts))
    else:
        values = {"max": np.maximum, "min": np.minimum}[function].reduceat(samples.values, first)
    return dict(zip(starts[first].tolist(), values.tolist(), strict=True))


def several(filled, selection, fields, function, width_s):
    """Same as `stored` for a source with several fields, all of which are in the same points."""
    source = selection.source
    flipped = {"max": "min", "min": "max"} if source.transform.scale < 0 else {}
    if not source.rate:
        names = dict.fromkeys(fields.names)
        kept = [series for name in names for series in filled.series.get((selection.measurement, name), ())]
        by_tags = {}
        for item in (name for name in kept if find_subject(source, name)):
            by_tags.setdefault((item.host, item.tags), {})[item.field] = item
        result = {}
        for (host, tags), named in by_tags.items():
            if set(fields.names) <= set(named):
                key = tuple(host if tag == "host" else dict(tags).get(tag, "") for tag in selection.group)
                parts = [filled.samples[named[name].key] for name in fields.names]
                pairs = combine_field_samples(fields.operation, parts, Transform())
                values = reduced(flipped.get(function, function), Samples(pairs.later, pairs.values), width_s)
                transform = source.transform
                outcome = {at: transform.scale * value + transform.offset for at, value in values.items()}
                before = result.get(key, {})  # instances of a sum have the same key
                result[key] = {at: outcome.get(at, 0) + before.get(at, 0) for at in {*outcome, *before}}
        return result
    plain = {"transform": Transform(), "field": ""}
    parts = [
        stored(
            filled,
            replace(selection, field=name, source=replace(source, **plain | {"field": name})),
            flipped.get(function, function),
            width_s,
        )
        for name in fields.names
    ]
    combine = {"sum": lambda a, b: a + b, "difference": lambda a, b: a - b, "ratio": lambda a, b: a / b}[
        fields.operation
    ]
    transform, (first, second) = source.transform, parts
    return {
        key: {
            at: transform.scale * combine(first[key][at], second[key][at]) + transform.offset
            for at in first[key].keys() & second[key].keys()
            if fields.operation != "ratio" or second[key][at] > 0
        }
        for key in first
    }


def shown_by(answer):
    """Return the values of an answer by time, for each combination of tags.

    Where a part of a query is grouped by the host, InfluxDB returns it for servers that are known by another tag too.
    """
    return {
        frozenset((tag, value) for tag, value in tags.items() if value and not (tag == "host" and tags.get("sql_instance"))): dict(rows)
        for tags, _, rows in answer
    }  # fmt: skip


def expected(filled, variant, function, width_s):
    """Return the values of a variant by time, for each combination of tags."""
    sides = [stored(filled, selection, function, width_s) for selection in variant.selections]
    combine = {"sum": operator.add, "difference": operator.sub, "ratio": operator.truediv}.get(variant.operation)
    fields = {}
    for key, values in sides[0].items():
        rows = [side.get(key, {}) for side in sides[1:]]
        shared = [at for at in values if all(at in other for other in rows)]
        shared = [at for at in shared if variant.operation != "ratio" or rows[0][at] > 0]
        tags = frozenset((tag, value) for tag, value in zip(variant.group, key, strict=True) if value)
        fields[tags] = {at: reduce(combine or operator.add, (other[at] for other in rows), values[at]) for at in shared}
    return {tags: values for tags, values in fields.items() if values}


def questions_of(spec):
    """Return the queries of a panel."""
    uid = next(area.uid for area in load_areas().areas if any(panel is spec for panel in area.panels))
    return [question for question in QUESTIONS[uid] if question.panel.get("id") == spec.id and question.target]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.signal}{' ' + spec.drive if spec.drive else ''}")
def test_a_panel_shows_what_the_store_holds(filled, spec):
    """Each subject has the values of the first source that it has, in the intervals that Grafana chooses.

    Windows and Linux hosts are on the same panels, where a signal has sources of both.
    """
    ways = list_drawn_variants(spec.signal, load_signals())
    result = [question for question in questions_of(spec) if " limit for " not in question.target["alias"]]
    if not any(question.target.get("hide") for question in result):
        groups = [*zip(result, group_layers(ways), strict=True)]
    else:  # operands of an expression
        sources_list = [sources for alike, _ in list_computed_groups(ways) for sources in group_operands(alike)]
        distinct = [sources for at, sources in enumerate(sources_list) if sources not in sources_list[:at]]
        groups = [*zip(result, distinct, strict=True)]
    scale = load_look().units[load_signals()[spec.signal].unit].scale
    hosts = set()
    for (question, outcome), answer in zip(groups, filled.requests(*result), strict=True):
        width_s = interval_ms((END_S - START_S) * 1_000, question.points, question.least_ms) // 1_000
        fields = {}
        for way in reversed(outcome):
            for tags, values in expected(filled, way, spec.function, width_s).items():
                fields.setdefault(tags, {}).update(values)
        shown = shown_by(answer)
        assert shown
        assert set(shown) == set(fields)
        for tags, values in shown.items():
            value = fields[tags]
            assert values.keys() == value.keys()
            assert np.allclose([values[at] for at in value], np.multiply([*value.values()], scale), 1e-9, 1e-9)
            hosts.add(dict(tags).get("host"))
    if not load_signals()[spec.signal].derived:
        of_signal = list_selections(spec.signal, load_signals())
        kinds = {selection.collector for selection in of_signal if selection.host != "sql_instance"}
        assert not {"windows", "telegraf"} <= kinds or {"WEB01", "web02"} <= hosts


@pytest.mark.parametrize("uid", QUESTIONS)
def test_no_panel_is_empty(filled, uid):
    """Nor is any variable or annotation of runs; `test_a_panel_shows_what_the_store_holds` has the panels of signals."""
    signals = {spec.id for area in load_areas().areas if area.uid == uid for spec in area.panels if spec in SPECS}
    rows = [signal_look for signal_look in QUESTIONS[uid] if signal_look.panel.get("id") not in signals]
    result, variables = {}, {"run": "after", "baseline": "before", "start": str(END_S * 1_000)}
    for question, answer in zip(rows, filled.requests(*rows, **variables), strict=True):
        place = question.panel.get("id") or question.where
        result[place] = result.get(place, 0) + len(answer)
    assert [place for place, series in result.items() if not series] == []


def test_hosts_and_instances_are_chosen(filled):
    question = next(
        item for item in QUESTIONS["plimsoll-disk"] if item.panel.get("id") == 1 and item.target["refId"] == "A"
    )
    (shown,) = filled.requests(question, host="(WEB01|web02)", instance="(0 C:|1 D:)")
    assert {(tags["host"], tags["instance"]) for tags, _, _ in shown} == {("WEB01", "0 C:"), ("WEB01", "1 D:")}
    assert filled.requests(question, host="nobody") == [[]]


def test_variables_offer_hosts_and_instances(filled):
    result = {item.where: item for item in QUESTIONS["plimsoll-disk"]}
    hosts = {row[1] for _, _, rows in filled.requests(result["variable host"])[0] for row in rows}
    assert hosts == {"WEB01", "web02", "web03"}
    instances = {row[1] for _, _, rows in filled.requests(result["variable instance"], host="WEB01")[0] for row in rows}
    assert {"0 C:", "C:"} <= instances
    assert "sda" not in instances


def test_scaled_limits_are_lines_at_the_number_chosen(filled):
    queue = next(signal_look for signal_look in QUESTIONS["plimsoll-disk"] if signal_look.panel.get("id") == 1)
    line = replace(queue, query=build_constant_query("disk.queue_length", "3 * $spindles"))
    (result,) = filled.requests(line, spindles="4")
    assert len(result) == 3  # of Windows, Telegraf and sysstat
    assert {value for _, _, rows in result for _, value in rows} == {12}


def test_distance_is_a_share_of_the_limit(filled):
    result = {
        (item.target["alias"], item.target["refId"]): item
        for item in QUESTIONS["plimsoll-health"]
        if item.panel.get("id") == 2
    }
    rising = next(item for (alias, _), item in result.items() if "|Processor time < 80 %" in alias)
    falling = next(item for (alias, _), item in result.items() if "Page life expectancy" in alias)
    for question, signal, share in (
        (rising, "cpu.busy", lambda value: 100 * value / 80),
        (falling, "sql.page_life_expectancy", lambda value: 100 * 3600 / (value + 0.0036)),
    ):
        selection = list_selections(signal, load_signals())[0]
        expected = stored(filled, selection, "mean", 300)[
            tuple("WEB01" if t != "objectname" else "SQLServer:Buffer Manager" for t in selection.group)
        ]
        assert any(
            rows and all(value == pytest.approx(share(expected[at])) for at, value in rows)
            for tags, _, rows in filled.requests(question)[0]
            if tags["host"] == "WEB01"
        )


class TestRuns:
    RUNS = dashboards()["plimsoll-runs"]

    def question(self, where):
        return next(item for item in QUESTIONS["plimsoll-runs"] if item.where.startswith(where))

    def test_the_list_has_what_its_links_need(self, filled):
        (((_, columns, rows),),) = filled.requests(self.question("panel 1 "))
        run = dict(zip(columns, rows[0], strict=True))
        assert [row[columns.index("run")] for row in rows] == ["after", "before"]
        assert run[HOSTS_URL] == "var-host=WEB01&var-host=web02"
        assert (run["time"], run["end_ms"]) == ((START_S + HALF_S) * 1_000, (END_S - 10) * 1_000)
        panel = next(item for item in self.RUNS["panels"] if item["id"] == 1)
        (links,) = [
            it["value"]
            for item in panel["fieldConfig"]["overrides"]
            for it in item["properties"]
            if it["id"] == "links"
        ]
        urls = [link["url"] for link in links]
        assert len(urls) == len(load_areas().areas) + 2
        for url in urls:
            assert (
                "from=${__data.fields.Time.numeric}&to=${__data.fields.end_ms.numeric}&${__data.fields.hosts_url" in url
            )

    def test_runs_are_regions_even_if_they_began_before_the_range(self, filled):
        question = self.question("annotation")
        late = question.requests((END_S - 60) * 1_000, END_S * 1_000)
        (((_, columns, rows),),) = filled.ask(late)
        assert [row[columns.index("title")] for row in rows] == ["after"]
        assert filled.ask(question.requests((END_S + 60) * 1_000, (END_S + 120) * 1_000)) == [[]]

    def requests(self, filled, name, **variables):
        """Return the values of a variable."""
        (result,) = filled.requests(self.question(f"variable {name}"), **variables)
        return [row[1] for _, _, rows in result for row in rows]

    def test_both_runs_begin_with_the_range(self, filled):
        """The latest run is on the left and the previous run on the right, however late the range is."""
        assert self.requests(filled, "run") == ["after", "before"]
        (start,) = self.requests(filled, "start", run="after")
        assert start == (START_S + HALF_S) * 1_000
        assert self.requests(filled, "baseline", start=str(start)) == ["before"]
        later = {"run": "after", "baseline": "before", "start": str(start), "shift": "2890"}
        begin = (START_S + HALF_S + 2_890 * 60) * 1_000
        shifts = {
            "shift": 2_890,
            "run_days": 2,
            "run_minutes": 10,
            "baseline_days": 2,
            "baseline_minutes": 10 + HALF_S // 60,
        }
        for name, shift in shifts.items():
            (answer,) = filled.ask(self.question(f"variable {name}").requests(begin, 0, later))
            (((_, value),),) = (rows for _, _, rows in answer)
            assert value == shift

    def test_a_range_that_begins_before_the_run_is_not_shifted(self, filled):
        assert self.requests(filled, "shift", run="after") == [0]
        pairs = [item for item in self.RUNS["panels"] if item["type"] == "timeseries"]
        assert [pair["timeShift"] for pair in pairs] == [
            "${run_days}d-${run_minutes}m",
            "${baseline_days}d-${baseline_minutes}m",
        ] * (len(pairs) // 2)
        assert {pair["gridPos"]["x"] for pair in pairs} == {0, 12}
