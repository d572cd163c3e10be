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
from plimsoll.insights.capacity.levels import Level, MeasuredUsers, ProfileUsers, Users, levels, means, users_of
from plimsoll.insights.capacity.observations import MEAN, Observed, observed
from plimsoll.insights.capacity.profiles.profile import Profile
from plimsoll.insights.capacity.resources import Resource
from plimsoll.insights.capacity.response import ResponseCurve, Station, longest_load, mean_response, response_curve
from plimsoll.insights.capacity.saturation import Saturation, queues_inside, saturation
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
        """The first is the value, the others its bootstrap replicates."""
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
    levels: tuple[Level, ...]
    contradictions: tuple[Contradiction, ...]
    limits: tuple[bottleneck_finder.Bottleneck, ...] = ()
    reach: float = 1.0
    changed: tuple[str, ...] = ()

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
        found: list[Limit] = [Limit(one.load, one) for one in self.resources if np.isfinite(one.load.value)]
        found += [Limit(one.load, one) for one in self.objectives if np.isfinite(one.load.value)]
        found.sort(key=lambda one: one.load.value)
        stop = self.saturation
        if stop is None:
            return tuple(found)
        before = [one for one in found if one.load.value < stop.load]
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
    """The load that a system can carry, from one or more runs of it.

    Args:
        reviews: The runs.
        profile: What users do; by default what was measured.
        objectives: Limits (s) of response times by their signal, besides those of the runs.
        changes: What is to be changed; how long requests take after a change is not known.

    Raises:
        Unusable: What it needs was not recorded, or the load does not vary.
    """
    seen = observed(reviews, objectives)
    groups = separable(seen.fine)
    rates = together(seen.rates, groups)
    demands = {one.key: found for at, one in enumerate(seen.resources) if (found := _demand(seen, one, rates, at))}
    if not demands:
        raise Unusable(
            f"not known: no use of a resource was recorded together with the load in {FEWEST} parts of the run"
        )
    mix = mix_of(seen, groups, profile, list(demands.values()))
    steps = levels(seen)
    limits = tuple(one for review in reviews if (one := bottleneck_finder.find_bottleneck(review)))
    stop = (saturation(seen, steps) or queues_inside(limits, seen.highest)) if mix.as_measured else None
    after = changed(seen.resources, demands, changes or Changes())
    most = after.reach * mix.highest
    checks = {one.key: check_of(seen, one, rates) for one in seen.resources if one.key in demands}
    every = [
        _resource(one, after.demands[one.key], checks[one.key], mix.shares, most)
        for one in after.resources
        if one.key in demands
    ]
    if changes and stop and stop.by_resource:
        stop = None  # what limited then may have been changed
    who = _waiting_users(seen, steps)
    stations = [_station(one, mix.shares, who, most) for one in sorted(every, key=lambda one: -one.use.value)[:3]]
    responses = seen.responses if mix.as_measured and not changes else ()
    curves = [one for response in responses if (one := response_curve(response, steps, stations, stop))]
    goals = [
        ObjectiveCapacity(one, one.response.limit or 0.0, Range(*found))
        for one in curves
        if (found := longest_load(one, steps, stop, BEYOND * mix.highest)) is not None
    ]
    mean = mean_response(seen, steps, curves)
    return Capacity(
        seen,
        groups,
        mix,
        profile,
        tuple(sorted(every, key=lambda one: (one.load.value, -one.use.value))),
        tuple(goals),
        curves[0] if curves else None,
        stop,
        users_of(seen, steps, mean) if profile is None else _profile_users(profile, mean),
        steps,
        contradictions(seen, steps),
        limits,
        after.reach,
        after.told,
    )


def _demand(seen: Observed, one: Resource, rates: Values, seed: int) -> Demand | None:
    known = np.isfinite(seen.use[one.key])
    return demand(rates[known], seen.use[one.key][known], seed) if known.sum() >= FEWEST else None


def _resource(one: Resource, found: Demand, check: Check | None, mix: Values, most: float) -> ResourceCapacity:
    loads = np.linspace(0, BEYOND * most, _POINTS)
    curves = np.maximum.accumulate(found.use(loads[:, None] * mix[None, :]), axis=1)
    crossed = np.array([_reaches(curve, loads, one.limit) for curve in curves])
    why, at = "", Range.of(found.use(most * mix[None, :])[:, 0])
    poor = check if check is not None and check.poor(one.limit) and crossed[0] > most else None
    if poor:
        crossed[:], why = np.inf, "lower loads do not predict the use at the highest one"
        at = Range(poor.measured, poor.measured, poor.measured)
    load = Range.of(crossed)
    if most < load.value < np.inf and min(load.high, BEYOND * most) > _WIDE * load.low:
        load, why = Range(np.inf, np.inf, np.inf), "the use does not follow the load closely enough"
    return ResourceCapacity(one, found, load, at, Range.of(found.idle), check, why, follows=poor is None)


