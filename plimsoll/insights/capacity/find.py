"""The load that a system can carry, computed from measured runs.

The method is that of Site Server's capacity studies (1998, 1999), with additions: the use without load, intervals, and
a check of the model at the highest load. Nothing is projected beyond 1.5 times the highest measured load.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plimsoll.analysis.demand import FEWEST, Demand, estimate_demand, group_separable, sum_groups
from plimsoll.insights.bottleneck import find as bottleneck_finder
from plimsoll.insights.capacity.levels import (
    LevelFall,
    LoadLevel,
    MeasuredUsers,
    ProfileUsers,
    Users,
    average_levels,
    find_largest_fall,
    find_levels,
    find_users,
)
from plimsoll.insights.capacity.load_observations import MEAN, Observed, collect_observations
from plimsoll.insights.capacity.profiles.profile import Profile
from plimsoll.insights.capacity.resources import Resource
from plimsoll.insights.capacity.response import (
    ResponseCurve,
    Station,
    find_longest_load,
    fit_response_curve,
    make_mean_response,
)
from plimsoll.insights.capacity.saturation import Saturation, cut_at_top, find_saturation
from plimsoll.insights.capacity.verification import Check, Contradiction, check_of, find_contradictions
from plimsoll.insights.capacity.what_if import Changes, Key, apply_changes
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Values
from plimsoll.review.review import Review

_SAME = 0.1  # our choice: shares that differ by less, of all operations, are the same mix
_HARDLY = 2.0  # %: the use of a resource below it is known too badly to compare mixes by


@dataclass(frozen=True, eq=False)
class Mix:
    """The share of each group of operations in the load, and the highest measured load with such shares (operations/s).

    `as_measured` means that the shares are about as in the run, so that the run's response times and highest throughput
    are valid. `left_out` are operations of the run that the profile does not have.
    """

    shares: Values
    highest: float
    as_measured: bool = True
    left_out: tuple[str, ...] = ()


BEYOND = 1.5  # times the highest measured load: nothing is projected further
_POINTS = 601
_WIDE = 1.5  # our choice: times its low end, which the high end of the interval of a projected load may be
_THINKING = 0.7  # our choice: of the users under little load, who wait for an answer; more of them hardly think


@dataclass(frozen=True)
class Range:
    """A value and its 95 % interval; infinite where a load is not reached within the projected loads."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, replicates: Values) -> "Range":
        """Return the first replicate as the value, with the 95 % interval of the other (bootstrap) replicates."""
        low, high = np.quantile(replicates[1:], [0.025, 0.975], method="nearest").tolist()
        value = float(replicates[0])
        return cls(value, min(low, value), max(high, value))

    @classmethod
    def exactly(cls, value: float) -> "Range":
        """Return a value whose interval has no width."""
        return cls(value, value, value)


@dataclass(frozen=True, eq=False)
class ResourceCapacity:
    """A resource and the load it can carry.

    Attributes:
        load: The load (operations a second) at which the resource reaches its limit; infinite if that is not projected.
        use: The use (%) at the highest measured load; the measured use if it does not depend on the load.
        idle: The use (%) without load.
        check: The use at the highest load as predicted from lower loads; None if too few lower loads were measured.
        why_not: Why no load is projected; empty if `load` is a projection.
        follows: Whether the use depends on the load; if not, the demands of operations are unknown.
    """

    resource: Resource
    demand: Demand
    load: Range
    use: Range
    idle: Range
    check: Check | None
    why_not: str = ""
    follows: bool = True


@dataclass(frozen=True)
class ObjectiveCapacity:
    """A response time, its objective (`limit`, s), and the load up to which the objective is met."""

    curve: ResponseCurve
    limit: float
    load: Range


@dataclass(frozen=True, eq=False)
class Capacity:
    """The load that a system can carry, by its resources, its objectives, and its highest throughput.

    `groups` are sets of operations (by index) whose demands the data can tell apart, and `requested_mix` are the shares
    of the groups in the load that is asked about. `overload` is the highest measured level of users, if fewer users got
    more done; no result depends on it. `limits` are the bottlenecks of the runs. `changed` are the assumed changes, in
    sentences; with changes, only loads above `reach` times the measured loads are projections.
    """

    observed: Observed
    groups: tuple[tuple[int, ...], ...]
    requested_mix: Mix
    profile: Profile | None
    resources: tuple[ResourceCapacity, ...]
    objectives: tuple[ObjectiveCapacity, ...]
    response: ResponseCurve | None
    saturation: Saturation | None
    users: Users | None
    levels: tuple[LoadLevel, ...]
    contradictions: tuple[Contradiction, ...]
    limits: tuple[bottleneck_finder.Bottleneck, ...] = ()
    reach: float = 1.0
    changed: tuple[str, ...] = ()
    overload: LoadLevel | None = None
    fall: LevelFall | None = None

    @property
    def mix(self) -> Values:
        """The share of each group of operations in the load."""
        return self.requested_mix.shares

    @property
    def highest(self) -> float:
        """The highest measured load of the requested mix (operations a second)."""
        return self.reach * self.requested_mix.highest

    @property
    def projected(self) -> float:
        """The highest load for which values are projected (operations a second)."""
        return BEYOND * self.highest

    @cached_property
    def reached(self) -> tuple["Limit", ...]:
        """The limits that are reached within the projected loads and up to the highest throughput, sorted by load."""
        limits = [
            Limit(cause.load, cause) for cause in (*self.resources, *self.objectives) if np.isfinite(cause.load.value)
        ]
        limits.sort(key=lambda limit: limit.load.value)
        stop = self.saturation
        if stop is None:
            return tuple(limits)
        before = [limit for limit in limits if limit.load.value < stop.load]
        if stop.by_resource and before:
            return tuple(before)
        return (*before, Limit(Range.exactly(stop.load), stop))


