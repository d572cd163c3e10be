"""Failures in the results of a load driver: of all requests, of each operation, of checks, and dropped iterations."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.filters import find_runs, smooth_mean
from plimsoll.model.log import Times, Values
from plimsoll.model.remark import join_names
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_value
from plimsoll.review.findings import Finding
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import (
    DONE,
    DriverClause,
    DriverTest,
    find_field,
    is_judged_by_objective,
    list_operations,
    list_tests,
)

# Our choices.
_MANY_FAILED = 0.05  # of all requests, or of an operation's: the system did not do what it was asked for
_SOME_FAILED = 0.01  # from here on it is said
_USUALLY_FAILED = 0.5  # of those of one operation: it does not work
_SPANS = (1, 2, 0.2), (5, 5, 0.1)  # minutes, of which so many in all, with so large a share of failures in each
_ENOUGH_FAILED = 10
_THROUGHOUT, _MOSTLY = 0.75, 0.5  # of a test, and of its failures: such times are said with their length
_MINUTE, _EXACT = 60 * SECOND, 600 * SECOND  # from here on whole minutes, as chance moves the ends by steps
_OBJECTIVE, _SEE = "set how many may fail under [objective] in plimsoll.toml", "see which, and why"
_FAILED, _FAILED_OF_ONE, _SHARE = "client.errors", "client.operation_errors", "client.error_share"
_BESIDE_REQUESTS = ("checks", "failed_checks", "failed"), ("iterations", "dropped_iterations", "were dropped")
_MOST_NAMED = 3


class _Failures(NamedTuple):
    """The share of failures in a test, and for how long (ns) it was so; 0 for throughout."""

    share: float
    length: int
    place: str

    def describe(self, of: str, verb: str = "failed") -> str:
        """Return a clause: `48 % of the requests of “Pay” failed for 12 min in test 2 of 2`."""
        lasts = f" for {format_duration(self.length)}" if self.length else ""
        return f"{format_value(100 * self.share, '%')} of the {of} {verb}{lasts}{self.place}"


class _Requests(NamedTuple):
    """The rates (per s) of answered requests, and of failed requests among them, in steps of `step` ns."""

    times: Times
    done: Values
    failed: Values
    step: int

    @property
    def share(self) -> float:
        """The share of the answered requests that failed."""
        return float(self.failed.sum() / self.done.sum())

    def find_failures(self, test: DriverTest) -> _Failures | None:
        """Return the failures in a test if they are many: in all, or in some spans of it; else None."""
        inside = (self.times >= test.start) & (self.times <= test.end)
        part = _Requests(self.times[inside], self.done[inside], self.failed[inside], self.step)
        if not part.done.any():
            return None
        is_many = part.share >= _MANY_FAILED and part.failed.sum() * self.step >= _ENOUGH_FAILED * SECOND
        spans = [span for span in (part.find_bad_spans(*kind) for kind in _SPANS) if span]
        length, share, of_all = max(spans, default=(0, 0.0, 0.0))
        if is_many and (of_all < _MOSTLY or length > _THROUGHOUT * (test.end - test.start)):
            return _Failures(part.share, 0, test.place)
        return _Failures(share, length, test.place) if spans else None

    def find_bad_spans(self, minutes: int, least: int, often: float) -> tuple[int, float, float] | None:
        """Return the time (ns) in which the share `often` and more failed in spans of `minutes`, and the share of it.

        The time is from the first to the last failing step in and beside such spans. Last comes the share of all
        failures that are in them. Return None if the spans have less than `least` minutes together.
        """
        span = (self.times - self.times[0]) // (minutes * _MINUTE)
        span = np.minimum(span, max(0, span[-1] - 1))  # the last span, which may be short, belongs to the one before
        done, failed = (np.bincount(span, weights=values) for values in (self.done, self.failed))
        bad = (failed >= often * done) & (failed * self.step >= _ENOUGH_FAILED * SECOND)
        if minutes * int(bad.sum()) < least:
            return None
        # They began and ended within the spans beside: half the share, around each step, still belongs to them.
        around = min(max(1, _MINUTE // self.step), len(self.done))
        near = smooth_mean(self.failed, around) >= often / 2 * smooth_mean(self.done, around)
        fails = (self.failed > 0) & (self.failed >= often / 2 * self.done)
        runs = [run for run in find_runs(near) if bad[span[slice(*run)]].any() and fails[slice(*run)].any()]
        rows = [first + np.flatnonzero(fails[first:stop]) for first, stop in runs]
        ranges = [slice(int(row[0]), int(row[-1]) + 1) for row in rows]
        all_done, all_failed = (sum(float(values[row].sum()) for row in ranges) for values in (self.done, self.failed))
        length = sum(row.stop - row.start for row in ranges) * self.step
        length = length if length < _EXACT else round(length / _MINUTE) * _MINUTE
        return length, all_failed / all_done, all_failed / float(failed.sum())


def judge_failures(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[DriverClause]:
    """Yield clauses on failures: doubts if many failed in a test or some minutes of it, sentences if some did.

    Operations are named beside all requests, or judged by the same rules; those with few of the requests make a doubt
    only if most of theirs failed. An objective judges requests instead, but neither checks nor iterations.
    """
    tests = [test for done in recorded.of(DONE).values() for test in list_tests(done)]
    for done, bad, verb in _BESIDE_REQUESTS:
        other = _combine_requests(find_field(recorded, done), find_field(recorded, bad))
        for failed in _find_in_tests(other, tests):
            yield DriverClause(failed.describe(f"{done} of the load driver", verb), _SEE)
    done, bad = (next(iter(recorded.of(name).values()), None) for name in (DONE, _FAILED))
    requests = None if is_judged_by_objective(findings, _SHARE) else _combine_requests(done, bad)
    if not requests:
        return
    failed_of = {subject.key: samples for subject, samples in recorded.of(_FAILED_OF_ONE).items()}
    single = [
        (one, failed)
        for one in list_operations(recorded)
        for failed in _find_in_tests(_combine_requests(one.done, failed_of.get(one.subject.key)), tests)
    ]
    of_all = _find_in_tests(requests, tests)
    broken = [f"{format_value(100 * f.share, '%')} of “{one.name}”" for one, f in single if f.share >= _USUALLY_FAILED]
    most = f", above all {join_names(broken, _MOST_NAMED)}" if broken else ""
    for failed in of_all:
        yield DriverClause(f"{failed.describe('requests of the load driver')}{most}", _OBJECTIVE)
    if of_all:
        return
    doubtful = [one.is_main or failed.share >= _USUALLY_FAILED for one, failed in single]
    clauses = [failed.describe(f"requests of “{one.name}”") for one, failed in single]
    for advice, is_chosen in ((_OBJECTIVE, True), ("", False)):
        if chosen := [clause for clause, is_doubt in zip(clauses, doubtful, strict=True) if is_doubt == is_chosen]:
            yield DriverClause(join_names(chosen, _MOST_NAMED), advice)
    if requests.share >= _SOME_FAILED and not any(doubtful):
        share = _Failures(requests.share, 0, "").describe("requests of the load driver")
        yield DriverClause(f"{share}, and no objective says how many may")


def _find_in_tests(requests: _Requests | None, tests: Sequence[DriverTest]) -> list[_Failures]:
    return [failed for test in tests if (failed := requests.find_failures(test))] if requests else []


def _combine_requests(done: Samples | None, failed: Samples | None) -> _Requests | None:
    """Return the rates of requests at the times of both; None if one was not recorded, or without requests."""
    if done is None or failed is None:
        return None
    step = done.interval or _MINUTE
    done, failed = done.present, failed.present
    times, at, other = np.intersect1d(done.times, failed.times, return_indices=True)
    return _Requests(times, done.values[at], failed.values[other], step) if done.values[at].any() else None
