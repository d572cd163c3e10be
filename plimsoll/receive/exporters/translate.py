"""Turns samples of metrics into line protocol with Telegraf's names.

Most metrics are a field as they are. Others are put together: a share of processor time is what one count grew by in
what all of them grew by. So the last samples of those are kept, and a field is written as soon as all that it needs has
arrived, in whatever requests: Prometheus cuts a scrape where a request is full, and sends parts of it side by side.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from threading import Lock
from typing import NamedTuple

from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.names import MetricNames
from plimsoll.rules.exporters.formulas import Formula, Moment
from plimsoll.rules.exporters.schema import Group
from plimsoll.rules.schema.signal import Signal
from plimsoll.store.line_protocol import series_and_field

MOST_KEPT = 200_000
_MOST_PARTS = 20_000  # of what is added up for a host: processors, each in all its modes
_MOST_BYTES = 64 << 20  # of the labels by which series are found again
_LONGEST_GAP = 600 * SECOND
_SHORTEST_GAP = SECOND  # two Prometheus may scrape a host at nearly the same time
_GONE_AFTER = 300 * SECOND
_MOST_TIMES = 3
_FORGOTTEN_AFTER = 3600 * SECOND
_LONGEST_LABEL = 2_000

_Part = tuple[str, ...]


class TooManyKept(Exception):
    """So much has to be kept to compute values that no more is taken."""


class _Kept:
    """The last samples of the metrics of a group: of one instance, or of all that a total is for.

    `_times` has the samples by time and metric; those of a total once more by instance.
    """

    def __init__(self, group: Group, host: str, labels: dict[str, str]) -> None:
        self.used = 0
        self._group = group
        self._host = host
        self._labels = labels
        self._times: dict[int, dict[str, float]] = {}
        self._of_parts: dict[int, dict[str, dict[_Part, float]]] = {}
        self._known: dict[str, dict[_Part, int]] = {}
        self._parts = 0
        self._is_cut = False
        self._averages: dict[str, tuple[int, float]] = {}
        self._heads: dict[tuple[str, ...], bytes] = {}

    def add(self, time: int, metric: str, part: _Part, value: float) -> None:
        """Keep a sample, unless there are newer ones enough."""
        found = self._times.get(time)
        if found is None:
            if len(self._times) >= _MOST_TIMES:
                oldest = min(self._times)
                if time < oldest:
                    return
                del self._times[oldest]
                self._of_parts.pop(oldest, None)
            found = self._times[time] = {}
        if not self._group.over:
            found[metric] = value
            return
        known = self._known.setdefault(metric, {})
        if part not in known:
            if self._parts >= _MOST_PARTS:
                self._is_cut = True
                return
            self._parts += 1
        known[part] = max(time, known.get(part, time))
        self._of_parts.setdefault(time, {}).setdefault(metric, {})[part] = value

    def lines(self, time: int) -> Iterator[bytes]:
        """The fields that can be computed for a time."""
        if time not in self._times:
            return
        now = self._sums(time)
        chosen = self._chosen(now)
        if chosen is None:
            return
        for field, formulas in self._group.formulas.items():
            for formula in formulas:
                value = self._value(formula, time, now)
                if value is not None:
                    yield b"%b=%b %d" % (self._head(field, chosen), repr(value).encode(), time)
                    break

    def _value(self, formula: Formula, time: int, now: dict[str, float]) -> float | None:
        if not formula.names <= now.keys():
            return None
        parts = self._of_parts.get(time, {})
        # What has no label of an instance is of all of them already.
        counts = {name: sum(any(part) for part in parts[name]) for name in formula.names if name in parts}
        if not formula.growing:
            return formula.value(Moment(time, now, counts=counts))
        before = self._before(formula.growing, time)
        if before is None:
            return None
        return formula.value(
            Moment(time, now, self._sums(before), (time - before) / SECOND, counts, self._averages),
        )

    def _before(self, names: set[str], time: int) -> int | None:
        """The newest time before with the same instances of some metrics."""
        parts = self._of_parts.get(time, {})
        for earlier in sorted(self._times, reverse=True):
            if not _SHORTEST_GAP <= time - earlier <= _LONGEST_GAP or not names <= self._times[earlier].keys():
                continue
            then = self._of_parts.get(earlier, {})
            if all(then[name].keys() == parts[name].keys() for name in names if name in parts):
                return earlier
        return None

    def _sums(self, time: int) -> dict[str, float]:
        """The metrics at a time, those of a total added up if all of its instances are there."""
        if self._group.over:
            whole = {name: parts for name, parts in self._of_parts[time].items() if self._is_whole(name, parts, time)}
            self._times[time] = {name: _sum(parts) for name, parts in whole.items()}
        return self._times[time]

    def _is_whole(self, metric: str, parts: Mapping[_Part, float], time: int) -> bool:
        known = self._known[metric]
        for part in [part for part, last in known.items() if last < time - _GONE_AFTER]:
            del known[part]
            self._parts -= 1
        return not self._is_cut and known.keys() <= parts.keys()

    def _chosen(self, now: Mapping[str, float]) -> dict[str, str] | None:
        """The tags that depend on values; None if one of these is not known."""
        chosen: dict[str, str] = {}
        for tag, by in self._group.when.items():
            for metric, texts in by.items():
                value = now.get(metric, math.nan)
                text = texts.get(int(value)) if math.isfinite(value) else None
                if text is None:
                    return None
                chosen[tag] = text
        return chosen

    def _head(self, field: str, chosen: dict[str, str]) -> bytes:
        key = (field, *chosen.values())
        if key not in self._heads:
            series = self._group.series(self._host, self._labels, field, chosen)
            self._heads[key] = series_and_field(series).encode()
        return self._heads[key]


class Place(NamedTuple):
    """Where the samples of a metric with its labels go: fields as they are, with a factor, and what is put together."""

    plain: tuple[tuple[bytes, float], ...]
    kept: tuple[tuple[_Kept, str, _Part], ...]


class Translator:
    """Translates the samples of many hosts. Whoever uses it holds `lock`."""

    def __init__(self, signals: Mapping[str, Signal], most_kept: int = MOST_KEPT) -> None:
        self.lock = Lock()
        self._names = MetricNames(signals)
        self._most = most_kept
        self._kept: dict[Hashable, _Kept] = {}
        self._places: dict[Hashable, Place | None] = {}
        self._bytes = 0
        self._since = 0

    @property
    def known(self) -> frozenset[str]:
        """The names of the metrics that are something; all others may be left out at once."""
        return self._names.known

    def place(self, key: Hashable, series: Callable[[], tuple[str, dict[str, str], str]]) -> Place | None:
        """Where the samples of a series go; None if nowhere. `series` gives its name, labels and host.

        Asked once for each key. TooManyKept if too much would have to be kept.
        """
        try:
            return self._places[key]
        except KeyError:
            if len(self._places) >= 4 * self._most or self._bytes > _MOST_BYTES:
                self._places.clear()
                self._bytes = 0
            found = self._places[key] = self._place(*series())
            self._bytes += _size(key)
            return found

    def lines(self, samples: list[tuple[Place, int, float]], now: int) -> bytes:
        """Line protocol of samples, each with its time (UTC ns). Values that are not finite are left out."""
        self._forget(now)
        written: list[bytes] = []
        touched: dict[tuple[int, int], _Kept] = {}
        for place, time, value in samples:
            if not math.isfinite(value):
                continue
            for head, factor in place.plain:
                if math.isfinite(factor * value):
                    written.append(b"%b=%b %d" % (head, repr(factor * value).encode(), time))
            for kept, metric, part in place.kept:
                kept.add(time, metric, part, value)
                kept.used = max(kept.used, now)
                touched[id(kept), time] = kept
        for (_, time), kept in sorted(touched.items(), key=lambda one: one[0][1]):
            written += kept.lines(time)
        return b"\n".join(written)

    def _place(self, name: str, labels: dict[str, str], host: str) -> Place | None:
        if not host or any(len(one) > _LONGEST_LABEL for one in (host, *labels.values())):
            return None
        plain: list[tuple[bytes, float]] = []
        kept: list[tuple[_Kept, str, _Part]] = []
        for use in self._names.uses(name):
            if not use.is_of(labels):
                continue
            needed = use.group.labels
            if not all(label in labels for label in needed):
                continue
            for field, factor in use.plain:
                series = use.group.series(host, labels, field, {})
                plain.append((series_and_field(series).encode(), factor))
            if use.computed:
                own = {label: labels[label] for label in needed}
                part = tuple(labels.get(label, "") for label in use.group.over)
                kept.append((self._keep(use.group, host, own), use.metric, part))
        if not plain and not kept and (series := self._names.as_telegraf(name, labels, host)):
            plain.append((series_and_field(series).encode(), 1.0))
        return Place(tuple(plain), tuple(kept)) if plain or kept else None

    def _keep(self, group: Group, host: str, labels: dict[str, str]) -> _Kept:
        key = (id(group), host, *labels.values())
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= self._most:
                raise TooManyKept
            found = self._kept[key] = _Kept(group, host, labels)
        return found

    def _forget(self, now: int) -> None:
        """Forget, once an hour, what had no samples for an hour."""
        if now - self._since < _FORGOTTEN_AFTER:
            return
        if self._since:
            self._kept = {key: one for key, one in self._kept.items() if now - one.used < _FORGOTTEN_AFTER}
            self._places.clear()
            self._bytes = 0
        self._since = now


def _sum(parts: Mapping[_Part, float]) -> float:
    """The exact sum; infinite if it is none."""
    try:
        return math.fsum(parts.values())
    except OverflowError:
        return math.inf


def _size(key: Hashable) -> int:
    """About how many bytes a key takes."""
    if isinstance(key, bytes | str):
        return 50 + len(key)
    return 50 + sum(map(_size, key)) if isinstance(key, tuple) else 50
