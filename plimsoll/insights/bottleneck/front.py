"""Whether clients waited no longer at the highest load: only then was it too small to reach any limit.

Work that grows with the load tells nothing of a service behind the hosts, or of a host that is not recorded: clients
wait longer first. What they wait for is told by response times where their connections are held.
"""

from collections.abc import Iterator

import numpy as np

from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import Measured, median_in
from plimsoll.model.series import host_key

_LONGER = 1.25  # our choice: times the response time under low load
_OF_CLIENTS = "client."  # signals of what drives the load, which sees all of a response


def why_not_too_small(measured: Measured, load: LoadResponse) -> str | None:
    """Why it is not known that the load was too small; None if response times stayed as under low load."""
    if load.offered is None:
        return "the connections of clients are not recorded, or hardly changed"
    if not load.follows:
        return "it is not known whether the work followed the load"
    if load.low is None:
        return "there was no low load to compare with"
    answers = list(_answers(measured, load))
    if not answers:
        return "response times are not recorded where the connections are held"
    if any(top > _LONGER * low for low, top in answers):
        return "response times became longer with the load"
    return None


def _answers(measured: Measured, load: LoadResponse) -> Iterator[tuple[float, float]]:
    """Each response time of the front, under low and under the highest load."""
    hosts = {host_key(one) for one in load.offered.hosts} if load.offered else set()
    for signal in measured.response_times:
        for subject, values in measured.of(signal).items():
            if host_key(subject.host) not in hosts and not signal.startswith(_OF_CLIENTS):
                continue
            low, top = (median_in(values, part) for part in (load.low, load.top) if part is not None)
            if np.isfinite(low) and np.isfinite(top):
                yield low, top
