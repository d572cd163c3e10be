"""Sentences about the bottleneck of a run, with figures and the values that the figures were compared with."""

from collections.abc import Iterable, Sequence

from plimsoll.insights.bottleneck.evidence import Evidence, NearForATime
from plimsoll.insights.bottleneck.goes_with import GoesWith
from plimsoll.insights.bottleneck.load_response import LoadResponse
from plimsoll.insights.bottleneck.measured import OURS
from plimsoll.insights.bottleneck.resource_use import (
    ONE_PROCESS,
    ONE_PROCESSOR,
    STOLEN,
    Figure,
    Resource,
    ResourceUse,
    UseState,
)
from plimsoll.model.remark import join_names
from plimsoll.model.series import make_host_key
from plimsoll.model.times import SECOND, format_duration
from plimsoll.model.value_text import format_value, number
from plimsoll.review.phases.found_phases import Load
from plimsoll.rules.wording import format_limit

_MINUTE = 60 * SECOND
_NOUNS: dict[Resource, str] = {"cpu": "processors", "disk": "disks", "memory": "memory", "network": "network"}
# Titles with a comma need another form within a sentence.
_SHORT_TITLES = {
    "cpu.processor_busy": "Busy time",
    "cpu.load": "Load per processor",
    "memory.available_percent": "Available memory",
    "network.sent_utilization": "Utilization for sending",
    "network.received_utilization": "Utilization for receiving",
    "disk.idle_total": "Idle time of all disks",
    "disk.busy_total": "Disk time of all disks",
    "disk.queue_total": "Queue length of all disks",
    "disk.latency_total": "Latency of all disks",
}


def describe_limiting_resource(use: ResourceUse, load: LoadResponse, *, confident: bool) -> str:
    """Return the conclusion that a resource limits the run: `The processors of db1 limit this run.`"""
    host, instance = use.host, use.instance
    match use.resource:
        case "cpu" if use.aspect == ONE_PROCESSOR:
            by = f", all of which the process {use.process} uses," if use.process else ""
            subject, several = f"one processor of {host} ({instance}){by}", False
        case "cpu" if use.aspect == STOLEN:
            subject, several = f"the hypervisor of {host}, which gives its processors' time to others,", False
        case "cpu" if use.aspect == ONE_PROCESS:
            subject, several = f"the process {instance} of {host}, which uses all of one processor,", False
        case "cpu" if use.aspect:
            subject, several = f"{use.aspect} of {host}", True
        case "cpu":
            subject, several = f"the processors of {host}", True
        case "disk" if instance is not None:
            subject, several = f"disk {instance} of {host}", False
        case "disk":
            subject, several = f"the disks of {host}", True
        case "memory" if use.aspect:
            subject, several = f"too little memory for {use.aspect} on {host}", False
        case "memory":
            subject, several = f"too little memory on {host}", False
        case "network":
            subject, several = f"the network link of {host} ({instance})", False
    run = f"about {_describe_share(load)} of this run" if load.busy else "this run"
    text = f"{subject} {'limit' if several else 'limits'} {run}."
    if load.follows and load.response is not None:
        text = f"{subject} {'are' if several else 'is'} the first to limit, but the work still followed the load."
    elif not confident:
        return f"Probably {text}"
    return text[0].upper() + text[1:]


def describe_highest_load(case: Evidence) -> str:
    """Return when figures were measured: `At the highest load (user connections: 380 and more; 22 % of the run)`."""
    load = case.load
    share = f"about {_describe_share(load)} of the run"
    within = f", in the {case.phase} phase" if case.phase else ""
    if load.fell is not None:
        return f"After {lower(_format_title(load))} had been highest ({share}{within})"
    if load.busy:
        return f"While it was near its capacity ({share}{within})"
    by = load.load
    if by is None:
        return "Over the whole run"
    least = float(case.measured.parts.means(by.samples)[load.top].min())
    more = f"{lower(by.signal.title)}: {_format_load(least, by)} and more; " if least > 0 else ""
    return f"At the highest load ({more}{share}{within})"


def _describe_share(load: LoadResponse) -> str:
    return f"{round(100 * float(load.top.mean()))} %"


def join_figures(figures: Sequence[Figure], host: str | None, *, brief: bool = False) -> str:
    """Return several figures as a list in words."""
    return ", ".join(describe_figure(figure, host, brief=brief) for figure in figures)


def describe_figure(figure: Figure, host: str | None, *, brief: bool = False) -> str:
    """Return a figure in words: `processor time at 98.2 % (limit 90 %; 47 % at low load)`.

    The host is not named if it is `host`, which the caller has named already. With `brief`, the value at low load is
    left out.
    """
    is_known = host is not None and make_host_key(figure.subject.host) == make_host_key(host)
    where = figure.subject.instance if is_known else str(figure.subject)
    notes: list[str] = []
    if figure.limit is not None and figure.document is not None:
        ours = " by our choice" if figure.document.startswith(OURS) else ""
        notes.append(f"{'at least' if figure.lower else 'limit'} {format_limit(figure.limit, figure.unit)}{ours}")
    if figure.before is not None and figure.before == figure.before and not brief:
        notes.append(f"{format_value(figure.before, figure.unit)} {'otherwise' if figure.elsewhen else 'at low load'}")
    value = format_value(figure.value, figure.unit)
    name = lower(_SHORT_TITLES.get(figure.signal, figure.title)) + (f" of {where}" if where else "")
    return f"{name} at {value}" + (f" ({'; '.join(notes)})" if notes else "")


