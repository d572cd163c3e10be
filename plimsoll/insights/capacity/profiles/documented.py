"""How many users a documented system carries, from the costs of its study: the method of Site Server's two studies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from plimsoll.insights.capacity.profiles.profile import Documented, Profile
from plimsoll.model.document import Bullets, Verdict
from plimsoll.model.value_text import number, percent

SCHEMA = "plimsoll.capacity-profile/1"
_MOST_USERS = 1e9


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


def profile_blocks(found: DocumentedCapacity) -> tuple[Verdict, Bullets]:
    """Build what a terminal shows."""
    return Verdict(answer(found), ""), Bullets(sentences(found))


def answer(found: DocumentedCapacity) -> str:
    """How many users, before what is reached; then what comes next."""
    if not found.reached:
        return "Not known: the profile gives no limit."
    first, *others = found.reached
    then = f"; then {_reached(others[0])} at {number(others[0].users)} users" if others else ""
    return f"About {number(first.users)} users before {_reached(first)}{then}."


def sentences(found: DocumentedCapacity) -> tuple[str, ...]:
    """The use at the wanted number of users, and where the figures are from."""
    profile = found.profile
    source = f"By the costs of {profile.document}" if profile.document else "By the costs of the profile"
    said = [f"{source}: {profile.title}, {found.variant.replace('-', ' ')}."]
    if found.users is not None and found.uses:
        said.append(f"{number(found.users)} users: {', '.join(_use(one) for one in found.uses)}.")
    said += [
        f"Beyond what was measured: {_plain(name)} more often than {_most(found, name)} /s." for name in found.beyond
    ]
    return tuple(said)


def profile_json(found: DocumentedCapacity) -> dict[str, Any]:
    """The JSON."""
    return {
        "schema": SCHEMA,
        "answer": answer(found),
        "sentences": list(sentences(found)),
        "profile": found.profile.title,
        "variant": found.variant,
        "users": found.users,
        "uses": [vars(one) for one in found.uses],
        "limits": [vars(one) for one in found.reached],
        "beyond_measured": list(found.beyond),
    }


def _reached(one: Reached) -> str:
    if one.why == "answered":
        more = "; along its last part beyond what was measured" if one.extended else ""
        return f"{_plain(one.what)} is asked for more often than it was answered at most ({number(one.limit)} /s{more})"
    if one.why:
        return f"{_plain(one.what)} reaches {number(one.limit)} /s ({one.why})"
    return f"{one.what[:1].lower() + one.what[1:]} reaches {number(one.limit)} {one.unit}"


def _use(one: Use) -> str:
    share = f" ({percent(one.share)})" if one.share is not None else ""
    return f"{one.title[:1].lower() + one.title[1:]} {_exact(one.use)} {one.unit}{share}"


def _exact(value: float) -> str:
    """As many digits as the documents print."""
    return f"{value:,.3f}".rstrip("0").rstrip(".") if value < 1000 else f"{value:,.0f}"


def _most(found: DocumentedCapacity, name: str) -> str:
    return number(found.profile.costs[found.variant].most[name])


def _plain(name: str) -> str:
    return name.replace("_", " ")
