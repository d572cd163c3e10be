"""What chance explains is that of chi-squared."""

import pytest

from plimsoll.analysis.levels.steadiness import BLOCKS


@pytest.mark.parametrize(("blocks", "exceeded"), BLOCKS.items())
def test_the_limit_of_chance_is_that_of_chi_squared(blocks, exceeded):
    from scipy import special  # here, as it is slow and every worker imports this file

    assert special.chdtri(blocks - 1, 0.0005) == pytest.approx(exceeded, rel=1e-12)
