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

MOST_KEPT = 256 << 20  # bytes, as they are estimated
_OF_GROUP, _OF_LABELS, _OF_PART = 3_000, 10, 600  # what is kept for a group, for a character of its labels, and a part
_MOST_PARTS = 20_000  # of what is added up for a host: processors, each in all its modes
_MOST_BYTES = 64 << 20  # of the labels by which series are found again
_OF_PLACE = 300
_LONGEST_GAP = 600 * SECOND
_SHORTEST_GAP = SECOND  # two Prometheus may scrape a host at nearly the same time
_GONE_AFTER = 300 * SECOND
_MOST_TIMES = 3
_FORGOTTEN_AFTER = 3600 * SECOND
_LONGEST_LABEL = 1_000

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
        self.host = host
        self.labels = labels
        self._times: dict[int, dict[str, float]] = {}
        self._of_parts: dict[int, dict[str, dict[_Part, float]]] = {}
        self._known: dict[str, dict[_Part, int]] = {}
        self._parts = 0
        self._is_cut = False
        self._averages: dict[str, tuple[int, float]] = {}
        self._heads: dict[tuple[str, ...], bytes] = {}

    def add(self, time: int, metric: str, part: _Part, value: float, *, may_grow: bool) -> int:
        """Keep a sample, unless there are newer ones enough. How many bytes more are kept from now on.

        A total with a part more than may be kept is none any more.
        """
        found = self._times.get(time)
        if found is None:
            if len(self._times) >= _MOST_TIMES:
                oldest = min(self._times)
                if time < oldest:
                    return 0
                del self._times[oldest]
                self._of_parts.pop(oldest, None)
            found = self._times[time] = {}
        if not self._group.over:
            found[metric] = value
            return 0
        known = self._known.setdefault(metric, {})
        is_new = part not in known
        if is_new:
            if self._parts >= _MOST_PARTS or not may_grow:
                self._is_cut = True
                return 0
            self._parts += 1
        known[part] = max(time, known.get(part, time))
        self._of_parts.setdefault(time, {}).setdefault(metric, {})[part] = value
        return _of_part(part) if is_new else 0

    @property
    def held(self) -> int:
        """About how many bytes the parts of a total take."""
        return sum(_of_part(part) for parts in self._known.values() for part in parts)

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
        counts = {name: sum(any(part) for part in parts[name]) for name in formula.counted if name in parts}
        if not formula.growing:
            return formula.value(Moment(time, now, counts=counts))
        before = self._before(formula.growing, time)
        if before is None:
            return None
        return formula.value(
            Moment(time, now, self._times[before], (time - before) / SECOND, counts, self._averages),
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
            found = self._of_parts.get(time, {})
            self._times[time] = {
                name: _sum(parts) for name, parts in found.items() if self._is_whole(name, parts, time)
            }
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
            series = self._group.series(self.host, self.labels, field, chosen)
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
        self._held = 0
        self._places: dict[Hashable, Place | None] = {}
        self._bytes = 0
        self._since = 0

    @property
    def held(self) -> int:
        """About how many bytes are kept to put fields together."""
        return self._held

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
            if self._bytes > _MOST_BYTES:
                self._places.clear()
                self._bytes = 0
            found = self._places[key] = self._place(*series())
            self._bytes += _OF_PLACE + _size(key)
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
                self._held += kept.add(time, metric, part, value, may_grow=self._held < self._most)
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
            if self._held >= self._most:
                raise TooManyKept
            self._held += _of_group(host, labels)
            found = self._kept[key] = _Kept(group, host, labels)
        return found

    def _forget(self, now: int) -> None:
        """Forget, once an hour, what had no samples for an hour."""
        if now - self._since < _FORGOTTEN_AFTER:
            return
        if self._since:
            self._kept = {key: one for key, one in self._kept.items() if now - one.used < _FORGOTTEN_AFTER}
            self._held = sum(_of_group(one.host, one.labels) + one.held for one in self._kept.values())
            self._places.clear()
            self._bytes = 0
        self._since = now


def _of_group(host: str, labels: Mapping[str, str]) -> int:
    """About how many bytes are kept for a group: the labels stand in the name of each of its fields."""
    return _OF_GROUP + _OF_LABELS * sum(map(len, (host, *labels.values())))


def _of_part(part: _Part) -> int:
    return _OF_PART + sum(map(len, part))


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
