"""The document on the load that a system can carry: the answer, tables, and curves over the load."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from plimsoll.insights.capacity.find import Capacity, Range, ResourceCapacity
from plimsoll.insights.capacity.levels import average_levels
from plimsoll.insights.capacity.resources import Resource
from plimsoll.insights.capacity.response import ResponseCurve
from plimsoll.insights.capacity.words import (
    answer,
    format_rounded,
    format_with_range,
    group_text,
    list_sentences,
    load_text,
    name_resource,
)
from plimsoll.model.document import (
    Block,
    Bullets,
    Column,
    Curve,
    Document,
    DocumentTable,
    Paragraph,
    Point,
    Section,
    VerdictBlock,
)
from plimsoll.model.log import Values
from plimsoll.model.value_text import format_percent, format_value, number
from plimsoll.review.review import Review

_MOST_ROWS = 24
_MOST_CURVES = 12  # for the resources that reach their limits first
_MOST_DEMANDS = 4
_POINTS = 60
_RESOURCES = (
    Column("Resource"),
    Column("Limit", numeric=True, optional=3),
    Column("Without load", numeric=True, optional=2),
    Column("At the highest load", numeric=True, optional=4),
    Column("Reaches its limit at", numeric=True),
    Column("Lower loads predict", numeric=True, optional=1),
)
_CURVES = (
    "Points are what was measured at a level of the load, the line is the model with its 95 % interval, dashed beyond "
    "the highest measured load."
)


def build_blocks(capacity: Capacity, forecasts: Sequence[str] = ()) -> Iterator[Block | VerdictBlock]:
    """Build the terminal's output: the answer, `forecasts` for a number of users, the answer's basis, and tables."""
    yield VerdictBlock(answer(capacity), "", paragraphs=tuple(forecasts))
    yield Section("What it rests on", (Bullets(list_sentences(capacity)),))
    yield Section("Resources", (build_resources_table(capacity),))
    yield Section("What one operation demands", (_build_demands_table(capacity),))


def build_page(capacity: Capacity, reviews: Sequence[Review], forecasts: Sequence[str] = ()) -> Document:
    """Build the page: the blocks of the terminal's output, then curves, and the sources of the limits."""
    resources = capacity.resources[:_MOST_CURVES]
    uses = Section("", tuple(_use_curve(capacity, resource) for resource in resources), style="per-operation")
    parts = [Section("Use over load", (Paragraph(_CURVES, "note"), uses))]
    if capacity.response:
        curve = Section("", (_build_response_curve(capacity, capacity.response),), style="per-operation")
        parts.append(Section("Response time over load", (curve,)))
    documents = (
        f"{resource.resource.title}, {number(resource.resource.limit)} %: {resource.resource.document}"
        for resource in resources
    )
    parts.append(Section("Where the limits are from", (Bullets(tuple(dict.fromkeys(documents))),)))
    runs = ", ".join(dict.fromkeys(review.run.name or ", ".join(review.hosts) for review in reviews))
    simulated = any(review.run.simulated for review in reviews)
    return Document("capacity", f"Capacity of {runs}", runs, (*build_blocks(capacity, forecasts), *parts), simulated)


def build_resources_table(capacity: Capacity) -> DocumentTable:
    """Build the table of resources: the use of each, its limit, and the load at which the use reaches the limit."""
    rows: list[tuple[str, ...]] = []
    for resource in capacity.resources[:_MOST_ROWS]:
        use = f"{number(resource.use.value)} %"
        if resource.follows:
            use += f" ({number(resource.use.low)} to {number(resource.use.high)})"
        rows.append(
            (
                _capitalize(name_resource(resource.resource)),
                format_percent(resource.resource.limit / 100),
                f"{number(max(resource.idle.value, 0))} %" if resource.follows else "not known",
                use,
                "not known" if resource.why_not else _load_range(capacity, resource.load),
                f"{number(resource.check.predicted)} for {number(resource.check.measured)} %" if resource.check else "",
            )
        )
    return DocumentTable(_RESOURCES, tuple(rows), "Resources", style="of-1")


def convert_to_amounts(resource: Resource, use: Values) -> tuple[Values, str]:
    """Return use (%) at one operation a second as a demand, and its unit: s of a processor or disk, or bytes of a link.

    The unit stays % if the number of processors or the speed of the link is unknown.
    """
    if resource.signal.startswith("cpu.") and resource.processors:
        return use / 100 * resource.processors, "s"
    if resource.signal.startswith("disk."):
        return use / 100, "s"
    if resource.total:
        return use / 100 * resource.total, "bytes"
    return use, "%"


def _load_range(capacity: Capacity, load: Range) -> str:
    if not np.isfinite(load.value):
        return f"beyond {load_text(capacity, capacity.projected)}"
    return format_with_range(capacity, load) + (" projected" if load.value > capacity.highest else "")


