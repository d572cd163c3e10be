"""The results of the load driver in one line, for runs without an objective."""

from collections.abc import Iterator
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.model.value_text import format_value
from plimsoll.review.findings import JUDGED
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review

_DONE, _FAILED = "client.requests", "client.errors"
_DONE_OF_ONE, _FAILED_OF_ONE = "client.operation_requests", "client.operation_errors"
_TIMES = ("client.response_p50", "client.response_p95", "client.response_p99")
_SHARES = np.array([0.5, 0.95, 0.99])
_TRIED = 300  # response times, between which the share below them is close to linear


def describe_client_results(review: Review) -> str:
    """Return `Clients: 21 /s, p50, p95 and p99 about 330 ms, 633 ms, 809 ms, 2 % failed (above all POST /pay, 85 %).`

    Rates are means of the whole recording. Percentiles of response times are over all requests, estimated from the
    percentiles of time steps. The text is empty without results of a load driver, or if an objective judges them.
    """
    if any(finding.pack.pack == OBJECTIVE and finding.outcome in JUDGED for finding in review.findings):
        return ""
    parts = ", ".join(_list_parts(review.signals))
    return f"Clients: {parts}." if parts else ""


def _list_parts(recorded: RecordedSignals) -> Iterator[str]:
    done = _find_first(recorded, _DONE)
    if done is None or not done.values.any():
        return
    yield format_value(float(done.values.mean()), "/s")
    times = [series for signal in _TIMES if (series := _find_first(recorded, signal)) is not None]
    at = reduce(np.intersect1d, (series.times for series in (done, *times)))
    weights, *steps = (series.values[np.searchsorted(series.times, at)] for series in (done, *times))
    if len(steps) == len(_TIMES) and weights.any():
        texts = (format_value(seconds, "s") for seconds in _estimate_percentiles(np.array(steps), weights))
        yield f"p50, p95 and p99 about {', '.join(texts)}"
    if (failed := _find_first(recorded, _FAILED)) is not None:
        share = float(failed.values.sum() / done.values.sum())
        yield f"{format_value(100 * share, '%')} failed{_describe_most_failed(recorded, share)}"


def _estimate_percentiles(steps: NDArray[np.float64], counts: Values) -> Iterator[float]:
    """Yield the median, 95th and 99th percentile of the response times of all requests, from percentiles by step.

    `steps` has a row for each of the three percentiles and a column for each time step of the recording; `counts` are
    the numbers of requests in the steps.

    Within a step, logarithms of response times are taken to be linear between quantiles of the logistic distribution. A
    mean of percentiles would be far too low where a few steps are slow.
    """
    logs, scores = np.log(np.maximum(steps, 1e-6)), np.log(_SHARES / (1 - _SHARES))
    slopes = np.maximum(np.diff(logs, axis=0), 1e-6) / np.diff(scores)[:, np.newaxis]
    evenly = np.linspace(0, 1, _TRIED)
    at = np.sort([*np.quantile(logs, evenly), *(logs.min() + evenly * np.ptp(logs))])[:, np.newaxis]
    below = scores[1] + (at - logs[1]) / np.where(at < logs[1], *slopes)
    shares = np.average(1 / (1 + np.exp(-np.clip(below, -50, 50))), axis=1, weights=counts)
    yield from np.exp(np.interp(_SHARES, shares, at[:, 0])).tolist()


def _describe_most_failed(recorded: RecordedSignals, share: float) -> str:
    """Return a clause on the operation with the highest share of failures; empty if below twice the overall share."""
    done = {subject.instance: samples.present.values.sum() for subject, samples in recorded.of(_DONE_OF_ONE).items()}
    failed = recorded.of(_FAILED_OF_ONE).items()
    shares = [
        (float(samples.present.values.sum() / done[subject.instance]), subject.instance)
        for subject, samples in failed
        if done.get(subject.instance)
    ]
    worst, operation = max(shares, default=(0.0, ""))
    return f" (above all {operation}, {format_value(100 * worst, '%')})" if share and worst >= 2 * share else ""


def _find_first(recorded: RecordedSignals, name: str) -> Samples | None:
    """Return the samples of a signal from the first load driver that has any; None if no load driver has."""
    return next((samples.present for samples in recorded.of(name).values() if len(samples.present.values)), None)
