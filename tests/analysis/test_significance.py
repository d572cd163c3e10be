"""The rank test agrees with that of scipy, ties included."""

import numpy as np
import pytest

from plimsoll.analysis.significance import rank_test


@pytest.mark.parametrize("levels", [2, 5, 1000])
@pytest.mark.parametrize("sizes", [(3, 3), (4, 30), (25, 25), (1, 200)])
def test_the_chance_is_that_of_mann_and_whitney(sizes, levels):
    from scipy.stats import mannwhitneyu  # here, as it is slow and every worker imports this file

    random = np.random.default_rng(7)
    for _ in range(50):
        first, second = (random.integers(0, levels, size).astype(float) for size in sizes)
        if np.ptp(np.concatenate((first, second))) == 0:
            continue
        result = rank_test(first, second)
        side = "greater" if result.higher else "less"
        expected = mannwhitneyu(second, first, alternative=side, method="asymptotic")
        assert result.higher == (expected.statistic > len(first) * len(second) / 2)
        assert result.chance == pytest.approx(min(0.5, expected.pvalue), rel=1e-12)


def test_equal_values_tell_nothing():
    result = rank_test(np.full(5, 3.0), np.full(7, 3.0))
    assert (result.chance, result.higher) == (0.5, False)
