"""The shipped signals and packs: they fit together, cite their documents, and account for every documented limit.

A rule can be checked alone: `pytest -q tests/rules/test_packs.py -k windows-cpu-busy`.
"""

import csv
import re
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from plimsoll.model.counter_names.name_clues import list_needed_counters, list_signal_counters
from plimsoll.model.file_models import parse_content
from plimsoll.model.shipped_tables import find_shipped_files
from plimsoll.rules.load import load
from plimsoll.rules.next_steps import find_step
from plimsoll.rules.schema.signal import Pressure

DATA = Path(__file__).parents[1] / "data"
CATALOGUE = load()
SIGNALS, PACKS, RULES = CATALOGUE.signals, CATALOGUE.packs, [*CATALOGUE.rules.values()]
OBJECTS = yaml.load(files("plimsoll.model").joinpath("perfmon.yaml").read_bytes(), yaml.CSafeLoader)["objects"]
PATHS = [(name, source.path) for name, signal in SIGNALS.items() for source in signal.sources if source.path]


def table(name):
    return {row["id"]: row for row in csv.DictReader((DATA / name).read_text(encoding="utf-8").splitlines())}


def accounts(name):
    return yaml.load(find_shipped_files("rules").joinpath(name).read_bytes(), yaml.CSafeLoader)["accounts"]


STUDIES = table("thresholds.csv")
TODAY, ROLES = table("limits-today.csv"), table("limits-roles.csv")
CURRENT = TODAY | ROLES
STUDY_ACCOUNTS, CURRENT_ACCOUNTS = accounts("accounts.yaml"), accounts("accounts-today.yaml")
STUDY_DOCUMENTS = {
    "OCS 2007 on HP BladeSystem",
    "Site Server Dynamic Directory",
    "Site Server Membership Directory",
    "NT 4.0 Enterprise file server",
    "Measurement of LDAP performance",
}
DOCUMENTS = {row["document"] for row in CURRENT.values()} | STUDY_DOCUMENTS

# How often the unit of a row goes into that of the signals that are judged by it. A limit per processor or per byte of
# RAM is written for one of them; the counts of five minutes are rates per second in signals.
_MB = 2**20
FACTORS = {
    "%": (1, 0.01),
    "% of RAM": (1, _MB / 100),
    "% of link": (1, 0.01, 0.01 / 8),
    **dict.fromkeys(
        ("% of limit", "% of packets", "% of requests", "% of segments", "% of table", "% used"), (1, 0.01)
    ),
    **dict.fromkeys(("% of batches", "% of frames", "% of index searches"), (0.01,)),
    "MB": (1, _MB),
    "bytes": (1, _MB),
    "bytes/s": (1, 1e6),
    "connections": (1, 1 / 300),
    "deadlocks": (1, 1 / 300),
    "ms": (1, 0.001),
    "pages/s": (1, 4096),
}
# Limits that are computed from their row: what the row says of it, and the numbers.
COMPUTED = {
    "SQL-010": (0,),  # blocking, counted by the sessions that are blocked
    "SQL-021": (0,),  # growing: an increase above 0
    "AD-002": (3.2, 3.6),  # 80 and 90 % of 4 threads per processor
    "WIN-010": (104_857.6, 10_485.76, 52_428.8),  # bytes per MB of RAM
    "WIN-011": (100 * _MB,),  # of a small host, by the second voice
    "WIN-015": (0.45 * _MB, 0.6 * _MB, 0.2),  # bytes per MB of RAM; or a share (ours)
    "WIN-023": (90,),  # busy instead of idle
    "WIN-032": (2,),  # a second, by the second voice: "0 at all times" alarms for one error of a night
    "WIN-031": (0.0625, 0.1),  # bytes/s per bit/s of the link
    "LNX-014": (10, 5, 2, 5 * 2**30),  # free instead of used; bytes
    "LNX-022": (0.1125,),
    "LNX-027": (-0.05,),  # the other side of an absolute value
    "SQL-113": (0,),  # the speed at which nothing is applied
}


