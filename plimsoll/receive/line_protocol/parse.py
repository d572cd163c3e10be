"""Parses InfluxDB's line protocol into points."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from plimsoll.model.points import Points
from plimsoll.receive.line_protocol.grammar import FIRST_TIME, LAST_TIME
from plimsoll.receive.line_protocol.parts import Clock, Fault, Lines, Samples
from plimsoll.receive.line_protocol.series_names import MOST_SERIES, Refused, SeriesNames
from plimsoll.receive.line_protocol.split import Piece, pieces

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
_DAY = 86_400_000_000_000
_MOST_SHOWN = 20
_LONGEST_SHOWN = 200


class TooMany(Exception):
    """A body has more values or lines than are taken at once."""


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
    """Parses bodies; several threads may do so at once. The same name gives the same Series object each time."""

    def __init__(self, most_series: int = MOST_SERIES) -> None:
        self._most = most_series
        self._names = SeriesNames(most_series)
        self._since: int | None = None

    def parse(self, body: bytes, *, unit: int = 1, now: int, first: int = FIRST_TIME, last: int = LAST_TIME) -> Parsed:
        """The points of a body whose times are in `unit` ns; points without a time get `now` (UTC ns).

        Points before `first` or after `last` are refused. TooMany if there are more than MOST_VALUES or MOST_LINES.
        """
        clock = Clock(unit, b"%d" % (now // unit), first, last)
        names = self._current(now)
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
        return parsed._replace(points=_points(names, Samples.joined(found)), text=text)

    def _current(self, now: int) -> SeriesNames:
        """The names; new ones if they are full and a day old, so that series of the past take no room for ever."""
        if self._since is None or (self._names.full and now - self._since > _DAY):
            self._names, self._since = SeriesNames(self._most), now
        return self._names


def _points(names: SeriesNames, samples: Samples) -> Points:
    used, which = np.unique(samples.which, return_inverse=True)
    return Points([names.series[n] for n in used.tolist()], which.astype(np.int32), samples.times, samples.values)
