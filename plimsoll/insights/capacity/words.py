"""How much load a system can carry, in sentences and tables."""

from collections.abc import Iterator, Sequence

import numpy as np

from plimsoll.insights.capacity.find import BEYOND, Capacity, Limit, ObjectiveCapacity, Range, ResourceCapacity
from plimsoll.insights.capacity.levels import MeasuredUsers
from plimsoll.insights.capacity.resources import Resource
from plimsoll.insights.capacity.saturation import Saturation
from plimsoll.insights.limits.words import summary
from plimsoll.model.log import Values
from plimsoll.model.remark import counted
from plimsoll.model.styled import Line, in_columns
from plimsoll.model.value_text import number, percent, quantity

_MOST = 24
_MEMORY = "memory"
_NO_RESOURCE = "no recorded resource is at its limit"
_OPERATIONS = 6
_LEFT_OUT = (5, 2, 1, 3)  # columns of the table of resources, where a terminal is narrow


def lines(found: Capacity, width: int | None = None) -> tuple[Line, ...]:
    """What a terminal shows: the answer, what it rests on, a table of the resources.

    Tables fit the `width` of the terminal; without one, the lines are for no terminal.
    """
    more = [(f"  {one}",) for one in sentences(found)]
    shown = [((answer(found), "bold"),), *more, ("",)]
    heads, demands = demands_table(found)
    return (
        *shown,
        *_table(*resources_table(found), width, _LEFT_OUT),
        ("",),
        *_table(heads, demands, width, range(len(heads) - 1, 1, -1)),
    )


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
            return f"At least {most}, the most that was measured. More is not known, as {unknown} is not."
        most, far = (load_text(found, Range(one, one, one)) for one in (found.highest, found.projected))
        return (
            f"At least {most}, the most that was measured: no recorded resource reaches its limit up to {far}, "
            f"{BEYOND:g} times that. More is not projected; measure a higher load."
        )
    first, *others = limits
    if first.load.value <= 0:
        return f"None: {what_text(found, first)} without any load."
    then = f"; then {_then(found, others[0])}" if others else ""
    if (unknown := _not_projected(found)) and first.load.value > found.highest:
        then = f"; not known is {unknown} beyond what was measured{then}"
    return f"About {_with_range(found, first)} before {what_text(found, first)}{_measured(found, first)}{then}."


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


def _with_range(found: Capacity, limit: Limit) -> str:
    load = limit.load
    low, _ = _in_users(found, load.low)
    high, _ = _in_users(found, load.high)
    text = load_text(found, load)
    if load.low == load.high:
        return text
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
        names = [_group(found, int(at)) for at in order[:_OPERATIONS]]
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
    for one in found.resources:
        if one.why_not:
            yield f"Not known for {resource_text(one.resource)}, as {one.why_not}."
    if found.saturation is None and found.observed.users is None and found.observed.in_flight is None:
        yield "A limit inside the software would not show: neither users nor requests in flight were recorded."


def _contradictions(found: Capacity) -> Iterator[str]:
    for one in found.contradictions:
        what = "requests in flight" if one.what == "in flight" else "users"
        yield (
            f"Contradiction at {number(one.load)}/s: {number(one.measured)} {what} were recorded, throughput times "
            f"response time (Little's law) is {number(one.by_law)}."
        )


def resources_table(found: Capacity) -> tuple[list[str], list[list[str]]]:
    """The heads and rows of the table of resources."""
    heads = ["Resource", "Limit", "Without load", "At the highest load", "Reaches its limit at", "Lower loads predict"]
    rows: list[list[str]] = []
    for one in found.resources[:_MOST]:
        at = "not known" if one.why_not else _load_range(found, one.load)
        check = f"{number(one.check.predicted)} for {number(one.check.measured)} %" if one.check else ""
        use = f"{number(one.use.value)} % ({number(one.use.low)} to {number(one.use.high)})"
        limit = percent(one.resource.limit / 100)
        name = resource_text(one.resource)
        rows.append([name[:1].upper() + name[1:], limit, f"{number(max(one.idle.value, 0))} %", use, at, check])
    return heads, rows


def _load_range(found: Capacity, load: Range) -> str:
    if not np.isfinite(load.value):
        return f"beyond {load_text(found, Range(found.projected, 0, 0))}"
    return _with_range(found, Limit(load, found.resources[0])) + (" projected" if load.value > found.highest else "")


def demands_table(found: Capacity) -> tuple[list[str], list[list[str]]]:
    """The heads and rows of the table of demands: what one operation takes of each resource."""
    heads = ["One operation demands", *(resource_text(one.resource) for one in found.resources[:4])]
    rows: list[list[str]] = []
    for at in range(min(len(found.groups), _MOST)):
        each = [demand_text(one, one.demand.each[:, at]) for one in found.resources[:4]]
        rows.append([_group(found, at), *each])
    return heads, rows


def demand_text(one: ResourceCapacity, use_each: Values) -> str:
    """`29.6 ms of a processor (28.1 to 31)`: what one operation demands, from the use (%) of one a second."""
    each, unit = in_amounts(one.resource, use_each)
    found = Range.of(each) if len(each) > 1 else Range(float(each[0]), float(each[0]), float(each[0]))
    if unit == "s":
        return f"{quantity(1000 * found.value, 'ms')} ({number(1000 * found.low)} to {number(1000 * found.high)})"
    return f"{quantity(found.value, unit)} ({quantity(found.low, unit)} to {quantity(found.high, unit)})"


def in_amounts(one: Resource, use_each: Values) -> tuple[Values, str]:
    """Demands in seconds of a processor or disk, in bytes of a link, else in % for one a second."""
    if one.signal.startswith("cpu.") and one.processors:
        return use_each / 100 * one.processors, "s"
    if one.signal.startswith("disk."):
        return use_each / 100, "s"
    if one.total:
        return use_each / 100 * one.total, "bytes"
    return use_each, "%"


def _group(found: Capacity, at: int) -> str:
    return " + ".join(found.observed.names[one] for one in found.groups[at])


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, leave_out: Sequence[int]
) -> tuple[Line, ...]:
    if not rows:
        return ()
    head, *texts = in_columns((heads, *rows), width, leave_out=leave_out)
    return (((head, "dim"),), *((text,) for text in texts))


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
