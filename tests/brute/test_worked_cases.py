"""The evaluator of this folder against the worked cases: those of evaluation-vectors.json, and those of every rule."""

import itertools
import json
import math
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from tests.each import each

from .catalogue import PACKS, Condition, pack, share, signals
from .catalogue import _condition as of_units
from .judging import grid, judged, moments, run_states
from .recording import Column
from .signals import Derived, Finder, Leaf, Made, Signal

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "evaluation-vectors.json").read_text(encoding="utf-8"))[
    "cases"
]
SECOND = 1000
_ITEM = re.compile(r"(_|[+-]?[0-9.]+)(?:([+-][0-9.]+)?x(\d+))?")


def condition_of(data):
    """A condition whose limits are in the unit of its signal."""
    return of_units(data, defaultdict(str))


def a_column(points):
    """A column of (seconds, value), those without a value left out."""
    present = [(at * SECOND, float(value)) for at, value in points if value is not None and math.isfinite(float(value))]
    distances = sorted(later - at for (at, _), (later, _) in itertools.pairwise(points))
    interval = distances[(len(distances) - 1) // 2] * SECOND
    return Column("h", interval, times=[at for at, _ in present], values=[value for _, value in present])


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_the_states_of_a_worked_case(case):
    rule = case["rule"]
    scale, offset = rule.get("transform", (1, 0))
    leaves = {
        name: Leaf(a_column(points), scale, offset, rule.get("rate", False)) for name, points in case["series"].items()
    }
    own: Signal = (
        Derived("ratio", [leaves[name] for name in rule["ratio"]], [1, 1])
        if "ratio" in rule
        else made_of(rule["fields"], leaves, scale, offset)
        if "fields" in rule
        else leaves[rule["signal"]]
    )
    phases = case.get("phases", [])
    added = rule.get("and", []) + ([] if phases else rule.get("when_phase_unknown", []))
    main = condition_of({"signal": "", **rule})
    conditions: list[tuple[Condition, Signal | None]] = [
        (replace(main, limit=main.limit.times(rule.get("factor", 1))), own)
    ]
    conditions += [(condition_of(one), leaves[one["signal"]]) for one in added]
    evaluations = [
        at * SECOND
        for at, *_ in case["expect"]
        if not phases or any(name == rule["phase"] and start <= at <= end for name, start, end in phases)
    ]
    made = moments(conditions, evaluations)
    recover = condition_of({"signal": "", "healthy": rule["recover"]}).limit if "recover" in rule else None
    run_states(made, rule["for"] * SECOND, recover, case.get("every", 10) * SECOND)
    inside = {moment.at for moment in made}
    expected = [(at * SECOND, state.rstrip("*"), value) for at, state, value in case["expect"] if at * SECOND in inside]
    assert [(moment.at, moment.state) for moment in made] == [(at, state) for at, state, _ in expected]
    for moment, (_, _, value) in zip(made, expected, strict=True):
        assert moment.value == (None if value is None else pytest.approx(value, abs=1e-5))


def made_of(fields, leaves, scale, offset):
    ((how, names),) = fields.items()
    return Made(how, [replace(leaves[name], scale=1, offset=0) for name in names], scale, offset)


@pytest.mark.parametrize("case", [case for case in VECTORS if "review" in case], ids=lambda case: case["name"])
def test_what_a_review_makes_of_a_worked_case(case):
    """Not only by `for`, as an alert, but by the whole of the run."""
    assert said_of(case) == case["review"]


def said_of(case):
    rule = case["rule"]
    recover = condition_of({"signal": "", "healthy": rule["recover"]}).limit if "recover" in rule else None
    wanted: Any = SimpleNamespace(for_=rule["for"] * SECOND, recover=recover, often=share(rule.get("often", 0.1)))
    own = Leaf(a_column(case["series"][rule["signal"]]), 1, 0, False)
    evaluations = [at * SECOND for at, *_ in case["expect"]]
    condition = condition_of({"signal": "", **rule})
    made: Any = judged(wanted, [(condition, own)], evaluations, condition.over, frozenset())
    crossed = round(made.share_of_time * made.evaluations) * 10
    return {"state": made.state, "crossed_s": crossed, "share_of_time": round(made.share_of_time, 6)}


def cases():
    """The cases of every rule that ships: its pack, its name and the case."""
    for path in sorted(PACKS.glob("*.yaml")):
        for rule in yaml.load(path.read_text(), yaml.CSafeLoader)["rules"]:
            yield from ((path, rule["id"], case) for case in rule["cases"])


@each(cases, lambda one: f"{one[1]}: {one[2]['name']}")
def test_a_case_of_a_rule(one):
    path, rule, case = one
    judged = next(one for one in pack(path).rules if one.id == rule)
    every = {"10s": 10}.get(case.get("interval", "10s")) or int(case["interval"][:-1]) * {"s": 1, "m": 60}[
        case["interval"][-1]
    ]
    columns = {
        name: a_column([(number * every, value) for number, value in enumerate(series(text))])
        for name, text in case["series"].items()
    }
    facts = case.get("facts", {})
    finder = OfACase(columns, facts)
    unknown = judged.when_phase_unknown if "phase" not in case else ()
    conditions = [
        (replace(one, limit=one.limit.times(facts.get(one.scale, 1))), found)
        for one in (*judged.conditions, *unknown)
        if (found := finder.find(one.signal).get(None)) or not one.counts_unrecorded
    ]
    length = max(len(series(text)) for text in case["series"].values()) if case["series"] else 60
    outside = judged.phase is not None and "phase" in case and case["phase"] != judged.phase
    for fact, wanted in judged.where.items():
        if fact in facts:
            outside |= not wanted.healthy(facts[fact]) and judged.where_outside == "skip"
        else:
            outside |= judged.where_unknown in ("skip", "not-judged")
    made = [] if outside else moments(conditions, grid(0, (length - 1) * every * SECOND))
    run_states(made, judged.for_, judged.recover)
    states = {moment.state for moment in made}
    fired = None if all(moment.true is None for moment in made) else "firing" in states
    assert fired == case["fires"]


class OfACase(Finder):
    """Finds signals in the columns of a case, which it names after them."""

    def __init__(self, columns, facts):
        super().__init__(signals(), [], lambda instance, fact: facts.get(fact))
        self.named = columns

    def find(self, name: str) -> dict[str | None, Signal]:
        if name in self.named:
            return {None: Leaf(self.named[name])}
        return super().find(name)


def series(text):
    """The samples of `95x60 0+10x3 _x2`."""
    samples = []
    for item in text.split():
        match = _ITEM.fullmatch(item)
        assert match, item
        first, step, more = match.groups()
        count = int(more or 0)
        if first == "_":
            samples += [None] * max(count, 1)
        else:
            samples += [float(first) + float(step or 0) * number for number in range(count + 1)]
    return samples
