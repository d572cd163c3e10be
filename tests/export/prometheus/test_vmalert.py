"""The worked and the generated cases, evaluated by vmalert's rule engine and MetricsQL.

If a series begins within the window of an `increase`, MetricsQL counts its whole first value as an increase. Such rules
are compared only after the first whole window; docs/prometheus.md says so.
"""

import json
import runpy
import subprocess
from pathlib import Path

from plimsoll.model.times import SECOND
from plimsoll.rules.states import EVALUATION_INTERVAL
from tests.conftest import built

FOLDER = Path(__file__).parent
WORKED = runpy.run_path(str(FOLDER / "test_vectors.py"))
GENERATED = runpy.run_path(str(FOLDER / "test_generated.py"))
EVERY_S = EVALUATION_INTERVAL // SECOND
NUMBER = 100  # of those that promtool is given: what vmalert takes grows with the square


def seconds(length):
    return int(str(length).removesuffix("s"))


def unsure_until(rule):
    """The time (s) up to which a rule of a case is not compared; below 0 if it is from the first evaluation on."""
    conditions = [rule, *rule.get("and", []), *rule.get("when_phase_unknown", [])]
    windows = [seconds(condition.get("over", 0)) for condition in conditions if condition.get("reduce") == "increase"]
    return max(windows) + seconds(rule.get("for", 0)) if windows else -1


def outcome(folder, files):
    """What vmalert-tool says of test files in the notation of promtool."""
    for path in files:
        document = json.loads(path.read_text())
        for test in document["tests"]:
            test["metricsql_expr_test"] = test.pop("promql_expr_test")
        path.write_text(json.dumps(document))
    command = [built("vmalert-tool"), "unittest", *(f"-files={path.name}" for path in files)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_worked_cases(tmp_path):
    files = [WORKED["written"](case, tmp_path) for case in WORKED["CASES"]]
    for case, path in zip(WORKED["CASES"], files, strict=True):
        document = json.loads(path.read_text())
        for test in document["tests"]:
            result = test["promql_expr_test"]
            kept = [item for item in result if seconds(item["eval_time"]) > unsure_until(case["rule"])]
            assert len(kept) == len(result) or "increase" in str(case["rule"])
            assert kept
            test["promql_expr_test"] = kept
        path.write_text(json.dumps(document))
    done = outcome(tmp_path, files)
    assert done.returncode == 0, done.stdout + done.stderr


def test_generated_cases(tmp_path):
    cases = [GENERATED["generated"](seed) for seed in range(NUMBER)]
    rules, series, expected = [], [], {}
    for number, case in enumerate(cases):
        rules.append(GENERATED["exported"](case, number))
        series += [
            {"series": f'm{number}_{name}{{host="h"}}', "values": GENERATED["spelt"](points)}
            for name, points in case["series"].items()
        ]
        track = WORKED["VECTORS"]["judged"](case)
        for at, state in zip((track.times // SECOND).tolist(), track.states.tolist(), strict=True):
            if state in GENERATED["SHOWN"] and at > unsure_until(case["rule"]):
                expected.setdefault(at, []).append((case["name"], GENERATED["SHOWN"][state]))
    entries = []
    for at in range(0, GENERATED["ROWS"] * EVERY_S, EVERY_S):
        unsure = "|".join(case["name"] for case in cases if at <= unsure_until(case["rule"]))
        rows = [{"labels": f'{{alertname="{name}", alertstate="{state}"}}', "value": 1} for name, state in expected.get(at, ())]  # fmt: skip
        entries.append(
            {
                "expr": f'count by (alertname, alertstate) (ALERTS{{alertname!~"{unsure}"}})',
                "eval_time": f"{at}s",
                "exp_samples": rows,
            }
        )
    assert sum(len(item["exp_samples"]) for item in entries) > 1000
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "g", "rules": rules}]}))
    tests = [{"interval": f"{EVERY_S}s", "input_series": series, "promql_expr_test": entries}]
    document = {"rule_files": ["rules.yaml"], "evaluation_interval": f"{EVERY_S}s", "tests": tests}
    (tmp_path / "test.yaml").write_text(json.dumps(document))
    done = outcome(tmp_path, [tmp_path / "test.yaml"])
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
