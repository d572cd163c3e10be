"""Builds InfluxQL queries of selections, for InfluxDB 1, 2 and 3, and conditions for hosts and instances.

Every query returns one field, so that Grafana gets one value for each set of labels. `Parts` are a query in two parts,
the selected expression and everything after it, so that callers can put the expression into a larger one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from plimsoll.dashboards.areas import Function
from plimsoll.export.selections import OBJECT, POLLED, Selection, Variant
from plimsoll.rules.schema.field_types import Reduce
from plimsoll.rules.schema.signal import Fields, Transform
from plimsoll.rules.window import OPERATORS
from plimsoll.store.quoting import identifier, literal, number, whole

TIME = "$timeFilter"
HOST_VARIABLE = "host"
INSTANCE_VARIABLE = "instance"
_BY_INTERVAL = "time($__interval)"
_SWAPPED: Mapping[str, str] = {"min": "max", "max": "min"}
Worst = Literal["max", "min"]
Parts = tuple[str, str]


class JoinedWith(NamedTuple):
    """A selection and further conditions, whose subjects a query also returns, so that Grafana can join the results."""

    selection: Selection
    where: Sequence[str]


def window(
    selection: Selection, reduce: Reduce, where: Sequence[str] = (), joined_with: JoinedWith | None = None
) -> str:
    """Return the alert query for one value of each subject over the time range; `increase` is the last minus the first.

    An increase counts only if first and last sample are at least half a window apart: see `span`. The result also has a
    null for each subject of `joined_with`: Grafana joins values on their labels, but combines two single values even if
    their labels differ, which the nulls prevent.
    """
    return _joined(_window_parts(selection, reduce, where), selection, joined_with)


def worst_window(
    variant: Variant, reduce: Reduce, wheres: Sequence[Sequence[str]], worst: Worst, *, absolute: bool = False
) -> str:
    """Return the query of `window` over all alternatives; of several values with the same tags, the worst.

    With `absolute`, the values compared and returned are absolute values.
    """
    pairs = zip(variant.selections, wheres, strict=True)
    parts = [_window_parts(selection, reduce, where) for selection, where in pairs]
    return _worst([(f"abs({value})" if absolute else value, rest) for value, rest in parts], variant.group, worst)


def span(selection: Selection, where: Sequence[str] = (), joined_with: JoinedWith | None = None) -> str:
    """Return the query for the time (ns) between the first and the last sample of each subject in the time range.

    The time is summed over neighbouring samples, plus 0 for each sample, so that a subject with one sample has 0.
    """
    return _joined(_span_parts(selection, where), selection, joined_with)


def worst_span(variant: Variant, wheres: Sequence[Sequence[str]]) -> str:
    """Return the query of `span` over all alternatives; of several spans with the same tags, the shortest."""
    pairs = zip(variant.selections, wheres, strict=True)
    return _worst([_span_parts(selection, where) for selection, where in pairs], variant.group, "min")


def requests(selection: Selection, where: Sequence[str] = (), joined_with: JoinedWith | None = None) -> str:
    """Return the query for the mean rate of requests, by which a selection of times per request is weighted."""
    rate = identifier(selection.weight or "")
    source = f" FROM {identifier(selection.measurement)} WHERE {_conditions(selection, where)}{_group(selection.group)}"
    parts = f"mean({rate})", source
    if isinstance(selection.source.field, Fields):
        parts = _outer('mean("rate")', f'SELECT {_derivative(rate)} AS "rate"{source}', selection.group)
    return _joined(parts, selection, joined_with)


def panel_parts(selection: Selection, function: Function, where: Sequence[str] = ()) -> Parts:
    """Return the query, in two parts, for a line per subject with a value per `$__interval`."""
    value, rest = _interval_parts(_per_instance(selection), function, " AND ".join([*selection.where, TIME, *where]))
    if selection.summed:
        return 'sum("each")', f' FROM (SELECT {value} AS "each"{rest}) WHERE {TIME}{by_interval(selection.group)}'
    return value, rest


def state(selection: Selection, value: str, where: Sequence[str] = ()) -> str:
    """Return the query for each subject's latest value in the time range, for which `{}` stands in `value`."""
    selected, rest = _window_parts(selection, "last", where)
    return f"SELECT {selected if value == '{}' else value.format(f'({selected})')}{rest}"


