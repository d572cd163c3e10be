"""Translates metrics of a whole range of time at once, to the same fields as `translate` computes sample by sample."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.receive.exporters.counter_state import (
    GONE_AFTER,
    LONGEST_GAP,
    SHORTEST_GAP,
    CounterState,
    Part,
    compute_total,
)
from plimsoll.receive.exporters.translate import Translator, find_host
from plimsoll.receive.line_protocol.parse import Parser
from plimsoll.rules.exporters.exporter_files import Formula, MetricGroup, Moment

_Mask = NDArray[np.bool_]


class History:
    """Raw samples of metrics with their labels, translated to series with Telegraf's names."""

    def __init__(self, translator: Translator) -> None:
        self.metric_names = translator.metric_names
        self._translator = translator
        self._parser = Parser()
        self._plain: dict[bytes, list[Samples]] = defaultdict(list)
        self._computed: dict[int, tuple[CounterState, dict[str, dict[Part, list[Samples]]]]] = {}

    def add(self, labels: Mapping[str, str], samples: Samples) -> None:
        """Add the finite samples of a metric; calls may be in any order of time. Ignore metrics that nothing uses."""
        name = labels.get("__name__", "")
        place = self._translator.place(tuple(labels.items()), lambda: (name, dict(labels), find_host(labels)))
        for head, factor in place.plain if place else ():
            self._plain[head].append(Samples(samples.times, factor * samples.values).present)
        for state, metric, part in place.kept if place else ():
            _, metrics = self._computed.setdefault(id(state), (state, {}))
            metrics.setdefault(metric, {}).setdefault(part, []).append(samples.present)

    def take(self) -> Iterator[tuple[Series, Samples]]:
        """Yield each translated series of the metrics added since the last call, with its samples."""
        fields, computed = self._plain, self._computed
        self._plain, self._computed = defaultdict(list), {}
        for state, metrics in computed.values():
            rows = _GroupRows(state.group, metrics)
            for name in state.group.column_formulas:
                values = rows.values_of(name)
                for chosen, where in rows.choices():
                    samples = Samples(rows.times, np.where(where, values, np.nan)).present
                    if len(samples.times):
                        fields[state.head(name, chosen)].append(samples)
        for head, parts in fields.items():
            yield self._parse_series(head), _join_samples(parts)

    def _parse_series(self, head: bytes) -> Series:
        """Return the series that a line of line protocol with this start (up to the equals sign) belongs to."""
        return self._parser.parse(head + b"=0 0", now=0).points.series[0]


def _join_samples(parts: Sequence[Samples]) -> Samples:
    """Return the samples of several parts in order of time; of samples at one time, the one of the last part."""
    if len(parts) == 1:
        return parts[0]
    times, values = (np.concatenate(arrays) for arrays in zip(*((p.times, p.values) for p in parts), strict=True))
    if (times[1:] > times[:-1]).all():
        return Samples(times, values)
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[order]
    last = np.append(times[1:] != times[:-1], [True])
    return Samples(times[last], values[last])


class _GroupRows:
    """The samples of one metric group as rows, one row for each time; NaN where a metric has no value.

    `CounterState` says which row counts as the previous one, and when a total is complete.
    """

    def __init__(self, group: MetricGroup, metrics: Mapping[str, Mapping[Part, list[Samples]]]) -> None:
        by_part = {
            name: {part: _join_samples(several) for part, several in parts.items()} for name, parts in metrics.items()
        }
        clocks = {s.times.tobytes(): s.times for parts in by_part.values() for s in parts.values()}
        self.times = np.unique(np.concatenate([*clocks.values()]))
        self._group = group
        self._now: dict[str, Values] = {}
        self._counts: dict[str, Values] = {}
        self._members: dict[str, Times] = {}  # equal numbers for the same instances of a total
        for name, parts in by_part.items():
            columns = np.array([self._align_samples(samples) for samples in parts.values()])
            self._now[name] = self._compute_total(columns) if group.over else columns[0]
            present = np.isfinite(columns)
            named = present[[any(part) for part in parts]].sum(axis=0)
            self._counts[name] = np.where((named > 0) & np.isfinite(self._now[name]), named, np.nan)
            self._members[name] = np.unique(np.packbits(present, axis=0), axis=1, return_inverse=True)[1].ravel()

    def choices(self) -> Iterator[tuple[dict[str, str], _Mask]]:
        """Yield each combination of metric-dependent tags and a mask of its rows; absent metrics mean default tags."""
        choices = [(dict[str, str](), np.ones(len(self.times), dtype=bool))]
        for tag, by in self._group.when.items():
            for metric, texts in by.items():
                values = np.trunc(self._now.get(metric, np.full(len(self.times), next(iter(texts)))))
                choices = [
                    ({**chosen, tag: text}, where & (values == value))
                    for chosen, where in choices
                    for value, text in texts.items()
                ]
        yield from choices

    def values_of(self, field: str) -> Values:
        """Return a field's value by row, of the first formula with a result; NaN if none has, or a metric is late."""
        result = np.full(len(self.times), np.nan)
        undecided = np.ones(len(self.times), dtype=bool)
        for formula in self._group.column_formulas[field]:
            if formula.names <= self._now.keys():
                values = formula.values(self._make_moment(formula))
                taken = undecided & np.isfinite(values)
                result[taken] = values[taken]
                undecided &= ~taken
            for name in formula.names & self._now.keys():
                missing = np.isnan(self._now[name])
                undecided &= ~(missing & np.logical_or.accumulate(~missing))
        return result

    def _align_samples(self, samples: Samples) -> Values:
        values = np.full(len(self.times), np.nan)
        values[self.times.searchsorted(samples.times)] = samples.values
        return values

    def _compute_total(self, columns: Values) -> Values:
        """Return, for each row, the sum of all instances seen in the last minutes; NaN if one is missing."""
        present = np.isfinite(columns)
        last_present = np.maximum.accumulate(np.where(present, self.times, np.iinfo(np.int64).min // 2), axis=1)
        whole = (present | (last_present < self.times - GONE_AFTER)).all(axis=0) & present.any(axis=0)
        total = np.full(len(self.times), np.nan)
        total[whole] = [*map(compute_total, np.nan_to_num(columns.T[whole]).tolist())]
        return total

    def _make_moment(self, formula: Formula) -> Moment:
        moment = Moment(self.times, self._now, counts=self._counts)
        if formula.growing:
            before = self._find_rows_before(sorted(formula.growing))
            moment.before = {name: np.where(before < 0, np.nan, self._now[name][before]) for name in formula.growing}
            moment.seconds = (self.times - self.times[before]) / SECOND
        return moment

    def _find_rows_before(self, names: Sequence[str]) -> Times:
        """Return, for each row, the newest earlier row with the same instances of the metrics; -1 if none."""
        rows = np.flatnonzero(np.all([np.isfinite(self._now[name]) for name in names], axis=0))
        times, members = self.times[rows], np.array([self._members[name][rows] for name in names])
        at = np.arange(len(rows)) - 1
        while True:
            gap = times - times[at]
            differs = (gap < SHORTEST_GAP) | (members != members[:, at]).any(axis=0)
            again = (at >= 0) & (gap <= LONGEST_GAP) & differs
            if not again.any():
                break
            at[again] -= 1
        before = np.full(len(self.times), -1)
        before[rows] = np.where((at >= 0) & (gap <= LONGEST_GAP), rows[at], -1)
        return before
