"""Every panel of every dashboard, drawn with Grafana's own components from a real InfluxDB."""

import pytest

from tests.export.grafana.committed import TEXTS
from tests.grafana_components.checks import CHECKS

# Of those that ask a Prometheus, some with every kind of panel and variable; the values of all of them are compared in
# tests/export/prometheus/test_dashboards.py.
PROMETHEUS = ["prometheus/cpu", "prometheus/disk", "prometheus/sql-server"]


@pytest.mark.parametrize("name", [*(name.removesuffix(".json") for name in TEXTS), *PROMETHEUS])
def test_a_dashboard_is_drawn_as_meant(report, name):
    drawn = report(name)
    faults = [*drawn["complaints"], *(f"unknown: {item}" for item in drawn["unknown"])]
    faults += [f"{query['what']}: {query['error']}" for query in drawn["queries"] if query["error"]]
    for panel in drawn["panels"]:
        called = f"panel {panel['id']} ({panel['title']})"
        faults += [f"{called}: {check.__name__}: {fault}" for check in CHECKS for fault in check(drawn, panel)]
    assert not faults, "\n".join(["", *faults])
