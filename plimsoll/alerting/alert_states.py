"""How every rule that is judged live stands: its last value, its state, and what comes of that in numbers."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import nan

import numpy as np

from plimsoll.alerting.latest_evaluation import CROSSED, HostRows, LatestEvaluation, RuleStates
from plimsoll.alerting.rule_batch import RuleBatch
from plimsoll.alerting.rule_targets import Key, RuleTarget
from plimsoll.alerting.state_changes import StateChange
from plimsoll.model.host_key import HostKey
from plimsoll.model.samples import Samples
from plimsoll.model.series import Series
from plimsoll.model.value_text import quantity
from plimsoll.rules.origins import series_of
from plimsoll.rules.schema.field_types import Resource
from plimsoll.rules.schema.healthy import Healthy
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.states import State, Status, Truth, step


class AlertStates:
    """The rules that are judged, with their statuses. Only those that are pending or firing are kept."""

    def __init__(self, statuses: Mapping[Key, Status]) -> None:
        self.statuses = {key: status for key, status in statuses.items() if status.state in CROSSED}
        self.rules: list[RuleBatch] = []
        self._place: dict[Key, tuple[RuleBatch, int]] = {}
        self._gone: dict[Key, tuple[RuleTarget, Healthy]] = {}
        self._places = HostRows(())
        self._retired: Collection[HostKey] = ()

    def plan(self, planned: Sequence[RuleTarget]) -> None:
        """Judge these from now on; what is judged already goes on."""
        before = self._place
        self.rules = [RuleBatch(some) for some in _by_rule(planned)]
        self._place = {key: (one, row) for one in self.rules for row, key in enumerate(one.keys)}
        for key, status in self.statuses.items():
            if key in self._place:
                rows, row = self._place[key]
                worst = before[key][0].worst[before[key][1]] if key in before else nan
                rows.set(row, status, float(worst))
            elif key in before:
                rows, row = before[key]
                healthy = rows.limits.each[row]
                if healthy:
                    self._gone[key] = rows.planned[row], healthy
        self._places = HostRows([rows.planned for rows in self.rules])
        self._mark_retired()

    def retire(self, hosts: Collection[HostKey]) -> None:
        """Have no data of these hosts, and of no others, from the next evaluation on."""
        if hosts != self._retired:
            self._retired = hosts
            self._mark_retired()

    def _mark_retired(self) -> None:
        numbers = [at for at, host in enumerate(self._places.hosts) if host in self._retired] if self._retired else []
        for rows, its in zip(self.rules, self._places.numbers, strict=True):
            rows.retired = np.isin(its, numbers)

    def stepped(self, key: Key, status: Status) -> None:
        """Keep a status that changed."""
        if status.state in CROSSED:
            self.statuses[key] = status
        else:
            self.statuses.pop(key, None)

    def put(self, key: Key, status: Status) -> None:
        """Go on from a status that others decided."""
        self.stepped(key, status)
        if key in self._place:
            rows, row = self._place[key]
            rows.set(row, status)

    def wait(self, key: Key, since: int, worst: float) -> None:
        """Go on from a condition that has been true since then, if it is judged and does not fire."""
        rows, row = self._place.get(key, (None, 0))
        if rows and rows.states[row] != State.FIRING:
            status = Status(State.PENDING, since)
            self.stepped(key, status)
            rows.set(row, status, worst)

    def step_vanished(self, at: int) -> Iterator[StateChange]:
        """Step the alerts of subjects that are not judged any more, which have no data: pending ones end."""
        for key, (one, healthy) in [*self._gone.items()]:
            before = self.statuses.get(key, Status())
            if key not in self._place and before.state == State.FIRING:
                continue
            del self._gone[key]
            if key not in self._place and before.state == State.PENDING:
                after = step(before, at, Truth.NO_DATA, Truth.NO_DATA, one.rule.for_)
                self.stepped(key, after)
                yield StateChange(at, one.rule, one.subject, before.state, after.state, None, nan, healthy, one.note)

    def value(self, key: Key) -> float:
        """The reduced value of a rule at the last evaluation; NaN if there is no data."""
        rows, row = self._place.get(key, (None, 0))
        return float(rows.values[row]) if rows else nan

    def state(self, key: Key) -> State:
        """The state of a rule after the last evaluation."""
        if key in self.statuses:
            return self.statuses[key].state
        rows, row = self._place.get(key, (None, 0))
        return State.OK if rows and rows.known[row] else State.NO_DATA

    def readings(self) -> dict[Key, float]:
        """The value of every alert that fires, at the last evaluation; NaN if there is no data (stale)."""
        return {key: self.value(key) for key, status in self.statuses.items() if status.state == State.FIRING}

    def judged(self) -> dict[str, int]:
        """How many warning and critical limits had data at the last evaluation, by host (case-folded)."""
        places = self._places
        counts = np.zeros(len(places.hosts), dtype=np.int64)
        for rows, hosts in zip(self.rules, places.numbers, strict=True):
            if rows.is_severe:
                counts += np.bincount(hosts[rows.known | rows.active], minlength=len(counts))
        return {host: count for host, count in zip(places.hosts, counts.tolist(), strict=True) if count}

    def pending(self) -> int:
        """How many warning and critical limits are crossed, but not yet for as long as they must be."""
        return sum(int((rows.states == State.PENDING).sum()) for rows in self.rules if rows.is_severe)

    def impossible(self, signals: Mapping[str, Signal]) -> dict[str, set[str]]:
        """The values of warning and critical limits that cannot be, at the last evaluation, by host (case-folded)."""
        found: dict[str, set[str]] = {}
        for rows in self.rules:
            for row in np.flatnonzero(~np.isnan(rows.odd)).tolist() if rows.is_severe else ():
                signal = signals[rows.rule.signal]
                text = f"{signal.title} {quantity(float(rows.odd[row]), signal.unit)}"
                found.setdefault(rows.planned[row].subject.key[0], set()).add(text)
        return found

    def newest(
        self, signals: Mapping[str, Signal], samples: Callable[[Series], Samples], fresh: int
    ) -> dict[tuple[str, Resource], tuple[int, int]]:
        """When the resources that warning and critical limits judge were last sampled, by host (case-folded).

        The time of the newest sample and the sampling interval (ns), the longest of those that count. Where a series
        has samples since `fresh`, the others of its resource do not.
        """
        found: dict[tuple[str, Resource], tuple[int, int]] = {}
        for rows in self.rules:
            resource = signals[rows.rule.signal].resource if rows.is_severe else None
            if resource is None:
                continue
            for one, healthy in zip(rows.planned, rows.limits.each, strict=True):
                key = one.subject.key[0], resource
                newest, interval = found.get(key, (0, 0))
                if healthy is None or newest >= fresh:
                    continue
                for its in map(samples, series_of(one.origin)):
                    if len(its.times) and its.interval:
                        newest, interval = max(newest, int(its.times[-1])), max(interval, its.interval)
                if newest:
                    found[key] = newest, interval
        return found

    def now(self) -> LatestEvaluation:
        """Every rule that is judged, as it is after the last evaluation."""
        return LatestEvaluation(
            [
                RuleStates(
                    one.rule,
                    one.limits,
                    one.values.copy(),
                    np.where(one.active, one.states, np.where(one.known, State.OK, State.NO_DATA)),
                    one.since.copy(),
                    one.odd.copy(),
                )
                for one in self.rules
            ],
            self._places,
        )


def _by_rule(planned: Iterable[RuleTarget]) -> list[list[RuleTarget]]:
    """What is planned, by rule as it applies: hosts may have limits and severities of their own."""
    found: dict[str, list[list[RuleTarget]]] = {}
    for one in planned:
        alike = found.setdefault(one.rule.id, [])
        some = next((some for some in alike if some[0].rule is one.rule or some[0].rule == one.rule), None)
        if some is None:
            alike.append([one])
        else:
            some.append(one)
    return [some for alike in found.values() for some in alike]
