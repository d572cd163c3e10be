"""Parses the times of command-line arguments: `10:22`, `2008-01-15 10:22`, `-15m`, `10:22/12:00`."""

import re
from datetime import datetime, time, timedelta

from plimsoll.model.errors import Unusable
from plimsoll.model.lazy_dataclass import dataclass
from plimsoll.model.parameters import Parameter
from plimsoll.model.run import Phase
from plimsoll.model.times import SECOND, Zone, convert_to_instant, parse_duration

_MINUTE = 60 * SECOND
_HALF_A_DAY = 12 * 3600 * SECOND
_LONGEST = 3660 * 86400 * SECOND
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def parse_time(text: str, zone: Zone, start: int) -> int:
    """Return the instant (UTC ns) of a date and time, or of a clock time. Raise Unusable if the text is neither.

    A clock time means the first such time in `zone` after `start`, or up to a minute before `start`.
    """
    if match := _CLOCK.fullmatch(text.strip()):
        hour, minute, second = (int(part or 0) for part in match.groups())
        if hour < 24 and minute < 60 and second < 60:
            try:
                return _find_first(time(hour, minute, second), zone, start - _MINUTE)
            except OverflowError:
                raise Unusable(f'the day of "{text}" is not known; write it like "2008-01-15 10:22"') from None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Unusable(
            f'"{text}" is not a time; write it like 10:22, "2008-01-15 10:22" or 2008-01-15T09:22Z'
        ) from None
    return convert_to_instant(moment if moment.tzinfo else moment.replace(tzinfo=zone.rule))


def _find_first(clock: time, zone: Zone, start: int) -> int:
    """Return the first instant from `start` on at which clocks in a zone show a time."""
    day = zone.local(start).date()
    instants: list[int] = []
    for date in (day, day + timedelta(days=1)):
        moment = datetime.combine(date, clock, zone.rule)
        # In the hour that clocks skip in spring, fold=1 gives the earlier instant, which must not be used.
        instants += [
            convert_to_instant(moment),
            max(convert_to_instant(moment), convert_to_instant(moment.replace(fold=1))),
        ]
    return min(moment for moment in instants if moment >= start)


@dataclass(frozen=True)
class TimeRange:
    """A range of time as the user wrote it: `start` and `end`, or the length of the `last` part.

    An option that the user left out is None.
    """

    start: str | None = None
    end: str | None = None
    last: str | None = None

    def __bool__(self) -> bool:
        return any(name is not None for name in (self.start, self.end, self.last))

    def resolve(self, zone: Zone, start: int, end: int, ends: str = "the logs end at") -> tuple[int | None, int | None]:
        """Return the first and the last instant (UTC ns) of the range; None for an open end.

        The data extend from `start` to `end`. `-15m` means 15 minutes before `end`. A clock time may mean the next day
        if the data extend into it. `ends` is used in the error message. Raise Unusable if a text is not a time, or the
        range ends before it begins.
        """
        if self.last is not None:
            if self.start is not None or self.end is not None:
                raise Unusable(f"{Parameter.LAST} {self.last}: give it alone, or {Parameter.FROM} and {Parameter.TO}")
            return end - _parse_length(Parameter.LAST, self.last), None
        first = None if self.start is None else _parse_moment(Parameter.FROM, self.start, zone, start, end)
        begin = start if first is None else first
        if self.end is None:
            return first, None
        last = _parse_moment(Parameter.TO, self.end, zone, begin, end)
        before = f"{Parameter.FROM} {self.start}" if self.start is not None else f"the beginning, {zone.clock(start)}"
        if first is not None and last < first:
            raise Unusable(f"{Parameter.TO} {self.end} is before {before}")
        if _is_after_last_day(str(self.end), last, begin, end, zone):
            raise Unusable(
                f"{Parameter.TO} {self.end} is before {before}; {ends} {zone.clock(end)}, "
                f"before it is {self.end} once more"
            )
        return first, last


def _parse_moment(option: str, text: str, zone: Zone, start: int, end: int) -> int:
    text = text.strip()
    return end - _parse_length(option, text[1:]) if text.startswith("-") else parse_time(text, zone, start)


def _parse_length(option: str, text: str) -> int:
    """Return a duration such as `15m` in ns. Raise Unusable if it is invalid, not positive, or over ten years."""
    try:
        length = parse_duration(text)
    except ValueError:
        length = 0
    if length <= 0 or length > _LONGEST:
        sign = "-" if option != Parameter.LAST else ""
        raise Unusable(f'{option} "{sign}{text}": write it like {sign}15m, {sign}2h or {sign}1h30m')
    return length


def _is_after_last_day(text: str, moment: int, begin: int, end: int, zone: Zone) -> bool:
    """Return whether `text` is a clock time, and `moment`, its instant, is on a later day than all data."""
    days = (zone.local(begin).date(), zone.local(end).date())
    return _CLOCK.fullmatch(text.strip()) is not None and zone.local(moment).date() > max(days)


def parse_span(text: str, zone: Zone, start: int, end: int) -> tuple[int, int]:
    """Return the two instants (UTC ns) of `FROM/TO`, by default the run's ends. Raise Unusable if it is no span."""
    first, slash, last = text.partition("/")
    if not slash:
        raise Unusable(f'"{text}" is not a span; write it like 10:22/12:00, or 10:22/ for the rest of the run')
    begin = parse_time(first, zone, start) if first.strip() else start
    finish = parse_time(last, zone, begin) if last.strip() else end
    if finish < begin:
        raise Unusable(f'"{text}" ends before it begins')
    return begin, finish


def parse_steady_phases(text: str, zone: Zone, start: int, end: int) -> tuple[Phase, ...]:
    """Return ramp-up, steady state (`FROM/TO`) and ramp-down. Raise Unusable if `FROM/TO` is not inside the run."""
    begin, finish = parse_span(text, zone, start, end)
    next_day = _is_after_last_day(text.rpartition("/")[2], finish, begin, end, zone)
    if begin >= finish or is_outside(begin, finish, start, end) or next_day:
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


def is_outside(begin: int, finish: int, start: int, end: int) -> bool:
    """Return whether a range lies before or after a run, or ends more than half a day after the run's end."""
    return begin > end or finish < start or finish > end + _HALF_A_DAY
