"""A mistake in a pack is told with its file, line and column, the rule, the field, and the nearest valid name."""

import pytest

from plimsoll.model.errors import Unusable
from plimsoll.rules.load import load
from plimsoll.rules.schema.pack import Pack

GOOD = """\
pack: own
title: Own
about: Limits of our own.
rules:
  - id: cpu
    signal: cpu.busy
    healthy: "< 70"
    for: 2m
    severity: warning
    summary: Busy.
    sources:
      - {document: Capacity plan, place: page 3}
"""


def loaded(tmp_path, text) -> tuple[tuple[Pack, ...], list[str]]:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        return load(only=[str(path)]).packs, []
    except Unusable as error:
        return (), str(error).replace(str(path), "own.yaml").splitlines()


def test_a_pack_of_ones_own(tmp_path):
    packs, mistakes = loaded(tmp_path, GOOD)
    assert not mistakes
    pack = packs[0]
    assert (str(pack.rules[0].healthy), pack.rules[0].for_) == ("< 70", 120 * 10**9)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("healthy:", "helthy:", 'own.yaml:7:5: rule cpu: unknown field "helthy" (did you mean "healthy"?)'),
        ('"< 70"', '"under 70"', 'own.yaml:7:5: rule cpu: "under 70" is not a limit; write it like "< 80"'),
        ("cpu.busy", "cpu.bussy", 'own.yaml:6:5: rule cpu: signal "cpu.bussy" is not known (did you mean "cpu.busy"?)'),
        ("warning", "warn", 'own.yaml:9:5: rule cpu: severity: "warn" is not one of info, warning, critical'),
        ("2m", "2 minutes", 'own.yaml:8:5: rule cpu: "2 minutes" is not a duration; write it like 30s, 5m or 1h30m'),
        ("    summary: Busy.\n", "", 'own.yaml:5:5: rule cpu: "summary" is missing'),
        ("place:", "plaice:", 'own.yaml:12:35: rule cpu: unknown field "plaice" (did you mean "place"?)'),
        ("id: cpu", "id: CPU busy", "own.yaml:5:5: rule CPU busy: id: string should match pattern"),
        ("pack: own", "pack: own\npack: two", 'own.yaml:2:1: "pack" stands here a second time'),
        (
            "sources:\n      - {document: Capacity plan, place: page 3}",
            "sources: []",
            "sources: at least one is needed",
        ),
        ("title: Own", "title: [", "own.yaml:4:6: not valid YAML"),
        ("    for: 2m\n", "    recover: '> 60'\n", 'recover "> 60" lies on the other side than healthy "< 70"'),
    ],
)
def test_mistake(tmp_path, old, new, said):
    packs, mistakes = loaded(tmp_path, GOOD.replace(old, new))
    assert packs == ()
    assert any(line.startswith(said) or said in line for line in mistakes), mistakes


def test_all_mistakes_are_told_at_once(tmp_path):
    _, mistakes = loaded(tmp_path, GOOD.replace("healthy:", "helthy:").replace("warning", "warn"))
    assert len(mistakes) == 3, mistakes  # the unknown field, the field it was meant to be, the severity


def test_a_condition_on_instances_needs_a_rule_on_instances(tmp_path):
    more = GOOD + '    and:\n      - {signal: disk.queue_length, healthy: "<= 3"}\n'
    _, (mistake,) = loaded(tmp_path, more)
    assert "disk.queue_length has instances and cpu.busy has none: which one is meant?" in mistake


def test_two_rules_of_one_id(tmp_path):
    _, (mistake,) = loaded(tmp_path, GOOD + GOOD[GOOD.index("  - id") :])
    assert mistake == "own.yaml:13:5: rule cpu: own.yaml:5:5 has a rule of that id already"


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just text", "\x00", "a: *b\n"])
def test_what_is_no_pack_at_all(tmp_path, text):
    packs, mistakes = loaded(tmp_path, text)
    assert packs == ()
    assert mistakes
    assert mistakes[0].startswith("own.yaml")
