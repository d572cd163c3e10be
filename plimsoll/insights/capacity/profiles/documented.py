"""The users that a documented system can carry: costs are from its document, the method from Site Server's studies."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from plimsoll.insights.capacity.profiles.profile import Documented, Profile
from plimsoll.model.document import Bullets, VerdictBlock
from plimsoll.model.value_text import format_percent, number

SCHEMA = "plimsoll.capacity-profile/1"
_MOST_USERS = 1e9


@dataclass(frozen=True)
class DocumentedUse:
    """The use of a resource at a number of users; `share` is the use divided by the capacity (None if unknown)."""

    resource: str
    title: str
    unit: str
    use: float
    share: float | None
    limit: float | None


@dataclass(frozen=True)
class Reached:
    """The number of users at which a limit is reached.

    `extended` means beyond the measured users, on the extended last segment of the curve. `why` tells what limits an
    operation; empty for a resource.
    """

    users: float
    name: str
    limit: float
    unit: str
    why: str = ""
    extended: bool = False


@dataclass(frozen=True)
class DocumentedCapacity:
    """The limits of a documented system in order of users, and the use of its resources at a number of users."""

    profile: Profile
    variant: str
    users: float | None
    uses: tuple[DocumentedUse, ...]
    reached: tuple[Reached, ...]
    beyond: tuple[str, ...]


def compute_documented(profile: Profile, variant: str, users: float | None = None) -> DocumentedCapacity:
    """Return the limits of a documented system, and the use at `users`, by default the number in the profile."""
    costs = profile.costs[variant]
    users = users if users is not None else profile.users
    uses = tuple(use_at(profile, costs, users)) if users is not None else ()
    limits = [limit for limit in _list_limits(profile, costs) if limit.users < _MOST_USERS]
    rates = compute_rates(profile, users or 0.0)
    beyond = tuple(name for name, most in costs.most.items() if users is not None and rates[name] > most)
    reached = tuple(sorted(limits, key=lambda limit: limit.users))
    return DocumentedCapacity(profile, variant, users, uses, reached, beyond)


def compute_rates(profile: Profile, users: float) -> dict[str, float]:
    """Return the rate of each operation (a second) for a number of users."""
    return {name: users * rate for name, rate in profile.each_second.items()}


def use_at(profile: Profile, costs: Documented, users: float) -> Iterator[DocumentedUse]:
    """Yield the use of each resource at a number of users."""
    for name, resource in costs.resources.items():
        used = resource.use(users, compute_rates(profile, users))
        share = used / resource.total if resource.total else None
        yield DocumentedUse(name, resource.title, resource.unit, used, share, resource.limit)


def _list_limits(profile: Profile, costs: Documented) -> Iterator[Reached]:
    """Yield the number of users at which each limit of a documented system is reached."""
    for resource in costs.resources.values():
        if resource.limit is not None:
            users = compute_most_users(
                lambda users, documented_resource=resource: documented_resource.use(
                    users, compute_rates(profile, users)
                ),
                resource.limit,
            )
            yield Reached(users, resource.title, resource.limit, resource.unit)
    for name, rate in costs.most.items():
        if value := profile.each_second[name]:
            why = costs.most_because.get(name, "no more were measured")
            yield Reached(float(int(rate / value + 1e-9)), name, rate, "/s", why)
    if costs.throughput is not None:
        name, rate = costs.throughput.operation, profile.each_second[costs.throughput.operation]
        at, extended = find_crossing_users(costs.throughput.at, rate)
        yield Reached(at, name, at * rate, "/s", "answered", extended)


def compute_most_users(use: Callable[[float], float], limit: float) -> float:
    """Return the largest whole number of users whose use is within a limit; infinite if the limit is never reached.

    `use` must rise with the users, which is checked for the curves of a profile.
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


