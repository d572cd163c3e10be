"""More failed requests are reported, even in a single burst; equal runs are not worse."""

import json

import numpy as np
import pytest

ROWS = 2400  # two requests a second for 20 minutes
BASELINE = 0.0005


def a_log(folder, seed, shares):
    """A JMeter log, in which each request fails with its share."""
    rng = np.random.default_rng(seed)
    failed = rng.random(ROWS) < shares
    elapsed = rng.lognormal(np.log(120), 0.2, ROWS).astype(int)
    lines = ["timeStamp,elapsed,label,responseCode,success,allThreads"]
    for at in range(ROWS):
        end = "500,false,5" if failed[at] else "200,true,5"
        label, took = ("refund", elapsed[at] // (1 + 3 * failed[at])) if at % 50 == 0 else ("order", elapsed[at])
        lines.append(f"{1_741_680_000_000 + 500 * at},{took},{label},{end}")
    folder.mkdir(exist_ok=True)
    (folder / "results.jtl").write_text("\n".join(lines))
    return folder


def in_minutes(share, start, end):
    """The shares of requests that fail: one within these minutes, the baseline's before and after."""
    minutes = np.arange(ROWS) / 120
    return np.where((start <= minutes) & (minutes < end), share, BASELINE)


@pytest.fixture
def compare(tmp_path, plimsoll):
    """Runs a comparison; the first lines of the terminal, and the JSON of the run."""

    def run(before, after, seed=1):
        a, b = a_log(tmp_path / "a", seed, before), a_log(tmp_path / "b", seed + 50, after)
        outputs = [f"--{name}={tmp_path / name}" for name in ("json", "out", "markdown", "junit")]
        result = plimsoll("compare", a, b, *outputs)
        assert result.status == 0
        first_lines = " ".join(result.out.split("\n\n")[0].split())
        load = json.loads((tmp_path / "json").read_text())["comparisons"][0]
        assert " ".join(load["story"][1].split()) in first_lines
        assert (tmp_path / "out").stat().st_size > 1000
        return first_lines, load, (tmp_path / "junit").read_text()

    return run


def test_a_rise_from_none_is_said_in_its_unit(compare):
    outcome, result, _ = compare(0.0, 0.04)
    assert result["answer"] == "worse"
    assert "share of failed requests of load driver rose from 0 % to" in outcome


def test_a_rare_operation_that_fails_altogether_is_worse_and_its_quick_failures_are_no_better(compare):
    outcome, result, _ = compare(0.0, (np.arange(ROWS) % 50 == 0) * 1.0)
    assert result["answer"] == "worse"
    assert "by operation of load driver, refund rose from 0 % to 100 %" in outcome
    assert not [of for of in result["signals"] if of["outcome"] == "improvement"]


def test_minutes_in_which_all_requests_fail_are_worse(compare):
    outcome, result, junit = compare(BASELINE, in_minutes(1.0, 9, 11))
    assert outcome.startswith("Worse.")
    assert "20 % of the requests or more failed for 2 min on end, and never in the baseline" in outcome
    (beyond,) = result["beyond_means"]
    assert (beyond["what"], beyond["signal"], beyond["baseline"]) == ("failures", "client.error_share", 0)
    assert 110 <= beyond["other"] <= 130
    assert 'type="worse"' in junit


def test_failures_that_come_together_and_are_few_leave_it_open(compare):
    outcome, result, _ = compare(BASELINE, in_minutes(0.15, 8, 13))
    assert (result["answer"], result["beyond_means"]) == ("unknown", [])
    assert "share of failed requests of load driver rose from" in outcome


def test_what_the_review_doubts_in_the_other_run_alone_leaves_it_open(compare):
    outcome, result, _ = compare(BASELINE, in_minutes(1.0, 9.75, 10.25))
    assert result["answer"] == "unknown"
    assert "Not known. In b 75 % of the requests of the load driver failed for 40 s" in outcome


@pytest.mark.parametrize("share", [0.0, BASELINE, 0.02, 0.2])
def test_alike_runs_are_not_worse(compare, share):
    for seed in range(2):
        _, result, _ = compare(share, share, seed)
        assert (result["answer"], result["beyond_means"]) == ("not-worse", [])


@pytest.mark.parametrize("without", [0, 1])
@pytest.mark.parametrize(
    ("of_both", "expected"), [("search", "requested refund"), ("order", "has requests by operation (order, refund)")]
)
def test_an_operation_that_one_run_alone_requests_leaves_it_open(tmp_path, plimsoll, without, of_both, expected):
    """Also where the load driver keeps its rate, so that no total tells it."""
    runs = [a_log(tmp_path / name, seed, np.zeros(ROWS)) for seed, name in enumerate("ab")]
    for at, log in enumerate(run / "results.jtl" for run in runs):
        rows = log.read_text().split("\n")
        rows[1::5] = [row.replace(",order,", f",{of_both},") for row in rows[1::5]]
        log.write_text("\n".join(row.replace(",refund,", ",order,") if at == without else row for row in rows))
    result = plimsoll("compare", *runs)
    assert result.out.startswith(f"Not known. {'ba'[without]} alone {expected}.")
