"""Recordings shorter than a crossing must last to count, and the description of worst values."""

import json
import re
from xml.etree.ElementTree import fromstring

import pytest

CPU = r"Processor(_Total)\% Processor Time"
MEMORY = r"Memory\Available Bytes"
GB = 1024**3


@pytest.fixture
def reviewed(plimsoll, tmp_path):
    """Reviews a log of one column, a value every `interval_s` seconds; gives the outcome, JSON, report and JUnit."""

    def call(values, *arguments, path=CPU, interval_s=2, toml=""):
        if toml:
            (tmp_path / "plimsoll.toml").write_text(toml)
        rows = [rf'"(PDH-CSV 4.0) (UTC)(0)","\\WEB01\{path}"']
        for at, value in enumerate(values):
            minute, second = divmod(at * interval_s, 60)
            rows.append(f'"01/15/2008 {10 + minute // 60:02}:{minute % 60:02}:{second:02}.000","{value}"')
        (tmp_path / "log.csv").write_text("\r\n".join(rows) + "\r\n")
        outputs = ("--json", tmp_path / "r.json", "--out", tmp_path / "r.html", "--junit", tmp_path / "r.xml")
        done = plimsoll("review", tmp_path / "log.csv", "--details", *outputs, *arguments)
        loads = json.loads((tmp_path / "r.json").read_text())
        return done, loads, (tmp_path / "r.html").read_text(), fromstring((tmp_path / "r.xml").read_bytes())

    return call


def the_rule(values, name="cpu-busy"):
    (rule,) = [rule for rule in values["rules"] if rule["rule"] == name]
    return rule


@pytest.mark.parametrize("rows", [3, 29])
def test_a_short_log_with_a_breach_throughout_is_not_healthy(reviewed, rows):
    done, result, report, cases = reviewed([88] * rows)
    first, *outcome = done.out.splitlines()
    (tally,) = [line for line in outcome if line.startswith("Crossed: ")]
    assert first.startswith(
        "Not known. No warning or critical threshold could be judged: the recording is too short to judge a threshold that was crossed in it: "
    )
    assert outcome[0] == "It should stay below 80 %, and a crossing counts after 5 min."
    assert tally.endswith("3 were recorded too briefly, 67 were not recorded")
    assert "remark: what was judged of WEB01" in done.err
    assert "cpu-busy (5 min), cpu-pinned (5 min)" in done.err
    assert (result["verdict"], result["counts"]["too-short"]) == ("unknown", 3)
    rule = the_rule(result)
    assert (rule["state"], rule["breaches"], rule["share_of_time"]) == ("too-short", [], 1)
    assert rule["stretch_s"] < rule["threshold"]["for_s"]
    assert rule["notes"][0] == "crossed throughout what was recorded, which is shorter than the 5 min that count"
    assert "too briefly to count" not in done.out + report
    section = report[report.index('id="short"') :]
    assert "Processor time" in section
    skipped = cases.find(".//testcase[@name='cpu-busy on WEB01']/skipped")
    assert skipped is not None
    assert skipped.get("message", "").startswith("recorded too briefly to judge: crossed throughout")
    error = cases.find(".//testsuite[@name='verdict']/testcase/error")
    assert error is not None
    assert error.get("message", "").startswith("the recording is too short")


def test_a_short_log_that_was_never_crossed_is_not_healthy_either(reviewed):
    done, result, _, _ = reviewed([20] * 29)
    assert result["headline"] == (
        "Not known. No warning or critical threshold could be judged: the recording of WEB01 is too short, or lacks data, "
        "for all 3 warning and critical thresholds whose counters were recorded; record for 6 min or longer."
    )
    assert "cpu-busy (5 min)" in done.err


def test_a_crossing_with_both_ends_in_a_short_log_is_brief(reviewed):
    """The crossing ended, so it cannot have lasted long enough."""
    _, result, _, _ = reviewed([20] * 40 + [99] * 30 + [20] * 40)
    assert the_rule(result)["state"] == "too-short"
    assert the_rule(result)["brief_crossings"]["count"] == 1
    assert "crossed in it" not in result["headline"]


def test_a_crossing_that_lasts_to_the_end_of_a_short_log_may_have_lasted_longer(reviewed):
    _, result, _, _ = reviewed([20] * 40 + [99] * 70)
    assert "3 thresholds that were crossed in it: Processor time of WEB01" in result["headline"]


def test_a_breach_goes_before_what_is_too_short(reviewed, tmp_path):
    (tmp_path / "plimsoll.toml").write_text('[rules.cpu-busy]\nfor = "0s"\nreason = "x"\n')
    _, result, _, _ = reviewed([95] * 29)
    assert result["verdict"] == "not-healthy"
    assert result["headline"].endswith(
        "The recording of WEB01 is too short, or lacks data, for 2 of the 3 warning and critical thresholds whose counters were recorded; record for 6 min or longer."
    )


def test_the_worst_value_says_that_it_is_a_mean(reviewed):
    """The lowest sample is 100 MB, the lowest means over minutes are gigabytes."""
    values = [16 * GB] * 60
    values[30] = 100 * 1024**2
    done, result, report, _ = reviewed(values, path=MEMORY, interval_s=10, toml='[run]\njudge = ["memory"]\n')
    mean = the_rule(result, "memory-available")["worst"]
    assert mean > 10 * GB
    (outcome,) = [line for line in done.out.splitlines() if line.startswith("  Available memory  ")]
    assert re.search(r"lowest 1 min mean [\d.]+ GB", outcome)
    assert re.search(r"GB \(1 min mean\)", result["headline"])
    section = report[report.index('id="held"') : report.index('id="statistics"')]
    assert re.search(r"<small>lowest 1 min mean</small> <b>[\d.]+ GB</b>", section)


@pytest.mark.parametrize(("last", "is_known"), [(60, True), (105, False)])
def test_what_was_crossed_when_a_long_log_ended_is_not_known_to_be_brief(reviewed, last, is_known):
    """Over half of the 5 min that count lie at the end of an hour; a crossing half as long counts as brief."""
    done, result, *_ = reviewed([20] * 1800 + [97] * last)
    assert the_rule(result)["state"] == "held"
    sentence = "Processor time of WEB01 stood above its limit of 80 % for the last "
    assert (sentence in done.out) is not is_known
    if not is_known:
        assert done.out.startswith("Not known. ")
        assert "of what was recorded, at worst 97 % (1 min mean), and a crossing counts after 5 min" in done.out