def numbers(text):
    """The numbers of a text: `>= 4,000 MB`."""
    return {float(item.replace(",", "")) for item in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)}


def documented_limits(row, severity):
    """The limits a rule of this severity may have that carries out a row, in the units of signals."""
    columns = ("healthy_critical",) if severity == "critical" else ("healthy_warning", "healthy_critical")
    union = set().union(*(numbers(CURRENT[row][column]) for column in (*columns, "our_choice")))
    factors = FACTORS.get(CURRENT[row]["unit"], (1,))
    return {*(value * factor for value in union for factor in factors), *COMPUTED.get(row, ())}


def has_one_source(row):
    """Whether a row says so, or all that it names is PAL's."""
    rows = [text.strip() for text in row["other_sources"].split(";") if text.strip()]
    pal_alone = row["document"].startswith("PAL") and all(text.startswith(("PAL", "the same")) for text in rows)
    return "one source" in row["doubt"] or pal_alone


def form_faults(rule):
    """What is wrong with a rule by itself."""
    if not rule.why:
        yield "why is empty: say where the limit is from and which parts are ours"
    if not rule.look_at or rule.signal in rule.look_at:
        yield f"look_at is {rule.look_at}: name other signals to look at next"
    if not find_step(rule, "web01"):
        yield "it has no step in next_steps.yaml: write what to do next, by its id or its signal"
    if missing := {*rule.look_at, *(condition.signal for condition in rule.conditions)} - set(SIGNALS):
        yield f"there is no signal {', '.join(missing)} in rules/signals"
    worse = SIGNALS[rule.signal].worse
    # That a signal falls, or that nothing is done at all, may be bad where high values are.
    exempt = rule.reduce == "increase" or rule.healthy.limit == 0 or "either" in (worse, rule.healthy.worse)
    if not exempt and worse != rule.healthy.worse:
        yield f'healthy is "{rule.healthy}", but {rule.signal} is worse where it is {worse}'
    # No sample of an unbounded counter holds a breach by staying in the window; notes alarm nobody.
    unbounded = rule.healthy.worse == "higher" and SIGNALS[rule.signal].highest is None
    alarms = rule.for_ and rule.reduce in ("mean", "sum") and rule.severity != "info"
    if unbounded and alarms and 3 * rule.over > rule.for_:
        yield f"over is {rule.over / 1e9:g} s, more than a third of for ({rule.for_ / 1e9:g} s)"


def case_faults(rule):
    """What is wrong with the cases of a rule."""
    names = [case.name for case in rule.cases]
    if len(set(names)) < len(names):
        yield f"two cases have one name: {names}"
    if lacking := {"fires", "just below", "data missing"} - set(names):
        yield f"there is no case named {', '.join(sorted(lacking))}"
    if {case.fires for case in rule.cases} != {True, False, None}:
        yield "there must be cases with fires: true, false and null"
    if sum(case.fires is False for case in rule.cases) <= len(rule.and_):
        yield "each condition under `and` needs a case in which it alone holds the rule back (fires: false)"


def citation_faults(rule):
    """What is wrong with the documents that a rule names, and the rows of tests/data that it carries out."""
    cited = {citation.document for citation in rule.sources}
    if unknown := cited - DOCUMENTS:
        yield f"no table in tests/data has the document {', '.join(unknown)}"
    if not all(citation.place and citation.quote for citation in rule.sources):
        yield "a source has no place or no quote"
    # That nothing at all is done, or left, is a limit without a row.
    if not (rule.thresholds or rule.limits or (rule.healthy.limit == 0 and "ours" in rule.why)):
        yield (
            "it names no row: write the id of its row in tests/data/limits-today.csv or limits-roles.csv under "
            f"limits, as in limits: [WIN-001] (without one, healthy must be 0, not {rule.healthy.limit:g}, and why "
            "must say that it is ours)"
        )
    for row in (*rule.thresholds, *rule.limits):
        source = STUDIES.get(row) or CURRENT.get(row)
        if source is None:
            yield f"there is no row {row} in tests/data/thresholds.csv, limits-today.csv or limits-roles.csv"
        elif source["document"] not in cited:
            yield f"its sources lack {source['document']}, the document of {row}"


