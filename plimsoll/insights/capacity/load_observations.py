"""The load, the use of resources and the response times of one or more runs, averaged over rows of equal duration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from plimsoll.analysis.filters import EqualParts, compute_median
from plimsoll.insights.capacity.resources import Resource, list_resources
from plimsoll.insights.leading_signals import list_response_times
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Values
from plimsoll.model.samples import Samples
from plimsoll.model.times import SECOND
from plimsoll.model.value_text import number
from plimsoll.review.findings import Outcome
from plimsoll.review.phases.found_phases import combine_series
from plimsoll.review.recording.load_driver import find_clock_offset
from plimsoll.review.review import Review
from plimsoll.rules.schema.signal import Signal

# Our choices.
_FALLS = 0.25  # of the changes from row to row: planned users rise or stay, threads rise and fall alike
_IDLE = 0.1  # of the users: if fewer than so many and one are not in flight, users do not think
_FEWEST_ROWS = 12  # rows
# The first tier with operations counts; those of two tiers are not added, as a tier calls the next for its own.
_TIERS = ("client", "web", "exchange", "ldap", "sql")
# Signals of which other signals of the same tier are parts.
_WHOLES = {"ldap.write_rate", "ldap.request_rate", "sql.transactions"}
_EACH, _ALL = "client.operation_requests", "client.requests"
_USERS = "client.users"
_SMALL = 0.002  # our choice: the share of all operations below which one is left out, as its demand cannot be estimated


@dataclass(frozen=True, eq=False)
class Operations:
    """The operations of a run with their `rates` (a second); `title` names all operations together.

    `users` is the number of active users or connections (None if not recorded), and `users_unit` its unit.
    """

    title: str
    unit: str
    rates: Mapping[str, Samples]
    users: Samples | None
    users_unit: str
    of_driver: bool


_MOST = 120  # rows of a run: in shorter rows, a request ends in another row than its work
_MOST_FINE = 1000
_FEWEST = 12
_VARIES = 0.2  # our choice: the lowest load must be below the highest by this share of it
_OBJECTIVE = "objective"
MEAN = "client.response_time"
_FEWEST_HIGHEST = 3  # rows


@dataclass(frozen=True, eq=False)
class ResponseFit:
    """A response time in each row (s); `limit` is its objective, None without one."""

    name: str
    signal: Signal
    times: Values
    limit: float | None


@dataclass(frozen=True, eq=False)
class Observed:
    """The load, use and response times in rows: in order of time, run after run; NaN for values that were not recorded.

    Attributes:
        title: The collective name of the operations.
        names: The operations; `rates` has their rates (a second), shape (rows, operations).
        fine: The rates in more and shorter rows, which can tell apart operations that rise and fall together.
        users: Active users or connections in each row; None if not recorded.
        use: The use (%) of each resource in each row.
        step_s: The length of a row (s).
    """

    title: str
    unit: str
    names: tuple[str, ...]
    rates: Values
    fine: Values
    users: Values | None
    users_unit: str
    of_driver: bool
    resources: tuple[Resource, ...]
    use: Mapping[tuple[str, str, str | None], Values]
    responses: tuple[ResponseFit, ...]
    in_flight: Values | None
    step_s: float

    @cached_property
    def load(self) -> Values:
        """The load in each row: all operations a second."""
        return self.rates.sum(axis=1)

    @cached_property
    def highest(self) -> float:
        """The highest measured load: the highest mean of several consecutive rows, as a single row may be chance."""
        width = max(_FEWEST_HIGHEST, len(self.load) // 20)
        return float(np.convolve(self.load, np.full(width, 1 / width), mode="valid").max())

    def without(self, rows: NDArray[np.intp]) -> "Observed":
        """Return the observations without these rows (by index)."""
        rest = partial(np.delete, obj=rows, axis=0)
        return replace(
            self,
            rates=rest(self.rates),
            users=None if self.users is None else rest(self.users),
            use={key: rest(values) for key, values in self.use.items()},
            responses=tuple(replace(response, times=rest(response.times)) for response in self.responses),
            in_flight=None if self.in_flight is None else rest(self.in_flight),
        )

    @cached_property
    def mix(self) -> Values:
        """The share of each operation among all operations, in the rows with at least half of the highest load."""
        upper = self.load >= 0.5 * self.highest
        total = self.rates[upper].sum(axis=0)
        return total / total.sum()


def collect_observations(reviews: Sequence[Review], objectives: Mapping[str, float] | None = None) -> Observed:
    """Return the observations of one or more runs of the same system.

    `objectives` are limits (s) of response times by signal, besides the objectives in the runs.

    Raises:
        Unusable: No load or no use was recorded, or the load does not vary.
    """
    parts = [_Run(review, objectives or {}).rows() for review in reviews]
    result = parts[0] if len(parts) == 1 else _join_observations(parts)
    if result.highest <= 0:
        raise Unusable(f"not known: nothing was done while the run was recorded ({result.title} stay at 0)")
    if float(np.quantile(result.load, 0.05)) > (1 - _VARIES) * result.highest:
        raise Unusable(
            f"not known: the load does not vary ({result.title} from {number(float(result.load.min()))} to "
            f"{number(float(result.load.max()))} {result.unit}), so what is used without load cannot be told from what "
            "operations use; record a run whose load rises, or give a second run with another load"
        )
    return result


class _Run:
    """One run, whose signals are averaged over rows of equal duration."""

    def __init__(self, review: Review, objectives: Mapping[str, float]) -> None:
        name = review.run.name or ", ".join(review.hosts)
        done, used = find_operations(review), list_resources(review)
        if done is None:
            raise Unusable(
                f"{name}: not known: no load was recorded; give the file of the load driver, too, or record a counter "
                r"of requests, such as \Web Service(_Total)\Total Method Requests/sec"
            )
        if not used:
            raise Unusable(
                f"{name}: not known: no use of processors, disks or links was recorded; record "
                r"\Processor(_Total)\% Processor Time, \PhysicalDisk(*)\% Idle Time and \Network Interface(*)"
            )
        self._review, self._done, self._used, self._objectives = review, done, used, objectives
        clock = find_clock_offset(review.signals) if done.of_driver else None
        self._offset = clock.offset if clock and not clock.no_common_time else 0
        samples_list = [*done.rates.values(), *(resource.samples for resource in used)]
        step = max(SECOND, *(samples.interval or SECOND for samples in samples_list))
        spans = [(int(rate.present.times[0]), int(rate.present.times[-1])) for rate in done.rates.values()]
        uses = [(int(resource.samples.present.times[0]), int(resource.samples.present.times[-1])) for resource in used]
        start = max(max(first for first, _ in spans) + self._offset, min(first for first, _ in uses))
        end = min(min(last for _, last in spans) + self._offset, max(last for _, last in uses))
        whole = (end - start) // step
        count = min(_MOST, whole)
        if count < _FEWEST:
            raise Unusable(
                f"{review.run.name or 'the run'}: not known: load and use were recorded together for less than "
                f"{_FEWEST} samples"
            )
        self._parts = EqualParts(start, end, int(count))
        self._fine = EqualParts(start, end, int(min(_MOST_FINE, whole)))
        self._step_s = (end - start) / count / SECOND

    def rows(self) -> Observed:
        """Return the observations of the run, without rows in which no load was recorded."""
        done = self._done
        rates, fine = self._average_rates(self._parts), self._average_rates(self._fine)
        users = self._average_parts(done.users, driver=True) if done.users else None
        flight = next(iter(self._review.signals.of("client.in_flight").values()), None)
        in_flight = self._average_parts(flight, driver=True) if flight else None
        if users is not None and in_flight is not None and are_requests(users, in_flight):
            users = None
        every_row = Observed(
            done.title,
            done.unit,
            tuple(done.rates),
            rates,
            fine[np.isfinite(fine).all(axis=1)],
            users,
            done.users_unit,
            done.of_driver,
            self._used,
            {resource.key: self._average_parts(resource.samples, driver=False) for resource in self._used},
            tuple(self._list_responses()),
            in_flight,
            self._step_s,
        )
        return every_row.without(np.flatnonzero(~np.isfinite(rates).all(axis=1)))

    def _average_rates(self, parts: EqualParts) -> Values:
        values = self._done.rates.values()
        rates = np.column_stack([self._average_parts(samples, driver=True, parts=parts) for samples in values])
        samples = np.isfinite(rates).any(axis=1, keepdims=True)
        rates[np.isnan(rates) & samples] = 0.0  # an operation that did not occur
        return rates

    def _list_responses(self) -> list[ResponseFit]:
        """Return the response times that have an objective, else the most telling one, and the mean response time."""
        responses: list[ResponseFit] = []
        for finding in self._review.findings:
            name, limit = finding.rule.signal, finding.rule.healthy.limit
            if finding.pack.pack == _OBJECTIVE and finding.outcome != Outcome.OFF:
                responses += self._list_responses_of(name, limit, driver=self._done.of_driver, units=("s",))[:1]
        for name, limit in self._objectives.items():
            recorded = self._list_responses_of(name, limit)[:1]
            if not recorded:
                raise Unusable(f"not known: {name}, of which an objective is given, was not recorded")
            responses = [response for response in responses if response.name != name] + recorded
        for name in () if responses else list_response_times(self._review.question.signals):
            recorded = self._list_responses_of(name, driver=name.startswith("client."), units=("s", "ms"))
            if len(recorded) == 1:
                responses = recorded
                break
        return (
            responses
            if any(response.name == MEAN for response in responses)
            else responses + self._list_responses_of(MEAN)
        )

    def _list_responses_of(
        self, name: str, limit: float | None = None, *, driver: bool = True, units: tuple[str, ...] = ()
    ) -> list[ResponseFit]:
        """Return a signal's response times (s), one for each subject; empty if `units` are given and lack its unit."""
        signal = self._review.question.signals.get(name)
        if signal is None or (units and signal.unit not in units):
            return []
        scale = 1e-3 if units and signal.unit == "ms" else 1.0
        samples = self._review.signals.of(name).values()
        return [
            ResponseFit(name, signal, scale * self._average_parts(sample, driver=driver), limit) for sample in samples
        ]

    def _average_parts(self, samples: Samples, *, driver: bool, parts: EqualParts | None = None) -> Values:
        if driver and self._offset and self._done.of_driver:
            samples = Samples(samples.times + self._offset, samples.values)
        return (parts or self._parts).means(samples)


