"""The states of an alert rule in Grafana, one for each set of labels, and how an evaluation changes them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from plimsoll.export.grafana.alerts.file import AlertRule
from plimsoll.model.times import parse_duration
from tests.export.grafana.pipeline.values import Labels

Key = frozenset[tuple[str, str]]

_STALE_AFTER = 2  # evaluations, where the rule does not say


class State(StrEnum):
    """A state as Grafana shows it."""

    NORMAL = "Normal"
    PENDING = "Pending"
    ALERTING = "Alerting"
    RECOVERING = "Recovering"
    NO_DATA = "NoData"
    ERROR = "Error"


class Result(StrEnum):
    """The result of an evaluation for one set of labels."""

    NORMAL = "Normal"
    ALERTING = "Alerting"
    NO_DATA = "NoData"
    ERROR = "Error"


@dataclass(frozen=True, slots=True)
class Instance:
    """The state of one set of labels, when it began, and when it was last evaluated (UTC ns).

    `kept` is true if the last evaluation had no data or failed and an earlier state was kept.
    """

    state: State
    since: int
    evaluated: int
    kept: bool = False


def key(labels: Labels) -> Key:
    """Return labels as a dictionary key."""
    return frozenset(labels.items())


@dataclass
class Instances:
    """The instances of one rule. `every` is the interval of its group in ns."""

    rule: AlertRule
    every: int

    def __post_init__(self) -> None:
        self.by_labels: dict[Key, Instance] = {}
        self._for = parse_duration(self.rule.for_)
        self._keep = parse_duration(self.rule.keep_firing_for or "0s")
        self._missing = (self.rule.missing_series_evals_to_resolve or _STALE_AFTER) * self.every

    @property
    def loaded(self) -> set[Key]:
        """The instances to which a threshold applies its unloadEvaluator, which excludes kept states."""
        on = (State.PENDING, State.ALERTING)
        return {key for key, one in self.by_labels.items() if one.state in on and not one.kept}

    def step(self, at: int, found: Mapping[Key, Result]) -> None:
        """Apply an evaluation. If it has no data at all, or failed, `found` has this result under empty labels."""
        whole = next(iter(found.values())) if len(found) == 1 and frozenset() in found else None
        own_instance = (whole == Result.NO_DATA and self.rule.no_data_state == "NoData") or (
            whole == Result.ERROR and self.rule.exec_err_state == "Error"
        )
        if whole is not None and whole in (Result.NO_DATA, Result.ERROR) and not own_instance and self.by_labels:
            found = dict.fromkeys(self.by_labels, whole)
        for labels, result in found.items():
            before = self.by_labels.get(labels, Instance(State.NORMAL, at, at))
            after = self._next(before, at, result)
            kept = result in (Result.NO_DATA, Result.ERROR) and after.state.value != result.value
            self.by_labels[labels] = replace(after, evaluated=at, kept=kept)
        self.by_labels = {labels: one for labels, one in self.by_labels.items() if not self._gone(one, at)}

    def _gone(self, one: Instance, at: int) -> bool:
        """Whether a series has been missing for too long. Until then it keeps its state, and its clock runs on."""
        missing = self.every if one.state in (State.NO_DATA, State.ERROR) else self._missing
        return one.evaluated != at and at - one.evaluated >= missing

    def _next(self, one: Instance, at: int, result: Result) -> Instance:
        match result:
            case Result.ALERTING:
                return self._alerting(one, at)
            case Result.NORMAL:
                return self._normal(one, at)
            case Result.NO_DATA:
                return self._mapped(one, at, self.rule.no_data_state, State.NO_DATA)
            case Result.ERROR:
                return self._mapped(one, at, self.rule.exec_err_state, State.ERROR)

    def _alerting(self, one: Instance, at: int) -> Instance:
        match one.state:
            case State.ALERTING:
                return one
            case State.RECOVERING:
                return replace(one, state=State.ALERTING, since=at)
            case State.PENDING:
                return replace(one, state=State.ALERTING, since=at) if at - one.since >= self._for else one
            case _:
                return replace(one, state=State.PENDING if self._for else State.ALERTING, since=at)

    def _normal(self, one: Instance, at: int) -> Instance:
        match one.state:
            case State.NORMAL:
                return one
            case State.ALERTING if self._keep:
                return replace(one, state=State.RECOVERING, since=at)
            case State.RECOVERING if at - one.since < self._keep:
                return one
            case _:
                return replace(one, state=State.NORMAL, since=at)

    def _mapped(self, one: Instance, at: int, setting: str, own: State) -> Instance:
        match setting:
            case "Alerting":
                return self._alerting(one, at)
            case "OK":
                return self._normal(one, at)
            case "KeepLast":
                firing = one.state in (State.ALERTING, State.PENDING)
                return self._alerting(one, at) if firing else self._normal(one, at)
            case _:
                return one if one.state == own else replace(one, state=own, since=at)
