"""The latest samples of metrics that are combined into fields.

After an outage one sender may be minutes ahead of another sender. So a time of which samples are missing is kept for
some minutes if memory allows; of the complete times, only the newest are kept.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from plimsoll.model.times import SECOND
from plimsoll.rules.exporters.exporter_files import Averages, Formula, MetricGroup, Moment
from plimsoll.store.line_protocol import format_head

Part: TypeAlias = tuple[str, ...]
_OF_GROUP, _OF_LABELS, _OF_PART = 3_000, 10, 600  # what is kept for a group, for a character of its labels, and a part
_OF_TIME, _OF_SAMPLE = 700, 120  # what is kept for a time more than the newest, and for each sample of it
_MOST_PARTS = 20_000  # of what is added up for a host: processors, each in all its modes
LONGEST_GAP = 600 * SECOND
SHORTEST_GAP = SECOND  # two Prometheus servers may scrape a host at nearly the same time
GONE_AFTER = 300 * SECOND
_NEWEST = 3  # times that are kept in any case
_MOST_TIMES = 1_000
_WAITS = 300 * SECOND  # since the first sample of a time has come
_NEVER = 600 * SECOND  # a metric that has not come for so long, while others of its group do, does not come
_LEARNS = 60 * SECOND  # how long it takes until all series of a group have been seen


@dataclass(slots=True)
class _At:
    """The samples of one time: values by metric, instances of totals, `count` of samples, first arrival (UTC ns)."""

    came: int
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    parts: dict[str, dict[Part, float]] = field(default_factory=dict[str, dict[Part, float]])
    count: int = 0


class CounterState:
    """The latest samples of one metric group: of one instance, or of all instances of which a total is computed."""

    def __init__(self, group: MetricGroup, host: str, labels: dict[str, str]) -> None:
        self.used = 0
        self.counted = 0  # what the translator counted for `waiting`
        self.group = group
        self.host = host
        self.labels = labels
        self._times: dict[int, _At] = {}
        self._order: list[int] = []
        self._since: int | None = None
        self._samples = 0
        self._full = 0  # samples of the fullest time
        self._last_seen: dict[str, dict[Part, int]] = {}
        self._parts = 0
        self._is_cut = False
        self._averages: Averages = {}
        self._heads: dict[tuple[str, ...], bytes] = {}
        self._came: set[str] = set()  # metrics of any time

    def add(self, time: int, metric: str, part: Part, value: float, *, now: int, may_grow: bool) -> int:
        """Add a sample that arrives at `now`. Return the estimated bytes of an instance that is new in a total, else 0.

        A total with too many instances is no longer computed.
        """
        at = self._times.get(time)
        self._came.add(metric)
        if at is None:
            insort(self._order, time)
            at = self._times[time] = _At(now)
            self._since = now if self._since is None else self._since
        if not self.group.over:
            self._count(at, metric not in at.metrics)
            at.metrics[metric] = value
            return 0
        last_seen = self._last_seen.setdefault(metric, {})
        is_new = part not in last_seen
        if is_new:
            if self._parts >= _MOST_PARTS or not may_grow:
                self._is_cut = True
                return 0
            self._parts += 1
        last_seen[part] = max(time, last_seen.get(part, time))
        parts = at.parts.setdefault(metric, {})
        self._count(at, part not in parts)
        parts[part] = value
        return estimate_part_size(part) if is_new else 0

    @property
    def measurement(self) -> str:
        """Telegraf's measurement of the group; empty for an object of Perfmon."""
        return self.group.measurement or ""

    def missing(self, now: int) -> Iterator[tuple[str, str]]:
        """Yield each field that cannot be computed, with a metric that never came although other metrics did."""
        if self._since is None or now - self._since < _NEVER or now - self.used > _NEVER:
            return
        for name, formulas in self.group.formulas.items():
            lacking = min((formula.names - self._came for formula in formulas), key=len)
            if lacking and any(formula.names & self._came for formula in formulas):
                yield from ((name, self.group.sources[metric][0].name) for metric in sorted(lacking))

    def _count(self, at: _At, count: int) -> None:
        at.count += count
        self._samples += count
        self._full = max(self._full, at.count)

    @property
    def kept_bytes(self) -> int:
        """The estimated bytes that the parts of totals take."""
        return sum(estimate_part_size(part) for parts in self._last_seen.values() for part in parts)

    @property
    def waiting(self) -> int:
        """The estimated bytes of the samples of all times except the few newest, which are always kept."""
        surplus = len(self._order) - _NEWEST
        if surplus <= 0:
            return 0
        samples = self._samples - sum(self._times[time].count for time in self._order[-_NEWEST:])
        return surplus * _OF_TIME + samples * _OF_SAMPLE

    def drop(self, now: int, *, may_wait: bool) -> int:
        """Remove the samples of old times that are complete or have waited too long for missing samples.

        Return the number of samples lost for lack of memory. The time before an incomplete time is kept, as growth is
        computed from that time.
        """
        dropped = lost = 0
        is_new = self._since is not None and now - self._since < _LEARNS
        for where, time in enumerate(self._order[:-_NEWEST]):
            at, after = self._times[time], self._times[self._order[where + 1]]
            has_room = may_wait and len(self._order) - dropped <= _MOST_TIMES
            if has_room and (self._is_waiting(at, now, is_new) or self._is_waiting(after, now, is_new)):
                break
            if not has_room and now - at.came < _WAITS and self._is_incomplete(at, is_new):
                lost += at.count
            dropped += 1
            self._samples -= at.count
            del self._times[time]
        del self._order[:dropped]
        return lost

    def _is_waiting(self, at: _At, now: int, is_new: bool) -> bool:
        return now - at.came < _WAITS and ((is_new and bool(self.group.over)) or self._is_incomplete(at, is_new))

    def _is_incomplete(self, at: _At, is_new: bool) -> bool:
        """Return whether a time lacks samples that earlier times had, or that the formulas of a new group need."""
        return at.count < self._full or (is_new and self._is_in_part(at))

    def forget_size(self) -> None:
        """Learn again which metrics come and how many samples complete a time, as some metrics may have ended."""
        self._full = max((at.count for at in self._times.values()), default=0)
        self._came = {metric for at in self._times.values() for metric in at.metrics}

    def next_after(self, time: int) -> int | None:
        """Return the first time after `time` that has samples; None if there is none."""
        where = bisect_right(self._order, time)
        return self._order[where] if where < len(self._order) else None

    def lines(self, time: int) -> Iterator[bytes]:
        """Yield line protocol for each field that can be computed at a time."""
        at = self._times.get(time)
        if at is None:
            return
        if self.group.over:  # add up the metrics of a total of which all instances are there
            whole = {name: parts for name, parts in at.parts.items() if self._is_whole(name, parts, time)}
            at.metrics = {name: compute_total(parts.values()) for name, parts in whole.items()}
        chosen = self._choose_tags(at)
        if chosen is None:
            return
        for name, formulas in self.group.formulas.items():
            for formula in formulas:
                value = self._compute_value(formula, time, at)
                if value is not None:
                    yield b"%b=%b %d" % (self.head(name, chosen), repr(value).encode(), time)
                if value is not None or (formula.names - at.metrics.keys()) & self._came:
                    break  # wait for metrics that came before: another formula would give another value

    def _compute_value(self, formula: Formula, time: int, at: _At) -> float | None:
        """Return the value of a formula at a time; None if a sample that the formula needs is missing."""
        if not formula.names <= at.metrics.keys():
            return None
        # A sample without an instance label is already the total.
        counts = {name: sum(map(any, at.parts[name])) or math.nan for name in formula.counted if name in at.parts}
        if not formula.growing:
            return formula.value(Moment(time, at.metrics, counts=counts))
        before = self._find_time_before(formula.growing, time, at)
        if before is None:
            return None
        then = self._times[before].metrics
        return formula.value(Moment(time, at.metrics, then, (time - before) / SECOND, counts, self._averages))

    def _find_time_before(self, names: set[str], time: int, at: _At) -> int | None:
        """Return the newest earlier time at which these metrics have the same instances; None if there is none."""
        for where in range(bisect_left(self._order, time) - 1, -1, -1):
            earlier = self._order[where]
            if time - earlier > LONGEST_GAP:
                return None
            then = self._times[earlier]
            if time - earlier < SHORTEST_GAP or not names <= then.metrics.keys():
                continue
            if all(then.parts[name].keys() == at.parts[name].keys() for name in names if name in at.parts):
                return earlier
        return None

    def _is_whole(self, metric: str, parts: Mapping[Part, float], time: int) -> bool:
        last_seen = self._last_seen[metric]
        for part in [part for part, last in last_seen.items() if last < time - GONE_AFTER]:
            del last_seen[part]
            self._parts -= 1
        return not self._is_cut and last_seen.keys() <= parts.keys()

    def _is_in_part(self, at: _At) -> bool:
        """Return whether a field has some of its metrics but no complete formula, or a tag lacks its metric."""
        present = (at.parts or at.metrics).keys()
        if any(metric not in present for by in self.group.when.values() for metric in by):
            return True
        return any(
            not any(formula.names <= present for formula in formulas)
            and any(formula.names & present for formula in formulas)
            for formulas in self.group.formulas.values()
        )

    def _choose_tags(self, at: _At) -> dict[str, str] | None:
        """Return the tags whose values depend on metrics; None if the value of such a metric is missing.

        A tag whose metric never came gets its default.
        """
        chosen: dict[str, str] = {}
        is_new = self._since is None or at.came - self._since < _LEARNS
        for tag, by in self.group.when.items():
            for metric, texts in by.items():
                value = at.metrics.get(metric, math.nan)
                text = texts.get(int(value)) if math.isfinite(value) else None
                if metric not in self._came and not is_new:
                    text = next(iter(texts.values()))
                if text is None:
                    return None
                chosen[tag] = text
        return chosen

    def head(self, name: str, chosen: dict[str, str]) -> bytes:
        """Return a field's line up to the equals sign; `chosen` are the tags whose values depend on metrics."""
        key = (name, *chosen.values())
        if key not in self._heads:
            series = self.group.series(self.host, self.labels, name, chosen)
            self._heads[key] = format_head(series).encode()
        return self._heads[key]


def estimate_group_size(host: str, labels: Mapping[str, str]) -> int:
    """Return the estimated bytes of a metric group's state; the labels are part of its fields' names."""
    return _OF_GROUP + _OF_LABELS * sum(map(len, (host, *labels.values())))


def estimate_part_size(part: Part) -> int:
    """Return the estimated bytes of one part (instance) of a total."""
    return _OF_PART + sum(map(len, part))


def compute_total(values: Iterable[float]) -> float:
    """Return the exactly rounded sum of the parts of a total; infinity if it overflows."""
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf
