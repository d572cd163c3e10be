"""Queries over selections, as InfluxQL that InfluxDB 1, 2 and 3 understand.

Every query returns one field, so that Grafana gets one value for each set of labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dashboards.areas import Function
from grafana.selections import POLLED, Selection, Variant
from rules.field_types import Operation, Reduce
from rules.fields import OPERATORS
from rules.signal_schema import Fields, Transform
from store.quoting import identifier, number

TIME = "$timeFilter"
BY_INTERVAL = "time($__interval)"
_DIVIDED = f'{TIME} AND "divisor" > 0'  # InfluxDB takes a division by 0 for 0
_PLAIN: Mapping[str, str] = {"min": "max", "max": "min"}

Worst = Literal["max", "min"]


@dataclass(frozen=True, slots=True)
class Beside:
    """The subjects that a query is joined to: a selection of theirs, and the further conditions of its points."""

    selection: Selection
    where: Sequence[str]


def window(selection: Selection, reduce: Reduce, where: Sequence[str] = (), beside: Beside | None = None) -> str:
    """One value for each subject over the range of the query, for alerts; `increase` is last minus first.

    An increase is no data unless first and last lie half a window apart: `span` tells how far they do. With `beside`
    each subject of that selection has a null as well. Grafana joins two values on their labels, but where there is
    one on each side it joins them whatever their labels are; so nobody must be without a partner of his own.
    """
    value, rest = _windowed(selection, reduce, where)
    return _joined(f"SELECT {value}", rest, selection, beside)


def worst_window(variant: Variant, reduce: Reduce, wheres: Sequence[Sequence[str]], worst: Worst) -> str:
    """What `window` gives, of all alternatives: where a host has one measurement's from several, the worst of them."""
    parts = [_windowed(one, reduce, where) for one, where in zip(variant.selections, wheres, strict=True)]
    return _worst(parts, variant.group, worst)


def worst_span(variant: Variant, wheres: Sequence[Sequence[str]]) -> str:
    """What `span` gives, of all alternatives: where there are several, the shortest."""
    parts = [_spanned(one, where) for one, where in zip(variant.selections, wheres, strict=True)]
    return _worst(parts, variant.group, "min")


def _worst(parts: Sequence[tuple[str, str]], group: Sequence[str], worst: Worst) -> str:
    asked = ", ".join(f'(SELECT {value} AS "value"{rest})' for value, rest in parts)
    return f'SELECT {worst}("value") FROM {asked} WHERE {TIME}{_group(group)}'


def _windowed(selection: Selection, reduce: Reduce, where: Sequence[str]) -> tuple[str, str]:
    value, rest = _reduced(_apart(selection), reduce, where)
    if selection.summed:
        value, rest = 'sum("each")', f' FROM (SELECT {value} AS "each"{rest}) WHERE {TIME}{_group(selection.group)}'
    return value, rest


def _reduced(selection: Selection, reduce: Reduce, where: Sequence[str]) -> tuple[str, str]:
    """What is selected for one value of each subject, and from where."""
    value, source = _points(selection, _conditions(selection, where))
    if reduce == "increase":
        difference = f"last({value}) - first({value})"
        scale = selection.source.transform.scale
        value = difference if scale == 1 else f"({difference}) * {number(scale)}"
    else:
        value = _transformed(reduce, value, selection.source.transform)
    return value, f" FROM {source}{_group(selection.group)}"


def _apart(selection: Selection) -> Selection:
    """The instances of a sum, each by itself."""
    if selection.summed is None:
        return selection
    return replace(selection, group=(*selection.group, selection.summed), summed=None)


def span(selection: Selection, where: Sequence[str] = (), beside: Beside | None = None) -> str:
    """How far the first and the last sample of each subject lie apart over the range of the query, in ns.

    A subject with one sample has 0: each sample adds one to the distances between samples.
    """
    value, rest = _spanned(selection, where)
    return _joined(f"SELECT {value}", rest, selection, beside)


def _spanned(selection: Selection, where: Sequence[str]) -> tuple[str, str]:
    each = _apart(selection)
    value, source = _points(each, _conditions(each, where))
    group = _group(each.group)
    distances = f'SELECT elapsed({value}, 1ns) * 1.0 AS "ns" FROM {source}{group}'
    zeros = f'SELECT {value} * 0.0 AS "ns" FROM {source}{group}'
    value, rest = 'sum("ns")', f" FROM ({distances}), ({zeros}) WHERE {TIME}{group}"
    if selection.summed:
        value, rest = 'min("each")', f' FROM (SELECT {value} AS "each"{rest}) WHERE {TIME}{_group(selection.group)}'
    return value, rest


def panel(selection: Selection, function: Function = "mean", where: Sequence[str] = (), name: str | None = None) -> str:
    """A line for each subject, a value for each `$__interval`, for the hosts and instances that were chosen.

    `where` are further conditions, such as those of `chosen`; `name` is what the value is called.
    """
    value, rest = _intervals(_apart(selection), function, " AND ".join([*selection.where, TIME, *where]))
    if selection.summed:
        outer = f"{_group((BY_INTERVAL, *selection.group))} fill(none)"
        value, rest = 'sum("each")', f' FROM (SELECT {value} AS "each"{rest}) WHERE {TIME}{outer}'
    named = f"{value} AS {identifier(name)}" if name else value
    return f"SELECT {named}{rest}"


