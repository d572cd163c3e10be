"""How long the clients of a load driver waited, where no objective says how long they may."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.log import Values
from plimsoll.model.times import duration_text
from plimsoll.model.value_text import quantity
from plimsoll.review.doubts import LEAST_SHARE_ABSENT, SHORTEST_ABSENCE, Doubt
from plimsoll.review.findings import JUDGED, Finding
from plimsoll.review.recorded_signals import RecordedSignals

# Our choices, but for the first: what is answered within it does not break a user's flow of thought (Nielsen,
# "Usability Engineering", 1993, section 5.5).
_LONG_S = 1.0
_TIMES = 3.0  # as long as before
_NO_MORE = 1.1  # times as many requests answered are no more
_FEWEST_PARTS = 4
_DONE, _WAITED = "client.requests", "client.response_time"
_OBJECTIVE = "say under [objective] in plimsoll.toml how long they may take"


class _Waits(NamedTuple):
    """Parts of the load one after another: the requests answered in each (per s), and how long they took (s)."""

    done: Values
    waited: Values
    part: int


def slowed(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[Doubt]:
    """That requests took far longer in a later part of the load, although no more of them were answered."""
    waits = _waits(recorded, findings)
    if waits is None or len(waits.done) < _FEWEST_PARTS:
        return
    for at in np.argsort(-waits.waited).tolist():
        after = float(waits.waited[at])
        before = waits.waited[:at]
        alike = before[waits.done[at] <= _NO_MORE * waits.done[:at]]
        if after < _LONG_S or not len(alike) or after < _TIMES * float(alike.min()):
            continue
        took = f"{quantity(after, 's')} (mean of {duration_text(waits.part)}), after {quantity(alike.min(), 's')}"
        yield Doubt(f"requests of the load driver took {took}, and no more were answered", _OBJECTIVE)
        return


def slow(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[str]:
    """How long requests took, as a sentence, where that is long and no more is said of it."""
    waits = _waits(recorded, findings)
    if waits is None or any(slowed(recorded, findings)):
        return
    mean = float(np.average(waits.waited, weights=waits.done))
    if mean >= _LONG_S:
        yield f"Requests of the load driver took {quantity(mean, 's')} in the mean, and no objective limits that."


def _waits(recorded: RecordedSignals, findings: Sequence[Finding]) -> _Waits | None:
    """None where it is not known, or judged by an objective."""
    judged = any(
        one.pack.pack == OBJECTIVE and "response" in one.rule.signal and one.outcome in JUDGED for one in findings
    )
    done, waited = (next(iter(recorded.of(name).values()), None) for name in (_DONE, _WAITED))
    if judged or done is None or waited is None:
        return None
    done, waited = done.present, waited.present
    times, at, other = np.intersect1d(done.times, waited.times, return_indices=True)
    rates = done.values[at]
    if not len(times) or not rates.any():
        return None
    span = int(times[-1] - times[0])
    part = int(max(SHORTEST_ABSENCE, LEAST_SHARE_ABSENT * span))
    place = np.minimum((times - times[0]) // part, max(0, span // part - 1))
    sums, together = np.bincount(place, weights=rates), np.bincount(place, weights=rates * waited.values[other])
    answered = sums > 0
    counts = np.bincount(place)
    return _Waits(sums[answered] / counts[answered], together[answered] / sums[answered], part)
