"""Reads VictoriaMetrics' exports: a line of JSON for each series, with its labels, values and times (ms)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import join_samples
from plimsoll.store.m4 import Drawn, compute_bucket_width, join_corners

_MS_NS = 1_000_000
_COUNT = "count_over_time"
# The first, the lowest, the highest and the last sample of each bucket: their values, and then their times (s).
_CHOSEN = ("first", "min", "max", "last")
CORNERS = (
    *(f"{function}_over_time" for function in _CHOSEN),
    *(f"t{function}_over_time" for function in _CHOSEN),
    _COUNT,
)


class Grid(NamedTuple):
    """Buckets of equal length: start of the first (UTC ns), width (ns, a multiple of 1 ms), and number of buckets."""

    start: int
    width: int
    number: int

    @classmethod
    def of(cls, start: int, end: int, buckets: int) -> "Grid":
        """Return a grid of at most `buckets` buckets of whole milliseconds for a range."""
        first = -(-start // _MS_NS) * _MS_NS
        width = -(-compute_bucket_width(start, end, buckets) // _MS_NS) * _MS_NS
        return cls(first, width, -(-(end + 1 - first) // width))

    @property
    def parameters(self) -> tuple[int, int, int]:
        """The first and last evaluation time and the step of a range query, in ms.

        The query is evaluated at the last millisecond of each bucket.
        """
        first, step = (self.start + self.width) // _MS_NS - 1, self.width // _MS_NS
        return first, first + (self.number - 1) * step, step

    def bucket(self, seconds: Values) -> Times:
        """Return the start (UTC ns) of the bucket that was evaluated at each of these times (s)."""
        return np.rint(seconds * 1000).astype(np.int64) * _MS_NS + _MS_NS - self.width


_VALUES, _TIMES, _BEGIN, _END = b'},"values":[', b'],"timestamps":[', b'{"metric":', b"]}"
_LINES_AT_ONCE = 4000


class Exported(NamedTuple):
    """One series: its labels as written, and the times (UTC ns, ascending) and finite values of its samples."""

    metric: bytes
    times: Times
    values: Values


def read(lines: Iterable[bytes]) -> Iterator[Exported]:
    """Yield the series in an export. Raise ValueError if a line is malformed."""
    remaining = iter(lines)
    while batch := list(islice(remaining, _LINES_AT_ONCE)):
        yield from _list_series(batch)


def list_metrics(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the labels of each series in an export, as written. Raise ValueError if a line is malformed."""
    return (_split_line(line)[0] for line in lines)


def parse_metric(text: bytes) -> dict[str, str]:
    """Return the labels of a series. Raise ValueError if the text is not a JSON object."""
    labels = json.loads(text)
    if not isinstance(labels, dict):
        raise ValueError("labels are no object")
    return {str(name): str(value) for name, value in labels.items()}


def _list_series(lines: Sequence[bytes]) -> Iterator[Exported]:
    """Yield the series in some lines of an export.

    For speed, all values are parsed in one call, and a list of times is parsed once even if several series have it.
    """
    parts = [_split_line(line) for line in lines]
    numbers, ends = _parse_floats([value for _, value, _ in parts])
    are_finite = bool(np.isfinite(numbers).all())
    begin = 0
    clocks: dict[bytes, tuple[Times, bool]] = {}
    for (metric, _, written), end in zip(parts, ends, strict=True):
        values, begin = numbers[begin:end], end
        clock = clocks.get(written)
        if clock is None:
            times = np.array(json.loads(b"[" + written + b"]"), np.int64) * _MS_NS
            clock = clocks[written] = times, bool((times[1:] > times[:-1]).all())
        times, ascend = clock
        if len(times) != len(values):
            raise ValueError("has more times than values, or fewer")
        is_clean = ascend and (are_finite or bool(np.isfinite(values).all()))
        yield Exported(metric, times, values) if is_clean else _clean(metric, times, values)


def _split_line(line: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the labels, values and times of a line, as written. Raise ValueError if the line is malformed."""
    middle = line.rfind(_TIMES)
    first = line.rfind(_VALUES, 0, middle)
    end = line.rstrip()
    if not (line.startswith(_BEGIN) and 0 < first < middle and end.endswith(_END)):
        raise ValueError(f"a line of its answer is no series: {line[:80].decode('utf-8', 'replace')}")
    return line[len(_BEGIN) : first + 1], line[first + len(_VALUES) : middle], end[middle + len(_TIMES) : -len(_END)]


def _parse_floats(texts: list[bytes]) -> tuple[Values, list[int]]:
    """Return the numbers of all texts as one array, and the end index of each text's numbers."""
    lengths = [text.count(b",") + 1 if text else 0 for text in texts]
    parsed: list[Any] = json.loads(b"[" + b",".join(text for text in texts if text) + b"]")
    try:
        numbers = np.array(parsed, np.float64)  # None becomes NaN
    except ValueError:
        numbers = np.array([value if isinstance(value, float | int) else np.nan for value in parsed], np.float64)
    if len(numbers) != sum(lengths):
        raise ValueError("has values that are no numbers")
    return numbers, np.cumsum(lengths).tolist()


def _clean(metric: bytes, times: Times, values: Values) -> Exported:
    """Return a series' finite samples in order of time; of samples at one time the highest, as in VictoriaMetrics."""
    finite = np.isfinite(values)
    times, values = times[finite], values[finite]
    order = np.lexsort((values, times))
    times, values = times[order], values[order]
    last = np.ones(len(times), dtype=bool)
    last[:-1] = times[1:] != times[:-1]
    return Exported(metric, times[last], values[last])


def draw_corners(corners: Mapping[str, tuple[Times, Values]], start: int, end: int) -> Drawn:
    """Return the samples for drawing a series, from the results of the functions `CORNERS`."""
    if len(corners) < len(CORNERS):
        return Drawn(join_samples([]), 0)
    values = np.column_stack([corners[f"{function}_over_time"][1] for function in _CHOSEN])
    seconds = np.column_stack([corners[f"t{function}_over_time"][1] for function in _CHOSEN])
    times = np.rint(seconds * 1000).astype(np.int64) * _MS_NS
    return Drawn(join_corners(times, values).between(start, end), int(corners[_COUNT][1].sum()))
