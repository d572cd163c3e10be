"""Judges stored samples as a review does, to find the alerts that would have fired if no sample had been late."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from plimsoll.alerting.rule_targets import RuleTarget, Site, plan
from plimsoll.alerting.series_index import Check, check_nothing
from plimsoll.alerting.state_changes import AlertInterval
from plimsoll.hosts.facts import ConfiguredFacts, Facts, UnknownFact, facts_shown_by, shows_in_values
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series, host_key
from plimsoll.model.times import SECOND
from plimsoll.rules.crossings import worst_of
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.evaluations import Conditions
from plimsoll.rules.signal_finder import series_of
from plimsoll.rules.states import EVALUATION_INTERVAL, State, States, Truth, run
from plimsoll.rules.subjects import host_of, host_tags
from plimsoll.store.protocol import SampleReader

_BEFORE = 7200 * SECOND  # longer than any window and `for`, so that what was pending at the start is known


def replay(
    store: SampleReader, site: Site, configured: ConfiguredFacts, start: int, end: int
) -> Iterator[AlertInterval]:
    """Yield the alerts that fired at an evaluation from `start` to `end` (UTC ns).

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
    first = start - _BEFORE
    tags = host_tags(site.catalogue.signals)
    by_host = group_pairs((host_key(host_of(recorded, tags)), recorded) for recorded in store.series(first, end).series)
    chosen = {host_key(host) for host in hosts}
    for host, series in by_host.items():
        if not chosen or host in chosen:
            yield from conditions_of(store, site, configured, series, first, end, check)


def conditions_of(
    store: SampleReader,
    site: Site,
    configured: ConfiguredFacts,
    series: Sequence[Series],
    start: int,
    end: int,
    check: Check = check_nothing,
) -> Iterator[tuple[RuleTarget, Conditions]]:
    """Yield the targets of these series, each with its conditions at every evaluation from its first sample on."""
    samples: dict[Series, Samples] = {}

    def read(needed: Collection[Series]) -> None:
        missing = [part for part in needed if part not in samples]
        samples.update(zip(missing, store.read(missing, start, end) if missing else (), strict=True))

    def values(part: Series) -> Values:
        return samples[part].values if part in samples else np.empty(0)

    read([part for part in series if shows_in_values(part)])
    facts = Facts(configured, facts_shown_by([(part, partial(values, part)) for part in series]))
    targets, finder = plan(site, series, facts, check)
    signals = {condition.signal for target in targets for condition in target.rule.conditions}
    read({part for name in signals for _, origin in finder.find(name).values() for part in series_of(origin)})
    judge = RuleEvaluator(finder.find, samples.__getitem__, facts, signals=site.catalogue.signals)
    for target in targets:
        check()
        firsts = [int(samples[part].times[0]) for part in series_of(target.origin) if len(samples[part].times)]
        if firsts:
            first = -(-min(firsts) // EVALUATION_INTERVAL) * EVALUATION_INTERVAL
            at = np.arange(first, end + 1, EVALUATION_INTERVAL, dtype=np.int64)
            with suppress(UnknownFact):
                yield target, judge.evaluate_conditions(target.rule, target.subject, target.origin, at)


def pending_since(target: RuleTarget, conditions: Conditions) -> tuple[int, float] | None:
    """Return since when (UTC ns) a rule is pending at the end, and the worst value since; None if it is not pending."""
    states = _states(target, conditions)
    if not len(states) or states[-1] != State.PENDING:
        return None
    begun = int(np.append(np.flatnonzero(states != State.PENDING), -1).max()) + 1
    return int(conditions.times[begun]), worst_of(conditions.healthy, conditions.values[begun:])


def _states(target: RuleTarget, conditions: Conditions) -> States:
    return run(conditions.times, conditions.enter[np.newaxis], conditions.stay[np.newaxis], target.rule.for_)[0]


def alert_intervals(target: RuleTarget, conditions: Conditions, start: int) -> Iterator[AlertInterval]:
    """Yield the intervals in which a rule fired for a subject, except intervals that ended before `start` (UTC ns)."""
    states = _states(target, conditions)
    active = (states == State.PENDING) | (states == State.FIRING)
    with_data = np.flatnonzero(conditions.enter != Truth.NO_DATA)
    last_data = int(conditions.times[with_data[-1]]) if len(with_data) else None
    firing = np.concatenate(([False], states == State.FIRING, [False]))
    edges = np.flatnonzero(np.diff(firing.astype(np.int8))).reshape(-1, 2)
    for first, stop in edges.tolist():
        if stop < len(conditions.times) and conditions.times[stop] < start:
            continue
        inactive = np.flatnonzero(~active[:first])
        since = int(inactive[-1]) + 1 if len(inactive) else 0
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
