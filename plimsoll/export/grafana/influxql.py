"""Builds InfluxQL queries over selections, for InfluxDB 1, 2 and 3.

Every query returns one field, so that Grafana gets one value for each set of labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from plimsoll.dashboards.areas import Function
from plimsoll.export.selections import OBJECT, POLLED, Selection, Variant
from plimsoll.rules.fields import OPERATORS
from plimsoll.rules.schema.field_types import Operation, Reduce
from plimsoll.rules.schema.signal import Fields, Transform
from plimsoll.store.influx.quoting import identifier, literal, number, whole

TIME = "$timeFilter"
BY_INTERVAL = "time($__interval)"
_DIVIDED = f'{TIME} AND "divisor" > 0'  # a division by 0 gives 0 in InfluxDB
HOST_VARIABLE = "host"
INSTANCE_VARIABLE = "instance"
_PLAIN: Mapping[str, str] = {"min": "max", "max": "min"}

Worst = Literal["max", "min"]


@dataclass(frozen=True, slots=True)
class JoinedWith:
    """The subjects that a query is joined with: a selection, and further conditions on its points."""

    selection: Selection
    where: Sequence[str]


def window(
    selection: Selection, reduce: Reduce, where: Sequence[str] = (), joined_with: JoinedWith | None = None
) -> str:
    """Return the query for one value of each subject over the range, for alerts; `increase` is last minus first.

    An increase counts only if first and last sample are half a window or more apart: see `span`. With `joined_with` the
    result also has a null for each subject of that selection. Grafana joins values on their labels, but combines two
    single values even if their labels differ; the nulls prevent this.
    """
    value, rest = _windowed(selection, reduce, where)
    return _joined(f"SELECT {value}", rest, selection, joined_with)


def worst_window(
    variant: Variant, reduce: Reduce, wheres: Sequence[Sequence[str]], worst: Worst, *, absolute: bool = False
) -> str:
    """Return the query of `window` over all alternatives, with the worst value where several have the same tags.

    With `absolute` values have no sign.
    """
    parts = [_windowed(one, reduce, where) for one, where in zip(variant.selections, wheres, strict=True)]
    if absolute:
        parts = [(f"abs({value})", rest) for value, rest in parts]
    return _worst(parts, variant.group, worst)


def worst_span(variant: Variant, wheres: Sequence[Sequence[str]]) -> str:
    """Return the query of `span` over all alternatives, with the shortest where several have the same tags."""
    parts = [_spanned(one, where) for one, where in zip(variant.selections, wheres, strict=True)]
    return _worst(parts, variant.group, "min")


def _worst(parts: Sequence[tuple[str, str]], group: Sequence[str], worst: Worst) -> str:
    asked = ", ".join(f'(SELECT {value} AS "value"{rest})' for value, rest in parts)
    return f'SELECT {worst}("value") FROM {asked} WHERE {TIME}{_group(group)}'


def _windowed(selection: Selection, reduce: Reduce, where: Sequence[str]) -> tuple[str, str]:
    if selection.weight and reduce == "mean":
        return _of_requests(selection, where)
    value, rest = _reduced(_per_instance(selection), reduce, where)
    if selection.summed:
        value, rest = 'sum("each")', f' FROM (SELECT {value} AS "each"{rest}) WHERE {TIME}{_group(selection.group)}'
    return value, rest


def _of_requests(selection: Selection, where: Sequence[str]) -> tuple[str, str]:
    """Return the time per request, weighted by the requests; 0 without any, as InfluxDB divides by 0."""
    source = f"{identifier(selection.measurement)} WHERE {_conditions(selection, where)}{_group(selection.group)}"
    if isinstance(selection.source.field, Fields):
        time, rate = (f"non_negative_derivative({identifier(name)}, 1s)" for name in selection.source.field.names)
    else:
        rate = identifier(selection.weight or "")
        time = f"{identifier(selection.field)} * {rate}"
    inner = f'SELECT {time} AS "waited", {rate} AS "requests" FROM {source}'
    value = _scaled('sum("waited") / sum("requests")', selection.source.transform)
    return value, f" FROM ({inner}) WHERE {TIME}{_group(selection.group)}"


def requests(selection: Selection, where: Sequence[str] = (), joined_with: JoinedWith | None = None) -> str:
    """Return the query for the mean rate of the requests that weight a selection."""
    rate, source = identifier(selection.weight or ""), identifier(selection.measurement)
    conditions = f"{_conditions(selection, where)}{_group(selection.group)}"
    if not isinstance(selection.source.field, Fields):
        return _joined(f"SELECT mean({rate})", f" FROM {source} WHERE {conditions}", selection, joined_with)
    inner = f'SELECT non_negative_derivative({rate}, 1s) AS "rate" FROM {source} WHERE {conditions}'
    rest = f" FROM ({inner}) WHERE {TIME}{_group(selection.group)}"
    return _joined('SELECT mean("rate")', rest, selection, joined_with)


def _reduced(selection: Selection, reduce: Reduce, where: Sequence[str]) -> tuple[str, str]:
    """Return what is selected for one value of each subject, and the rest of the query."""
    value, source = _points(selection, _conditions(selection, where))
    if reduce == "increase":
        difference = f"last({value}) - first({value})"
        scale = selection.source.transform.scale
        value = difference if scale == 1 else f"({difference}) * {number(scale)}"
    else:
        value = _transformed(reduce, value, selection.source.transform)
    return value, f" FROM {source}{_group(selection.group)}"


def _per_instance(selection: Selection) -> Selection:
    """Return a selection of the single instances of a sum."""
    if selection.summed is None:
        return selection
    return replace(selection, group=(*selection.group, selection.summed), summed=None)


def span(selection: Selection, where: Sequence[str] = (), joined_with: JoinedWith | None = None) -> str:
    """Return the query for the time between the first and the last sample of each subject over the range, in ns.

    It is the sum of the times between samples, plus a 0 for each sample, so that a subject with one sample has 0.
    """
    value, rest = _spanned(selection, where)
    return _joined(f"SELECT {value}", rest, selection, joined_with)


def _spanned(selection: Selection, where: Sequence[str]) -> tuple[str, str]:
    each = _per_instance(selection)
    value, source = _points(each, _conditions(each, where))
    group = _group(each.group)
    distances = f'SELECT elapsed({value}, 1ns) * 1.0 AS "ns" FROM {source}{group}'
    zeros = f'SELECT {value} * 0.0 AS "ns" FROM {source}{group}'
    value, rest = 'sum("ns")', f" FROM ({distances}), ({zeros}) WHERE {TIME}{group}"
    if selection.summed:
        value, rest = 'min("each")', f' FROM (SELECT {value} AS "each"{rest}) WHERE {TIME}{_group(selection.group)}'
    return value, rest


def panel(selection: Selection, function: Function = "mean", where: Sequence[str] = ()) -> str:
    """Return the query for a line of each subject, with a value for each `$__interval`.

    `where` are further conditions, such as those of `chosen`.
    """
    value, rest = panel_parts(selection, function, where)
    return f"SELECT {value}{rest}"


def panel_parts(selection: Selection, function: Function, where: Sequence[str] = ()) -> tuple[str, str]:
    """Return what the query of `panel` selects, and the rest of it."""
    value, rest = _intervals(_per_instance(selection), function, " AND ".join([*selection.where, TIME, *where]))
    if selection.summed:
        inner = f'(SELECT {value} AS "each"{rest})'
        value, rest = 'sum("each")', f" FROM {inner} WHERE {TIME}{by_interval(selection.group)}"
    return value, rest


def _intervals(selection: Selection, function: Function, conditions: str) -> tuple[str, str]:
    """Return what is selected for a value of each subject and interval, and the rest of the query.

    An operation on several counters (`rate`) is computed per interval, on other fields per sample.
    """
    transform, several = selection.source.transform, selection.source.field
    source = f" FROM {identifier(selection.measurement)} WHERE {conditions}"
    grouped = by_interval(selection.group)
    if not selection.source.rate:
        value, taken = _points(selection, conditions)
        return _transformed(function, value, transform), f" FROM {taken}{grouped}"
    grown = [
        f"non_negative_derivative({_swapped(function, transform)}({identifier(name)}), 1s)"
        for name in selection.source.fields or (selection.field,)
    ]
    if not isinstance(several, Fields):
        return _scaled(grown[0], transform), source + grouped
    value = _operated(several.operation, grown)
    if several.operation != "ratio":
        return _scaled(f"({value})" if transform.scale != 1 else value, transform), source + grouped
    inner = f'SELECT {value} AS "value", {grown[1]} AS "divisor"{source}{grouped}'
    return _scaled('"value"', transform), f" FROM ({inner}) WHERE {_DIVIDED}{_group(selection.group)}"


def by_interval(tags: Sequence[str]) -> str:
    """Return the end of a query for a value of each subject and interval. Intervals without samples have none."""
    return f"{_group((BY_INTERVAL, *tags))} fill(none)"


def by_tags(tags: Sequence[str]) -> str:
    """Return the end of a query that groups by tags alone."""
    return _group(tags) if tags else ""


def state(selection: Selection, value: str, where: Sequence[str] = ()) -> str:
    """Return the query for the expression `value`, where `{}` is the latest value of each subject in the range."""
    selected, rest = _windowed(selection, "last", where)
    return f"SELECT {selected if value == '{}' else value.format(f'({selected})')}{rest}"


def samples_per_minute(selections: Sequence[Selection], minutes: int) -> str:
    """Return the query for the samples per minute of each host, averaged over the last minutes; 0 if there are none.

    Several selections are of objects of Windows, each of which has its own values.
    """
    tags = list(dict.fromkeys(tag for one in selections for tag in one.group if tag in (one.host, POLLED)))
    tags += [OBJECT] if len(selections) > 1 else []
    group = f"{_group(('time(1m)', *tags))} fill(0)"
    counts = [
        (f"count({identifier(one.field)})", f"{identifier(one.measurement)} WHERE {_conditions(one, ())}{group}")
        for one in selections
    ]
    if len(counts) == 1:
        ((count, rest),) = counts
        return f"SELECT moving_average({count}, {minutes}) FROM {rest}"
    asked = ", ".join(f'(SELECT {count} AS "samples" FROM {rest})' for count, rest in counts)
    return f'SELECT moving_average(sum("samples"), {minutes}) FROM {asked} WHERE {TIME}{group}'


def _joined(select: str, rest: str, selection: Selection, joined_with: JoinedWith | None) -> str:
    if joined_with is None:
        return select + rest
    group, other = _group(selection.group), joined_with.selection
    conditions = " AND ".join([*other.where, *joined_with.where, TIME])
    # The logarithm of a negative number is null.
    null = f'SELECT ln(0 - count({identifier(other.field)})) AS "value" FROM {identifier(other.measurement)}'
    return f'SELECT "value" FROM ({select} AS "value"{rest}), ({null} WHERE {conditions}{group}) WHERE {TIME}{group}'


def _conditions(selection: Selection, where: Sequence[str]) -> str:
    return " AND ".join([*selection.where, *where, TIME])


def _points(selection: Selection, conditions: str) -> tuple[str, str]:
    """Return the field to reduce, and its source: the measurement or a subquery, with the conditions.

    Rates are computed over pairs of neighbouring samples within the range, as in plimsoll/rules/fields.py.
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
    """Return the reduction of the transformed samples, expressed as a transform of the reduced samples."""
    match function:
        case "count":
            return f"count({field})"
        case "sum":
            value = f"sum({field})" if transform.scale == 1 else f"sum({field}) * {number(transform.scale)}"
            return f"{value} + count({field}) * {number(transform.offset)}" if transform.offset else value
        case _:
            return _scaled(f"{_swapped(function, transform)}({field})", transform)


