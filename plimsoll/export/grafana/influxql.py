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
from plimsoll.store.quoting import escape_regex, match_whole, number, quote_identifier

TIME = "$timeFilter"
HOST_VARIABLE = "host"
INSTANCE_VARIABLE = "instance"
_BY_INTERVAL = "time($__interval)"
_SWAPPED: Mapping[str, str] = {"min": "max", "max": "min"}
Worst = Literal["max", "min"]
Parts = tuple[str, str]


class JoinedWith(NamedTuple):
    """A selection with conditions; a query also returns its subjects, so that Grafana can join the results."""

    selection: Selection
    where: Sequence[str]


def build_window_query(
    selection: Selection, reduce: Reduce, where: Sequence[str] = (), joined_with: JoinedWith | None = None
) -> str:
    """Return the alert query for one value of each subject over the time range; `increase` is the last minus the first.

    An increase counts only if first and last sample are at least half a window apart: see `build_span_query`. The
    result also has a null for each subject of `joined_with`: Grafana joins values on their labels, but combines two
    single values even if their labels differ, which the nulls prevent.
    """
    return _join_subquery(_build_window_parts(selection, reduce, where), selection, joined_with)


def build_worst_window_query(
    variant: Variant, reduce: Reduce, wheres: Sequence[Sequence[str]], worst: Worst, *, absolute: bool = False
) -> str:
    """Return the query of `build_window_query` for all alternatives; of alternatives with equal tags, the worst value.

    With `absolute`, the values compared and returned are absolute values.
    """
    pairs = zip(variant.selections, wheres, strict=True)
    parts = [_build_window_parts(selection, reduce, where) for selection, where in pairs]
    return _select_worst(
        [(f"abs({value})" if absolute else value, rest) for value, rest in parts], variant.group, worst
    )


def build_span_query(selection: Selection, where: Sequence[str] = (), joined_with: JoinedWith | None = None) -> str:
    """Return the query for the time (ns) between the first and the last sample of each subject in the time range.

    The time is summed over neighbouring samples, plus 0 for each sample, so that a subject with one sample has 0.
    """
    return _join_subquery(_build_span_parts(selection, where), selection, joined_with)


def build_worst_span_query(variant: Variant, wheres: Sequence[Sequence[str]]) -> str:
    """Return `build_span_query` for all alternatives; of alternatives with equal tags, the shortest span."""
    pairs = zip(variant.selections, wheres, strict=True)
    return _select_worst([_build_span_parts(selection, where) for selection, where in pairs], variant.group, "min")


def build_requests_query(selection: Selection, where: Sequence[str] = (), joined_with: JoinedWith | None = None) -> str:
    """Return the query for the mean rate of requests, by which a selection of times per request is weighted."""
    rate = quote_identifier(selection.weight or "")
    source = (
        f" FROM {quote_identifier(selection.measurement)} WHERE "
        f"{_join_conditions(selection, where)}{_group(selection.group)}"
    )
    parts = f"mean({rate})", source
    if isinstance(selection.source.field, Fields):
        parts = _wrap_query('mean("rate")', f'SELECT {_derive(rate)} AS "rate"{source}', selection.group)
    return _join_subquery(parts, selection, joined_with)


def build_panel_query(selection: Selection, function: Function, where: Sequence[str] = ()) -> Parts:
    """Return the query, in two parts, for a line per subject with a value per `$__interval`."""
    value, rest = _build_interval_parts(
        _select_instances(selection), function, " AND ".join([*selection.where, TIME, *where])
    )
    if selection.summed:
        return 'sum("each")', f' FROM (SELECT {value} AS "each"{rest}) WHERE {TIME}{group_by_interval(selection.group)}'
    return value, rest


def build_state_query(selection: Selection, value: str, where: Sequence[str] = ()) -> str:
    """Return the query for `value` of each subject, where `{}` stands for the latest value in the time range."""
    selected, rest = _build_window_parts(selection, "last", where)
    return f"SELECT {selected if value == '{}' else value.format(f'({selected})')}{rest}"


