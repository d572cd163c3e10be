"""Where InfluxDB stores a signal: the points, and the tags that identify their subjects.

The tags that identify a subject are `host`, the tag of the instance, and two tags of Windows counters: `source` (an
agent that polls other computers writes its own name as the host and a computer's name as the source), and
`objectname` for SQL Server's objects, which name the instance of the server (`MSSQL$PAYROLL:Buffer Manager`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from plimsoll.model import names
from plimsoll.model.perfmon import EACH_INSTANCE, SQL_DEFAULT, TOTAL, CounterPath, make_telegraf_name
from plimsoll.rules.schema.field_types import Operation
from plimsoll.rules.schema.signal import Fields, Signal, Source, Transform, Weight
from plimsoll.rules.window import OPERATORS
from plimsoll.store.quoting import escape_regex, match_whole, number, quote_identifier, quote_regex, quote_string

Agent = Literal["windows", "telegraf", "sysstat"]
POLLED = "source"  # the tag with the name of the computer that a Windows counter was read from
OBJECT = "objectname"  # the tag with the Perfmon object
_SQL_OBJECT = f"{SQL_DEFAULT}:"
ANYWHERE = ("openldap", "ldap_probe", "sqlserver_performance")
_SYSSTAT = (
    *("cpu_util", "per_cpu", "task", "interrupts", "mem_util", "swap_util", "swap", "paging", "queue", "io"),
    *("network", "filesystem", "psi"),
)
_TELEGRAF_SWAP = ("total", "used", "free", "used_percent", "in", "out")
_SYSSTAT_DISK = ("disk", "device")  # Telegraf's measurement `disk` has file systems, by path


@dataclass(frozen=True, slots=True)
class Selection:
    """One source of a signal in InfluxDB.

    `field` is the first field if there are several. `host` and `instance` are the names of the tags with the host and
    the instance, `group` are all tags that queries group by, `where` are the conditions on points. For a sum over
    instances, `summed` is the tag of the instances. For a time per request, `weight` is the field of the same points
    that has the rate of requests (for several fields, the divisor), and no limit is crossed below `minimum_rate`.
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
    weight: str | None = None
    minimum_rate: float = 0.0

    @property
    def label(self) -> str:
        r"""The name of the source: `\System\Context Switches/sec`, `kernel.context_switches`."""
        if self.source.path:
            return str(self.source.path)
        fields = self.source.field if isinstance(self.source.field, Fields) else None
        text = f" {OPERATORS[fields.operation]} ".join(fields.names) if fields else self.field
        return f"{self.measurement}.{text}"

    @property
    def kind(self) -> str:
        """The Perfmon object, or else the measurement."""
        return self.source.path.object if self.source.path else self.measurement

    @property
    def collector(self) -> str | None:
        """The agent that records this source, one for each host; None if agents on other hosts may record it, too."""
        if self.source.path:
            return "windows"
        if self.measurement in ANYWHERE:
            return None
        if (self.measurement, self.instance or self.summed) == _SYSSTAT_DISK:
            return "sysstat"
        # Telegraf has a measurement `swap` as well.
        return "sysstat" if self.measurement in _SYSSTAT and self.field not in _TELEGRAF_SWAP else "telegraf"

    @property
    def sql_object(self) -> str | None:
        """The SQL Server object, if the tag `objectname` identifies the instance of the server; else None."""
        return self.kind if self._is_of_sql_server and OBJECT in self.group else None

    @property
    def default_only(self) -> bool:
        """Whether the selection is restricted to SQL Server's default instance."""
        return self._is_of_sql_server and OBJECT not in self.group

    @property
    def _is_of_sql_server(self) -> bool:
        return self.source.path is not None and self.source.path.object.startswith(_SQL_OBJECT)


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to get a signal: a selection, or an operation on the selections of its operands.

    Several selections without an operation are alternatives: a host may have the signal from any of them. `weights`
    are the host facts that weight the operands; None for an operand with the weight 1.
    """

    signal: str
    operation: Operation | None
    selections: tuple[Selection, ...]
    weights: tuple[Weight | None, ...] = ()

    @property
    def label(self) -> str:
        """The labels of the selections, joined by the operator, or for alternatives by `or`."""
        sign = OPERATORS[self.operation] if self.operation else "or"
        return f" {sign} ".join(selection.label for selection in self.selections)

    @property
    def alternatives(self) -> bool:
        """Whether the variant is several alternative selections."""
        return self.operation is None and len(self.selections) > 1

    @property
    def group(self) -> tuple[str, ...]:
        """The tags that the variant's values have: for an operation, the tags of the operand with the most tags."""
        if self.operation is None:
            return tuple(dict.fromkeys(tag for selection in self.selections for tag in selection.group))
        return max((selection.group for selection in self.selections), key=len)

    def expression(self, ref_ids: Sequence[str]) -> str:
        """Return the operation as Grafana's math expression over operands with these refIds: `$A + $B`."""
        if self.operation == "ratio":
            above, below = ref_ids
            return f"${above} / ${below} + 0 / (${below} > 0)"  # NaN, which is not drawn, where the divisor is <= 0
        if self.operation == "product":
            *added, factor = ref_ids
            return f"({' + '.join(f'${ref_id}' for ref_id in added)}) * ${factor}"
        return f" {OPERATORS[self.operation or 'sum']} ".join(f"${ref_id}" for ref_id in ref_ids)


