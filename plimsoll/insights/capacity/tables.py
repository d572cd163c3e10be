"""How much load a system can carry, as a terminal shows it, and the tables of resources and demands."""

from collections.abc import Sequence

import numpy as np

from plimsoll.insights.capacity.find import Capacity, Limit, Range, ResourceCapacity
from plimsoll.insights.capacity.resources import Resource
from plimsoll.insights.capacity.words import answer, group_text, load_text, resource_text, sentences, with_range
from plimsoll.model.log import Values
from plimsoll.model.styled import Line, in_columns
from plimsoll.model.value_text import number, percent, quantity

_MOST = 24
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


def resources_table(found: Capacity) -> tuple[list[str], list[list[str]]]:
    """The heads and rows of the table of resources."""
    heads = ["Resource", "Limit", "Without load", "At the highest load", "Reaches its limit at", "Lower loads predict"]
    rows: list[list[str]] = []
    for one in found.resources[:_MOST]:
        at = "not known" if one.why_not else _load_range(found, one.load)
        check = f"{number(one.check.predicted)} for {number(one.check.measured)} %" if one.check else ""
        use = f"{number(one.use.value)} %"
        if one.follows:
            use += f" ({number(one.use.low)} to {number(one.use.high)})"
        idle = f"{number(max(one.idle.value, 0))} %" if one.follows else "not known"
        limit = percent(one.resource.limit / 100)
        name = resource_text(one.resource)
        rows.append([name[:1].upper() + name[1:], limit, idle, use, at, check])
    return heads, rows


def _load_range(found: Capacity, load: Range) -> str:
    if not np.isfinite(load.value):
        return f"beyond {load_text(found, Range(found.projected, 0, 0))}"
    return with_range(found, Limit(load, found.resources[0])) + (" projected" if load.value > found.highest else "")


def demands_table(found: Capacity) -> tuple[list[str], list[list[str]]]:
    """The heads and rows of the table of demands: what one operation takes of each resource."""
    heads = ["One operation demands", *(resource_text(one.resource) for one in found.resources[:4])]
    rows: list[list[str]] = []
    for at in range(min(len(found.groups), _MOST)):
        each = [demand_text(one, one.demand.each[:, at]) if one.follows else "not known" for one in found.resources[:4]]
        rows.append([group_text(found, at), *each])
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


def _table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, leave_out: Sequence[int]
) -> tuple[Line, ...]:
    if not rows:
        return ()
    head, *texts = in_columns((heads, *rows), width, leave_out=leave_out)
    return (((head, "dim"),), *((text,) for text in texts))
