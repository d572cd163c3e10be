"""The section on regular spikes, trends and averages that mislead."""

from dataclasses import dataclass

import numpy as np

from plimsoll.insights.insights import Diagnosis
from plimsoll.insights.spikes.find import PeriodicSpikes
from plimsoll.insights.trends.find import SignalTrend
from plimsoll.model.samples import Samples
from plimsoll.model.times import Zone
from plimsoll.report.html.chart import Chart, Charts, Limit, Line
from plimsoll.report.wording import clock
from plimsoll.review.sentences import limit_of

_MOST_DRAWN = 3  # of each kind
_MOST_TOLD = 5


@dataclass(frozen=True)
class Told:
    """What is told of one rhythm or trend, with a chart if it is among the first."""

    sentences: tuple[str, ...]
    chart: Chart | None


@dataclass(frozen=True)
class SpikesAndTrends:
    """The section; `hidden` is how many more are in the JSON."""

    spikes: tuple[Told, ...]
    trends: tuple[Told, ...]
    averages: tuple[str, ...]
    hidden: int


def spikes_and_trends(diagnosis: Diagnosis, charts: Charts | None, zone: Zone) -> SpikesAndTrends | None:
    """The section; None if there is nothing to tell."""
    notable = [one for one in diagnosis.trends if one.notable]
    every = (diagnosis.spikes, notable, diagnosis.averages)
    if charts is None or not any(every):
        return None
    return SpikesAndTrends(
        tuple(
            Told(_of_spikes(one, diagnosis, zone), _spikes_chart(one, diagnosis, charts) if at < _MOST_DRAWN else None)
            for at, one in enumerate(diagnosis.spikes[:_MOST_TOLD])
        ),
        tuple(
            Told((one.sentence,), _trend_chart(one, diagnosis, charts) if at < _MOST_DRAWN else None)
            for at, one in enumerate(notable[:_MOST_TOLD])
        ),
        tuple(one.sentence for one in diagnosis.averages[:_MOST_TOLD]),
        sum(max(0, len(some) - _MOST_TOLD) for some in every),
    )


def _of_spikes(one: PeriodicSpikes, diagnosis: Diagnosis, zone: Zone) -> tuple[str, ...]:
    starts = one.main.events.starts
    first, last = (clock(diagnosis.review, zone, int(at)) for at in (starts[0], starts[-1]))
    when = f"The first began at {first}, the last at {last}."
    return tuple(text for text in (one.sentence, one.with_it, one.consequence, when) if text)


def _spikes_chart(one: PeriodicSpikes, diagnosis: Diagnosis, charts: Charts) -> Chart:
    """The signal that shows the rhythm best."""
    main = one.main
    samples = diagnosis.review.signals.of(main.name)[main.subject]
    title = f"{main.signal.title} of {main.subject}"
    return charts.add([Line(title, "samples", samples)], main.signal.unit, title)


def _trend_chart(one: SignalTrend, diagnosis: Diagnosis, charts: Charts) -> Chart:
    """The signal, the line through it, and the limit if the line reaches it."""
    samples = diagnosis.review.signals.of(one.name)[one.subject].between(one.start, one.end)
    title = f"{one.signal.title} of {one.subject}"
    ends = Samples(np.array([one.start, one.end]), np.array([one.trend.start, one.trend.end]))
    limits = [Limit.of(limit_of(one.limit).limit, one.signal.unit)] if one.limit and one.reaches_s else []
    lines = [Line("trend", "judged", ends, "trend"), Line(title, "samples", samples)]
    return charts.add(lines, one.signal.unit, f"{title} and its trend", limits=limits)
