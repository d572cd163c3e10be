"""Judges stored samples over columns, as a review does: which alerts there were, had all samples arrived in time."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from plimsoll.alerting.alert_intervals import AlertInterval
from plimsoll.alerting.rule_targets import RuleTarget, Site, plan
from plimsoll.alerting.series_index import GoOn, go_on
from plimsoll.hosts.facts import Facts, GivenFacts, UnknownFact
from plimsoll.hosts.recorded_facts import facts_shown_by, shows_in_values
from plimsoll.model.host_key import host_key
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.crossings import worst_of
from plimsoll.rules.evaluate import Judge
from plimsoll.rules.grid import EVERY
from plimsoll.rules.origins import series_of
from plimsoll.rules.states import State, Truth, run
from plimsoll.rules.subjects import host_of, host_tags
from plimsoll.rules.tracks import Conditions
from plimsoll.store.protocol import Store

_BEFORE = 7200 * SECOND  # longer than any window and `for`, so that what was pending at the start is known


def replay(store: Store, site: Site, given: GivenFacts, start: int, end: int) -> Iterator[AlertInterval]:
    """Yield the episodes with an evaluation from `start` to `end` (UTC ns).

    What was firing two hours before `start` already is reported as firing from some time in these two hours on.
    """
    for one, found in judged_again(store, site, given, start, end):
        yield from episodes_of(one, found, start)


def judged_again(
    store: Store,
    site: Site,
    given: GivenFacts,
    start: int,
    end: int,
    hosts: Collection[str] = (),
    check: GoOn = go_on,
) -> Iterator[tuple[RuleTarget, Conditions]]:
    """Yield what is judged from two hours before `start` to `end` (UTC ns); of these hosts, or of all.

    `check` is called again and again, and may raise to end this.
    """
    first = start - _BEFORE
    tags = host_tags(site.catalogue.signals)
    by_host: dict[str, list[Series]] = {}
    for one in store.series(first, end, live=True).series:
        by_host.setdefault(host_key(host_of(one, tags)), []).append(one)
    wanted = {host_key(host) for host in hosts}
    for host, series in by_host.items():
        if not wanted or host in wanted:
            yield from conditions_of(store, site, given, series, first, end, check)


def conditions_of(
    store: Store,
    site: Site,
    given: GivenFacts,
    series: Sequence[Series],
    start: int,
    end: int,
    check: GoOn = go_on,
) -> Iterator[tuple[RuleTarget, Conditions]]:
    """Yield what is judged on the series of hosts, at every evaluation from the first sample of each on."""
    held: dict[Series, Samples] = {}

    def hold(some: Collection[Series]) -> None:
        missing = [one for one in some if one not in held]
        held.update(zip(missing, store.read(missing, start, end, live=True) if missing else (), strict=True))

    def values(one: Series) -> Values:
        return held[one].values if one in held else np.empty(0)

    hold([one for one in series if shows_in_values(one)])
    facts = Facts(given, facts_shown_by([(one, lambda one=one: values(one)) for one in series]))
    planned, finder = plan(site, series, facts, check)
    signals = {condition.signal for one in planned for condition in one.rule.conditions}
    hold({part for name in signals for _, origin in finder.find(name).values() for part in series_of(origin)})
    judge = Judge(finder.find, held.__getitem__, facts, signals=site.catalogue.signals)
    for one in planned:
        check()
        times = [held[part].times for part in series_of(one.origin) if len(held[part].times)]
        if times:
            begin = -(-min(int(some[0]) for some in times) // EVERY) * EVERY
            try:
                found = judge.conditions(
                    one.rule, one.subject, one.origin, np.arange(begin, end + 1, EVERY, dtype=np.int64)
                )
            except UnknownFact:
                continue
            yield one, found


def pending_of(one: RuleTarget, found: Conditions) -> tuple[int, float] | None:
    """Since when (UTC ns) a rule is pending for a subject at the end, and the worst value since; None if it is not."""
    states, status = run(found.times, found.enter, found.stay, one.rule.for_)
    if not len(states) or states[-1] != State.PENDING or status.since is None:
        return None
    return status.since, worst_of(found.healthy, found.values[found.times >= status.since])


def episodes_of(one: RuleTarget, found: Conditions, start: int) -> Iterator[AlertInterval]:
    """Yield the times that a rule fired for a subject, those left out that ended before `start` (UTC ns)."""
    states, _ = run(found.times, found.enter, found.stay, one.rule.for_)
    active = (states == State.PENDING) | (states == State.FIRING)
    with_data = np.flatnonzero(found.enter != Truth.NO_DATA)
    known = int(found.times[with_data[-1]]) if len(with_data) else None
    firing = np.concatenate(([False], states == State.FIRING, [False]))
    edges = np.flatnonzero(np.diff(firing.astype(np.int8))).reshape(-1, 2)
    for first, stop in edges.tolist():
        if stop < len(found.times) and found.times[stop] < start:
            continue
        inactive = np.flatnonzero(~active[:first])
        since = int(inactive[-1]) + 1 if len(inactive) else 0
        yield AlertInterval(
            one.rule,
            one.subject,
            int(found.times[since]),
            int(found.times[first]),
            int(found.times[stop]) if stop < len(found.times) else None,
            float(found.values[first]),
            worst_of(found.healthy, found.values[since:stop]),
            found.healthy,
            one.note,
            known=known,
        )
