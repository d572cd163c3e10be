"""Many tests at once."""

import numpy as np

from plimsoll.model.log import Values


def holm(chances: Values) -> Values:
    """The chances of tests, raised so that comparing each with a level keeps the chance of any false alarm below it.

    Holm, "A simple sequentially rejective multiple test procedure" (1979).
    """
    order = np.argsort(chances, kind="stable")
    raised = np.maximum.accumulate(chances[order] * np.arange(len(chances), 0, -1))
    out = np.empty(len(chances))
    out[order] = np.minimum(raised, 1.0)
    return out
