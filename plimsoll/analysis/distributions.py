"""Distributions of statistics, from scipy. It is imported at the first use: that takes longer than most reviews."""

# ruff: noqa: PLC0415


def normal(value: float) -> float:
    """The chance of a value of the standard normal distribution below this one."""
    from scipy import special

    return float(special.ndtr(value))


def student(freedom: float, value: float) -> float:
    """The chance of a value of Student's t below this one."""
    from scipy import special

    return float(special.stdtr(freedom, value))


def student_quantile(freedom: float, share: float) -> float:
    """The value of Student's t below which this share lies."""
    from scipy import special

    return float(special.stdtrit(freedom, share))


def f_beyond(first: float, second: float, value: float) -> float:
    """The chance of a value of F above this one."""
    from scipy import special

    return float(special.fdtrc(first, second, value))