def _reaches(curve: Values, loads: Values, limit: float) -> float:
    beyond = np.flatnonzero(curve >= limit)
    if not len(beyond):
        return float("inf")
    at = int(beyond[0])
    return float(np.interp(limit, curve[at - 1 : at + 1], loads[at - 1 : at + 1])) if at else 0.0


def _profile_users(profile: Profile, response: Callable[[float], float]) -> Users:
    return ProfileUsers(sum(profile.each_second.values()) or None, profile.think_time or 0.0, response)


def _waiting_users(seen: Observed, steps: Sequence[Level]) -> MeasuredUsers | None:
    """The users, if they wait for answers and think between: else requests come whatever waits."""
    users = users_of(seen, steps) if seen.of_driver else None
    mean = next((one for one in seen.responses if one.name == MEAN), None)
    if users is None or mean is None:
        return None
    times = means(steps, mean.times)
    working = [one.load * float(at) / one.users for one, at in zip(steps, times, strict=True) if one.users]
    return users if working and working[0] < _THINKING else None


def _station(one: ResourceCapacity, mix: Values, users: MeasuredUsers | None, most: float) -> Station:
    def busy(loads: Values) -> Values:
        return one.demand.use(loads[:, None] * mix[None, :])[0] / 100

    servers = max(1, round(one.resource.processors or 1))
    service = float(one.demand.each[0] @ mix) / 100 * servers
    if users is None:
        return Station(busy, servers, service)

    def working(load: float) -> float:
        known = users.at(load)
        return known if np.isfinite(known) else users.highest / float(users.loads[-1]) * load

    return Station(busy, servers, service, working, BEYOND * most)


def mix_of(
    seen: Observed, groups: Sequence[tuple[int, ...]], profile: Profile | None, demands: Sequence[Demand]
) -> Mix:
    """The measured mix, or that of a profile.

    The highest measured load of another mix is the one that uses no resource more than it was used in the run.

    Raises:
        Unusable: The profile has an operation that the run does not, or shares that the run cannot tell apart.
    """
    measured = together(seen.mix[None, :], tuple(groups))[0]
    if profile is None:
        return Mix(measured, seen.highest)
    shares = np.zeros(len(seen.names))
    # A driver's file of a single operation is read as all requests, without its name.
    only = seen.of_driver and len(seen.names) == len(profile.shares) == 1
    for name, share in profile.shares.items():
        shares[0 if only else _place(seen, name)] += share
    for group in groups:
        _refuse_other_shares(seen, group, shares)
    wanted = together(shares[None, :], tuple(groups))[0]
    left_out = tuple(name for at, name in enumerate(seen.names) if shares[at] == 0)
    alike = float(np.abs(wanted - measured).max()) <= _SAME
    if alike:
        return Mix(wanted, seen.highest, as_measured=True, left_out=left_out)
    each = [(one.highest, float(wanted @ one.linear)) for one in demands]
    most = min((highest / use for highest, use in each if use > 0 and highest > _HARDLY), default=seen.highest)
    return Mix(wanted, most, as_measured=False, left_out=left_out)


def _place(seen: Observed, name: str) -> int:
    plain = [_plain(one) for one in seen.names]
    wanted = _plain(name)
    if wanted in plain:
        return plain.index(wanted)
    alike = [at for at, one in enumerate(plain) if one.endswith(wanted) or wanted.endswith(one)]
    if len(alike) == 1:
        return alike[0]
    raise Unusable(
        f'not known: the profile has the operation "{name}", which was not recorded; recorded were '
        f"{', '.join(seen.names)}"
    )


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ").strip()


def _refuse_other_shares(seen: Observed, group: Sequence[int], shares: Values) -> None:
    """Unusable if operations that only were measured together have other shares of each other in the profile."""
    of = list(group)
    total, measured = float(shares[of].sum()), float(seen.mix[of].sum())
    if len(of) > 1 and total and float(np.abs(shares[of] / total - seen.mix[of] / measured).max()) > _SAME:
        names = ", ".join(seen.names[at] for at in of)
        raise Unusable(
            f"not known: {names} rise and fall together in the run, so what each demands cannot be told, and "
            "the profile has another mix of them; record a run in which their shares vary"
        )
