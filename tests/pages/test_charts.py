"""The data of charts: every extreme and every gap, the lines that matter, limits, alerts and runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.alerting.host_inventory import HostInventory, LastSample
from plimsoll.dashboards.limits import PanelLimits, find_home_panel, select_drawn
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.pages.charts.signal_values import insert_gaps, reduce_samples
from plimsoll.store.m4 import compute_bucket_width, reduce_to_m4
from tests.pages.alerting import HOUR, MINUTE, AlertData
from tests.pages.charting import INTERVAL, NOW, charts, cpu, line, space, switches, write
from tests.serve.site import site

FROM = (NOW - HOUR) // 1_000_000
TO = NOW // 1_000_000
LIMITED = """
[hosts.WEB1.rules.cpu-busy]
healthy = "< 60"
reason = "it serves others"
"""


@given(st.lists(st.integers(1, 40), min_size=1, max_size=300), st.integers(1, 60), st.randoms(use_true_random=False))
def test_every_extreme_and_every_end_of_each_column_is_drawn(steps, columns, random):
    times = np.cumsum(np.array(steps, np.int64)) * SECOND
    values = np.array([random.choice([random.uniform(-9, 9), 0.0, 5.0]) for _ in steps])
    start, end = 0, int(times[-1])
    line_ = reduce_samples(Samples(times, values), start, end, columns)
    kept = line_.samples.present
    assert line_.count == len(values)
    assert len(kept.times) <= 4 * columns
    width = compute_bucket_width(start, end, columns)
    for column in np.unique(times // width):
        all_of, kept_of = values[times // width == column], kept.values[kept.times // width == column]
        assert (kept_of.min(), kept_of.max()) == (all_of.min(), all_of.max())
        assert (kept_of[0], kept_of[-1]) == (all_of[0], all_of[-1])


@pytest.mark.parametrize("columns", [20, 100, 700, 3000])
def test_a_pause_is_a_gap_at_every_width_and_nothing_else_is(columns):
    rows = np.arange(3000, dtype=np.int64)
    rows = rows[(rows < 1000) | (rows >= 1600)]
    recorded = Samples(rows * INTERVAL, np.sin(rows))
    end = 3000 * INTERVAL
    of_store = insert_gaps(reduce_to_m4(recorded, 0, end, columns), 0, end, columns)
    for samples in (reduce_samples(recorded, 0, end, columns).samples, of_store):
        (gap,) = np.flatnonzero(np.isnan(samples.values))
        assert (samples.times[gap - 1], samples.times[gap + 1]) == (999 * INTERVAL, 1600 * INTERVAL)


def test_a_count_is_drawn_as_its_rate_with_a_gap_where_it_begins_anew(here):
    rises = np.full(100, 50_000.0)
    rises[60] = 90_000
    count = np.cumsum(rises)
    count[40:] -= count[40]  # it begins anew
    write(here.store, switches("LIN1"), count)
    times, values = line(charts(here, "cpu.context_switches|LIN1", from_=FROM, to=TO))
    assert np.nanmin(values) == 5000
    assert np.nanmax(values) == 9000
    assert np.count_nonzero(np.isnan(values)) == 1
    assert abs(int(times[np.isnan(values)][0]) - (NOW - 59 * INTERVAL)) <= INTERVAL


def test_limits_are_those_of_grafanas_panel(here):
    write(here.store, cpu("WEB1"), np.full(90, 20.0))
    home = find_home_panel("cpu.busy")
    assert home
    expected = {rule.id for rule in select_drawn(PanelLimits().rules_of(home[1]))}
    (chart,) = charts(here, "cpu.busy|WEB1", from_=FROM, to=TO)["charts"]
    assert {rule for rule, _, _ in chart["rules"]} == expected
    assert {level for level, *_ in chart["limits"]} == {80.0, 90.0, 99.0}
    assert chart["label"].startswith("Processor time · WEB1. Last values: Processor time 20 %. Limit < 80 %")


def test_limits_of_a_host_are_drawn_for_it_alone_and_scaled_by_its_facts(duckdb, tmp_path):
    for host in ("WEB1", "WEB2"):
        write(duckdb, cpu(host), np.full(90, 20.0))
    alert_data = AlertData(tmp_path / "data")
    with site(duckdb, tmp_path / "data", **alert_data.watching(LIMITED)) as here:
        first, other, both = charts(here, "cpu.busy|WEB1", "cpu.busy|WEB2", "cpu.busy|*", from_=FROM, to=TO)["charts"]
    assert {level for level, *_ in first["limits"]} == {60.0, 90.0, 99.0}
    assert {level for level, *_ in other["limits"]} == {80.0, 90.0, 99.0}
    assert {level for level, *_ in both["limits"]} == {90.0, 99.0}
    assert both["note"].startswith("Limits that differ")


def test_of_many_lines_the_worst_are_drawn_and_the_others_named(here):
    for n in range(12):
        write(here.store, space("DB1", f"{chr(67 + n)}:"), np.full(90, 90.0 - 7 * n))
    (chart,) = charts(here, "disk.free|DB1", from_=FROM, to=TO)["charts"]
    drawn_ = [label for _, label, _ in chart["lines"]]
    assert drawn_ == [f"{chr(67 + n)}:" for n in range(11, 3, -1)]
    assert [spec for _, spec in chart["more"]] == [
        "disk.free|DB1|F%3A",
        "disk.free|DB1|E%3A",
        "disk.free|DB1|D%3A",
        "disk.free|DB1|C%3A",
    ]
    assert chart["caption"] == "8 of 12 lines, the nearest to their limits; 720 samples"
    (alone,) = charts(here, chart["more"][0][1], from_=FROM, to=TO)["charts"]
    assert alone["title"] == "Free space · DB1 · F:"


def test_alerts_of_the_signal_and_host_are_spans(duckdb, tmp_path):
    alert_data = AlertData(tmp_path / "data")
    number = alert_data.fired("WEB1", ago=30 * MINUTE, ended=10 * MINUTE)
    alert_data.fired("WEB2", ago=20 * MINUTE)
    alert_data.sampled(duckdb, "WEB1")
    with site(duckdb, tmp_path / "data", **alert_data.watching()) as here:
        (chart,) = charts(here, "cpu.busy|WEB1", from_="now-1h", to="now")["charts"]
    (_, begun, pending), (start, end, severity) = chart["spans"]
    assert (begun, pending) == (start, "brief")
    assert (end - start, severity) == (10 * 60_000, "critical")
    assert [alert["id"] for alert in chart["alerts"]] == [number]


@pytest.mark.parametrize(
    "query", ["chart=a|b|c|d", "chart=cpu.busy&from=soon", "chart=cpu.busy&from=9&to=8", "from=" + "9" * 30]
)
def test_what_cannot_be_read_is_refused_in_words(here, query):
    answer = here.request("GET", f"/api/charts?{query}")
    assert answer.status == 400
    assert b"error" in answer.data


def test_a_signal_that_is_not_known_is_said_on_its_chart(here):
    write(here.store, cpu("WEB1"), np.full(9, 20.0))
    data = charts(here, "cpu.bussy|WEB1", "cpu.busy|WEB1", from_=FROM, to=TO)
    captions = [datum["caption"] for datum in data["charts"]]
    assert captions == ['no signal is named "cpu.bussy"', "9 samples"]


def test_a_host_has_one_colour_on_every_chart_and_what_fires_is_drawn_stronger(alert_data, duckdb):
    for host in ("WEB1", "WEB2", "WEB3"):
        write(duckdb, cpu(host), np.full(200, 60.0))
    for host in ("WEB2", "WEB3"):
        write(duckdb, switches(host), np.arange(200) * 900.0)
    roster = HostInventory(alert_data.file)
    roster.step({name: LastSample(NOW, INTERVAL) for name in ("WEB1", "WEB2", "WEB3")}, NOW)
    alert_data.fired("WEB3", ago=alert_data.now - NOW + INTERVAL)
    with site(duckdb, alert_data.folder, **alert_data.watching()) as here:
        specs = ("cpu.busy|*", "cpu.context_switches|*", "cpu.busy|WEB3")
        busy, switched, alone = charts(here, *specs, from_=FROM, to=TO)["charts"]
    looks = [{label: look for _, label, look in chart["lines"]} for chart in (busy, switched)]
    assert len({*looks[0].values()}) == 3
    assert looks[1].items() <= looks[0].items()
    assert alone["lines"][0][2] == looks[0]["WEB3"]
    assert [busy["lines"][at][1] for at in busy["strong"]] == ["WEB3"]
    assert alone["title"] == "Processor time · WEB3"
    assert {severity for *_, severity in busy["limits"]} == {"warning", "critical"}
