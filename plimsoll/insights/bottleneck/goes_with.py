"""Which counters response times go with, by rank correlation. That they go together does not say which causes which."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plimsoll.analysis.significance import RankCorrelation, rank_correlation
from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import Measured
from plimsoll.insights.bottleneck.resource_use import Figure, figure_of
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
    "ad.atq_queued",
    "iis.queue_length",
    "iis.requests_queued",
)


@dataclass(frozen=True)
class GoesWith:
    """A response time and the counters that it goes with, the strongest first; `lag_s` is by how much they lead."""

    response: Figure
    related: tuple[tuple[Figure, RankCorrelation, float], ...]


def goes_with(measured: Measured, load: LoadResponse) -> GoesWith | None:
    """Return the counters that the response time that varies most goes with; None if there are none."""
    response = _response(measured)
    if response is None:
        return None
    signal, subject, times = response
    items: list[tuple[RankCorrelation, str, Subject]] = []
    for name, other, values in _candidates(measured, signal):
        related = rank_correlation(values, times, _MOST_LAG)
        if related is not None and related.real and abs(related.coefficient) >= _STRONG:
            items.append((related, name, other))
    items.sort(key=lambda pair: -abs(pair[0].coefficient))
    strongest: dict[str, tuple[RankCorrelation, Subject]] = {}
    for related, name, other in items:
        strongest.setdefault(name, (related, other))
    if not strongest:
        return None
    start, end = measured.parts.edges(0)
    return GoesWith(
        figure_of(measured, load, signal, subject, times, compared=False),
        tuple(
            (
                figure_of(measured, load, name, other, measured.of(name)[other], compared=False),
                related,
                related.lag * (end - start) / 1e9,
            )
            for name, (related, other) in list(strongest.items())[:_MOST]
        ),
    )


def _response(measured: Measured) -> tuple[str, Subject, Values] | None:
    """Return the response time that varies most of those recorded."""
    items = [
        (signal, subject, values)
        for signal in measured.response_times
        for subject, values in measured.of(signal).items()
        if np.isfinite(values).sum() > 3
    ]
    return max(items, key=lambda pair: _spread(pair[2]), default=None)


def _spread(values: Values) -> float:
    low, high = np.nanpercentile(values, [10, 90])
    return float(high / low) if low > 0 else 0.0


def _candidates(measured: Measured, signal: str) -> Iterator[tuple[str, Subject, Values]]:
    item = (
        (name, subject, values) for name in _WITH if name != signal for subject, values in measured.of(name).items()
    )
    for at, pair in enumerate(item):
        if at == _MOST_SERIES:
            return
        yield pair
