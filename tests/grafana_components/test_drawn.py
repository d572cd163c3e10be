"""Every panel of every dashboard, drawn with Grafana's own components from a real InfluxDB.

What is asserted is what the components report. Pictures are saved in the folder that PLIMSOLL_PICTURES
names, if it is set.
"""

from copy import deepcopy

import pytest

from tests.export.grafana.committed import TEXTS
from tests.grafana_components import checks, defects, readable
from tests.grafana_components.filled import HEALTHY, LIVE, MESSAGING, RECORDED, WINDOWS

# Of those that ask a Prometheus, some with every kind of panel and variable; the values of all of them are compared in
# tests/export/prometheus/test_dashboards.py.
PROMETHEUS = ["prometheus/cpu", "prometheus/disk", "prometheus/sql-server"]
NAMES = [*(name.removesuffix(".json") for name in TEXTS), *PROMETHEUS]


@pytest.fixture
def reports(drawn):
    """Draws a dashboard for all of its ranges."""
    return lambda name: {span: drawn(name, span) for span in (LIVE, *RECORDED.get(name, ()))}


@pytest.mark.parametrize("name", NAMES)
def test_a_dashboard_shows_what_is_recorded(reports, name):
    found = [f"{check.__name__}: {what}" for check in checks.CHECKS for what in check(reports(name))]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize("name", NAMES)
def test_a_dashboard_is_readable(reports, name):
    found = [f"{check.__name__}: {what}" for check in readable.CHECKS for what in check(reports(name))]
    assert not found, "\n".join(["", *found])


@pytest.mark.parametrize("name", ["health", "runs"])
def test_a_dashboard_opens_with_few_queries(reports, name):
    assert max(report["opening"] for report in reports(name).values()) < 40


def test_the_disks_of_the_database_include_the_busiest(drawn, browser, filled, dashboards):
    opened = drawn("sql-server", LIVE)
    disks = opened["variables"].get("database_disk", {"options": []})["options"]
    given = {"database_disk": disks}
    chosen = browser.draw(dashboards["sql-server"], *filled.ranges[LIVE], opened=True, given=given)
    assert readable.idle_disks(opened, chosen) == []


@pytest.mark.parametrize("span", HEALTHY)
def test_nothing_is_red_on_healthy_hosts(drawn, span):
    assert readable.red(drawn("health", span)) == []


@pytest.mark.parametrize("span", [span.replace("healthy", "trouble") for span in HEALTHY])
def test_what_is_sick_is_on_the_first_screen(drawn, span):
    assert readable.red(drawn("health", span), above=1_000) != []


# Each defect with the dashboard and the range that show it, and the check that finds it by these words.
PUT_BACK = [
    (defects.silence_as_zero, "health", LIVE, readable.silence_is_not_zero, "zeros where nothing was recorded"),
    (defects.narrow_limits, "health", WINDOWS, readable.tables_are_plain, "Limit is cut off"),
    (defects.links_everywhere, "health", WINDOWS, readable.tables_are_plain, "columns are links"),
    (defects.a_column_twice, "health", WINDOWS, readable.tables_are_plain, "Left repeats"),
    (defects.a_mark_with_two_meanings, "health", WINDOWS, readable.tables_are_plain, "is in several columns"),
    (defects.the_same_run_twice, "runs", LIVE, readable.runs_are_comparable, "both runs are"),
    (defects.addresses_in_cells, "runs", LIVE, readable.runs_are_comparable, "a part of an address"),
    (defects.axes_apart, "runs", MESSAGING, readable.runs_are_comparable, "the axes of both sides differ"),
    (defects.colors_of_limits, "cpu", LIVE, readable.lines_are_not_limits, "is orange or red"),
    (defects.two_spaces, "cpu", WINDOWS, readable.units_are_written_one_way, "two spaces"),
    (defects.binary_multiples, "memory", WINDOWS, readable.units_are_written_one_way, "in other units"),
]


@pytest.fixture
def spoilt(browser, filled, dashboards):
    """Draws a copy of a dashboard with a defect, and as it is."""

    def draw(defect, name, span, **given):
        copy = deepcopy(dashboards[name])
        defect(copy)
        assert copy != dashboards[name], "nothing to spoil"
        return browser.draw(copy, *filled.ranges[span], given=given)

    return draw


@pytest.mark.parametrize(
    ("defect", "name", "span", "check", "words"), PUT_BACK, ids=[one[0].__name__ for one in PUT_BACK]
)
def test_a_defect_put_back_is_found(spoilt, drawn, defect, name, span, check, words):
    given = {"run": [span], "baseline": [span.replace("trouble", "healthy")]} if span == MESSAGING else {}
    assert [what for what in check({span: spoilt(defect, name, span, **given)}) if words in what]
    assert not [what for what in check({span: drawn(name, span)}) if words in what]


def test_the_first_disk_put_back_is_found(spoilt):
    opened = spoilt(defects.the_first_disk, "sql-server", LIVE)
    disks = opened["variables"]["database_disk"]["options"]
    chosen = spoilt(defects.the_first_disk, "sql-server", LIVE, database_disk=disks)
    assert readable.idle_disks(opened, chosen)
