"""Every limit of the studies is carried out by a rule or accounted for, and every rule can be traced and tried."""

import csv
from collections import Counter
from pathlib import Path

import pytest
import yaml

from plimsoll.model.shipped_files import shipped_files
from plimsoll.rules.load import load_packs
from tests.each import each

TABLE = Path(__file__).parents[1] / "data" / "thresholds.csv"
ROWS = {row["id"]: row for row in csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines())}
ACCOUNTS = yaml.load(shipped_files("rules").joinpath("accounts.yaml").read_bytes(), yaml.CSafeLoader)["accounts"]
ACCOUNTED = [row for account in ACCOUNTS.values() for row in account["rows"]]
RULES = [rule for pack in load_packs() for rule in pack.rules]
CARRIED = Counter(row for rule in RULES for row in rule.thresholds)

each_rule = each(RULES, lambda rule: rule.id)


def test_the_studies_have_191_limits():
    assert len(ROWS) == 191


def test_every_row_is_carried_out_by_a_rule_or_accounted_for_and_not_both():
    places = Counter(ACCOUNTED) + Counter(set(CARRIED))

    assert {row: places[row] for row in ROWS if places[row] != 1} == {}
    assert set(places) - set(ROWS) == set()


def test_only_a_row_that_names_a_value_to_stay_near_or_either_of_two_counters_is_split():
    for row in [row for row, times in CARRIED.items() if times > 1]:
        sides = [rule for rule in RULES if row in rule.thresholds]
        signals, worse = {rule.signal for rule in sides}, sorted(rule.healthy.worse for rule in sides)
        assert len(sides) == 2, row
        if " or " in ROWS[row]["breach_expr"]:
            assert len(signals) == 2, row
            assert len(set(worse)) == 1, row
        else:
            assert ROWS[row]["healthy_op"] == "~", row
            assert (len(signals), worse) == (1, ["higher", "lower"]), row


@pytest.mark.parametrize("account", ACCOUNTS)
def test_an_account_says_what_it_is_and_why_each_row_is_in_it(account):
    assert ACCOUNTS[account]["about"]
    assert all(reason.endswith(".") for reason in ACCOUNTS[account]["rows"].values())


def test_what_an_account_leaves_out_is_no_hard_threshold():
    assert [row for row in ACCOUNTED if ROWS[row]["kind"] == "hard threshold"] == []


@each_rule
def test_a_rule_says_why_and_which_rows_it_carries_out(rule):
    assert rule.why
    # That nothing at all is done, or left, is a limit without a row.
    assert rule.thresholds or rule.limits or (rule.healthy.limit == 0 and "ours" in rule.why)
    assert len(set(rule.thresholds)) == len(rule.thresholds)


@each_rule
def test_a_rule_cites_the_documents_of_its_rows(rule):
    assert {ROWS[row]["document"] for row in rule.thresholds} <= {citation.document for citation in rule.sources}


@each_rule
def test_a_rule_is_as_severe_as_its_rows_or_says_why_it_is_not(rule):
    differing = {row for row in rule.thresholds if ROWS[row]["severity"] != rule.severity}

    assert not differing or "note" in rule.why


@each_rule
def test_a_rule_that_is_for_a_machine_of_the_studies_says_which(rule):
    measured = {row for row in rule.thresholds if ROWS[row]["kind"] == "measured limit"}

    assert not measured or rule.measured_on


@each_rule
def test_a_rule_has_a_case_that_fires_one_that_does_not_and_one_without_data(rule):
    assert {case.fires for case in rule.cases} == {True, False, None}
    assert {"fires", "just below", "data missing"} <= {case.name for case in rule.cases}
    assert [name for name, times in Counter(case.name for case in rule.cases).items() if times > 1] == []


@each_rule
def test_every_further_condition_has_a_case_in_which_it_alone_holds_the_rule_back(rule):
    assert sum(case.fires is False for case in rule.cases) > len(rule.and_)