def list_variants(name: str, signals: Mapping[str, Signal]) -> tuple[Variant, ...]:
    """Return every variant of a signal, the best first.

    All operands of a derived signal come from the same collector and, if possible, the same object or measurement. If
    they are in two SQL Server objects, only the default instance is selected, as each object names the instance in
    another tag. Raise ValueError if an operand is itself derived (one expression cannot nest queries), or if the signal
    is a fact of the host (facts are not stored).
    """
    signal = signals[name]
    if signal.fact:
        raise ValueError(f"{name} is a fact of the host ({signal.fact} in plimsoll.toml), of which no samples are kept")
    if signal.derived is None:
        return tuple(Variant(name, None, (selection,)) for selection in list_selections(name, signals))
    derived = signal.derived
    if nested := [operand for operand in derived.operands if signals[operand].derived]:
        raise ValueError(f"{name} is derived from {nested[0]}, which is derived itself")
    operands = [list_selections(operand, signals) for operand in derived.operands]
    weights = tuple(derived.weights.get(operand) for operand in derived.operands) if derived.weights else ()
    combinations: list[Variant] = []
    for selected in product(*operands):
        collectors = {selection.collector for selection in selected}
        same_kind = len({selection.kind for selection in selected}) == 1
        if len(collectors - {None}) <= 1 and (
            same_kind or not any(_find_common_kinds(operands, collector) for collector in collectors)
        ):
            are_of_several = len({selection.sql_object for selection in selected} - {None}) > 1
            alike = tuple(map(select_default_instance, selected)) if are_of_several else selected
            combinations.append(Variant(name, derived.operation, alike, weights))
    return tuple(combinations)


def _find_common_kinds(operands: Sequence[Sequence[Selection]], collector: str | None) -> set[str]:
    """Return the objects or measurements in which this collector records all operands."""
    return set.intersection(
        *({selection.kind for selection in operand if selection.collector == collector} for operand in operands)
    )


def list_drawn_variants(name: str, signals: Mapping[str, Signal]) -> tuple[Variant, ...]:
    """Return the variants that panels draw; if Grafana cannot add up a total's parts, a variant for each part."""
    signal = signals[name]
    parts = (source for source in signal.sources if source.part_after)
    return list_variants(name, signals) or tuple(
        Variant(name, None, (_make_selection(name, signal, part),)) for part in parts
    )


def list_selections(name: str, signals: Mapping[str, Signal]) -> tuple[Selection, ...]:
    """Return the selections of a signal that is not derived, the best first.

    Sources that are scaled by facts of a host, and fallback sources, are left out.
    """
    signal = signals[name]
    recorded = (
        _make_selection(name, signal, source) for source in signal.sources if not source.per and not source.fallback
    )
    return tuple(_add_weight(selection, signal, signals) for selection in recorded)


def _add_weight(selection: Selection, signal: Signal, signals: Mapping[str, Signal]) -> Selection:
    """Return the selection with the field that weights it, if the signal is a time per request.

    If the rate of requests is no field of the same points, the selection stays unweighted: see `is_unweighted`.
    """
    if signal.weight is None:
        return selection
    source, minimum_rate = selection.source, signal.weight.minimum_rate
    if isinstance(source.field, Fields):
        return replace(selection, weight=source.field.names[-1], minimum_rate=minimum_rate)
    place = (selection.measurement, selection.group, selection.where)
    for rate_source in signals[signal.weight.rate].sources:
        rate = _make_selection(signal.weight.rate, signals[signal.weight.rate], rate_source)
        plain = not rate_source.rate and not isinstance(rate_source.field, Fields)
        if plain and rate_source.transform == Transform() and (rate.measurement, rate.group, rate.where) == place:
            return replace(selection, weight=rate.field, minimum_rate=minimum_rate)
    return selection


def is_unweighted(selection: Selection, signals: Mapping[str, Signal]) -> bool:
    """Return whether a selection is a time per request whose rate of requests is no field of the same points."""
    return signals[selection.signal].weight is not None and selection.weight is None


