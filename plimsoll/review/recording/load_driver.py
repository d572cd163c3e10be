"""Doubts from the results of a load driver: failed requests, a load that ended early, a wrong clock."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plimsoll.analysis.lag import Lag, find_lag
from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Times, Values
from plimsoll.model.remark import Kind, Remark, join_names
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_value
from plimsoll.review.doubts import LEAST_SHARE_ABSENT, SHORTEST_ABSENCE, compute_long_absence
from plimsoll.review.findings import JUDGED, Doubt, Finding
from plimsoll.review.phases.found_phases import average_on_grid
from plimsoll.review.recorded_signals import RecordedSignals

_SENT, _ANSWERED = "client.requests_begun", "client.requests"
_WORK = ("cpu.busy", "web.requests")
_MOST = 30 * 60  # seconds: a larger offset means another time zone, and usually no common time
_MOST_ROWS = 20_000
_ALIKE = 2  # rows: below, the clocks agree


@dataclass(frozen=True)
class DriverClock:
    """How far (ns) the load driver's clock is behind the hosts' clocks (negative: ahead), with bounds of the estimate.

    `by` names the signal of a host from which the offset was estimated. `no_common_time`: the recordings of the load
    driver and of the hosts do not overlap.
    """

    offset: int = 0
    low: int = 0
    high: int = 0
    by: str = ""
    no_common_time: bool = False


# Our choices, except the first: a response within it does not break a user's flow of thought (Nielsen, "Usability
# Engineering", 1993, section 5.5).
_LONG_S = 1.0
_NOTABLE_S = 0.1  # section 5.5, too: a response within it seems to come at once
_TIMES = 3.0  # as long as before
_NO_MORE = 1.1  # times as many requests answered are no more
_FEWEST_PARTS = 4
_WAITED = "client.response_time"
_OBJECTIVE_OF_TIMES = "set how long they may take under [objective] in plimsoll.toml"


class _Waits(NamedTuple):
    """The answered requests (per s) and mean response times (s) in consecutive parts of a load, each `part` ns long."""

    done: Values
    waited: Values
    part: int

    def slowed(self, shortest: float) -> str:
        """Return a clause on the slowest part in which responses slowed down without more requests; else empty.

        The part's mean response time is at least `shortest` (s), and three times that of an earlier part with about as
        many requests.
        """
        for at in np.argsort(-self.waited).tolist() if len(self.done) >= _FEWEST_PARTS else ():
            after, before = float(self.waited[at]), self.waited[:at]
            alike = before[self.done[at] <= _NO_MORE * self.done[:at]]
            if after >= shortest and len(alike) and after >= _TIMES * float(alike.min()):
                took = (
                    f"{format_value(after, 's')} (mean of {format_duration(self.part)}) instead of "
                    f"{format_value(alike.min(), 's')}"
                )
                return f"took {took} at no higher rate"
        return ""


# Our choices.
_MANY_FAILED = 0.05  # of all requests: from here on the system did not do what it was asked for
_SOME_FAILED = 0.01  # from here on it is said
_USUALLY_FAILED = 0.5  # of those of one operation: it does not work
_OFTEN_FAILED = 0.2  # of the requests of a minute, of which enough failed to tell
_LONG_OFTEN, _PART = 0.1, 5  # of those of as many minutes together
_ENOUGH_FAILED = 10
_MINUTE = 60 * SECOND
_LONG_FAILED = 2  # minutes
_LEAST_LOAD = 0.1  # of the load that was reached: below there is next to none
_REACHED = 0.9  # the quantile that is taken for it
_OBJECTIVE = "set how many may fail under [objective] in plimsoll.toml"
_DONE, _FAILED, _SHARE = "client.requests", "client.errors", "client.error_share"
USERS = "client.users"
_DONE_OF_ONE, _FAILED_OF_ONE = "client.operation_requests", "client.operation_errors"
_MOST_NAMED = 3


def doubt_failures(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[Doubt]:
    """Yield a doubt if many requests failed: over the run, during some minutes, or of one operation.

    Yield none if an objective judges failures.
    """
    requests = _find_requests(recorded, findings)
    if requests is None:
        return
    bad, worst = _count_bad_minutes(requests, 1, _OFTEN_FAILED)
    long, worst_long = _count_bad_minutes(requests, _PART, _LONG_OFTEN)
    broken = [f"{format_value(100 * share, '%')} of “{name}”" for name, share in _list_broken_operations(recorded)]
    most = f", above all {join_names(broken, _MOST_NAMED)}" if broken else ""
    if requests.share >= _MANY_FAILED:
        yield Doubt(f"{_format_share(requests.share)} failed{most}", _OBJECTIVE)
    elif bad >= _LONG_FAILED:
        yield Doubt(f"up to {_format_share(worst)} failed for {bad:,} min{most}", _OBJECTIVE)
    elif long:
        yield Doubt(f"up to {_format_share(worst_long)} failed for {format_duration(long * _MINUTE)}{most}", _OBJECTIVE)
    elif broken:
        yield Doubt(f"of the requests of the load driver {join_names(broken, _MOST_NAMED)} failed", _OBJECTIVE)


def describe_failures(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a sentence on the share of failed requests from 1 % on, unless a doubt or an objective covers failures."""
    requests = _find_requests(recorded, findings)
    if requests and requests.share >= _SOME_FAILED and not any(doubt_failures(recorded, findings)):
        yield f"{_format_share(requests.share)} failed, and no objective says how many may."