def _intervals(selection: Selection, function: Function, conditions: str) -> tuple[str, str]:
    """What is selected for a value of each subject and interval, and from where.

    What becomes of several growing counts is computed of their intervals, of other fields sample by sample.
    """
    transform, several = selection.source.transform, selection.source.field
    source = f" FROM {identifier(selection.measurement)} WHERE {conditions}"
    by_interval = f"{_group((BY_INTERVAL, *selection.group))} fill(none)"
    if not selection.source.rate:
        value, taken = _points(selection, conditions)
        return _transformed(function, value, transform), f" FROM {taken}{by_interval}"
    grown = [
        f"non_negative_derivative({_swapped(function, transform)}({identifier(name)}), 1s)"
        for name in selection.source.fields or (selection.field,)
    ]
    if not isinstance(several, Fields):
        return _scaled(grown[0], transform), source + by_interval
    value = _operated(several.operation, grown)
    if several.operation != "ratio":
        return _scaled(f"({value})" if transform.scale != 1 else value, transform), source + by_interval
    inner = f'SELECT {value} AS "value", {grown[1]} AS "divisor"{source}{by_interval}'
    return _scaled('"value"', transform), f" FROM ({inner}) WHERE {_DIVIDED}{_group(selection.group)}"


def state(selection: Selection, where: Sequence[str] = ()) -> str:
    """The latest value of each subject in the range of the query."""
    return window(selection, "last", where)


def samples_per_minute(selection: Selection, minutes: int) -> str:
    """How many samples each host sent in the mean of the last minutes, minute by minute, 0 where it sent none."""
    field, measurement = identifier(selection.field), identifier(selection.measurement)
    conditions = " AND ".join([*selection.where, TIME])
    group = _group(("time(1m)", *(tag for tag in selection.group if tag in (selection.host, POLLED))))
    return f"SELECT moving_average(count({field}), {minutes}) FROM {measurement} WHERE {conditions}{group} fill(0)"


def _joined(select: str, rest: str, selection: Selection, beside: Beside | None) -> str:
    if beside is None:
        return select + rest
    group, other = _group(selection.group), beside.selection
    conditions = " AND ".join([*other.where, *beside.where, TIME])
    # No number has this logarithm.
    null = f'SELECT ln(0 - count({identifier(other.field)})) AS "value" FROM {identifier(other.measurement)}'
    return f'SELECT "value" FROM ({select} AS "value"{rest}), ({null} WHERE {conditions}{group}) WHERE {TIME}{group}'


def _conditions(selection: Selection, where: Sequence[str]) -> str:
    return " AND ".join([*selection.where, *where, TIME])


def _points(selection: Selection, conditions: str) -> tuple[str, str]:
    """The field, and what it is taken from with its conditions: a measurement, or what its samples are made into.

    Pairs of neighbours are those within the range, as rules/fields.py has them.
    """
    measurement, several = identifier(selection.measurement), selection.source.field
    source, group = f"{measurement} WHERE {conditions}", _group(selection.group)
    if not isinstance(several, Fields):
        if not selection.source.rate:
            return identifier(selection.field), source
        rate = f'SELECT non_negative_derivative({identifier(selection.field)}, 1s) AS "rate" FROM {source}'
        return '"rate"', f"({rate}{group}) WHERE {TIME}"
    fields = [identifier(name) for name in several.names]
    if selection.source.rate:
        fields = [f"non_negative_derivative({field}, 1s)" for field in fields]
    value = f'{_operated(several.operation, fields)} AS "value"'
    if several.operation != "ratio":
        return '"value"', f"(SELECT {value} FROM {source}{group}) WHERE {TIME}"
    return '"value"', f'(SELECT {value}, {fields[1]} AS "divisor" FROM {source}{group}) WHERE {_DIVIDED}'


def _operated(operation: Operation, values: Sequence[str]) -> str:
    return f" {OPERATORS[operation]} ".join(values)


def _transformed(function: str, field: str, transform: Transform) -> str:
    """What reducing the transformed samples gives, from reducing the samples."""
    match function:
        case "count":
            return f"count({field})"
        case "sum":
            value = f"sum({field})" if transform.scale == 1 else f"sum({field}) * {number(transform.scale)}"
            return f"{value} + count({field}) * {number(transform.offset)}" if transform.offset else value
        case _:
            return _scaled(f"{_swapped(function, transform)}({field})", transform)


def _swapped(function: str, transform: Transform) -> str:
    """The least of 100 - x is where x is greatest."""
    return _PLAIN.get(function, function) if transform.scale < 0 else function


def _scaled(value: str, transform: Transform) -> str:
    scale, offset = transform.scale, transform.offset
    if scale == -1 and offset:
        return f"{number(offset)} - {value}"
    scaled = value if scale == 1 else f"{value} * {number(scale)}"
    return f"{scaled} + {number(offset)}" if offset else scaled


def _group(tags: Sequence[str]) -> str:
    return " GROUP BY " + ", ".join(tag if tag.startswith("time(") else identifier(tag) for tag in tags)
