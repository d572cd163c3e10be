"""Axes people can read: round values with their unit, and round moments on the log's own clock."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from model.numbers import MULTIPLES
from model.times import SECOND, Zone, instant

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_TIME_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(_MINUTE * n for n in (1, 2, 5, 10, 15, 20, 30)),
    *(_HOUR * n for n in (1, 2, 3, 6, 12)),
    *(_DAY * n for n in (1, 2, 7, 14, 28, 91, 182, 364)),
)
_FAR_FROM_ZERO = 0.75  # an axis leaves 0 out when everything on it lies above this share of the highest value
_SHORT_UNIT = 4


@dataclass(frozen=True, slots=True)
class Scale:
    """What a unit's values are multiplied by to be shown, and the name of the multiple."""

    factor: float
    unit: str

    def text(self, value: float, decimals: int) -> str:
        """A value given in the signal's unit, written in this multiple, with its name if that is short."""
        unit = f" {self.unit}" if 0 < len(self.unit) <= _SHORT_UNIT else ""
        return f"{value * self.factor:,.{decimals}f}{unit}"


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: where it is, from 0 to 1, and what stands there."""

    at: float
    text: str
    date: str = ""


@dataclass(frozen=True)
class ValueAxis:
    """A vertical axis from `low` to `high`, in the signal's unit; a long unit stands apart from the ticks."""

    low: float
    high: float
    scale: Scale
    ticks: tuple[Tick, ...]

    @property
    def unit_apart(self) -> str:
        """The unit, where it is too long to be repeated at every tick."""
        return self.scale.unit if len(self.scale.unit) > _SHORT_UNIT else ""

    def place(self, value: float) -> float:
        """Where a value stands: 0 at the bottom, 1 at the top."""
        return (value - self.low) / (self.high - self.low)


def scale_for(largest: float, unit: str) -> Scale:
    """The multiple for values up to `largest`: as people read them, milliseconds below a second."""
    for size, name in MULTIPLES.get(unit, ()):
        if largest >= size:
            return Scale(1 / size, name)
    if unit == "s" and 0 < largest < 1:
        return Scale(1000, "ms")
    return Scale(1, unit)


def value_axis(lowest: float, highest: float, unit: str, marks: int = 5) -> ValueAxis:
    """An axis that holds both values, with about `marks` round ticks; from 0 unless they are far from it."""
    low, high = min(lowest, highest), max(lowest, highest)
    if low >= 0 and low < _FAR_FROM_ZERO * high:
        low = 0.0
    elif high <= 0 and high > _FAR_FROM_ZERO * low:
        high = 0.0
    if high <= low:
        low, high = min(low, 0.0), max(high, 0.0) or (1.0 if low == 0 else 0.0)
    scale = scale_for(max(abs(low), abs(high)), unit)
    step = _value_step((high - low) / marks, unit)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    decimals = _decimals(step * scale.factor)
    span = (last - first) * step
    ticks = tuple(
        Tick((n - first) * step / span, scale.text(n * step, decimals) if n else "0") for n in range(first, last + 1)
    )
    return ValueAxis(first * step, last * step, scale, ticks)


def time_ticks(start: int, end: int, zone: Zone, most: int = 8) -> tuple[Tick, ...]:
    """Round moments on the zone's clock between two instants; the first of each day carries its date."""
    if end <= start:
        return (Tick(0.0, zone.clock(start, date=False), _day(zone.local(start))),)
    step = next((s for s in _TIME_STEPS if (end - start) / SECOND / s <= most), None)
    if step is None:
        step = math.ceil((end - start) / SECOND / most / _DAY) * _DAY
    several_days = zone.local(start).date() != zone.local(end).date()
    ticks: list[Tick] = []
    day = None
    for moment, at in _moments(start, end, zone, step):
        new_day = several_days and moment.date() != day
        day = moment.date()
        if step >= _DAY:
            ticks.append(Tick((at - start) / (end - start), _day(moment)))
        else:
            clock = moment.strftime("%H:%M:%S" if step < _MINUTE else "%H:%M")
            ticks.append(Tick((at - start) / (end - start), clock, _day(moment) if new_day else ""))
    return tuple(ticks)


def _value_step(rough: float, unit: str) -> float:
    if unit == "bytes":
        return max(1.0, 2.0 ** math.ceil(math.log2(rough)))
    power = 10.0 ** math.floor(math.log10(rough))
    return next(n * power for n in (1, 2, 2.5, 5, 10) if n * power >= rough * (1 - 1e-9))


def _decimals(step: float) -> int:
    """How many decimals tell neighbouring ticks apart and show them exactly."""
    return next((n for n in range(12) if abs(round(step, n) - step) <= 1e-9 * step), 12)


def _moments(start: int, end: int, zone: Zone, step: int) -> Iterator[tuple[datetime, int]]:
    """The zone's clock at every `step` seconds since its midnight (since a fixed day, for steps of days)."""
    first = zone.local(start).replace(tzinfo=None)
    midnight = datetime(first.year, first.month, first.day)
    if step >= _DAY:
        midnight -= timedelta(days=(midnight - datetime(2001, 1, 1)).days % (step // _DAY))  # a Monday
    moment = midnight + timedelta(seconds=step) * ((first - midnight) // timedelta(seconds=step))
    last = start - 1
    while True:
        at = instant(moment.replace(tzinfo=zone.rule))
        if at > end:
            return
        if at > last:
            yield moment, at
            last = at
        moment += timedelta(seconds=step)


def _day(moment: datetime) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]}"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
