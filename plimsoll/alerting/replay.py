"""Judges stored samples as a review does, to find the alerts that would have fired had no sample been late."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from plimsoll.alerting.rule_targets import RuleTarget, Site, plan
from plimsoll.alerting.series_index import Check, check_nothing
from plimsoll.alerting.state_changes import AlertInterval
from plimsoll.hosts.facts import ConfiguredFacts, Facts, UnknownFact, facts_shown_by, shows_in_values
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import HostKey, Series, host_key
from plimsoll.model.times import SECOND
from plimsoll.rules.crossings import worst_of
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.evaluations import Conditions
from plimsoll.rules.signal_finder import Finder, series_of
from plimsoll.rules.states import EVALUATION_INTERVAL, State, States, Truth, run
from plimsoll.rules.subjects import host_of, host_tags
from plimsoll.store.protocol import SampleReader


def replay(
    store: SampleReader, site: Site, configured: ConfiguredFacts, start: int, end: int
) -> Iterator[AlertInterval]:
    """Yield the intervals of alerts that fired at some evaluation from `start` to `end` (UTC ns).

    The replay begins two hours before `start`; an alert that began earlier is reported to begin then.
    """
    for target, conditions in evaluate_again(store, site, configured, start, end):
        yield from alert_intervals(target, conditions, start)


def evaluate_again(
    store: SampleReader,
    site: Site,
    configured: ConfiguredFacts,
    start: int,
    end: int,
    hosts: Collection[str] = (),
    check: Check = check_nothing,
) -> Iterator[tuple[RuleTarget, Conditions]]:
    """Yield each target with its conditions from two hours before `start` to `end` (UTC ns), on `hosts` or on all.

    `check` is called often, and may raise to end the work.
    """
    first = start - HostSamples.BEFORE
    chosen = {host_key(host) for host in hosts}
    for host, series in by_host(store, site, first, end).items():
        if not chosen or host in chosen:
            yield from conditions_of(store, site, configured, series, first, end, check)


def by_host(store: SampleReader, site: Site, start: int, end: int) -> Mapping[HostKey, Sequence[Series]]:
    """Return the series with samples in a range, by host (case-folded)."""
    tags = host_tags(site.catalogue.signals)
    return group_pairs((host_key(host_of(recorded, tags)), recorded) for recorded in store.series(start, end).series)


def conditions_of(
    store: SampleReader,
    site: Site,
    configured: ConfiguredFacts,
    series: Sequence[Series],
    start: int,
    end: int,
    check: Check = check_nothing,
) -> Iterator[tuple[RuleTarget, Conditions]]:
    """Yield each target of these series, with its conditions at every evaluation from its first sample on."""
    return HostSamples(store, series, start, end).conditions(site, configured, check)


class HostSamples:
    """The samples of series in a range, each read once when needed, and judged by the rules of a site.

    Several sites may judge these samples if the sites differ in limits alone.
    """

    BEFORE = 7200 * SECOND  # longer than any window and `for`, so that what was pending at the start is known

    def __init__(self, store: SampleReader, series: Sequence[Series], start: int, end: int) -> None:
        self._store, self._series, self._start, self._end = store, series, start, end
        self._samples: dict[Series, Samples] = {}
        self._times: dict[int, Times] = {}
        self._finder: Finder | None = None
        self._judge: RuleEvaluator | None = None

    def conditions(
        self, site: Site, configured: ConfiguredFacts, check: Check = check_nothing, rule: str = ""
    ) -> Iterator[tuple[RuleTarget, Conditions]]:
        """Yield each target (of `rule`, or of all rules) with its conditions from its first sample on."""
        samples = self._samples
        self._read([part for part in self._series if shows_in_values(part)])
        facts = Facts(configured, facts_shown_by([(part, partial(self._values, part)) for part in self._series]))
        targets, finder = plan(site, self._series, facts, check, self._finder)
        targets = [target for target in targets if not rule or target.rule.id == rule]
        signals = {condition.signal for target in targets for condition in target.rule.conditions}
        self._read({part for name in signals for _, origin in finder.find(name).values() for part in series_of(origin)})
        if self._finder is None or self._judge is None:
            self._finder = finder
            self._judge = RuleEvaluator(finder.find, samples.__getitem__, facts, signals=site.catalogue.signals)
        for target in targets:
            check()
            firsts = [int(samples[part].times[0]) for part in series_of(target.origin) if len(samples[part].times)]
            if firsts:
                first = -(-min(firsts) // EVALUATION_INTERVAL) * EVALUATION_INTERVAL
                # The same array, by which values are found again.
                at = self._times.setdefault(first, np.arange(first, self._end + 1, EVALUATION_INTERVAL, dtype=np.int64))
                with suppress(UnknownFact):
                    yield target, self._judge.evaluate_conditions(target.rule, target.subject, target.origin, at)

    def _read(self, needed: Collection[Series]) -> None:
        missing = [part for part in needed if part not in self._samples]
        read = self._store.read(missing, self._start, self._end) if missing else ()
        self._samples.update(zip(missing, read, strict=True))

    def _values(self, part: Series) -> Values:
        return self._samples[part].values if part in self._samples else np.empty(0)


def pending_since(target: RuleTarget, conditions: Conditions) -> tuple[int, float] | None:
    """Return since when (UTC ns) a rule is pending in the end, and the worst value since; None if it is not pending."""
    states = _states(target, conditions)
    if not len(states) or states[-1] != State.PENDING:
        return None
    begun = int(np.append(np.flatnonzero(states != State.PENDING), -1).max()) + 1
    return int(conditions.times[begun]), worst_of(conditions.healthy, conditions.values[begun:])


def _states(target: RuleTarget, conditions: Conditions) -> States:
    return run(conditions.times, conditions.enter[np.newaxis], conditions.stay[np.newaxis], target.rule.for_)[0]


def alert_intervals(target: RuleTarget, conditions: Conditions, start: int) -> Iterator[AlertInterval]:
    """Yield the intervals in which a rule fired for a subject and that did not end before `start` (UTC ns)."""
    states = _states(target, conditions)
    active = (states == State.PENDING) | (states == State.FIRING)
    with_data = np.flatnonzero(conditions.enter != Truth.NO_DATA)
    last_data = int(conditions.times[with_data[-1]]) if len(with_data) else None
    firing = np.concatenate(([False], states == State.FIRING, [False]))
    edges = np.flatnonzero(np.diff(firing.astype(np.int8))).reshape(-1, 2)
    inactive = np.append(-1, np.flatnonzero(~active))
    for first, stop in edges.tolist():
        if stop < len(conditions.times) and conditions.times[stop] < start:
            continue
        since = int(inactive[inactive.searchsorted(first) - 1]) + 1
        yield AlertInterval(
            target.rule,
            target.subject,
            int(conditions.times[since]),
            int(conditions.times[first]),
            int(conditions.times[stop]) if stop < len(conditions.times) else None,
            float(conditions.values[first]),
            worst_of(conditions.healthy, conditions.values[since:stop]),
            conditions.healthy,
            target.note,
            last_data=last_data,
        )
