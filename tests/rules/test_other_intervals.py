"""A recorder that changed its interval: each part is judged by its own interval."""

import numpy as np

from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from tests.rules.one_series import a_rule, evaluated

RULE = a_rule(healthy="< 80", **{"for": "5m"})


def judged(*parts):
    """The rule judged over parts of (seconds between samples, how many, their value)."""
    steps = np.concatenate([np.full(count, item) for item, count, _ in parts])
    values = np.concatenate([np.full(count, float(value)) for _, count, value in parts])
    samples = Samples(np.cumsum(steps, dtype=np.int64) * SECOND, values)
    return evaluated(RULE, samples, 1200 * SECOND)


def crossed(track):
    """When the rule was crossed, in seconds."""
    return [
        (crossing.start // SECOND, crossing.end // SECOND)
        for crossing in track.crossings
        if crossing.fired_at is not None
    ]


def test_a_load_that_was_sampled_seldom_is_seen():
    track = judged((600, 12, 96), (1, 300, 20))
    assert crossed(track) == [(600, 7200)]
    assert (track.window, track.other_windows) == (60 * SECOND, [1200 * SECOND])


def test_a_load_that_was_sampled_often_is_not_spread_over_a_long_window():
    often = judged((600, 50, 20), (1, 40, 96), (600, 12, 20))
    assert often.values.max() == 96
    assert crossed(often) == []
    assert often.times[often.values > 80].max() <= (50 * 600 + 40 + 60) * SECOND


def test_a_short_load_between_samples_far_apart_counts_where_it_was():
    """Seven minutes above the limit; no mean over twenty minutes includes the hours around them."""
    ((start, end),) = crossed(judged((600, 12, 75), (1, 420, 96), (600, 12, 75)))
    assert 7200 < start < 7220
    assert 7600 < end < 7620 + 70


def test_a_load_goes_on_where_the_interval_changes():
    """A sample every second, then every ten minutes, then every second again: all are past the limit."""
    assert crossed(judged((1, 300, 96), (600, 60, 96), (1, 300, 96))) == [(10, 36_600)]
    assert crossed(judged((600, 60, 96), (1, 30, 96), (600, 60, 96))) == [(600, 72_030)]


def test_a_load_does_not_last_over_a_pause():
    """The rule's window is the longest; the pause has one evaluation after that window, without data."""
    times = np.array([*range(0, 610, 10), *range(7200, 7810, 10)], dtype=np.int64) * SECOND
    samples = Samples(times, np.full(len(times), 96.0))
    track = evaluated(RULE, samples, RULE.over)
    assert [(crossing.start // SECOND, crossing.end // SECOND) for crossing in track.crossings] == [
        (0, 660),
        (7210, 7800),
    ]


def test_an_interval_that_changes_thousands_of_times():
    """If each part were judged by itself, it would take minutes."""
    track = judged(*[(10, 6, 96), (60, 6, 96)] * 4000)
    assert crossed(track) == [(10, 4000 * (60 + 360))]
