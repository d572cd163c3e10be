"""Failures in the results of a load driver: of all requests, of each operation, of checks, and dropped iterations."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import find_runs, smooth_mean
from plimsoll.model.log import Times, Values
from plimsoll.model.remark import join_names
from plimsoll.model.samples import Samples
from plimsoll.model.series import LOAD_DRIVER
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_value
from plimsoll.review.findings import Finding
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.recording.driver_tests import (
    MOST_NAMED,
    REQUESTS,
    DriverClause,
    DriverTest,
    find_field,
    find_first,
    is_judged_by_objective,
    list_operations,
    list_tests,
    match_times,
)

# Our choices.
_MANY_FAILED = 0.05  # of all requests, or of an operation's: the system did not do what it was asked for
_SOME_FAILED = 0.01  # from here on it is said
_USUALLY_FAILED = 0.5  # of those of an operation: it does not work
# Minutes, of which so many in all, with so large a share of failures in each; minutes on end; and minutes that even out
# chance.
_SPANS, _ON_END = ((1, 2, 0.2), (5, 5, 0.1)), (20, _MANY_FAILED)
_SMOOTH, _SMOOTH_ON_END = 1, 5
_ENOUGH_FAILED, _MANY = 10, 30  # requests; of an operation with few
_ABOVE_ALL, _BRIEF = 1.5, 0.25  # times the share of all; of the results: a burst of failures
_THROUGHOUT, _MOSTLY = 0.75, 0.5  # of a test, and of its failures: such times are said with their length, and reasons
_ALL = 0.99  # of its failures, whose number is rounded
_MINUTE, _EXACT = 60 * SECOND, 600 * SECOND  # from here on whole minutes, as chance moves the ends by steps
_OBJECTIVE, _SEE = "set how many may fail under [objective] in plimsoll.toml", "see which, and why"
_WHY = "see in the log of the server why they failed"
_ERRORS, _OPERATION_ERRORS, _ERROR_SHARE = "client.errors", "client.operation_errors", "client.error_share"
_BESIDE_REQUESTS = ("checks", "failed_checks", "failed"), ("iterations", "dropped_iterations", "were dropped")


class _Failures(NamedTuple):
    """The share of failures in a test, how many in all, and for how long (ns) it was so; 0 for throughout."""

    share: float
    failed: float
    length: int = 0
    test: DriverTest | None = None

    @property
    def advice(self) -> str:
        """What to do next: no objective allows so many failures that a thing does not work."""
        return _WHY if self.share >= _USUALLY_FAILED else _OBJECTIVE

    def describe(self, noun: str, verb: str = "failed") -> str:
        """Return a clause: `48 % of the requests of “Pay” failed for 12 min in test 2 of 2`."""
        lasts = f" for {format_duration(self.length)}" if self.length else ""
        return (
            f"{format_value(100 * self.share, '%')} of the {noun} {verb}{lasts}{self.test.place if self.test else ''}"
        )


class FailureReason(NamedTuple):
    """A reason, such as `404 Not Found`, for which so many requests failed."""

    reason: str
    requests: int


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

    @property
    def failures(self) -> float:
        """The number of failed requests."""
        return float(self.failed.sum()) * self.step / SECOND

    @property
    def burst(self) -> str:
        """A clause on the short time in which four fifths of the failures were; empty if they were spread."""
        of_all = np.cumsum(self.failed) / self.failed.sum()
        first, last = np.searchsorted(of_all, (0.1, 0.9)).tolist()
        length = (last + 1 - first) * self.step
        if length > _BRIEF * len(self.times) * self.step:
            return ""
        after = format_duration(int(self.times[first] - self.times[0]))
        return f", most of them within {format_duration(length)}, {after} after the first result"

    def find_failures(self, test: DriverTest) -> _Failures | None:
        """Return the failures in a test if they are many: in all, or in some spans of it; else None."""
        inside = (self.times >= test.start) & (self.times <= test.end)
        part = _Requests(self.times[inside], self.done[inside], self.failed[inside], self.step)
        if not part.done.any():
            return None
        is_many = part.share >= _MANY_FAILED and part.failures >= _ENOUGH_FAILED
        bad = [(part.mark_bad_spans(*kind), kind[2], _SMOOTH) for kind in _SPANS]
        bad.append((part.mark_bad_windows(*_ON_END), _MANY_FAILED, _SMOOTH_ON_END))
        spans = [part.measure_bad(*kind) for kind in bad if kind[0].any()]
        length, share, of_failures = max(spans, default=(0, 0.0, 0.0))
        if is_many and (of_failures < _MOSTLY or length > _THROUGHOUT * (test.end - test.start)):
            return _Failures(part.share, part.failures, 0, test)
        return _Failures(share, part.failures, length, test) if spans else None

    def mark_bad_spans(self, minutes: int, enough: int, share: float) -> NDArray[np.bool_]:
        """Return a mask of the steps in spans of `minutes` in which `share` or more failed.

        It marks none if these spans have less than `enough` minutes together.
        """
        span = (self.times - self.times[0]) // (minutes * _MINUTE)
        span = np.minimum(span, max(0, span[-1] - 1))  # the last span, which may be short, belongs to the one before
        done, failed = (np.bincount(span, weights=values) for values in (self.done, self.failed))
        bad = ((failed >= share * done) & (failed * self.step >= _ENOUGH_FAILED * SECOND))[span]
        return bad & ((int(bad.sum()) + 1) * self.step >= enough * _MINUTE)

    def mark_bad_windows(self, minutes: int, share: float) -> NDArray[np.bool_]:
        """Return a mask of the steps in any `minutes` on end in which `share` or more failed."""
        count = minutes * _MINUTE // self.step
        bad = np.zeros(len(self.done) + 1, dtype=np.int64)
        if count <= len(self.done):
            done, failed = (np.convolve(values, np.ones(count), "valid") for values in (self.done, self.failed))
            starts = np.flatnonzero((failed >= share * done) & (failed * self.step >= _ENOUGH_FAILED * SECOND))
            np.add.at(bad, starts, 1)
            np.subtract.at(bad, starts + count, 1)
        return np.cumsum(bad)[:-1] > 0

    def measure_bad(self, bad: NDArray[np.bool_], share: float, smooth: int) -> tuple[int, float, float]:
        """Return for how long (ns) `share` or more failed in and beside the `bad` steps, and the share that failed.

        The time is from the first to the last failing step. Last comes the share of all failures that are in it.
        """
        # They began and ended within the spans beside: half the share, around each step, still belongs to them.
        around = min(max(1, smooth * _MINUTE // self.step), len(self.done))
        near = smooth_mean(self.failed, around) >= share / 2 * smooth_mean(self.done, around)
        fails = (self.failed > 0) & (self.failed >= share / 2 * self.done)
        runs = [run for run in find_runs(near) if bad[slice(*run)].any() and fails[slice(*run)].any()]
        rows = [first + np.flatnonzero(fails[first:stop]) for first, stop in runs]
        ranges = [slice(int(row[0]), int(row[-1]) + 1) for row in rows]
        all_done, all_failed = (sum(float(values[row].sum()) for row in ranges) for values in (self.done, self.failed))
        length = sum(row.stop - row.start for row in ranges) * self.step
        length = length if length < _EXACT else round(length / _MINUTE) * _MINUTE
        return length, all_failed / all_done, all_failed / float(self.failed.sum())


def find_failure_reasons(recorded: RecordedSignals, test: DriverTest | None = None) -> list[FailureReason]:
    """Return the reasons for failures, in a test or in all, the most frequent first; empty if none were recorded."""
    counts = Counter[str]()
    for series in recorded.series:
        if series.measurement == LOAD_DRIVER[2]:
            samples = recorded.counter(series)
            counts[series.tag("reason") or ""] += int((test.cut(samples) if test else samples.present).values.sum())
    return [FailureReason(reason, count) for reason, count in counts.most_common(MOST_NAMED) if count]


def _describe_main_reason(recorded: RecordedSignals, failures: _Failures) -> str:
    """Return a clause on the reason for most failures: `, mostly with “404 Not Found”`; empty without such a reason."""
    reason, count = next(iter(find_failure_reasons(recorded, failures.test)), ("", 0))
    most = "" if count >= _ALL * failures.failed else "mostly "
    return f", {most}with “{reason}”" if count and count >= _MOSTLY * failures.failed else ""


def judge_failures(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[DriverClause]:
    """Yield clauses on failures: doubts if many failed in a test or some minutes of it, sentences if some did.

    An objective judges requests instead, but neither checks nor iterations.
    """
    tests = [test for done in recorded.of(REQUESTS).values() for test in list_tests(done)]
    for noun, field, verb in _BESIDE_REQUESTS:
        attempts = _combine_requests(find_field(recorded, noun), find_field(recorded, field))
        for failures in _find_in_tests(attempts, tests):
            yield DriverClause(failures.describe(f"{noun} of the load driver", verb), _SEE)
    if not is_judged_by_objective(findings, _ERROR_SHARE):
        yield from _judge_requests(recorded, tests)


def _judge_requests(recorded: RecordedSignals, tests: Sequence[DriverTest]) -> Iterator[DriverClause]:
    """Yield clauses on failed requests of all operations together; if these are not many, of each operation.

    Operations with few of the requests make a doubt only if most of theirs failed, or many.
    """
    requests = _combine_requests(find_first(recorded, REQUESTS), find_first(recorded, _ERRORS))
    if not requests:
        return
    errors = {subject.key: samples for subject, samples in recorded.of(_OPERATION_ERRORS).items()}
    single = [
        (operation, failures)
        for operation in list_operations(recorded)
        for failures in _find_in_tests(_combine_requests(operation.done, errors.get(operation.subject.key)), tests)
    ]
    if together := _find_in_tests(requests, tests):
        lowest_share = max(_USUALLY_FAILED, _ABOVE_ALL * max(failures.share for failures in together))
        worst = [pair for pair in single if pair[1].share >= lowest_share]
        broken = [f"{format_value(100 * failed.share, '%')} of “{operation.name}”" for operation, failed in worst]
        above_all = f", above all {join_names(broken, MOST_NAMED)}" if broken else ""
        for failures in together:
            reason = _describe_main_reason(recorded, failures)
            yield DriverClause(
                f"{failures.describe('requests of the load driver')}{above_all}{reason}", failures.advice
            )
        return
    clauses: dict[str, list[str]] = {_WHY: [], _OBJECTIVE: [], "": []}
    for operation, failures in single:
        is_doubt = operation.is_main or failures.share >= _USUALLY_FAILED or failures.failed >= _MANY
        clauses[failures.advice if is_doubt else ""].append(failures.describe(f"requests of “{operation.name}”"))
    yield from (DriverClause(join_names(texts, MOST_NAMED), advice) for advice, texts in clauses.items() if texts)
    if requests.share >= _SOME_FAILED and not clauses[_WHY] + clauses[_OBJECTIVE]:
        failures = _Failures(requests.share, requests.failures)
        share, reason = failures.describe("requests of the load driver"), _describe_main_reason(recorded, failures)
        yield DriverClause(f"{share}{requests.burst}{reason}, and no objective says how many may")


def _find_in_tests(requests: _Requests | None, tests: Sequence[DriverTest]) -> list[_Failures]:
    return [failures for test in tests if (failures := requests.find_failures(test))] if requests else []


def _combine_requests(done: Samples | None, failed: Samples | None) -> _Requests | None:
    """Return the rates of requests at the times of both; None if one was not recorded, or without requests."""
    if done is None or failed is None:
        return None
    requests = _Requests(*match_times(done.present, failed.present), done.interval or _MINUTE)
    return requests if requests.done.any() else None
