"""Properties of every rule and every recording, whatever the numbers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plimsoll.model.log import Log
from plimsoll.model.run import Phase
from plimsoll.model.samples import Recorded, Samples
from plimsoll.model.times import SECOND, Zone
from plimsoll.rules.states import State, Truth, run, step
from tests.rules.one_series import SERIES, a_rule, evaluated

truths = st.sampled_from([Truth.TRUE, Truth.FALSE, Truth.NO_DATA])
value = st.one_of(st.none(), st.floats(0, 100, width=16))
rules = st.builds(
    lambda over, hold, reduce, recover, operator: a_rule(
        healthy=f"{operator} 50",
        over=over,
        reduce=reduce,
        **{"for": hold},
        **({"recover": "< 40" if operator == "<" else "> 60"} if recover else {}),
    ),
    over=st.sampled_from([10, 25, 60]),
    hold=st.sampled_from([0, 20, 60]),
    reduce=st.sampled_from(["mean", "min", "max", "last", "median"]),
    recover=st.booleans(),
    operator=st.sampled_from(["<", ">"]),
)


@st.composite
def recordings(draw):
    """Times a few seconds apart with a pause here and there, and a value or none at each."""
    steps = draw(st.lists(st.sampled_from([1, 5, 5, 5, 10, 200]), min_size=2, max_size=60))
    values = draw(st.lists(value, min_size=len(steps), max_size=len(steps)))
    times = np.cumsum(np.array(steps, dtype=np.int64)) * SECOND
    return Samples(times, np.array([np.nan if v is None else v for v in values], dtype=np.float64))


def a_log(samples):
    column = np.array(samples.values, dtype=float)
    return Log(Path("log.csv"), "PDH-CSV", samples.times, (column,), (SERIES,), Zone.parse("UTC"))


def track(rule, samples, phases=(), reach=None):
    intervals = [samples.interval or 0, *(part.interval for part in samples.other_intervals)]
    widest = max(60 * SECOND, 2 * max(intervals)) if reach is None else reach
    return evaluated(rule, samples, widest, phases=phases)


@given(rules, recordings(), st.integers(-(10**6), 10**6))
def test_shifting_time_shifts_states(rule, samples, tens):
    shift = tens * 10 * SECOND
    here, evaluation_matrix = track(rule, samples), track(rule, Samples(samples.times + shift, samples.values))
    assert (here.times + shift).tolist() == evaluation_matrix.times.tolist()
    assert here.states.tolist() == evaluation_matrix.states.tolist()
    assert np.array_equal(here.values, evaluation_matrix.values, equal_nan=True)


@given(rules, recordings(), st.data())
def test_a_log_split_and_joined_gives_the_same(rule, samples, data):
    cut = data.draw(st.integers(0, len(samples.times)))
    parts = [Samples(samples.times[:cut], samples.values[:cut]), Samples(samples.times[cut:], samples.values[cut:])]
    if data.draw(st.booleans()):
        parts.reverse()
    joined = Recorded([a_log(part) for part in parts]).samples(SERIES)
    whole, again = track(rule, samples), track(rule, joined)
    assert whole.states.tolist() == again.states.tolist()
    assert np.array_equal(whole.values, again.values, equal_nan=True)


@given(rules, recordings(), st.floats(0, 50, width=16))
def test_more_severe_data_never_gives_fewer_breaches(rule, samples, extra):
    worse = extra if rule.healthy.worse == "higher" else -extra
    before, after = track(rule, samples), track(rule, Samples(samples.times, samples.values + worse))
    firing, firing_after = before.states == State.FIRING, after.states == State.FIRING
    assert not (firing & ~firing_after).any()
    fired = [crossing for crossing in before.crossings if crossing.fired_at is not None]
    fired_after = [crossing for crossing in after.crossings if crossing.fired_at is not None]
    for breach in fired:
        assert any(crossing.start <= breach.start and crossing.end >= breach.end for crossing in fired_after)


@given(rules, recordings())
def test_pauses_left_out_of_the_grid_change_nothing(rule, samples):
    short, full = track(rule, samples), track(rule, samples, reach=10**6 * SECOND)
    assert set(short.times.tolist()) <= set(full.times.tolist())
    kept = np.isin(full.times, short.times)
    assert full.states[kept].tolist() == short.states.tolist()
    assert np.isnan(full.values[~kept]).all()
    assert [*short.crossings] == [*full.crossings]


@given(rules, recordings())
def test_a_phase_is_judged_as_if_it_were_alone(rule, samples):
    middle = int(samples.times[len(samples.times) // 2])
    phases = [Phase("other", 0, middle - 1), Phase("steady", middle, int(samples.times[-1]) + 60 * SECOND)]
    item = track(replace(rule, phase="steady"), samples, phases)
    assert (item.states[item.times < middle] == State.NOT_JUDGED).all()
    assert not (item.states[item.times >= middle] == State.NOT_JUDGED).any()


def matrices(count):
    return st.integers(1, 4).flatmap(
        lambda rows: st.integers(0, 40).flatmap(
            lambda columns: st.tuples(*[arrays(np.int8, (rows, columns), elements=truths)] * count)
        )
    )


@given(
    matrices(2), st.sampled_from(["the same", "kept while true", "any"]), st.sampled_from([0, 10, 30, 35]), st.randoms()
)
def test_a_matrix_gives_what_the_clock_gives(conditions, recover, hold, random):
    enter, stay = conditions
    if recover != "any":
        stay = enter if recover == "the same" else np.where(enter == Truth.TRUE, enter, stay)
    # Evaluations in long pauses are left out.
    times = np.cumsum([random.choice((1, 1, 1, 90)) for _ in range(enter.shape[1])], dtype=np.int64) * 10 * SECOND
    states, since = np.zeros(len(enter), np.int8), np.zeros(len(enter), np.int64)
    columns = []
    for column, at in enumerate(times.tolist()):
        states, since = step(states, since, at, enter[:, column], stay[:, column], hold * SECOND)
        columns.append(states)
    assert run(times, enter, stay, hold * SECOND).T.tolist() == [column.tolist() for column in columns]


def test_a_step_pends_fires_and_recovers():
    """The table of docs/evaluation.md: true, false and no data, in OK, pending for 290 s and 300 s, and firing."""
    states = np.array([State.OK, State.PENDING, State.PENDING, State.FIRING], np.int8)
    since = np.array([0, 710, 700, 100])
    after = {
        Truth.TRUE: ([State.PENDING, State.PENDING, State.FIRING, State.FIRING], [1000, 710, 700, 100]),
        Truth.FALSE: ([State.OK] * 4, [0] * 4),
        Truth.NO_DATA: ([State.NO_DATA] * 3 + [State.FIRING], [0, 0, 0, 100]),
    }
    for truth, result in after.items():
        conditions = np.full(4, truth, np.int8)
        assert tuple(column.tolist() for column in step(states, since, 1000, conditions, conditions, 300)) == result


@given(st.floats(0.001, 1e9), st.integers(1, 30))
def test_the_mean_of_equal_values_is_that_value(number, count):
    samples = Samples(np.arange(count, dtype=np.int64) * SECOND, np.full(count, number))
    item = track(a_rule(healthy=f"< {number!r}"), samples)
    assert (item.values[~np.isnan(item.values)] == number).all()
    assert (item.states == State.FIRING).all()
