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


def answer(found: Capacity) -> str:
    """What comes first: how much, before what is reached; what comes next; and what limited the run already."""
    short = next((summary(one) for one in found.limits if one.kind == _MEMORY), None)
    return (
        f"{_carries(found)} {short} Memory is not projected: with more of it, measure again."
        if short
        else _carries(found)
    )


def _carries(found: Capacity) -> str:
    limits = found.reached
    if not limits:
        if unknown := _not_projected(found):
            most = load_text(found, Range(found.highest, found.highest, found.highest))
            return f"At least {most}, the most that was measured. Not known beyond: {unknown}."
        most, far = (load_text(found, Range(one, one, one)) for one in (found.highest, found.projected))
        if early := _earliest(found):
            return f"{load_text(found, early.load)} or more before {what_text(found, early)}{_measured(found, early)}."
        return (
            f"At least {most}, the most that was measured: no recorded resource reaches its limit up to {far}, "
            f"{BEYOND:g} times that. More is not projected; measure a higher load."
        )
    first, *others = limits
    if first.load.value <= 0:
        return f"None: {what_text(found, first)} without any load."
    then = f"; then {_then(found, others[0])}" if others else ""
    if (unknown := _not_projected(found)) and first.load.value > found.highest:
        then = f"; not known beyond what was measured: {unknown}{then}"
    return f"About {with_range(found, first)} before {what_text(found, first)}{_measured(found, first)}{then}."


def _earliest(found: Capacity) -> Limit | None:
    """What may be reached up to what is projected though it is not expected to, from the load on at which it may."""
    every = [*found.resources, *found.objectives]
    low, what = min(((one.load.low, one) for one in every), key=lambda one: one[0])
    return Limit(Range(low, low, low), what) if np.isfinite(low) else None


def _not_projected(found: Capacity) -> str:
    """The resources that are not projected, and might reach their limits first."""
    return ", ".join(resource_text(one.resource) for one in found.resources if one.why_not)


def _then(found: Capacity, limit: Limit) -> str:
    return f"{what_text(found, limit)} at {load_text(found, limit.load)}{_measured(found, limit)}"


def what_text(found: Capacity, limit: Limit) -> str:
    """`Processor time of DS01 reaches 80 %`."""
    one = limit.what
    if isinstance(one, ResourceCapacity):
        return f"{resource_text(one.resource)} reaches {percent(one.resource.limit / 100)}"
    if isinstance(one, ObjectiveCapacity):
        signal = one.curve.response.signal
        return f"{_lower(signal.title)} exceeds {quantity(one.limit, 's')}"
    if one.users is None and not one.by_resource and found_queue(found):
        seems = "" if one.sure else ", as it seems"
        return f"something waits inside the software{seems}: {_NO_RESOURCE}"
    if one.by_resource:
        return "throughput stops to rise"
    return f"throughput stops to rise, for a reason inside the software or not recorded: {_NO_RESOURCE}"


def found_queue(found: Capacity) -> bool:
    """Whether counters of the software itself show that something waits in it."""
    return any(one.kind == "queue" for one in found.limits)


def resource_text(one: Resource) -> str:
    """`processor time of DS01`, `Disk time of SQL01, E:`."""
    where = one.subject.host if one.subject.instance is None else f"{one.subject.host}, {one.subject.instance}"
    return f"{_lower(one.title)} of {where}"


def load_text(found: Capacity, load: Range) -> str:
    """A load in users, where they are known, else in operations a second."""
    value, unit = _in_users(found, load.value)
    return f"{rounded(value)} {found.observed.title}/s" if unit == "/s" else f"{rounded(value)} {unit}"


def with_range(found: Capacity, limit: Limit) -> str:
    """A load with the range it lies in: `1,480 users (1,390 to 1,560)`."""
    load = limit.load
    text = load_text(found, load)
    if load.low == load.high:
        return text
    low, high = load.low, load.high
    if found.users and _in_users(found, load.value)[0] == found.users.at(load.value):
        low, high = found.users.between(load.value, low, high)
    upper = f"to {rounded(high)}" if np.isfinite(high) else "or more"
    return f"{text} ({rounded(low)} {upper})"


