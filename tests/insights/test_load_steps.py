"""The load steps of a run: the tables of the studies come out of logs simulated from them."""

import numpy as np
import pytest

from plimsoll.analysis.scalability import Law, Refused
from plimsoll.hosts import settings
from plimsoll.hosts.facts import Facts
from plimsoll.insights.load_steps.find import load_steps
from plimsoll.insights.load_steps.insight import list_sentences
from plimsoll.model.errors import Unusable
from plimsoll.model.run import Phase
from plimsoll.model.times import SECOND
from plimsoll.rules.subjects import Subject
from tests.simulated import START, a_log, ar1, reviewed

ROWS = 40  # of each step, every 15 s
CPU = r"\System\% Total Processor Time"
SWITCHES = r"\System\Context Switches/sec"
SITE_SERVER = "\\Site Server LDAP Service(1)\\"
SEARCHES = r"\NTDS\LDAP Searches/sec"
SESSIONS = r"\NTDS\LDAP Client Sessions"

# Table 10 of Site Server Dynamic Directory, on one processor of 200 MHz.
TABLE_10 = {
    CPU: (51.988, 41.283, 58.787, 70.421, 35.722),
    SWITCHES: (636, 608, 603, 595, 552),
    f"{SITE_SERVER}Dynamic Search per sec": (14.114, 15.571, 21.269, 23.811, 11.146),
    f"{SITE_SERVER}Bytes Sent/sec": (356594, 393424, 537381, 601598, 281414),
}
# The log of a server with two processors in Site Server Membership Directory, from its fourth row on.
TWO_PROCESSORS = {
    CPU: (11.08, 23.21, 49.72, 77.46, 95.98),
    SWITCHES: (409.24, 827.17, 2219.16, 7598.68, 15053.74),
    f"{SITE_SERVER}Static Search per second": (24.18, 48.88, 96.95, 130.55, 142.33),
}


def stepped(columns, deviation=0.005, seed=0):
    rng = np.random.default_rng(seed)

    def values(levels):
        exact = np.repeat(np.array(levels, dtype=float), ROWS)
        return exact * (1 + ar1(rng, len(exact), 0.7, deviation))

    return a_log({path: values(levels) for path, levels in columns.items()}, interval_s=15)


def steps_of(columns, deviation=0.005, **options):
    return load_steps(reviewed(stepped(columns, deviation), **options))


def test_table_10_comes_out_with_the_fourth_step_as_the_best():
    facts = Facts({Subject("SUT"): {"processors": 1, "clock_mhz": 200}})
    steps = load_steps(reviewed(stepped(TABLE_10), facts=facts))
    assert steps
    for name, exact in (("throughput", TABLE_10[f"{SITE_SERVER}Dynamic Search per sec"]), ("cpu", TABLE_10[CPU])):
        assert [getattr(step, name) for step in steps.steps] == pytest.approx(exact, rel=0.02)
    assert [step.bytes for step in steps.steps] == pytest.approx(TABLE_10[f"{SITE_SERVER}Bytes Sent/sec"], rel=0.02)
    assert steps.best
    assert steps.best.number == 4
    assert steps.best.cost_seconds == pytest.approx(5.915 / 200, rel=0.02)
    assert steps.best.cost_mhz == pytest.approx(5.915, rel=0.02)
    assert steps.optimum is None  # what was asked was not recorded: less may have been asked in the fifth step
    assert steps.falls_after is None
    assert any("is not known" in sentence for sentence in list_sentences(steps))


def test_throughput_falls_where_the_load_is_known_to_rise():
    steps = steps_of({**TABLE_10, f"{SITE_SERVER}Connection Current": (100, 200, 300, 400, 500)})
    assert steps
    assert steps.load.name == "ldap.connections"
    assert steps.falls_after
    assert steps.falls_after.number == 4
    assert steps.optimum
    assert steps.optimum.number == 4


# Table 11: searches by users, of which six steps were measured and none beyond the last.
TABLE_11 = {SESSIONS: (250, 500, 750, 1000, 1250, 1500), SEARCHES: (0.56, 1.11, 1.67, 2.23, 2.762, 2.774)}


def test_a_bend_needs_load_beyond_it_that_was_measured():
    steps = steps_of(TABLE_11)
    assert steps
    assert steps.knee is None
    assert steps.optimum is None or steps.optimum.number == 5
    longer = steps_of({SESSIONS: (*TABLE_11[SESSIONS], 1750, 2000), SEARCHES: (*TABLE_11[SEARCHES], 2.77, 2.77)})
    assert longer
    assert longer.knee
    assert 1150 < longer.knee.load < 1350


def test_context_switches_that_double_for_hardly_more_work():
    facts = Facts({Subject("SUT"): {"processors": 2, "clock_mhz": 200}})
    steps = load_steps(reviewed(stepped(TWO_PROCESSORS, 0.001), facts=facts))
    assert steps
    assert [step.left_out for step in steps.steps] == [False] * 4 + [True]  # 15,054 are more than 15,000
    assert steps.optimum
    assert steps.optimum.throughput == pytest.approx(130.55, rel=0.01)
    assert steps.switching
    assert [item.number for item in steps.switching] == [4, 5]


def test_the_limit_of_context_switches_is_for_processors_like_the_studies():
    steps = steps_of(TWO_PROCESSORS, 0.001)
    assert steps
    assert not any(step.left_out for step in steps.steps)
    assert steps.best is steps.steps[-1]
    assert steps.optimum is None


def test_the_law_of_a_directory_whose_clients_hinder_each_other():
    loads = np.arange(20, 220, 20.0)
    rates = 4 * loads / (1 + 0.012 * (loads - 1) + 0.00006 * loads * (loads - 1))
    steps = steps_of({SESSIONS: loads, SEARCHES: rates, CPU: 90 * rates / rates.max()}, 0.02)
    assert steps
    assert isinstance(steps.law, Law)
    assert steps.law.peak
    assert steps.law.peak.low < np.sqrt(0.988 / 0.00006) < steps.law.peak.high
    assert steps.knee


def test_the_law_is_refused_where_the_load_is_a_rate():
    steps = steps_of(TABLE_10)
    assert steps
    assert isinstance(steps.law, Refused)
    assert "LDAP searches (/s)" in steps.law.why


def test_steps_may_be_named_in_plimsoll_toml():
    phases = [Phase(f"step {at + 1}", START + at * 600 * SECOND, START + (at * 600 + 585) * SECOND) for at in range(3)]
    steps = steps_of({SEARCHES: (50, 51, 52)}, 0.2, phases=phases)
    assert steps
    assert steps.by_hand
    assert [(step.start, step.end) for step in steps.steps] == [(phase.start, phase.end) for phase in phases]


@pytest.mark.parametrize(("name", "is_known"), [("step 1", True), ("step 20", True), ("step", False), ("warm", False)])
def test_only_steps_with_a_number_are_phases(name, is_known):
    def check():
        zone = stepped(TABLE_10).zone
        settings.check_phases(None, [Phase(name, 0, 10)], {}, zone, 0, 10)

    if is_known:
        check()
    else:
        with pytest.raises(Unusable, match='load steps "step 1"'):
            check()