@dataclass(frozen=True, eq=False)
class Limit:
    """The load (operations/s) at which a resource or objective reaches its limit, or throughput its highest value."""

    load: Range
    cause: ResourceCapacity | ObjectiveCapacity | Saturation


def compute_capacity(
    reviews: Sequence[Review],
    profile: Profile | None = None,
    objectives: Mapping[str, float] | None = None,
    changes: Changes | None = None,
) -> Capacity:
    """Return the load that a system can carry, from one or more runs of the system.

    Args:
        reviews: The runs.
        profile: The operations of users; by default the measured operations.
        objectives: Objectives (s) of response times by signal, besides the objectives in the runs.
        changes: Assumed changes of the hosts; response times after a change are unknown.

    Raises:
        Unusable: Load or use was not recorded, or the load does not vary.
    """
    result = collect_observations(reviews, objectives)
    fall = find_largest_fall(result, find_levels(result))
    saturated, overload = find_saturation(result, find_levels(result)), None
    if saturated:
        result, overload = cut_at_top(result, find_levels(result))
    groups = group_separable(result.fine)
    rates = sum_groups(result.rates, groups)
    demands: dict[Key, Demand] = {}
    for at, resource in enumerate(result.resources):
        present = np.isfinite(result.use[resource.key])
        if present.sum() >= FEWEST:
            demands[resource.key] = estimate_demand(rates[present], result.use[resource.key][present], at)
    if not demands:
        raise Unusable(
            f"not known: no use of a resource was recorded together with the load in {FEWEST} parts of the run"
        )
    mix = choose_mix(result, groups, profile, list(demands.values()))
    steps = find_levels(result)
    limits = tuple(bottleneck for review in reviews if (bottleneck := bottleneck_finder.find_bottleneck(review)))
    stop = saturated if mix.as_measured else None
    if mix.as_measured and not stop and any(limit.kind == "queue" for limit in limits):
        stop = Saturation(result.highest, None, by_resource=False, sure=False)  # a queue inside the software
    after = apply_changes(result.resources, demands, changes or Changes())
    most = after.reach * mix.highest
    resources = [
        _project_resource(resource, after.demands[resource.key], check_of(result, resource, rates), mix.shares, most)
        for resource in after.resources
        if resource.key in demands
    ]
    if changes and stop and stop.by_resource:
        stop = None  # the old bottleneck may have been changed
    who = _find_waiting_users(result, steps)
    busiest = sorted(resources, key=lambda resource: -resource.use.value)[:3]
    stations = [_make_station(resource, mix.shares, who, most) for resource in busiest]
    responses = result.responses if mix.as_measured and not changes else ()
    curves = [curve for response in responses if (curve := fit_response_curve(response, steps, stations, stop))]
    objectives_reached = [
        ObjectiveCapacity(curve, curve.response.limit or 0.0, Range(*load))
        for curve in curves
        if (load := find_longest_load(curve, steps, stop, BEYOND * mix.highest)) is not None
    ]
    mean = make_mean_response(result, steps, curves)
    if profile is None:
        users = find_users(result, steps, mean)
    else:
        users = ProfileUsers(sum(profile.each_second.values()) or None, profile.think_time or 0.0, mean)
    return Capacity(
        result,
        groups,
        mix,
        profile,
        tuple(sorted(resources, key=lambda resource: (resource.load.value, -resource.use.value))),
        tuple(objectives_reached),
        curves[0] if curves else None,
        stop,
        users,
        steps,
        find_contradictions(result, steps),
        limits,
        after.reach,
        after.sentences,
        overload,
        fall,
    )


