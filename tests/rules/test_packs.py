"""The shipped signals and packs: they load, fit together, and name counters as Windows does."""

import csv
from collections import Counter
from importlib.resources import files
from pathlib import Path

import yaml

from plimsoll.model.shipped_files import shipped_files
from plimsoll.rules.load import load_packs, load_signals
from tests.each import each

TABLES = [Path(__file__).parents[1] / "data" / name for name in ("limits-today.csv", "limits-roles.csv")]
DOCUMENTS = {
    *(row["document"] for one in TABLES for row in csv.DictReader(one.read_text(encoding="utf-8").splitlines())),
    "OCS 2007 on HP BladeSystem",
    "Site Server Dynamic Directory",
    "Site Server Membership Directory",
    "NT 4.0 Enterprise file server",
    "Measurement of LDAP performance",
}
SIGNALS = load_signals()
PACKS = load_packs()
RULES = [(pack, rule) for pack in PACKS for rule in pack.rules]
OBJECTS = yaml.load(files("plimsoll.model").joinpath("perfmon.yaml").read_bytes(), yaml.CSafeLoader)["objects"]
PATHS = [(name, source.path) for name, signal in SIGNALS.items() for source in signal.sources if source.path]

each_rule = each((rule for _, rule in RULES), lambda rule: rule.id)


def test_every_pack_file_is_loaded_under_its_own_name():
    names = {entry.name.removesuffix(".yaml") for entry in shipped_files("rules").joinpath("packs").iterdir()}

    assert {pack.pack for pack in PACKS} == names
    assert all(pack.rules for pack in PACKS)


def test_rule_ids_are_unique_over_all_packs():
    assert [rule_id for rule_id, times in Counter(rule.id for _, rule in RULES).items() if times > 1] == []


@each_rule
def test_every_signal_a_rule_names_exists(rule):
    named = {condition.signal for condition in rule.conditions} | set(rule.look_at)

    assert named - set(SIGNALS) == set()


@each_rule
def test_a_rule_does_not_send_people_back_to_its_own_signal(rule):
    assert rule.look_at
    assert rule.signal not in rule.look_at


@each_rule
def test_every_citation_names_a_known_document_and_quotes_it(rule):
    assert {citation.document for citation in rule.sources} <= DOCUMENTS
    assert all(citation.place and citation.quote for citation in rule.sources)


@each_rule
def test_a_limit_lies_on_the_side_on_which_its_signal_is_bad(rule):
    worse = SIGNALS[rule.signal].worse

    # That a signal falls, or that nothing is done at all, may be bad where high values are.
    told = rule.reduce == "increase" or rule.healthy.limit == 0
    assert told or "either" in (worse, rule.healthy.worse) or worse == rule.healthy.worse


@each((pack for pack in PACKS if pack.applies_to), lambda pack: pack.pack)
def test_the_objects_a_pack_applies_to_are_known(pack):
    for name in pack.applies_to.objects:
        assert any(known == name or (name.endswith("*") and known.startswith(name[:-1])) for known in OBJECTS), name


@each(PATHS, lambda one: f"{one[0]} {one[1]}")
def test_every_perfmon_source_is_written_in_the_case_of_windows(one):
    """A source whose counter is not in the table would match no series the readers make."""
    _, path = one
    assert path.object in OBJECTS, f"{path.object} is not in plimsoll/model/perfmon.yaml"
    assert path.counter in OBJECTS[path.object]["counters"], f"{path} is not in plimsoll/model/perfmon.yaml"


def test_a_source_with_every_instance_belongs_to_a_signal_that_keeps_instances_or_adds_them_up():
    wrong = [
        str(source.path)
        for signal in SIGNALS.values()
        for source in signal.sources
        if source.path and not source.fallback and source.each != (signal.instances != "none")
    ]

    assert wrong == []


def test_derived_signals_keep_instances_as_their_operands_do():
    for name, signal in SIGNALS.items():
        kept = [SIGNALS[operand].instances for operand in (signal.derived.operands if signal.derived else ())]
        assert signal.instances == ("each" if "each" in kept else "none") or not kept, name


def test_names_in_the_perfmon_table_differ_by_more_than_case():
    assert [name for name, times in Counter(map(str.casefold, OBJECTS)).items() if times > 1] == []
    for name, entry in OBJECTS.items():
        twice = [c for c, times in Counter(map(str.casefold, entry["counters"])).items() if times > 1]
        assert twice == [], name


@each_rule
def test_no_sample_of_an_unbounded_counter_holds_a_breach_by_staying_in_the_window(rule):
    """A window is at most a third of `for`; a maximum asks for one sample in each window, and notes alarm nobody."""
    is_unbounded = rule.healthy.worse == "higher" and SIGNALS[rule.signal].highest is None
    if is_unbounded and rule.for_ and rule.reduce in ("mean", "sum") and rule.severity != "info":
        assert 3 * rule.over <= rule.for_
