"""`[objective]` in plimsoll.toml: its limits are judged on the results of a load driver, like any limit."""

import json

import pytest

import plimsoll
from plimsoll.model.errors import Unusable
from tests.review.test_load_driver import EXAMPLE

HEAD = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n"


def _run(tmp_path, objective, elapsed=120, failed=lambda at: False, labels=("page", "pay"), seconds=900):
    """A healthy host, and a driver that began two minutes after its recording."""
    folder = EXAMPLE / "healthy"
    start = (plimsoll.review(folder).review.start or 0) // 10**6 + 120_000
    rows = (
        f"{start + at * 250},{elapsed},{labels[at % len(labels)]},200,OK,T 1,{str(not failed(at)).lower()},20\n"
        for at in range(seconds * 4)
    )
    driver = tmp_path / "results.jtl"
    driver.write_text(HEAD + "".join(rows), encoding="utf-8")
    settings = tmp_path / "plimsoll.toml"
    settings.write_text((folder / "plimsoll.toml").read_text(encoding="utf-8") + objective, encoding="utf-8")
    logs = sorted(path for path in folder.iterdir() if path.suffix != ".toml")
    return plimsoll.review(*logs, driver, config=settings)


def test_an_objective_that_is_met_is_judged_and_the_run_stays_healthy(tmp_path):
    review_result = _run(tmp_path, '\n[objective]\nresponse_p95 = "500 ms"\nerrors = "< 0.1 %"\n', seconds=2100)
    assert review_result.verdict == "healthy"
    rules = [rule for rule in review_result.document.rules if rule.rule.startswith("objective-")]
    assert {rule.rule: rule.state for rule in rules} == {
        "objective-response-p95": "held",
        "objective-errors": "held",
    }


@pytest.mark.parametrize(
    ("objective", "extra", "rule", "words"),
    [
        ('response_p95 = "100 ms"', {}, "objective-response-p95", "Response time, 95th percentile"),
        ('errors = "1 %"', {"failed": lambda at: at % 20 == 0}, "objective-errors", "Share of failed requests"),
        (
            'operations.pay = { response_p99 = "<= 100 ms" }',
            {},
            "objective-response-p99-pay",
            "Response time, 99th percentile, of pay",
        ),
    ],
)
def test_an_objective_that_is_missed_makes_the_run_not_healthy(tmp_path, objective, extra, rule, words):
    review_result = _run(tmp_path, f"\n[objective]\n{objective}\n", **extra)
    assert review_result.verdict == "not-healthy"
    assert words in review_result.headline
    assert [item.rule for item in review_result.document.rules if item.state == "crossed"] == [rule]
    assert words in str(review_result)
    assert words in review_result.to_html()
    assert json.loads(review_result.to_json())["verdict"] == "not-healthy"


@pytest.mark.parametrize("limit", ["errors", "operations.pay.errors"])
def test_a_failure_among_few_requests_is_no_share_of_all(tmp_path, limit):
    """One in a minute of 240 is 0.4 %, and one in 4,800 of the run 0.02 %."""
    objective = f'\n[objective]\n{limit} = "< 0.1 %"\n'
    result = _run(tmp_path, objective, failed=lambda at: at == 2401, seconds=1200)
    assert [rule.state for rule in result.document.rules if rule.rule.startswith("objective-errors")] == ["held"]
    assert "Judged for less than half of the run: Share of failed" not in result.headline
    result = _run(tmp_path, objective, failed=lambda at: at % 401 == 0, seconds=1200)
    assert [rule.state for rule in result.document.rules if rule.rule.startswith("objective-errors")] == ["crossed"]


def test_what_the_results_do_not_have_leaves_the_verdict_open(tmp_path):
    result = _run(tmp_path, '\n[objective.operations."no such page"]\nresponse_p95 = "1 s"\n')
    assert result.verdict == "unknown"
    assert "the objective was not judged for Response time, 95th percentile, of no such page" in result.headline


def test_without_a_load_driver_the_objective_is_not_judged(tmp_path):
    settings = tmp_path / "plimsoll.toml"
    settings.write_text('[objective]\nresponse_p95 = "1 s"\n', encoding="utf-8")
    logs = sorted(path for path in (EXAMPLE / "healthy").iterdir() if path.suffix != ".toml")
    review = plimsoll.review(*logs, config=settings)
    assert review.verdict == "unknown"
    assert "no results of a load driver were given" in review.headline


def test_a_driver_alone_is_not_healthy_although_its_objective_is_met(tmp_path):
    _run(tmp_path, "")
    settings = tmp_path / "plimsoll.toml"
    settings.write_text('[objective]\nresponse_p95 = "1 s"\n', encoding="utf-8")
    review = plimsoll.review(tmp_path / "results.jtl", config=settings)
    assert review.verdict == "unknown"
    assert "the counters of no host were given" in review.headline


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        ("response_p95 = 500", "objective.response_p95: is not a limit"),
        ('response_p95 = "500"', "does not name its unit"),
        ('response_p95 = "> 1 s"', "is no upper limit"),
        ('errors = "5 ms"', "objective.errors"),
        ('errors = "< 0 %"', "cannot be met"),
        ('response_p9 = "1 s"', r"unknown setting \(did you mean"),
        ("operations.pay = {}", "sets nothing"),
    ],
)
def test_mistakes_name_the_setting_and_what_to_write(tmp_path, objective, words):
    with pytest.raises(Unusable, match=words):
        _run(tmp_path, f"\n[objective]\n{objective}\n", seconds=5)