def _project_resource(
    resource: Resource, result: Demand, check: Check | None, mix: Values, most: float
) -> ResourceCapacity:
    """Return the load at which a resource reaches its limit, or why that is not projected.

    `mix` are the shares of the groups of operations, and `most` is the highest measured load.
    """
    loads = np.linspace(0, BEYOND * most, _POINTS)
    curves = np.maximum.accumulate(result.use(loads[:, None] * mix[None, :]), axis=1)
    crossed = np.array([_find_reach(curve, loads, resource.limit) for curve in curves])
    why, at = "", Range.of(result.use(most * mix[None, :])[:, 0])
    poor = check if check is not None and check.poor(resource.limit) and crossed[0] > most else None
    if poor:
        crossed[:], why = np.inf, "lower loads do not predict the use at the highest one"
        at = Range.exactly(poor.measured)
    load = Range.of(crossed)
    if most < load.value < np.inf and min(load.high, BEYOND * most) > _WIDE * load.low:
        load, why = Range.exactly(np.inf), "the use does not follow the load closely enough"
    return ResourceCapacity(resource, result, load, at, Range.of(result.idle), check, why, follows=poor is None)


def _find_reach(curve: Values, loads: Values, limit: float) -> float:
    beyond = np.flatnonzero(curve >= limit)
    if not len(beyond):
        return float("inf")
    at = int(beyond[0])
    return float(np.interp(limit, curve[at - 1 : at + 1], loads[at - 1 : at + 1])) if at else 0.0


def _find_waiting_users(result: Observed, steps: Sequence[LoadLevel]) -> MeasuredUsers | None:
    """Return the measured users if they wait for each response and think before the next request; else None."""
    users = find_users(result, steps) if result.of_driver else None
    mean = next((response for response in result.responses if response.name == MEAN), None)
    if users is None or mean is None:
        return None
    times = average_levels(steps, mean.times)
    working = [step.load * float(at) / step.users for step, at in zip(steps, times, strict=True) if step.users]
    return users if working and working[0] < _THINKING else None


def _make_station(
    resource_capacity: ResourceCapacity, mix: Values, users: MeasuredUsers | None, most: float
) -> Station:
    """Return the queue at a resource: its utilisation as a function of the load, its servers, and its service time."""

    def busy(loads: Values) -> Values:
        return resource_capacity.demand.use(loads[:, None] * mix[None, :])[0] / 100

    servers = max(1, round(resource_capacity.resource.processors or 1))
    service = float(resource_capacity.demand.per_operation[0] @ mix) / 100 * servers
    if users is None:
        return Station(busy, servers, service)

    def working(load: float) -> float:
        value = users.at(load)
        return value if np.isfinite(value) else users.highest / float(users.loads[-1]) * load

    return Station(busy, servers, service, working, BEYOND * most)


def choose_mix(
    result: Observed, groups: Sequence[tuple[int, ...]], profile: Profile | None, demands: Sequence[Demand]
) -> Mix:
    """Return the mix of the profile; without a profile, the measured mix.

    For a mix unlike the run's, `highest` is the load at which no resource is used more than in the run.

    Raises:
        Unusable: The profile has an operation that the run lacks, or shares that the run cannot tell apart.
    """
    measured = sum_groups(result.mix[None, :], tuple(groups))[0]
    if profile is None:
        return Mix(measured, result.highest)
    shares = np.zeros(len(result.names))
    # If a driver's file has a single operation, it is read as all requests, without a name.
    only = result.of_driver and len(result.names) == len(profile.shares) == 1
    for name, share in profile.shares.items():
        shares[0 if only else _find_operation(result, name)] += share
    for group in groups:
        of = list(group)
        total, of_run = float(shares[of].sum()), result.mix[of] / float(result.mix[of].sum())
        if len(of) > 1 and total and float(np.abs(shares[of] / total - of_run).max()) > _SAME:
            names = ", ".join(result.names[at] for at in of)
            raise Unusable(
                f"not known: {names} rise and fall together in the run, so what each demands cannot be told, and "
                "the profile has another mix of them; record a run in which their shares vary"
            )
    mix = sum_groups(shares[None, :], tuple(groups))[0]
    left_out = tuple(name for at, name in enumerate(result.names) if shares[at] == 0)
    if float(np.abs(mix - measured).max()) <= _SAME:
        return Mix(mix, result.highest, as_measured=True, left_out=left_out)
    uses = [(demand.highest, float(mix @ demand.linear)) for demand in demands]
    most = min((highest / use for highest, use in uses if use > 0 and highest > _HARDLY), default=result.highest)
    return Mix(mix, most, as_measured=False, left_out=left_out)


def _find_operation(result: Observed, name: str) -> int:
    """Return the index in the run of the operation that a profile calls `name`. Raise Unusable if the run lacks it."""
    text, *plain = (raw.casefold().replace("_", " ").strip() for raw in (name, *result.names))
    if text in plain:
        return plain.index(text)
    alike = [at for at, recorded in enumerate(plain) if recorded.endswith(text) or text.endswith(recorded)]
    if len(alike) == 1:
        return alike[0]
    raise Unusable(
        f'not known: the profile has the operation "{name}", which was not recorded; recorded were '
        f"{', '.join(result.names)}"
    )
