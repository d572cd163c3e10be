"""Every panel of every dashboard, drawn with Grafana's own components from a real InfluxDB.

What is asserted is what the components report. The pictures are in build/grafana, or in the folder that
PLIMSOLL_PICTURES names.
"""

import pytest

from grafana import dashboard_files
from tests.grafana_components import checks, readable
from tests.grafana_components.filled import LIVE

_WINDOWS, _LINUX = "windows-today/trouble", "linux-today/trouble"
# The ranges that each dashboard is drawn for besides the live hosts': runs that recorded some of its signals.
RECORDED = {
    "active-directory": ["active-directory/trouble"],
    "cpu": [_WINDOWS, _LINUX],
    "disk": [_WINDOWS, _LINUX],
    "file-server": ["file-server/trouble"],
    "health": ["messaging/trouble", "file-server/trouble", "windows-today/trouble", "linux-today/trouble"],
    "ldap": ["dynamic-directory/trouble", "active-directory/trouble"],
    "memory": [_WINDOWS, _LINUX],
    "messaging": ["messaging/trouble"],
    "network": [_WINDOWS, _LINUX],
    "roles": [_WINDOWS],
    "runs": ["messaging/trouble"],
    "sql-server": ["sql-server-today/trouble", "messaging/trouble"],
}
NAMES = [name.removesuffix(".json") for name in dashboard_files.files()]


@pytest.fixture
def reports(drawn):
    """Draws a dashboard for all of its ranges."""
    return lambda name: {span: drawn(name, span) for span in (LIVE, *RECORDED[name])}


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
    assert max(checks.queries_on_opening(reports(name)).values()) < 40


@pytest.mark.parametrize("span", RECORDED["sql-server"])
def test_the_disks_of_the_database_include_the_busiest(drawn, browser, filled, dashboards, span):
    opened = drawn("sql-server", span)
    disks = opened["variables"].get("database_disk", {"options": []})["options"]
    chosen = browser.draw(dashboards["sql-server"], *filled.ranges[span], opened=True, given={"database_disk": disks})
    assert readable.idle_disks(opened, chosen) == []


HEALTHY = ["windows-today/healthy", "linux-today/healthy", "sql-server-today/healthy"]


@pytest.mark.parametrize("span", HEALTHY)
def test_nothing_is_red_on_healthy_hosts(drawn, span):
    assert readable.red(drawn("health", span)) == []


@pytest.mark.parametrize("span", [span.replace("healthy", "trouble") for span in HEALTHY])
def test_what_is_sick_is_on_the_first_screen(drawn, span):
    assert readable.red(drawn("health", span), above=1_000) != []
