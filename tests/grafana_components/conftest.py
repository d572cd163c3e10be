"""Dashboards drawn in Chromium from a real InfluxDB with live hosts and recorded runs."""

import json
import os
from functools import cache
from pathlib import Path

import pytest
import urllib3

from plimsoll.export.prometheus.dashboards import files
from plimsoll.store.line_protocol import encode, request_bodies
from tests.conftest import VictoriaMetrics, lacking
from tests.export.grafana.committed import TEXTS
from tests.grafana_components import filled as filling
from tests.grafana_components import live, packages
from tests.grafana_components.drawing import drawing
from tests.grafana_components.site import serving

PICTURES = os.environ.get("PLIMSOLL_PICTURES")


@pytest.fixture(scope="module")
def filled(influxdb):
    """An InfluxDB with live hosts and recorded runs."""
    return filling.fill(influxdb.fresh(), filling.DRAWN)


@pytest.fixture(scope="module")
def prometheus(filled, tmp_path_factory):
    """The address of a VictoriaMetrics with the live hosts."""
    with VictoriaMetrics(tmp_path_factory.mktemp("victoriametrics")) as server:
        start, end = (at * 1_000_000 for at in filled.ranges[filling.LIVE])
        for body in request_bodies(text for log in live.logs(start, end) for text in encode(log)):
            assert urllib3.request("POST", f"{server.url}/write", body=body).status == 204
        server.show()
        yield server.url


@pytest.fixture(scope="module")
def browser(chromium, filled, prometheus, tmp_path_factory):
    """Draws dashboards in Chromium."""
    if lacks := packages.missing():
        lacking(*lacks.split(" is not here; "))
    built = tmp_path_factory.mktemp("page")
    packages.bundle(built)
    with serving(built, filled.bucket, prometheus) as address, drawing(chromium, address) as page:
        yield page


@pytest.fixture(scope="module")
def dashboards():
    """The dashboards by the names of their files; in `prometheus/` those that ask a Prometheus."""
    made = {**TEXTS, **{f"prometheus/{name}": text for name, text in files.export().files.items()}}
    return {name.removesuffix(".json"): json.loads(text) for name, text in made.items()}


@pytest.fixture(scope="module")
def drawn(browser, filled, dashboards):
    """Draws a dashboard for a range once. Returns its report, which is saved with a picture where PLIMSOLL_PICTURES is."""

    @cache
    def draw(name, span):
        given = {"run": [span]} if name == "runs" and span in filling.DRAWN else {}
        report = browser.draw(dashboards[name], *filled.ranges[span], given=given, opened=True)
        if PICTURES:
            folder = Path(PICTURES) / name
            browser.picture(folder / f"{span.replace('/', '-')}.png")
            (folder / f"{span.replace('/', '-')}.json").write_text(
                json.dumps(report, indent=1, ensure_ascii=False), "utf-8"
            )
        return report

    return draw
