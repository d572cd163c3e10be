"""Series of which the reference figures of the bootstrap were made."""

import numpy as np


def _ar1(seed, rows, phi):
    shocks = np.random.Generator(np.random.PCG64(seed)).standard_normal(rows)
    out = np.zeros(rows)
    for i in range(1, rows):
        out[i] = phi * out[i - 1] + shocks[i]
    return out


def _bursts(rows, item, length):
    out = np.zeros(rows)
    shocks = np.random.Generator(np.random.PCG64(7)).uniform(0.8, 1.2, rows)
    for start in range(item // 2, rows, item):
        out[start : start + length] = 400
    return out * shocks


SERIES = {
    "white noise": _ar1(1, 400, 0.0),
    "ar 0.7": 50 + 3 * _ar1(2, 300, 0.7),
    "ar 0.7, long": 50 + 3 * _ar1(3, 5000, 0.7),
    "ar 0.95": _ar1(4, 2000, 0.95),
    "alternating": _ar1(5, 500, -0.6),
    "bursts": _bursts(1800, 60, 5),
    "skewed": np.exp(_ar1(6, 1000, 0.5)),
    "drift": np.sin(np.arange(2880) * 2 * np.pi / 2880) + 0.3 * _ar1(8, 2880, 0.3),
    "short": 10 + _ar1(9, 12, 0.5),
}