def _in_users(found: Capacity, load: float) -> tuple[float, str]:
    users = found.users
    if users is None or not np.isfinite(users.at(min(load, found.projected))):
        return load, found.observed.unit
    stop = found.saturation
    if stop is not None and stop.users is not None and load >= stop.load:
        return stop.users, users.unit
    return (users.at(load) if np.isfinite(load) else float("inf")), users.unit


def _measured(found: Capacity, limit: Limit) -> str:
    """That a load is beyond what was measured, on the same line."""
    highest = found.highest
    if limit.load.value <= highest or isinstance(limit.what, Saturation):
        return ""
    most = load_text(found, Range(highest, highest, highest))
    if isinstance(found.users, MeasuredUsers) and np.isfinite(found.users.at(found.projected)):
        most = f"{rounded(found.users.highest)} {found.users.unit}"
    return f" (projected: the most that was measured is {most})"


def sentences(found: Capacity) -> tuple[str, ...]:
    """What the answer rests on, and what is not known."""
    return (*_of_load(found), *_verified(found), *_response(found), *_unknown(found), *_contradictions(found))


def _of_load(found: Capacity) -> Iterator[str]:
    seen = found.observed
    lowest = float(np.quantile(seen.load, 0.02))
    users = f", {rounded(found.users.highest)} {found.users.unit}" if isinstance(found.users, MeasuredUsers) else ""
    yield (
        f"Measured: {number(lowest)} to {number(seen.highest)} {seen.title}/s{users}; "
        f"{counted(len(seen.load), 'part')} of {quantity(seen.step_s, 's')}."
    )
    if len(seen.names) > 1:
        order = np.argsort(-found.mix)
        names = [group_text(found, int(at)) for at in order[:_OPERATIONS]]
        shares = ", ".join(f"{percent(float(found.mix[at]))} {name}" for at, name in zip(order, names, strict=False))
        kind = "that was measured" if found.profile is None else f"of the profile ({found.profile.title})"
        yield f"For the mix {kind}: {shares}."
    merged = [group for group in found.groups if len(group) > 1]
    for group in merged:
        names = ", ".join(seen.names[at] for at in group)
        yield f"{names} rise and fall together: what each of them demands by itself is not known."
    yield from found.changed
    if found.changed:
        yield "How long requests take after that change is not known."
    if found.asked_mix.left_out:
        yield f"Not in the profile, so taken as not done: {', '.join(found.asked_mix.left_out)}."
    if not found.asked_mix.as_measured:
        yield (
            "The profile has another mix than the run: response times, and whether the software itself limits, are "
            "not known for it."
        )
    elif found.profile is not None and found.profile.kind == "think time" and found.response is None:
        yield "Response times were not recorded: the users are those of an operation that takes no time."
    if seen.users is not None and found.users is None:
        yield f"The {seen.users_unit} do not go with the work done, so the load is given in {seen.title}/s."
    elif found.users and not found.users.proportional:
        yield f"The {seen.users_unit} are not in proportion to the work done: not known beyond what was measured."


def _verified(found: Capacity) -> Iterator[str]:
    checked = [one for one in found.resources if one.check is not None and one.check.measured > 1]
    if not checked:
        yield "Not verified: too little of the run is below its highest load to predict that."
        return
    first = next((one.what for one in found.reached if isinstance(one.what, ResourceCapacity) and one.what.check), None)
    shown = first or max(checked, key=lambda one: one.use.value / one.resource.limit)
    assert shown.check is not None
    check = shown.check
    side = "high" if check.off > 0 else "low"
    off = "as it was" if abs(check.off) < 0.005 else f"{percent(abs(check.off))} too {side}"
    at = f"{number(check.load)} {found.observed.title}/s"
    yield (
        f"Verified: lower loads predict {resource_text(shown.resource)} at {at} "
        f"as {number(check.predicted)} %, measured {number(check.measured)} %: {off}."
    )


