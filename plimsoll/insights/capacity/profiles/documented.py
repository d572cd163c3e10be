"""How many users a documented system carries, from the costs of its study: the method of Site Server's two studies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf

from plimsoll.insights.capacity.profiles.profile import Documented, Profile

_MOST_USERS = 1e9
# Reads and writes of disks for one write, by RAID level: Site Server Membership Directory, "RAID".
RAID_WRITES = {0: 1, 1: 2, 5: 4}
DISK_IOPS = 60.0  # of one disk with 7,200 revolutions a minute, by the same document


@dataclass(frozen=True)
class Use:
    """The use of a resource at a number of users; `share` of all there is of it, where that is known."""

    resource: str
    title: str
    unit: str
    use: float
    share: float | None
    limit: float | None


@dataclass(frozen=True)
class Reached:
    """The number of users at which something is reached.

    `extended`: beyond what was measured, along the last segment. `why` is empty for a resource, whose limit is `limit`.
    """

    users: float
    what: str
    limit: float
    unit: str
    why: str = ""
    extended: bool = False


@dataclass(frozen=True)
class DocumentedCapacity:
    """What a documented system carries: limits in order of users, and the use at a number of users."""

    profile: Profile
    variant: str
    users: float | None
    uses: tuple[Use, ...]
    reached: tuple[Reached, ...]
    beyond: tuple[str, ...]


def documented(profile: Profile, variant: str, users: float | None = None) -> DocumentedCapacity:
    """What a documented system carries; `users`: a number at which its use is wanted, else that of the profile."""
    costs = profile.costs[variant]
    wanted = users if users is not None else profile.users
    uses = tuple(use_at(profile, costs, wanted)) if wanted is not None else ()
    found = sorted((one for one in _limits(profile, costs) if one.users < _MOST_USERS), key=lambda one: one.users)
    beyond = () if wanted is None else tuple(_beyond(profile, costs, wanted))
    return DocumentedCapacity(profile, variant, wanted, uses, tuple(found), beyond)


def rates_of(profile: Profile, users: float) -> dict[str, float]:
    """How often a second so many users do each operation."""
    return {name: users * each for name, each in profile.each_second.items()}


def use_at(profile: Profile, costs: Documented, users: float) -> Iterator[Use]:
    """The use of each resource at a number of users."""
    for name, one in costs.resources.items():
        used = one.use(users, rates_of(profile, users))
        yield Use(name, one.title, one.unit, used, used / one.total if one.total else None, one.limit)


def _limits(profile: Profile, costs: Documented) -> Iterator[Reached]:
    for one in costs.resources.values():
        if one.limit is not None:
            users = most_users(lambda users, one=one: one.use(users, rates_of(profile, users)), one.limit)
            yield Reached(users, one.title, one.limit, one.unit)
    for name, rate in costs.most.items():
        if each := profile.each_second[name]:
            why = costs.most_because.get(name, "no more were measured")
            yield Reached(float(int(rate / each + 1e-9)), name, rate, "/s", why)
    if costs.throughput is not None:
        at, extended = crossing(costs.throughput.at, profile.each_second[costs.throughput.operation])
        yield Reached(
            at,
            costs.throughput.operation,
            at * profile.each_second[costs.throughput.operation],
            "/s",
            "answered",
            extended,
        )


def _beyond(profile: Profile, costs: Documented, users: float) -> Iterator[str]:
    rates = rates_of(profile, users)
    for name, most in costs.most.items():
        if rates[name] > most:
            yield name


def most_users(use: Callable[[float], float], limit: float) -> float:
    """The largest whole number of users whose use is within a limit; infinite if there is none.

    The use has to rise with the users, as the curves of a profile are checked to do.
    """
    low, high = 0, 1
    while use(high) <= limit:
        low, high = high, 2 * high
        if high > _MOST_USERS:
            return inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if use(middle) <= limit else (low, middle)
    return float(low)


def crossing(measured: Sequence[tuple[float, float]], each: float) -> tuple[float, bool]:
    """Where required throughput (users times `each`) crosses the measured one, as in Dynamic Directory's figure.

    Returns:
        The users, and whether they are beyond the measured ones, along the last segment.
    """
    (x0, y0) = measured[0]
    for x1, y1 in measured[1:]:
        if x1 * each >= y1:
            return _meets(x0, y0, x1, y1, each), False
        x0, y0 = x1, y1
    (x0, y0), (x1, y1) = measured[-2:]
    return _meets(x0, y0, x1, y1, each), True


def _meets(x0: float, y0: float, x1: float, y1: float, each: float) -> float:
    slope = (y1 - y0) / (x1 - x0)
    return inf if slope >= each else (y0 - slope * x0) / (each - slope)


def disks(reads: float, writes: float, raid: int, iops: float = DISK_IOPS) -> int:
    """How many disks so many reads and writes a second need. KeyError for a RAID level that is not known."""
    return ceil((reads + RAID_WRITES[raid] * writes) / iops)


def peak_users(members: float, online: float, peak_factor: float) -> float:
    """How many users are at work at the peak: members, the share that is online on average, and the factor."""
    return members * online * peak_factor
