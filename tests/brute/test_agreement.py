"""The program's reviews against those of the evaluator in this folder, which has nothing in common with it."""

import ast
import json
import math
import sys
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from plimsoll.demo.runs import write_runs

from . import generated
from .catalogue import pack
from .review import review

HERE = Path(__file__).parent
# Together they have each kind of rule that any example has, by signals, reducers, conditions and facts. The rules of
# the others are tested by their worked cases.
EXAMPLES = [
    HERE.parents[1] / "examples" / name / "trouble"
    for name in (
        *("business-applications", "exchange", "file-server", "hyper-v-cluster", "linux-today", "messaging"),
        *("sharepoint", "sql-server-replica", "sql-server-today", "windows-today"),
    )
]
EXTRA = HERE / "extra.yaml"
JUDGED = ("crossed", "often-crossed", "too-short", "held")


def said(plimsoll, folder, out, *arguments):
    """What the program says of a folder."""
    done = plimsoll("review", folder, "--whole-run", "--json", out, *arguments)
    assert done.status == 0, done.err
    return json.loads(out.read_text(encoding="utf-8"))


def differences(document, own):
    """Every difference between the program's document and the review made here, a line each."""
    found = []
    theirs = {(rule["rule"], (rule["host"] or "").casefold(), rule["instance"]): rule for rule in document["rules"]}
    assert len(theirs) == len(document["rules"])
    ours = {one.key: one for one in own.findings}
    found += [f"{key}: only the program has it, {theirs[key]['state']}" for key in theirs.keys() - ours.keys()]
    found += [f"{key}: only the test has it, {ours[key].judgement.state}" for key in ours.keys() - theirs.keys()]
    for key in sorted(theirs.keys() & ours.keys(), key=str):
        expected, got = of_test(ours[key]), of_program(theirs[key])
        found += [
            f"{key} {field}: program {got[field]}, test {expected[field]}"
            for field in expected
            if not same(got[field], expected[field])
        ]
    limit = document["limit"]
    limited = limit and limit["confident"] and limit["kind"] in ("cpu", "memory", "disk", "network")
    # What limits a run is concluded from more than limits, which is not made again here.
    verdict = "unknown" if limited and own.verdict == "healthy" else own.verdict
    if document["verdict"] != verdict:
        found.append(f"verdict: program {document['verdict']}, test {verdict}")
    return "\n".join(found)


def of_program(rule):
    """A rule of the document; durations in ms."""
    judged = rule["state"] in JUDGED
    return {
        "state": rule["state"],
        "severity": rule["severity"],
        "limit": rule["threshold"]["limit"],
        "over": rule["threshold"]["over_s"] * 1000 if judged else None,
        "for": rule["threshold"]["for_s"] * 1000,
        "worst": rule["worst"],
        "breaches": [
            [ms(one["start"]), ms(one["end"]), ms(one["fired_at"]), one["duration_s"] * 1000, one["worst"], one["mean"]]
            for one in rule["breaches"]
        ],
        "brief": [rule["brief_crossings"]["count"], rule["brief_crossings"]["longest_s"] * 1000],
        "share_of_time": rule["share_of_time"],
        "evaluations": rule["evaluations"],
        "stretch": None if rule["stretch_s"] is None else rule["stretch_s"] * 1000,
    }


def of_test(finding):
    """The same of a finding made here."""
    made = finding.judgement
    return {
        "state": made.state,
        "severity": finding.severity,
        "limit": finding.limit,
        "over": finding.over if made.state in JUDGED else None,
        "for": finding.rule.for_,
        "worst": made.worst,
        "breaches": [
            [one.start, one.end, one.fired_at, one.end - one.start, one.worst, one.mean] for one in made.breaches
        ],
        "brief": [made.brief, made.longest_brief],
        "share_of_time": made.share_of_time,
        "evaluations": made.evaluations,
        "stretch": made.stretch,
    }