def build_sample_rate_query(selections: Sequence[Selection], minutes: int) -> str:
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
            f"count({quote_identifier(selection.field)})",
            f" FROM {quote_identifier(selection.measurement)} WHERE {_join_conditions(selection, ())}{group}",
        )
        for selection in selections
    ]
    if len(counts) == 1:
        ((count, rest),) = counts
        return f"SELECT moving_average({count}, {minutes}){rest}"
    sources = ", ".join(f'(SELECT {count} AS "samples"{rest})' for count, rest in counts)
    return f'SELECT moving_average(sum("samples"), {minutes}) FROM {sources} WHERE {TIME}{group}'


def group_by_interval(tags: Sequence[str]) -> str:
    """Return the end of a query that groups by interval and these tags; intervals without samples have no value."""
    return f"{_group((_BY_INTERVAL, *tags))} fill(none)"


def group_by_tags(tags: Sequence[str]) -> str:
    """Return the end of a query that groups by these tags, but not by time."""
    return _group(tags) if tags else ""


def list_chosen_conditions(selection: Selection) -> tuple[str, ...]:
    """Return the conditions for the hosts and instances that the reader chose with the dashboard's variables."""
    host = f"{quote_identifier(selection.host)} =~ /^${HOST_VARIABLE}$/"
    instance = f"{quote_identifier(selection.instance)} =~ /^${INSTANCE_VARIABLE}$/" if selection.instance else None
    return (host, instance) if instance else (host,)


def is_subject(selection: Selection, host: str, instance: str | None = None) -> str:
    """Return the condition for the points of a host, or of one of its instances, ignoring case.

    Points that an agent polled from another computer belong to that computer, as in `rules.subjects.find_host`.
    """
    condition = _is(selection.host, host)
    if POLLED in selection.group:
        polled = f"{_is(POLLED, host)} AND {quote_identifier(selection.host)} !~ {match_whole(_match_other_form(host))}"
        condition = (
            f"(({polled}) OR ({condition} AND {quote_identifier(POLLED)} =~ {match_whole(_match_own_names(host))}))"
        )
    return condition if instance is None else f"{condition} AND {_is(selection.instance or 'instance', instance)}"


def is_other_subject(selection: Selection, host: str, instance: str | None = None) -> str:
    """Return the condition for all points except those of a host, or of one of its instances."""
    condition = _is(selection.host, host, "!~")
    if POLLED in selection.group:
        not_polled = (
            f"{_is(POLLED, host, '!~')} OR {quote_identifier(selection.host)} =~ {match_whole(_match_other_form(host))}"
        )
        condition = (
            f"(({not_polled}) AND ({condition} OR {quote_identifier(POLLED)} !~ {match_whole(_match_own_names(host))}))"
        )
    return (
        condition if instance is None else f"({condition} OR {_is(selection.instance or 'instance', instance, '!~')})"
    )


def _build_window_parts(selection: Selection, reduce: Reduce, where: Sequence[str]) -> Parts:
    """Return the query of `build_window_query` in two parts, without the nulls for other subjects."""
    if selection.weight and reduce == "mean":
        return _weight_by_requests(selection, selection.weight, where)
    single, transform = _select_instances(selection), selection.source.transform
    field, source = _select_points(single, _join_conditions(single, where))
    if reduce == "increase":
        difference = f"last({field}) - first({field})"
        value = difference if transform.scale == 1 else f"({difference}) * {number(transform.scale)}"
    else:
        value = _transform_reduction(reduce, field, transform)
    rest = f" FROM {source}{_group(single.group)}"
    if selection.summed:
        return _wrap_query('sum("each")', f'SELECT {value} AS "each"{rest}', selection.group)
    return value, rest


