"""What means hide, and counters without a signal: neither may be called not worse."""

import numpy as np
import pytest

from plimsoll.comparison.summary import Answer, answer, story
from tests.simulators.trials import a_side, against
from tests.simulators.web_and_sql import SQL, WEB, Build, slow

SEEDS = range(2)
TIME = r"\Shop Checkout(_Total)\Average Basket Time"
ERRORS = r"\Shop Checkout(_Total)\Errors Total"
BUSY = r"\Processor(_Total)\% Processor Time"
OTHER = r"\Shop Checkout(_Total)\Baskets Open"


def shop(time_ms=40.0, errors=0.02, slow=0.0):
    """Counters of an application that no signal reads; a share `slow` of the times is eight times as long."""

    def more(found, rng):
        rows = len(next(iter(found[WEB].values())))
        found[WEB][TIME] = time_ms * rng.lognormal(0, 0.1, rows) * np.where(rng.random(rows) < slow, 8, 1)
        found[WEB][ERRORS] = rng.poisson(5 * errors, rows).cumsum().astype(float)
        found[WEB][OTHER] = 100 * rng.lognormal(0, 0.1, rows)

    return more


USUAL = shop()


def compared(build, seed, more=USUAL):
    return against([a_side("a", Build(), seed, USUAL)], a_side("b", build, 50 + seed, more))


@pytest.mark.parametrize(
    ("build", "what"),
    [(Build(stall_s=60.0), "stalls"), (Build(slow_share=0.04), "peaks"), (Build(noise=0.10), "noise")],
    ids=["a stall every quarter of an hour", "some answers take three times as long", "a load twice as noisy"],
)
def test_what_means_hide_is_found(build, what):
    for seed in SEEDS:
        found = compared(build, seed)
        assert what in {one.shape for one in found.reshaped}
        assert answer(found) == (Answer.UNKNOWN if what == "noise" else Answer.WORSE)


def test_processor_time_that_is_noisier_for_the_same_load_is_found():
    def noisier(found, rng):
        shop()(found, rng)
        busy = found[WEB][BUSY]
        found[WEB][BUSY] = (busy * np.exp(slow(rng, len(busy), 0.6, 0.08))).clip(0, 100)

    for seed in SEEDS:
        found = [one for one in compared(Build(), seed, noisier).reshaped if one.shape == "noise"]
        assert [(one.compared.name, one.compared.subject.host) for one in found] == [("cpu.busy", WEB)]
        assert found[0].after > 1.5 * found[0].before


def test_alike_runs_have_none_of_it():
    for seed in SEEDS:
        found = compared(Build(), seed)
        assert (found.reshaped, found.unassigned_counters.costs) == ([], ())
        assert found.unassigned_counters.compared > 0


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (shop(time_ms=120.0), "Average Basket Time of WEB1 rose"),
        (shop(errors=0.2), "the increase of"),
        (shop(slow=0.02), "the peaks of"),
    ],
)
def test_a_counter_that_no_signal_knows_leaves_it_open(more, said):
    for seed in SEEDS:
        found = compared(Build(), seed, more)
        assert answer(found) == Answer.UNKNOWN
        assert len(found.unassigned_counters.costs) == 1
        assert said in " ".join(story(found))


def test_two_of_them_are_named():
    found = compared(Build(), 1, shop(time_ms=120.0, errors=0.2))
    said = story(found)[1]
    assert "Average Basket Time of WEB1 rose" in said
    assert "Errors Total of WEB1 rose" in said


def test_what_only_one_run_has_is_counted():
    def less(found, rng):
        shop()(found, rng)
        del found[WEB][OTHER]
        found[SQL][r"\Backup(_Total)\Rate"] = rng.random(len(found[WEB][TIME]))

    found = compared(Build(), 1, less).unassigned_counters
    assert [one.path for one in found.only_first] == [OTHER]
    assert [one.path for one in found.only_second] == [r"\Backup(_Total)\Rate"]
