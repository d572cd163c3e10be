"""Which operations a run can tell apart: the condition number of their rates."""

import numpy as np

from plimsoll.model.log import Values

MOST = 30.0  # Belsley, Kuh and Welsch, "Regression Diagnostics" (1980): from 30 on, collinearity does harm


def condition(rates: Values) -> float:
    """The condition number of rates (rows, operations) and a constant, each column scaled to the length 1."""
    columns = np.column_stack([np.ones(len(rates)), rates])
    lengths = np.sqrt((columns**2).sum(axis=0))
    values = np.linalg.svd(columns / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


def separable(rates: Values) -> tuple[tuple[int, ...], ...]:
    """The operations in groups that the data can tell apart: those most alike are merged until it can.

    Args:
        rates: Operations a second; shape (rows, operations).
    """
    groups: list[tuple[int, ...]] = [(one,) for one in range(rates.shape[1])]
    while len(groups) > 1:
        merged = together(rates, tuple(groups))
        if condition(merged) < MOST:
            break
        with np.errstate(all="ignore"):
            alike: Values = np.nan_to_num(np.asarray(np.corrcoef(merged.T)), nan=1.0)
        alike[np.tril_indices(len(groups))] = -2
        one, other = sorted(int(at) for at in np.unravel_index(int(alike.argmax()), alike.shape))
        groups[one] += groups.pop(other)
    return tuple(groups)


def together(rates: Values, groups: tuple[tuple[int, ...], ...]) -> Values:
    """The rates of each group of operations; shape (rows, groups)."""
    return np.column_stack([rates[:, list(group)].sum(axis=1) for group in groups])
