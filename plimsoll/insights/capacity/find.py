"""How much load a system can carry, from the runs that were measured.

The method of Site Server's capacity studies (1998, 1999), with what they lacked: use without load, intervals, and a
check of the model against the highest load. Nothing is projected beyond 1.5 times the highest measured load.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plimsoll.analysis.demand import FEWEST, Demand, demand, separable, together
from plimsoll.insights.bottleneck import find as bottleneck_finder
from plimsoll.insights.capacity.levels import LoadLevel, MeasuredUsers, ProfileUsers, Users, levels, means, users_of
from plimsoll.insights.capacity.load_observations import MEAN, Observed, observed
from plimsoll.insights.capacity.profiles.profile import Profile
from plimsoll.insights.capacity.resources import Resource
from plimsoll.insights.capacity.response import ResponseCurve, Station, longest_load, mean_response, response_curve
from plimsoll.insights.capacity.saturation import Saturation, queues_inside, saturation, up_to_the_top
from plimsoll.insights.capacity.verification import Check, Contradiction, check_of, contradictions
from plimsoll.insights.capacity.what_if import Changes, changed
from plimsoll.model.errors import Unusable
from plimsoll.model.log import Values
from plimsoll.review.review import Review

_SAME = 0.1  # our choice: shares that differ by less, of all operations, are the same mix
_HARDLY = 2.0  # %: what was used less is known too badly to compare mixes by


@dataclass(frozen=True, eq=False)
class Mix:
    """Shares of the groups of operations, and the highest load of such a mix that was measured (a second).

    `as_measured`: the shares are about those of the run, so response times and the highest throughput hold for it.
    `left_out` are operations of the run that the profile does not have.
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
    """A value and its 95 % interval; infinite where it is not reached up to what is projected."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, replicates: Values) -> "Range":
        """Return the first is the value, the others its bootstrap replicates."""
        low, high = np.quantile(replicates[1:], [0.025, 0.975], method="nearest").tolist()
        value = float(replicates[0])
        return cls(value, min(low, value), max(high, value))


@dataclass(frozen=True, eq=False)
class ResourceCapacity:
    """A resource and the load it can carry.

    Attributes:
        rates: The measured rates that its demand was estimated from, by group of operations.
        load: The operations a second with which it reaches its limit.
        use: Its use (%) at the highest measured load; as it was measured where it does not go with the load.
        idle: Its use (%) without load.
        check: How well lower loads predict the highest one; None where there were too few.
        why_not: Why it is not projected; empty if it is.
        follows: Whether its use goes with the load at all: else what operations demand is not known.
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
    """The load up to which a response time keeps its objective."""

    curve: ResponseCurve
    limit: float
    load: Range


@dataclass(frozen=True, eq=False)
class Capacity:
    """What a system can carry: resources, objectives, and where throughput stopped to rise.

    `groups` are the operations as the data can tell them apart, `asked_mix` the mix of them that it is told for.
    `overload` is the highest measured level of users, where less was done than by fewer of them; nothing rests on it.
    `limits` are what limits each run, by all of its counters. `changed` says what is assumed to be changed; then loads
    up to `reach` of the measured ones are no projection.
    """

    observed: Observed
    groups: tuple[tuple[int, ...], ...]
    asked_mix: Mix
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

    @property
    def mix(self) -> Values:
        """The share of each group of all operations."""
        return self.asked_mix.shares

    @property
    def highest(self) -> float:
        """The highest load of this mix that was measured."""
        return self.reach * self.asked_mix.highest

    @property
    def projected(self) -> float:
        """The load up to which anything is projected."""
        return BEYOND * self.highest

    @cached_property
    def reached(self) -> tuple["Limit", ...]:
        """What is reached up to there, the first first; what comes after throughput stops to rise is not reached."""
        limits: list[Limit] = [
            Limit(resource.load, resource) for resource in self.resources if np.isfinite(resource.load.value)
        ]
        limits += [
            Limit(objective.load, objective) for objective in self.objectives if np.isfinite(objective.load.value)
        ]
        limits.sort(key=lambda limit: limit.load.value)
        stop = self.saturation
        if stop is None:
            return tuple(limits)
        before = [limit for limit in limits if limit.load.value < stop.load]
        if stop.by_resource and before:
            return tuple(before)
        return (*before, Limit(Range(stop.load, stop.load, stop.load), stop))


