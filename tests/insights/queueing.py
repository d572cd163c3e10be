"""Loads to compare insights by, from nothing but random numbers: stairs, and a queue with one server."""

import numpy as np


def stairs(seed, rows=720):
    """A load at three to ten levels with autocorrelated noise, and the first row of each level.

    Every third has a last level that is longer than all others together: it is steady there.
    """
    rng = np.random.default_rng(seed)
    levels = 100 * np.cumsum(rng.uniform(0.6, 1.4, rng.integers(3, 8)))
    lengths = rng.uniform(0.8, 1.6, len(levels))
    if seed % 3 == 0:
        lengths[-1] = 1.8 * lengths[:-1].sum()
    elif seed % 3 == 1:
        levels, lengths = np.append(levels, levels[-2::-1]), np.append(lengths, lengths[-2::-1])
    edges = np.round(rows * np.append(0, np.cumsum(lengths)) / lengths.sum()).astype(int)
    noise = np.zeros(rows)
    for row in range(1, rows):
        noise[row] = 0.6 * noise[row - 1] + 0.02 * rng.standard_normal()
    return levels[np.searchsorted(edges, np.arange(rows), side="right") - 1] * (1 + noise), edges[:-1]


def queue(seed, utilizations, customers=4000):
    """What an M/M/1 queue that serves 100 /s shows at these utilizations: rates (/s) and mean response times (ms)."""
    rng = np.random.default_rng(seed)
    rates, times = [], []
    for utilization in utilizations:
        gaps = rng.exponential(1 / (100 * utilization), customers)
        services = rng.exponential(0.01, customers)
        walk = np.cumsum(np.append(0, services[:-1] - gaps[1:]))
        waited = walk - np.minimum.accumulate(walk)  # Lindley, 1952
        rates.append(customers / gaps.sum())
        times.append(1000 * float((waited + services).mean()))
    return np.array(rates), np.array(times)
