"""The worked cases of docs/evaluation.md, evaluated by Prometheus' rule engine with the exported rule."""

import json
import math
import runpy
import subprocess
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from plimsoll.export.prometheus.alerting_rules import PrometheusOptions, list_alerting_rules
from plimsoll.export.rule_sources import Refusal
from plimsoll.hosts.facts import Facts
from plimsoll.hosts.site import SiteSettings
from plimsoll.model.log import find_sampling_interval
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.subjects import Subject
from tests.conftest import built

TESTS = Path(__file__).parents[2]
CASES = json.loads((TESTS / "data" / "evaluation-vectors.json").read_text())["cases"]
VECTORS = runpy.run_path(str(TESTS / "rules" / "test_vectors.py"))
# The cases with other states in Prometheus, and why; docs/prometheus.md describes them.
DIFFERENT = {
    # Prometheus knows no phases, so the rule is judged at all times.
    "phase-known": {**dict.fromkeys(range(0, 20, 10), "pending"), **dict.fromkeys(range(20, 120, 10), "firing")},
    # It knows no breaks: its windows reach over them, and the first evaluation after one has data.
    "gap-while-firing": {120: "ok"},
    "gap-while-pending": {110: "pending", 190: "firing"},
    "a-burst-does-not-count-on-over-a-break": dict.fromkeys(range(120, 210, 10), "firing"),
    "a-break-of-70-s-with-samples-at-0-s": dict.fromkeys(range(160, 260, 10), "firing"),
    "a-break-of-70-s-with-samples-at-7-s": {170: "pending"},
}  # fmt: skip


def exported(case):
    """The alerting rule of a case."""
    rule = VECTORS["rule_of"](case)
    pack = Pack(pack="p", title="t", about="a", rules=(rule,))
    facts = {Subject("h"): {"spindles": float(case["rule"]["factor"])}} if "factor" in case["rule"] else {}
    times = np.unique([t for points in case["series"].values() for t, _ in points]) * SECOND
    options = PrometheusOptions(
        evaluation_interval=case.get("every", 10) * SECOND, interval=find_sampling_interval(times) or 10 * SECOND
    )
    site = SiteSettings(["h"] if facts else [], facts=Facts(facts))
    *_, last = list_alerting_rules(rule, pack, VECTORS["signals_of"](case), site, options)
    assert not isinstance(last, Refusal), str(last)
    return last


def values(points, step):
    """The samples in promtool's notation, one every `step` seconds from 0 on."""
    at = {t: value for t, value in points if value is not None and not math.isnan(float(value))}
    return " ".join(repr(float(at[t])) if t in at else "_" for t in range(0, max([*at, 0]) + 1, step))


def written(case, folder):
    """Write the rule and the test of a case; return the path of the test."""
    item = case.get("every", 10)
    step = reduce(math.gcd, (t for points in case["series"].values() for t, _ in points), item)
    rules, test = folder / f"{case['name']}.rules.yaml", folder / f"{case['name']}.test.yaml"
    rules.write_text(json.dumps({"groups": [{"name": "g", "rules": [exported(case)]}]}))
    entries = []
    for e, state, _ in case["expect"]:
        shown = DIFFERENT.get(case["name"], {}).get(e, state.rstrip("*"))
        result = [{"labels": f'{{alertstate="{shown}"}}', "value": 1}] if shown in ("pending", "firing") else []
        expr = 'count by (alertstate) (ALERTS{alertname="r"})'
        entries.append({"expr": expr, "eval_time": f"{e}s", "exp_samples": result})
    series = [{"series": f'm_{name}{{host="h"}}', "values": values(points, step)} for name, points in case["series"].items()]  # fmt: skip
    tests = [{"interval": f"{step}s", "input_series": series, "promql_expr_test": entries}]
    test.write_text(json.dumps({"rule_files": [rules.name], "evaluation_interval": f"{item}s", "tests": tests}))
    return test


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """What promtool says of each case."""
    promtool, folder = built("promtool"), tmp_path_factory.mktemp("vectors")
    tests = {case["name"]: written(case, folder) for case in CASES}
    return {
        name: subprocess.run(
            [promtool, "test", "rules", path.name], cwd=folder, capture_output=True, text=True, check=False
        )
        for name, path in tests.items()
    }


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_worked_case(case, output):
    done = output[case["name"]]
    assert done.returncode == 0, done.stdout + done.stderr