def _join_observations(parts: Sequence[Observed]) -> Observed:
    """Return the observations of several runs as one; operations that a run lacks have the rate 0 in its rows.

    Resources, users and response times that any of the runs lacks are left out.
    """
    first = parts[0]
    if any((part.title, part.of_driver) != (first.title, first.of_driver) for part in parts[1:]):
        raise Unusable(
            "not known: the runs do not record the same load: "
            + ", ".join(dict.fromkeys(", ".join(part.names) for part in parts))
        )
    names = tuple(dict.fromkeys(name for part in parts for name in part.names))
    shared = [resource for resource in first.resources if all(resource.key in other.use for other in parts)]
    if not shared:
        raise Unusable("not known: the runs have no resource in common whose use was recorded")

    def joined(columns: list[Values | None]) -> Values | None:
        recorded = [values for values in columns if values is not None]
        return np.concatenate(recorded) if len(recorded) == len(parts) else None

    def columns(rates: Values, part: Observed) -> Values:
        none = np.zeros(len(rates))
        return np.column_stack([rates[:, part.names.index(name)] if name in part.names else none for name in names])

    responses: list[ResponseFit] = []
    for response in first.responses:
        times = [other.times for part in parts for other in part.responses if other.name == response.name]
        responses += [replace(response, times=np.concatenate(times))] if len(times) == len(parts) else []
    return replace(
        first,
        names=names,
        rates=np.vstack([columns(part.rates, part) for part in parts]),
        fine=np.vstack([columns(part.fine, part) for part in parts]),
        users=joined([part.users for part in parts]),
        resources=tuple(shared),
        use={resource.key: np.concatenate([other.use[resource.key] for other in parts]) for resource in shared},
        responses=tuple(responses),
        in_flight=joined([part.in_flight for part in parts]),
        step_s=float(np.mean([part.step_s for part in parts])),
    )


