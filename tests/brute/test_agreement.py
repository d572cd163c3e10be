"""What the program's reviews say of each rule against the evaluator in this folder, which shares nothing with it."""

import ast
import json
import math
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from . import generated
from .catalogue import PACKS, can_be, read_pack
from .evaluation import width
from .judging import grid, judge
from .recording import read
from .signals import Finder

HERE = Path(__file__).parent
EXTRA = HERE / "extra.yaml"
FACTS = {"processors": 1.0, "spindles": 1.0}  # what the documents assume of a machine nobody described
JUDGED = ("crossed", "often-crossed", "too-short", "held", "no-data")


@pytest.mark.parametrize("seed", [*range(4), 8, 12])
def test_a_generated_log(plimsoll, tmp_path, seed):
    compare(plimsoll, tmp_path, seed, sorted(PACKS.glob("*.yaml")))


@pytest.mark.parametrize("seed", range(100, 103))
def test_a_generated_log_under_rules_that_no_pack_has(plimsoll, tmp_path, seed):
    compare(plimsoll, tmp_path, seed, [EXTRA], "--only", EXTRA)


def compare(plimsoll, tmp_path, seed, packs, *options):
    """Review a generated log, and evaluate each rule again that the review judged."""
    folder, out = tmp_path / "run", tmp_path / "r.json"
    folder.mkdir()
    generated.write(folder, seed)
    result = plimsoll("review", folder, "--whole-run", "--json", out, *options)
    assert result.status == 0, result.err
    judged = [rule for rule in json.loads(out.read_text(encoding="utf-8"))["rules"] if rule["state"] in JUDGED]
    assert len(judged) > 10
    rules = {
        name: (rule, catalogue)
        for path in packs
        for read_rules, catalogue in [read_pack(path)]
        for name, rule in read_rules.items()
    }
    hosts = read(folder)
    differences = []
    for entry in judged:
        rule, catalogue = rules[entry["rule"]]
        expected = evaluate(rule, catalogue, hosts[entry["host"].casefold()], entry["instance"])
        actual = of_program(entry)
        differences += [
            f"{entry['rule']} of {entry['host']} {entry['instance']}, {field}: {actual[field]}, expected {value}"
            for field, value in expected.items()
            if not same(actual[field], value)
        ]
    assert "\n".join(differences) == ""


def evaluate(rule, catalogue, columns, instance):
    """What a review must say of a rule for a subject."""
    finder = Finder(catalogue, columns)
    facts = FACTS | ({"processors": float(finder.processors)} if finder.processors else {})
    result = finder.find(rule.conditions[0].signal)[instance]
    conditions = []
    for condition in (*rule.conditions, *(rule.when_phase_unknown if rule.phase else ())):
        signal = result if condition is rule.conditions[0] else joined(finder, condition.signal, instance)
        if signal is None and condition.counts_unrecorded:
            continue
        possible = can_be(catalogue[condition.signal], condition.reduce)
        limit = condition.limit.times(facts[condition.scale] if condition.scale else 1.0)
        conditions.append((replace(condition, limit=limit, can_be=possible), signal))
    times = [time for column in columns for time in (*column.times[:1], *column.times[-1:])]
    over = width(result, rule.conditions[0].over)
    return judge(rule, conditions, grid(min(times), max(times)), over, max(times) // 1000 * 1000) | {
        "limit": conditions[0][0].limit.number
    }


def joined(finder, name, instance):
    """The signal of a further condition for an instance: of the same name, else of the host."""
    result = {(other or "").casefold(): signal for other, signal in finder.find(name).items()}
    return result.get((instance or "").casefold(), result.get(""))


def of_program(rule):
    """The same fields of a rule of the document; durations in ms."""
    return {
        "state": rule["state"],
        "limit": rule["threshold"]["limit"],
        "worst": rule["worst"],
        "breaches": [
            [
                ms(item["start"]),
                ms(item["end"]),
                ms(item["fired_at"]),
                item["duration_s"] * 1000,
                item["worst"],
                item["mean"],
            ]
            for item in rule["breaches"]
        ],
        "brief": [rule["brief_crossings"]["count"], rule["brief_crossings"]["longest_s"] * 1000],
        "share_of_time": rule["share_of_time"],
        "evaluations": rule["evaluations"],
        "stretch": None if rule["stretch_s"] is None else rule["stretch_s"] * 1000,
    }


def same(left, right):
    """Whether values agree; numbers to a part in 10^9, as means depend on the order of adding."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, int | float) and isinstance(right, int | float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return left == right


def ms(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def test_this_evaluator_imports_nothing_of_the_program():
    for path in HERE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in names:
                assert name.partition(".")[0] in sys.stdlib_module_names | {"yaml", "pytest"}, (path, name)