def _weight_by_requests(selection: Selection, weight: str, where: Sequence[str]) -> Parts:
    """Return the query for the mean time per request, weighted by requests; 0 if there were no requests."""
    source = (
        f"{quote_identifier(selection.measurement)} WHERE {_join_conditions(selection, where)}{_group(selection.group)}"
    )
    if isinstance(selection.source.field, Fields):
        time, rate = (_derive(quote_identifier(name)) for name in selection.source.field.names)
    else:
        rate = quote_identifier(weight)
        time = f"{quote_identifier(selection.field)} * {rate}"
    value = _scale('sum("waited") / sum("requests")', selection.source.transform)
    return _wrap_query(value, f'SELECT {time} AS "waited", {rate} AS "requests" FROM {source}', selection.group)


def _build_span_parts(selection: Selection, where: Sequence[str]) -> Parts:
    single = _select_instances(selection)
    field, source = _select_points(single, _join_conditions(single, where))
    group = _group(single.group)
    distances = f'SELECT elapsed({field}, 1ns) * 1.0 AS "ns" FROM {source}{group}'
    zeros = f'SELECT {field} * 0.0 AS "ns" FROM {source}{group}'
    value, rest = 'sum("ns")', f" FROM ({distances}), ({zeros}) WHERE {TIME}{group}"
    if selection.summed:
        return _wrap_query('min("each")', f'SELECT {value} AS "each"{rest}', selection.group)
    return value, rest


def _build_interval_parts(selection: Selection, function: Function, conditions: str) -> Parts:
    """Return the query, in two parts, for a value of each subject and interval.

    If the fields are counts that grow (`rate`), an operation on several fields is computed per interval, else per
    sample.
    """
    transform, fields = selection.source.transform, selection.source.field
    source = f" FROM {quote_identifier(selection.measurement)} WHERE {conditions}"
    grouped = group_by_interval(selection.group)
    if not selection.source.rate:
        field, taken = _select_points(selection, conditions)
        return _transform_reduction(function, field, transform), f" FROM {taken}{grouped}"
    rates = [
        _derive(f"{_swap_function(function, transform)}({quote_identifier(name)})")
        for name in selection.source.fields or (selection.field,)
    ]
    if not isinstance(fields, Fields):
        return _scale(rates[0], transform), source + grouped
    value = f" {OPERATORS[fields.operation]} ".join(rates)
    if fields.operation != "ratio":
        return _scale(f"({value})" if transform.scale != 1 else value, transform), source + grouped
    inner = f'SELECT {value} AS "value", {rates[1]} AS "divisor"{source}{grouped}'
    return _scale('"value"', transform), f" FROM ({inner}) WHERE {_DIVIDED}{_group(selection.group)}"


_DIVIDED = f'{TIME} AND "divisor" > 0'  # a division by 0 gives 0 in InfluxDB


def _select_points(selection: Selection, conditions: str) -> Parts:
    """Return the field to reduce, and its source: the measurement or a subquery, with the conditions.

    Rates are computed from neighbouring samples in the time range, as in plimsoll/rules/window.py.
    """
    fields = selection.source.field
    source, group = f"{quote_identifier(selection.measurement)} WHERE {conditions}", _group(selection.group)
    if not isinstance(fields, Fields):
        field = quote_identifier(selection.field)
        if not selection.source.rate:
            return field, source
        return '"rate"', f'(SELECT {_derive(field)} AS "rate" FROM {source}{group}) WHERE {TIME}'
    values = [quote_identifier(name) for name in fields.names]
    if selection.source.rate:
        values = [_derive(value) for value in values]
    value = f'{f" {OPERATORS[fields.operation]} ".join(values)} AS "value"'
    if fields.operation != "ratio":
        return '"value"', f"(SELECT {value} FROM {source}{group}) WHERE {TIME}"
    return '"value"', f'(SELECT {value}, {values[1]} AS "divisor" FROM {source}{group}) WHERE {_DIVIDED}'


