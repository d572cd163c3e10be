"""Slow responses in the results of a load driver: of all requests together, else of an operation."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.filters import compute_median
from plimsoll.model.log import Values
from plimsoll.model.remark import join_names
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_value
from plimsoll.review.doubts import LEAST_SHARE_ABSENT, SHORTEST_ABSENCE
from plimsoll.review.findings import Finding
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import (
    DONE,
    DriverClause,
    DriverOperation,
    DriverTest,
    is_judged_by_objective,
    list_operations,
    list_tests,
)

# Our choices, except the first: a response within it does not break a user's flow of thought (Nielsen, "Usability
# Engineering", 1993, section 5.5).
_LONG_S = 1.0
_NOTABLE_S = 0.1  # section 5.5, too: a response within it seems to come at once
_TIMES = 3.0  # as long as before
_NO_MORE = 1.1  # times as many requests answered are no more
_FEWEST_PARTS = 4
_LEAST_OF_PART = 30  # requests of an operation: of fewer a slow one or two make the mean
_WAITED = "client.response_time"
_MOST_NAMED = 3
_OBJECTIVE_OF_TIMES = "set how long they may take under [objective] in plimsoll.toml"


class _Waits(NamedTuple):
    """The answered requests (per s) and response times (s) in consecutive parts of a test, each `part` ns long.

    They are of the operation `of`, or of all requests (None).
    """

    done: Values
    waited: Values
    part: int
    place: str
    of: DriverOperation | None = None

    def slowed(self, shortest: float) -> str:
        """Return a clause on the slowest part in which responses slowed down without more requests; else empty.

        The part's response time is at least `shortest` (s), and three times that of an earlier part with about as many
        requests.
        """
        for at in np.argsort(-self.waited).tolist() if len(self.done) >= _FEWEST_PARTS else ():
            after, before = float(self.waited[at]), self.waited[:at]
            alike = before[self.done[at] <= _NO_MORE * self.done[:at]]
            if after >= shortest and len(alike) and after >= _TIMES * float(alike.min()):
                which = f"requests of “{self.of.name}”" if self.of else "requests of the load driver"
                took = f"took {format_value(after, 's')} (mean of {format_duration(self.part)})"
                return f"{which} {took} instead of {format_value(alike.min(), 's')} at no higher rate{self.place}"
        return ""


def judge_waits(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[DriverClause]:
    """Yield clauses on responses that took far longer in a later part of a test while no more requests were answered.

    They make a doubt from a second on, of an operation only if all together did not and it has enough of the requests.
    A long mean of all is a sentence. Yield none if an objective judges response times.
    """
    done, waited = (next(iter(recorded.of(name).values()), None) for name in (DONE, _WAITED))
    if done is None or waited is None or is_judged_by_objective(findings, "response"):
        return
    tests = list_tests(done)
    of_all = [wait for test in tests if (wait := _measure_waits(test, None, done, waited))]
    single = [
        wait
        for one in list_operations(recorded)
        for test in (tests if one.waited else ())
        if one.waited and (wait := _measure_waits(test, one, one.done, one.waited))
    ]
    main = [wait for wait in single if wait.of and wait.of.is_main]
    for waits in (of_all, main):
        if clauses := [clause for wait in waits if (clause := wait.slowed(_LONG_S))]:
            yield DriverClause(join_names(clauses, _MOST_NAMED), _OBJECTIVE_OF_TIMES)
            return
    clauses = [wait.slowed(_LONG_S if wait.of else _NOTABLE_S) for wait in (*of_all, *single)]
    yield from (DriverClause(f"{clause}; no objective limits that") for clause in clauses if clause)
    for wait in of_all:
        mean = float(np.average(wait.waited, weights=wait.done))
        if mean >= _LONG_S:
            took = f"requests of the load driver took {format_value(mean, 's')} in the mean{wait.place}"
            yield DriverClause(f"{took}, and no objective limits that")


def _measure_waits(test: DriverTest, of: DriverOperation | None, done: Samples, waited: Samples) -> _Waits | None:
    """Return the response times in parts of a test; None if it had no requests.

    Of an operation they are the lower of mean and median, so that a few slow requests of few are no slow time.
    """
    step = done.interval or SECOND
    done, waited = test.cut(done), test.cut(waited)
    times, at, other = np.intersect1d(done.times, waited.times, return_indices=True)
    rates, waits = done.values[at], waited.values[other]
    if not len(times) or not rates.any():
        return None
    span = int(times[-1] - times[0])
    part = int(max(SHORTEST_ABSENCE, LEAST_SHARE_ABSENT * span))
    last = max(0, span // part - 1)
    place = np.minimum((times - times[0]) // part, last)
    sums, together = np.bincount(place, weights=rates), np.bincount(place, weights=rates * waits)
    enough = sums * step >= (_LEAST_OF_PART * SECOND if of else 1)
    means = together[enough] / sums[enough]
    counts = np.bincount(np.clip((done.times - times[0]) // part, 0, last), minlength=len(sums))[: len(sums)][enough]
    if of:
        medians = [compute_median(waits[place == number]) for number in np.flatnonzero(enough).tolist()]
        means = np.minimum(means, medians)
    return _Waits(sums[enough] / counts, means, part, test.place, of) if enough.any() else None
