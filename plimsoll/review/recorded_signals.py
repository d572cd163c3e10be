"""The samples of every signal: recorded values in the signal's unit, at the times they were recorded."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np

from plimsoll.hosts.facts import Facts
from plimsoll.model.log import Log, Times, Values, merge_times
from plimsoll.model.samples import Recorded, Samples
from plimsoll.model.series import Series, host_key
from plimsoll.model.times import SECOND
from plimsoll.review.findings import Finding, Question
from plimsoll.rules.request_means import FlatPairs, requests_per_second
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
    recorded_as,
    series_of,
)
from plimsoll.rules.signal_values import combined, total
from plimsoll.rules.subjects import Subject
from plimsoll.rules.window import combined_fields, transformed


class RecordedSignals:
    """The signals of a review as recorded, each in its own unit, within the reviewed time span.

    `finder` tells what each signal is computed from.
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
        """The recorded counters, each once."""
        return self._recorded.series

    def of(self, name: str) -> Mapping[Subject, Samples]:
        """Return the samples of a signal by subject; subjects without samples are left out.

        Empty for a signal that is not known or not recorded. A signal computed from others is included if those were
        sampled at the same times.
        """
        if name not in self._merged:
            item = ((subject, signal_samples(origin, self.counter)) for subject, origin in self._origins(name).values())
            self._merged[name] = {subject: s for subject, s in item if s is not None and s.any_present}
        return self._merged[name]

    def on(self, name: str, host: str) -> Mapping[Subject, Samples]:
        """Return the same for one host."""
        return {subject: s for subject, s in self.of(name).items() if host_key(subject.host) == host_key(host)}

    def is_recorded(self, name: str, host: str) -> bool:
        """Return whether the counters of a signal were recorded on a host, if only without values."""
        return any(on == host_key(host) for on, _ in self._origins(name))

    def samples(self, finding: Finding) -> Samples | None:
        """The samples of a finding's signal; None if it is computed from counters not sampled at the same times."""
        return self.of(finding.rule.signal).get(finding.subject) if finding.subject else None

    def count(self, finding: Finding) -> int | None:
        """The number of samples a finding was judged by; None if its counters were not sampled at the same times."""
        origin_of_subject = self._origins(finding.rule.signal).get(finding.subject.key) if finding.subject else None
        if origin_of_subject is None:
            return None
        subject, origin = origin_of_subject[0], recorded_as(origin_of_subject[1])
        if isinstance(origin, ResolvedSeries):
            return len(self.counter(origin.series).present.times)
        together = self.of(finding.rule.signal).get(subject)
        return len(together.present.times) if together is not None else None

    def has_values(self, finding: Finding) -> bool:
        """Return whether each counter that a finding's signal is computed from has a value."""
        origin_of_subject = self._origins(finding.rule.signal).get(finding.subject.key) if finding.subject else None
        return origin_of_subject is not None and all(
            self.counter(series).any_present for series in series_of(origin_of_subject[1])
        )

    def times(self, finding: Finding) -> list[Times]:
        """Return when each counter that a finding needs had a value (UTC ns); the parts of a total are one counter."""
        origin_of_subject = self._origins(finding.rule.signal).get(finding.subject.key) if finding.subject else None
        origin = recorded_as(origin_of_subject[1]) if origin_of_subject else None
        times_list = [self.counter(series).present.times for series in series_of(origin)] if origin else []
        return [merge_times(times_list)] if isinstance(origin, ResolvedTotal) and times_list else times_list

    def grows(self, finding: Finding) -> bool:
        """Return whether the counter is a growing count, of which the signal is the change between two samples."""
        origin_of_subject = self._origins(finding.rule.signal).get(finding.subject.key) if finding.subject else None
        return (
            origin_of_subject is not None
            and isinstance(origin := recorded_as(origin_of_subject[1]), ResolvedSeries | ResolvedFields)
            and origin.rate
        )

    def unused_counters(self) -> list[Series]:
        """Return the recorded counters that no known signal uses."""
        used = {
            series.key
            for name in self._question.signals
            for _, origin in self._origins(name).values()
            for series in series_of(origin)
        }
        return [series for series in self._recorded.series if series.key not in used]

    def counter(self, series: Series) -> Samples:
        """Return the samples of one counter."""
        if series.key not in self._cache:
            self._cache[series.key] = self._recorded.samples(series).between(self._question.start, self._question.end)
        return self._cache[series.key]

    def _origins(self, name: str) -> ResolvedSources:
        return self.finder.find(name) if name in self._question.signals else ResolvedSources()


def signal_samples(
    origin: ResolvedSource, samples_of: Callable[[Series], Samples], *, where_shared: bool = False
) -> Samples | None:
    """Return the samples of a signal; None if it is computed from series that were not sampled at the same times.

    `where_shared`: such a signal is computed at the times that all its parts have, if there are any.
    """
    match origin:
        case ResolvedSeries(series, rate, transform):
            samples = samples_of(series)
            values = transformed(samples.values, transform)
            if values is not samples.values:
                samples = Samples(samples.times, values, timed_as=samples)
            return _rates(samples.present) if rate else samples
        case ResolvedFields(operation, fields, rate, transform):
            pairs = combined_fields(operation, list(map(samples_of, fields)), transform, rate=rate)
            return Samples(pairs.later, pairs.values)
        case ResolvedRequestTime(value, rate):
            return _of_requests(signal_samples(value, samples_of), signal_samples(rate, samples_of) if rate else None)
        case ResolvedDerivation(operation, operands, weights):
            together = _together(operands, samples_of, where_shared)
            return Samples(together[0].times, combined(operation, _values(together), weights)) if together else None
        case ResolvedTotal(parts, across):
            together = _together(parts, samples_of, where_shared)
            return Samples(together[0].times, total(_values(together), across)) if together else None
        case ResolvedFact():
            return None


def _together(
    parts: Sequence[ResolvedSource], samples_of: Callable[[Series], Samples], where_shared: bool
) -> list[Samples]:
    """Return the samples of each part at the same times; empty if they were not sampled so."""
    samples_list = (signal_samples(part, samples_of, where_shared=where_shared) for part in parts)
    items = [samples for samples in samples_list if samples is not None]
    if len(items) < len(parts):
        return []
    if all(np.array_equal(items[0].times, samples.times) for samples in items[1:]):
        return items
    shared = reduce(np.intersect1d, [samples.times for samples in items])
    return (
        [Samples(shared, samples.values[np.searchsorted(samples.times, shared)]) for samples in items]
        if where_shared
        else []
    )


def _values(parts: Sequence[Samples]) -> list[Values]:
    return [part.values for part in parts]


def _of_requests(samples: Samples | None, rate: Samples | None) -> Samples | None:
    """Times per request: NaN in intervals without requests."""
    if samples is None:
        return None
    flat = FlatPairs.of_samples([samples], rate=False)
    rates = FlatPairs.of_samples([rate], rate=False) if rate else None
    busy = flat.where(requests_per_second(flat, rates, 1) > 0).pairs
    values = np.full(len(samples.times), np.nan)
    values[np.searchsorted(samples.times, busy.later)] = busy.values
    return Samples(samples.times, values)


def _rates(counts: Samples) -> Samples:
    """Return the increase per second of a growing count between neighbouring samples; NaN after a reset."""
    rise = np.diff(counts.values)
    return Samples(counts.times[1:], np.where(rise >= 0, rise / (np.diff(counts.times) / SECOND), np.nan))
