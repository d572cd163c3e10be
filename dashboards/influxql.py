r"""Signals as InfluxQL that InfluxDB 1, 2 and 3 understand.

A signal can be taken in several ways (`variants`): from each of its sources, or, where it is derived, from sources of
its operands that belong together. What one source gives is a `Selection`; the functions below write the queries over
it. Every query returns one field, so that Grafana gets one value for each set of labels.

Tags that tell subjects apart stay as InfluxDB has them: `host` and, for counters of Windows, `source` (an agent that
polls other computers writes its own name as the host and theirs as the source), the tag of the instance, and
`objectname` for SQL Server's objects, which name the instance of the server (`MSSQL$PAYROLL:Buffer Manager`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from model import names
from model.perfmon import SQL_DEFAULT, TOTAL, telegraf_name
from rules.fields import OPERATORS
from rules.schema import EACH, Fields, Operation, Reduce, Signal, Source, Transform, Weight
from store.quoting import identifier, string

HOST_VARIABLE = "host"
INSTANCE_VARIABLE = "instance"
TIME = "$timeFilter"
BY_INTERVAL = "time($__interval)"
_DIVIDED = f'{TIME} AND "divisor" > 0'  # InfluxDB takes a division by 0 for 0

_POLLED = "source"  # the tag that holds the computer a counter of Windows is of
_SQL_OBJECT = f"{SQL_DEFAULT}:"
_ANYWHERE = ("openldap", "ldap_probe", "sqlserver_performance")
_SYSSTAT = (
    *("cpu_util", "per_cpu", "task", "interrupts", "mem_util", "swap_util", "swap", "paging", "queue", "io"),
    *("network", "filesystem", "psi"),
)
_TELEGRAF_SWAP = ("total", "used", "free", "used_percent", "in", "out")
_EACH_DISK = ("disk", "device")  # sysstat's; Telegraf's measurement of that name is of file systems, by their paths
_PLAIN: Mapping[str, str] = {"min": "max", "max": "min"}

Function = Literal["mean", "min", "max", "last", "sum", "count", "median"]
Worst = Literal["max", "min"]


@dataclass(frozen=True, slots=True)
class Selection:
    """One source of a signal: which points of InfluxDB it takes, and which tags tell its subjects apart.

    `field` is the first of several fields. `host` is the tag that holds the host, `group` every tag that queries keep,
    `where` the conditions that pick the points. Of a sum over instances `summed` is the tag of these.
    """

    signal: str
    source: Source
    measurement: str
    field: str
    host: str
    instance: str | None
    group: tuple[str, ...]
    where: tuple[str, ...]
    summed: str | None = None

    @property
    def label(self) -> str:
        r"""The source as people know it: `\System\Context Switches/sec`, `kernel.context_switches`."""
        if self.source.path:
            return str(self.source.path)
        several = self.source.field if isinstance(self.source.field, Fields) else None
        fields = f" {OPERATORS[several.operation]} ".join(several.names) if several else self.field
        return f"{self.measurement}.{fields}"

    @property
    def kind(self) -> str:
        """What tells this source from the others of its signal: the Perfmon object, or the measurement."""
        return self.source.path.object if self.source.path else self.measurement

    @property
    def collector(self) -> str | None:
        """Who records it beside what else: two sources of different collectors are not of the same host.

        None for servers that any of them may watch.
        """
        if self.source.path:
            return "windows"
        if self.measurement in _ANYWHERE:
            return None
        if (self.measurement, self.instance or self.summed) == _EACH_DISK:
            return "sysstat"
        # Swap space is also a measurement of Telegraf's.
        return "sysstat" if self.measurement in _SYSSTAT and self.field not in _TELEGRAF_SWAP else "telegraf"

    @property
    def sql_object(self) -> str | None:
        """The object of SQL Server whose instances `objectname` tells apart."""
        path = self.source.path
        return path.object if path and path.object.startswith(_SQL_OBJECT) and "objectname" in self.group else None

    @property
    def alias(self) -> str:
        """A name for each line of a panel, of the tags that differ: `$tag_source $tag_instance`."""
        shown = [_POLLED if _POLLED in self.group else self.host]
        shown += [tag for tag in self.group if tag not in (self.host, _POLLED)]
        return " ".join(f"$tag_{tag}" for tag in shown)


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to take a signal: one selection, or an operation over the selections of its operands.

    Several selections without an operation are alternatives: a host has the signal from any of them.
    `weights` say by which fact an operand counts more than once, None where it counts once.
    """

    signal: str
    operation: Operation | None
    selections: tuple[Selection, ...]
    weights: tuple[Weight | None, ...] = ()

    @property
    def label(self) -> str:
        """The sources as people know them."""
        sign = OPERATORS[self.operation] if self.operation else "or"
        return f" {sign} ".join(one.label for one in self.selections)

    @property
    def alternatives(self) -> bool:
        """Whether a host has it from any of several sources."""
        return self.operation is None and len(self.selections) > 1

    @property
    def group(self) -> tuple[str, ...]:
        """The tags its values have: those of the selection that has most, or those of all alternatives."""
        if self.operation is None:
            return tuple(dict.fromkeys(tag for one in self.selections for tag in one.group))
        return max((one.group for one in self.selections), key=len)

    def expression(self, ref_ids: Sequence[str]) -> str:
        """The operation as Grafana's math over the operands' refIds: `$A + $B`."""
        if self.operation == "ratio":
            above, below = ref_ids
            return f"${above} / ${below} + 0 / (${below} > 0)"  # nothing is drawn where the divisor is 0 or less
        return f" {OPERATORS[self.operation or 'sum']} ".join(f"${ref_id}" for ref_id in ref_ids)


