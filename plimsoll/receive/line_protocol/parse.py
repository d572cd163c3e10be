"""Parses InfluxDB's line protocol into points."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.receive.line_protocol.grammar import FIRST_TIME, LAST_TIME, Malformed, check_time, read
from plimsoll.receive.line_protocol.series_names import Bounds, RefusedSeries, SeriesNames

_PIECE = 1 << 16
_LONGEST_LINE = 1 << 20  # some thousand fields; what is read of a line takes many times its length
_SPECIAL = re.compile(rb'\\.|[ =,"]', re.DOTALL)


class TooMany(Exception):
    """The error that a body has too many values or lines, or that one of its lines is too long."""


class BodyPiece(NamedTuple):
    """Some lines of a body, and the number of the first line. `plain` means that no line has a quote or a backslash."""

    first: int
    lines: list[bytes]
    plain: bool


class _OpenLine:
    """A line that continues after a line end, which is within quotes or escaped."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self._length = 0
        self._in_fields = self._quoted = False
        self._equals = self._commas = 0

    @property
    def text(self) -> bytes:
        """The bytes of the line so far."""
        return b"\n".join(self.lines)

    def ends_after(self, piece: bytes) -> bool:
        """Add text up to a line end; return whether the line ends there. Raise TooMany if the line is too long."""
        self.lines.append(piece)
        self._length += 1 + len(piece)
        if self._length > _LONGEST_LINE:
            raise TooMany
        for match in _SPECIAL.finditer(piece):
            mark = match[0]
            if mark == b" ":
                self._in_fields = True
            elif not self._in_fields or mark[:1] == b"\\":
                continue
            elif mark == b'"':
                self._quoted ^= self._equals > self._commas
            elif not self._quoted:
                self._equals += mark == b"="
                self._commas += mark == b","
        escaped = (len(piece) - len(piece.rstrip(b"\\"))) % 2 == 1
        return not (self._quoted or escaped)


_IN_NUMBERS = b"0123456789.-+eEi,"
_IN_TIMES = b"0123456789-,"
_BLANK = (b"\t", b"\x00")
_I = ord("i")
_LARGE = 2.0**63


class ParsedSamples(NamedTuple):
    """Samples as arrays of equal length: series numbers (`which`), times (UTC ns) and values."""

    which: NDArray[np.int32]
    times: Times
    values: Values

    @classmethod
    def joined(cls, parts: Sequence["ParsedSamples"]) -> "ParsedSamples":
        """Return the samples of all parts as one, in order."""
        if not parts:
            return cls(np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0))
        which, times, values = zip(*parts, strict=True)
        return cls(np.concatenate(which), np.concatenate(times), np.concatenate(values))


class Fault(NamedTuple):
    """A line that was left out: its index, text and reason. `refused` means valid, but impossible to store."""

    at: int
    line: bytes
    reason: str
    refused: bool = False


class Clock(NamedTuple):
    """How to read times: `unit` (ns), the time `now` (in units) of points without a time, and the valid range (ns)."""

    unit: int
    now: bytes
    first: int = FIRST_TIME
    last: int = LAST_TIME


