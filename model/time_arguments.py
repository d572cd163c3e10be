"""Instants and spans as people type them: `10:22`, `2008-01-15 10:22`, `-15m`, `10:22/12:00`."""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from model.errors import Unusable
from model.run import Phase
from model.times import SECOND, Zone, instant, parse_duration

_MINUTE = 60 * SECOND
_HALF_A_DAY = 12 * 3600 * SECOND
_LONGEST = 3660 * 86400 * SECOND
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def parse_time(text: str, zone: Zone, start: int) -> int:
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


@dataclass(frozen=True)
class TimeRange:
    """Which part of the time is meant, as typed: `--from` and `--to`, or `--last`; None where it is not said."""

    start: str | None = None
    end: str | None = None
    last: str | None = None

    def __bool__(self) -> bool:
        return any(one is not None for one in (self.start, self.end, self.last))

    def resolve(self, zone: Zone, start: int, end: int, ends: str = "the logs end at") -> tuple[int | None, int | None]:
        """The two ends (UTC ns), both of them meant as well, in what reaches from `start` to `end`; None where open.

        `-15m` is so long before `end`. Unusable if a text is no time, or the part ends before it begins: a clock time
        is one of the next day where that day is reached, else a mistake. `ends` says what there is at the end.
        """
        if self.last is not None:
            if self.start is not None or self.end is not None:
                raise Unusable(f"--last {self.last}: give it alone, or --from and --to")
            return end - _length("--last", self.last), None
        first = _moment("--from", self.start, zone, start, end) if self.start is not None else None
        begin = start if first is None else first
        last = _moment("--to", self.end, zone, begin, end) if self.end is not None else None
        if last is None:
            return first, None
        before = f"--from {self.start}" if self.start is not None else f"the beginning, {zone.clock(start)}"
        if first is not None and last < first:
            raise Unusable(f"--to {self.end} is before {before}")
        if _is_of_a_day_to_come(str(self.end), last, begin, end, zone):
            raise Unusable(
                f"--to {self.end} is before {before}; {ends} {zone.clock(end)}, before it is {self.end} once more"
            )
        return first, last


def _moment(option: str, text: str, zone: Zone, start: int, end: int) -> int:
    text = text.strip()
    return end - _length(option, text[1:]) if text.startswith("-") else parse_time(text, zone, start)


def _length(option: str, text: str) -> int:
    """How long a time is that is written like `15m`; Unusable if it is none, or no time at all."""
    try:
        length = parse_duration(text)
    except ValueError:
        length = 0
    if length <= 0 or length > _LONGEST:
        sign = "-" if option != "--last" else ""
        raise Unusable(f'{option} "{sign}{text}": write it like {sign}15m, {sign}2h or {sign}1h30m')
    return length


def _is_of_a_day_to_come(text: str, moment: int, begin: int, end: int, zone: Zone) -> bool:
    """Whether a clock time, as the first one after the beginning, is of a day after that on which all ends."""
    if not _CLOCK.fullmatch(text.strip()):
        return False
    return zone.local(moment).date() > max(zone.local(begin).date(), zone.local(end).date())


def parse_span(text: str, zone: Zone, start: int, end: int) -> tuple[int, int]:
    """The two ends of `FROM/TO`; a side left out is the run's own. Unusable if it ends before it begins."""
    first, slash, last = text.partition("/")
    if not slash:
        raise Unusable(f'"{text}" is not a span; write it like 10:22/12:00, or 10:22/ for the rest of the run')
    begin = parse_time(first, zone, start) if first.strip() else start
    finish = parse_time(last, zone, begin) if last.strip() else end
    if finish < begin:
        raise Unusable(f'"{text}" ends before it begins')
    return begin, finish


def steady_phases(text: str, zone: Zone, start: int, end: int) -> tuple[Phase, ...]:
    """The phases of a run whose steady state is `FROM/TO`: ramp-up before it and ramp-down after it.

    Unusable if that is no part of the run.
    """
    begin, finish = parse_span(text, zone, start, end)
    next_day = _is_of_a_day_to_come(text.rpartition("/")[2], finish, begin, end, zone)
    if begin >= finish or lies_outside(begin, finish, start, end) or next_day:
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


def lies_outside(begin: int, finish: int, start: int, end: int) -> bool:
    """Whether a part of the time is no part of a run: before it, behind it, or going on for half a day behind it."""
    return begin > end or finish < start or finish > end + _HALF_A_DAY