def join_fallback_labels(name: str, signals: Mapping[str, Signal]) -> str:
    """Return the labels of a signal's fallback sources as one text; empty if there are none."""
    signal = signals[name]
    labels = [_make_selection(name, signal, source).label for source in signal.sources if source.fallback]
    return ", ".join(dict.fromkeys(labels))


def select_recorded_by(signals: Mapping[str, Signal], agents: Collection[Agent]) -> Mapping[str, Signal]:
    """Return the signals, each with only the sources that these agents, or agents on other hosts, may record."""

    def restrict(name: str) -> Signal:
        kept = (
            selection.source for selection in list_selections(name, signals) if selection.collector in (None, *agents)
        )
        restricted = copy(signals[name])
        object.__setattr__(restricted, "sources", tuple(kept))  # `replace` would refuse a signal that none records
        return restricted

    return {name: restrict(name) for name in signals}


def is_recorded(name: str, signals: Mapping[str, Signal]) -> bool:
    """Return whether a signal (see `select_recorded_by`) has a source; if it is derived, whether all operands have."""
    signal = signals[name]
    if signal.derived:
        return all(is_recorded(operand, signals) for operand in signal.derived.operands)
    return bool(signal.sources)


def select_default_instance(selection: Selection) -> Selection:
    """Return the selection, restricted to SQL Server's default instance if it is of a SQL Server object."""
    if selection.sql_object is None:
        return selection
    condition = f"{quote_identifier(OBJECT)} = {quote_string(selection.sql_object)}"
    group = tuple(tag for tag in selection.group if tag != OBJECT)
    return replace(selection, group=group, where=(condition, *selection.where[1:]))


def _make_selection(name: str, signal: Signal, source: Source) -> Selection:
    path = source.path
    selection = _select_path(name, signal, source, path) if path else _select_measurement(name, source)
    conditions = (f"{quote_identifier(selection.field)} != {number(value)}" for value in source.transform.unknown)
    selection = replace(selection, where=(*selection.where, *conditions))
    if signal.instances != "sum":
        return selection
    group = tuple(tag for tag in selection.group if tag != selection.instance)
    return replace(selection, instance=None, group=group, summed=selection.instance)


def _select_path(name: str, signal: Signal, source: Source, path: CounterPath) -> Selection:
    """Return the selection for the counter path of a source."""
    group, where = ["host", POLLED], [_match_tag(OBJECT, path.object)]
    if path.object.startswith(_SQL_OBJECT):
        group.append(OBJECT)
    instance = None
    if path.instance == EACH_INSTANCE:
        instance = "instance"
        group.append(instance)
        where += _list_instance_conditions(instance, source.but)
    elif path.instance is not None or any(  # another source has this counter with an instance
        other.path and other.path.instance and (other.path.object, other.path.counter) == (path.object, path.counter)
        for other in signal.sources
    ):
        where.append(f"{quote_identifier('instance')} = {quote_string(path.instance or '')}")
    measurement, field = names.find_measurement(path.object), make_telegraf_name(path.counter)
    return Selection(name, source, measurement, field, "host", instance, tuple(group), tuple(where))


def _select_measurement(name: str, source: Source) -> Selection:
    host = source.host or "host"
    where = [_match_tag(tag, value) for tag, value in source.tags.items()]
    group = [host]
    if source.instance:
        group.append(source.instance)
        where += _list_instance_conditions(source.instance, source.but)
    measurement, field = source.measurement or "", source.fields[0]
    return Selection(name, source, measurement, field, host, source.instance, tuple(group), tuple(where))


def _match_tag(tag: str, value: str) -> str:
    """Return the condition on a tag's value; for a SQL Server object, it includes every instance of the server."""
    if tag in ("object", OBJECT) and value.startswith(_SQL_OBJECT):
        pattern = rf"^({SQL_DEFAULT}|MSSQL\$[^:]+):{escape_regex(value.removeprefix(_SQL_OBJECT))}$"
        return f"{quote_identifier(tag)} =~ {quote_regex(pattern)}"
    return f"{quote_identifier(tag)} = {quote_string(value)}"


def _list_instance_conditions(tag: str, but: Sequence[str]) -> Iterator[str]:
    """Yield the conditions for points with an instance that is no total (`subjects.is_total`) and not in `but`."""
    yield f"{quote_identifier(tag)} =~ /./"
    yield (
        f"{quote_identifier(tag)} !~ "
        f"{quote_regex(f'(?i)(^|,|{TOTAL.casefold()}/){TOTAL.casefold()}$|^cpu-total$|^all$')}"
    )
    if but:
        named = "|".join(".*".join(map(escape_regex, pattern.split("*"))) for pattern in but)
        yield f"{quote_identifier(tag)} !~ {match_whole(f'({named})')}"
