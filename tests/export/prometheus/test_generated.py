"""Generated rules and samples: Prometheus' rule engine gives the states of Plimsoll's state machine at every evaluation.

All rules are in one file and are evaluated side by side, each over metrics of its own.
"""

import json
import random
import runpy
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plimsoll.export.prometheus.alerting_rules import PrometheusOptions, list_alerting_rules
from plimsoll.export.rule_sources import Refusal
from plimsoll.hosts.site import SiteSettings
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.states import State
from tests.conftest import built

VECTORS = runpy.run_path(str(Path(__file__).parents[2] / "rules" / "test_vectors.py"))
NUMBER, ROWS, PERIOD = 200, 60, 10
REDUCES = ("mean", "min", "max", "last", "sum", "count", "median", "increase")


def generated(seed) -> dict[str, Any]:
    """A worked case as in the vectors: a rule and its samples, some of which are missing."""
    chance = random.Random(seed)
    kind = chance.choice(("plain", "plain", "plain", "rate", "ratio", "and", "transform"))
    names = {"ratio": ["a", "b"], "and": ["a", "b"]}.get(kind, ["a"])
    over = chance.choice((20, 40, 60, 120))
    reduce = chance.choice(REDUCES[:4] if kind == "rate" else REDUCES)
    # Rates over gaps, increases where a gap begins or ends the window, and breaks, which are longer than a minute,
    # differ: docs/prometheus.md.
    gaps = kind != "rate" and reduce != "increase"
    series = {name: samples(chance, gaps=gaps, grows=kind == "rate") for name in names}
    operator = chance.choice(("<", "<=", ">", ">="))
    limit = chance.choice((2, 3, 4, 5))
    rule: dict[str, Any] = {"healthy": f"{operator} {limit}", "over": f"{over}s", "reduce": reduce, "for": f"{chance.choice((0, 10, 30, 60))}s"}  # fmt: skip
    if chance.random() < 0.3:
        further = limit - chance.choice((0, 1, 2)) * (1 if "<" in operator else -1)
        rule["recover"] = f"{operator} {further}"
    if kind == "ratio":
        rule["ratio"] = names
    else:
        rule["signal"] = "a"
    if kind == "rate":
        rule["rate"] = True
    if kind == "transform":
        rule["transform"] = chance.choice(([-1, 8], [2, -3]))
    if kind == "and":
        rule["and"] = [{"signal": "b", "healthy": chance.choice(("< 4", "> 3", "= 5")), "over": "30s", "reduce": chance.choice(REDUCES[:4])}]  # fmt: skip
    return {"name": f"generated-{seed}", "rule": rule, "series": series}


def samples(chance, *, gaps, grows):
    """A sample every 10 s that stays for a while, with gaps; of a growing count, which is reset now and then."""
    values, value, count = [], chance.randint(0, 8), 0
    missing = 0
    for at in range(ROWS):
        if chance.random() < 0.2:
            value = chance.randint(0, 8)
        recorded = bool(values) and values[-1][0] == (at - 1) * PERIOD
        if gaps and recorded and at < ROWS - 1 and chance.random() < 0.06:
            missing = chance.randint(1, 5)
        count = 0 if chance.random() < 0.03 else count + 10 * value
        if not missing or at == ROWS - 1:
            values.append((at * PERIOD, count if grows else value))
        missing = max(0, missing - 1)
    return values


def exported(case, number):
    """The alerting rule of a case, over metrics with its number."""
    signals = {
        name: signal if signal.derived else replace(signal, sources=(moved(signal.sources[0], number),))
        for name, signal in VECTORS["signals_of"](case).items()
    }
    rule = replace(VECTORS["rule_of"](case), id=case["name"])
    pack = Pack(pack="p", title="t", about="a", rules=(rule,))
    (result,) = list_alerting_rules(rule, pack, signals, SiteSettings(), PrometheusOptions())
    assert not isinstance(result, Refusal), str(result)
    return result


def moved(source, number):
    return replace(source, measurement=f"m{number}")


def spelt(points):
    at = dict(points)
    return " ".join(f"{at[t]:.15g}" if t in at else "_" for t in range(0, ROWS * PERIOD, PERIOD))


SHOWN = {State.PENDING: "pending", State.FIRING: "firing"}


@pytest.fixture(scope="module")
def created(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    cases = [generated(seed) for seed in range(NUMBER)]
    rules = [exported(case, number) for number, case in enumerate(cases)]
    (folder / "rules.yaml").write_text(json.dumps({"groups": [{"name": "g", "rules": rules}]}))
    series = [
        {"series": f'm{number}_{name}{{host="h"}}', "values": spelt(points)}
        for number, case in enumerate(cases)
        for name, points in case["series"].items()
    ]
    expected: dict[int, list[tuple[str, str]]] = {}
    for case in cases:
        track = VECTORS["judged"](case)
        for at, state in zip(track.times.tolist(), track.states.tolist(), strict=True):
            if state in SHOWN:
                expected.setdefault(at // SECOND, []).append((case["name"], SHOWN[state]))
    rows = [
        {
            "expr": "count by (alertname, alertstate) (ALERTS)",
            "eval_time": f"{at}s",
            "exp_samples": [
                {"labels": f'{{alertname="{name}", alertstate="{state}"}}', "value": 1}
                for name, state in expected.get(at, [])
            ],
        }
        for at in range(0, ROWS * PERIOD, PERIOD)
    ]
    tests = [{"interval": "10s", "input_series": series, "promql_expr_test": rows}]
    (folder / "test.yaml").write_text(json.dumps({"rule_files": ["rules.yaml"], "evaluation_interval": "10s", "tests": tests}))  # fmt: skip
    return folder, cases, expected


def test_states_agree(created):
    folder, _, _ = created
    done = subprocess.run([built("promtool"), "test", "rules", "test.yaml"], cwd=folder, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_states_and_ways_occur(created):
    _, cases, expected = created
    states = [state for result in expected.values() for _, state in result]
    assert states.count("firing") > 1000
    assert states.count("pending") > 300
    assert {case["rule"]["reduce"] for case in cases} == set(REDUCES)
    assert sum("recover" in case["rule"] for case in cases) > 30
