"""action.yml: its step judges as the commands do, writes the summary, and fails the job."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
INSTALL, JUDGE = ACTION["runs"]["steps"]
LOGS = ROOT / "examples" / "windows-today"


@pytest.fixture
def judged(tmp_path):
    """Runs the step with inputs, as a runner does; its status, the summary and the report."""

    def run(**inputs):
        program = tmp_path / "bin" / "plimsoll"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m plimsoll "$@"\n')
        program.chmod(0o755)
        summary, report = tmp_path / "summary", tmp_path / "report.html"
        usual = {name: item.get("default", "") for name, item in ACTION["inputs"].items()}
        fields = {
            **usual,
            "report": str(report),
            **{name.replace("_", "-"): str(value) for name, value in inputs.items()},
        }
        result = {name: fields[text.split("inputs.")[1].split(" ")[0]] for name, text in JUDGE["env"].items()}
        env = {"RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary), "PYTHONPATH": str(ROOT)}
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", JUDGE["run"]]
        done = subprocess.run(command, env={**os.environ, **env, **result, "PATH": path}, cwd=tmp_path, check=False)
        return done.returncode, summary.read_text("utf-8") if summary.exists() else "", report.exists()

    return run


def test_a_healthy_run_passes_and_one_in_trouble_fails_with_its_verdict_in_the_summary(judged):
    status, summary, report = judged(logs=LOGS / "healthy")
    assert (status, "Healthy" in summary, report) == (0, True, True)
    status, summary, _ = judged(logs=LOGS / "trouble")
    assert (status, "Not healthy" in summary) == (1, True)
    assert summary.count("~~~") == 4


def test_a_run_that_is_worse_than_its_baseline_fails_and_unusable_logs_are_another_status(judged):
    status, summary, report = judged(logs=LOGS / "trouble", baseline=LOGS / "healthy")
    assert (status, summary.startswith("#"), report) == (1, True, True)
    assert judged(logs="none; touch injected")[0] == 2


def test_what_is_given_is_no_text_of_a_script():
    assert not [step["name"] for step in (INSTALL, JUDGE) if "${{" in step["run"]]