def _build_demands_table(capacity: Capacity) -> DocumentTable:
    """Return a table of what one operation demands of each resource, with a row for each group of operations."""
    resources = capacity.resources[:_MOST_DEMANDS]
    columns = [
        Column(name_resource(resource.resource), numeric=True, optional=len(resources) - at if at else 0)
        for at, resource in enumerate(resources)
    ]
    rows = tuple(
        (group_text(capacity, at), *(_format_demand(resource, at) for resource in resources))
        for at in range(min(len(capacity.groups), _MOST_ROWS))
    )
    return DocumentTable(
        (Column("One operation demands"), *columns), rows, "What one operation demands", style="per-operation"
    )


def _format_demand(resource_capacity: ResourceCapacity, at: int) -> str:
    """Return what one operation of the group with index `at` demands of a resource: `29.6 ms (28.1 to 31)`."""
    if not resource_capacity.follows:
        return "not known"
    amounts, unit = convert_to_amounts(resource_capacity.resource, resource_capacity.demand.per_operation[:, at])
    demand = Range.of(amounts) if len(amounts) > 1 else Range.exactly(float(amounts[0]))
    if unit == "s":
        return (
            f"{format_value(1000 * demand.value, 'ms')} ({number(1000 * demand.low)} to {number(1000 * demand.high)})"
        )
    return f"{format_value(demand.value, unit)} ({format_value(demand.low, unit)} to {format_value(demand.high, unit)})"


def _use_curve(capacity: Capacity, resource_capacity: ResourceCapacity) -> Curve:
    """Return a chart of a resource's use over the load, for the measured or requested mix of operations."""
    resource, follows = resource_capacity.resource, resource_capacity.follows
    loads = np.linspace(0, capacity.projected, _POINTS)
    uses = resource_capacity.demand.use(loads[:, None] * capacity.mix[None, :])
    low, high = np.quantile(uses[1:], [0.025, 0.975], axis=0)
    drawn = np.where((uses[0] <= 100) & follows, uses[0], np.nan)  # use cannot exceed 100 %
    as_measured = capacity.requested_mix.as_measured and not capacity.changed
    measured = average_levels(capacity.levels, capacity.observed.use[resource.key]) if as_measured else np.empty(0)
    title, limit, at = (
        _capitalize(name_resource(resource)),
        format_percent(resource.limit / 100),
        resource_capacity.load.value,
    )
    band = zip(loads.tolist(), low.tolist(), high.tolist(), strict=True) if follows else ()
    return Curve(
        f"{title} over {capacity.observed.title}/s: {number(float(resource_capacity.use.value))} % at "
        f"{number(capacity.highest)}/s; limit {limit}.",
        f"{capacity.observed.title}, /s",
        capacity.projected,
        100.0,
        "%",
        _list_points(capacity, measured, 100.0, "%"),
        title,
        fit=_draw_line(loads, drawn, loads <= capacity.highest),
        beyond=_draw_line(loads, drawn, loads >= capacity.highest - loads[1]),
        band=tuple(edge for edge in band if edge[1] <= 100),
        limit=(resource.limit, f"limit {limit}"),
        marks=(Point(at, resource.limit, f"{format_rounded(at)} /s"),) if np.isfinite(at) else (),
    )


def _build_response_curve(capacity: Capacity, curve: ResponseCurve) -> Curve:
    """Return a chart of a response time over the load, if possible projected beyond the measured loads by queues."""
    loads = np.linspace(curve.loads[0], capacity.projected, _POINTS)
    times, limit, highest = curve.at(loads), curve.response.limit, float(curve.loads[-1])
    scale = 1.5 * max(float(curve.measured[-1]), limit or 0.0)
    drawn = np.where(times <= scale, times, np.nan)
    title, slowest = curve.response.signal.title, format_value(float(curve.measured[-1]), "s")
    return Curve(
        f"{title} over {capacity.observed.title}/s: {slowest} at {number(highest)}/s.",
        f"{capacity.observed.title}, /s",
        capacity.projected,
        scale,
        "s",
        _list_points(capacity, average_levels(capacity.levels, curve.response.times), scale, "s"),
        title,
        fit=_draw_line(loads, drawn, loads <= highest),
        beyond=_draw_line(loads, drawn, loads >= highest - (loads[1] - loads[0])),
        limit=(limit, f"objective {format_value(limit, 's')}") if limit else None,
    )


def _list_points(capacity: Capacity, values: Values, most: float, unit: str) -> tuple[Point, ...]:
    return tuple(
        Point(level.load, value, f"{number(level.load)} /s: {format_value(value, unit)}")
        for level, value in zip(capacity.levels, values.tolist(), strict=False)
        if np.isfinite(value) and level.load <= capacity.projected and value <= most
    )


def _draw_line(loads: Values, values: Values, chosen: NDArray[np.bool_]) -> tuple[tuple[float, float], ...]:
    return tuple(zip(loads[chosen].tolist(), values[chosen].tolist(), strict=True))


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]
