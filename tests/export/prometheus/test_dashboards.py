"""Dashboards that ask a Prometheus: their queries on a real VictoriaMetrics, and in the grammar of Prometheus."""

import json
import subprocess
from collections import Counter
from dataclasses import replace
from urllib.parse import urlencode

import fleet
import numpy as np
import pytest
import urllib3

from plimsoll.dashboards.areas import load_areas
from plimsoll.export.prometheus.dashboards.prometheus_dashboards import build_panel_query, export
from plimsoll.model.samples import Recorded
from plimsoll.model.times import SECOND
from plimsoll.review.recorded_signals import compute_signal_samples
from plimsoll.rules.load import load_signals
from plimsoll.rules.signal_finder import Finder
from plimsoll.store.line_protocol import encode, request_bodies
from tests.conftest import built

LENGTH_S, STEP_S = 600, 10
REDUCED = {"mean": np.mean, "max": np.max}
BEGIN_S = 1_700_000_000
PANELS = [spec for area in load_areas().areas for spec in area.panels]
HOSTS = ("WIN00", "lnx00")


@pytest.fixture(scope="module")
def logs():
    """What two hosts recorded in ten minutes."""
    times = fleet.times(BEGIN_S * SECOND, (BEGIN_S + LENGTH_S) * SECOND)
    return [fleet.log(host, times) for host in fleet.hosts(2) if host.name in HOSTS]


@pytest.fixture(scope="module")
def ask(victoriametrics, logs):
    """Asks a VictoriaMetrics with what was recorded: the values of an expression at the end, by their labels."""
    for body in request_bodies(text for log in logs for text in encode(log)):
        assert urllib3.request("POST", f"{victoriametrics}/write", body=body).status == 204
    assert urllib3.request("GET", f"{victoriametrics}/internal/force_flush").status == 200

    def requests(expr):
        fields = {"query": expr, "time": BEGIN_S + LENGTH_S - 10}
        answer = urllib3.request("POST", f"{victoriametrics}/api/v1/query?{urlencode(fields)}").json()
        assert answer["status"] == "success", answer
        return {
            (item["metric"].get("host"), item["metric"].get("instance")): float(item["value"][1])
            for item in answer["data"]["result"]
        }

    return requests


def with_values(text, interval=STEP_S):
    """A query as Grafana sends it: for intervals of so many seconds, and everything that can be chosen."""
    chosen = {"$host": "|".join(HOSTS), **dict.fromkeys(("$instance", "$database_disk", "$log_disk"), ".*")}
    facts = dict.fromkeys(("$processors", "$spindles"), "4")
    for name, value in {"$__rate_interval": f"{interval}s", "$__interval": f"{interval}s", **chosen, **facts}.items():
        text = text.replace(name, value)
    return text


def test_a_panel_shows_what_plimsoll_makes_of_the_same_samples(ask, logs):
    recorded = Recorded(logs)
    finder = Finder(load_signals(), recorded.series, lambda item: len(recorded.samples(item).present.times) > 0)
    wrong, compared = [], Counter()
    for spec in PANELS:
        expr = build_panel_query(spec).expr
        # Of several samples, a panel has the ratio of means, and of growing counts the rate over the interval.
        whole = not load_signals()[spec.signal].derived and (spec.function == "mean" or "rate(" not in expr)
        for length in (STEP_S, LENGTH_S) if whole else (STEP_S,):
            shown = ask(with_values(expr, length))
            for subject, origin in finder.find(spec.signal).values():
                samples = compute_signal_samples(origin, recorded.samples, where_shared=True)
                values = samples.values[-length // STEP_S :] if samples else np.empty(0)
                if not len(values) or not np.isfinite(values).all():
                    continue
                expected = REDUCED[spec.function](values)
                compared[length] += 1
                result = shown.get((subject.host, subject.instance))
                if result != pytest.approx(expected, rel=1e-6 if length == STEP_S else 0.05, abs=1e-9):
                    wrong.append(f"{spec.signal} of {subject} over {length} s: {result}, not {expected}")
    assert not wrong, "\n".join(wrong)
    assert min(compared[STEP_S], compared[LENGTH_S]) > 300


def test_each_query_is_one_of_prometheus(tmp_path):
    files, refused = export()
    dashboards = [json.loads(text) for text in files.values()]
    panels = [item for data in dashboards for panel in data["panels"] for item in (panel, *panel.get("panels", ()))]
    rows = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    variables = [
        datum["query"] for data in dashboards for datum in data["templating"]["list"] if datum["type"] == "query"
    ]
    rows += [
        variable.removeprefix("query_result(")[:-1] for variable in variables if variable.startswith("query_result(")
    ]
    assert len(rows) > len(PANELS)
    rules = [{"record": f"asked:{at}", "expr": with_values(expr)} for at, expr in enumerate(rows)]
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "asked", "rules": rules}]}))
    command = [built("promtool"), "check", "rules", "--lint=none", tmp_path / "rules.yaml"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert [item.rule for item in refused] == ["dashboard health", "dashboard runs"]


@pytest.mark.parametrize("function", ["max", "count"])
def test_what_promql_cannot_say_is_refused_by_its_source(function):
    spec = next(item for item in PANELS if item.signal == "cpu.busy")
    result = build_panel_query(replace(spec, function=function))
    assert (
        f"cpu.usage_idle + usage_iowait: the {function} of several fields needs each sample of them" in result.refused
    )
    assert "usage_idle" not in result.expr