def samples_per_minute(selections: Sequence[Selection], minutes: int) -> str:
    """Return the query for each host's samples per minute, averaged over the last `minutes`; 0 if there are none.

    If there are several selections, they must be of Windows objects, and each object has its own values.
    """
    tags = list(
        dict.fromkeys(tag for selection in selections for tag in selection.group if tag in (selection.host, POLLED))
    )
    tags += [OBJECT] if len(selections) > 1 else []
    group = f"{_group(('time(1m)', *tags))} fill(0)"
    counts = [
        (
            f"count({identifier(selection.field)})",
            f" FROM {identifier(selection.measurement)} WHERE {_conditions(selection, ())}{group}",
        )
        for selection in selections
    ]
    if len(counts) == 1:
        ((count, rest),) = counts
        return f"SELECT moving_average({count}, {minutes}){rest}"
    sources = ", ".join(f'(SELECT {count} AS "samples"{rest})' for count, rest in counts)
    return f'SELECT moving_average(sum("samples"), {minutes}) FROM {sources} WHERE {TIME}{group}'


def by_interval(tags: Sequence[str]) -> str:
    """Return the end of a query that groups by interval and these tags; intervals without samples have no value."""
    return f"{_group((_BY_INTERVAL, *tags))} fill(none)"


def by_tags(tags: Sequence[str]) -> str:
    """Return the end of a query that groups by these tags, but not by time."""
    return _group(tags) if tags else ""


def chosen(selection: Selection) -> tuple[str, ...]:
    """Return the conditions for the hosts and instances that the reader chose with the dashboard's variables."""
    host = f"{identifier(selection.host)} =~ /^${HOST_VARIABLE}$/"
    instance = f"{identifier(selection.instance)} =~ /^${INSTANCE_VARIABLE}$/" if selection.instance else None
    return (host, instance) if instance else (host,)


def is_subject(selection: Selection, host: str, instance: str | None = None) -> str:
    """Return the condition for the points of a host, or of one of its instances, ignoring case.

    Points that an agent polled from another computer belong to that computer, as in `rules.subjects.host_of`.
    """
    condition = _is(selection.host, host)
    if POLLED in selection.group:
        polled = f"{_is(POLLED, host)} AND {identifier(selection.host)} !~ {whole(_other_form(host))}"
        condition = f"(({polled}) OR ({condition} AND {identifier(POLLED)} =~ {whole(_names_of_itself(host))}))"
    return condition if instance is None else f"{condition} AND {_is(selection.instance or 'instance', instance)}"


def is_other_subject(selection: Selection, host: str, instance: str | None = None) -> str:
    """Return the condition for all points except those of a host, or of one of its instances."""
    condition = _is(selection.host, host, "!~")
    if POLLED in selection.group:
        not_polled = f"{_is(POLLED, host, '!~')} OR {identifier(selection.host)} =~ {whole(_other_form(host))}"
        condition = f"(({not_polled}) AND ({condition} OR {identifier(POLLED)} !~ {whole(_names_of_itself(host))}))"
    return (
        condition if instance is None else f"({condition} OR {_is(selection.instance or 'instance', instance, '!~')})"
    )


def _window_parts(selection: Selection, reduce: Reduce, where: Sequence[str]) -> Parts:
    """Return the query of `window` in two parts, without the nulls for other subjects."""
    if selection.weight and reduce == "mean":
        return _per_request(selection, selection.weight, where)
    single, transform = _per_instance(selection), selection.source.transform
    field, source = _points(single, _conditions(single, where))
    if reduce == "increase":
        difference = f"last({field}) - first({field})"
        value = difference if transform.scale == 1 else f"({difference}) * {number(transform.scale)}"
    else:
        value = _transformed(reduce, field, transform)
    rest = f" FROM {source}{_group(single.group)}"
    if selection.summed:
        return _outer('sum("each")', f'SELECT {value} AS "each"{rest}', selection.group)
    return value, rest


