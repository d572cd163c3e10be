"""How much load a system can carry, in sentences and tables."""

from collections.abc import Iterator
from datetime import date
from math import isnan

import numpy as np

from plimsoll.insights.bottleneck.insight import summary
from plimsoll.insights.capacity.find import BEYOND, Capacity, Limit, ObjectiveCapacity, Range, ResourceCapacity
from plimsoll.insights.capacity.forecast import Asked, Forecast, HostsNeeded
from plimsoll.insights.capacity.levels import MeasuredUsers
from plimsoll.insights.capacity.resources import Resource
from plimsoll.insights.capacity.saturation import Saturation
from plimsoll.model.remark import counted
from plimsoll.model.value_text import number, percent, quantity

_MOST_USES = 6
_MEMORY = "memory"
_NO_RESOURCE = "no recorded resource is at its limit"
_OPERATIONS = 6


def answer(capacity: Capacity) -> str:
    """Return what comes first: how much, before what is reached; what comes next; and what limited the run already."""
    short = next((summary(limit) for limit in capacity.limits if limit.kind == _MEMORY), None)
    return (
        f"{_carries(capacity)} {short} Memory is not projected: with more of it, measure again."
        if short
        else _carries(capacity)
    )


def _carries(capacity: Capacity) -> str:
    limits = capacity.reached
    if not limits:
        if unknown := _not_projected(capacity):
            return f"At least {_most(capacity)}, the most that was measured. Not known beyond: {unknown}."
        far = load_text(capacity, Range(capacity.projected, capacity.projected, capacity.projected))
        if early := _earliest(capacity):
            limit = f"{what_text(capacity, early)}{_measured(capacity, early)}"
            return f"{load_text(capacity, early.load)} or more before {limit}."
        return (
            f"At least {_most(capacity)}, the most that was measured: no recorded resource reaches its limit up to "
            f"{far}, {BEYOND:g} times that. More is not projected; measure a higher load."
        )
    first, *items = limits
    if first.load.value <= 0:
        return f"None: {what_text(capacity, first)} without any load."
    then = f"; then {_then(capacity, items[0])}" if items else ""
    if (unknown := _not_projected(capacity)) and first.load.value > capacity.highest:
        then = f"; not known beyond what was measured: {unknown}{then}"
    return f"About {with_range(capacity, first)} before {what_text(capacity, first)}{_measured(capacity, first)}{then}."


def _earliest(capacity: Capacity) -> Limit | None:
    """What may be reached up to what is projected though it is not expected to, from the load on at which it may."""
    items = [*capacity.resources, *capacity.objectives]
    low, result = min(((item.load.low, item) for item in items), key=lambda pair: pair[0])
    return Limit(Range(low, low, low), result) if np.isfinite(low) else None


def _not_projected(capacity: Capacity) -> str:
    """Return the resources that are not projected, and might reach their limits first."""
    return ", ".join(resource_text(resource.resource) for resource in capacity.resources if resource.why_not)


def _then(capacity: Capacity, limit: Limit) -> str:
    return f"{what_text(capacity, limit)} at {load_text(capacity, limit.load)}{_measured(capacity, limit)}"


def what_text(capacity: Capacity, limit: Limit) -> str:
    """`Processor time of DS01 reaches 80 %`."""
    item = limit.what
    if isinstance(item, ResourceCapacity):
        return f"{resource_text(item.resource)} reaches {percent(item.resource.limit / 100)}"
    if isinstance(item, ObjectiveCapacity):
        signal = item.curve.response.signal
        return f"{_lower(signal.title)} exceeds {quantity(item.limit, 's')}"
    if item.users is None and not item.by_resource and found_queue(capacity):
        seems = "" if item.sure else ", as it seems"
        return f"something waits inside the software{seems}: {_NO_RESOURCE}"
    if item.by_resource:
        return "throughput stops to rise"
    return f"throughput stops to rise, for a reason inside the software or not recorded: {_NO_RESOURCE}"


def found_queue(capacity: Capacity) -> bool:
    """Return whether counters of the software itself show that something waits in it."""
    return any(limit.kind == "queue" for limit in capacity.limits)


def resource_text(resource: Resource) -> str:
    """`processor time of DS01`, `Disk time of SQL01, E:`."""
    where = (
        resource.subject.host
        if resource.subject.instance is None
        else f"{resource.subject.host}, {resource.subject.instance}"
    )
    return f"{_lower(resource.title)} of {where}"


def load_text(capacity: Capacity, load: Range) -> str:
    """Return a load in users, where they are known, else in operations a second."""
    value, unit = _in_users(capacity, load.value)
    return f"{rounded(value)} {capacity.observed.title}/s" if unit == "/s" else f"{rounded(value)} {unit}"


def with_range(capacity: Capacity, limit: Limit) -> str:
    """Return a load with the range it lies in: `1,480 users (1,390 to 1,560)`."""
    load = limit.load
    text = load_text(capacity, load)
    if load.low == load.high:
        return text
    low, high = load.low, load.high
    if capacity.users and _in_users(capacity, load.value)[0] == capacity.users.at(load.value):
        low, high = capacity.users.between(load.value, low, high)
    upper = f"to {rounded(high)}" if np.isfinite(high) else "or more"
    return f"{text} ({rounded(low)} {upper})"


