"""The tests in the results of a load driver, and its operations, which are judged separately."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import LOAD_DRIVER
from plimsoll.model.times import SECOND
from plimsoll.review.findings import JUDGED, Doubt, Finding
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.rules.subjects import Subject

DRIVER = "client."  # begins the names of a load driver's signals
REQUESTS, OPERATION_REQUESTS = "client.requests", "client.operation_requests"
USERS = "client.users"
MOST_NAMED = 3
_RESPONSE_TIMES = "response_mean_s"
_PAUSE = 570 * SECOND  # without rows: the reader writes none for pauses of ten minutes in which no request waited
_MAIN = 0.05  # of all requests; our choice


class DriverClause(NamedTuple):
    """A clause on the results of a load driver: a doubt with `advice`, else (an empty text) a sentence."""

    clause: str
    advice: str = ""


class DriverTest(NamedTuple):
    """A test of a load driver from `start` to `end` (UTC ns): test `number` of `tests`."""

    start: int
    end: int
    number: int = 1
    tests: int = 1

    @property
    def place(self) -> str:
        """Where in the driver's results the test is, to follow a clause: ` in test 2 of 2`; empty for a single test."""
        return f" in test {self.number} of {self.tests}" if self.tests > 1 else ""

    def cut(self, samples: Samples) -> Samples:
        """Return the samples with values in the test."""
        return samples.present.between(self.start, self.end)


class DriverOperation(NamedTuple):
    """An operation of a load driver, with its answered requests, and their mean response times if recorded.

    `share` is its share of all requests from its first to its last.
    """

    name: str
    subject: Subject
    done: Samples
    response_times: Samples | None
    share: float

    @property
    def is_main(self) -> bool:
        """Whether enough of all requests are of the operation to make a doubt of what happens to it."""
        return self.share >= _MAIN


def list_doubts(clauses: Sequence[DriverClause]) -> list[Doubt]:
    """Return the clauses that make doubts as doubts."""
    return [Doubt(clause, advice) for clause, advice in clauses if advice]


def list_tests(done: Samples) -> list[DriverTest]:
    """Return the tests of a load driver, which are separated by pauses, from its answered requests."""
    times = done.present.times
    edges = [0, *(np.flatnonzero(np.diff(times) >= _PAUSE) + 1).tolist(), len(times)]
    spans = list(pairwise(edges)) if len(times) else []
    return [
        DriverTest(int(times[first]), int(times[stop - 1]), number, len(spans))
        for number, (first, stop) in enumerate(spans, start=1)
    ]


def list_operations(recorded: RecordedSignals) -> Iterator[DriverOperation]:
    """Yield the operations of the load drivers that have several."""
    requests = [samples.present for samples in recorded.of(REQUESTS).values()]
    timed = {series.tag("operation"): series for series in recorded.series if series.field == _RESPONSE_TIMES}
    for subject, done in recorded.of(OPERATION_REQUESTS).items():
        name, times = subject.instance or "", done.present.times[done.present.values > 0]
        if len(times):
            first, last = int(times[0]), int(times[-1])
            total = sum(float(samples.between(first, last).values.sum()) for samples in requests)
            share = float(done.present.values.sum()) / total if total else 0.0
            response_times = recorded.counter(timed[name]) if name in timed else None
            yield DriverOperation(name, subject, done, response_times, share)


def is_judged_by_objective(findings: Sequence[Finding], signal: str) -> bool:
    """Return whether an objective in plimsoll.toml judges a signal whose name holds `signal`."""
    of_objective = (finding for finding in findings if finding.pack.pack == OBJECTIVE)
    return any(signal in finding.rule.signal and finding.outcome in JUDGED for finding in of_objective)


def find_first(recorded: RecordedSignals, signal: str) -> Samples | None:
    """Return the samples of a signal of the first load driver; None if it was not recorded."""
    return next(iter(recorded.of(signal).values()), None)


def find_field(recorded: RecordedSignals, field: str) -> Samples | None:
    """Return the samples of a field of the load driver that no signal has; None if it was not recorded."""
    of_driver = (series for series in recorded.series if series.measurement == LOAD_DRIVER[0] and series.field == field)
    return next(map(recorded.counter, of_driver), None)


def match_times(first: Samples, second: Samples) -> tuple[Times, Values, Values]:
    """Return the times (UTC ns) that both have, and the values of each at them."""
    times, rows, other_rows = np.intersect1d(first.times, second.times, return_indices=True)
    return times, first.values[rows], second.values[other_rows]
