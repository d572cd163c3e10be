"""Instants and spans as people type them: `10:22`, `2008-01-15 10:22`, `10:22/12:00`."""

import re
from datetime import datetime, timedelta

from model.errors import Unusable
from model.run import Phase
from model.times import SECOND, Zone, instant

_HALF_A_DAY = 12 * 3600 * SECOND
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def parse_moment(text: str, zone: Zone, start: int) -> int:
    """An instant (UTC ns). A clock time is the first one at or after `start` (less a minute), in `zone`.

    Unusable if the text is no time.
    """
    if match := _CLOCK.fullmatch(text.strip()):
        hour, minute, second = (int(part or 0) for part in match.groups())
        if hour < 24 and minute < 60 and second < 60:
            first = zone.local(start) - timedelta(minutes=1)
            moment = first.replace(hour=hour, minute=minute, second=second, microsecond=0)
            return instant(moment if moment >= first else moment + timedelta(days=1))
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Unusable(
            f'"{text}" is not a time; write it like 10:22, "2008-01-15 10:22" or 2008-01-15T09:22Z'
        ) from None
    return instant(moment if moment.tzinfo else moment.replace(tzinfo=zone.rule))


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
