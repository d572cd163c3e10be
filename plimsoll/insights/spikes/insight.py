"""What is said of regular spikes."""

from plimsoll.analysis.regular_spikes import RegularSpikes
from plimsoll.insights.insights import BESIDE_LIMITS, BRIEF, MOST_STATEMENTS, Insight
from plimsoll.insights.spikes.find import LimitInSpikes, PeriodicSpikes, Rising, periodic_spikes
from plimsoll.model.document import ChartBlock, ChartSeries, ChartSpec, Section, Statement
from plimsoll.model.remark import listed
from plimsoll.model.times import SECOND, Zone, duration_text
from plimsoll.model.value_text import quantity
from plimsoll.review.review import Review
from plimsoll.review.sentences import titled

_ROUND_S = (86_400, 3600, 1800, 900, 600, 300, 60, 30, 10, 5, 1, 0.1)
_MOST_NAMED = 4
_MOST_PROCESSES = 3


def _blocks(rhythms: tuple[PeriodicSpikes, ...], review: Review, zone: Zone) -> tuple[Section, ...]:
    """Return the first rhythms, each with a chart of the signal that shows it best."""
    shown = tuple(
        Statement(_sentences(spikes, review, zone), _chart(spikes, review) if number < BRIEF else None)
        for number, spikes in enumerate(rhythms[:MOST_STATEMENTS])
    )
    hidden = len(rhythms) - len(shown)
    section = Section("Spikes at regular intervals", shown, level=3, style="told", brief=BRIEF, hidden=hidden)
    return (section,) if shown else ()


def _sentences(spikes: PeriodicSpikes, review: Review, zone: Zone) -> tuple[str, ...]:
    first, last = (review.clock(zone, instant) for instant in (spikes.first, spikes.last))
    times = f"The first began at {first}, the last at {last}."
    return tuple(text for text in (sentence(spikes), rising_text(spikes), consequence(spikes), times) if text)


def _chart(spikes: PeriodicSpikes, review: Review) -> ChartBlock:
    main = spikes.main
    title = titled(main.signal.title, main.subject)
    line = ChartSeries(title, "samples", review.signals.of(main.name)[main.subject])
    return ChartBlock(ChartSpec((line,), main.signal.unit, title))


def sentence(spikes: PeriodicSpikes) -> str:
    """Return what happens, how often, and how high it gets."""
    main, unit = spikes.main, spikes.main.signal.unit
    beats = spikes.count + main.spikes.missing
    count = f"{spikes.count} in all" if not main.spikes.missing else f"{spikes.count} of {beats} beats"
    width = duration_text(round(main.spikes.width_s) * SECOND or int(main.spikes.width_s * SECOND))
    period = _about(spikes.period_s, main.spikes.reach_s)
    interval = f"Perhaps every {period}" if main.spikes.may_be_alias else f"Every {period}"
    return (
        f"{interval} a spike in {titled(main.signal.title, main.subject)} ({count}, "
        f"about {width} long, typically {quantity(main.typical, unit)}, at most {quantity(main.highest, unit)}); "
        f"between the spikes usually {quantity(main.spikes.level, unit)}.{_alias(main.spikes)}"
    )


def _alias(spikes: RegularSpikes) -> str:
    """Return what to know of spikes as short as a sample."""
    if not spikes.may_be_alias:
        return ""
    step = duration_text(round(spikes.step_s) * SECOND or int(spikes.step_s * SECOND))
    return (
        " As they last for one or two samples, a faster rhythm may show as this one (an alias): record more often than "
        f"every {step} to tell."
    )


def rising_text(spikes: PeriodicSpikes) -> str:
    """Return what rises in the spikes, in a sentence; empty if nothing is known to."""
    strongest: dict[tuple[str, str], Rising] = {}
    for rising in spikes.rising:
        strongest.setdefault((rising.name, rising.subject.host), rising)
    named = listed([_risen(rising) for rising in strongest.values()], _MOST_NAMED)
    text = f"Also higher in them: {named}." if named else ""
    used = [_risen(process, process=True) for process in spikes.processes[:_MOST_PROCESSES]]
    return f"{text} Processes: {', '.join(used)}.".strip() if used else text


def consequence(spikes: PeriodicSpikes) -> str:
    """Return whether a limit was passed in the spikes, in a sentence; empty if what rises has none."""
    passed = [
        f"{_place(limit)} above {quantity(limit.limit.limit, limit.signal.unit)} in {limit.passed} of "
        f"{spikes.count} spikes"
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


def _place(item: Rising | LimitInSpikes) -> str:
    return titled(item.signal.title, item.subject)


def _about(period_s: float, reach_s: float) -> str:
    """Return a period in the roundest number that it may be."""
    round_s = next((unit * round(period_s / unit) for unit in _ROUND_S if _near(period_s, unit, reach_s)), period_s)
    return duration_text(int(round_s * SECOND))


def _near(period_s: float, unit: float, reach_s: float) -> bool:
    whole = round(period_s / unit)
    return whole > 0 and abs(whole * unit - period_s) <= reach_s


def _risen(rising: Rising, *, process: bool = False) -> str:
    who = rising.subject.instance or "" if process else _place(rising)
    inside, between = (quantity(mean, rising.signal.unit) for mean in (rising.inside, rising.between))
    return f"{who} ({inside} on average, else {between})"


INSIGHT = Insight("spikes", BESIDE_LIMITS, periodic_spikes, _blocks)
