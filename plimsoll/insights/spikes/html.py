"""Regular spikes in the HTML report."""

from plimsoll.charts.chart import Chart, Charts, Line
from plimsoll.insights.drawn import entries
from plimsoll.insights.insight import Section
from plimsoll.insights.spikes import words
from plimsoll.insights.spikes.find import PeriodicSpikes
from plimsoll.model.times import Zone
from plimsoll.review.review import Review
from plimsoll.review.sentences import titled


def section(review: Review, found: tuple[PeriodicSpikes, ...], charts: Charts | None, zone: Zone) -> Section | None:
    """The first rhythms, each with a chart of the signal that shows it best."""
    if charts is None:
        return None
    return entries(found, lambda one: _sentences(one, review, zone), lambda one: _chart(one, review, charts))


def _sentences(one: PeriodicSpikes, review: Review, zone: Zone) -> tuple[str, ...]:
    starts = one.main.events.starts
    first, last = (review.clock(zone, int(at)) for at in (starts[0], starts[-1]))
    when = f"The first began at {first}, the last at {last}."
    return tuple(text for text in (words.sentence(one), words.with_it(one), words.consequence(one), when) if text)


def _chart(one: PeriodicSpikes, review: Review, charts: Charts) -> Chart:
    main = one.main
    samples = review.signals.of(main.name)[main.subject]
    title = titled(main.signal.title, main.subject)
    return charts.add([Line(title, "samples", samples)], main.signal.unit, title)