def _swapped(function: str, transform: Transform) -> str:
    """Return the function to apply before a transform with a negative scale, which swaps min and max."""
    return _PLAIN.get(function, function) if transform.scale < 0 else function


def _scaled(value: str, transform: Transform) -> str:
    scale, offset = transform.scale, transform.offset
    if scale == -1 and offset:
        return f"{number(offset)} - {value}"
    scaled = value if scale == 1 else f"{value} * {number(scale)}"
    return f"{scaled} + {number(offset)}" if offset else scaled


def _group(tags: Sequence[str]) -> str:
    return " GROUP BY " + ", ".join(tag if tag.startswith("time(") else identifier(tag) for tag in tags)


def chosen(selection: Selection) -> tuple[str, ...]:
    """Return the conditions for the subjects chosen with a dashboard's variables `host` and `instance`."""
    conditions = [f"{identifier(selection.host)} =~ /^${HOST_VARIABLE}$/"]
    if selection.instance:
        conditions.append(f"{identifier(selection.instance)} =~ /^${INSTANCE_VARIABLE}$/")
    return tuple(conditions)


def is_subject(selection: Selection, host: str, instance: str | None = None) -> str:
    """Return the condition for points of this host, or of this instance of it, ignoring case."""
    own = _is_computer(selection, host)
    return own if instance is None else f"{own} AND {_is(selection.instance or 'instance', instance)}"


