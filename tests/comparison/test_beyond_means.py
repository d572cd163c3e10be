"""Changes that means hide, and changes of counters without a signal: with these, no run is called not worse."""

import numpy as np
import pytest

from plimsoll.comparison.summary import Answer, answer, tell_story
from tests.simulators.trials import a_side, against
from tests.simulators.web_and_sql import SQL, WEB, Build, slow

SEEDS = range(2)
TIME = r"\Shop Checkout(_Total)\Average Basket Time"
ERRORS = r"\Shop Checkout(_Total)\Errors Total"
BUSY = r"\Processor(_Total)\% Processor Time"
OTHER = r"\Shop Checkout(_Total)\Baskets Open"


def shop(time_ms=40.0, errors=0.02, slow=0.0):
    """Counters of an application that no signal reads; a share `slow` of the times is eight times as long."""

    def extra(values, rng):
        rows = len(next(iter(values[WEB].values())))
        values[WEB][TIME] = time_ms * rng.lognormal(0, 0.1, rows) * np.where(rng.random(rows) < slow, 8, 1)
        values[WEB][ERRORS] = rng.poisson(5 * errors, rows).cumsum().astype(float)
        values[WEB][OTHER] = 100 * rng.lognormal(0, 0.1, rows)

    return extra


USUAL = shop()


def compared(build, seed, values=USUAL):
    return against([a_side("a", Build(), seed, USUAL)], a_side("b", build, 50 + seed, values))


@pytest.mark.parametrize(
    ("build", "subject"),
    [(Build(stall_s=60.0), "stalls"), (Build(slow_share=0.04), "peaks"), (Build(noise=0.10), "noise")],
    ids=["a stall every quarter of an hour", "some answers take three times as long", "a load twice as noisy"],
)
def test_what_means_hide_is_found(build, subject):
    for seed in SEEDS:
        result = compared(build, seed)
        assert subject in {reshaped.shape for reshaped in result.reshaped}
        assert answer(result) == (Answer.UNKNOWN if subject == "noise" else Answer.WORSE)


def test_processor_time_that_is_noisier_for_the_same_load_is_found():
    def noisier(values, rng):
        shop()(values, rng)
        busy = values[WEB][BUSY]
        values[WEB][BUSY] = (busy * np.exp(slow(rng, len(busy), 0.6, 0.08))).clip(0, 100)

    for seed in SEEDS:
        reshapeds = [reshaped for reshaped in compared(Build(), seed, noisier).reshaped if reshaped.shape == "noise"]
        assert [
            (unassigned_counter.compared.name, unassigned_counter.compared.subject.host)
            for unassigned_counter in reshapeds
        ] == [("cpu.busy", WEB)]
        assert reshapeds[0].after > 1.5 * reshapeds[0].before


def test_alike_runs_have_none_of_it():
    for seed in SEEDS:
        result = compared(Build(), seed)
        assert (result.reshaped, result.unassigned_counters.costs) == ([], ())
        assert result.unassigned_counters.compared > 0


@pytest.mark.parametrize(
    ("extra", "output"),
    [
        (shop(time_ms=120.0), "Average Basket Time of WEB1 rose"),
        (shop(errors=0.2), "the increase of"),
        (shop(slow=0.02), "the peaks of"),
    ],
)
def test_a_counter_that_no_signal_knows_leaves_it_open(extra, output):
    for seed in SEEDS:
        result = compared(Build(), seed, extra)
        assert answer(result) == Answer.UNKNOWN
        assert len(result.unassigned_counters.costs) == 1
        assert output in " ".join(tell_story(result))


def test_two_of_them_are_named():
    result = compared(Build(), 1, shop(time_ms=120.0, errors=0.2))
    outcome = tell_story(result)[1]
    assert "Average Basket Time of WEB1 rose" in outcome
    assert "Errors Total of WEB1 rose" in outcome


def test_what_only_one_run_has_is_counted():
    def less(values, rng):
        shop()(values, rng)
        del values[WEB][OTHER]
        values[SQL][r"\Backup(_Total)\Rate"] = rng.random(len(values[WEB][TIME]))

    result = compared(Build(), 1, less).unassigned_counters
    assert [item.path for item in result.only_first] == [OTHER]
    assert [item.path for item in result.only_second] == [r"\Backup(_Total)\Rate"]
