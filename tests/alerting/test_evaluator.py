"""Rules stepped live have the states that a replay gives, even with restarts in between."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.alerting.evaluator import Evaluator
from plimsoll.alerting.rule_targets import Site
from plimsoll.model.file_models import parse_content
from plimsoll.model.log import find_sampling_interval
from plimsoll.model.points import Points
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.load import Catalogue, load
from plimsoll.rules.schema.pack import Pack, Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import Finder
from plimsoll.rules.states import EVALUATION_INTERVAL, State, Truth, list_evaluation_times
from plimsoll.rules.subjects import Subject
from tests.alerting.in_memory import InMemory
from tests.rules.test_vectors import CASES, judged, rule_of, signals_of

LONGEST = 600 * SECOND
T0 = 1_700_000_000 * SECOND


def site(rule, signals):
    pack = parse_content(Pack, {"pack": "p", "title": "P.", "about": "a", "rules": []})
    return Site(Catalogue((replace(pack, rules=(rule,)),), signals, frozenset(), {}))


def points(samples):
    """Return all present samples, by series."""
    series = list(samples)
    present = [sample.present for sample in samples.values()]
    which = np.repeat(np.arange(len(series), dtype=np.int32), [len(item.times) for item in present])
    return Points(
        series,
        which,
        np.concatenate([item.times for item in present]),
        np.concatenate([item.values for item in present]),
    )


def stepped(store, samples, rule, signals, at, *, facts=None, restarts=()):
    """Return the state at each evaluation, and whether it is stale; points arrive just before each evaluation."""
    fields = {Subject("h"): facts or {}}
    live = Evaluator(store, site(rule, signals), fields, {})
    live.advance(seen_before(store, samples, int(at[0])))
    live.states.forget([*live.states.statuses])
    item = points(samples)
    sent, states = -(10**18), []
    for e in at.tolist():
        arrived = (item.times > sent) & (item.times <= e)
        store.write_points(Points(item.series, item.which[arrived], item.times[arrived], item.values[arrived]))
        sent = e
        if e in restarts:
            live = Evaluator(store, site(rule, signals), fields, live.states.statuses)
        live.advance(np.array([e], dtype=np.int64))
        key = ("r", "h", None)
        states.append(
            (live.states.state(key), live.states.state(key) == State.FIRING and np.isnan(live.states.value(key)))
        )
    return states


def seen_before(store, samples, start):
    """Return samples of an earlier time, which tell the sampling intervals, and the evaluation after them."""
    at = (start - 2400 * SECOND) // EVALUATION_INTERVAL * EVALUATION_INTERVAL
    earlier = {
        series: Samples(
            at - np.arange(2, -1, -1, dtype=np.int64) * (sample.interval or EVALUATION_INTERVAL), np.zeros(3)
        )
        for series, sample in samples.items()
    }
    store.write_points(points(earlier))
    return np.array([at], dtype=np.int64)


def in_columns(track):
    return [
        (State(state), state == State.FIRING and truth == Truth.NO_DATA)
        for state, truth in zip(track.states.tolist(), track.truths.tolist(), strict=True)
    ]


@pytest.mark.parametrize("case", [case for case in CASES if "phases" not in case], ids=lambda case: case["name"])
def test_worked_case(case):
    track = judged(case)
    samples = {
        Series("h", "m", (), name): Samples(
            np.array([t * SECOND for t, _ in rows], dtype=np.int64),
            np.array([np.nan if v is None else float(v) for _, v in rows]),
        )
        for name, rows in case["series"].items()
    }
    facts = {"spindles": case["rule"]["factor"]} if "factor" in case["rule"] else {}
    rule, signals = rule_of(case), signals_of(case)
    assert stepped(InMemory(), samples, rule, signals, track.times, facts=facts) == in_columns(track)


@st.composite
def cases(draw):
    """Return a rule, perhaps with a second condition, the samples of two series, and when live evaluation restarts."""
    operator = draw(st.sampled_from(["<", ">"]))
    # Samples are lost only where windows are so long that no interval learned from the rest would widen them.
    loses = draw(st.booleans())
    item = draw(st.sampled_from([5, 10, 15] if loses else [5, 10, 15, 30]))
    rows = draw(st.integers(6, 40))
    lost = draw(st.sets(st.integers(2, rows - 1), max_size=rows // 3)) if loses else set[int]()
    rule = {
        "id": "r",
        "signal": "s.x",
        "healthy": f"{operator} 50",
        "over": draw(st.sampled_from([120, 300] if loses else [10, 25, 60, 300])),
        "for": draw(st.sampled_from([0, 20, 60, 120])),
        "reduce": draw(st.sampled_from(["mean", "min", "max", "last", "sum", "count", "median", "increase"])),
        "severity": "warning",
        "summary": "s",
        "sources": [{"document": "d", "place": "p"}],
    }
    if draw(st.booleans()):
        rule["recover"] = "< 40" if operator == "<" else "> 60"
    if draw(st.booleans()):
        rule["and"] = [
            {"signal": "s.y", "healthy": "< 30", "over": draw(st.sampled_from([120] if loses else [10, 60]))}
        ]
    kept = np.array([at for at in range(rows) if at not in lost], dtype=np.int64)
    shift = draw(st.integers(0, 9)) * SECOND
    sampled = {
        Series("h", "m", (), name): Samples(
            kept * item * SECOND + shift,
            np.array([draw(st.floats(0, 100, width=16)) for _ in kept]),
            item * SECOND,
        )
        for name in ("x", "y")
    }
    return parse_content(Rule, rule), sampled, draw(st.sets(st.integers(30, 80), max_size=3)), draw(st.booleans())


SIGNALS = {
    name: parse_content(
        Signal, {"title": name, "unit": "u", "meaning": "m", "sources": [{"measurement": "m", "field": name[-1]}]}
    )
    for name in ("s.x", "s.y")
}
RATES = {
    name: parse_content(
        Signal,
        {
            "title": name,
            "unit": "u",
            "meaning": "m",
            "sources": [{"measurement": "m", "field": name[-1], "rate": True}],
        },
    )
    for name in ("s.x", "s.y")
}


@given(cases())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_generated_case(case):
    rule, samples, restarts, is_rate = case
    signals = RATES if is_rate else SIGNALS
    finder = Finder(signals, list(samples), lambda _: True)
    judge = RuleEvaluator(finder.find, samples.__getitem__, lambda subject, fact: 1.0)
    times = np.unique(np.concatenate([sample.times for sample in samples.values()]))
    (track,) = judge.evaluate(rule, lambda subject: list_evaluation_times(times, EVALUATION_INTERVAL, LONGEST))
    # Where a judge that has just been started learns the declared interval from the samples there are.
    (declared,) = {sample.declared for sample in samples.values()}
    later = [e for e in track.times.tolist() if find_sampling_interval(times[times <= e]) == declared]
    again = {later[at % len(later)] for at in restarts if later}
    assert stepped(InMemory(), samples, rule, signals, track.times, restarts=again) == in_columns(track)


def test_windows_follow_the_sampling_interval():
    fields = {"id": "r", "signal": "s.x", "healthy": "< 50", "over": 30, "severity": "warning", "summary": "s"}
    rule = parse_content(Rule, {**fields, "sources": [{"document": "d", "place": "p"}]})
    times = np.concatenate((np.arange(0, 600, 10), np.arange(600, 2400, 60))) * SECOND
    samples = {Series("h", "m", (), "x"): Samples(times, np.full(len(times), 10.0))}
    at = np.arange(0, 2400, 10) * SECOND
    result = stepped(InMemory(), samples, rule, SIGNALS, at)
    without = [int(e) // SECOND for e, (state, _) in zip(at, result, strict=True) if state != State.OK]
    # Until five steps have shown that it is another one.
    assert without
    assert max(without) < 960


@pytest.mark.parametrize(
    "series",
    [
        Series(
            "S1",
            "win_sqlserver",
            (("objectname", "SQLServer:Memory Manager"), ("source", "S1")),
            "Total_Server_Memory_(KB)",
        ),
        Series("S1", "win_sqlserver", (("objectname", "MSSQL$PAYROLL:General Statistics"),), "User_Connections"),
    ],
    ids=["memory", "connections"],
)
def test_a_host_of_which_a_fact_is_not_known_stops_the_judging_of_no_other(series):
    """The rule on installed memory needs a fact that neither the agent of SQL Server nor plimsoll.toml gave."""
    busy = Series("S2", "win_cpu", (("instance", "_Total"), ("objectname", "Processor")), "Percent_Processor_Time")
    times = np.arange(T0, T0 + 900 * SECOND, 10 * SECOND, dtype=np.int64)
    store = InMemory()
    store.write_points(points({series: Samples(times, np.full(90, 9e6)), busy: Samples(times, np.full(90, 97.0))}))
    live = Evaluator(store, Site(load()), {}, {})
    for first in range(1, len(times), 6):
        live.advance(times[first : first + 6])
    assert live.states.state(("windows-cpu-busy-critical", "s2", None)) == State.FIRING
