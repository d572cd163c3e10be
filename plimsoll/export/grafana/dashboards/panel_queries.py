"""The queries of panels, which combine all sources of a signal, so that hosts with any agent are shown.

InfluxDB chooses, for each subject and interval, the best source that has a value. InfluxDB cannot divide (a division by
0 gives 0), nor combine values of different measurements: Grafana computes such lines from several queries.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_uppercase

from plimsoll.dashboards.areas import Function, PanelSpec
from plimsoll.export.grafana.dashboards.parts import DATASOURCE, Json, build_transformation
from plimsoll.export.grafana.influxql import (
    TIME,
    build_panel_query,
    build_state_query,
    group_by_interval,
    group_by_tags,
    list_chosen_conditions,
)
from plimsoll.export.selections import OBJECT, POLLED, Selection, Variant, list_drawn_variants
from plimsoll.model.group_pairs import group_pairs
from plimsoll.rules.load import load_signals
from plimsoll.rules.window import OPERATORS
from plimsoll.store.quoting import quote_identifier

DISK_VARIABLE = "{}_disk"  # the variable with which the reader chooses the disks that hold databases, or logs
_SEPARATOR = "|"
_HOST = "host"
_EXPRESSION = {"type": "__expr__", "uid": "__expr__"}
_VALUE = '"value"'
# If several tags may name the computer, the last one that is not empty is kept; see `make_line_alias`.
_CHOSEN = tuple(
    build_transformation("renameByRegex", regex=regex, renamePattern="")
    for regex in (r"/^(?:[^| ]*\|)+(?=[^| ])/", r"/\|+| +(?= |$)/g")
)
Parts = tuple[str, str]  # the selected expression of a query, and the rest of the query
Ask = Callable[[Selection], Parts]


@dataclass
class Targets:
    """The targets of a panel, in order. Lines that Grafana computes are named by transformations, not by an alias."""

    all: list[Json] = field(default_factory=list[Json])
    # The refIds of computed lines, by the tags in their names and the suffix.
    _computed: dict[tuple[tuple[str, ...], str], list[str]] = field(
        default_factory=dict[tuple[tuple[str, ...], str], list[str]]
    )
    _hidden: dict[str, str] = field(default_factory=dict[str, str])

    def ask(self, query: str, alias: str = "", *, hide: bool = False, result_format: str = "time_series") -> str:
        """Add a query; return its refId."""
        target = {"datasource": DATASOURCE, "query": query, "rawQuery": True, "resultFormat": result_format}
        return self._add(target | ({"alias": alias} if alias else {}) | ({"hide": True} if hide else {}))

    def ask_hidden(self, query: str, alias: str) -> str:
        """Return the refId of a query that only expressions use; the same query is added once."""
        if query not in self._hidden:
            self._hidden[query] = self.ask(query, alias, hide=True)
        return self._hidden[query]

    def compute(self, expression: str, tags: tuple[str, ...], suffix: str) -> None:
        """Add an expression over other targets. Its lines are named by the values of these tags, then the suffix."""
        ref = self._add({"datasource": _EXPRESSION, "type": "math", "expression": expression})
        self._computed.setdefault((tags, suffix), []).append(ref)

    def naming(self) -> list[Json]:
        """Return the transformations that name the lines of the panel; none if aliases suffice."""
        if self._computed:
            return [_rename(ref_ids, *computed) for computed, ref_ids in self._computed.items()]
        several = any(_SEPARATOR in target.get("alias", "") for target in self.all)
        return [*_CHOSEN] if several else []

    def _add(self, target: Json) -> str:
        ref = make_ref_id(len(self.all))
        self.all.append({"refId": ref, **target})
        return ref


def make_ref_id(at: int) -> str:
    """Return the refId at a position from 0 on: A, B, ... Z, AA, AB, ..."""
    tens, units = divmod(at, len(ascii_uppercase))
    return (ascii_uppercase[tens - 1] if tens else "") + ascii_uppercase[units]


def list_line_targets(spec: PanelSpec, value: str = "{}") -> Targets:
    """Return the targets of a panel of lines; in the expression `value`, `{}` stands for the signal's value."""
    targets = Targets()
    candidates = list_drawn_variants(spec.signal, load_signals())

    def ask(selection: Selection) -> Parts:
        return build_panel_query(selection, spec.function, list_conditions(selection, spec.drive))

    if all(map(is_mergeable, candidates)):
        for at, layer in enumerate(group_layers(candidates)):
            kinds = dict.fromkeys(selection.kind for variant in layer for selection in variant.selections)
            # All lines except those of the best group have their objects in their names.
            targets.ask(
                build_merged_query(layer, ask, value), make_line_alias(layer) + (f" ({', '.join(kinds)})" if at else "")
            )
        return targets
    for group, suffix in list_computed_groups(candidates):
        ref_ids = [
            targets.ask_hidden(build_merged_query(operand, ask, value), make_line_alias(operand))
            for operand in group_operands(group)
        ]
        selection = max(group[0].selections, key=lambda selection: len(selection.group))
        host = POLLED if POLLED in selection.group else selection.host
        tags = (host, OBJECT if OBJECT in selection.group else None, selection.instance)
        targets.compute(group[0].expression(ref_ids), tuple(filter(None, tags)), suffix)
    return targets


