"""The samples of every signal: recorded values in the signal's unit, at the recorded times."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np

from plimsoll.hosts.facts import Facts
from plimsoll.model.log import Log, Times, Values, merge_times
from plimsoll.model.samples import Recorded, Samples
from plimsoll.model.series import LOAD_DRIVER, Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.review.findings import Finding, Question
from plimsoll.rules.signal_finder import (
    Finder,
    ResolvedDerivation,
    ResolvedFact,
    ResolvedFields,
    ResolvedRequestTime,
    ResolvedSeries,
    ResolvedSource,
    ResolvedSources,
    ResolvedTotal,
    drop_request_rate,
    list_read_series,
)
from plimsoll.rules.signal_values import combine_operands, total_values
from plimsoll.rules.subjects import Subject
from plimsoll.rules.window import FlatPairs, combine_field_samples, find_requests_per_second, transform_values


class RecordedSignals:
    """The signals of a review as recorded, each in its own unit, within the reviewed part of the run.

    `finder` finds the series that each signal is computed from.
    """

    def __init__(self, logs: Sequence[Log], question: Question, facts: Facts) -> None:
        self._question = question
        self._recorded = Recorded(logs)
        self._cache: dict[object, Samples] = {}
        self.finder = Finder(
            question.signals,
            self._recorded.series,
            lambda series: self.counter(series).any_present,
            facts.find,
        )
        self._merged: dict[str, Mapping[Subject, Samples]] = {}

    @property
    def series(self) -> Sequence[Series]:
        """The recorded counters, without duplicates."""
        return self._recorded.series

    def of(self, name: str) -> Mapping[Subject, Samples]:
        """Return the samples of a signal by subject, without subjects that have no samples.

        The mapping is empty if the signal is unknown or was not recorded. A signal computed from other signals is
        included only if the other signals were sampled at the same times.
        """
        if name not in self._merged:
            pairs = (
                (subject, compute_signal_samples(origin, self.counter))
                for subject, origin in self._list_origins(name).values()
            )
            self._merged[name] = {subject: s for subject, s in pairs if s is not None and s.any_present}
        return self._merged[name]

    def on(self, name: str, host: str) -> Mapping[Subject, Samples]:
        """Return the samples of a signal on one host, by subject."""
        return {
            subject: s for subject, s in self.of(name).items() if make_host_key(subject.host) == make_host_key(host)
        }

    def is_recorded(self, name: str, host: str) -> bool:
        """Return whether the counters of a signal were recorded on a host, even if without values."""
        return any(on == make_host_key(host) for on, _ in self._list_origins(name))

    def samples(self, finding: Finding) -> Samples | None:
        """Return the samples of a finding's signal; None without samples, or if its counters have different times."""
        return self.of(finding.rule.signal).get(finding.subject) if finding.subject else None

    def _find_origin(self, finding: Finding) -> ResolvedSource | None:
        pair = self._list_origins(finding.rule.signal).get(finding.subject.key) if finding.subject else None
        return pair[1] if pair else None

    def count(self, finding: Finding) -> int | None:
        """Return the number of samples of a finding's signal; None if its counters were sampled at different times."""
        origin = self._find_origin(finding)
        if origin and isinstance(recorded := drop_request_rate(origin), ResolvedSeries):
            return int(np.count_nonzero(np.isfinite(self.counter(recorded.series).values)))
        together = self.samples(finding) if origin else None
        return len(together.present.times) if together is not None else None

    def has_values(self, finding: Finding) -> bool:
        """Return whether each counter that a finding's signal is computed from has a value."""
        origin = self._find_origin(finding)
        return origin is not None and all(self.counter(series).any_present for series in list_read_series(origin))

    def times(self, finding: Finding) -> list[Times]:
        """Return, for each counter that a finding needs, the times (UTC ns) of its values.

        The parts of a total count as a single counter.
        """
        origin = self._find_origin(finding)
        recorded = drop_request_rate(origin) if origin else None
        times = [self.counter(series).present_times for series in list_read_series(recorded)] if recorded else []
        return [merge_times(times)] if isinstance(recorded, ResolvedTotal) and times else times

    def grows(self, finding: Finding) -> bool:
        """Return whether the finding's signal is the rate of a counter that only grows."""
        origin = self._find_origin(finding)
        recorded = drop_request_rate(origin) if origin else None
        return isinstance(recorded, ResolvedSeries | ResolvedFields) and recorded.rate

    def unused_counters(self) -> list[Series]:
        """Return the recorded counters that no signal uses, without the reasons of a load driver's failures."""
        used = {
            series.key
            for name in self._question.signals
            for _, origin in self._list_origins(name).values()
            for series in list_read_series(origin)
        }
        of_driver = LOAD_DRIVER[2]
        return [s for s in self._recorded.series if s.key not in used and s.measurement != of_driver]

    def counter(self, series: Series) -> Samples:
        """Return the samples of one counter."""
        if series.key not in self._cache:
            self._cache[series.key] = self._recorded.samples(series).between(self._question.start, self._question.end)
        return self._cache[series.key]

    def _list_origins(self, name: str) -> ResolvedSources:
        return self.finder.find(name) if name in self._question.signals else ResolvedSources()


