"""Steps the state machine of every rule over live data, from evaluation to evaluation."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from plimsoll.alerting.alert_states import AlertStates
from plimsoll.alerting.evaluation_budget import shared
from plimsoll.alerting.latest_evaluation import LatestEvaluation
from plimsoll.alerting.recent_samples import RecentSamples
from plimsoll.alerting.rule_targets import Key, RuleTarget, Site, plan
from plimsoll.alerting.series_index import MOST_HOSTS, GoOn, SeriesIndex, go_on
from plimsoll.alerting.state_changes import EvaluationStep, StateChange
from plimsoll.hosts.facts import Facts, GivenFacts
from plimsoll.hosts.recorded_facts import facts_shown_by, shows_in_values
from plimsoll.model.host_key import HostKey, host_key
from plimsoll.model.log import Times, Values
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.rules.evaluate import Judge
from plimsoll.rules.grid import EVERY
from plimsoll.rules.origins import Origins, series_of
from plimsoll.rules.schema.field_types import Resource
from plimsoll.rules.states import State, Status
from plimsoll.rules.subjects import host_tags
from plimsoll.store.protocol import Store

OVERLAP = 60 * SECOND  # samples that arrive later than this are not in the windows of later evaluations
_FIRST_LOOK = 3600 * SECOND
_LEAST_REACH = 1800 * SECOND  # for the interval and the window of a series that is sampled every 5 minutes
_LEARN_EVERY = 60 * SECOND
_PLAN_APART = 10  # times what a plan takes: whoever adds series all the time is not to have all the time
_ACTIVE = (State.PENDING, State.FIRING)


class Evaluator:
    """Judges the live data of a store.

    `advance` is called with one evaluation after the other, or with many to catch up. Only statuses that are pending
    or firing are kept; others are as good as none. `most_hosts` and `oldest` are those of `SeriesIndex`; `check` is
    called again and again, and may raise Stopped.
    """

    def __init__(
        self,
        store: Store,
        site: Site,
        given: GivenFacts,
        statuses: Mapping[Key, Status],
        *,
        most_hosts: int = MOST_HOSTS,
        oldest: Sequence[str] = (),
        check: GoOn = go_on,
    ) -> None:
        self._site = site
        self._given = given
        self._buffers = RecentSamples(store, OVERLAP)
        self._tags = host_tags(site.catalogue.signals)
        self._live = SeriesIndex(store, self._tags, most_hosts, oldest)
        self._check = check
        self._reach: Mapping[Series, int] = {}
        self._standing = AlertStates(statuses)
        self._judge = self._judging(lambda _: Origins(), Facts(given))
        self._last: int | None = None
        self._intervals: dict[str, int] | None = None
        self._differs = False  # whether the series differ from those that were planned with
        self._plan_again: int | None = None  # the earliest evaluation to plan at; None before the first plan
        self._beyond: Collection[str] = ()
        self._not_judged: dict[str, set[str]] = {}

    @property
    def statuses(self) -> Mapping[Key, Status]:
        """The statuses that are pending or firing."""
        return self._standing.statuses

    @property
    def judged(self) -> Mapping[str, int]:
        """How many warning and critical limits had data at the last evaluation, by host (case-folded)."""
        return self._standing.judged()

    @property
    def pending(self) -> int:
        """How many warning and critical limits are crossed, but not yet for as long as they must be."""
        return self._standing.pending()

    @property
    def impossible(self) -> Mapping[str, set[str]]:
        """The values of warning and critical limits that cannot be, at the last evaluation, by host (case-folded)."""
        return self._standing.impossible(self._site.catalogue.signals)

    @property
    def lacking(self) -> Mapping[str, set[str]]:
        """The facts that limits need and nobody gives, by host."""
        return self._not_judged

    @property
    def left_out(self) -> Collection[str]:
        """The hosts that are not judged because there are more than are judged."""
        return self._live.left_out

    @property
    def beyond(self) -> Collection[str]:
        """The hosts (case-folded) that are not judged, or not all of them, as they have more than is judged."""
        return self._beyond

    def newest(self, fresh: int) -> Mapping[tuple[str, Resource], tuple[int, int]]:
        """When resources were last sampled, and how often they are; see `AlertStates.newest`."""
        return self._standing.newest(self._site.catalogue.signals, self._buffers.samples, fresh)

    def value(self, key: Key) -> float:
        """The reduced value of a rule at the last evaluation; NaN if there is no data."""
        return self._standing.value(key)

    def state(self, key: Key) -> State:
        """The state of a rule after the last evaluation."""
        return self._standing.state(key)

    def now(self) -> LatestEvaluation:
        """Every rule that is judged, as it is after the last evaluation."""
        return self._standing.now()

    def advance(self, at: Times) -> EvaluationStep:
        """Evaluate at the times `at` (UTC ns, ascending, on the grid), which follow the last ones."""
        start, end = int(at[0]), int(at[-1])
        if self._last is None:
            self._discover(start - _FIRST_LOOK, start - EVERY)
            self._last = start - EVERY
        since = self._last + 1 - OVERLAP
        late, in_time = self._discover(since, self._last), self._discover(self._last + 1, end)
        heard = dict.fromkeys(late, since) | dict.fromkeys(in_time, end)
        self._buffers.read(self._reach, start, end)
        if self._differs and (self._plan_again is None or end >= self._plan_again):
            begun = time.thread_time_ns()
            self._plan(start, end)
            self._differs = False
            self._plan_again = end + _PLAN_APART * (time.thread_time_ns() - begun)
        if end % _LEARN_EVERY == 0:
            self._intervals = None
        if widest := self._buffers.widest_change():
            self._judge = replace(self._judge)  # it has looked at the sampling intervals
            for rule in self._standing.rules:
                rule.intervals_changed(widest)
        transitions: list[StateChange] = []
        for rule in self._standing.rules:
            self._check()
            for key, status, change in rule.advance(self._judge, at, self._lacks, self._covered):
                self._standing.stepped(key, status)
                if change:
                    transitions.append(change)
        transitions += self._standing.step_vanished(end)
        self._last = end
        transitions.sort(key=lambda one: one.at)
        return EvaluationStep(end, transitions, self._standing.readings(), dict(self.statuses), heard)

    def forget(self, keys: Iterable[Key]) -> None:
        """Forget the status of alerts that somebody ended, so that they can fire again."""
        for key in keys:
            self._standing.put(key, Status())

    def take(self, key: Key, since: int | None) -> None:
        """Go on from an alert that late samples have shown to fire."""
        self._standing.put(key, Status(State.FIRING, since))

    def wait(self, key: Key, since: int, worst: float) -> None:
        """Go on from what late samples have shown to be pending since then, with the worst value since."""
        self._standing.wait(key, since, worst)

    def retire(self, hosts: Collection[HostKey]) -> None:
        """Judge nothing of these hosts, whose samples may be in the windows still, and again all others."""
        self._standing.retire(hosts)

    def interval(self, host: str) -> int | None:
        """The shortest sampling interval (ns) of a host's series that are judged; None if it is not known."""
        if self._intervals is None:
            self._intervals = {}
            for series, interval in self._buffers.intervals:
                name = self._live.host_of(series)
                self._intervals[name] = min(interval, self._intervals.get(name, interval))
        return self._intervals.get(host_key(host))

    def reread(self, series: Iterable[Series]) -> None:
        """Take late samples of these series into the windows of later evaluations."""
        self._buffers.forget([known for one in series if (known := self._live.get(one.key))])

    def _discover(self, start: int, end: int) -> list[str]:
        """Note which series have samples in a range, and return their hosts."""
        self._check()
        hosts, differs = self._live.look(start, end)
        self._differs = self._differs or differs
        return hosts

    def _plan(self, start: int, end: int) -> None:
        """Find what is judged on the series there are, and read what that needs."""
        series = self._live.series
        telling = {one: _LEAST_REACH for one in series if shows_in_values(one)}
        self._buffers.read({**self._reach, **telling}, start, end)
        values = [(one, partial(self._values, one)) for one in series]
        facts = Facts(self._given, facts_shown_by(values))
        planned, finder = plan(self._site, series, facts, self._check)
        share = shared(planned, self._live.hosts)
        self._beyond = share.beyond
        self._standing.plan(share.planned)
        self._not_judged = {}
        reach: dict[Series, int] = dict(telling)
        windows: dict[tuple[str, str], int] = {}
        for one in share.planned:
            for condition in one.rule.conditions:
                place = condition.signal, one.subject.key[0]
                windows[place] = max(condition.over, windows.get(place, _LEAST_REACH))
        for (signal, host), window in windows.items():
            self._check()
            for _, origin in finder.find(signal).by_host.get(host, ()):
                for part in series_of(origin):
                    reach[part] = max(window, reach.get(part, 0))
        self._reach = reach
        self._buffers.read(reach, start, end)
        self._judge = self._judging(finder.find, facts)

    def _judging(self, find: Callable[[str], Origins], facts: Facts) -> Judge:
        signals, buffers = self._site.catalogue.signals, self._buffers
        return Judge(find, buffers.samples, facts, signals=signals, series_together=buffers.together)

    def _values(self, series: Series) -> Values:
        return self._buffers.samples(series).values

    def _lacks(self, one: RuleTarget, fact: str) -> None:
        self._not_judged.setdefault(one.subject.host, set()).add(fact)

    def _covered(self, one: RuleTarget, at: int) -> int | None:
        """The longest part of a rule's window that samples cover; None if they cover all of it."""
        longest = 0
        for series in series_of(one.origin):
            samples = self._buffers.samples(series)
            interval = samples.interval or 0
            window = max(one.rule.over, 2 * interval)
            times = samples.between(at - window, at).times
            covered = int(times[-1] - times[0]) if len(times) else 0
            if covered + 2 * interval >= window:
                return None
            longest = max(longest, covered)
        return longest


def evaluations(after: int, until: int) -> Times:
    """The evaluations after one instant and up to another (UTC ns)."""
    first = after // EVERY * EVERY + EVERY
    return np.arange(first, until + 1, EVERY, dtype=np.int64)
