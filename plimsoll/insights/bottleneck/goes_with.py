"""The counters that are correlated (by ranks) with a response time; a correlation does not say which causes which."""

from itertools import islice

import numpy as np

from plimsoll.analysis.significance import RankCorrelation, rank_correlation
from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import Measured
from plimsoll.insights.bottleneck.resource_use import Figure, make_figure
from plimsoll.insights.leading_signals import list_response_times
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.log import Values
from plimsoll.rules.subjects import Subject

_MOST = 3
_MOST_LAG = 2  # parts of the run
_STRONG = 0.6
_MOST_SERIES = 200
_WITH = (  # the counters that are tried
    "cpu.busy",
    "cpu.queue_length",
    "cpu.load",
    "cpu.context_switches",
    "cpu.iowait",
    "memory.pages",
    "memory.swapped_in",
    "memory.major_faults",
    "disk.queue_length",
    "disk.read_latency",
    "disk.write_latency",
    "disk.latency",
    "disk.reads",
    "disk.writes",
    "network.bytes",
    "sql.lock_wait_time",
    "sql.latch_wait",
    "sql.memory_grants_pending",
    "sql.page_io_waits",
    "sql.log_write_waits",
    "sql.memory_grant_waits",
    "sql.parallel_waits",
    "ad.atq_queued",
    "iis.queue_length",
    "iis.requests_queued",
)


@dataclass(frozen=True)
class GoesWith:
    """A response time, and the counters correlated with it, the strongest first.

    `related` has for each counter its figure, its correlation, and how long the counter leads the response time (s).
    """

    response: Figure
    related: tuple[tuple[Figure, RankCorrelation, float], ...]


def find_correlated(measured: Measured, load: LoadResponse) -> GoesWith | None:
    """Return the response time that varies most, with its correlated counters; None without such counters."""
    responses = [
        (signal, subject, values)
        for signal in list_response_times(measured.review.question.signals)
        for subject, values in measured.of(signal).items()
        if np.isfinite(values).sum() > 3
    ]
    if not responses:
        return None
    signal, subject, times = max(responses, key=lambda response: _compute_spread(response[2]))
    counters = (
        (name, other, values) for name in _WITH for other, values in measured.of(name).items() if name != signal
    )
    correlations = [
        (related, name, other)
        for name, other, values in islice(counters, _MOST_SERIES)
        if (related := rank_correlation(values, times, _MOST_LAG)) is not None
        and related.real
        and abs(related.coefficient) >= _STRONG
    ]
    strongest: dict[str, tuple[RankCorrelation, Subject]] = {}
    for related, name, other in sorted(correlations, key=lambda correlation: -abs(correlation[0].coefficient)):
        strongest.setdefault(name, (related, other))
    if not strongest:
        return None
    start, end = measured.parts.edges(0)
    return GoesWith(
        make_figure(measured, load, signal, subject, times, compared=False),
        tuple(
            (
                make_figure(measured, load, name, other, measured.of(name)[other], compared=False),
                related,
                related.lag * (end - start) / 1e9,
            )
            for name, (related, other) in list(strongest.items())[:_MOST]
        ),
    )


def _compute_spread(values: Values) -> float:
    low, high = np.nanpercentile(values, [10, 90])
    return float(high / low) if low > 0 else 0.0