def is_other_subject(selection: Selection, host: str, instance: str | None = None) -> str:
    """Return the condition for points not of this host, or not of this instance of it."""
    other = _is_other_computer(selection, host)
    return other if instance is None else f"({other} OR {_is(selection.instance or 'instance', instance, '!~')})"


def _is_computer(selection: Selection, name: str) -> str:
    """Same as `rules.subjects.host_of`: points that an agent polls from another computer belong to that computer."""
    own = _is(selection.host, name)
    if POLLED not in selection.group:
        return own
    polled = f"{_is(POLLED, name)} AND {identifier(selection.host)} !~ {whole(_otherwise(name))}"
    return f"(({polled}) OR ({own} AND {identifier(POLLED)} =~ {whole(_itself(name))}))"


def _is_other_computer(selection: Selection, name: str) -> str:
    other = _is(selection.host, name, "!~")
    if POLLED not in selection.group:
        return other
    not_polled = f"{_is(POLLED, name, '!~')} OR {identifier(selection.host)} =~ {whole(_otherwise(name))}"
    return f"(({not_polled}) AND ({other} OR {identifier(POLLED)} !~ {whole(_itself(name))}))"


def _otherwise(name: str) -> str:
    """Return a pattern for the other form of a name: without its domain if it has one, else with any domain."""
    short, domain, _ = _as_stored(name).partition(".")
    return literal(short) if domain else rf"{literal(short)}\..*"


def _itself(name: str) -> str:
    """Return a pattern for the names a computer uses for itself: either form, `localhost`, or none."""
    return f"({literal(_as_stored(name))}|{_otherwise(name)}|localhost)?"


def _is(tag: str, value: str, operator: str = "=~") -> str:
    return f"{identifier(tag)} {operator} {whole(literal(_as_stored(value)))}"


def _as_stored(value: str) -> str:
    """Return the value of a tag as it is stored by line protocol."""
    return value.replace("\n", " ").replace("\r", " ").rstrip("\\")