@dataclass(frozen=True, eq=False)
class Limit:
    """The load (operations a second) at which something is reached."""

    load: Range
    what: ResourceCapacity | ObjectiveCapacity | Saturation


def capacity(
    reviews: Sequence[Review],
    profile: Profile | None = None,
    objectives: Mapping[str, float] | None = None,
    changes: Changes | None = None,
) -> Capacity:
    """Return the load that a system can carry, from one or more runs of it.

    Args:
        reviews: The runs.
        profile: What users do; by default what was measured.
        objectives: Limits (s) of response times by their signal, besides those of the runs.
        changes: What is to be changed; how long requests take after a change is not known.

    Raises:
        Unusable: What it needs was not recorded, or the load does not vary.
    """
    result = observed(reviews, objectives)
    saturated, overload = saturation(result, levels(result)), None
    if saturated:
        result, overload = up_to_the_top(result, levels(result))
    groups = separable(result.fine)
    rates = together(result.rates, groups)
    demands = {
        resource.key: demand
        for at, resource in enumerate(result.resources)
        if (demand := _demand(result, resource, rates, at))
    }
    if not demands:
        raise Unusable(
            f"not known: no use of a resource was recorded together with the load in {FEWEST} parts of the run"
        )
    mix = mix_of(result, groups, profile, list(demands.values()))
    steps = levels(result)
    limits = tuple(bottleneck for review in reviews if (bottleneck := bottleneck_finder.find_bottleneck(review)))
    stop = (saturated or queues_inside(limits, result.highest)) if mix.as_measured else None
    after = changed(result.resources, demands, changes or Changes())
    most = after.reach * mix.highest
    checks = {
        resource.key: check_of(result, resource, rates) for resource in result.resources if resource.key in demands
    }
    resource_capacities = [
        _resource(resource, after.demands[resource.key], checks[resource.key], mix.shares, most)
        for resource in after.resources
        if resource.key in demands
    ]
    if changes and stop and stop.by_resource:
        stop = None  # what limited then may have been changed
    who = _waiting_users(result, steps)
    stations = [
        _station(resource_capacity, mix.shares, who, most)
        for resource_capacity in sorted(
            resource_capacities, key=lambda resource_capacity: -resource_capacity.use.value
        )[:3]
    ]
    responses = result.responses if mix.as_measured and not changes else ()
    curves = [item for response in responses if (item := response_curve(response, steps, stations, stop))]
    goals = [
        ObjectiveCapacity(curve, curve.response.limit or 0.0, Range(*current))
        for curve in curves
        if (current := longest_load(curve, steps, stop, BEYOND * mix.highest)) is not None
    ]
    mean = mean_response(result, steps, curves)
    return Capacity(
        result,
        groups,
        mix,
        profile,
        tuple(
            sorted(
                resource_capacities,
                key=lambda resource_capacity: (resource_capacity.load.value, -resource_capacity.use.value),
            )
        ),
        tuple(goals),
        curves[0] if curves else None,
        stop,
        users_of(result, steps, mean) if profile is None else _profile_users(profile, mean),
        steps,
        contradictions(result, steps),
        limits,
        after.reach,
        after.told,
        overload,
    )


def _demand(result: Observed, resource: Resource, rates: Values, seed: int) -> Demand | None:
    isfinite = np.isfinite(result.use[resource.key])
    return demand(rates[isfinite], result.use[resource.key][isfinite], seed) if isfinite.sum() >= FEWEST else None


def _resource(resource: Resource, result: Demand, check: Check | None, mix: Values, most: float) -> ResourceCapacity:
    loads = np.linspace(0, BEYOND * most, _POINTS)
    curves = np.maximum.accumulate(result.use(loads[:, None] * mix[None, :]), axis=1)
    crossed = np.array([_reaches(curve, loads, resource.limit) for curve in curves])
    why, at = "", Range.of(result.use(most * mix[None, :])[:, 0])
    poor = check if check is not None and check.poor(resource.limit) and crossed[0] > most else None
    if poor:
        crossed[:], why = np.inf, "lower loads do not predict the use at the highest one"
        at = Range(poor.measured, poor.measured, poor.measured)
    load = Range.of(crossed)
    if most < load.value < np.inf and min(load.high, BEYOND * most) > _WIDE * load.low:
        load, why = Range(np.inf, np.inf, np.inf), "the use does not follow the load closely enough"
    return ResourceCapacity(resource, result, load, at, Range.of(result.idle), check, why, follows=poor is None)


