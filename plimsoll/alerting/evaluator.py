"""Evaluates every rule over live data: steps the state machines from evaluation to evaluation."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from plimsoll.alerting.alert_states import AlertStates
from plimsoll.alerting.recent_samples import RecentSamples
from plimsoll.alerting.rule_targets import Key, RuleTarget, Site, limit_targets, plan
from plimsoll.alerting.series_index import MOST_HOSTS, Check, SeriesIndex, check_nothing
from plimsoll.alerting.state_changes import EvaluationStep, StateChange
from plimsoll.hosts.facts import ConfiguredFacts, Facts, find_facts, is_fact_in_values
from plimsoll.model.log import Times
from plimsoll.model.series import HostKey, Series, make_host_key
from plimsoll.model.times import SECOND
from plimsoll.rules.evaluate import RuleEvaluator
from plimsoll.rules.schema.field_types import Resource
from plimsoll.rules.signal_finder import ResolvedSource, ResolvedSources, find_source, list_read_series
from plimsoll.rules.signal_values import JoinedLayouts
from plimsoll.rules.states import EVALUATION_INTERVAL, Status
from plimsoll.rules.subjects import list_host_tags
from plimsoll.store.protocol import SampleReader

OVERLAP = 60 * SECOND  # samples that arrive later than this are not in the windows of later evaluations
_FIRST_LOOK = 3600 * SECOND
_LEAST_REACH = 1800 * SECOND  # for the interval and the window of a series that is sampled every 5 minutes
_LEARN_EVERY = 60 * SECOND
_PLAN_APART = 10  # wait this many times the duration of a plan, so that constant new series cannot take all the time


class Evaluator:
    """The evaluator of rules over the live data of a store.

    Call `advance` for each evaluation in turn, or for several at once to catch up. `most_hosts` and `oldest` are as in
    `SeriesIndex`. `check` is called often, and may raise Stopped.

    Attributes:
        states: The states of all rules after the last evaluation.
        index: The series that are judged.
        unknown_facts: The facts that limits need but that are unknown, by host.
        missing: The fields that never came although other fields of their source did, by host, with their resource.
        beyond: The hosts (case-folded) that have too many limits, so that some are not judged.
    """

    def __init__(
        self,
        store: SampleReader,
        site: Site,
        configured: ConfiguredFacts,
        statuses: Mapping[Key, Status],
        *,
        most_hosts: int = MOST_HOSTS,
        oldest: Sequence[str] = (),
        check: Check = check_nothing,
    ) -> None:
        self._site = site
        self._facts = configured
        self._samples = RecentSamples(store, OVERLAP)
        self.index = SeriesIndex(store, list_host_tags(site.catalogue.signals), most_hosts, oldest)
        self._check = check
        self._reach: Mapping[Series, int] = {}
        self.states = AlertStates(statuses, site.catalogue.signals, self._samples.samples)
        self._judge = self._make_judge(lambda _: ResolvedSources(), Facts(configured))
        self._joined: Sequence[JoinedLayouts] = ()
        self._last: int | None = None
        self._intervals: dict[str, int] | None = None
        self._differs = False  # whether the series differ from those that were planned with
        self._plan_again: int | None = None  # the earliest evaluation to plan at; None before the first plan
        self.beyond: Collection[str] = ()
        self.unknown_facts: dict[str, set[str]] = {}
        self.missing: dict[HostKey, dict[str, Resource | None]] = {}

    def advance(self, at: Times) -> EvaluationStep:
        """Evaluate at the times `at` (UTC ns, ascending, on the grid), which must follow the last evaluation."""
        start, end = int(at[0]), int(at[-1])
        if self._last is None:
            self._discover(start - _FIRST_LOOK, start - EVALUATION_INTERVAL)
            self._last = start - EVALUATION_INTERVAL
        since = self._last + 1 - OVERLAP
        late, in_time = self._discover(since, self._last), self._discover(self._last + 1, end)
        heard = dict.fromkeys(late, since) | dict.fromkeys(in_time, end)
        self._samples.read(self._reach, start, end)
        if self._differs and (self._plan_again is None or end >= self._plan_again):
            begun = time.thread_time_ns()
            self._plan(start, end)
            self._differs = False
            self._plan_again = end + _PLAN_APART * (time.thread_time_ns() - begun)
        if end % _LEARN_EVERY == 0:
            self._intervals = None
        if widest := self._samples.widest_change():
            self._judge = replace(self._judge)  # it has looked at the sampling intervals
            for batch in self.states.batches:
                batch.intervals_changed(widest)

        def note_unknown(target: RuleTarget, fact: str) -> None:
            self.unknown_facts.setdefault(target.subject.host, set()).add(fact)

        fresh = [batch.prepare(self._judge, len(at), note_unknown) for batch in self.states.batches]
        if any(fresh):
            parts = [part for batch in self.states.batches for part, _ in batch.parts or ()]
            self._joined = self._judge.join_layouts(parts, len(at))
        self._judge.compute_joined(self._joined, at)
        changes: list[StateChange] = []
        for batch in self.states.batches:
            self._check()
            for change in batch.advance(self._judge, at, self._find_coverage):
                self.states.keep(change.key, Status(change.after, change.since))
                changes.append(change)
        changes += self.states.step_vanished(end)
        self._last = end
        changes.sort(key=lambda change: change.at)
        return EvaluationStep(end, changes, self.states.readings(), dict(self.states.statuses), heard)

    def interval(self, host: str) -> int | None:
        """Return the shortest sampling interval (ns) of a host's judged series; None if no interval is known."""
        if self._intervals is None:
            self._intervals = {}
            for series, interval in self._samples.intervals():
                name = self.index.host_of(series)
                self._intervals[name] = min(interval, self._intervals.get(name, interval))
        return self._intervals.get(make_host_key(host))

    def source(self, change: StateChange) -> ResolvedSource | None:
        """Return the source of the signal whose limit was crossed, or no longer is; None if it is gone."""
        return find_source(self._judge.sources(change.rule.signal), change.subject)

    def reread(self, series: Iterable[Series]) -> None:
        """Read these series again at the next evaluation, as late samples were written."""
        self._samples.forget([judged for part in series if (judged := self.index.get(part.key))])

    def _discover(self, start: int, end: int) -> list[str]:
        """Add the series with samples in a range to the index; return their hosts that are judged."""
        self._check()
        hosts, differs = self.index.look(start, end)
        self._differs = self._differs or differs
        return hosts

    def _plan(self, start: int, end: int) -> None:
        """Plan the targets for the series of the index, and read the samples that their rules need."""
        series = self.index.series
        reach = {series: _LEAST_REACH for series in series if is_fact_in_values(series)}
        self._samples.read({**self._reach, **reach}, start, end)
        columns = [(part, lambda part=part: self._samples.samples(part).values) for part in series]
        facts = Facts(self._facts, find_facts(columns))
        targets, finder = plan(self._site, series, facts, self._check)
        targets, self.beyond = limit_targets(targets, self.index.hosts)
        self.states.plan(targets)
        self.unknown_facts = {}
        self.missing = {}
        for name, signal in self._site.catalogue.signals.items():
            for host, field in finder.missing_fields(name) if signal.resource else ():
                self.missing.setdefault(host, {})[field] = signal.resource
        windows: dict[tuple[str, str], int] = {}
        for target in targets:
            for condition in target.rule.conditions:
                place = condition.signal, target.subject.key[0]
                windows[place] = max(condition.over, windows.get(place, _LEAST_REACH))
        for (signal, host), window in windows.items():
            self._check()
            for _, origin in finder.find(signal).by_host.get(host, ()):
                for part in list_read_series(origin):
                    reach[part] = max(window, reach.get(part, 0))
        self._reach = reach
        self._samples.read(reach, start, end)
        self._judge = self._make_judge(finder.find, facts)

    def _make_judge(self, find: Callable[[str], ResolvedSources], facts: Facts) -> RuleEvaluator:
        signals, samples = self._site.catalogue.signals, self._samples
        return RuleEvaluator(find, samples.samples, facts, signals=signals, series_together=samples.together)

    def _find_coverage(self, target: RuleTarget, at: int) -> int | None:
        """Return the longest time (ns) in a rule's window that samples cover; None if they cover the whole window."""
        longest = 0
        for series in list_read_series(target.origin):
            samples = self._samples.samples(series)
            interval = samples.interval or 0
            window = max(target.rule.over, 2 * interval)
            times = samples.between(at - window, at).times
            covered = int(times[-1] - times[0]) if len(times) else 0
            if covered + 2 * interval >= window:
                return None
            longest = max(longest, covered)
        return longest


def list_evaluation_times(after: int, until: int) -> Times:
    """Return the evaluation times (UTC ns) later than `after`, up to `until`."""
    first = after // EVALUATION_INTERVAL * EVALUATION_INTERVAL + EVALUATION_INTERVAL
    return np.arange(first, until + 1, EVALUATION_INTERVAL, dtype=np.int64)
