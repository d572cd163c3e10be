"""Judges stored samples as a review does, to find the alerts that would have fired had no sample been late."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial

import numpy as np

from plimsoll.alerting.rule_targets import RuleTarget, Site, plan
from plimsoll.alerting.series_index import Check, check_nothing
from plimsoll.alerting.state_changes import AlertInterval
from plimsoll.hosts.facts import (
    ConfiguredFacts,
    Facts,
    Place,
    RecordedFacts,
    UnknownFact,
    find_facts,
    is_fact_in_maximum,
)
from plimsoll.model.group_pairs import group_pairs
from plimsoll.model.log import Times, Values
from plimsoll.model.samples import Samples
from plimsoll.model.series import HostKey, Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.rules.crossings import find_worst
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.evaluations import Conditions
from plimsoll.rules.signal_finder import Finder, list_read_series
from plimsoll.rules.states import EVALUATION_INTERVAL, State, States, Truth, run
from plimsoll.rules.subjects import find_host, list_host_tags
from plimsoll.store.protocol import SampleReader

_DAY = 86_400 * SECOND
_AFTER = 6  # evaluations that are judged after the last that may be past the limit


def replay(
    store: SampleReader, site: Site, configured: ConfiguredFacts, start: int, end: int
) -> Iterator[AlertInterval]:
    """Yield the intervals of alerts that fired at some evaluation from `start` to `end` (UTC ns).

    The replay begins two hours before `start`; an alert that began earlier is reported to begin then.
    """
    for target, conditions in evaluate_again(store, site, configured, start, end):
        yield from list_alert_intervals(target, conditions, start)


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
    chosen = {make_host_key(host) for host in hosts}
    for host, series in group_series_by_host(store, site, first, end).items():
        if not chosen or host in chosen:
            yield from list_conditions(store, site, configured, series, first, end, check, with_pending=True)


def group_series_by_host(store: SampleReader, site: Site, start: int, end: int) -> Mapping[HostKey, Sequence[Series]]:
    """Return the series with samples in a range, by host (case-folded)."""
    tags = list_host_tags(site.catalogue.signals)
    return group_pairs(
        (make_host_key(find_host(recorded, tags)), recorded) for recorded in store.series(start, end).series
    )


def list_conditions(
    store: SampleReader,
    site: Site,
    configured: ConfiguredFacts,
    series: Sequence[Series],
    start: int,
    end: int,
    check: Check = check_nothing,
    *,
    with_pending: bool = False,
) -> Iterator[tuple[RuleTarget, Conditions]]:
    """Yield each target of these series, with its conditions at every evaluation from its first sample on.

    With `with_pending`, they begin early enough to know the states after `HostSamples.BEFORE`: see `find_first_time`.
    """
    facts = find_stored_facts(store, series, configured, start, end)
    targets, finder = plan(site, series, facts, check)
    samples = HostSamples(store, find_first_time(targets, start) if with_pending else start, end)
    judge = RuleEvaluator(finder.find, samples.of, facts, signals=site.catalogue.signals)
    yield from evaluate_targets(samples, judge, targets, finder, check)


def find_stored_facts(
    store: SampleReader, series: Sequence[Series], configured: ConfiguredFacts, start: int, end: int
) -> Facts:
    """Return the facts of hosts that their series show in a range, and the configured facts."""

    def find_recorded() -> RecordedFacts:
        telling = [part for part in series if is_fact_in_maximum(part)]
        by_day = dict(zip(telling, store.buckets(telling, start, end, _DAY) if telling else (), strict=True))

        def values(part: Series) -> Values:
            return by_day[part].maximum if part in by_day else store.read([part], start, end)[0].values

        return find_facts([(part, partial(values, part)) for part in series])

    return Facts(configured, _LazyFacts(find_recorded))


class _LazyFacts(Mapping[Place, Mapping[str, float]]):
    """Recorded facts that are found when the first is needed: many rules need none."""

    def __init__(self, find: Callable[[], RecordedFacts]) -> None:
        self._find = cache(find)

    def __getitem__(self, place: Place) -> Mapping[str, float]:
        return self._find()[place]

    def __iter__(self) -> Iterator[Place]:
        return iter(self._find())

    def __len__(self) -> int:
        return len(self._find())


def find_first_time(targets: Iterable[RuleTarget], start: int) -> int:
    """Return from when on (UTC ns) samples are needed, so that it is known which limits are pending after `start`.

    It is earlier than `start`, which is `HostSamples.BEFORE` before the first state that counts, for a long `for`.
    """
    rules = (target.rule for target in targets)
    longest = max((rule.for_ + max(condition.over for condition in rule.conditions) for rule in rules), default=0)
    return start - max(0, longest - HostSamples.BEFORE // 2)


class HostSamples:
    """The samples of series in a range, each read once when it is needed."""

    BEFORE = 7200 * SECOND  # longer than the window and `for` of nearly all rules

    def __init__(self, store: SampleReader, start: int, end: int) -> None:
        self._store, self._start, self._end = store, start, end
        self._samples: dict[Series, Samples] = {}
        self._times: dict[int, Times] = {}

    def read(self, needed: Collection[Series]) -> None:
        """Read the samples of these series at once."""
        missing = [part for part in needed if part not in self._samples]
        read = self._store.read(missing, self._start, self._end) if missing else ()
        self._samples.update(zip(missing, read, strict=True))

    def of(self, part: Series) -> Samples:
        """Return the samples of a series that was read."""
        return self._samples[part]

    def evaluations(self, parts: Iterable[Series]) -> Times | None:
        """Return the evaluations from the first sample of these series on; None if they have no samples."""
        firsts = [int(self._samples[part].times[0]) for part in parts if len(self._samples[part].times)]
        if not firsts:
            return None
        first = -(-min(firsts) // EVALUATION_INTERVAL) * EVALUATION_INTERVAL
        # The same array, by which values are found again.
        return self._times.setdefault(first, np.arange(first, self._end + 1, EVALUATION_INTERVAL, dtype=np.int64))


def evaluate_targets(
    samples: HostSamples,
    judge: RuleEvaluator,
    targets: Sequence[RuleTarget],
    finder: Finder,
    check: Check,
    *,
    only_possible: bool = False,
) -> Iterator[tuple[RuleTarget, Conditions]]:
    """Yield each target with its conditions at every evaluation from its first sample on.

    With `only_possible`, evaluations that change no state, as no sample in their windows is past the limit, are left
    out.
    """
    signals = {condition.signal for target in targets for condition in target.rule.conditions}
    hosts = {make_host_key(target.subject.host) for target in targets}
    origins = (pair for name in signals for pair in finder.find(name).values())
    samples.read(
        {part for on, origin in origins if make_host_key(on.host) in hosts for part in list_read_series(origin)}
    )
    for target in targets:
        check()
        if (at := samples.evaluations(list_read_series(target.origin))) is not None:
            with suppress(UnknownFact):
                yield target, (only_possible and _evaluate_possible(judge, target, at)) or _evaluate(judge, target, at)


def _evaluate(judge: RuleEvaluator, target: RuleTarget, at: Times) -> Conditions:
    return judge.evaluate_conditions(target.rule, target.subject, target.origin, at)


def _evaluate_possible(judge: RuleEvaluator, target: RuleTarget, at: Times) -> Conditions | None:
    """Return the conditions at the evaluations that may change a state; None if these cannot be known beforehand."""
    possible = judge.mark_possible(target.rule, target.subject, target.origin, at)
    if possible is None:
        return None
    after = np.flatnonzero(possible)[:, np.newaxis] + np.arange(1, _AFTER)
    possible[after[after < len(at)]] = True
    conditions = _evaluate(judge, target, at[possible])
    # An alert may fire on until there is data again.
    ends = np.diff(conditions.times, append=at[-1] + 1) > EVALUATION_INTERVAL
    return conditions if (conditions.stay[ends] == Truth.FALSE).all() else None


def find_pending(target: RuleTarget, conditions: Conditions) -> tuple[int, float] | None:
    """Return since when (UTC ns) a rule is pending in the end, and the worst value since; None if it is not pending."""
    states = _compute_states(target, conditions)
    if not len(states) or states[-1] != State.PENDING:
        return None
    begun = int(np.append(np.flatnonzero(states != State.PENDING), -1).max()) + 1
    return int(conditions.times[begun]), find_worst(conditions.healthy, conditions.values[begun:])


def _compute_states(target: RuleTarget, conditions: Conditions) -> States:
    return run(conditions.times, conditions.enter[np.newaxis], conditions.stay[np.newaxis], target.rule.for_)[0]


def list_alert_intervals(target: RuleTarget, conditions: Conditions, start: int) -> Iterator[AlertInterval]:
    """Yield the intervals in which a rule fired for a subject and that did not end before `start` (UTC ns)."""
    states = _compute_states(target, conditions)
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
            find_worst(conditions.healthy, conditions.values[since:stop]),
            conditions.healthy,
            target.note,
            last_data=last_data,
        )