def _reaches(curve: Values, loads: Values, limit: float) -> float:
    beyond = np.flatnonzero(curve >= limit)
    if not len(beyond):
        return float("inf")
    at = int(beyond[0])
    return float(np.interp(limit, curve[at - 1 : at + 1], loads[at - 1 : at + 1])) if at else 0.0


def _profile_users(profile: Profile, response: Callable[[float], float]) -> Users:
    return ProfileUsers(sum(profile.each_second.values()) or None, profile.think_time or 0.0, response)


def _waiting_users(result: Observed, steps: Sequence[LoadLevel]) -> MeasuredUsers | None:
    """Return the users, if they wait for answers and think between: else requests come whatever waits."""
    users = users_of(result, steps) if result.of_driver else None
    mean = next((response for response in result.responses if response.name == MEAN), None)
    if users is None or mean is None:
        return None
    times = means(steps, mean.times)
    working = [step.load * float(at) / step.users for step, at in zip(steps, times, strict=True) if step.users]
    return users if working and working[0] < _THINKING else None


def _station(resource_capacity: ResourceCapacity, mix: Values, users: MeasuredUsers | None, most: float) -> Station:
    def busy(loads: Values) -> Values:
        return resource_capacity.demand.use(loads[:, None] * mix[None, :])[0] / 100

    servers = max(1, round(resource_capacity.resource.processors or 1))
    service = float(resource_capacity.demand.each[0] @ mix) / 100 * servers
    if users is None:
        return Station(busy, servers, service)

    def working(load: float) -> float:
        value = users.at(load)
        return value if np.isfinite(value) else users.highest / float(users.loads[-1]) * load

    return Station(busy, servers, service, working, BEYOND * most)


def mix_of(
    result: Observed, groups: Sequence[tuple[int, ...]], profile: Profile | None, demands: Sequence[Demand]
) -> Mix:
    """Return the measured mix, or that of a profile.

    The highest measured load of another mix is the one that uses no resource more than it was used in the run.

    Raises:
        Unusable: The profile has an operation that the run does not, or shares that the run cannot tell apart.
    """
    measured = together(result.mix[None, :], tuple(groups))[0]
    if profile is None:
        return Mix(measured, result.highest)
    shares = np.zeros(len(result.names))
    # A driver's file of a single operation is read as all requests, without its name.
    only = result.of_driver and len(result.names) == len(profile.shares) == 1
    for name, share in profile.shares.items():
        shares[0 if only else _place(result, name)] += share
    for group in groups:
        _refuse_other_shares(result, group, shares)
    current = together(shares[None, :], tuple(groups))[0]
    left_out = tuple(name for at, name in enumerate(result.names) if shares[at] == 0)
    alike = float(np.abs(current - measured).max()) <= _SAME
    if alike:
        return Mix(current, result.highest, as_measured=True, left_out=left_out)
    items = [(demand.highest, float(current @ demand.linear)) for demand in demands]
    most = min((highest / use for highest, use in items if use > 0 and highest > _HARDLY), default=result.highest)
    return Mix(current, most, as_measured=False, left_out=left_out)


def _place(result: Observed, name: str) -> int:
    plain = [_plain(name) for name in result.names]
    text = _plain(name)
    if text in plain:
        return plain.index(text)
    alike = [at for at, entry in enumerate(plain) if entry.endswith(text) or text.endswith(entry)]
    if len(alike) == 1:
        return alike[0]
    raise Unusable(
        f'not known: the profile has the operation "{name}", which was not recorded; recorded were '
        f"{', '.join(result.names)}"
    )


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ").strip()


def _refuse_other_shares(result: Observed, group: Sequence[int], shares: Values) -> None:
    """Unusable if operations that only were measured together have other shares of each other in the profile."""
    of = list(group)
    total, measured = float(shares[of].sum()), float(result.mix[of].sum())
    if len(of) > 1 and total and float(np.abs(shares[of] / total - result.mix[of] / measured).max()) > _SAME:
        names = ", ".join(result.names[at] for at in of)
        raise Unusable(
            f"not known: {names} rise and fall together in the run, so what each demands cannot be told, and "
            "the profile has another mix of them; record a run in which their shares vary"
        )
