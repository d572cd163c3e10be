"""Instants and spans as people type them: `10:22`, `2008-01-15 10:22`, `10:22/12:00`."""

import re
from datetime import datetime, time, timedelta

from model.errors import Unusable
from model.run import Phase
from model.times import SECOND, Zone, instant

_MINUTE = 60 * SECOND
_HALF_A_DAY = 12 * 3600 * SECOND
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def parse_moment(text: str, zone: Zone, start: int) -> int:
    """An instant (UTC ns). A clock time is the first one at or after `start` (less a minute), in `zone`.

    Unusable if the text is no time.
    """
    if match := _CLOCK.fullmatch(text.strip()):
        hour, minute, second = (int(part or 0) for part in match.groups())
        if hour < 24 and minute < 60 and second < 60:
            try:
                return _first(time(hour, minute, second), zone, start - _MINUTE)
            except OverflowError:
                raise Unusable(f'the day of "{text}" is not known; write it like "2008-01-15 10:22"') from None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Unusable(
            f'"{text}" is not a time; write it like 10:22, "2008-01-15 10:22" or 2008-01-15T09:22Z'
        ) from None
    return instant(moment if moment.tzinfo else moment.replace(tzinfo=zone.rule))


def _first(clock: time, zone: Zone, start: int) -> int:
    """The first instant from `start` on at which the clocks of a zone show that time: an hour may come twice."""
    day = zone.local(start).date()
    found: list[int] = []
    for date in (day, day + timedelta(days=1)):
        moment = datetime.combine(date, clock, zone.rule)
        # Of an hour that is left out fold=1 is the earlier reading: it then counts for nothing.
        found += [instant(moment), max(instant(moment), instant(moment.replace(fold=1)))]
    return min(moment for moment in found if moment >= start)


def parse_span(text: str, zone: Zone, start: int, end: int) -> tuple[int, int]:
    """The two ends of `FROM/TO`; a side left out is the run's own. Unusable if it ends before it begins."""
    first, slash, last = text.partition("/")
    if not slash:
        raise Unusable(f'"{text}" is not a span; write it like 10:22/12:00, or 10:22/ for the rest of the run')
    begin = parse_moment(first, zone, start) if first.strip() else start
    finish = parse_moment(last, zone, begin) if last.strip() else end
    if finish < begin:
        raise Unusable(f'"{text}" ends before it begins')
    return begin, finish


def steady(text: str, zone: Zone, start: int, end: int) -> tuple[Phase, ...]:
    """The phases of a run whose steady state is `FROM/TO`: ramp-up before it and ramp-down after it.

    Unusable if that is no part of the run.
    """
    begin, finish = parse_span(text, zone, start, end)
    if begin >= finish or begin > end or finish < start or finish > end + _HALF_A_DAY:
        raise Unusable(
            f'"{text}" is no part of the run, which reaches from {zone.clock(start)} to {zone.clock(end)}; '
            "write it like 10:22/12:00"
        )
    phases = (
        Phase("ramp-up", start, begin - 1),
        Phase("steady", begin, finish),
        Phase("ramp-down", finish + 1, end),
    )
    return tuple(phase for phase in phases if phase.end > phase.start)
