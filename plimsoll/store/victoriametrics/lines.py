r"""Samples as the line protocol that VictoriaMetrics reads: unlike InfluxDB, it takes `\\` for one backslash."""

from collections.abc import Iterator, Mapping

import numpy as np

from plimsoll.model.points import Points
from plimsoll.model.series import Series
from plimsoll.store.line_protocol import as_stored

_MOST_KNOWN = 1_000_000


class Lines:
    """Encodes samples; what is before the value of a line is kept for each series."""

    def __init__(self) -> None:
        self._heads: dict[Series, str] = {}

    def encode(self, points: Points) -> Iterator[bytes]:
        """Samples as a chunk of lines, one sample a line; of two at the same time, the last. Times are in ms."""
        if not len(points):
            return
        points = points.last_of_each
        used = np.unique(points.which).tolist()
        heads = {at: self._head(points.series[at]) for at in used}
        rows = zip(points.which.tolist(), points.values.tolist(), (points.times // 1_000_000).tolist(), strict=True)
        yield "".join(f"{heads[at]}={value!r} {time}\n" for at, value, time in rows).encode()

    def _head(self, series: Series) -> str:
        head = self._heads.get(series)
        if head is None:
            if len(self._heads) >= _MOST_KNOWN:
                self._heads.clear()
            head = self._heads[series] = _head(series)
        return head


def line(measurement: str, tags: Mapping[str, str], field: str, value: float) -> bytes:
    """One sample, to which the server gives its time."""
    written = "".join(f",{_escaped(name)}={_escaped(text)}" for name, text in tags.items())
    return f"{_escaped(measurement)}{written} {_escaped(field)}={value!r}\n".encode()


def _head(series: Series) -> str:
    one = as_stored(series)
    tags = sorted((name, text) for name, text in (("host", one.host), *one.tags) if text)
    written = "".join(f",{_escaped(name)}={_escaped(text)}" for name, text in tags)
    return f"{_escaped(one.measurement)}{written} {_escaped(one.field)}"


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in ",= \\" else c for c in text)
