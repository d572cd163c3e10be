"""Which counters response times go with, by rank correlation. That they go together does not say which causes which."""

from collections.abc import Iterator

import numpy as np

from plimsoll.analysis.rank_correlation import RankCorrelation, rank_correlation
from plimsoll.insights.limits.case import Case
from plimsoll.insights.limits.figure import Figure, figure_of
from plimsoll.insights.limits.measured import RESPONSE_TIMES, WITH
from plimsoll.insights.limits.words import lower
from plimsoll.model.log import Values
from plimsoll.model.remark import listed
from plimsoll.rules.subjects import Subject

_MOST = 3
_MOST_LAG = 2  # parts of the run
_STRONG = 0.6
_MOST_SERIES = 200

Reason = tuple[str, tuple[Figure, ...]]


def goes_with(case: Case) -> Iterator[Reason]:
    """A sentence about the response time that varies most, if it goes with any counter."""
    response = _response(case)
    if response is None:
        return
    signal, subject, times = response
    found: list[tuple[RankCorrelation, str, Subject]] = []
    for name, other, values in _candidates(case, signal):
        related = rank_correlation(values, times, _MOST_LAG)
        if related is not None and related.real and abs(related.coefficient) >= _STRONG:
            found.append((related, name, other))
    found.sort(key=lambda one: -abs(one[0].coefficient))
    best: dict[str, tuple[str, Figure]] = {}
    for related, name, other in found:
        figure = figure_of(case.measured, case.load, name, other, case.measured.of(name)[other], compared=False)
        best.setdefault(name, (f"{lower(figure.title)} of {other} ({_worth(case, related)})", figure))
    if best:
        own = figure_of(case.measured, case.load, signal, subject, times)
        texts, figures = zip(*list(best.values())[:_MOST], strict=True)
        yield f"{own.title} of {subject} goes with {listed(texts, _MOST)}.", (own, *figures)


def _response(case: Case) -> tuple[str, Subject, Values] | None:
    """The response time that varies most of those recorded."""
    every = [
        (signal, subject, values)
        for signal in RESPONSE_TIMES
        for subject, values in case.measured.of(signal).items()
        if np.isfinite(values).sum() > 3
    ]
    return max(every, key=lambda one: _spread(one[2]), default=None)


def _spread(values: Values) -> float:
    low, high = np.nanpercentile(values, [10, 90])
    return float(high / low) if low > 0 else 0.0


def _candidates(case: Case, signal: str) -> Iterator[tuple[str, Subject, Values]]:
    every = (
        (name, subject, values) for name in WITH if name != signal for subject, values in case.measured.of(name).items()
    )
    for at, one in enumerate(every):
        if at == _MOST_SERIES:
            return
        yield one


def _worth(case: Case, related: RankCorrelation) -> str:
    text = f"rank correlation {related.coefficient:.2f}, worth {round(related.effective)} independent samples"
    if related.lag:
        start, end = case.measured.slots.edges(0)
        seconds = abs(related.lag) * (end - start) / 1e9
        text += f", {seconds:,.0f} s {'before' if related.lag > 0 else 'after'} it"
    return text