def _per_request(selection: Selection, weight: str, where: Sequence[str]) -> Parts:
    """Return the query for the mean time per request, weighted by requests; 0 if there were no requests."""
    source = f"{identifier(selection.measurement)} WHERE {_conditions(selection, where)}{_group(selection.group)}"
    if isinstance(selection.source.field, Fields):
        time, rate = (_derivative(identifier(name)) for name in selection.source.field.names)
    else:
        rate = identifier(weight)
        time = f"{identifier(selection.field)} * {rate}"
    value = _scaled('sum("waited") / sum("requests")', selection.source.transform)
    return _outer(value, f'SELECT {time} AS "waited", {rate} AS "requests" FROM {source}', selection.group)


def _span_parts(selection: Selection, where: Sequence[str]) -> Parts:
    single = _per_instance(selection)
    field, source = _points(single, _conditions(single, where))
    group = _group(single.group)
    distances = f'SELECT elapsed({field}, 1ns) * 1.0 AS "ns" FROM {source}{group}'
    zeros = f'SELECT {field} * 0.0 AS "ns" FROM {source}{group}'
    value, rest = 'sum("ns")', f" FROM ({distances}), ({zeros}) WHERE {TIME}{group}"
    if selection.summed:
        return _outer('min("each")', f'SELECT {value} AS "each"{rest}', selection.group)
    return value, rest


def _interval_parts(selection: Selection, function: Function, conditions: str) -> Parts:
    """Return the query, in two parts, for a value of each subject and interval.

    If the fields are counts that grow (`rate`), an operation on several fields is computed per interval, else per
    sample.
    """
    transform, fields = selection.source.transform, selection.source.field
    source = f" FROM {identifier(selection.measurement)} WHERE {conditions}"
    grouped = by_interval(selection.group)
    if not selection.source.rate:
        field, taken = _points(selection, conditions)
        return _transformed(function, field, transform), f" FROM {taken}{grouped}"
    rates = [
        _derivative(f"{_swapped(function, transform)}({identifier(name)})")
        for name in selection.source.fields or (selection.field,)
    ]
    if not isinstance(fields, Fields):
        return _scaled(rates[0], transform), source + grouped
    value = f" {OPERATORS[fields.operation]} ".join(rates)
    if fields.operation != "ratio":
        return _scaled(f"({value})" if transform.scale != 1 else value, transform), source + grouped
    inner = f'SELECT {value} AS "value", {rates[1]} AS "divisor"{source}{grouped}'
    return _scaled('"value"', transform), f" FROM ({inner}) WHERE {_DIVIDED}{_group(selection.group)}"


_DIVIDED = f'{TIME} AND "divisor" > 0'  # a division by 0 gives 0 in InfluxDB


def _points(selection: Selection, conditions: str) -> Parts:
    """Return the field to reduce, and its source: the measurement or a subquery, with the conditions.

    Rates are computed from neighbouring samples in the time range, as in plimsoll/rules/window.py.
    """
    fields = selection.source.field
    source, group = f"{identifier(selection.measurement)} WHERE {conditions}", _group(selection.group)
    if not isinstance(fields, Fields):
        field = identifier(selection.field)
        if not selection.source.rate:
            return field, source
        return '"rate"', f'(SELECT {_derivative(field)} AS "rate" FROM {source}{group}) WHERE {TIME}'
    values = [identifier(name) for name in fields.names]
    if selection.source.rate:
        values = [_derivative(value) for value in values]
    value = f'{f" {OPERATORS[fields.operation]} ".join(values)} AS "value"'
    if fields.operation != "ratio":
        return '"value"', f"(SELECT {value} FROM {source}{group}) WHERE {TIME}"
    return '"value"', f'(SELECT {value}, {values[1]} AS "divisor" FROM {source}{group}) WHERE {_DIVIDED}'


