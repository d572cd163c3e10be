"""Sentences about regular spikes."""

from plimsoll.insights.insights import BESIDE_LIMITS, Insight, build_statements
from plimsoll.insights.spikes.find import LimitInSpikes, PeriodicSpikes, Rising, SignalSpikes, find_periodic_spikes
from plimsoll.model.document import ChartBlock, ChartSeries, ChartSpec, Section, Statement
from plimsoll.model.remark import join_names
from plimsoll.model.times import SECOND, Zone, format_duration
from plimsoll.model.value_text import format_value
from plimsoll.review.review import Review
from plimsoll.review.sentences import add_subject

_ROUND_S = (86_400, 3600, 1800, 900, 600, 300, 60, 30, 10, 5, 1, 0.1)  # a period is given in the first unit that fits
_MOST_NAMED = 4
_MOST_PROCESSES = 3


def _build_blocks(rhythms: tuple[PeriodicSpikes, ...], review: Review, zone: Zone) -> tuple[Section, ...]:
    """Return a section on the first rhythms, each with a chart of the signal that shows the rhythm best."""

    def statement(spikes: PeriodicSpikes, with_chart: bool) -> Statement:
        first, last = (review.clock(zone, instant) for instant in (spikes.first, spikes.last))
        times = f"The first began at {first}, the last at {last}."
        texts = (describe_rhythm(spikes), describe_rising(spikes), describe_consequence(spikes), times)
        main, title = spikes.main, _name_place(spikes.main)
        line = ChartSeries(title, "samples", review.signals.of(main.name)[main.subject])
        chart = ChartBlock(ChartSpec((line,), main.signal.unit, title)) if with_chart else None
        return Statement(tuple(filter(None, texts)), chart)

    return build_statements("Spikes at regular intervals", rhythms, statement)


def describe_rhythm(spikes: PeriodicSpikes) -> str:
    """Return a sentence on the signal that shows a rhythm best: how often it spikes, and how high."""
    main, unit = spikes.main, spikes.main.signal.unit
    beats = main.count + main.spikes.missing
    count = f"{main.count} in all" if not main.spikes.missing else f"{main.count} of {beats} beats"
    width = format_duration(round(main.spikes.width_s) * SECOND or int(main.spikes.width_s * SECOND))
    wholes = [(round(main.spikes.period_s / round_s), round_s) for round_s in _ROUND_S]
    possible = [n * s for n, s in wholes if n > 0 and abs(n * s - main.spikes.period_s) <= main.spikes.reach_s]
    period = format_duration(int(next(iter(possible), main.spikes.period_s) * SECOND))
    interval, alias = f"Every {period}", ""
    if main.spikes.may_be_alias:
        step = format_duration(round(main.spikes.step_s) * SECOND or int(main.spikes.step_s * SECOND))
        interval = f"Perhaps every {period}"
        alias = " As they last for one or two samples, a faster rhythm may show as this one (an alias): record more "
        alias += f"often than every {step} to tell."
    return (
        f"{interval} a spike in {_name_place(main)} ({count}, "
        f"about {width} long, typically {format_value(main.typical, unit)}, at most "
        f"{format_value(main.highest, unit)}); "
        f"between the spikes usually {format_value(main.spikes.level, unit)}.{alias}"
    )


def describe_rising(spikes: PeriodicSpikes) -> str:
    """Return a sentence on the signals and processes that rise in the spikes; empty if none do."""
    strongest: dict[tuple[str, str], Rising] = {}
    for rising in spikes.rising:
        strongest.setdefault((rising.name, rising.subject.host), rising)
    named = join_names([_describe_rise(rising) for rising in strongest.values()], _MOST_NAMED)
    text = f"Also higher in them: {named}." if named else ""
    used = [_describe_rise(process, process=True) for process in spikes.processes[:_MOST_PROCESSES]]
    return f"{text} Processes: {', '.join(used)}.".strip() if used else text


def describe_consequence(spikes: PeriodicSpikes) -> str:
    """Return sentences on limits that were passed in the spikes, and limits that were not; empty without limits."""
    passed = [
        f"{_name_place(limit)} above {format_value(limit.limit.limit, limit.signal.unit)} in {limit.passed} of "
        f"{spikes.main.count} spikes"
        for limit in spikes.limits
        if limit.passed
    ]
    kept = [
        f"{_name_place(limit)} at most {format_value(limit.highest, limit.signal.unit)} of "
        f"{format_value(limit.limit.limit, limit.signal.unit)}"
        for limit in spikes.limits
        if not limit.passed
    ]
    first = f"Single samples went past limits: {join_names(passed, _MOST_NAMED)}." if passed else ""
    second = f"Limits not reached in them: {join_names(kept, _MOST_NAMED)}." if kept else ""
    return f"{first} {second}".strip()


def _name_place(signal: SignalSpikes | Rising | LimitInSpikes) -> str:
    return add_subject(signal.signal.title, signal.subject)


def _describe_rise(rising: Rising, *, process: bool = False) -> str:
    who = rising.subject.instance or "" if process else _name_place(rising)
    inside, between = (format_value(mean, rising.signal.unit) for mean in (rising.inside, rising.between))
    return f"{who} ({inside} on average, else {between})"


INSIGHT = Insight("spikes", BESIDE_LIMITS, find_periodic_spikes, _build_blocks)