def variants(name: str, signals: Mapping[str, Signal]) -> tuple[Variant, ...]:
    """Every way to take a signal, the best first.

    Operands of a derived signal are taken from the same object or measurement where they have one in common.
    ValueError if an operand is derived itself: queries and one expression do not go so deep; and for a fact, which
    no store holds.
    """
    signal = signals[name]
    if signal.fact:
        raise ValueError(f"{name} is a fact of the host ({signal.fact} in plimsoll.toml), of which no samples are kept")
    if signal.derived is None:
        return tuple(Variant(name, None, (one,)) for one in selections(name, signals))
    derived = signal.derived
    operation: Operation = "sum" if derived.sum else "difference" if derived.difference else "ratio"
    if nested := [operand for operand in derived.operands if signals[operand].derived]:
        raise ValueError(f"{name} is derived from {nested[0]}, which is derived itself")
    operands = [selections(operand, signals) for operand in derived.operands]
    shared = set.intersection(*({one.kind for one in found} for found in operands))
    weights = tuple(derived.weights.get(operand) for operand in derived.operands) if derived.weights else ()
    return tuple(
        Variant(name, operation, taken, weights)
        for taken in product(*operands)
        if (not shared or len({one.kind for one in taken}) == 1) and len({one.collector for one in taken} - {None}) <= 1
    )


def selections(name: str, signals: Mapping[str, Signal]) -> tuple[Selection, ...]:
    """The sources of a signal that is not derived, the best first; but those of which a host's facts are a part."""
    signal = signals[name]
    return tuple(_selection(name, signal, source) for source in signal.sources if not source.per)


def merged(ways: Sequence[Variant]) -> Iterator[Variant]:
    """The ways to take a signal, as many of them as one query can ask for put into one, in their order.

    Grafana must not get two series of the same labels. Those of one measurement InfluxDB makes one; those of two are
    told apart by their tags, or stay apart. What is computed from several signals stays by itself.
    """
    together: list[list[Selection]] = []
    for way in ways:
        if way.operation is None:
            (own,) = way.selections
            home = next((some for some in together if all(_tell_apart(own, other) for other in some)), None)
            if home is None:
                together.append([own])
            else:
                home.append(own)
    for some in together:
        yield Variant(some[0].signal, None, tuple(some if len(some) == 1 else map(_labelled, some)))
    yield from (way for way in ways if way.operation is not None)


