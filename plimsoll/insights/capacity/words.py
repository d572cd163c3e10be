"""The load that a system can carry, in sentences and tables."""

from collections.abc import Callable, Iterator
from math import floor, isnan

import numpy as np

from plimsoll.insights.bottleneck.insight import summarize_bottleneck
from plimsoll.insights.capacity.find import BEYOND, Capacity, Limit, ObjectiveCapacity, Range, ResourceCapacity
from plimsoll.insights.capacity.forecast import Forecast, Needs
from plimsoll.insights.capacity.levels import MeasuredUsers
from plimsoll.insights.capacity.resources import Resource
from plimsoll.insights.capacity.saturation import Saturation
from plimsoll.model.remark import format_count, join_names
from plimsoll.model.value_text import format_percent, format_value, number

_MOST_USES = 6
_MOST_UNKNOWN = 1
_NO_RESOURCE = "no recorded resource is at its limit"
_OPERATIONS = 6


def answer(capacity: Capacity) -> str:
    """Return the load that a system can carry and the limits, in words; also whether memory already limited the run."""
    short = next((summarize_bottleneck(limit) for limit in capacity.limits if limit.kind == "memory"), "")
    carries = _describe_carried(capacity, is_only_first=bool(short))
    return f"{carries} {short} Memory is not projected." if short else carries


def _describe_carried(capacity: Capacity, *, is_only_first: bool) -> str:
    """Return a sentence on the load that the system can carry, and the limits: only the first, or also the next."""
    limits = capacity.reached
    names = [name_resource(resource.resource) for resource in capacity.resources if resource.why_not]
    unknown = join_names(names, _MOST_UNKNOWN)
    if not limits:
        if unknown:
            return (
                f"At least {_format_highest_load(capacity)}, the most that was measured. Not known beyond: {unknown}."
            )
        # No limit is expected within the projected load, but an interval may begin within it.
        early = min((*capacity.resources, *capacity.objectives), key=lambda end: end.load.low)
        if np.isfinite(early.load.low):
            limit = Limit(Range.exactly(early.load.low), early)
            text = f"{describe_limit(capacity, limit)}{_note_beyond_measured(capacity, limit)}"
            return f"{load_text(capacity, early.load.low)} or more before {text}."
        return (
            f"At least {_format_highest_load(capacity)}, the most that was measured: no recorded resource reaches its "
            "limit up to "
            f"{load_text(capacity, capacity.projected)}, {BEYOND:g} times that. More is not projected; measure a "
            "higher load."
        )
    first = limits[0]
    if first.load.value <= 0:
        return f"None: {describe_limit(capacity, first)} without any load."
    then = ""
    for second in limits[1:2]:
        at = load_text(capacity, second.load.value)
        then = f"; then {describe_limit(capacity, second)} at {at}{_note_beyond_measured(capacity, second)}"
    if unknown and first.load.value > capacity.highest:
        then = f"; not known beyond what was measured: {unknown}{then}"
    limit = f"{describe_limit(capacity, first)}{_note_beyond_measured(capacity, first)}"
    return f"About {format_with_range(capacity, first.load)} before {limit}{'' if is_only_first else then}."


def describe_limit(capacity: Capacity, limit: Limit) -> str:
    """Return a limit in words: `Processor time of DS01 reaches 80 %`."""
    limiting = limit.cause
    if isinstance(limiting, ResourceCapacity):
        return f"{name_resource(limiting.resource)} reaches {format_percent(limiting.resource.limit / 100)}"
    if isinstance(limiting, ObjectiveCapacity):
        return f"{_lower(limiting.curve.response.signal.title)} exceeds {format_value(limiting.limit, 's')}"
    queues = any(bottleneck.kind == "queue" for bottleneck in capacity.limits)
    if limiting.users is None and not limiting.by_resource and queues:
        seems = "" if limiting.sure else ", as it seems"
        return f"something waits inside the software{seems}: {_NO_RESOURCE}"
    stops = "throughput stops to rise"
    if limiting.fewer_done_by:
        users = f"{format_rounded(limiting.fewer_done_by, is_whole=True)} {capacity.observed.users_unit}"
        stops = f"throughput falls ({users} did less)"
    why = f", for a reason inside the software or not recorded: {_NO_RESOURCE}"
    return stops if limiting.by_resource else f"{stops}{why}"