@dataclass
class Lines:
    """The values of some lines, before they are converted to samples.

    `which` and `numbers` hold each value's series number and text; `times` and `lengths` hold each line's time as text
    and its number of values. `text` counts the fields that are not numbers.
    """

    names: SeriesNames
    clock: Clock
    which: list[int] = field(default_factory=list)
    numbers: list[bytes] = field(default_factory=list)
    times: list[bytes] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    text: int = 0
    faults: list[Fault] = field(default_factory=list)

    def split(self, lines: Sequence[bytes], *, plain: bool) -> ParsedSamples:
        """Return the samples of lines, split at separators; lines with quotes or backslashes are parsed in full.

        `plain` means that no line has quotes or backslashes. After any exception, call `read_all` on a new object.
        """
        which, numbers, times, lengths = self.which, self.numbers, self.times, self.lengths
        fields_of = self.names.fields_of
        for at, line in enumerate(lines):
            head, *rest = line.split(b" ")
            fields = fields_of(head)
            if (
                fields is None
                or not 1 <= len(rest) <= 2
                or rest[0][:1] in _BLANK
                or not (plain or (b'"' not in line and b"\\" not in line))
            ):
                self.read(at, line)
                continue
            pairs = rest[0].split(b",")
            for pair in pairs:
                name, _, number = pair.partition(b"=")
                which.append(fields[name])
                numbers.append(number)
            lengths.append(len(pairs))
            times.append(rest[1] if len(rest) == 2 else self.clock.now)
        self._check()
        samples = self.samples()
        if (np.abs(samples.values) >= _LARGE).any():
            raise ValueError("a number is too large")
        return samples

    def read_all(self, lines: Sequence[bytes]) -> ParsedSamples:
        """Return the samples of lines, each line parsed in full."""
        for at, line in enumerate(lines):
            self.read(at, line)
        return self.samples()

    def read(self, at: int, line: bytes) -> None:
        """Parse the line with index `at` in full, and add its values, or a fault."""
        line = line.lstrip(b" \t\x00")
        if not line or line.startswith(b"#"):
            return
        try:
            parts = read(line)
            check_time(parts.time, self.clock.unit)
        except Malformed as error:
            self.faults.append(Fault(at, line, str(error)))
            return
        # InfluxDB leaves a field of this name out, and refuses a line that has no other: so do the names.
        numeric = [pair for pair in parts.fields if pair[0] != b"time"]
        if not numeric and not parts.text_fields:
            numeric = parts.fields
        try:
            time = int(parts.time or self.clock.now) * self.clock.unit
            if time < self.clock.first:
                raise RefusedSeries("points beyond retention policy")
            if time > self.clock.last:
                reason = "the time is too far in the future; are the clocks right, and the precision of times?"
                raise RefusedSeries(reason)
            fields = self.names.fields(parts.head)
            which = [fields[name] for name, _ in numeric]
        except RefusedSeries as error:
            self.faults.append(Fault(at, line, str(error), refused=True))
            return
        self.which += which
        self.numbers += [number for _, number in numeric]
        self.lengths.append(len(which))
        self.times.append(parts.time or self.clock.now)
        self.text += parts.text_fields

    def samples(self) -> ParsedSamples:
        """Return the collected values as samples. Raise ValueError or OverflowError for an invalid number or time."""
        times = np.array([int(time) for time in self.times], np.int64) * self.clock.unit
        values = [int(number[:-1]) if number[-1] == _I else float(number) for number in self.numbers]
        return ParsedSamples(
            np.array(self.which, np.int32), np.repeat(times, self.lengths), np.array(values, np.float64)
        )

    def _check(self) -> None:
        """Raise ValueError if a number or time has a form that Python accepts but InfluxDB does not."""
        numbers = b",".join(self.numbers)
        if numbers.translate(None, _IN_NUMBERS) or b",".join(self.times).translate(None, _IN_TIMES):
            raise ValueError("not a number")
        if b"+" in numbers and numbers.count(b"+") != numbers.count(b"e+") + numbers.count(b"E+"):
            raise ValueError("a plus sign")
        if self.times:
            times = [int(time) * self.clock.unit for time in self.times]
            if min(times) < self.clock.first or max(times) > self.clock.last:
                raise ValueError("a time is out of range")


PRECISIONS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
V1_PRECISIONS = PRECISIONS | {"n": 1, "u": 1_000, "µ": 1_000, "m": 60 * 10**9, "h": 3600 * 10**9}
MOST_VALUES = 5_000_000
MOST_LINES = 1_000_000
_HOUR = 3_600_000_000_000
_DAY = 24 * _HOUR
_MOST_SHOWN = 20
_LONGEST_SHOWN = 200


@dataclass
class Faults:
    """The lines that were left out: their count, and line number, text and reason of the first few."""

    count: int = 0
    first: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, piece: BodyPiece, fault: Fault) -> None:
        """Count a line that was left out, and keep the line if it is among the first few."""
        self.count += 1
        if len(self.first) < _MOST_SHOWN:
            number = piece.first + sum(1 + line.count(b"\n") for line in piece.lines[: fault.at])
            text = fault.line[:_LONGEST_SHOWN].decode("utf-8", "backslashreplace")
            self.first.append((number, text + "..." * (len(fault.line) > _LONGEST_SHOWN), fault.reason))


class Parsed(NamedTuple):
    """The points of a body, and counts of the rest.

    `text` counts fields with text or booleans. `malformed` lines are not line protocol; `refused` lines are valid, but
    their time or series cannot be stored.
    """

    points: Points
    text: int
    malformed: Faults
    refused: Faults


