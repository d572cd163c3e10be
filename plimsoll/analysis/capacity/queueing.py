"""Waiting for servers: Erlang's C formula, and how response times rise with the load."""

from collections.abc import Sequence

import numpy as np

from plimsoll.model.log import Values

_MOST_BUSY = 0.999  # beyond, the formula has no steady state
_MOST_WAITING = 600  # requests: more than any response time that is asked for has
_HALVINGS = 40


def erlang_c(servers: int, busy: Values) -> Values:
    """The chance that a request waits for one of so many servers, each busy for this share of the time (below 1).

    Erlang (1917), by the recursion of his B formula, which does not overflow.
    """
    offered = servers * busy
    blocked = np.ones_like(offered)
    for one in range(1, servers + 1):
        blocked = offered * blocked / (one + offered * blocked)
    return blocked / (1 - busy * (1 - blocked))


def stretch(servers: int, busy: Values) -> Values:
    """By how much a request takes longer than its service, in service times: M/M/c. At least 0."""
    within = np.clip(busy, 0.0, _MOST_BUSY)
    return erlang_c(servers, within) / (servers * (1 - within))


def stretch_of_users(servers: int, busy: float, users: float) -> float:
    """The same where so many users each wait for an answer before they think and ask again: M/M/c//N.

    The more requests wait, the fewer users are left to send more, so queues stay shorter than `stretch` has them; near
    the end of what the servers can do by much (Allen, "Probability, Statistics, and Queueing Theory", 1978).
    """
    whole = max(round(users), 1)
    busy = min(busy, _MOST_BUSY * min(1.0, whole / servers))
    if busy <= 0:
        return 0.0
    waiting = np.arange(min(whole, _MOST_WAITING + servers))
    ratios = np.log(whole - waiting) - np.log(np.minimum(waiting + 1, servers))
    shapes = np.append(0.0, np.cumsum(ratios))
    states = np.arange(len(shapes))
    served = np.minimum(states, servers)
    low, high = np.log(busy * servers / whole) - 1.0, np.log(servers) + 3.0
    chances = shapes
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        logs = shapes + middle * states
        chances = np.exp(logs - logs.max())
        chances /= chances.sum()
        low, high = (middle, high) if float(served @ chances) < busy * servers else (low, middle)
    return float(states @ chances) / float(served @ chances) - 1


def rising(stretches: Sequence[Values], times: Values, weights: Values) -> Values:
    """The time without waiting and the weight of each stretch, which together give the measured times best.

    Relative deviations count, so that fast levels are not ignored beside slow ones. All are at least 0, so the time
    never falls with the load.

    Returns:
        The time without waiting, then a weight for each of `stretches` (s, if the times are).
    """
    from scipy.optimize import nnls  # noqa: PLC0415  slow, and needed only here

    by = np.sqrt(weights) / np.maximum(times, 1e-12)
    rows = np.column_stack([np.ones(len(times)), *stretches])
    return nnls(rows * by[:, None], times * by)[0]


def isotonic(values: Values, weights: Values) -> Values:
    """The values that never fall and are nearest (pool adjacent violators: Ayer and others, 1955).

    Neighbours in the wrong order are pooled, those that follow first (Busing, "Monotone Regression", 2022), with the
    same roundings as scipy.optimize.isotonic_regression, whose import takes half as long as a review.
    """
    given = list(zip(values.tolist(), weights.tolist(), strict=True))
    pools: list[tuple[float, float, int]] = []  # level, weight, how many values
    at = 0
    while at < len(given):
        level, weight = given[at]
        start, at = at, at + 1
        if pools and pools[-1][0] >= level:
            before, heavier, count = pools.pop()
            start -= count
            total, weight = heavier * before + weight * level, heavier + weight
            level = total / weight
            while at < len(given) and level >= given[at][0]:
                total, weight, at = total + given[at][1] * given[at][0], weight + given[at][1], at + 1
                level = total / weight
            while pools and pools[-1][0] >= level:
                before, heavier, count = pools.pop()
                total, weight, start = total + heavier * before, weight + heavier, start - count
                level = total / weight
        pools.append((level, weight, at - start))
    return np.repeat([level for level, _, _ in pools], [count for _, _, count in pools])