def name_resource(resource: Resource) -> str:
    """Return a resource in words: `processor time of DS01`, `Disk time of SQL01, E:`."""
    return f"{_lower(resource.title)} of {', '.join(filter(None, (resource.subject.host, resource.subject.instance)))}"


def load_text(capacity: Capacity, load: float, to_digit: Callable[[float], int] = round) -> str:
    """Return a load as text: in users if their number is known, else in operations a second."""
    value, unit = _convert_to_users(capacity, load)
    of_rate = unit == capacity.observed.unit
    title = f"{capacity.observed.title}/s" if unit == "/s" else unit
    return f"{format_rounded(value, to_digit, is_whole=not of_rate)} {title}"


def format_with_range(capacity: Capacity, load: Range) -> str:
    """Return a load with its interval: `1,480 users (1,390 to 1,560)`."""
    text = load_text(capacity, load.value)
    if load.low == load.high:
        return text
    low, high = load.low, load.high
    if capacity.users and _convert_to_users(capacity, load.value)[0] == capacity.users.at(load.value):
        low, high = capacity.users.between(load.value, low, high)
    is_whole = _convert_to_users(capacity, load.value)[1] != capacity.observed.unit
    low_text, high_text = (format_rounded(end, is_whole=is_whole) for end in (low, high))
    return f"{text} ({low_text} {f'to {high_text}' if np.isfinite(high) else 'or more'})"


def _convert_to_users(capacity: Capacity, load: float) -> tuple[float, str]:
    users = capacity.users
    if users is None or not np.isfinite(users.at(min(load, capacity.projected))):
        return load, capacity.observed.unit
    stop = capacity.saturation
    if stop is not None and stop.users is not None and load >= stop.load:
        return stop.users, users.unit
    return (users.at(load) if np.isfinite(load) else float("inf")), users.unit


def _note_beyond_measured(capacity: Capacity, limit: Limit) -> str:
    """Return a note that a limit is beyond the highest measured load; empty if the limit is not."""
    measured = limit.load.value <= capacity.highest or isinstance(limit.cause, Saturation)
    return "" if measured else f" (projected; measured up to {_format_highest_load(capacity)})"


def _format_highest_load(capacity: Capacity) -> str:
    """Return the highest measured load as text: in users if these were measured, else in operations a second."""
    users, highest = capacity.users, capacity.highest
    if isinstance(users, MeasuredUsers) and np.isfinite(users.at(capacity.projected)):
        assert capacity.observed.users is not None
        most = min(users.at(highest), float(np.nanmax(capacity.observed.users)))
        return f"{format_rounded(most, floor, is_whole=True)} {users.unit}"
    return load_text(capacity, highest, floor)


def list_sentences(capacity: Capacity) -> tuple[str, ...]:
    """Return sentences on what the answer is based on, and on what is unknown."""
    parts = (_describe_load, _describe_verification, _describe_response, _describe_unknown, _describe_contradictions)
    return tuple(sentence for part in parts for sentence in part(capacity))