def _labelled(selection: Selection) -> Selection:
    """A selection whose values keep the tags that pick its points."""
    return replace(selection, group=tuple(dict.fromkeys((*selection.group, *_picked(selection)))))


def _picked(selection: Selection) -> tuple[str, ...]:
    return ("objectname",) if selection.source.path else tuple(selection.source.tags)


def _tell_apart(one: Selection, other: Selection) -> bool:
    """Whether values of the two have never the same labels, or are of one measurement."""
    if one.measurement == other.measurement:
        return one.group == other.group
    mine, others = {*one.group, *_picked(one)}, {*other.group, *_picked(other)}
    if one.source.path and other.source.path:
        return one.source.path.object != other.source.path.object
    return bool(mine - others - {_POLLED} or others - mine - {_POLLED})


def default_instance(selection: Selection) -> Selection:
    """What is left of a selection of SQL Server's objects for the server's default instance alone."""
    if selection.sql_object is None:
        return selection
    own = f"{identifier('objectname')} = {string(selection.sql_object)}"
    group = tuple(tag for tag in selection.group if tag != "objectname")
    return replace(selection, group=group, where=(own, *selection.where[1:]))


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
    group = _group(("time(1m)", *(tag for tag in selection.group if tag in (selection.host, _POLLED))))
    return f"SELECT moving_average(count({field}), {minutes}) FROM {measurement} WHERE {conditions}{group} fill(0)"


def chosen(selection: Selection) -> tuple[str, ...]:
    """The conditions by which a dashboard's variables `host` and `instance` choose subjects."""
    conditions = [f"{identifier(selection.host)} =~ /^${HOST_VARIABLE}$/"]
    if selection.instance:
        conditions.append(f"{identifier(selection.instance)} =~ /^${INSTANCE_VARIABLE}$/")
    return tuple(conditions)


def only(selection: Selection, host: str, instance: str | None = None) -> str:
    """The condition that a point is of this host, or of this instance of it; their case does not matter."""
    own = _is_computer(selection, host)
    return own if instance is None else f"{own} AND {_is(selection.instance or 'instance', instance)}"


def without(selection: Selection, host: str, instance: str | None = None) -> str:
    """The condition that a point is not of this host, or not of this instance of it."""
    other = _is_other_computer(selection, host)
    return other if instance is None else f"({other} OR {_is(selection.instance or 'instance', instance, '!~')})"


def regex(pattern: str) -> str:
    """A regular expression as InfluxQL writes it."""
    return "/" + pattern.replace("/", r"\/") + "/"


def literal(text: str) -> str:
    """A text as a regular expression that matches it and nothing else. Go's and Rust's escape no more than this."""
    return re.sub(r"[\\.+*?()|\[\]{}^$]", lambda found: f"\\{found[0]}", text)


def number(value: float) -> str:
    """A number as InfluxQL writes it: without an exponent."""
    return f"{value:.0f}" if value == int(value) else f"{value:.15f}".rstrip("0")


def _selection(name: str, signal: Signal, source: Source) -> Selection:
    found = _of_path(name, signal, source) if source.path else _of_measurement(name, source)
    if signal.instances != "sum":
        return found
    group = tuple(tag for tag in found.group if tag != found.instance)
    return replace(found, instance=None, group=group, summed=found.instance)


