"""Slow responses in the results of a load driver: of all requests together, else of an operation."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
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
    MOST_NAMED,
    REQUESTS,
    DriverClause,
    DriverOperation,
    DriverTest,
    find_first,
    is_judged_by_objective,
    list_operations,
    list_tests,
    match_times,
)

# Our choices, except the first: a response within it does not break a user's flow of thought (Nielsen, "Usability
# Engineering", 1993, section 5.5).
_LONG_S = 1.0
_NOTABLE_S = 0.1  # section 5.5, too: a response within it seems to come at once
_TIMES = 3.0  # as long as before
_NO_MORE = 1.1  # times as many requests answered are no more
_FEWEST_PARTS = 4
_CREEPS, _CREPT = 1.05, 1.5  # times the time of the quarter before, and of the first quarter
_FEWEST_TO_CREEP, _CREEPS_FOR = 8, 3600 * SECOND
_ENOUGH_IN_PART = 30  # requests of an operation: of fewer a slow one or two make the mean
_RESPONSE_TIMES = "client.response_time"
_OBJECTIVE = "set how long they may take under [objective] in plimsoll.toml"


class _Waits(NamedTuple):
    """The answered requests (per s) and response times (s) in consecutive parts of a test, each `part` ns long.

    They are of an `operation`, or of all requests (None).
    """

    done: Values
    means: Values
    part: int
    place: str
    operation: DriverOperation | None

    def describe_slowdown(self, shortest: float) -> str:
        """Return a clause on the slowest part in which responses slowed down without more requests; else empty.

        The part's response time is at least `shortest` (s), and three times that of an earlier part with about as many
        requests.
        """
        for row in np.argsort(-self.means).tolist() if len(self.done) >= _FEWEST_PARTS else ():
            after, earlier = float(self.means[row]), self.means[:row]
            alike = earlier[self.done[row] <= _NO_MORE * self.done[:row]]
            if after >= shortest and len(alike) and after >= _TIMES * float(alike.min()):
                which = f"“{self.operation.name}”" if self.operation else "the load driver"
                took = f"took {format_value(after, 's')} (mean of {format_duration(self.part)})"
                before = format_value(alike.min(), "s")
                return f"requests of {which} {took} instead of {before} at no higher rate{self.place}"
        return ""

    def describe_creep(self) -> str:
        """Return a clause on responses that took longer from quarter to quarter without more requests; else empty."""
        if len(self.means) < _FEWEST_TO_CREEP or len(self.means) * self.part < _CREEPS_FOR:
            return ""
        means, rates = ([part.mean() for part in np.array_split(values, 4)] for values in (self.means, self.done))
        creeps = all(after >= _CREEPS * before for before, after in pairwise(means))
        if not creeps or means[-1] < max(_NOTABLE_S, _CREPT * means[0]) or max(rates) > _NO_MORE * min(rates):
            return ""
        took = f"{format_value(means[0], 's')} at first, {format_value(means[-1], 's')} at last"
        return f"requests of the load driver took longer and longer at no higher rate: {took}{self.place}"


def judge_waits(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[DriverClause]:
    """Yield clauses on responses that took far longer in a later part of a test while no more requests were answered.

    They make a doubt from a second on, of an operation only if all together did not and it has enough of the requests.
    A long mean of all is a sentence. Yield none if an objective judges response times.
    """
    done, response_times = find_first(recorded, REQUESTS), find_first(recorded, _RESPONSE_TIMES)
    if done is None or response_times is None or is_judged_by_objective(findings, "response"):
        return
    tests = list_tests(done)
    together = list(_measure_waits(tests, done, response_times))
    single = [
        waits
        for operation in list_operations(recorded)
        if operation.response_times
        for waits in _measure_waits(tests, operation.done, operation.response_times, operation)
    ]
    main = [waits for waits in single if waits.operation and waits.operation.is_main]
    for group in (together, main):
        if clauses := [clause for waits in group if (clause := waits.describe_slowdown(_LONG_S))]:
            yield DriverClause(join_names(clauses, MOST_NAMED), _OBJECTIVE)
            return
    clauses = [waits.describe_slowdown(_NOTABLE_S) or waits.describe_creep() for waits in together]
    clauses += [waits.describe_slowdown(_LONG_S) for waits in single]
    yield from (DriverClause(f"{clause}; no objective limits that") for clause in clauses if clause)
    for waits in together:
        mean = float(np.average(waits.means, weights=waits.done))
        if mean >= _LONG_S:
            took = f"requests of the load driver took {format_value(mean, 's')} in the mean{waits.place}"
            yield DriverClause(f"{took}, and no objective limits that")


def _measure_waits(
    tests: Sequence[DriverTest], done: Samples, response_times: Samples, operation: DriverOperation | None = None
) -> Iterator[_Waits]:
    """Yield the response times in parts of each test that has requests.

    Of an operation they are the lower of mean and median, so that a few slow requests of few are no slow time.
    """
    step = done.interval or SECOND
    for test in tests:
        answered = test.cut(done)
        times, rates, waits = match_times(answered, test.cut(response_times))
        if not rates.any():
            continue
        span = int(times[-1] - times[0])
        part = int(max(SHORTEST_ABSENCE, LEAST_SHARE_ABSENT * span))
        last = max(0, span // part - 1)
        place = np.minimum((times - times[0]) // part, last)
        sums, total_waits = np.bincount(place, weights=rates), np.bincount(place, weights=rates * waits)
        enough = sums * step >= (_ENOUGH_IN_PART * SECOND if operation else 1)
        if not enough.any():
            continue
        means = total_waits[enough] / sums[enough]
        counts = np.bincount(np.clip((answered.times - times[0]) // part, 0, last), minlength=len(sums))[enough]
        if operation:
            medians = [compute_median(waits[place == number]) for number in np.flatnonzero(enough).tolist()]
            means = np.minimum(means, medians)
        yield _Waits(sums[enough] / counts, means, part, test.place, operation)