def describe_early_ends(recorded: RecordedSignals, start: int, end: int) -> Iterator[str]:
    """Yield a sentence for each load driver whose load ended long before a run from `start` to `end` (UTC ns)."""
    for samples in recorded.of(_DONE).values():
        under_load = _find_times_under_load(samples)
        if not len(under_load):
            continue
        rest = end - max(int(under_load[-1]), _find_last_users(recorded))
        if rest > compute_long_absence(end - start):
            of = f"{format_duration(rest)} of {format_duration(end - start)}"
            yield f"The load driver had next to no requests answered in the last {of}: that part was not under load."


def _find_last_users(recorded: RecordedSignals) -> int:
    """Return when (UTC ns) enough users for a load were last at work; 0 if unknown."""
    return max((int(_find_times_under_load(users).max(initial=0)) for users in recorded.of(USERS).values()), default=0)


def _find_times_under_load(samples: Samples) -> Times:
    """Return the times at which enough requests were answered to count as a load; empty if none."""
    done = samples.present
    reached = float(np.quantile(done.values, _REACHED)) if len(done.values) else 0.0
    return done.times[done.values >= _LEAST_LOAD * reached] if reached else done.times[:0]


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


def _count_bad_minutes(requests: _Requests, minutes: int, often: float) -> tuple[int, float]:
    """Return in how many minutes at least the share `often` of requests failed, and the highest share.

    Requests are counted in spans of `minutes`.
    """
    minute = (requests.times - requests.times[0]) // (minutes * _MINUTE)
    minute = np.minimum(minute, max(0, minute[-1] - 1))  # the last span, which may be short, belongs to the one before
    done, failed = (np.bincount(minute, weights=values) for values in (requests.done, requests.failed))
    bad = (failed >= often * done) & (failed * requests.step >= _ENOUGH_FAILED * SECOND)
    return minutes * int(bad.sum()), float((failed[bad] / done[bad]).max(initial=0.0))


def _list_broken_operations(recorded: RecordedSignals) -> list[tuple[str, float]]:
    """Return the operations of which at least half of the requests failed, each with its share of failed requests."""
    failed_of = {subject.key: samples for subject, samples in recorded.of(_FAILED_OF_ONE).items()}
    broken: list[tuple[str, float]] = []
    for subject, done in recorded.of(_DONE_OF_ONE).items():
        failed = failed_of.get(subject.key)
        if failed is None:
            continue
        together = _combine_requests(done, failed)
        enough = together.failed.sum() * together.step >= _ENOUGH_FAILED * SECOND
        if enough and together.share >= _USUALLY_FAILED:
            broken.append((subject.instance or "", together.share))
    return broken


def _find_requests(recorded: RecordedSignals, findings: Sequence[Finding]) -> _Requests | None:
    """Return the rates of requests; None if they were not recorded, or if an objective judges failures."""
    judged = any(
        finding.pack.pack == OBJECTIVE and finding.rule.signal == _SHARE and finding.outcome in JUDGED
        for finding in findings
    )
    done, failed = (next(iter(recorded.of(name).values()), None) for name in (_DONE, _FAILED))
    if judged or done is None or failed is None:
        return None
    together = _combine_requests(done, failed)
    return together if together.done.any() else None


def _combine_requests(done: Samples, failed: Samples) -> _Requests:
    step = done.interval or _MINUTE
    done, failed = done.present, failed.present
    times, at, other = np.intersect1d(done.times, failed.times, return_indices=True)
    return _Requests(times, done.values[at], failed.values[other], step)


def _format_share(share: float) -> str:
    return f"{format_value(100 * share, '%')} of the requests of the load driver"


