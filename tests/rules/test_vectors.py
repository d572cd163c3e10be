"""The worked cases of docs/evaluation.md: the evaluator must give exactly these states and values."""

import json
from pathlib import Path

import numpy as np
import pytest

from plimsoll.model.file_models import parse_content
from plimsoll.model.run import Phase
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.review.judging import find_outcome
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.states import State, Truth, list_evaluation_times
from plimsoll.rules.subjects import Subject

CASES = json.loads((Path(__file__).parents[1] / "data" / "evaluation-vectors.json").read_text())["cases"]
NAMES = {State.OK: "ok", State.PENDING: "pending", State.FIRING: "firing", State.NO_DATA: "no-data"}


def a_signal(**options):
    return parse_content(Signal, {"title": "t", "unit": "u", "meaning": "m", **options})


def signals_of(case):
    rule = case["rule"]
    fields = {"rate": rule.get("rate", False)}
    if "transform" in rule:
        scale, offset = rule["transform"]
        fields["transform"] = {"scale": scale, "offset": offset, "unknown": rule.get("unknown", [])}
    signals = {
        f"s.{name}": a_signal(sources=[{"measurement": "m", "field": name, **fields}]) for name in case["series"]
    }
    if "ratio" in rule:
        signals["s.ratio"] = a_signal(derived={"ratio": [f"s.{name}" for name in rule["ratio"]]})
    if "fields" in rule:
        signals["s.fields"] = a_signal(sources=[{"measurement": "m", "field": rule["fields"], **fields}])
    return signals


def rule_of(case):
    result = dict(case["rule"])
    for field in ("rate", "transform", "unknown", "ratio", "fields", "factor"):
        result.pop(field, None)
    if "factor" in case["rule"]:
        result["scale"] = "spindles"
    result["signal"] = f"s.{result.get('signal', 'fields' if 'fields' in case['rule'] else 'ratio')}"
    for field in ("and", "when_phase_unknown"):
        result[field] = [{**condition, "signal": f"s.{condition['signal']}"} for condition in result.get(field, [])]
    citation = {"document": "docs/evaluation.md", "place": case["name"]}
    return parse_content(Rule, {"id": "r", "severity": "warning", "summary": "s", "sources": [citation], **result})


def judged(case):
    samples = {
        Series("h", "m", (), name): Samples(
            np.array([t * SECOND for t, _ in points], dtype=np.int64),
            np.array([np.nan if v is None else float(v) for _, v in points]),
        )
        for name, points in case["series"].items()
    }
    finder = Finder(signals_of(case), list(samples), lambda series: True)
    phases = [Phase(name, start * SECOND, end * SECOND) for name, start, end in case.get("phases", [])]
    item = case.get("every", 10) * SECOND
    judge = RuleEvaluator(finder.find, samples.__getitem__, lambda subject, fact: case["rule"]["factor"], phases)
    times = np.unique(np.concatenate([sample.times for sample in samples.values()]))
    (track,) = judge.evaluate(rule_of(case), lambda subject: list_evaluation_times(times, item, 600 * SECOND))
    assert track.subject == Subject("h")
    return track


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_worked_case(case):
    track = judged(case)
    got = []
    for at, state, truth, value in zip(track.times, track.states, track.truths, track.values, strict=True):
        stale = "*" if state == State.FIRING and truth == Truth.NO_DATA else ""
        name = NAMES.get(State(state), "not-judged") + stale
        got.append([int(at) // SECOND, name, None if np.isnan(value) else round(float(value), 6)])
    assert got == case["expect"]
    crossings = [[crossing.start // SECOND, crossing.end // SECOND] for crossing in track.crossings]
    assert crossings == case.get("crossings", crossings)


@pytest.mark.parametrize("case", [case for case in CASES if "review" in case], ids=lambda case: case["name"])
def test_what_a_review_makes_of_it(case):
    track, rule = judged(case), rule_of(case)
    assert {
        "state": str(find_outcome(rule, track)),
        "crossed_s": track.time_crossed // SECOND,
        "share_of_time": round(track.share_of_time or 0.0, 6),
    } == case["review"]
