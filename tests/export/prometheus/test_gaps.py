"""A counter that steps while samples are missing: exported rules fire exactly when `plimsoll up` alerts."""

import json
import runpy
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.model.times import SECOND
from plimsoll.rules.states import State
from tests.conftest import built

GENERATED = runpy.run_path(str(Path(__file__).parent / "test_generated.py"))
RULES = {
    "killed": {"signal": "a", "rate": True, "healthy": "<= 0", "reduce": "max", "over": "60s"},
    "killed-mean": {"signal": "a", "rate": True, "healthy": "<= 0", "over": "120s"},
    "grown": {"signal": "a", "healthy": "<= 0", "reduce": "increase", "over": "120s"},
    "young": {"signal": "a", "healthy": "<= 0", "reduce": "increase", "over": "120s"},
    "stands-still": {"signal": "a", "rate": True, "healthy": "> 0", "reduce": "max", "over": "60s", "for": "20s"},
}


def cases() -> Iterator[dict[str, Any]]:
    """Each rule over a count that steps at 400 s, while the samples before are missing; one only steps then."""
    for missing in range(6):
        for name, rule in RULES.items():
            rises = name == "stands-still"  # by one each minute: a minute without the gap has no step
            values = [(at, 5 + (at // 50 if rises else at >= 400)) for at in range(0, 600, 10)]
            begin = 310 if name == "young" else 0
            kept = [(at, value) for at, value in values if at >= begin and not 400 - 10 * missing <= at < 400]
            yield {"name": f"{name}-{missing}", "rule": {"for": "0s", **rule}, "series": {"a": kept}}


@pytest.mark.parametrize(
    ("tool", "requests"), [("promtool", "promql_expr_test"), ("vmalert-tool", "metricsql_expr_test")]
)
def test_steps_over_gaps(tool, requests, tmp_path):
    rules, series, expected, ends = [], [], [], {}
    for number, case in enumerate(cases()):
        if tool == "vmalert-tool" and case["name"].startswith("young"):
            continue  # it takes the first value of a series for an increase
        rules.append(GENERATED["exported"](case, number))
        series.append({"series": f'm{number}_a{{host="h"}}', "values": GENERATED["spelt"](case["series"]["a"])})
        track = GENERATED["VECTORS"]["judged"](case)
        fired = track.times[[state == State.FIRING for state in track.states.tolist()]] // SECOND
        assert len(fired) or case["name"].startswith("stands-still")
        # The step counts until the sample after the gap leaves the window: the ends differ.
        ends[case["name"]] = int(fired[0]) if len(fired) else 600
    for at in range(130, 600, 10):
        firing = [name for name, first in ends.items() if at == first]
        watched = "|".join(name for name, first in ends.items() if at <= first)
        expected.append(
            {
                "expr": f'count by (alertname) (ALERTS{{alertname=~"{watched}", alertstate="firing"}})',
                "eval_time": f"{at}s",
                "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in firing],
            }
        )
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "g", "rules": rules}]}))
    tests = [{"interval": "10s", "input_series": series, requests: expected}]
    (tmp_path / "test.yaml").write_text(json.dumps({"rule_files": ["rules.yaml"], "evaluation_interval": "10s", "tests": tests}))  # fmt: skip
    arguments = ["test", "rules", "test.yaml"] if tool == "promtool" else ["unittest", "-files=test.yaml"]
    done = subprocess.run([built(tool), *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
