"""Steps the state machine of every rule over live data, from evaluation to evaluation."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan, nan

import numpy as np

from plimsoll.alerting.buffers import Buffers
from plimsoll.alerting.judged_now import JudgedNow
from plimsoll.alerting.latest import Latest, Step, by_rule, rows
from plimsoll.alerting.live_series import MOST_HOSTS, GoOn, LiveSeries, go_on
from plimsoll.alerting.planning import Key, Planned, Site, plan
from plimsoll.alerting.shares import shared
from plimsoll.alerting.transitions import Reading, Transition
from plimsoll.hosts.facts import Facts, GivenFacts, UnknownFact
from plimsoll.hosts.recorded_facts import facts_shown_by, shows_in_values
from plimsoll.model.host_key import host_key
from plimsoll.model.log import Times, Values
from plimsoll.model.series import Series
from plimsoll.model.times import SECOND
from plimsoll.model.value_text import quantity
from plimsoll.rules.crossings import worst_of
from plimsoll.rules.evaluate import Judge
from plimsoll.rules.grid import EVERY
from plimsoll.rules.origins import Origins, series_of
from plimsoll.rules.states import State, Status, Truth, step
from plimsoll.rules.subjects import host_of, host_tags
from plimsoll.rules.tracks import Conditions
from plimsoll.store.protocol import Store

OVERLAP = 60 * SECOND  # samples that arrive later than this are not in the windows of later evaluations
_FIRST_LOOK = 3600 * SECOND
_LEAST_REACH = 1800 * SECOND  # for the interval and the window of a series that is sampled every 5 minutes
_LEARN_EVERY = 60 * SECOND
_PLAN_APART = 10  # times what a plan takes: whoever adds series all the time is not to have all the time
_ACTIVE = (State.PENDING, State.FIRING)


class LiveJudge:
    """Judges the live data of a store.

    `advance` is called with one evaluation after the other, or with many to catch up. Only statuses that are pending
    or firing are kept; others are as good as none. `most_hosts` and `oldest` are those of `LiveSeries`; `check` is
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
        self._buffers = Buffers(store, OVERLAP)
        self._tags = host_tags(site.catalogue.signals)
        self._live = LiveSeries(store, self._tags, most_hosts, oldest)
        self._check = check
        self._planned: Sequence[Planned] = ()
        self._reach: dict[Series, int] = {}
        self._find: Callable[[str], Origins] = lambda _: Origins()
        self._facts = Facts(given)
        self._last: int | None = None
        self._intervals: dict[str, int] | None = None
        self._differs = False  # whether the series differ from those that were planned with
        self._plan_again: int | None = None  # the earliest evaluation to plan at; None before the first plan
        self._beyond: Collection[str] = ()
        self._statuses = {key: status for key, status in statuses.items() if status.state in _ACTIVE}
        self._worst: dict[Key, float] = {}  # of those that are pending
        self._by_rule: list[list[Planned]] = []
        self._latest: dict[Key, Latest] = {}
        self._not_judged: dict[str, set[str]] = {}

    @property
    def statuses(self) -> Mapping[Key, Status]:
        """The statuses that are pending or firing."""
        return self._statuses

    @property
    def judged(self) -> Mapping[str, int]:
        """How many warning and critical limits had data at the last evaluation, by host (case-folded)."""
        counts: dict[str, int] = {}
        for one in self._planned:
            if one.rule.severity != "info" and self.state(one.key) != State.NO_DATA:
                counts[one.subject.key[0]] = counts.get(one.subject.key[0], 0) + 1
        return counts

    @property
    def pending(self) -> int:
        """How many warning and critical limits are crossed, but not yet for as long as they must be."""
        severe = (one for one in self._planned if one.rule.severity != "info")
        return sum(self.state(one.key) == State.PENDING for one in severe)

    @property
    def impossible(self) -> Mapping[str, set[str]]:
        """The values of warning and critical limits that cannot be, at the last evaluation, by host (case-folded)."""
        found: dict[str, set[str]] = {}
        for one in self._planned:
            latest = self._latest.get(one.key)
            value = latest.impossible if latest else nan
            if one.rule.severity != "info" and not isnan(value):
                signal = self._site.catalogue.signals[one.rule.signal]
                found.setdefault(one.subject.key[0], set()).add(f"{signal.title} {quantity(value, signal.unit)}")
        return found

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

    def value(self, key: Key, at: int) -> float:
        """The reduced value of a rule at the last evaluation, if that was `at`; NaN if there is no data."""
        latest = self._latest.get(key)
        return latest.value if latest and latest.at == at else nan

    def state(self, key: Key) -> State:
        """The state of a rule after the last evaluation."""
        if key in self._statuses:
            return self._statuses[key].state
        latest = self._latest.get(key)
        return State.OK if latest and latest.has_data else State.NO_DATA

    def now(self, at: int) -> list[JudgedNow]:
        """Every rule that is judged, as it is after the last evaluation, `at`."""
        found: list[JudgedNow] = []
        for one in self._planned:
            latest = self._latest.get(one.key)
            if latest:
                since = self._statuses.get(one.key, Status()).since
                value, state = self.value(one.key, at), self.state(one.key)
                odd = latest.impossible
                found.append(
                    JudgedNow(one.rule, one.subject, latest.healthy, value, state, since, one.key, one.note, odd)
                )
        return found

    def advance(self, at: Times) -> Step:
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
        judge = Judge(self._find, self._buffers.samples, self._facts, signals=self._site.catalogue.signals)
        transitions: list[Transition] = []
        for planned in self._by_rule:
            self._check()
            transitions += self._judged(judge, planned, at)
        transitions += self._step_vanished(end)
        self._last = end
        transitions.sort(key=lambda one: one.at)
        return Step(end, transitions, self._readings(end), dict(self._statuses), heard)

    def forget(self, keys: Iterable[Key]) -> None:
        """Forget the status of alerts that somebody ended, so that they can fire again."""
        for key in keys:
            self._statuses.pop(key, None)

    def take(self, key: Key, since: int | None) -> None:
        """Go on from an alert that late samples have shown to fire."""
        self._statuses[key] = Status(State.FIRING, since)

    def interval(self, host: str) -> int | None:
        """The shortest sampling interval (ns) of a host's series that are judged; None if it is not known."""
        if self._intervals is None:
            self._intervals = {}
            for series in self._reach:
                interval = self._buffers.samples(series).interval
                if interval:
                    name = host_key(host_of(series, self._tags))
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
        self._facts = Facts(self._given, facts_shown_by(values))
        planned, finder = plan(self._site, series, self._facts, self._check)
        share = shared(planned, self._live.hosts)
        self._planned, self._beyond = share.planned, share.beyond
        self._by_rule = by_rule(self._planned)
        self._find = finder.find
        self._not_judged = {}
        reach: dict[Series, int] = dict(telling)
        windows: dict[tuple[str, str], int] = {}
        for one in self._planned:
            for condition in one.rule.conditions:
                place = condition.signal, one.subject.key[0]
                windows[place] = max(condition.over, windows.get(place, _LEAST_REACH))
        for (signal, host), window in windows.items():
            self._check()
            for _, origin in self._find(signal).by_host.get(host, ()):
                for part in series_of(origin):
                    reach[part] = max(window, reach.get(part, 0))
        self._reach = reach
        self._buffers.read(reach, start, end)

    def _values(self, series: Series) -> Values:
        return self._buffers.samples(series).values

    def _judged(self, judge: Judge, planned: Sequence[Planned], at: Times) -> list[Transition]:
        """Judge one rule for all its subjects at once; their changes of state."""
        rule = planned[0].rule
        try:
            matrices = [*judge.matrices(rule, [(one.subject, one.origin) for one in planned], at)]
        except UnknownFact as unknown:
            if len(planned) > 1:
                return [change for one in planned for change in self._judged(judge, [one], at)]
            self._not_judged.setdefault(planned[0].subject.host, set()).add(unknown.fact)
            return []
        changes: list[Transition] = []
        of_row = iter(planned)
        for found in matrices:
            true = (found.enter == Truth.TRUE).any(axis=1).tolist()
            for row, one in zip(range(len(found.subjects)), of_row, strict=False):
                self._latest[one.key] = Latest(one, found, row)
                if true[row] or one.key in self._statuses:
                    changes += self._step(one, found.row(row))
        return changes

    def _step(self, one: Planned, found: Conditions) -> list[Transition]:
        """Step one rule over its conditions; its changes of state."""
        key, status = one.key, self._statuses.get(one.key, Status())
        changes: list[Transition] = []
        worst = self._worst.pop(key, nan)
        for at, enter, stay, value in rows(found):
            before, status = status, step(status, at, enter, stay, one.rule.for_)
            worst = worst_of(found.healthy, np.array([worst, value])) if status.state in _ACTIVE else nan
            if status.state != before.state and (status.state in _ACTIVE or before.state in _ACTIVE):
                change = _change(one, found, at, before, status, value)
                changes.append(replace(change, covered=self._covered(one, at), worst=worst))
        if status.state == State.PENDING:
            self._worst[key] = worst
        if status.state in _ACTIVE:
            self._statuses[key] = status
        else:
            self._statuses.pop(key, None)
        return changes

    def _covered(self, one: Planned, at: int) -> int | None:
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

    def _step_vanished(self, at: int) -> list[Transition]:
        """Step the alerts of subjects that are not judged any more, which have no data: pending ones end."""
        judged = {one.key for one in self._planned}
        gone = {key: latest for key, latest in self._latest.items() if key not in judged}
        changes: list[Transition] = []
        for key, (one, matrix, row) in gone.items():
            before = self._statuses.get(key, Status())
            if before.state == State.FIRING:
                continue
            if before.state == State.PENDING:
                after = step(before, at, Truth.NO_DATA, Truth.NO_DATA, one.rule.for_)
                changes.append(_change(one, matrix.row(row), at, before, after, nan))
                del self._statuses[key]
            del self._latest[key]
        return changes

    def _readings(self, at: int) -> list[Reading]:
        """The value of every alert that fires, at the last evaluation."""
        return [
            Reading(key, at, self.value(key, at))
            for key, status in self._statuses.items()
            if status.state == State.FIRING
        ]


def _change(one: Planned, found: Conditions, at: int, before: Status, after: Status, value: float) -> Transition:
    since = after.since if after.state in _ACTIVE else None
    return Transition(at, one.rule, one.subject, before.state, after.state, since, value, found.healthy, one.note)


def evaluations(after: int, until: int) -> Times:
    """The evaluations after one instant and up to another (UTC ns)."""
    first = after // EVERY * EVERY + EVERY
    return np.arange(first, until + 1, EVERY, dtype=np.int64)