def compute_signal_samples(
    origin: ResolvedSource, samples_of: Callable[[Series], Samples], *, where_shared: bool = False
) -> Samples | None:
    """Return the samples of a signal; None if it is computed from series that were not sampled at the same times.

    With `where_shared`, a signal computed from series with different times has samples at the times that all series
    share.
    """
    match origin:
        case ResolvedSeries(series, rate, transform):
            samples = samples_of(series)
            values = transform_values(samples.values, transform)
            if values is not samples.values:
                samples = Samples(samples.times, values, timed_as=samples)
            return _compute_rates(samples.present) if rate else samples
        case ResolvedFields(operation, fields, rate, transform):
            pairs = combine_field_samples(operation, list(map(samples_of, fields)), transform, rate=rate)
            return Samples(pairs.later, pairs.values)
        case ResolvedRequestTime(value, rate):
            return _weight_by_requests(
                compute_signal_samples(value, samples_of), compute_signal_samples(rate, samples_of) if rate else None
            )
        case ResolvedDerivation(operation, operands, weights):
            times, values = _select_shared_times(operands, samples_of, where_shared)
            return Samples(times, combine_operands(operation, values, weights)) if values else None
        case ResolvedTotal(parts, across):
            times, values = _select_shared_times(parts, samples_of, where_shared)
            return Samples(times, total_values(values, across)) if values else None
        case ResolvedFact():
            return None


def _select_shared_times(
    parts: Sequence[ResolvedSource], samples_of: Callable[[Series], Samples], where_shared: bool
) -> tuple[Times, list[Values]]:
    """Return the times that all parts share, and the values of each part then.

    If the times of the parts differ, there are no values unless `where_shared`.
    """
    sampled = [compute_signal_samples(part, samples_of, where_shared=where_shared) for part in parts]
    recorded = [samples for samples in sampled if samples is not None]
    times = recorded[0].times if recorded else np.empty(0, np.int64)
    if len(recorded) < len(parts):
        return times, []
    if all(np.array_equal(times, samples.times) for samples in recorded[1:]):
        return times, [samples.values for samples in recorded]
    shared = reduce(np.intersect1d, [samples.times for samples in recorded])
    rows = [np.searchsorted(samples.times, shared) for samples in recorded] if where_shared else []
    return shared, [samples.values[at] for samples, at in zip(recorded, rows, strict=False)]


def _weight_by_requests(samples: Samples | None, rate: Samples | None) -> Samples | None:
    """Return the mean time per request at each sample; NaN in intervals without requests."""
    if samples is None:
        return None
    if rate is None or rate.times is samples.times:
        present = np.isfinite(samples.values)
        busy = samples.values != 0
        if rate is not None and (shared := present & np.isfinite(rate.values)).any():
            busy = shared & (rate.values > 0)
        return Samples(samples.times, np.where(busy & present, samples.values, np.nan))
    flat, rates = (FlatPairs.of_samples([part], rate=False) for part in (samples, rate))
    busy = flat.where(find_requests_per_second(flat, rates, 1) > 0).pairs
    values = np.full(len(samples.times), np.nan)
    values[np.searchsorted(samples.times, busy.later)] = busy.values
    return Samples(samples.times, values)


def _compute_rates(counts: Samples) -> Samples:
    """Return the increase per second of a growing count between neighbouring samples; NaN after a reset."""
    rise = np.diff(counts.values)
    return Samples(counts.times[1:], np.where(rise >= 0, rise / (np.diff(counts.times) / SECOND), np.nan))