def study_faults(rule):
    """Where a rule differs from the rows of the studies that it carries out."""
    for row in filter(STUDIES.get, rule.thresholds):
        if STUDIES[row]["severity"] != rule.severity and "note" not in rule.why:
            yield f"its severity is {rule.severity}, that of {row} is {STUDIES[row]['severity']}; why does not say why"
        if STUDIES[row]["kind"] == "measured limit" and not rule.measured_on:
            yield f"{row} was measured on one machine: say which in measured_on"


def current_faults(rule):
    """Where a rule differs from the present-day rows that it carries out."""
    for row in filter(CURRENT.get, rule.limits):
        result = CURRENT[row]
        allowed = documented_limits(row, rule.severity)
        if not any(rule.healthy.limit == pytest.approx(documented_limit, rel=1e-3) for documented_limit in allowed):
            yield f"its limit is {rule.healthy.limit:g}, {row} documents {sorted(allowed)}"
        text = f"{result['healthy_warning']} {result['healthy_critical']}"
        sides = {"lower" if sign[0] == ">" else "higher" for sign in re.findall(r"[<>]=?", text)}
        wrong_side = sides and rule.healthy.worse not in sides and SIGNALS[rule.signal].worse in sides
        if wrong_side and "absolute value" not in result["our_choice"]:
            yield f'healthy is "{rule.healthy}", on another side than {row}: {text}'
        if rule.severity == "critical" and not result["healthy_critical"]:
            yield f"it is critical, and {row} has no critical limit"
        if row in ROLES and has_one_source(ROLES[row]):
            if rule.severity == "critical":
                yield f"it is critical, and {row} has one source"
            if "the only source of this limit" not in " ".join(rule.why.split()):
                yield f"{row} has one source: why must say that it is the only source of this limit"


CHECKS = (form_faults, case_faults, citation_faults, study_faults, current_faults)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_rule(rule):
    faults = [f"rule {rule.id}: {fault}" for check in CHECKS for fault in check(rule)]
    assert not faults, "\n".join(["", *faults])


@pytest.mark.parametrize("mistake", ["limits", "cases", "healthy"])
def test_a_mistake_in_a_rule_is_named(mistake):
    rule = CATALOGUE.rules["windows-cpu-busy-critical"]
    changed = {"limits": {"limits": ()}, "cases": {"cases": ()}, "healthy": {"healthy": rule.healthy.scaled(0.5)}}
    faults = [fault for check in CHECKS for fault in check(replace(rule, **changed[mistake]))]
    words = {"limits": "it names no row", "cases": "there is no case named", "healthy": "its limit is"}
    assert any(fault.startswith(words[mistake]) for fault in faults), faults


@pytest.mark.parametrize(
    ("rows", "inputs", "carried"),
    [
        (STUDIES, STUDY_ACCOUNTS, Counter(row for rule in RULES for row in rule.thresholds)),
        (CURRENT, CURRENT_ACCOUNTS, Counter(row for rule in RULES for row in rule.limits)),
    ],
    ids=["studies", "today"],
)
def test_every_row_is_carried_out_by_a_rule_or_accounted_for_and_not_both(rows, inputs, carried):
    accounted = Counter(row for account in inputs.values() for row in account["rows"])
    places = accounted + Counter(set(carried))
    assert {row: times for row, times in places.items() if times > 1} == {}, "in two places"
    assert set(rows) - set(places) == set(), "carried out by no rule and in no account of rules/accounts*.yaml"
    assert set(places) - set(rows) == set(), "in no table"
    assert all(account["about"] for account in inputs.values())
    assert all(reason.endswith(".") for account in inputs.values() for reason in account["rows"].values())


def test_no_hard_limit_is_left_out():
    studies = [row for account in STUDY_ACCOUNTS.values() for row in account["rows"]]
    assert [row for row in studies if STUDIES[row]["kind"] == "hard threshold"] == []
    today = [row for account in CURRENT_ACCOUNTS.values() for row in account["rows"]]
    assert [row for row in today if CURRENT[row]["tier"] == "1"] == []
    assert set(TODAY) & set(ROLES) == set()