def _of_path(name: str, signal: Signal, source: Source) -> Selection:
    if source.path is None:
        raise ValueError(f"{name}: not a counter path")
    path = source.path
    group, where = ["host", _POLLED], [_object("objectname", path.object)]
    if path.object.startswith(_SQL_OBJECT):
        group.append("objectname")
    instance = None
    if path.instance == EACH:
        instance = "instance"
        group.append(instance)
        where += _no_totals(instance, source.but)
    elif path.instance is not None or _has_twin(signal, source):
        where.append(f"{identifier('instance')} = {string(path.instance or '')}")
    measurement, field = names.measurement(path.object), telegraf_name(path.counter)
    return Selection(name, source, measurement, field, "host", instance, tuple(group), tuple(where))


def _of_measurement(name: str, source: Source) -> Selection:
    host = source.host or "host"
    where = [_object(tag, value) for tag, value in source.tags.items()]
    group = [host]
    if source.instance:
        group.append(source.instance)
        where += _no_totals(source.instance, source.but)
    measurement, field = source.measurement or "", source.fields[0]
    return Selection(name, source, measurement, field, host, source.instance, tuple(group), tuple(where))


def _object(tag: str, value: str) -> str:
    """A tag equality; an object of SQL Server is that of every instance of the server."""
    if tag in ("object", "objectname") and value.startswith(_SQL_OBJECT):
        pattern = rf"^({SQL_DEFAULT}|MSSQL\$[^:]+):{literal(value.removeprefix(_SQL_OBJECT))}$"
        return f"{identifier(tag)} =~ {regex(pattern)}"
    return f"{identifier(tag)} = {string(value)}"


def _no_totals(tag: str, but: Sequence[str]) -> Iterator[str]:
    """What `rules.finder.is_total` says, that there is an instance, and that it is none of those left out."""
    yield f"{identifier(tag)} =~ /./"
    yield f"{identifier(tag)} !~ {regex(f'(?i)({TOTAL.casefold()}|cpu-total)$|^all$')}"
    if but:
        named = "|".join(".*".join(map(literal, one.split("*"))) for one in but)
        yield f"{identifier(tag)} !~ {_matches(f'({named})')}"


def _has_twin(signal: Signal, source: Source) -> bool:
    """Whether another source of the signal is the same counter of one instance."""
    path = source.path
    others = [one.path for one in signal.sources if one.path]
    return any(path and (one.object, one.counter) == (path.object, path.counter) and one.instance for one in others)


def _is_computer(selection: Selection, name: str) -> str:
    """What `rules.finder.host_of` says: an agent that polls other computers is the host of none of their points."""
    own = _is(selection.host, name)
    if _POLLED not in selection.group:
        return own
    polled = f"{_is(_POLLED, name)} AND {identifier(selection.host)} !~ {_matches(_otherwise(name))}"
    return f"(({polled}) OR ({own} AND {identifier(_POLLED)} =~ {_matches(_itself(name))}))"


def _is_other_computer(selection: Selection, name: str) -> str:
    other = _is(selection.host, name, "!~")
    if _POLLED not in selection.group:
        return other
    not_polled = f"{_is(_POLLED, name, '!~')} OR {identifier(selection.host)} =~ {_matches(_otherwise(name))}"
    return f"(({not_polled}) AND ({other} OR {identifier(_POLLED)} !~ {_matches(_itself(name))}))"


def _otherwise(name: str) -> str:
    """The name of a computer without its domain where it has one, else with any."""
    short, domain, _ = _as_stored(name).partition(".")
    return literal(short) if domain else rf"{literal(short)}\..*"


def _itself(name: str) -> str:
    """How a computer names itself: in either way, as this computer, or not at all."""
    return f"({literal(_as_stored(name))}|{_otherwise(name)}|localhost)?"


def _matches(pattern: str) -> str:
    return regex(f"(?i)^{pattern}$")


def _is(tag: str, value: str, operator: str = "=~") -> str:
    return f"{identifier(tag)} {operator} {_matches(literal(_as_stored(value)))}"


def _as_stored(value: str) -> str:
    """The value of a tag as line protocol has it."""
    return value.replace("\n", " ").replace("\r", " ").rstrip("\\")


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
