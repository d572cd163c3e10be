"""The normal distribution and Student's agree with those of scipy."""

import math

import numpy as np
import pytest

from plimsoll.analysis.distributions import compute_student_probability, compute_student_quantile

FREEDOMS = (0.8, 1, 1.5, 2, 5.3, 19.9, 39, 41, 333.3, 5e3, 4e6, 6e6, 1e9, math.inf)
SHARES = (*np.logspace(-9, -0.31, 20).tolist(), 0.5, 0.9, 0.975, 0.995, 1 - 1e-9)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_students_t(freedom):
    from scipy import special  # here, as it is slow and every worker imports this file

    sizes = np.logspace(-5, 0.8, 60)
    for value in (*-sizes, 0.0, *sizes):
        assert compute_student_probability(freedom, value) == pytest.approx(
            float(special.stdtr(freedom, value)), rel=1e-8
        )
    for share in SHARES:
        value = compute_student_quantile(freedom, share)
        assert value == pytest.approx(float(special.stdtrit(freedom, share)), rel=1e-9, abs=1e-9)


def test_what_is_no_number_or_beyond_all_ends():
    assert (compute_student_probability(3, math.inf), compute_student_probability(3, -math.inf)) == (1, 0)
    assert math.isnan(compute_student_probability(3, math.nan))
    assert compute_student_probability(0.7, -1e200) == pytest.approx(0, abs=1e-100)
