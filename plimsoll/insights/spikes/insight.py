"""Sentences about regular spikes."""

from plimsoll.insights.insights import BESIDE_LIMITS, Insight, statements
from plimsoll.insights.spikes.find import LimitInSpikes, PeriodicSpikes, Rising, SignalSpikes, periodic_spikes
from plimsoll.model.document import ChartBlock, ChartSeries, ChartSpec, Section, Statement
from plimsoll.model.remark import listed
from plimsoll.model.times import SECOND, Zone, duration_text
from plimsoll.model.value_text import quantity
from plimsoll.review.review import Review
from plimsoll.review.sentences import titled

_ROUND_S = (86_400, 3600, 1800, 900, 600, 300, 60, 30, 10, 5, 1, 0.1)  # a period is given in the first unit that fits
_MOST_NAMED = 4
_MOST_PROCESSES = 3


def _blocks(rhythms: tuple[PeriodicSpikes, ...], review: Review, zone: Zone) -> tuple[Section, ...]:
    """Return a section on the first rhythms, each with a chart of the signal that shows the rhythm best."""

    def statement(spikes: PeriodicSpikes, with_chart: bool) -> Statement:
        first, last = (review.clock(zone, instant) for instant in (spikes.first, spikes.last))
        times = f"The first began at {first}, the last at {last}."
        texts = (sentence(spikes), rising_text(spikes), consequence(spikes), times)
        main, title = spikes.main, _place(spikes.main)
        line = ChartSeries(title, "samples", review.signals.of(main.name)[main.subject])
        chart = ChartBlock(ChartSpec((line,), main.signal.unit, title)) if with_chart else None
        return Statement(tuple(filter(None, texts)), chart)

    return statements("Spikes at regular intervals", rhythms, statement)


def sentence(spikes: PeriodicSpikes) -> str:
    """Return a sentence on the signal that shows a rhythm best: how often it spikes, and how high."""
    main, unit = spikes.main, spikes.main.signal.unit
    beats = main.count + main.spikes.missing
    count = f"{main.count} in all" if not main.spikes.missing else f"{main.count} of {beats} beats"
    width = duration_text(round(main.spikes.width_s) * SECOND or int(main.spikes.width_s * SECOND))
    wholes = [(round(main.spikes.period_s / round_s), round_s) for round_s in _ROUND_S]
    possible = [n * s for n, s in wholes if n > 0 and abs(n * s - main.spikes.period_s) <= main.spikes.reach_s]
    period = duration_text(int(next(iter(possible), main.spikes.period_s) * SECOND))
    interval, alias = f"Every {period}", ""
    if main.spikes.may_be_alias:
        step = duration_text(round(main.spikes.step_s) * SECOND or int(main.spikes.step_s * SECOND))
        interval = f"Perhaps every {period}"
        alias = " As they last for one or two samples, a faster rhythm may show as this one (an alias): record more "
        alias += f"often than every {step} to tell."
    return (
        f"{interval} a spike in {_place(main)} ({count}, "
        f"about {width} long, typically {quantity(main.typical, unit)}, at most {quantity(main.highest, unit)}); "
        f"between the spikes usually {quantity(main.spikes.level, unit)}.{alias}"
    )


def rising_text(spikes: PeriodicSpikes) -> str:
    """Return a sentence on the signals and processes that rise in the spikes; empty if none do."""
    strongest: dict[tuple[str, str], Rising] = {}
    for rising in spikes.rising:
        strongest.setdefault((rising.name, rising.subject.host), rising)
    named = listed([_risen(rising) for rising in strongest.values()], _MOST_NAMED)
    text = f"Also higher in them: {named}." if named else ""
    used = [_risen(process, process=True) for process in spikes.processes[:_MOST_PROCESSES]]
    return f"{text} Processes: {', '.join(used)}.".strip() if used else text


def consequence(spikes: PeriodicSpikes) -> str:
    """Return sentences on limits that were passed in the spikes, and limits that were not; empty without limits."""
    passed = [
        f"{_place(limit)} above {quantity(limit.limit.limit, limit.signal.unit)} in {limit.passed} of "
        f"{spikes.main.count} spikes"
        for limit in spikes.limits
        if limit.passed
    ]
    kept = [
        f"{_place(limit)} at most {quantity(limit.highest, limit.signal.unit)} of "
        f"{quantity(limit.limit.limit, limit.signal.unit)}"
        for limit in spikes.limits
        if not limit.passed
    ]
    first = f"Single samples went past limits: {listed(passed, _MOST_NAMED)}." if passed else ""
    second = f"Limits not reached in them: {listed(kept, _MOST_NAMED)}." if kept else ""
    return f"{first} {second}".strip()


def _place(signal: SignalSpikes | Rising | LimitInSpikes) -> str:
    return titled(signal.signal.title, signal.subject)


def _risen(rising: Rising, *, process: bool = False) -> str:
    who = rising.subject.instance or "" if process else _place(rising)
    inside, between = (quantity(mean, rising.signal.unit) for mean in (rising.inside, rising.between))
    return f"{who} ({inside} on average, else {between})"


INSIGHT = Insight("spikes", BESIDE_LIMITS, periodic_spikes, _blocks)