def list_last_targets(spec: PanelSpec, value: str) -> Targets:
    """Return the targets for `value` of each subject, where `{}` stands for the last value in the time range."""
    targets = Targets()
    for variant in list_drawn_variants(spec.signal, load_signals()):
        for selection in variant.selections:
            targets.ask(
                build_state_query(selection, value, list_conditions(selection, spec.drive)), make_line_alias([variant])
            )
    return targets


def build_hosts_query(
    candidates: Sequence[Variant],
    value: str,
    function: Function = "mean",
    keep: Callable[[Selection], tuple[str, ...]] = lambda _: (),
    where: Callable[[Selection], tuple[str, ...]] = lambda _: (),
    grown: bool = False,
) -> tuple[str, tuple[str, ...]]:
    """Return the query for a signal's value on the hosts that the reader chose, and the tags that the query groups by.

    In the expression `value`, `{}` stands for the signal's value, reduced per interval by `function`, or if `grown` for
    the increase since the previous interval. `keep` returns the tags to group by besides the host, `where` further
    conditions. The host of a remotely monitored server is the monitoring host.
    """

    def group_by_host(selection: Selection) -> Selection:
        return replace(selection, group=tuple(dict.fromkeys((_HOST, *keep(selection)))))

    def ask(selection: Selection) -> Parts:
        value, rest = build_panel_query(
            selection, function, (*list_chosen_conditions(selection)[:1], *where(selection))
        )
        return f"non_negative_difference({value})" if grown else value, rest

    hosted = [replace(variant, selections=tuple(map(group_by_host, variant.selections))) for variant in candidates]
    return build_merged_query(hosted, ask, value), _list_tags(hosted)


def build_constant_query(signal: str, value: str) -> str:
    """Return the query for a line at a constant value, drawn wherever hosts have samples of the signal."""
    firsts = [variant.selections[0] for variant in reversed(list_drawn_variants(signal, load_signals()))]
    sources: list[str] = []
    for selection in {first.collector: first for first in firsts}.values():
        where = " AND ".join([*selection.where, TIME, *list_conditions(selection)])
        rest = f"FROM {quote_identifier(selection.measurement)} WHERE {where}{group_by_interval(())}"
        sources.append(f'(SELECT max({quote_identifier(selection.field)}) * 0 + {value} AS "value" {rest})')
    return f'SELECT max("value") FROM {", ".join(sources)} WHERE {TIME}{group_by_interval(())}'


def list_conditions(selection: Selection, drive: str | None = None) -> tuple[str, ...]:
    """Return the conditions for the hosts and instances (with `drive`, the disks) chosen by dashboard variables."""
    if drive and selection.instance:
        host, _ = list_chosen_conditions(selection)
        return host, f"{quote_identifier(selection.instance)} =~ /^${DISK_VARIABLE.format(drive)}$/"
    return list_chosen_conditions(selection)


def make_line_alias(candidates: Sequence[Variant]) -> str:
    """Return the alias that names lines by their tags: `$tag_host $tag_instance`.

    If sources have the host in different tags, the alias has all of these tags, and transformations of the panel choose
    the last tag that is not empty.
    """
    selections = [selection for variant in candidates for selection in variant.selections]
    # InfluxDB returns the tag `host` of all sources where some are grouped by it, so others are preferred.
    hosts = sorted({selection.host for selection in selections}, key=lambda tag: tag != _HOST)
    polled = [POLLED in selection.group for selection in selections]
    if all(polled):
        hosts = [POLLED]
    elif any(polled):
        hosts = [hosts[0], POLLED, *hosts[1:]]
    instances = dict.fromkeys(f"$tag_{selection.instance}" for selection in selections if selection.instance)
    objects = [f"$tag_{OBJECT}"] if OBJECT in _list_tags(candidates) else []
    # A subject has one of several tags for instances; the others are empty.
    names = [_SEPARATOR.join(f"$tag_{tag}" for tag in hosts), *objects, "".join(instances)]
    return " ".join(filter(None, names))


def is_mergeable(variant: Variant) -> bool:
    """Return whether InfluxDB can compute a variant in one query.

    InfluxDB combines only values of one measurement with equal tags. Ratios are excluded, as InfluxDB returns 0 for a
    division by 0, and products, which are not a chain of one operator.
    """
    places = {(selection.measurement, selection.group) for selection in variant.selections}
    return variant.operation not in ("ratio", "product") and len(places) == 1


