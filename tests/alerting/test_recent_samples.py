"""Windows of many series hold what each series has in the store, whichever of them share their times."""

from itertools import chain
from typing import cast

import numpy as np
import pytest

from plimsoll.alerting.recent_samples import RecentSamples
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.states import EVALUATION_INTERVAL
from plimsoll.rules.window import Apart, WindowBounds, reduce_rows
from plimsoll.store.protocol import SampleReader

OVERLAP = 60 * SECOND
START = 1_700_000_000 * SECOND // EVALUATION_INTERVAL * EVALUATION_INTERVAL
REACH = 600 * SECOND


class Fleet:
    """A store of series of some hosts: each host has its own times, and now and then a series misses some."""

    def __init__(self, random):
        self.held = {}
        for host in range(6):
            step = int(random.choice([1, 10, 10, 15, 60])) * SECOND
            times = np.arange(START - 1200 * SECOND, START + 1200 * SECOND, step) + int(random.integers(10)) * SECOND
            for at in range(4):
                kept = random.random(len(times)) > random.choice([0, 0, 0.1])
                series = Series(f"H{host}", "m", (), f"f{at}")
                self.held[series] = Samples(times[kept], random.random(int(kept.sum())))

    def read(self, series, start, end, *, live=False):
        found = [self.held[one].between(start, end) for one in series]
        return [Samples(one.times.copy(), one.values.copy()) for one in found]


@pytest.mark.parametrize("seed", range(10))
def test_windows_hold_what_the_store_has(seed):
    random = np.random.default_rng(seed)
    store = Fleet(random)
    every = [*store.held]
    buffers = RecentSamples(cast(SampleReader, store), OVERLAP)
    reach = dict.fromkeys(every[:-3], REACH)
    together, at = buffers.together([]), START
    for step in range(60):
        if step in (0, 20, 40):  # other series are judged: some are gone, others are back
            chosen = [one for one in every if random.random() < 0.8]
            reach = {one: int(random.choice([REACH, 900 * SECOND])) if step else REACH for one in chosen}
        at += EVALUATION_INTERVAL * int(random.choice([1, 1, 1, 5]))  # at times it is late
        buffers.read(reach, at, at)
        if step in (0, 20, 40):
            together = buffers.together([*reach])
        for series in reach:
            held, known = buffers.samples(series), store.held[series].between(at - REACH, at)
            np.testing.assert_array_equal(held.between(at - REACH, at).times, known.times)
            np.testing.assert_array_equal(held.between(at - REACH, at).values, known.values)
        assert buffers.size == sum(len(buffers.samples(one).times) for one in reach)
        bounds = WindowBounds(np.array([at - EVALUATION_INTERVAL, at]), 60 * SECOND)
        apart = Apart([buffers.samples(one) for one in reach])
        rows, other_rows = ([*chain(*samples.arrays())] for samples in (together, apart))
        for samples, of_samples in ((together, rows), (apart, other_rows)):
            cut = samples.cut(bounds, anew=False)
            spans = [slice(*span) for span in zip(cut.first.ravel(), cut.last.ravel(), strict=True)]
            of_samples += [column[span] for span in spans for column in (cut.values, cut.times())]
            of_samples.append(reduce_rows(samples, bounds, "mean", np.positive))
            of_samples.append(reduce_rows(samples, bounds, "increase", np.positive))
            of_samples.append(reduce_rows(samples, bounds, "max", np.positive, rate=True))
        for one, same in zip(rows, other_rows, strict=True):
            np.testing.assert_array_equal(one, same)
        buffers.forget([every[int(random.integers(len(every)))]])


def test_series_that_miss_a_sample_keep_their_interval():
    times = np.arange(START - 600 * SECOND, START + 600 * SECOND, 10 * SECOND)
    series = [Series("h", "m", (), field) for field in "ab"]
    store = Fleet(np.random.default_rng(0))
    missing = times != START + 100 * SECOND
    store.held = {
        series[0]: Samples(times, np.arange(len(times), dtype=float)),
        series[1]: Samples(times[missing], np.arange(len(times) - 1, dtype=float)),
    }
    buffers = RecentSamples(cast(SampleReader, store), OVERLAP)
    reach = dict.fromkeys(series, REACH)
    for at in range(START, START + 300 * SECOND, EVALUATION_INTERVAL):
        buffers.read(reach, at, at)
        assert [buffers.samples(one).interval for one in series] == [10 * SECOND] * 2
    assert buffers.widest_change() == 20 * SECOND
    assert buffers.widest_change() == 0