def _join_subquery(parts: Parts, selection: Selection, joined_with: JoinedWith | None) -> str:
    value, rest = parts
    if joined_with is None:
        return f"SELECT {value}{rest}"
    group, other = _group(selection.group), joined_with.selection
    conditions = " AND ".join([*other.where, *joined_with.where, TIME])
    # The logarithm of a negative number is null.
    null = (
        f'SELECT ln(0 - count({quote_identifier(other.field)})) AS "value" FROM {quote_identifier(other.measurement)}'
    )
    sources = f'(SELECT {value} AS "value"{rest}), ({null} WHERE {conditions}{group})'
    return f'SELECT "value" FROM {sources} WHERE {TIME}{group}'


def _select_worst(parts: Sequence[Parts], group: Sequence[str], worst: Worst) -> str:
    sources = ", ".join(f'(SELECT {value} AS "value"{rest})' for value, rest in parts)
    return f'SELECT {worst}("value") FROM {sources} WHERE {TIME}{_group(group)}'


def _wrap_query(value: str, inner: str, group: Sequence[str]) -> Parts:
    """Return the query, in two parts, that selects `value` from the subquery `inner`."""
    return value, f" FROM ({inner}) WHERE {TIME}{_group(group)}"


def _select_instances(selection: Selection) -> Selection:
    """Return the selection of a sum's single instances; a selection that is no sum is returned unchanged."""
    if selection.summed is None:
        return selection
    return replace(selection, group=(*selection.group, selection.summed), summed=None)


def _join_conditions(selection: Selection, where: Sequence[str]) -> str:
    return " AND ".join([*selection.where, *where, TIME])


def _derive(field: str) -> str:
    return f"non_negative_derivative({field}, 1s)"


def _transform_reduction(function: str, field: str, transform: Transform) -> str:
    """Return the reduction of transformed samples, written as the transform of the reduction: `2 * mean("x")`."""
    if function == "count":
        return f"count({field})"
    if function == "sum":
        value = f"sum({field})" if transform.scale == 1 else f"sum({field}) * {number(transform.scale)}"
        return f"{value} + count({field}) * {number(transform.offset)}" if transform.offset else value
    return _scale(f"{_swap_function(function, transform)}({field})", transform)


def _swap_function(function: str, transform: Transform) -> str:
    """Return the function to apply before a transform; if the scale is negative, `min` and `max` change places."""
    return _SWAPPED.get(function, function) if transform.scale < 0 else function


def _scale(value: str, transform: Transform) -> str:
    scale, offset = transform.scale, transform.offset
    if scale == -1 and offset:
        return f"{number(offset)} - {value}"
    scaled = value if scale == 1 else f"{value} * {number(scale)}"
    return f"{scaled} + {number(offset)}" if offset else scaled


def _group(tags: Sequence[str]) -> str:
    return " GROUP BY " + ", ".join(tag if tag.startswith("time(") else quote_identifier(tag) for tag in tags)


def _match_other_form(name: str) -> str:
    """Return the pattern for the other spelling of a host: without its domain if it has one, else with any domain."""
    short, domain, _ = _escape_stored(name).partition(".")
    return escape_regex(short) if domain else rf"{escape_regex(short)}\..*"


def _match_own_names(name: str) -> str:
    """Return a pattern for the names that a computer reports as its own: with or without domain, `localhost`, empty."""
    return f"({escape_regex(_escape_stored(name))}|{_match_other_form(name)}|localhost)?"


def _is(tag: str, value: str, operator: str = "=~") -> str:
    return f"{quote_identifier(tag)} {operator} {match_whole(escape_regex(_escape_stored(value)))}"


def _escape_stored(value: str) -> str:
    """Return a tag's value as InfluxDB stores it, since line protocol cannot transmit every character."""
    return value.replace("\n", " ").replace("\r", " ").rstrip("\\")