def build_merged_query(candidates: Sequence[Variant], ask: Ask, value: str = "{}") -> str:
    """Return the query for a signal: for each subject and interval, the value of the first variant that has one.

    In the expression `value`, `{}` stands for the signal's value. A subject with several measurements has a series for
    each measurement.
    """
    selected, rest = _merge(candidates, ask)
    return f"SELECT {selected if value == '{}' else value.format(f'({selected})')}{rest}"


def group_layers(candidates: Sequence[Variant]) -> list[list[Variant]]:
    """Return groups of variants, the best group first; the variants of a group can be merged in one query.

    InfluxDB never merges values of different measurements, so a group has one measurement of each collector.
    """
    groups: list[list[Variant]] = []
    by_collector: dict[str | None, list[tuple[str, ...]]] = {}
    for variant in candidates:
        measurements = tuple(selection.measurement for selection in variant.selections)
        before = by_collector.setdefault(variant.selections[0].collector, [])
        if measurements not in before:
            before.append(measurements)
        at = before.index(measurements)
        if at == len(groups):
            groups.append([])
        groups[at].append(variant)
    return groups


def list_computed_groups(candidates: Sequence[Variant]) -> Iterator[tuple[list[Variant], str]]:
    """Yield groups of variants whose operands have the same objects or measurements, each with a suffix for line names.

    A host that records several objects has lines of several groups. For each collector, the first group has an empty
    suffix; the suffix of later groups names their objects.
    """
    by_kinds = group_pairs(
        (tuple(selection.kind for selection in variant.selections), variant) for variant in candidates
    )
    collectors: set[str | None] = set()
    for kinds, group in by_kinds.items():
        collector = group[0].selections[0].collector
        yield group, f" ({', '.join(dict.fromkeys(kinds))})" if collector in collectors else ""
        collectors.add(collector)


def group_operands(group: Sequence[Variant]) -> Iterator[list[Variant]]:
    """Yield, for each operand of a derived signal, a variant for each distinct source, the best first."""
    for operands in zip(*(variant.selections for variant in group), strict=True):
        distinct = [operand for at, operand in enumerate(operands) if operand not in operands[:at]]
        yield [Variant(operand.signal, None, (operand,)) for operand in distinct]


def _list_tags(candidates: Iterable[Variant]) -> tuple[str, ...]:
    """Return the tags that any of the variants groups by, without duplicates."""
    selections = (selection for variant in candidates for selection in variant.selections)
    return tuple(dict.fromkeys(tag for selection in selections for tag in selection.group))


def _merge(candidates: Sequence[Variant], ask: Ask) -> Parts:
    """Return the query of `build_merged_query` in two parts, the selected expression and the rest."""
    group, operation = _list_tags(candidates), candidates[0].operation
    if operation is None:
        return _choose_best([ask(variant.selections[0]) for variant in candidates], group)
    operands = [[ask(selection) for selection in variant.selections] for variant in candidates]
    sign = f" {OPERATORS[operation]} "
    if all(len({rest for _, rest in parts}) == 1 for parts in operands):
        return _choose_best([(f"({sign.join(value for value, _ in parts)})", parts[0][1]) for parts in operands], group)
    sources, values = list[str](), list[str]()
    for at, parts in enumerate(zip(*operands, strict=True)):
        value, rest = _choose_best(list(dict.fromkeys(parts)), group)
        sources.append(f'(SELECT {value} AS "operand{at}"{rest})')
        values.append(f'max("operand{at}")')
    return f"({sign.join(values)})", f" FROM {', '.join(sources)} WHERE {TIME}{group_by_interval(group)}"


def _choose_best(queries: Sequence[Parts], group: Sequence[str]) -> Parts:
    """Return the query, in two parts, that takes each point from the first of several queries that has a value."""
    if len(queries) == 1:
        return queries[0]
    ranked = [
        f'(SELECT {value} AS {_VALUE}, ({value}) * 0 - {at} AS "rank"{rest})'
        for at, (value, rest) in enumerate(queries)
    ]
    # The selector max returns the point with the highest rank.
    inner = f'(SELECT max("rank"), {_VALUE} FROM {", ".join(ranked)} WHERE {TIME}{group_by_interval(group)})'
    return _VALUE, f" FROM {inner} WHERE {TIME}{group_by_tags(group)}"


def _rename(ref_ids: Sequence[str], tags: Sequence[str], suffix: str) -> Json:
    """Return the transformation that names computed lines, which Grafana names by their refId and all labels."""
    pattern = " ".join(f"${at}" for at in range(1, len(tags) + 1)) + suffix
    begin = f"^(?:{'|'.join(ref_ids)}) "
    # A line with one label is named by its value: `K WEB01`, not `K {host="WEB01"}`.
    single = rf'/{begin}(?:\{{.*\b{tags[0]}=")?([^"]*).*/'
    several = f"/{begin}" + "".join(rf'(?=.*\b{tag}="([^"]*)")' for tag in tags) + ".*/"
    return build_transformation("renameByRegex", regex=single if len(tags) == 1 else several, renamePattern=pattern)