def _response(found: Capacity) -> Iterator[str]:
    curve = found.response
    if curve is None and (found.changed or not found.asked_mix.as_measured):
        return
    if curve is None:
        yield "Response times were not recorded: how long requests take at these loads is not known."
        return
    title = curve.response.signal.title
    low, high = curve.measured[0], curve.measured[-1]
    text = f"{title}: {quantity(float(low), 's')} at {number(curve.loads[0])}/s, {quantity(float(high), 's')} at "
    text += f"{number(curve.loads[-1])}/s"
    ahead = [one for one in found.reached if one.load.value > curve.loads[-1]]
    if ahead:
        at = float(curve.at(np.array([ahead[0].load.value]))[0])
        text += f"; at {load_text(found, ahead[0].load)} " + (
            f"about {quantity(at, 's')} (projected)" if np.isfinite(at) else "not known: queues do not explain it"
        )
    yield f"{text}."


def _unknown(found: Capacity) -> Iterator[str]:
    for limit in found.limits:
        if limit.kind != _MEMORY and (limit.limiting is not None or limit.kind == "queue"):
            yield f"By all counters of the run: {summary(limit)}"
    for why in dict.fromkeys(one.why_not for one in found.resources if one.why_not):
        names = ", ".join(resource_text(one.resource) for one in found.resources if one.why_not == why)
        yield f"Not known beyond what was measured, as {why}: {names}."
    if found.saturation is None and found.observed.users is None and found.observed.in_flight is None:
        yield "A limit inside the software would not show: neither users nor requests in flight were recorded."


def _contradictions(found: Capacity) -> Iterator[str]:
    for one in found.contradictions:
        what = "requests in flight" if one.what == "in flight" else "users"
        yield (
            f"Contradiction at {number(one.load)}/s: {number(one.measured)} {what} were recorded, throughput times "
            f"response time (Little's law) is {number(one.by_law)}."
        )


def group_text(found: Capacity, at: int) -> str:
    """The operations of a group that the data cannot tell apart: `search + bind`."""
    return " + ".join(found.observed.names[one] for one in found.groups[at])


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


def asked_sentences(found: Capacity, asked: Asked) -> tuple[str, ...]:
    """The use of each resource at so many users, the response time, and the hosts that are needed."""
    users = f"{rounded(asked.users)} users"
    hosts = tuple(_hosts(one) for one in asked.hosts)
    if asked.beyond:
        far = f"beyond {BEYOND:g} times the load that was measured"
        return (f"{users}: not known, as they are {far}; measure a higher load.", *hosts)
    projected = " (projected beyond what was measured)" if asked.load > found.highest else ""
    uses = [
        f"{resource_text(one.resource)} {_against(use, one.resource.limit)}"
        for one, use in zip(found.resources, asked.uses, strict=True)
    ]
    done = f"{rounded(asked.load)} {found.observed.title}/s{projected}"
    possible = not any(use.value >= 100 for use in asked.uses)
    said = [f"{users} {'do' if possible else 'cannot be served: they ask for'} {done}: {'; '.join(uses[:_MOST_USES])}."]
    if asked.response is not None and found.response is not None:
        said.append(f"{found.response.response.signal.title} then: about {quantity(asked.response, 's')}{projected}.")
    return (*said, *hosts)


def _against(use: Range, limit: float) -> str:
    if isnan(use.value):
        return "not known"
    where = "beyond" if use.value > limit else "within" if use.high <= limit else "perhaps beyond"
    return f"{number(use.value)} % ({number(use.low)} to {number(use.high)}), {where} {percent(limit / 100)}"


def _hosts(one: HostsNeeded) -> str:
    by = resource_text(one.by.resource)
    return f"Needed: {one.count} hosts like {one.host}, if the load is spread evenly (by {by})."


def growth_sentence(found: Forecast) -> str:
    """When the limit is reached, with the interval; or that it is too far to tell."""
    since = f"Growing by {found.growth.text} from {rounded(found.now)} users"
    if found.day is None:
        return f"{since}, it is reached in more than 5 years: no date is told for that."
    if found.at_least:
        return f"{since}, what is projected is not left before {_month(found.day)}; later is not known."
    low = _month(found.low) if found.low else "–"
    high = f"to {_month(found.high)}" if found.high else "or later"
    return f"{since}, it is reached about {_month(found.day)} ({low} {high})."


def _month(day: date) -> str:
    return f"{day:%B %Y}"