def _describe_load(capacity: Capacity) -> Iterator[str]:
    """Yield sentences on the measured load and its users."""
    observed = capacity.observed
    lowest = float(np.quantile(observed.load, 0.02))
    measured = capacity.users if isinstance(capacity.users, MeasuredUsers) else None
    users = f", {format_rounded(measured.highest, is_whole=True)} {measured.unit}" if measured else ""
    yield (
        f"Measured: {number(lowest)} to {number(observed.highest)} {observed.title}/s{users}; "
        f"{format_count(len(observed.load), 'part')} of {format_value(observed.step_s, 's')}."
    )
    if fall := capacity.fall:
        yield (
            f"While {format_rounded(fall.users, is_whole=True)} users stayed, throughput fell from "
            f"{number(fall.before)} to "
            f"{number(fall.after)} {observed.title}/s: the system did less, or less was asked of it. The mean of "
            "such a level is no load that it carries."
        )
    if len(observed.names) > 1:
        order = np.argsort(-capacity.mix)
        names = [group_text(capacity, int(at)) for at in order[:_OPERATIONS]]
        shares = ", ".join(
            f"{format_percent(float(capacity.mix[at]))} {name}" for at, name in zip(order, names, strict=False)
        )
        kind = "that was measured" if capacity.profile is None else f"of the profile ({capacity.profile.title})"
        yield f"For the mix {kind}: {shares}."
    for group in capacity.groups:
        if len(group) > 1:
            names = ", ".join(observed.names[at] for at in group)
            yield f"{names} rise and fall together: what each of them demands by itself is not known."
    yield from capacity.changed
    if capacity.changed:
        yield "How long requests take after that change is not known."
    if capacity.requested_mix.left_out:
        yield f"Not in the profile, so taken as not done: {', '.join(capacity.requested_mix.left_out)}."
    if not capacity.requested_mix.as_measured:
        yield (
            "The profile has another mix than the run: response times, and whether the software itself limits, are "
            "not known for it."
        )
    elif capacity.profile is not None and capacity.profile.kind == "think time" and not observed.responses:
        yield "Response times were not recorded: the users are those of an operation that takes no time."
    if observed.users is not None and capacity.users is None:
        yield f"The {observed.users_unit} do not go with the work done, so the load is given in {observed.title}/s."
    elif capacity.users and not capacity.users.proportional:
        yield f"The {observed.users_unit} are not in proportion to the work done: not known beyond what was measured."


def _describe_verification(capacity: Capacity) -> Iterator[str]:
    """Yield sentences on how well the model predicts the highest load."""
    checked = [(of, of.check) for of in capacity.resources if of.check is not None and of.check.measured > 1]
    if not checked:
        yield "Not verified: too little of the run is below its highest load to predict that."
        return
    limits = [limit.cause for limit in capacity.reached if isinstance(limit.cause, ResourceCapacity)]
    first = next(((of, of.check) for of in limits if of.check), None)
    shown, check = first or max(checked, key=lambda pair: pair[0].use.value / pair[0].resource.limit)
    side = "high" if check.off > 0 else "low"
    off = "as it was" if abs(check.off) < 0.005 else f"{format_percent(abs(check.off))} too {side}"
    at = f"{number(check.load)} {capacity.observed.title}/s"
    yield (
        f"Verified: lower loads predict {name_resource(shown.resource)} at {at} "
        f"as {number(check.predicted)} %, measured {number(check.measured)} %: {off}."
    )


def _describe_response(capacity: Capacity) -> Iterator[str]:
    """Yield sentences on the response time, or on why it is unknown."""
    curve = capacity.response
    if curve is None:
        if not capacity.changed and capacity.requested_mix.as_measured:
            were = "recorded at too few loads" if capacity.observed.responses else "not recorded"
            yield f"Response times were {were}: how long requests take at these loads is not known."
        return
    title = curve.response.signal.title
    low, high = curve.measured[0], curve.measured[-1]
    text = (
        f"{title}: {format_value(float(low), 's')} at {number(curve.loads[0])}/s, {format_value(float(high), 's')} at "
    )
    text += f"{number(curve.loads[-1])}/s"
    ahead = [limit for limit in capacity.reached if limit.load.value > curve.loads[-1]]
    if ahead:
        at = float(curve.at(np.array([ahead[0].load.value]))[0])
        text += f"; at {load_text(capacity, ahead[0].load.value)} " + (
            f"about {format_value(at, 's')} (projected)" if np.isfinite(at) else "not known: queues do not explain it"
        )
    yield f"{text}."


def _describe_unknown(capacity: Capacity) -> Iterator[str]:
    """Yield sentences on overload, the bottlenecks of the runs, and resources without a projection."""
    if capacity.overload and capacity.overload.users:
        yield (
            f"Overload: {format_rounded(capacity.overload.users, is_whole=True)} {capacity.observed.users_unit} did "
            f"{number(capacity.overload.load)} "
            f"{capacity.observed.title}/s, and fewer of them up to {number(capacity.observed.highest)}; only what was "
            "measured up to that top counts."
        )
    for limit in capacity.limits:
        if limit.kind != "memory" and (limit.limiting is not None or limit.kind == "queue"):
            yield f"By all counters of the run: {summarize_bottleneck(limit)}"
    for why in dict.fromkeys(resource.why_not for resource in capacity.resources if resource.why_not):
        names = [name_resource(resource.resource) for resource in capacity.resources if resource.why_not == why]
        yield f"Not known beyond what was measured, as {why}: {', '.join(names)}."
    if capacity.saturation is None and capacity.observed.users is None and capacity.observed.in_flight is None:
        yield "A limit inside the software would not show: neither users nor requests in flight were recorded."