def _in_users(capacity: Capacity, load: float) -> tuple[float, str]:
    users = capacity.users
    if users is None or not np.isfinite(users.at(min(load, capacity.projected))):
        return load, capacity.observed.unit
    stop = capacity.saturation
    if stop is not None and stop.users is not None and load >= stop.load:
        return stop.users, users.unit
    return (users.at(load) if np.isfinite(load) else float("inf")), users.unit


def _measured(capacity: Capacity, limit: Limit) -> str:
    """That a load is beyond what was measured, on the same line."""
    highest = capacity.highest
    if limit.load.value <= highest or isinstance(limit.what, Saturation):
        return ""
    return f" (projected: the most that was measured is {_most(capacity)})"


def _most(capacity: Capacity) -> str:
    """Return the highest load that was measured: no more users than there were."""
    users, highest = capacity.users, capacity.highest
    if isinstance(users, MeasuredUsers) and np.isfinite(users.at(capacity.projected)):
        assert capacity.observed.users is not None
        most = min(users.at(highest), float(np.nanmax(capacity.observed.users)))
        return f"{rounded(most)} {users.unit}"
    return load_text(capacity, Range(highest, highest, highest))


def sentences(capacity: Capacity) -> tuple[str, ...]:
    """Return what the answer rests on, and what is not known."""
    return (
        *_of_load(capacity),
        *_verified(capacity),
        *_response(capacity),
        *_unknown(capacity),
        *_contradictions(capacity),
    )


def _of_load(capacity: Capacity) -> Iterator[str]:
    observed = capacity.observed
    lowest = float(np.quantile(observed.load, 0.02))
    users = (
        f", {rounded(capacity.users.highest)} {capacity.users.unit}"
        if isinstance(capacity.users, MeasuredUsers)
        else ""
    )
    yield (
        f"Measured: {number(lowest)} to {number(observed.highest)} {observed.title}/s{users}; "
        f"{counted(len(observed.load), 'part')} of {quantity(observed.step_s, 's')}."
    )
    if len(observed.names) > 1:
        order = np.argsort(-capacity.mix)
        names = [group_text(capacity, int(at)) for at in order[:_OPERATIONS]]
        shares = ", ".join(f"{percent(float(capacity.mix[at]))} {name}" for at, name in zip(order, names, strict=False))
        kind = "that was measured" if capacity.profile is None else f"of the profile ({capacity.profile.title})"
        yield f"For the mix {kind}: {shares}."
    merged = [group for group in capacity.groups if len(group) > 1]
    for group in merged:
        names = ", ".join(observed.names[at] for at in group)
        yield f"{names} rise and fall together: what each of them demands by itself is not known."
    yield from capacity.changed
    if capacity.changed:
        yield "How long requests take after that change is not known."
    if capacity.asked_mix.left_out:
        yield f"Not in the profile, so taken as not done: {', '.join(capacity.asked_mix.left_out)}."
    if not capacity.asked_mix.as_measured:
        yield (
            "The profile has another mix than the run: response times, and whether the software itself limits, are "
            "not known for it."
        )
    elif capacity.profile is not None and capacity.profile.kind == "think time" and capacity.response is None:
        yield "Response times were not recorded: the users are those of an operation that takes no time."
    if observed.users is not None and capacity.users is None:
        yield f"The {observed.users_unit} do not go with the work done, so the load is given in {observed.title}/s."
    elif capacity.users and not capacity.users.proportional:
        yield f"The {observed.users_unit} are not in proportion to the work done: not known beyond what was measured."


def _verified(capacity: Capacity) -> Iterator[str]:
    checked = [
        resource for resource in capacity.resources if resource.check is not None and resource.check.measured > 1
    ]
    if not checked:
        yield "Not verified: too little of the run is below its highest load to predict that."
        return
    first = next(
        (limit.what for limit in capacity.reached if isinstance(limit.what, ResourceCapacity) and limit.what.check),
        None,
    )
    shown = first or max(
        checked, key=lambda resource_capacity: resource_capacity.use.value / resource_capacity.resource.limit
    )
    assert shown.check is not None
    check = shown.check
    side = "high" if check.off > 0 else "low"
    off = "as it was" if abs(check.off) < 0.005 else f"{percent(abs(check.off))} too {side}"
    at = f"{number(check.load)} {capacity.observed.title}/s"
    yield (
        f"Verified: lower loads predict {resource_text(shown.resource)} at {at} "
        f"as {number(check.predicted)} %, measured {number(check.measured)} %: {off}."
    )