def _joined(parts: Parts, selection: Selection, joined_with: JoinedWith | None) -> str:
    value, rest = parts
    if joined_with is None:
        return f"SELECT {value}{rest}"
    group, other = _group(selection.group), joined_with.selection
    conditions = " AND ".join([*other.where, *joined_with.where, TIME])
    # The logarithm of a negative number is null.
    null = f'SELECT ln(0 - count({identifier(other.field)})) AS "value" FROM {identifier(other.measurement)}'
    sources = f'(SELECT {value} AS "value"{rest}), ({null} WHERE {conditions}{group})'
    return f'SELECT "value" FROM {sources} WHERE {TIME}{group}'


def _worst(parts: Sequence[Parts], group: Sequence[str], worst: Worst) -> str:
    sources = ", ".join(f'(SELECT {value} AS "value"{rest})' for value, rest in parts)
    return f'SELECT {worst}("value") FROM {sources} WHERE {TIME}{_group(group)}'


def _outer(value: str, inner: str, group: Sequence[str]) -> Parts:
    """Return the query, in two parts, that selects `value` from the subquery `inner`."""
    return value, f" FROM ({inner}) WHERE {TIME}{_group(group)}"


def _per_instance(selection: Selection) -> Selection:
    """Return the selection of a sum's single instances; a selection that is no sum is returned unchanged."""
    if selection.summed is None:
        return selection
    return replace(selection, group=(*selection.group, selection.summed), summed=None)


def _conditions(selection: Selection, where: Sequence[str]) -> str:
    return " AND ".join([*selection.where, *where, TIME])


def _derivative(field: str) -> str:
    return f"non_negative_derivative({field}, 1s)"


def _transformed(function: str, field: str, transform: Transform) -> str:
    """Return the reduction of transformed samples, written as the transform of the reduction: `2 * mean("x")`."""
    if function == "count":
        return f"count({field})"
    if function == "sum":
        value = f"sum({field})" if transform.scale == 1 else f"sum({field}) * {number(transform.scale)}"
        return f"{value} + count({field}) * {number(transform.offset)}" if transform.offset else value
    return _scaled(f"{_swapped(function, transform)}({field})", transform)


def _swapped(function: str, transform: Transform) -> str:
    """Return the function to apply before a transform; if the scale is negative, `min` and `max` change places."""
    return _SWAPPED.get(function, function) if transform.scale < 0 else function


def _scaled(value: str, transform: Transform) -> str:
    scale, offset = transform.scale, transform.offset
    if scale == -1 and offset:
        return f"{number(offset)} - {value}"
    scaled = value if scale == 1 else f"{value} * {number(scale)}"
    return f"{scaled} + {number(offset)}" if offset else scaled


def _group(tags: Sequence[str]) -> str:
    return " GROUP BY " + ", ".join(tag if tag.startswith("time(") else identifier(tag) for tag in tags)


def _other_form(name: str) -> str:
    """Return the pattern for the other spelling of a host: without its domain if it has one, else with any domain."""
    short, domain, _ = _as_stored(name).partition(".")
    return literal(short) if domain else rf"{literal(short)}\..*"


def _names_of_itself(name: str) -> str:
    """Return a pattern for the names by which a computer calls itself: with or without domain, `localhost`, none."""
    return f"({literal(_as_stored(name))}|{_other_form(name)}|localhost)?"


def _is(tag: str, value: str, operator: str = "=~") -> str:
    return f"{identifier(tag)} {operator} {whole(literal(_as_stored(value)))}"


def _as_stored(value: str) -> str:
    """Return a tag's value as InfluxDB stores it, since line protocol cannot transmit every character."""
    return value.replace("\n", " ").replace("\r", " ").rstrip("\\")
