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
from plimsoll.export.grafana.dashboards.panel_queries import computed_groups, constant_query, group_operands, layers
from plimsoll.export.grafana.dashboards.parts import load_look
from plimsoll.export.grafana.dashboards.runs import HOSTS_URL
from plimsoll.export.selections import drawn, selections
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.signal import Fields, Transform
from plimsoll.rules.subjects import subject_of
from plimsoll.rules.window import combined_fields
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.runs import influx_store
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
        self.store = influx_store(InfluxServer(InfluxAddress(bucket.url, bucket.org, bucket.bucket, bucket.token)))
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
        for one in (one for log in logs for one in log.series):
            self.series.setdefault((one.measurement, one.field), []).append(one)

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
        for query, one in zip(queries, answer["results"], strict=True):
            assert "error" not in one, f"{one['error']}: {query}"
        return [
            [(one.get("tags", {}), one["columns"], one["values"]) for one in result.get("series", ())]
            for result in answer["results"]
        ]

    def asked(self, *questions, **variables):
        return self.ask(*(one.asked(START_S * 1_000, END_S * 1_000, variables) for one in questions))


@pytest.fixture(scope="module")
def filled(influxdb):
    return Filled(influxdb.fresh())


def stored(filled, selection, function, width_s):
    """Return the stored values of a selection by time (ms), for each combination of the tags it groups by."""
    source = selection.source
    if isinstance(source.field, Fields):
        return several(filled, selection, source.field, function, width_s)
    flipped = {"max": "min", "min": "max"} if source.transform.scale < 0 else {}
    found = {}
    for series in filled.series.get((selection.measurement, selection.field), ()):
        if not subject_of(source, series):
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
        own = {at: transform.scale * value + transform.offset for at, value in values.items()}
        before = found.get(key, {})  # instances of a sum have the same key
        found[key] = {at: own.get(at, 0) + before.get(at, 0) for at in {*own, *before}}
    return found


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
        kept = [one for name in names for one in filled.series.get((selection.measurement, name), ())]
        by_tags = {}
        for one in (one for one in kept if subject_of(source, one)):
            by_tags.setdefault((one.host, one.tags), {})[one.field] = one
        found = {}
        for (host, tags), named in by_tags.items():
            if set(fields.names) <= set(named):
                key = tuple(host if tag == "host" else dict(tags).get(tag, "") for tag in selection.group)
                parts = [filled.samples[named[name].key] for name in fields.names]
                pairs = combined_fields(fields.operation, parts, Transform())
                values = reduced(flipped.get(function, function), Samples(pairs.later, pairs.values), width_s)
                transform = source.transform
                own = {at: transform.scale * value + transform.offset for at, value in values.items()}
                before = found.get(key, {})  # instances of a sum have the same key
                found[key] = {at: own.get(at, 0) + before.get(at, 0) for at in {*own, *before}}
        return found
    plain = {"transform": Transform(), "field": ""}
    parts = [
        stored(
            filled,
            replace(selection, field=name, source=source.model_copy(update={**plain, "field": name})),
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
    sides = [stored(filled, one, function, width_s) for one in variant.selections]
    combine = {"sum": operator.add, "difference": operator.sub, "ratio": operator.truediv}.get(variant.operation)
    found = {}
    for key, values in sides[0].items():
        others = [side.get(key, {}) for side in sides[1:]]
        shared = [at for at in values if all(at in one for one in others)]
        shared = [at for at in shared if variant.operation != "ratio" or others[0][at] > 0]
        tags = frozenset((tag, value) for tag, value in zip(variant.group, key, strict=True) if value)
        found[tags] = {at: reduce(combine or operator.add, (one[at] for one in others), values[at]) for at in shared}
    return {tags: values for tags, values in found.items() if values}


def questions_of(spec):
    """Return the queries of a panel."""
    uid = next(area.uid for area in load_areas().areas if any(one is spec for one in area.panels))
    return [question for question in QUESTIONS[uid] if question.panel.get("id") == spec.id and question.target]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.signal}{' ' + spec.drive if spec.drive else ''}")
def test_a_panel_shows_what_the_store_holds(filled, spec):
    """Each subject has the values of the first source that it has, in the intervals that Grafana chooses.

    Windows and Linux hosts are on the same panels, where a signal has sources of both.
    """
    ways = drawn(spec.signal, load_signals())
    asked = [question for question in questions_of(spec) if " limit for " not in question.target["alias"]]
    if not any(question.target.get("hide") for question in asked):
        groups = [*zip(asked, layers(ways), strict=True)]
    else:  # operands of an expression
        every = [sources for alike, _ in computed_groups(ways) for sources in group_operands(alike)]
        distinct = [one for at, one in enumerate(every) if one not in every[:at]]
        groups = [*zip(asked, distinct, strict=True)]
    scale = load_look().units[load_signals()[spec.signal].unit].scale
    hosts = set()
    for (question, some), answer in zip(groups, filled.asked(*asked), strict=True):
        width_s = interval_ms((END_S - START_S) * 1_000, question.points, question.least_ms) // 1_000
        held = {}
        for way in reversed(some):
            for tags, values in expected(filled, way, spec.function, width_s).items():
                held.setdefault(tags, {}).update(values)
        shown = shown_by(answer)
        assert shown
        assert set(shown) == set(held)
        for tags, values in shown.items():
            wanted = held[tags]
            assert values.keys() == wanted.keys()
            assert np.allclose([values[at] for at in wanted], np.multiply([*wanted.values()], scale), 1e-9, 1e-9)
            hosts.add(dict(tags).get("host"))
    if not load_signals()[spec.signal].derived:
        kinds = {one.collector for one in selections(spec.signal, load_signals())}
        assert not {"windows", "telegraf"} <= kinds or {"WEB01", "web02"} <= hosts


@pytest.mark.parametrize("uid", QUESTIONS)
def test_no_panel_is_empty(filled, uid):
    """No variable and no annotation of runs is empty either. That panels of signals are not is seen above."""
    signals = {spec.id for area in load_areas().areas if area.uid == uid for spec in area.panels if spec in SPECS}
    asked = [one for one in QUESTIONS[uid] if one.panel.get("id") not in signals]
    found, variables = {}, {"run": "after", "baseline": "before", "start": str(END_S * 1_000)}
    for question, answer in zip(asked, filled.asked(*asked, **variables), strict=True):
        place = question.panel.get("id") or question.where
        found[place] = found.get(place, 0) + len(answer)
    assert [place for place, series in found.items() if not series] == []


def test_hosts_and_instances_are_chosen(filled):
    question = next(
        one for one in QUESTIONS["plimsoll-disk"] if one.panel.get("id") == 1 and one.target["refId"] == "A"
    )
    (shown,) = filled.asked(question, host="(WEB01|web02)", instance="(0 C:|1 D:)")
    assert {(tags["host"], tags["instance"]) for tags, _, _ in shown} == {("WEB01", "0 C:"), ("WEB01", "1 D:")}
    assert filled.asked(question, host="nobody") == [[]]


def test_variables_offer_hosts_and_instances(filled):
    asked = {one.where: one for one in QUESTIONS["plimsoll-disk"]}
    hosts = {row[1] for _, _, rows in filled.asked(asked["variable host"])[0] for row in rows}
    assert hosts == {"WEB01", "web02", "web03"}
    instances = {row[1] for _, _, rows in filled.asked(asked["variable instance"], host="WEB01")[0] for row in rows}
    assert {"0 C:", "C:"} <= instances
    assert "sda" not in instances


def test_scaled_limits_are_lines_at_the_number_chosen(filled):
    queue = next(one for one in QUESTIONS["plimsoll-disk"] if one.panel.get("id") == 1)
    line = replace(queue, query=constant_query("disk.queue_length", "3 * $spindles"))
    (found,) = filled.asked(line, spindles="4")
    assert len(found) == 3  # of Windows, Telegraf and sysstat
    assert {value for _, _, rows in found for _, value in rows} == {12}


def test_distance_is_a_share_of_the_limit(filled):
    asked = {
        (one.target["alias"], one.target["refId"]): one
        for one in QUESTIONS["plimsoll-health"]
        if one.panel.get("id") == 2
    }
    rising = next(one for (alias, _), one in asked.items() if "|Processor time < 80 %" in alias)
    falling = next(one for (alias, _), one in asked.items() if "Page life expectancy" in alias)
    for question, signal, share in (
        (rising, "cpu.busy", lambda value: 100 * value / 80),
        (falling, "sql.page_life_expectancy", lambda value: 100 * 3600 / (value + 0.0036)),
    ):
        selection = selections(signal, load_signals())[0]
        expected = stored(filled, selection, "mean", 300)[
            tuple("WEB01" if t != "objectname" else "SQLServer:Buffer Manager" for t in selection.group)
        ]
        assert any(
            rows and all(value == pytest.approx(share(expected[at])) for at, value in rows)
            for tags, _, rows in filled.asked(question)[0]
            if tags["host"] == "WEB01"
        )


class TestRuns:
    RUNS = dashboards()["plimsoll-runs"]

    def question(self, where):
        return next(one for one in QUESTIONS["plimsoll-runs"] if one.where.startswith(where))

    def test_the_list_has_what_its_links_need(self, filled):
        (((_, columns, rows),),) = filled.asked(self.question("panel 1 "))
        run = dict(zip(columns, rows[0], strict=True))
        assert [row[columns.index("run")] for row in rows] == ["after", "before"]
        assert run[HOSTS_URL] == "var-host=WEB01&var-host=web02"
        assert (run["time"], run["end_ms"]) == ((START_S + HALF_S) * 1_000, (END_S - 10) * 1_000)
        panel = next(one for one in self.RUNS["panels"] if one["id"] == 1)
        (links,) = [
            it["value"] for one in panel["fieldConfig"]["overrides"] for it in one["properties"] if it["id"] == "links"
        ]
        urls = [link["url"] for link in links]
        assert len(urls) == len(load_areas().areas) + 2
        for url in urls:
            assert (
                "from=${__data.fields.Time.numeric}&to=${__data.fields.end_ms.numeric}&${__data.fields.hosts_url" in url
            )

    def test_runs_are_regions_even_if_they_began_before_the_range(self, filled):
        question = self.question("annotation")
        late = question.asked((END_S - 60) * 1_000, END_S * 1_000)
        (((_, columns, rows),),) = filled.ask(late)
        assert [row[columns.index("title")] for row in rows] == ["after"]
        assert filled.ask(question.asked((END_S + 60) * 1_000, (END_S + 120) * 1_000)) == [[]]

    def asked(self, filled, name, **variables):
        """Return the values of a variable."""
        (found,) = filled.asked(self.question(f"variable {name}"), **variables)
        return [row[1] for _, _, rows in found for row in rows]

    def test_both_runs_begin_with_the_range(self, filled):
        """The latest run is on the left, and the one before it on the right, however late the range is."""
        assert self.asked(filled, "run") == ["after", "before"]
        (start,) = self.asked(filled, "start", run="after")
        assert start == (START_S + HALF_S) * 1_000
        assert self.asked(filled, "baseline", start=str(start)) == ["before"]
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
            (answer,) = filled.ask(self.question(f"variable {name}").asked(begin, 0, later))
            (((_, value),),) = (rows for _, _, rows in answer)
            assert value == shift

    def test_a_range_that_begins_before_the_run_is_not_shifted(self, filled):
        assert self.asked(filled, "shift", run="after") == [0]
        pairs = [one for one in self.RUNS["panels"] if one["type"] == "timeseries"]
        assert [one["timeShift"] for one in pairs] == [
            "${run_days}d-${run_minutes}m",
            "${baseline_days}d-${baseline_minutes}m",
        ] * (len(pairs) // 2)
        assert {one["gridPos"]["x"] for one in pairs} == {0, 12}