def find_crossing_users(measured: Sequence[tuple[float, float]], value: float) -> tuple[float, bool]:
    """Return the users at which the required throughput (users times `value`) exceeds the measured throughput.

    The method is that of the figure in the study of Dynamic Directory.

    Returns:
        The number of users, and whether it is beyond the measured users, where the last segment is extended.
    """
    (x0, y0) = measured[0]
    for x1, y1 in measured[1:]:
        if x1 * value >= y1:
            return _intersect(x0, y0, x1, y1, value), False
        x0, y0 = x1, y1
    (x0, y0), (x1, y1) = measured[-2:]
    return _intersect(x0, y0, x1, y1, value), True


def _intersect(x0: float, y0: float, x1: float, y1: float, value: float) -> float:
    slope = (y1 - y0) / (x1 - x0)
    return inf if slope >= value else (y0 - slope * x0) / (value - slope)


def build_profile_blocks(documented_capacity: DocumentedCapacity) -> tuple[VerdictBlock, Bullets]:
    """Build the terminal's output for a documented capacity."""
    return VerdictBlock(answer(documented_capacity), ""), Bullets(list_sentences(documented_capacity))


def answer(documented_capacity: DocumentedCapacity) -> str:
    """Return a sentence on the numbers of users at which the first limit and the next limit are reached."""
    if not documented_capacity.reached:
        return "Not known: the profile gives no limit."
    first, *others = documented_capacity.reached
    then = f"; then {_describe_reached(others[0])} at {number(others[0].users)} users" if others else ""
    return f"About {number(first.users)} users before {_describe_reached(first)}{then}."


def list_sentences(documented_capacity: DocumentedCapacity) -> tuple[str, ...]:
    """Return sentences on the source of the figures, the use at the number of users, and unmeasured high rates."""
    profile, variant, users = documented_capacity.profile, documented_capacity.variant, documented_capacity.users
    source = f"By the costs of {profile.document}" if profile.document else "By the costs of the profile"
    texts = [f"{source}: {profile.title}, {variant.replace('-', ' ')}."]
    if users is not None and documented_capacity.uses:
        texts.append(f"{number(users)} users: {', '.join(_use(use) for use in documented_capacity.uses)}.")
    most = profile.costs[variant].most
    texts += [
        f"Beyond what was measured: {_format_plain(name)} more often than {number(most[name])} /s."
        for name in documented_capacity.beyond
    ]
    return tuple(texts)


def encode_profile(documented_capacity: DocumentedCapacity) -> dict[str, Any]:
    """Return the JSON of a documented capacity."""
    return {
        "schema": SCHEMA,
        "answer": answer(documented_capacity),
        "sentences": list(list_sentences(documented_capacity)),
        "profile": documented_capacity.profile.title,
        "variant": documented_capacity.variant,
        "users": documented_capacity.users,
        "uses": [vars(use) for use in documented_capacity.uses],
        "limits": [vars(reached) for reached in documented_capacity.reached],
        "beyond_measured": list(documented_capacity.beyond),
    }


def _describe_reached(reached: Reached) -> str:
    if reached.why == "answered":
        extended = "; along its last part beyond what was measured" if reached.extended else ""
        most = f"({number(reached.limit)} /s{extended})"
        return f"{_format_plain(reached.name)} is asked for more often than it was answered at most {most}"
    if reached.why:
        return f"{_format_plain(reached.name)} reaches {number(reached.limit)} /s ({reached.why})"
    return f"{reached.name[:1].lower() + reached.name[1:]} reaches {number(reached.limit)} {reached.unit}"


def _use(use: DocumentedUse) -> str:
    share = f" ({format_percent(use.share)})" if use.share is not None else ""
    # With as many digits as in the documents.
    value = f"{use.use:,.3f}".rstrip("0").rstrip(".") if use.use < 1000 else f"{use.use:,.0f}"
    return f"{use.title[:1].lower() + use.title[1:]} {value} {use.unit}{share}"


def _format_plain(name: str) -> str:
    return name.replace("_", " ")
