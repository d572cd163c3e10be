"""The results of the load driver in one line, for runs without an objective."""

from collections.abc import Iterator

import numpy as np

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.samples import Samples
from plimsoll.model.value_text import quantity
from plimsoll.review.findings import JUDGED
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review

_DONE, _FAILED = "client.requests", "client.errors"
_DONE_OF_ONE, _FAILED_OF_ONE = "client.operation_requests", "client.operation_errors"
_TIMES = (("p50", "client.response_p50"), ("p95", "client.response_p95"), ("p99", "client.response_p99"))


def client_results(review: Review) -> str:
    """Return `Clients: 21 /s, p50 330 ms, p95 633 ms, p99 809 ms, 2 % failed (above all POST /checkout, 85 %).`

    Rates are means of the whole recording. A percentile is the mean of the percentiles that the load driver recorded,
    weighted by their requests. The text is empty without results of a load driver, or if an objective judges them.
    """
    if any(finding.pack.pack == OBJECTIVE and finding.outcome in JUDGED for finding in review.findings):
        return ""
    parts = ", ".join(_parts(review.signals))
    return f"Clients: {parts}." if parts else ""


def _parts(recorded: RecordedSignals) -> Iterator[str]:
    done = _first(recorded, _DONE)
    if done is None or not done.values.any():
        return
    yield quantity(float(done.values.mean()), "/s")
    for name, signal in _TIMES:
        if (times := _first(recorded, signal)) is not None:
            _, at, other = np.intersect1d(done.times, times.times, return_indices=True)
            if done.values[at].any():
                yield f"{name} {quantity(float(np.average(times.values[other], weights=done.values[at])), 's')}"
    if (failed := _first(recorded, _FAILED)) is not None:
        share = float(failed.values.sum() / done.values.sum())
        yield f"{quantity(100 * share, '%')} failed{_most_failed(recorded, share)}"


def _most_failed(recorded: RecordedSignals, share: float) -> str:
    """Return a clause on the operation with the highest share of failures, if twice the overall share; else empty."""
    done = {subject.instance: samples.present.values.sum() for subject, samples in recorded.of(_DONE_OF_ONE).items()}
    failed = recorded.of(_FAILED_OF_ONE).items()
    shares = [
        (float(samples.present.values.sum() / done[subject.instance]), subject.instance)
        for subject, samples in failed
        if done.get(subject.instance)
    ]
    worst, operation = max(shares, default=(0.0, ""))
    return f" (above all {operation}, {quantity(100 * worst, '%')})" if share and worst >= 2 * share else ""


def _first(recorded: RecordedSignals, name: str) -> Samples | None:
    """Return the samples of a signal from the first load driver that has any; None if no load driver has."""
    return next((samples.present for samples in recorded.of(name).values() if len(samples.present.values)), None)
