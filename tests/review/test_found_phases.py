import numpy as np
import pytest

from plimsoll.model.run import Phase
from plimsoll.model.times import SECOND
from plimsoll.review.findings import Outcome
from tests.simulated import START, a_log, ar1, reviewed

BATCHES = "\\SQLServer:SQL Statistics\\Batch Requests/sec"
CONNECTIONS = "\\SQLServer:General Statistics\\User Connections"
LIFE = "\\SQLServer:Buffer Manager\\Page life expectancy"
CPU = "\\Processor(_Total)\\% Processor Time"
ROWS, EVERY_S = 1200, 5
AT = np.linspace(0, 1, ROWS)
TRUE_RAMP_S = 0.2 * ROWS * EVERY_S
NEAR_S = 0.02 * ROWS * EVERY_S


def noise(seed):
    return ar1(np.random.default_rng(seed), ROWS, deviation=0.05)


def ramp(end=0.2):
    return np.minimum(1, np.linspace(0, 1, ROWS) / end)


def result(review):
    assert review.phases_found is not None
    return review.phases_found


def steady_from(review):
    return {phase.name: (phase.start - START) / SECOND for phase in review.phases}.get("steady")


def test_operations_tell_the_phases_before_connections_and_processor_time():
    columns = {
        CPU: 40 * ramp(0.6) + noise(1),
        CONNECTIONS: 100 * ramp(0.4) + noise(2),
        BATCHES: 500 * (ramp() + noise(3)),
    }
    review = reviewed(a_log(columns))
    assert [phase.name for phase in review.phases] == ["ramp-up", "steady"]
    assert steady_from(review) == pytest.approx(TRUE_RAMP_S, abs=NEAR_S)
    assert result(review).signal == "sql.batch_requests"
    assert (result(review).confidence or 0) > 0.9


def test_the_load_of_several_hosts_is_added_up():
    first, second = (500 * (np.clip(2 * ramp() - at, 0, 1) + noise(at)) for at in (0, 1))  # one host after the other
    review = reviewed(a_log({BATCHES: first}, host="SQL1"), a_log({BATCHES: second}, host="SQL2"))
    assert steady_from(review) == pytest.approx(TRUE_RAMP_S, abs=NEAR_S)
    assert "Batch requests of 2 hosts" in result(review).sentence


def test_processor_time_stands_in_with_less_confidence():
    review = reviewed(a_log({CPU: 50 * (ramp() + noise(4))}))
    assert steady_from(review) == pytest.approx(TRUE_RAMP_S, abs=NEAR_S)
    assert "no load was recorded" in result(review).sentence
    assert (result(review).confidence or 1) <= 0.5


def test_connections_do_not_hide_that_operations_are_never_steady():
    columns = {CONNECTIONS: 100 * ramp() + noise(5), BATCHES: 500 * (np.linspace(0.1, 1, ROWS) + noise(6))}
    review = reviewed(a_log(columns))
    assert not review.phases
    assert result(review).sentence.startswith("No steady state was found: ")


SHAPES = {
    "two tests": (
        np.interp(AT, (0, 0.05, 0.4, 0.41, 0.5, 0.55, 1), (0, 1, 1, 0, 0, 1, 1)),
        "seems to have 2 tests, 22:14–22:54 and 23:04–23:53; ",
    ),
    "cycles": (np.where(AT * 9.9 % 1 < 0.6, 1, 0.05), "No steady state was found: the load comes and goes, 10 times"),
    "a load that ends early": (ramp() * (AT < 0.7), "min 50 s, no load 30 min"),
    "much work between little": (np.where((AT > 0.3) & (AT < 0.6), 1, 0.03), ": little load at first 30 min, steady"),
    "little work at the end": (np.where((AT > 0.3) & (AT < 0.6), 1, 0.03), ", little load 40 min"),
}


@pytest.mark.parametrize(("shape", "output"), SHAPES.values(), ids=SHAPES)
def test_several_tests_cycles_and_a_load_that_ends_are_said(shape, output):
    sentence = result(reviewed(a_log({BATCHES: 500 * shape * (1 + noise(8))}))).sentence
    assert output in sentence
    assert ("phases are those of the second" in sentence) == ("tests" in output)


def test_phases_set_by_hand_are_kept():
    phase = Phase("steady", START + 10 * SECOND, START + 900 * SECOND)
    review = reviewed(a_log({BATCHES: 500 * (ramp() + noise(7))}), phases=[phase])
    assert list(review.phases) == [phase]
    assert review.phases_found is None


def page_life(load, short, **options):
    """The review of a run, and whether its page life expectancy, 20 s where it is short, was crossed."""
    life = np.where(short, 20.0, 9000.0)
    review = reviewed(a_log({BATCHES: 500 * (load + noise(8)), LIFE: life}), **options)
    [finding] = [item for item in review.findings if item.rule.id == "sql-page-life-expectancy"]
    return review, finding.outcome == Outcome.CROSSED


def test_what_is_crossed_in_a_found_ramp_up_only_does_not_count_and_is_named():
    review, crossed = page_life(ramp(), AT < 0.15)
    assert review.judged_by_found
    assert not crossed
    assert {finding.signal.title for finding in review.before_steady} == {"Page life expectancy"}
    assert page_life(ramp(), AT < 0.15, whole_run=True)[1]


def test_what_is_crossed_after_a_found_steady_state_counts():
    falls = np.minimum(ramp(), np.minimum(1, (1 - AT) / 0.3))
    review, crossed = page_life(falls, AT > 0.75)
    assert [phase.name for phase in review.phases] == ["ramp-up", "steady", "ramp-down"]
    assert crossed


def test_a_page_life_that_climbs_in_a_found_steady_state_is_not_crossed():
    climbs = a_log({BATCHES: 500 * (ramp() + noise(8)), LIFE: 30.0 + AT * ROWS * EVERY_S})
    [finding] = [item for item in reviewed(climbs).findings if item.rule.id == "sql-page-life-expectancy"]
    assert finding.track
    assert finding.track.is_phase_determined
    assert finding.outcome == Outcome.WITHIN


@pytest.mark.parametrize(
    "load", [ramp(0.6), np.where(AT < 0.35, 1.9, 1.0), 1 + 0 * AT], ids=["long ramp", "long storm", "no load signal"]
)
def test_phases_that_may_be_none_are_not_judged_by(load):
    columns = {BATCHES if np.ptp(load) else CPU: 50 * (load + noise(8)), LIFE: np.where(AT < 0.15, 20.0, 9000.0)}
    review = reviewed(a_log(columns))
    assert not review.judged_by_found or not review.before_steady
    assert "Page life expectancy" in {
        finding.signal.title for finding in review.findings if finding.outcome == Outcome.CROSSED
    }