def same(one, other):
    """Whether values agree; numbers to a part in 10^9, as means depend on the order of adding."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other


def ms(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.parent.name)
def test_an_example(plimsoll, tmp_path, folder):
    assert differences(said(plimsoll, folder, tmp_path / "r.json"), review(folder)) == ""


def test_half_an_hour_of_the_run_of_the_demo_that_is_ill(plimsoll, tmp_path):
    _, folder = write_runs(tmp_path)
    start = datetime(2008, 1, 16, 10, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    end = start + timedelta(minutes=30)
    done = said(plimsoll, folder, tmp_path / "r.json", "--from", start.isoformat(), "--to", end.isoformat())
    assert differences(done, review(folder, between=(start, end))) == ""


@pytest.mark.parametrize("seed", range(4))
def test_a_generated_log(plimsoll, tmp_path, seed):
    folder = tmp_path / "run"
    folder.mkdir()
    generated.write(folder, seed)
    assert differences(said(plimsoll, folder, tmp_path / "r.json"), review(folder)) == ""


@pytest.mark.parametrize("seed", range(100, 102))
def test_a_generated_log_under_rules_that_no_pack_has(plimsoll, tmp_path, seed):
    folder = tmp_path / "run"
    folder.mkdir()
    generated.write(folder, seed)
    done = said(plimsoll, folder, tmp_path / "r.json", "--only", EXTRA)
    assert differences(done, review(folder, [pack(EXTRA)])) == ""


@pytest.mark.parametrize("seed", range(400, 402))
def test_a_generated_log_under_the_shipped_packs_and_one_more(plimsoll, tmp_path, seed):
    folder = tmp_path / "run"
    folder.mkdir()
    generated.write(folder, seed)
    done = said(plimsoll, folder, tmp_path / "r.json", "--pack", EXTRA)
    assert differences(done, review(folder, added=[pack(EXTRA)])) == ""


RAID = """
[hosts.HOST1]
memory_mb = 2048
instances."0 C:" = { raid = 5 }
instances."1 D:" = { raid = 1, spindles = 2 }
instances."2 E:" = { raid = 10, drive = "database", spindles = 8 }
[hosts.HOST2]
memory_mb = 16384
"""
# HOST2 is not in every log: then the verdict cannot be that all is well.
SHARES = """
[hosts.HOST2.rules.context-switches]
often = "50 %"
reason = "r"
[rules.cpu-busy]
often = "2 %"
for = "1m"
reason = "r"
[rules.context-switches]
often = "90 %"
for = "20m"
reason = "r"
[rules.memory-available]
healthy = "> 5500 KB"
reason = "r"
[rules.sql-page-life-expectancy]
healthy = "> 0.75 h"
reason = "r"
"""


@pytest.mark.parametrize(("settings", "seed"), [(RAID, 300), (SHARES, 301)], ids=["raid", "shares-of-time"])
def test_a_generated_log_with_settings(plimsoll, tmp_path, seed, settings):
    folder = tmp_path / "run"
    folder.mkdir()
    generated.write(folder, seed, settings)
    assert differences(said(plimsoll, folder, tmp_path / "r.json"), review(folder)) == ""


@pytest.mark.parametrize("seed", [201, 202])
def test_a_part_of_a_generated_log(plimsoll, tmp_path, seed):
    """What --from and --to leave out is not evaluated; windows look back into it all the same."""
    folder = tmp_path / "run"
    folder.mkdir()
    generated.write(folder, seed)
    start, end = generated.START + timedelta(minutes=5, seconds=seed % 7), generated.START + timedelta(minutes=16)
    done = said(plimsoll, folder, tmp_path / "r.json", "--from", start.isoformat(), "--to", end.isoformat())
    assert differences(done, review(folder, between=(start, end))) == ""


def test_this_evaluator_imports_nothing_of_the_program():
    for path in HERE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                imported = [node.module or ""]
            # Only tests, which run the program, may have more: the demo's logs are its own.
            more = ("pytest", "plimsoll.demo") if path.name.startswith("test_") else ()
            for name in imported:
                known = name.partition(".")[0] in sys.stdlib_module_names | {"yaml"} or name == "tests.each"
                assert known or f"{name}.".startswith(tuple(f"{one}." for one in more)), (path, name)
