"""What stands beside the conclusion: how long requests took, and processors spent on switching between threads.

"Measurement and Analysis of LDAP Performance" (Wang and others) splits the response of a directory into connecting and
processing: connecting dominates where the server is saturated, and Nagle's algorithm adds about 50 ms at any load.
"Site Server 3.0 Membership Directory: capacity and performance" has the example of switching: 130.55 to 142.33
searches/s took 7,599 to 15,054 switches/s.
"""

from collections.abc import Iterator

import numpy as np

from plimsoll.analysis.response import middle
from plimsoll.analysis.scalability import latency_knee
from plimsoll.insights.bottleneck.evidence import Evidence
from plimsoll.insights.bottleneck.measured import median_in
from plimsoll.insights.bottleneck.phrases import figure_text
from plimsoll.insights.bottleneck.resource_use import Figure, figure_of
from plimsoll.model.log import Values
from plimsoll.model.value_text import number, quantity

Reason = tuple[str, tuple[Figure, ...]]
_STUDY = "Measurement and Analysis of LDAP Performance"
_NAGLE = (38.0, 70.0)  # ms
_CONSTANT = 1.3  # times
_NOTICED = 0.5  # of the limit of a latency
# The studies' rule: twice the switches for less than a tenth more work.
_SWITCHES, _WORK = 1.9, 1.1


def latencies(case: Evidence) -> Iterator[Reason]:
    """Sentences about the latency of directories and of other servers, with their figures."""
    measured, load = case.measured, case.load
    for subject, connect in measured.of("ldap.connect_latency").items():
        processing = measured.on("ldap.processing_latency", subject.host).get(subject)
        if processing is None:
            continue
        pair = tuple(
            figure_of(measured, load, name, subject, values, compared=False)
            for name, values in (("ldap.connect_latency", connect), ("ldap.processing_latency", processing))
        )
        if not any(np.isnan(figure.value) for figure in pair):
            yield _split(pair), pair
        if _is_constant(processing):
            text = f"A search took about {number(float(np.nanmedian(processing)))} ms at any load"
            yield f"{text}: Nagle's algorithm adds about 50 ms ({_STUDY}, Effect of Nagle Algorithm).", pair[1:]
    yield from _knee(case)


def _split(pair: tuple[Figure, ...]) -> str:
    connect, processing = pair
    text = f"The latency of {connect.subject.host}: {figure_text(connect, connect.subject.host, brief=True)}"
    text += f", {figure_text(processing, processing.subject.host, brief=True)}"
    if connect.value > processing.value and connect.before is not None and connect.value > connect.before:
        return f"{text}; connecting dominates, as it does where a directory is saturated ({_STUDY}, Conclusion)."
    return f"{text}."


def _is_constant(processing: Values) -> bool:
    """Return whether it stays where Nagle's algorithm puts it, whatever the load."""
    filled = processing[np.isfinite(processing)]
    if len(filled) < 5:
        return False
    low, high = np.percentile(filled, [5, 95])
    return bool(_NAGLE[0] <= low and high <= min(_NAGLE[1], _CONSTANT * low))


def _knee(case: Evidence) -> Iterator[Reason]:
    work = case.load.work
    if work is None or work.kind != "operations":
        return
    rate = case.measured.parts.means(work.samples)
    for signal in case.measured.response_times:
        for subject, values in case.measured.of(signal).items():
            result = latency_knee(rate, values)
            current = case.measured.review.question.signals[signal]
            bound = case.measured.bound(signal, subject)
            if result is None or (bound is not None and result.at_highest < _NOTICED * bound.limit):
                continue
            unit, per = current.unit, work.signal.unit
            yield (
                f"{current.title} of {subject} stayed near {quantity(result.flat, unit)} up to "
                f"{quantity(result.rate, per)}, {round(100 * result.rate / result.highest)} % of the highest rate "
                f"({quantity(result.highest, per)}), where it was {quantity(result.at_highest, unit)}.",
                (figure_of(case.measured, case.load, signal, subject, values, compared=False),),
            )
            return


def switching(case: Evidence) -> Iterator[tuple[str, tuple[Figure, ...]]]:
    """Yield a sentence for each host whose context switches doubled for less than a tenth more work."""
    load, measured = case.load, case.measured
    if load.offered is None or load.work is None:
        return
    part = middle(measured.parts.means(load.offered.samples))
    work = measured.parts.means(load.work.samples)
    if not part.any() or median_in(work, load.top) >= _WORK * median_in(work, part):
        return
    for subject, values in measured.of("cpu.context_switches").items():
        before, after = median_in(values, part), median_in(values, load.top)
        if after >= _SWITCHES * before > 0:
            figure = figure_of(measured, load, "cpu.context_switches", subject, values, compared=False)
            yield (
                f"Context switches of {subject.host} went from {quantity(before, '/s')} to {quantity(after, '/s')} for "
                f"hardly more work: processors are spent on switching between threads.",
                (figure,),
            )