def _response(capacity: Capacity) -> Iterator[str]:
    curve = capacity.response
    if curve is None and (capacity.changed or not capacity.asked_mix.as_measured):
        return
    if curve is None:
        yield "Response times were not recorded: how long requests take at these loads is not known."
        return
    title = curve.response.signal.title
    low, high = curve.measured[0], curve.measured[-1]
    text = f"{title}: {quantity(float(low), 's')} at {number(curve.loads[0])}/s, {quantity(float(high), 's')} at "
    text += f"{number(curve.loads[-1])}/s"
    ahead = [limit for limit in capacity.reached if limit.load.value > curve.loads[-1]]
    if ahead:
        at = float(curve.at(np.array([ahead[0].load.value]))[0])
        text += f"; at {load_text(capacity, ahead[0].load)} " + (
            f"about {quantity(at, 's')} (projected)" if np.isfinite(at) else "not known: queues do not explain it"
        )
    yield f"{text}."


def _unknown(capacity: Capacity) -> Iterator[str]:
    if capacity.overload and capacity.overload.users:
        yield (
            f"Overload: {rounded(capacity.overload.users)} users did {number(capacity.overload.load)} "
            f"{capacity.observed.title}/s, and fewer of them up to {number(capacity.observed.highest)}; only what was "
            "measured up to that top counts."
        )
    for limit in capacity.limits:
        if limit.kind != _MEMORY and (limit.limiting is not None or limit.kind == "queue"):
            yield f"By all counters of the run: {summary(limit)}"
    for why in dict.fromkeys(resource.why_not for resource in capacity.resources if resource.why_not):
        names = ", ".join(
            resource_text(resource.resource) for resource in capacity.resources if resource.why_not == why
        )
        yield f"Not known beyond what was measured, as {why}: {names}."
    if capacity.saturation is None and capacity.observed.users is None and capacity.observed.in_flight is None:
        yield "A limit inside the software would not show: neither users nor requests in flight were recorded."


def _contradictions(capacity: Capacity) -> Iterator[str]:
    for contradiction in capacity.contradictions:
        result = "requests in flight" if contradiction.what == "in flight" else "users"
        yield (
            f"Contradiction at {number(contradiction.load)}/s: {number(contradiction.measured)} {result} were "
            f"recorded, throughput times response time (Little's law) is {number(contradiction.by_law)}."
        )


def group_text(capacity: Capacity, at: int) -> str:
    """Return the operations of a group that the data cannot tell apart: `search + bind`."""
    return " + ".join(capacity.observed.names[group] for group in capacity.groups[at])


def rounded(value: float) -> str:
    """Three significant digits, as loads are not known better: `1,480`."""
    if not np.isfinite(value):
        return "–"
    if value <= 0:
        return "0"
    digits = max(0, int(np.floor(np.log10(value))) - 2)
    return number(round(value / 10**digits) * 10**digits) if digits else number(value)


def _lower(title: str) -> str:
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def asked_sentences(capacity: Capacity, result: Asked) -> tuple[str, ...]:
    """Return the use of each resource at so many users, the response time, and the hosts that are needed."""
    users = f"{rounded(result.users)} users"
    hosts = tuple(_hosts(host) for host in result.hosts)
    if result.beyond:
        far = f"beyond {BEYOND:g} times the load that was measured"
        return (f"{users}: not known, as they are {far}; measure a higher load.", *hosts)
    projected = " (projected beyond what was measured)" if result.load > capacity.highest else ""
    uses = [
        f"{resource_text(resource.resource)} {_against(use, resource.resource.limit)}"
        for resource, use in zip(capacity.resources, result.uses, strict=True)
    ]
    done = f"{rounded(result.load)} {capacity.observed.title}/s{projected}"
    possible = not any(use.value >= 100 for use in result.uses)
    items = [
        f"{users} {'do' if possible else 'cannot be served: they ask for'} {done}: {'; '.join(uses[:_MOST_USES])}."
    ]
    if result.response is not None and capacity.response is not None:
        items.append(
            f"{capacity.response.response.signal.title} then: about {quantity(result.response, 's')}{projected}."
        )
    return (*items, *hosts)


def _against(use: Range, limit: float) -> str:
    if isnan(use.value):
        return "not known"
    where = "beyond" if use.value > limit else "within" if use.high <= limit else "perhaps beyond"
    return f"{number(use.value)} % ({number(use.low)} to {number(use.high)}), {where} {percent(limit / 100)}"


def _hosts(hosts_needed: HostsNeeded) -> str:
    by = resource_text(hosts_needed.by.resource)
    return f"Needed: {hosts_needed.count} hosts like {hosts_needed.host}, if the load is spread evenly (by {by})."


def growth_sentence(forecast: Forecast) -> str:
    """Return when the limit is reached, with the interval; or that it is too far to tell."""
    since = f"Growing by {forecast.growth.text} from {rounded(forecast.now)} users"
    if forecast.day is None:
        return f"{since}, it is reached in more than 5 years: no date is told for that."
    if forecast.at_least:
        return f"{since}, what is projected is not left before {_month(forecast.day)}; later is not known."
    low = _month(forecast.low) if forecast.low else "–"
    high = f"to {_month(forecast.high)}" if forecast.high else "or later"
    return f"{since}, it is reached about {_month(forecast.day)} ({low} {high})."


def _month(day: date) -> str:
    return f"{day:%B %Y}"
