"""Parses InfluxDB's line protocol into points."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

import numpy as np

from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.receive.line_protocol.grammar import FIRST_TIME, LAST_TIME
from plimsoll.receive.line_protocol.parts import Clock, Fault, Lines, Piece, Samples, TooMany, pieces
from plimsoll.receive.line_protocol.series_names import Bounds, Refused, SeriesNames

PRECISIONS: Mapping[str, int] = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
V1_PRECISIONS: Mapping[str, int] = PRECISIONS | {
    "n": 1,
    "u": 1_000,
    "µ": 1_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
MOST_VALUES = 5_000_000
MOST_LINES = 1_000_000
_HOUR = 3_600_000_000_000
_DAY = 24 * _HOUR
_MOST_SHOWN = 20
_LONGEST_SHOWN = 200


@dataclass
class Faults:
    """The lines that were left out: how many, and the first of them with number, text and InfluxDB's reason."""

    count: int = 0
    first: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, piece: Piece, fault: Fault) -> None:
        """Count a line, and keep it if it is one of the first."""
        self.count += 1
        if len(self.first) < _MOST_SHOWN:
            number = piece.first + sum(1 + line.count(b"\n") for line in piece.lines[: fault.at])
            text = fault.line[:_LONGEST_SHOWN].decode("utf-8", "backslashreplace")
            self.first.append((number, text + "..." * (len(fault.line) > _LONGEST_SHOWN), fault.reason))


class Parsed(NamedTuple):
    """The points of a body.

    `text` fields, which hold text or booleans, were left out. `malformed` lines are no line protocol; `refused` ones
    have names that cannot be kept.
    """

    points: Points
    text: int
    malformed: Faults
    refused: Faults


class Parser:
    """Parses bodies; several threads may do so at once. The same name gives the same Series object each time.

    `known` gives the series that are never refused, when the first body comes.
    """

    def __init__(self, bounds: Bounds | None = None, known: Callable[[], Iterable[Series]] = tuple) -> None:
        self._bounds = bounds or Bounds()
        self._known = known
        self._names: SeriesNames | None = None
        self._used: dict[int, tuple[Series, int]] = {}
        self._since = 0
        self._lock = Lock()

    def parse(
        self,
        body: bytes,
        *,
        unit: int = 1,
        now: int,
        first: int = FIRST_TIME,
        last: int = LAST_TIME,
        writer: str = "",
    ) -> Parsed:
        """The points of a body whose times are in `unit` ns; points without a time get `now` (UTC ns).

        Points before `first` or after `last` are refused, and new series of a `writer` who brought too many. TooMany
        if there are more than MOST_VALUES or MOST_LINES, or a line is too long.
        """
        names = self._current(now)
        with names.for_writer(writer):
            return self._parsed(names, body, unit, now, first, last)

    def _parsed(self, names: SeriesNames, body: bytes, unit: int, now: int, first: int, last: int) -> Parsed:
        clock = Clock(unit, b"%d" % (now // unit), first, last)
        parsed = Parsed(Points([], *Samples.joined([])), 0, Faults(), Faults())
        text, values, count = 0, 0, 0
        found: list[Samples] = []
        for piece in pieces(body):
            try:
                lines = Lines(names, clock)
                samples = lines.split(piece.lines, plain=piece.plain)
            except (ValueError, IndexError, OverflowError, Refused):
                lines = Lines(names, clock)
                samples = lines.read_all(piece.lines)
            found.append(samples)
            text += lines.text
            values += len(samples.which)
            count += len(piece.lines)
            if values > MOST_VALUES or count > MOST_LINES:
                raise TooMany
            for fault in lines.faults:
                (parsed.refused if fault.refused else parsed.malformed).add(piece, fault)
        points = _points(names, Samples.joined(found))
        self._used.update((id(one), (one, now)) for one in points.series)
        return parsed._replace(points=points, text=text)

    def _current(self, now: int) -> SeriesNames:
        """The names. If they are full, those of series that were not written for a day are forgotten, once an hour."""
        with self._lock:
            if self._names is None:
                self._names, self._since = SeriesNames(self._bounds, self._known()), now
                self._used = {id(one): (one, now) for one in self._names.series}
            elif now - self._since > _HOUR and self._names.full:
                self._used = {at: one for at, one in [*self._used.items()] if now - one[1] <= _DAY}
                self._names, self._since = SeriesNames(self._bounds, [one for one, _ in self._used.values()]), now
            return self._names


def _points(names: SeriesNames, samples: Samples) -> Points:
    used, which = np.unique(samples.which, return_inverse=True)
    return Points([names.series[n] for n in used.tolist()], which.astype(np.int32), samples.times, samples.values)
