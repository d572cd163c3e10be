"""Whether what a load driver calls users are people, or the requests that it has in flight.

A driver that sends requests at a rate of its own has a thread for each that is not answered. They come and go by
chance, and more of them ask for no more work, so no load is so many of them.
"""

import numpy as np

from plimsoll.analysis.median import median
from plimsoll.model.log import Values

# Our choices.
_FALLS = 0.25  # of the changes from row to row: users of a plan rise, or stay; threads rise and fall alike
_IDLE = 0.1  # of the users, besides one, who think or wait: fewer are none that think
_FEWEST = 12  # rows


def are_requests(users: Values, in_flight: Values) -> bool:
    """Whether users (in each row) are the requests in flight, and not set by the test."""
    known = np.isfinite(users) & np.isfinite(in_flight)
    users, in_flight = users[known], in_flight[known]
    if len(users) < _FEWEST or float(np.mean(np.diff(users) < 0)) < _FALLS:
        return False
    many = users >= median(users)  # a driver that counts its threads when one is done counts that one, too
    return median(users[many] - in_flight[many]) <= 1 + _IDLE * median(users[many])