def find_operations(review: Review) -> Operations | None:
    """Return the operations of a run, of the tier nearest to the clients; None if no load was recorded."""
    loads = {load.name: load for load in review.loads if load.kind == "operations"}
    if whole := loads.get(_ALL):
        by_name = {subject.instance or "": samples for subject, samples in review.signals.of(_EACH).items()}
        rates = (_select_frequent(by_name) if len(by_name) > 1 else {}) or {whole.signal.title: whole.samples}
        users = next((load.samples for load in review.loads if load.name == _USERS), None)
        return Operations("requests", "/s", rates, users, "users", of_driver=True)
    for tier in _TIERS:
        of_tier = {name: load for name, load in loads.items() if name.partition(".")[0] == tier}
        parts = [load for name, load in of_tier.items() if name not in _WHOLES] or list(of_tier.values())
        if parts:
            rates = _select_frequent(
                {load.signal.title: load.samples for load in (parts[:1] if tier == "sql" else parts)}
            )
            title = next(iter(rates)) if len(rates) == 1 else "operations"
            held = (load for load in review.loads if load.kind == "connections" and load.name.startswith(tier))
            connections, unit = next(((load.samples, load.signal.unit) for load in held), (None, ""))
            return Operations(title, "/s", rates, connections, unit, of_driver=False)
    for name, load in loads.items():
        _, samples = combine_series(review.signals.of(name))
        return Operations(load.signal.title, load.signal.unit, {load.signal.title: samples}, None, "", of_driver=False)
    return None


def _select_frequent(rates: Mapping[str, Samples]) -> dict[str, Samples]:
    """Return the operations that are not rare among all operations, the most frequent first."""
    means = {name: float(samples.present.values.mean()) for name, samples in rates.items()}
    total = sum(means.values())
    names = sorted((name for name in means if means[name] > _SMALL * total), key=lambda name: -means[name])
    return {name: rates[name] for name in names}


def are_requests(users: Values, in_flight: Values) -> bool:
    """Return whether `users` (in each row) merely counts the requests in flight, and not users set by the test."""
    present = np.isfinite(users) & np.isfinite(in_flight)
    users, in_flight = users[present], in_flight[present]
    if len(users) < _FEWEST_ROWS or float(np.mean(np.diff(users) < 0)) < _FALLS:
        return False
    many = users >= compute_median(users)  # a driver that counts threads at the end of a request includes that thread
    return compute_median(users[many] - in_flight[many]) <= 1 + _IDLE * compute_median(users[many])
