"""`plimsoll rules`: what ships can be listed, explained and tested, and packs of one's own checked."""

import json

import pytest

from plimsoll.report.rule_page import explain
from plimsoll.rules.load import load, load_signals
from tests.each import run_each

PACK = """\
pack: own
title: Own
about: Limits of our own.
rules:
  - id: own-cpu
    signal: cpu.busy
    healthy: "< 70"
    for: 2m
    severity: warning
    summary: Busy.
    why: Above it the night run takes until the morning.
    sources:
      - {document: Capacity plan, place: page 3, quote: keep it under 70}
    cases:
      - {name: fires, series: {cpu.busy: 75x30}, fires: true}
      - {name: just below, series: {cpu.busy: 69x30}, fires: false}
      - {name: missing, series: {cpu.busy: _x30}, fires: null}
"""
RULES = [(pack, rule) for pack in load().packs for rule in pack.rules]


@pytest.fixture
def custom(tmp_path):
    def write(old="", new=""):
        path = tmp_path / "own.yaml"
        path.write_text(PACK.replace(old, new), encoding="utf-8")
        return path

    return write


def test_list(plimsoll, custom):
    done = plimsoll("rules", "list", "--only", custom())
    assert done.status == 0
    assert done.out.splitlines() == [
        "  rule     severity  signal          healthy  for    sources",
        "own: Own",
        "  own-cpu  warning   Processor time  < 70 %   2 min  1",
    ]


def test_list_names_every_shipped_rule(plimsoll):
    lines = plimsoll("rules", "list").out.splitlines()
    assert {line.split()[0] for line in lines[1:] if line.startswith("  ")} == {rule.id for _, rule in RULES}
    assert {line.partition(":")[0] for line in lines if not line.startswith("  ")} == {pack.pack for pack, _ in RULES}


def test_list_for_programs(plimsoll, custom, tmp_path):
    assert plimsoll("rules", "list", "--only", custom(), "--json", tmp_path / "rules.json").status == 0
    loads = json.loads((tmp_path / "rules.json").read_text(encoding="utf-8"))
    assert loads["schema"] == "plimsoll.rules/1"
    (rule,) = loads["rules"]
    assert (rule["pack"], rule["rule"], rule["for_s"], rule["and"]) == ("own", "own-cpu", 120, [])
    assert (rule["condition"]["healthy"], rule["condition"]["limit"], rule["condition"]["unit"]) == ("< 70", 70, "%")


def test_check_of_ones_own(plimsoll, custom):
    assert plimsoll("rules", "check", custom()).out == "ok: 1 rule in 1 pack\n"


def test_check_tells_all_mistakes(plimsoll, custom):
    path = custom("healthy:", "helthy:")
    path.write_text(path.read_text().replace("69x30", "69y30").replace("cpu.busy\n", "CPU\n"))
    done = plimsoll("rules", "check", path)
    assert (done.status, done.out) == (2, "")
    assert all(line.startswith(f"plimsoll: {path}:") for line in done.err.splitlines())
    assert 'rule own-cpu: unknown field "helthy" (did you mean "healthy"?)' in done.err
    assert '"69y30" is not a series of samples' in done.err
    assert "signal: string should match pattern" in done.err


@run_each(RULES, lambda both: both[1].id)
def test_everything_a_rule_says_is_explained(both):
    pack, rule = both
    signals = load_signals()
    text = explain(rule, pack, signals)
    signal = signals[rule.signal]
    entries = [rule.id, rule.severity, rule.summary, signal.title, signal.meaning, rule.why, rule.measured_on or ""]
    entries += [f"`{source.path}`" if source.path else f"`{source.measurement}`" for source in signal.sources]
    entries += [item for source in rule.sources for item in (source.document, source.place, source.quote or "")]
    entries += [signals[name].title for name in (*rule.look_at, *(condition.signal for condition in rule.conditions))]
    entries += [*rule.look_at, *rule.thresholds]
    assert [item for item in entries if item.strip() not in text] == []


def test_explain(plimsoll, custom):
    done = plimsoll("rules", "explain", "own-cpu", "--only", custom())
    assert done.status == 0
    head, _, rest = done.out.partition("\nWhat is counted\n")
    assert head == "own-cpu\n\nBusy.\n\nSeverity: warning. Pack: own (Own).\n"
    assert rest.partition("\nThreshold\n")[2].splitlines()[1:] == [
        "  - Healthy: the mean over 1 min is below 70 %.",
        "  - Crossed: 70 % or more.",
        "  - It fires once it has been crossed for 2 min.",
        "",
        "Why",
        "",
        "  Above it the night run takes until the morning.",
        "",
        "Sources",
        "",
        "  - Capacity plan, page 3: “keep it under 70”",
    ]


def test_every_part_of_a_threshold_is_put_in_words(plimsoll, custom):
    path = custom(
        "    for: 2m\n",
        "    reduce: max\n    over: 5m\n    recover: '< 60'\n    scale: processors\n    drive: log\n    phase: steady\n"
        "    when_phase_unknown: [{signal: cpu.busy, healthy: '>= 3', reduce: increase, over: 10m}]\n"
        "    and: [{signal: memory.available, healthy: '> 4 MB'}]\n",
    )
    out = plimsoll("rules", "explain", "own-cpu", "--only", path).out
    assert out.partition("\nThreshold\n\n")[2].partition("\n\n")[0].splitlines() == [
        "  - Healthy: the highest value over 5 min is below 70 % for each processor.",
        "  - Crossed: 70 % or more for each processor, and at the same time:",
        "    - the mean over 1 min of Available memory (memory.available) is 4 MB or less.",
        "  - It fires at once.",
        "  - A crossing lasts until the value is below 60 % for each processor.",
        "  - The limit is for one processor: it is multiplied by what the host has.",
        "  - Only for disks that plimsoll.toml marks as a log drive.",
        '  - Judged in the phase "steady" alone. Where phases are not known it is judged throughout, and crossed only while also:',
        "    - the increase over 10 min of Processor time (cpu.busy) is less than 3 %.",
    ]


def test_a_rule_that_is_not_known(plimsoll):
    done = plimsoll("rules", "explain", "cpu-bussy")
    assert done.status == 2
    assert done.err == (
        'plimsoll: rule "cpu-bussy" is not known (did you mean "cpu-busy"?); plimsoll rules list names them all\n'
    )


def test_cases_of_ones_own(plimsoll, custom):
    assert plimsoll("rules", "test", custom()).out == "3 cases of 1 rule, 0 failed\n"


def test_a_case_that_fails_is_told(plimsoll, custom):
    path = custom("75x30", "69x30")
    done = plimsoll("rules", "test", path)
    assert done.status == 1
    assert done.out.splitlines() == [
        f'{path}: rule own-cpu: case "fires": expected to fire, but it was never crossed; '
        "the highest value was 69 %, healthy is < 70",
        "3 cases of 1 rule, 1 failed",
    ]
