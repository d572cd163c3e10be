"""Every present-day limit of hosts and roles is carried out by a rule or accounted for; a rule's limit is its rows'."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from plimsoll.model.shipped_files import shipped_files
from plimsoll.rules.load import load_packs, load_signals
from tests.each import each

DATA = Path(__file__).parents[1] / "data"
TODAY, ROLES = (
    {row["id"]: row for row in csv.DictReader(DATA.joinpath(name).read_text(encoding="utf-8").splitlines())}
    for name in ("limits-today.csv", "limits-roles.csv")
)
ROWS = TODAY | ROLES
ACCOUNTS = yaml.load(shipped_files("rules").joinpath("accounts-today.yaml").read_bytes(), yaml.CSafeLoader)["accounts"]
ACCOUNTED = [row for account in ACCOUNTS.values() for row in account["rows"]]
SIGNALS = load_signals()
RULES = [rule for pack in load_packs() for rule in pack.rules if rule.limits]
PACKS_AHEAD = ("WIN", "HV", "IIS", "EX", "SQL", "AD", "LDAP")

# How often the unit of a row goes into that of the signals that are judged by it. A limit per processor or per byte of
# RAM is written for one of them; the counts of five minutes are rates per second in signals.
_MB = 2**20
FACTORS = {
    "%": (1, 0.01),
    "% of RAM": (1, _MB / 100),
    "% of link": (1, 0.01, 0.01 / 8),
    "% of limit": (1, 0.01),
    "% of packets": (1, 0.01),
    "% of segments": (1, 0.01),
    "% of table": (1, 0.01),
    "% used": (1, 0.01),
    "% of batches": (0.01,),
    "% of frames": (0.01,),
    "% of index searches": (0.01,),
    "% of requests": (0.01,),
    "MB": (1, _MB),
    "bytes": (1, _MB),
    "bytes/s": (1, 1e6),
    "connections": (1, 1 / 300),
    "deadlocks": (1, 1 / 300),
    "ms": (1, 0.001),
    "pages/s": (1, 4096),
}
# Limits that are computed from their row: what the row says of it, and the number.
COMPUTED = {
    "SQL-010": 0,  # blocking, counted by the sessions that are blocked
    "SQL-021": 0,  # growing: an increase above 0
    "AD-002": (3.2, 3.6),  # 80 and 90 % of 4 threads per processor
    "WIN-010": (104_857.6, 10_485.76, 52_428.8),  # bytes per MB of RAM
    "WIN-011": 100 * _MB,  # of a small host, by the second voice
    "WIN-015": (0.45 * _MB, 0.6 * _MB),  # bytes per MB of RAM
    "WIN-023": 90,  # busy instead of idle
    "WIN-032": 2,  # a second, by the second voice: "0 at all times" alarms for one error of a night
    "WIN-031": (0.0625, 0.1),  # bytes/s per bit/s of the link
    "LNX-014": (10, 5, 2, 5 * 2**30),  # free instead of used; bytes
    "LNX-022": 0.1125,
    "LNX-027": -0.05,  # the other side of an absolute value
    "SQL-113": 0,  # the speed at which nothing is applied
}
each_rule = each(RULES, lambda rule: rule.id)


def numbers(text):
    """The numbers of a text: `>= 4,000 MB`."""
    return {float(one.replace(",", "")) for one in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)}


def documented(row, severity):
    """The limits a rule of this severity may have that carries out a row, in the units of signals."""
    which = ("healthy_critical",) if severity == "critical" else ("healthy_warning", "healthy_critical")
    given = set().union(*(numbers(ROWS[row][one]) for one in (*which, "our_choice")))
    computed = COMPUTED.get(row, ())
    return {
        *(value * factor for value in given for factor in FACTORS.get(ROWS[row]["unit"], (1,))),
        *(computed if isinstance(computed, tuple) else (computed,)),
    }


def test_there_are_101_present_day_limits_and_38_of_the_first_tier():
    assert len(TODAY) == 101
    assert sum(row["tier"] == "1" for row in TODAY.values()) == 38


def test_no_row_of_the_roles_has_the_name_of_another():
    assert not set(TODAY) & set(ROLES)
    assert all(row["tier"] in ("1", "2") for row in ROLES.values())


@each(ROWS, str)
def test_a_row_is_carried_out_by_a_rule_or_accounted_for_and_not_both(row):
    carried = [rule.id for rule in RULES if row in rule.limits]

    assert bool(carried) != (row in ACCOUNTED), carried


def test_only_known_rows_are_named_and_each_is_accounted_for_once():
    assert {row for rule in RULES for row in rule.limits} | set(ACCOUNTED) <= set(ROWS)
    assert [row for row, times in Counter(ACCOUNTED).items() if times > 1] == []


@pytest.mark.parametrize("account", ACCOUNTS)
def test_an_account_says_what_it_is_and_why_each_row_is_in_it(account):
    assert ACCOUNTS[account]["about"]
    assert all(reason.endswith(".") for reason in ACCOUNTS[account]["rows"].values())


def test_no_limit_of_the_first_tier_that_alarms_is_left_out():
    assert [row for row in ACCOUNTED if ROWS[row]["tier"] == "1"] == []


@each_rule
def test_a_rule_cites_the_documents_of_its_rows(rule):
    assert {ROWS[row]["document"] for row in rule.limits} <= {citation.document for citation in rule.sources}


@each_rule
def test_the_limit_of_a_rule_is_that_of_its_rows(rule):
    for row in rule.limits:
        allowed = documented(row, rule.severity)
        assert any(rule.healthy.limit == pytest.approx(one, rel=1e-3) for one in allowed), (row, sorted(allowed))


@each_rule
def test_a_limit_lies_on_the_side_its_row_says(rule):
    for row in rule.limits:
        given = f"{ROWS[row]['healthy_warning']} {ROWS[row]['healthy_critical']}"
        sides = {"lower" if sign[0] == ">" else "higher" for sign in re.findall(r"[<>]=?", given)}
        if "absolute value" in ROWS[row]["our_choice"]:
            continue
        assert rule.healthy.worse in sides or not sides or SIGNALS[rule.signal].worse not in sides, row


@each_rule
def test_only_a_row_with_a_critical_limit_makes_a_rule_critical(rule):
    if rule.severity == "critical":
        assert [row for row in rule.limits if not ROWS[row]["healthy_critical"]] == []


def has_one_source(row):
    """Whether a row says so, or all that it names is PAL's."""
    others = [one.strip() for one in row["other_sources"].split(";") if one.strip()]
    pal_alone = row["document"].startswith("PAL") and all(one.startswith(("PAL", "the same")) for one in others)
    return "one source" in row["doubt"] or pal_alone


@each([(rule, row) for rule in RULES for row in rule.limits if row in ROLES], lambda one: f"{one[0].id} {one[1]}")
def test_a_limit_of_one_source_is_never_critical_and_says_so_where_it_is_read(one):
    rule, row = one
    if has_one_source(ROLES[row]):
        assert rule.severity != "critical"
        assert "the only source of this limit" in " ".join(rule.why.split())
