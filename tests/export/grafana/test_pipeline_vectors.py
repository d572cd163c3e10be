"""The worked cases of docs/evaluation.md, written to a real InfluxDB and judged by exported alert rules."""

import json
import math
import runpy
from pathlib import Path

import numpy as np
import pytest

from plimsoll.export.grafana.alerts.alert_rules import Options, Refused, alert_rules
from plimsoll.hosts.facts import Facts, GivenFacts
from plimsoll.hosts.site import Site
from plimsoll.model.sampling import sampling_interval
from plimsoll.model.times import SECOND
from plimsoll.rules.schema.pack import Pack
from plimsoll.rules.subjects import Subject
from tests.export.grafana.pipeline.evaluate import run
from tests.export.grafana.pipeline.states import State
from tests.export.grafana.pipeline.values import Number

TESTS = Path(__file__).parents[2]
CASES = json.loads((TESTS / "data" / "evaluation-vectors.json").read_text())["cases"]
VECTORS = runpy.run_path(str(TESTS / "rules" / "test_vectors.py"))
START = 1_700_000_400  # a multiple of every grid used
DELAY = 30 * SECOND
# Grafana's names of states; a subject without data keeps its state.
SHOWN = {"ok": State.NORMAL, "no-data": State.NORMAL, "pending": State.PENDING, "firing": State.ALERTING, "firing*": State.ALERTING}  # fmt: skip
# The cases with other states in Grafana, and why; docs/grafana.md describes them.
DIFFERENT = {
    # Silence does not end pending in Grafana, and if every host is silent it does not stop the clock either.
    "gap-while-pending": {70: State.PENDING, **dict.fromkeys(range(80, 190, 10), State.ALERTING)},
    # Grafana knows no phases, so the rule is judged at all times.
    "phase-known": {**dict.fromkeys(range(0, 20, 10), State.PENDING), **dict.fromkeys(range(20, 120, 10), State.ALERTING)},
}  # fmt: skip


def exported(case):
    """Return the alert rule of a case, with a separate measurement for its signals."""
    signals = {
        name: signal if signal.derived else signal.model_copy(update={"sources": (moved(signal.sources[0], case),)})
        for name, signal in VECTORS["signals_of"](case).items()
    }
    rule = VECTORS["rule_of"](case)
    pack = Pack(pack="p", title="t", about="a", rules=(rule,))
    facts = {Subject("h"): {"spindles": float(case["rule"]["factor"])}} if "factor" in case["rule"] else {}
    times = np.unique([t for points in case["series"].values() for t, _ in points]) * SECOND
    options = Options(every=case.get("every", 10) * SECOND, delay=DELAY, interval=sampling_interval(times) or 0)
    found = list(
        alert_rules(rule, pack, signals, Site(["h"] if facts else [], facts=Facts(GivenFacts(facts))), options)
    )
    last = found[-1]
    assert not isinstance(last, Refused)
    return last[0], options.every


def moved(source, case):
    return source.model_copy(update={"measurement": f"vector-{case['name']}"})


def lines(case):
    for name, points in case["series"].items():
        for t, value in points:
            if value is not None and not math.isnan(float(value)):
                yield f"vector-{case['name']},host=h {name}={float(value)!r} {(START + t) * SECOND}\n"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_worked_case(case, influx):
    influx.write(lines(case))
    rule, every = exported(case)
    times = [(START + e) * SECOND + DELAY for e, _, _ in case["expect"]]
    refs = [query.ref_id for query in rule.data if query.model.ref_id in value_refs(rule)]
    for (e, state, value), (_, instances, values) in zip(
        case["expect"], run(rule, every, times, influx.ask), strict=True
    ):
        (shown,) = {one.state for labels, one in instances.items() if labels} or {State.NORMAL}
        assert shown == DIFFERENT.get(case["name"], {}).get(e, SHOWN.get(state)), f"at {e}"
        numbers = [one.value for one in values[refs[0]] if isinstance(one, Number)]
        if state != "not-judged":
            assert numbers == ([] if value is None else [pytest.approx(value, abs=1e-6)]), f"at {e}"


def value_refs(rule):
    """Return the refIds whose values are in the annotations."""
    return {rule.annotations["value"].partition("$values.")[2].partition(".")[0]}


def test_every_difference_is_of_a_case():
    assert set(DIFFERENT) <= {case["name"] for case in CASES}