def doubt_slowed_responses(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[Doubt]:
    """Yield a doubt if responses took far longer in a later part of the load while no more requests were answered."""
    waits = _find_waits(recorded, findings)
    if waits is not None and (clause := waits.slowed(_LONG_S)):
        yield Doubt(f"requests of the load driver {clause}", _OBJECTIVE_OF_TIMES)


def describe_slow_responses(recorded: RecordedSignals, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield sentences on slow responses, unless a doubt or an objective covers response times."""
    waits = _find_waits(recorded, findings)
    if waits is None or any(doubt_slowed_responses(recorded, findings)):
        return
    if clause := waits.slowed(_NOTABLE_S):
        yield f"Requests of the load driver {clause}; no objective limits that."
    mean = float(np.average(waits.waited, weights=waits.done))
    if mean >= _LONG_S:
        yield f"Requests of the load driver took {format_value(mean, 's')} in the mean, and no objective limits that."


def _find_waits(recorded: RecordedSignals, findings: Sequence[Finding]) -> _Waits | None:
    """Return the response times in parts of the load; None if not recorded, or judged by an objective."""
    judged = any(
        finding.pack.pack == OBJECTIVE and "response" in finding.rule.signal and finding.outcome in JUDGED
        for finding in findings
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


def find_clock_offset(signals: RecordedSignals) -> DriverClock | None:
    """Return the offset of the load driver's clock; None if it is uncertain or near 0, or without a load driver."""
    requested = _find_requested(signals)
    if requested is None:
        return None
    if is_without_common_time(signals):
        return DriverClock(no_common_time=True)
    sent = requested.present
    lags = [
        (name, lag, _choose_step(sent, samples))
        for name, samples in _list_work(signals)
        if (lag := _find_lag(sent, samples))
    ]
    if not lags:
        return None
    name, best, step = min(lags, key=lambda pair: (pair[1].high - pair[1].low) * pair[2])
    differ = any(abs(lag.best * length - best.best * step) > 2 * _ALIKE * max(step, length) for _, lag, length in lags)
    if differ or (best.low <= _ALIKE and best.high >= -_ALIKE):
        return None
    return DriverClock(best.best * step, best.low * step, best.high * step, name)


def is_without_common_time(signals: RecordedSignals) -> bool:
    """Return whether the recordings of the load driver and of the hosts do not overlap."""
    samples, work = _find_requested(signals), [samples.present.times for _, samples in _list_work(signals)]
    sent = samples.present.times if samples is not None and work else None
    return sent is not None and all(times[-1] < sent[0] or times[0] > sent[-1] for times in work)


def _find_requested(signals: RecordedSignals) -> Samples | None:
    return next((samples for name in (_SENT, _ANSWERED) for samples in signals.of(name).values()), None)


def _list_work(signals: RecordedSignals) -> list[tuple[str, Samples]]:
    return [(f"{name} of {subject.host}", samples) for name in _WORK for subject, samples in signals.of(name).items()]


def remark_clock(clock: DriverClock | None) -> Iterator[Remark]:
    """Yield a remark if the load driver's clock differs from the hosts' clocks; no times are changed."""
    if clock is None:
        return
    if clock.no_common_time:
        yield Remark(
            Kind.NOTED,
            "the results of the load driver and the recordings of the hosts have no time in common; "
            "are they of one run, and are zones and clocks right?",
        )
        return
    behind = "behind" if clock.offset > 0 else "ahead of"
    low, high = sorted((abs(clock.low), abs(clock.high)))
    yield Remark(
        Kind.NOTED,
        f"the clock of the load driver seems to be {format_duration(abs(clock.offset))} {behind} those of the hosts "
        f"({format_duration(low)} to {format_duration(high)}): so its requests and {clock.by} fit each other best; "
        "its times were left as they are",
    )


def _choose_step(sent: Samples, work: Samples) -> int:
    return max(sent.interval or SECOND, work.interval or SECOND, SECOND)


def _find_lag(sent: Samples, work: Samples) -> Lag | None:
    """Return by how many steps the hosts' work follows the requests sent; None if unknown or the recording is too long.

    Outside the load driver's recording, requests count as 0.
    """
    step = _choose_step(sent, work)
    start = min(int(sent.times[0]), int(work.present.times[0]))
    end = max(int(sent.times[-1]), int(work.present.times[-1]))
    rows = (end - start) // step + 1
    if rows > _MOST_ROWS:
        return None
    requests = np.nan_to_num(average_on_grid(sent, start, step, rows))
    done = average_on_grid(work.present, start, step, rows)
    return find_lag(requests, done, int(min(_MOST * SECOND // step, rows // 3)))
