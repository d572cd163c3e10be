"""Dashboards drawn in Chromium from a real InfluxDB and VictoriaMetrics with live hosts and recorded runs."""

import json
import os
import time
from pathlib import Path

import fleet
import pytest
import urllib3

from plimsoll.export.prometheus.dashboards import prometheus_dashboards
from plimsoll.model.run import Recording, Run, StoredRun
from plimsoll.model.times import SECOND
from plimsoll.store.influx.address import InfluxAddress
from plimsoll.store.influx.runs import make_influx_store
from plimsoll.store.influx.server import InfluxServer
from plimsoll.store.line_protocol import encode, request_bodies
from tests.conftest import VictoriaMetrics, lacking
from tests.export.grafana.committed import TEXTS
from tests.grafana_components import packages
from tests.grafana_components.drawing import drawing
from tests.grafana_components.site import serving
from tests.stored_runs import points_of

PICTURES = os.environ.get("PLIMSOLL_PICTURES")
END_S = time.time_ns() // SECOND // 10 * 10
START_S = END_S - 1_800
HOSTS = [fleet.Host("WIN00", "windows"), fleet.Host("lnx00", "telegraf"), fleet.Host("lnx01", "sysstat")]


@pytest.fixture(scope="module")
def logs():
    """Half an hour of three hosts, one of which has a directory and a database as well."""
    times = fleet.times(START_S * SECOND, END_S * SECOND)
    return [fleet.log(host, times, every=True) for host in (*HOSTS, fleet.Host("lnx00", None))]


@pytest.fixture(scope="module")
def bucket(influxdb, logs):
    """A bucket with the hosts, and two runs of them."""
    fresh = influxdb.fresh()
    store = make_influx_store(InfluxServer(InfluxAddress(fresh.url, fresh.org, fresh.bucket, fresh.token)))
    for log in logs:
        assert store.live.write_points(points_of(log)).refused == 0
    half = len(logs[0].times) // 2
    for name, rows in (("before", (0, half)), ("after", (half, 2 * half))):
        store.runs.save(
            StoredRun(Run(name, {"memory": "8GB"}), tuple(Recording.of(log.rows(*rows), "ab") for log in logs))
        )
    return fresh


@pytest.fixture(scope="module")
def prometheus(logs, tmp_path_factory):
    """The address of a VictoriaMetrics with the hosts."""
    with VictoriaMetrics(tmp_path_factory.mktemp("victoriametrics")) as server:
        for body in request_bodies(text for log in logs for text in encode(log)):
            assert urllib3.request("POST", f"{server.url}/write", body=body).status == 204
        server.show()
        yield server.url


@pytest.fixture(scope="module")
def report(chromium, bucket, prometheus, tmp_path_factory):
    """Draws a dashboard by the name of its file (in `prometheus/` those that ask a Prometheus); returns its report.

    With PLIMSOLL_PICTURES, pictures and reports are saved in that folder.
    """
    if lacks := packages.missing():
        lacking(*lacks.split(" is not here; "))
    built = tmp_path_factory.mktemp("page")
    packages.bundle(built)
    texts = {**TEXTS, **{f"prometheus/{name}": text for name, text in prometheus_dashboards.export()[0].items()}}
    with serving(built, bucket, prometheus) as address, drawing(chromium, address) as page:

        def draw(name):
            result = {"run": ["after"], "baseline": ["before"]} if name == "runs" else {}
            span = START_S * 1_000, END_S * 1_000
            drawn = page.draw(json.loads(texts[f"{name}.json"]), *span, given=result, opened=True)
            if PICTURES:
                page.save_picture(Path(PICTURES, f"{name}.png"))
                Path(PICTURES, f"{name}.json").write_text(json.dumps(drawn, indent=1, ensure_ascii=False), "utf-8")
            return drawn

        yield draw