class Parser:
    """Parses bodies of requests; threads may share it. Equal series are the same Series object in all results.

    `initial_series` is called at the first body, and returns the series that are never refused.
    """

    def __init__(self, bounds: Bounds | None = None, initial_series: Callable[[], Iterable[Series]] = tuple) -> None:
        self._bounds = bounds or Bounds()
        self._initial_series = initial_series
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
        """Return the points of a body. Times are in units of `unit` ns; points without a time get `now` (UTC ns).

        Points before `first` or after `last` are refused, as are new series of a `writer` that has added too many.
        Raise TooMany if there are more than MOST_VALUES or MOST_LINES, or a line is too long.
        """
        names = self._find_names(now)
        with names.for_writer(writer):
            return self._parse_pieces(names, body, unit, now, first, last)

    def _parse_pieces(self, names: SeriesNames, body: bytes, unit: int, now: int, first: int, last: int) -> Parsed:
        """Parse a body piece by piece: split at separators where possible, else in full."""
        clock = Clock(unit, b"%d" % (now // unit), first, last)
        parsed = Parsed(Points([], *ParsedSamples.joined([])), 0, Faults(), Faults())
        text, values, count = 0, 0, 0
        batches: list[ParsedSamples] = []
        for piece in split_pieces(body):
            try:
                lines = Lines(names, clock)
                samples = lines.split(piece.lines, plain=piece.plain)
            except (ValueError, IndexError, OverflowError, RefusedSeries):
                lines = Lines(names, clock)
                samples = lines.read_all(piece.lines)
            batches.append(samples)
            text += lines.text
            values += len(samples.which)
            count += len(piece.lines)
            if values > MOST_VALUES or count > MOST_LINES:
                raise TooMany
            for fault in lines.faults:
                (parsed.refused if fault.refused else parsed.malformed).add(piece, fault)
        samples = ParsedSamples.joined(batches)
        used, which = np.unique(samples.which, return_inverse=True)
        series = [names.series[number] for number in used.tolist()]
        points = Points(series, which.astype(np.int32), samples.times, samples.values)
        self._used.update((id(series), (series, now)) for series in points.series)
        return parsed._replace(points=points, text=text)

    def _find_names(self, now: int) -> SeriesNames:
        """Return the series names. If a limit is reached, drop series not written for a day, at most once an hour."""
        with self._lock:
            if self._names is None:
                self._names, self._since = SeriesNames(self._bounds, self._initial_series()), now
                self._used = {id(series): (series, now) for series in self._names.series}
            elif now - self._since > _HOUR and self._names.full:
                self._used = {at: use for at, use in [*self._used.items()] if now - use[1] <= _DAY}
                self._names, self._since = SeriesNames(self._bounds, [series for series, _ in self._used.values()]), now
            return self._names


def split_pieces(body: bytes) -> Iterator[BodyPiece]:
    """Yield the lines of a body in pieces of limited size, so that a long body is never split at once.

    A carriage return before a line end is removed, as InfluxDB would refuse such a line. Raise TooMany if a line is too
    long.
    """
    start = before = 0
    open_line: _OpenLine | None = None
    while start < len(body):
        end = body.rfind(b"\n", start, start + _PIECE) + 1 or body.find(b"\n", start) + 1 or len(body)
        if end - start > _LONGEST_LINE:
            raise TooMany
        text = body[start:end]
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        lines = text.removesuffix(b"\n").split(b"\n")
        first = before + 1 - (len(open_line.lines) if open_line else 0)
        if open_line or b'"' in text or b"\\" in text:
            joined, open_line = _join_lines(lines, open_line)
            yield BodyPiece(first, joined, plain=False)
        else:
            yield BodyPiece(first, lines, plain=True)
        start = end
        before += len(lines)
    if open_line:
        yield BodyPiece(before + 1 - len(open_line.lines), [open_line.text], plain=False)


def _join_lines(lines: list[bytes], open_line: _OpenLine | None) -> tuple[list[bytes], _OpenLine | None]:
    """Join lines where a line end is quoted or escaped; return the complete lines and the unfinished last line."""
    joined: list[bytes] = []
    for line in lines:
        if open_line is None:
            if b'"' not in line and not line.endswith(b"\\"):
                joined.append(line)
                continue
            open_line = _OpenLine()
        if open_line.ends_after(line):
            joined.append(open_line.text)
            open_line = None
    return joined, open_line