def _describe_contradictions(capacity: Capacity) -> Iterator[str]:
    for contradiction in capacity.contradictions:
        unit = "requests in flight" if contradiction.quantity == "in flight" else "users"
        yield (
            f"Contradiction at {number(contradiction.load)}/s: {number(contradiction.measured)} {unit} were "
            f"recorded, throughput times response time (Little's law) is {number(contradiction.by_law)}."
        )


def group_text(capacity: Capacity, at: int) -> str:
    """Return the operations of the group with index `at`, which the data cannot tell apart: `search + bind`."""
    return " + ".join(capacity.observed.names[group] for group in capacity.groups[at])


def format_rounded(value: float, to_digit: Callable[[float], int] = round, *, is_whole: bool = False) -> str:
    """Return a load with three significant digits, which suit its accuracy: `1,480`; users are whole numbers."""
    if not np.isfinite(value):
        return "–"
    if value <= 0:
        return "0"
    digits = max(0, int(np.floor(np.log10(value))) - 2)
    return number(to_digit(value / 10**digits) * 10**digits) if digits or is_whole else number(value)


def _lower(title: str) -> str:
    return title[:1].lower() + title[1:] if title[1:2].islower() else title


def needs_sentences(capacity: Capacity, needs: Needs) -> Iterator[str]:
    """Yield sentences on the needs of a number of users: the use of each resource, the response time, the hosts."""
    users = f"{format_rounded(needs.users, is_whole=True)} users"
    if needs.beyond:
        far = f"beyond {BEYOND:g} times the load that was measured"
        yield f"{users}: not known, as they are {far}; measure a higher load."
    else:
        projected = " (projected beyond what was measured)" if needs.load > capacity.highest else ""
        uses = [_use_text(*pair) for pair in zip(capacity.resources, needs.uses, strict=True)]
        do = "cannot be served: they ask for" if any(use.value >= 100 for use in needs.uses) else "do"
        done = f"{format_rounded(needs.load)} {capacity.observed.title}/s{projected}"
        yield f"{users} {do} {done}: {'; '.join(uses[:_MOST_USES])}."
        if needs.response is not None and capacity.response is not None:
            title = capacity.response.response.signal.title
            yield f"{title} then: about {format_value(needs.response, 's')}{projected}."
    for host in needs.hosts:
        by = name_resource(host.by.resource)
        yield f"Needed: {host.count} hosts like {host.host}, if the load is spread evenly (by {by})."


def _use_text(resource_capacity: ResourceCapacity, use: Range) -> str:
    """Return the use of a resource: `processor time of DS01 62 % (58 to 66), within 80 %`."""
    text, limit = name_resource(resource_capacity.resource), resource_capacity.resource.limit
    if isnan(use.value):
        return f"{text} not known"
    where = "beyond" if use.value > limit else "within" if use.high <= limit else "perhaps beyond"
    return (
        f"{text} {number(use.value)} % ({number(use.low)} to {number(use.high)}), {where} {format_percent(limit / 100)}"
    )


def describe_growth(forecast: Forecast) -> str:
    """Return a sentence on when growing users reach the limit, with the interval, or that no date can be told."""
    since = f"Growing by {forecast.growth.text} from {format_rounded(forecast.now, is_whole=True)} users"
    if forecast.day is None:
        return f"{since}, it is reached in more than 5 years: no date is told for that."
    if forecast.at_least:
        return f"{since}, what is projected is not left before {forecast.day:%B %Y}; later is not known."
    low = f"{forecast.low:%B %Y}" if forecast.low else "–"
    high = f"to {forecast.high:%B %Y}" if forecast.high else "or later"
    return f"{since}, it is reached about {forecast.day:%B %Y} ({low} {high})."