def describe_response(load: LoadResponse) -> str:
    """Return a sentence on whether the work followed the load, with figures, or on why that is unknown."""
    response, offered, work = load.response, load.offered, load.work
    if work is None:
        return "No load is recorded, so it is not known whether more was asked for than was done."
    if load.fell is not None:
        highest, later = (format_value(value, work.signal.unit) for value in load.fell)
        return f"{_format_title(load)} fell from {highest} to {later} meanwhile."
    if response is not None and offered is not None:
        (put, done), (most, at_most) = response.middle, response.top
        verb = "followed in part" if load.follows is None else "followed" if load.follows else "no longer followed"
        more, change = (f"{number(round(abs(100 * (b - a) / a)))} %" for a, b in ((put, most), (done, at_most)))
        return (
            f"{_format_title(load)} {verb} the load: from {_format_load(put, offered)} to "
            f"{_format_load(most, offered)} {lower(offered.signal.title)} ({more} more), {lower(_format_title(load))} "
            f"{'rose' if at_most >= done else 'fell'} by {change}, from "
            f"{format_value(done, work.signal.unit)} to {format_value(at_most, work.signal.unit)}."
        )
    if load.follows:
        return f"{_format_title(load)} was still growing when it was highest."
    if offered is not None:
        return "Too little was recorded of a middle and of the highest load to tell whether the work still followed it."
    if load.constant:
        return f"{_format_title(load)} hardly changed, so it is not known whether more was asked for than was done."
    return "The load that was asked for is not recorded, so it is not known whether the work still followed it."


def _format_title(load: LoadResponse) -> str:
    return load.work.signal.title if load.work else ""


def _format_load(value: float, load: Load) -> str:
    """Return a value of a load as text; the unit is left out if the title of the load contains it."""
    unit = load.signal.unit
    return number(round(value)) if unit in load.signal.title.casefold() else format_value(value, unit)


def describe_near_period(period: NearForATime) -> str:
    """Return how long a signal was near its capacity: `For about 22 min only: disk time of nas1 was 90 % or more.`"""
    unit, lower_is_worse = period.signal.unit, period.signal.worse == "lower"
    past = f"{format_limit(period.limit, unit)} or {'less' if lower_is_worse else 'more'}"
    worst = f"{'at least' if lower_is_worse else 'at most'} {format_value(period.worst, unit)}"
    title = lower(_SHORT_TITLES.get(period.name, period.signal.title))
    about = max(round(period.duration / _MINUTE), 1) * _MINUTE
    return f"For about {format_duration(about)} only: {title} of {period.subject} was {past}, {worst}."


def describe_room(case: Evidence, *, limited: bool) -> str:
    """Return a sentence on the resources with room, each with the figure nearest to its limit; empty if none."""
    nearest: dict[str, Figure] = {}
    for use in case.room:
        if use.figures:
            first = nearest.setdefault(use.resource, use.figures[0])
            nearest[use.resource] = max(first, use.figures[0], key=_compute_nearness)
    if not nearest:
        return ""
    hosts = {use.host for use in case.room}
    host = hosts.pop() if len(hosts) == 1 else None
    where = "over the whole run" if case.load.load is None else "at the highest load"
    where = "elsewhere" if limited or case.load.busy else where
    return f"Room was left {where}, by medians: {join_figures(list(nearest.values()), host, brief=True)}."


def _compute_nearness(figure: Figure) -> float:
    """Return how near a figure is to its limit: 1 at the limit, and 0 without a limit."""
    if not figure.limit:
        return 0.0
    over, under = (figure.limit, figure.value) if figure.lower else (figure.value, figure.limit)
    return over / under if under else float("inf")


def describe_unknown_use(resources: Iterable[ResourceUse]) -> str:
    """Return which resources are of unknown use, and the counters to record; empty without such resources."""
    by_need: dict[tuple[str, str], list[str]] = {}
    for use in resources:
        why = "not recorded" if use.state == UseState.NOT_RECORDED else "not clear from what is recorded"
        by_need.setdefault((f"{_NOUNS[use.resource]} ({why})", use.needed), []).append(use.host)
    parts = [f"{text} of {join_names(hosts, 3)}" for (text, _), hosts in by_need.items()]
    needs = dict.fromkeys(need for _, need in by_need if need)
    return f"Not ruled out: {'; '.join(parts)}. Record {'; '.join(needs)}." if parts else ""


def describe_correlated(related: GoesWith) -> str:
    """Return a sentence on the counters that are correlated with a response time: how closely, and how much earlier."""
    texts: list[str] = []
    for figure, correlation, lead_s in related.related:
        lead = f", {abs(lead_s):,.0f} s {'before' if lead_s > 0 else 'after'} it" if lead_s else ""
        worth = f"worth {round(correlation.effective)} independent samples{lead}"
        coefficient = f"rank correlation {correlation.coefficient:.2f}"
        texts.append(f"{lower(figure.title)} of {figure.subject} ({coefficient}, {worth})")
    response = related.response
    return f"{response.title} of {response.subject} goes with {join_names(texts, len(texts))}."


def lower(title: str) -> str:
    """Return a title as written within a sentence: `processor time`, but `LDAP searches`."""
    first = title.split(" ", 1)[0]
    return title if not title or "\\" in title or any(c.isupper() for c in first[1:]) else title[0].lower() + title[1:]