def test_only_a_row_that_names_a_value_to_stay_near_or_either_of_two_counters_is_split():
    carried = Counter(row for rule in RULES for row in rule.thresholds)
    for row in [row for row, times in carried.items() if times > 1]:
        sides = [rule for rule in RULES if row in rule.thresholds]
        signals, worse = {rule.signal for rule in sides}, sorted(rule.healthy.worse for rule in sides)
        if " or " in STUDIES[row]["breach_expr"]:
            assert (len(sides), len(signals), len(set(worse))) == (2, 2, 1), row
        else:
            assert (STUDIES[row]["healthy_op"], len(signals), worse) == ("~", 1, ["higher", "lower"]), row


def test_every_pack_file_is_loaded_under_its_own_name():
    names = {entry.name.removesuffix(".yaml") for entry in find_shipped_files("rules").joinpath("packs").iterdir()}
    assert {pack.pack for pack in PACKS} == names
    assert all(pack.rules for pack in PACKS)


@pytest.mark.parametrize("pack", [pack for pack in PACKS if pack.applies_to], ids=lambda pack: pack.pack)
def test_the_objects_a_pack_applies_to_are_known(pack):
    for name in pack.applies_to.objects:
        assert any(result == name or (name.endswith("*") and result.startswith(name[:-1])) for result in OBJECTS), name


def test_every_perfmon_source_is_written_in_the_case_of_windows():
    """A source whose counter is not in the table would match no series the readers make."""
    unknown = [
        f"{name}: {path}"
        for name, path in PATHS
        if path.counter not in OBJECTS.get(path.object, {}).get("counters", ())
    ]
    assert not unknown, f"not in plimsoll/model/perfmon.yaml: {', '.join(unknown)}"
    for entry in (OBJECTS, *(entry["counters"] for entry in OBJECTS.values())):
        assert [name for name, times in Counter(map(str.casefold, entry)).items() if times > 1] == []


def test_instances_of_sources_and_operands_fit_those_of_their_signal():
    for name, signal in SIGNALS.items():
        for source in signal.sources:
            if source.path and not source.fallback:
                assert source.has_instances == (signal.instances != "none"), f"{name}: {source.path}"
        kept = [SIGNALS[operand].instances for operand in (signal.derived.operands if signal.derived else ())]
        assert signal.instances == ("each" if "each" in kept else "none") or not kept, name


def recorded_operands(name):
    """The signals that one is computed from, at any depth, and itself."""
    derived = SIGNALS[name].derived
    return {name, *(leaf for operand in (derived.operands if derived else ()) for leaf in recorded_operands(operand))}


def test_counters_that_are_known_to_be_judged_are_those_that_rules_need():
    judged = {leaf for rule in RULES for condition in rule.conditions for leaf in recorded_operands(condition.signal)}
    needed, read = {}, {}
    for name, path in PATHS:
        read.setdefault(path.object, set()).add(path.counter)
        if name in judged:
            needed.setdefault(path.object, set()).add(path.counter)
    where = "plimsoll/model/counter_names/name_clues.yaml: judged has the counters of rules, charted those of others"
    assert {name: list_needed_counters(name) for name in needed} == needed, where
    assert {name: list_signal_counters(name) for name in read} == read, where


def test_every_limit_of_capacity_is_written_once():
    """Rules that `pressure` names are shipped, and values beside a signal repeat no limit of its rules."""
    for name, signal in SIGNALS.items():
        if pressure := signal.pressure:
            assert set(pressure.named) <= set(CATALOGUE.rules), name
            limits = {rule.healthy.limit for rule in RULES if rule.signal == name}
            assert not limits & set(pressure.numbers), f"{name}: rules have {limits & set(pressure.numbers)} already"


def test_a_value_of_capacity_that_no_rule_has_names_its_source():
    with pytest.raises(ValidationError, match="where the numbers of at, low, high and full are from"):
        parse_content(Pressure, {"resource": "cpu", "at": 95})
