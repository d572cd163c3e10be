"""The current states of all rules that are judged live, and summaries of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import nan
from typing import get_args

import numpy as np

from plimsoll.alerting.latest_evaluation import CROSSED, HostRows, LatestEvaluation, RuleBatch, RuleStates
from plimsoll.alerting.rule_targets import Key, RuleTarget
from plimsoll.alerting.state_changes import StateChange
from plimsoll.model.samples import Samples
from plimsoll.model.series import HostKey, Series
from plimsoll.model.value_text import format_value
from plimsoll.rules.frozen import find_frozen_times
from plimsoll.rules.schema.field_types import Healthy, Resource
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.signal_finder import list_read_series
from plimsoll.rules.states import FIRING, State, Status


class AlertStates:
    """The rules that are judged, in batches, and the statuses of the pending and firing rules."""

    def __init__(
        self, statuses: Mapping[Key, Status], signals: Mapping[str, Signal], samples: Callable[[Series], Samples]
    ) -> None:
        self._signals = signals
        self._samples = samples
        self.statuses = {key: status for key, status in statuses.items() if status.state in CROSSED}
        self.batches: list[RuleBatch] = []
        self._place: dict[Key, tuple[RuleBatch, int]] = {}
        self._gone: dict[Key, tuple[RuleTarget, Healthy]] = {}
        self._hosts = HostRows(())
        self._retired: Collection[HostKey] = ()
        self._resources: dict[HostKey, set[Resource]] = {}

    def plan(self, targets: Sequence[RuleTarget]) -> None:
        """Replace the targets to judge; a target judged before keeps its state."""
        before = self._place
        self.batches = [RuleBatch(alike) for alike in _group_by_rule(targets)]
        self._place = {key: (batch, row) for batch in self.batches for row, key in enumerate(batch.keys)}
        for key, status in self.statuses.items():
            if key in self._place:
                batch, row = self._place[key]
                worst = before[key][0].worst[before[key][1]] if key in before else nan
                batch.set(row, status, float(worst))
            elif key in before:
                batch, row = before[key]
                if healthy := batch.limits.by_row[row]:
                    self._gone[key] = batch.targets[row], healthy
        self._hosts = HostRows([batch.targets for batch in self.batches])
        self._mark_retired()

    def retire(self, hosts: Collection[HostKey]) -> None:
        """Set the hosts that are retired: even their samples that are still in a rule's window are ignored."""
        if hosts != self._retired:
            self._retired = hosts
            self._mark_retired()

    def _mark_retired(self) -> None:
        numbers = [at for at, host in enumerate(self._hosts.hosts) if host in self._retired] if self._retired else []
        for batch, hosts in zip(self.batches, self._hosts.numbers, strict=True):
            batch.retired = np.isin(hosts, numbers)

    def keep(self, key: Key, status: Status) -> None:
        """Remember the changed status of a rule and subject."""
        if status.state in CROSSED:
            self.statuses[key] = status
        else:
            self.statuses.pop(key, None)

    def put(self, key: Key, status: Status, worst: float = nan) -> None:
        """Replace the status of a rule and subject; the next evaluation continues from this status."""
        self.keep(key, status)
        if key in self._place:
            batch, row = self._place[key]
            batch.set(row, status, worst)

    def forget(self, keys: Iterable[Key]) -> None:
        """Forget the statuses of these keys, whose alerts somebody ended, so that the rules can fire again."""
        for key in keys:
            self.put(key, Status())

    def put_pending(self, key: Key, since: int, worst: float) -> None:
        """Set a rule to pending from `since` on, as late samples show, if the rule is judged and does not fire."""
        batch, row = self._place.get(key, (None, 0))
        if batch and batch.states[row] != State.FIRING:
            self.put(key, Status(State.PENDING, since), worst)

    def step_vanished(self, at: int) -> Iterator[StateChange]:
        """Yield the state changes of subjects that are judged no longer: a pending rule gets NO_DATA."""
        for key, (target, healthy) in [*self._gone.items()]:
            before = self.statuses.get(key, Status())
            if key not in self._place and before.state == State.FIRING:
                continue
            del self._gone[key]
            if key not in self._place and before.state == State.PENDING:
                states = before.state, State.NO_DATA
                self.keep(key, Status(State.NO_DATA))
                yield StateChange(at, target.rule, target.subject, *states, None, nan, healthy, target.note)

    def value(self, key: Key) -> float:
        """Return the reduced value of a rule at the last evaluation; NaN if there is no data."""
        batch, row = self._place.get(key, (None, 0))
        return float(batch.values[row]) if batch else nan

    def state(self, key: Key) -> State:
        """Return the state of a rule after the last evaluation."""
        if key in self.statuses:
            return self.statuses[key].state
        batch, row = self._place.get(key, (None, 0))
        return State.OK if batch and batch.has_data[row] else State.NO_DATA

    def readings(self) -> dict[Key, float]:
        """Return the value of each firing rule at the last evaluation; NaN for no data (stale)."""
        values: dict[Key, float] = {}
        for batch in self.batches:
            rows = np.flatnonzero(batch.states == FIRING)
            values.update(zip([batch.keys[row] for row in rows.tolist()], batch.values[rows].tolist(), strict=True))
        return {key: values.get(key, nan) for key, status in self.statuses.items() if status.state is State.FIRING}

    @property
    def _severe(self) -> list[RuleBatch]:
        return [batch for batch in self.batches if batch.rule.severity != "info"]

    def judged(self) -> dict[str, int]:
        """Return, by host (case-folded), how many warning and critical limits had data at the last evaluation."""
        counts = np.zeros(len(self._hosts.hosts), dtype=np.int64)
        for batch, hosts in zip(self.batches, self._hosts.numbers, strict=True):
            if batch.rule.severity != "info":
                counts += np.bincount(hosts[batch.has_data | batch.active], minlength=len(counts))
        return {host: count for host, count in zip(self._hosts.hosts, counts.tolist(), strict=True) if count}

    def judged_resources(self) -> dict[HostKey, set[Resource]]:
        """Return, by host, the resources of which a warning or critical limit has had data at any evaluation.

        `newest` says which of these resources have no new samples any more.
        """
        before = self._resources
        resources = self._resources = {host: before.get(host, set[Resource]()) for host in self._hosts.hosts}
        for resource in get_args(Resource):
            has_data = np.zeros(len(self._hosts.hosts), dtype=np.bool_)
            for batch, hosts in zip(self.batches, self._hosts.numbers, strict=True):
                if batch.rule.severity != "info" and self._signals[batch.rule.signal].resource == resource:
                    has_data[hosts[batch.has_data | batch.active]] = True
            for number in np.flatnonzero(has_data).tolist():
                resources[self._hosts.hosts[number]].add(resource)
        return resources

    def pending(self) -> int:
        """Return the number of pending warning and critical rules: past the limit, but for less than `for`."""
        return sum(int((batch.states == State.PENDING).sum()) for batch in self._severe)

    def impossible(self) -> dict[str, set[str]]:
        """Return, by host (case-folded), texts on the latest values that are impossible and were not judged."""
        values: dict[str, set[str]] = {}
        for batch in self._severe:
            for row in np.flatnonzero(~np.isnan(batch.odd)).tolist():
                signal = self._signals[batch.rule.signal]
                text = f"{signal.title} {format_value(float(batch.odd[row]), signal.unit)}"
                values.setdefault(batch.targets[row].subject.key[0], set()).add(text)
        return values

    def newest(self, fresh: int) -> dict[tuple[str, Resource], tuple[int, int]]:
        """Return when the series of each resource with a warning or critical limit were last sampled.

        The keys are host (case-folded) and resource; the values are the time (UTC ns) of the newest sample that is not
        frozen, and the longest sampling interval (ns). If some series of a resource has changed since `fresh`, other
        series of the resource may stand still.
        """
        sampled: dict[tuple[str, Resource], list[Samples]] = {}
        fresh_keys: set[tuple[str, Resource]] = set()
        for batch in self._severe:
            resource = self._signals[batch.rule.signal].resource
            if resource is None:
                continue
            for target, healthy in zip(batch.targets, batch.limits.by_row, strict=True):
                key = target.subject.key[0], resource
                if healthy is None or key in fresh_keys:
                    continue
                recorded = map(self._samples, list_read_series(target.origin))
                parts = [part for part in recorded if len(part.times) and part.interval]
                sampled.setdefault(key, []).extend(parts)
                for part in parts:
                    has_moved = bool((part.values[-1:] != part.values[-2:-1]).any())
                    if part.times[-1] >= fresh and (resource == "space" or has_moved):
                        fresh_keys.add(key)
        return {
            key: _find_newest_times(parts, is_frozen=key not in fresh_keys) for key, parts in sampled.items() if parts
        }

    def now(self) -> LatestEvaluation:
        """Return the states of all rules for all subjects after the last evaluation."""
        return LatestEvaluation(
            [
                RuleStates(
                    batch.rule,
                    batch.limits,
                    batch.values.copy(),
                    np.where(batch.active, batch.states, np.where(batch.has_data, State.OK, State.NO_DATA)),
                    batch.since.copy(),
                    batch.odd.copy(),
                )
                for batch in self.batches
            ],
            self._hosts,
        )


def _find_newest_times(parts: Sequence[Samples], *, is_frozen: bool) -> tuple[int, int]:
    """Return the newest time (of the last change if `is_frozen`), and the longest sampling interval (ns)."""
    newest = max(int(part.times[-1]) for part in parts)
    spans = find_frozen_times(parts)[-1:] if is_frozen else []
    return next((start for start, end in spans if end == newest), newest), max(part.interval or 0 for part in parts)


def _group_by_rule(targets: Iterable[RuleTarget]) -> list[list[RuleTarget]]:
    """Group targets by equal rules; targets on hosts for which plimsoll.toml changes a rule form other groups."""
    by_id: dict[str, list[list[RuleTarget]]] = {}
    for target in targets:
        groups = by_id.setdefault(target.rule.id, [])
        rule = target.rule
        alike = next((group for group in groups if group[0].rule is rule or group[0].rule == rule), None)
        if alike is None:
            groups.append(alike := [])
        alike.append(target)
    return [group for groups in by_id.values() for group in groups]
