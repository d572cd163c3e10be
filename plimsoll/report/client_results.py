"""The results of the load driver in one line; of runs with an objective, only why requests failed."""

from collections.abc import Iterator
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import compute_median
from plimsoll.hosts.objective import PACK as OBJECTIVE
from plimsoll.model.samples import Samples
from plimsoll.model.series import LOAD_DRIVER
from plimsoll.model.times import SECOND
from plimsoll.model.value_text import format_value
from plimsoll.review.findings import JUDGED
from plimsoll.review.recorded_signals import RecordedSignals
from plimsoll.review.review import Review

_DONE, _FAILED = "client.requests", "client.errors"
_OPERATION_DONE, _OPERATION_FAILED = "client.operation_requests", "client.operation_errors"
_FIELDS = ("requests", "response_p50_s", "response_p95_s", "response_p99_s")
_LOCUST, _LOCUST_WINDOW_S = "Locust", 10.0  # its rows of a second have percentiles of the last ten
_SHARES = np.array([0.5, 0.95, 0.99])
_MOST_STEPS = 1_000  # of an operation: of more every second, every third, ... is taken
_FEW, _HUNDRED, _POINTS = 21, 100, 50  # requests of a step; points that stand for the distribution in one
_DIGITS = 9  # of logarithms: the last ones, and with them the order of equal points, depend on the processor
_WIDER = 2.0  # times as wide as the body of most steps: what is wider in one is of a few slow requests


def describe_client_results(review: Review) -> str:
    """Return `Clients: 21 /s, p50, p95 and p99 about 330 ms, 633 ms, 809 ms, 2 % failed (above all POST /pay, 85 %).`

    Reasons for failures follow, where they are known: `2 % failed: 102 with “404 Not Found”.` If an objective judges
    the results, only the reasons are returned: `Failed requests: 102 with “404 Not Found”.`

    Rates are means of the whole recording. Percentiles of response times are over all requests, estimated from the
    percentiles of time steps. The text is empty without results of a load driver.
    """
    reasons = ", ".join(f"{count:,} with “{reason}”" for reason, count in review.failure_reasons)
    if any(finding.pack.pack == OBJECTIVE and finding.outcome in JUDGED for finding in review.findings):
        return f"Failed requests: {reasons}." if reasons else ""
    is_of_locust = any(log.format == _LOCUST for log in review.logs)
    parts = ", ".join(_list_parts(review.signals, _LOCUST_WINDOW_S if is_of_locust else 0))
    return f"Clients: {': '.join(filter(None, (parts, reasons)))}." if parts else ""


def _list_parts(recorded: RecordedSignals, window: float) -> Iterator[str]:
    done = _find_first(recorded, _DONE)
    if done is None or not done.values.any():
        return
    yield format_value(float(done.values.mean()), "/s")
    if steps := _list_steps(recorded, window):
        texts = (format_value(seconds, "s") for seconds in _estimate_percentiles(*np.split(np.hstack(steps), [1])))
        yield f"p50, p95 and p99 about {', '.join(texts)}"
    if (failed := _find_first(recorded, _FAILED)) is not None:
        share = float(failed.values.sum() / done.values.sum())
        yield f"{format_value(100 * share, '%')} failed{_describe_most_failed(recorded, share)}"


def _list_steps(recorded: RecordedSignals, window: float) -> list[NDArray[np.float64]]:
    """Return the requests in each step, above their percentiles: of each operation if recorded, else of all together.

    The percentiles of a step are of the requests of at least `window` seconds.
    Percentiles of fast and slow operations together do not show how many requests lie between two of them.
    """
    for measurement in reversed(LOAD_DRIVER):
        tables: list[NDArray[np.float64]] = []
        series = [series for series in recorded.series if series.measurement == measurement]
        for tags in dict.fromkeys(column.tags for column in series):
            fields = {column.field: recorded.counter(column).present for column in series if column.tags == tags}
            if all(name in fields for name in _FIELDS):
                at = reduce(np.intersect1d, (fields[name].times for name in _FIELDS))
                table = np.array([fields[name].values[np.searchsorted(fields[name].times, at)] for name in _FIELDS])
                table[0] *= max((fields["requests"].interval or SECOND) / SECOND, window)
                tables.append(table[:, :: 1 + len(at) // _MOST_STEPS])
        if any(table[0].any() for table in tables):
            return tables
    return []


def _estimate_percentiles(counts: NDArray[np.float64], steps: NDArray[np.float64]) -> Iterator[float]:
    """Yield the median, 95th and 99th percentile of the response times of all requests, from percentiles by step.

    `steps` has a row for each of the three percentiles and a column for each time step and operation; `counts` has the
    numbers of requests in them, in one row.

    Logarithms of response times are taken to be linear between quantiles of the logistic distribution, at the share of
    the requests that a percentile stands for (Hazen's plotting position). Of up to 100 requests the highest percentile
    lies between the slowest two, so that it tells the slowest; of up to 21 both higher ones tell both. A mean of
    percentiles would be far too low where a few are slow.
    """
    number = np.maximum(counts[0].round(), 1)
    apart = np.maximum(number - 1, 1)
    knots = np.clip((_SHARES[:, np.newaxis] * (number - 1) + 0.5) / number, 0.01, 0.999)
    logs, scores = np.log(np.maximum(steps, 1e-6)), np.log(knots / (1 - knots))
    slopes = np.maximum(np.diff(logs, axis=0) / np.maximum(np.diff(scores, axis=0), 0.1), 0)
    at = ((np.arange(_POINTS) + 0.5) / _POINTS)[:, np.newaxis]
    score = np.log(at / (1 - at))
    body = np.minimum(slopes[0], _WIDER * compute_median(slopes[0]))  # else a few slow requests would widen all
    points = np.minimum(logs[0] + (score - scores[0]) * body, logs[1])
    points = np.where(score < scores[1], points, logs[1] + (score - scores[1]) * slopes[1])
    both = steps[1] - (0.95 * apart - apart + 1) * (steps[2] - steps[1]) / (0.04 * apart)
    further = np.maximum(np.log(np.maximum(number - 1.5, 0.5) / 1.5) - scores[1], 0)
    second = np.clip(np.where(number <= _FEW, both, np.exp(logs[1] + body * further)), steps[0], steps[2])
    slowest = second + (steps[2] - second) / np.maximum(1 - 0.01 * apart, 0.01)
    of_top = (number <= _HUNDRED) & (at * number >= number - 2)
    points = np.where(of_top, np.log(np.maximum(np.where(at * number < number - 1, second, slowest), 1e-6)), points)
    points = points.round(_DIGITS)
    order = np.argsort(points, axis=None, kind="stable")
    weights = np.broadcast_to(counts, points.shape).ravel()[order]
    middles = np.cumsum(weights) - weights / 2
    yield from np.interp(_SHARES * weights.sum(), middles, np.exp(points.ravel()[order])).tolist()


def _describe_most_failed(recorded: RecordedSignals, share: float) -> str:
    """Return a clause on the operation with the highest share of failures; empty if below twice the overall share."""
    done = {subject.instance: samples.present.values.sum() for subject, samples in recorded.of(_OPERATION_DONE).items()}
    failed = recorded.of(_OPERATION_FAILED).items()
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
