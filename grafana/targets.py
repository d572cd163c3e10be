"""The queries of panels: one target for each variant of a signal, so that hosts of every kind are shown.

Queries contain no subqueries, which take InfluxDB ten times as long.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_uppercase

from dashboards.areas import PanelSpec
from grafana.influxql import TIME, panel, state
from grafana.sdk import Dataquery, common
from grafana.selections import Selection, Variant, variants
from grafana.subjects import chosen
from model.perfmon import CounterPath
from rules.load import load_signals
from store.quoting import identifier

DATASOURCE = common.DataSourceRef("influxdb", "${datasource}")
DISK_VARIABLE = "{}_disk"  # the variable with which the reader chooses the disks that hold databases, or logs
_EXPRESSION = common.DataSourceRef("__expr__", "__expr__")


@dataclass(frozen=True)
class InfluxQuery(Dataquery):
    """A query for Grafana's InfluxDB plugin. The SDK has no class for it."""

    ref_id: str
    query: str
    alias: str = ""
    result_format: str = "time_series"
    hide: bool = False

    def to_json(self) -> dict[str, object]:
        """As it stands in a dashboard."""
        written: dict[str, object] = {
            "refId": self.ref_id,
            "datasource": DATASOURCE,
            "query": self.query,
            "rawQuery": True,
            "resultFormat": self.result_format,
        }
        if self.alias:
            written["alias"] = self.alias
        if self.hide:
            written["hide"] = True
        return written


@dataclass(frozen=True)
class MathQuery(Dataquery):
    """An expression over other targets, computed by Grafana."""

    ref_id: str
    expression: str

    def to_json(self) -> dict[str, object]:
        """As it stands in a dashboard."""
        return {"refId": self.ref_id, "datasource": _EXPRESSION, "type": "math", "expression": self.expression}


@dataclass
class Targets:
    """The targets of a panel, in order."""

    all: list[Dataquery] = field(default_factory=list[Dataquery])
    _hidden: dict[str, str] = field(default_factory=dict[str, str])

    def next_ref_id(self) -> str:
        """Return the next of A, B, ... Z, AA, AB, ..."""
        tens, ones = divmod(len(self.all), len(ascii_uppercase))
        return (ascii_uppercase[tens - 1] if tens else "") + ascii_uppercase[ones]

    def ask(self, query: str, alias: str, hide: bool = False) -> str:
        """Add a query; return its refId."""
        ref_id = self.next_ref_id()
        self.all.append(InfluxQuery(ref_id, query, alias, hide=hide))
        return ref_id

    def hidden(self, query: str, alias: str) -> str:
        """Return the refId of a query that only expressions use, adding it unless it is already there."""
        if query not in self._hidden:
            self._hidden[query] = self.ask(query, alias, hide=True)
        return self._hidden[query]

    def compute(self, expression: str) -> None:
        """Add an expression."""
        self.all.append(MathQuery(self.next_ref_id(), expression))

    @property
    def computed(self) -> bool:
        """Whether any line is computed. Computed lines have labels but no alias."""
        return any(isinstance(one, MathQuery) for one in self.all)


def lines(spec: PanelSpec) -> Targets:
    """Return the targets of a panel of lines."""
    targets = Targets()
    ways = variants(spec.signal, load_signals())
    for variant in ways:
        queries = [panel(one, spec.function, conditions(one, spec.drive)) for one in variant.selections]
        query = one_query(variant, queries)
        if query is not None:
            targets.ask(query, _alias(variant, ways))
            continue
        aliases = [one.alias for one in variant.selections]
        targets.compute(variant.expression([*map(targets.hidden, queries, aliases)]))
    return targets


def last(spec: PanelSpec) -> Targets:
    """Return targets for the last value of each subject in the range."""
    targets = Targets()
    for variant in variants(spec.signal, load_signals()):
        for selection in variant.selections:
            targets.ask(state(selection, conditions(selection, spec.drive)), selection.alias)
    return targets


def of_hosts(signal: str, keep: Callable[[Selection], tuple[str, ...]]) -> Iterator[tuple[Variant, str]]:
    """Yield each variant of a signal with a query for the chosen hosts and all their instances.

    `keep` returns the tags to group by, in addition to the host. For a server that another host monitors, the host is
    the monitoring one.
    """
    for variant in variants(signal, load_signals()):
        hosted = [replace(one, group=tuple(dict.fromkeys(("host", *keep(one))))) for one in variant.selections]
        query = one_query(variant, [panel(one, "mean", chosen(one)[:1]) for one in hosted])
        if query is None:
            raise ValueError(f"{signal} is computed by Grafana, so it is not one query")
        yield variant, query


def constants(signal: str, value: str) -> Iterator[str]:
    """Yield queries, one for each kind of host, for a constant value while hosts have the signal."""
    ways = variants(signal, load_signals())
    for selection in {way.selections[0].collector: way.selections[0] for way in reversed(ways)}.values():
        where = " AND ".join([*selection.where, TIME, *conditions(selection)])
        yield (
            f"SELECT max({identifier(selection.field)}) * 0 + {value} FROM {identifier(selection.measurement)} "
            f"WHERE {where} GROUP BY time($__interval) fill(none)"
        )


def computed(query: str, value: str) -> str:
    """Return a query that selects the expression `value`, where `{}` stands for what it selected before."""
    selected, rest = _parts(query)
    return f"SELECT {value.format(f'({selected})')} FROM {rest}"


def one_query(variant: Variant, queries: Sequence[str]) -> str | None:
    """Return the queries of a variant's operands as one query, or None if they read different points.

    Returns None for ratios too, because a division by 0 is 0 in InfluxDB and no value in Grafana.
    """
    if variant.operation is None:
        return queries[0]
    parts = [_parts(query) for query in queries]
    if len({rest for _, rest in parts}) > 1 or variant.operation == "ratio":
        return None
    sign = " + " if variant.operation == "sum" else " - "
    return f"SELECT {sign.join(value for value, _ in parts)} FROM {parts[0][1]}"


def conditions(selection: Selection, drive: str | None = None) -> tuple[str, ...]:
    """Return the conditions for the subjects chosen with the variables of a dashboard."""
    if drive and selection.instance:
        host, _ = chosen(selection)
        return host, f"{identifier(selection.instance)} =~ /^${DISK_VARIABLE.format(drive)}$/"
    return chosen(selection)


def _parts(query: str) -> tuple[str, str]:
    """Split a query at its first FROM. No field name contains ` FROM `."""
    value, _, rest = query.removeprefix("SELECT ").partition(" FROM ")
    return value, rest


def _alias(variant: Variant, ways: Sequence[Variant]) -> str:
    """Return the alias of a variant's lines, with what distinguishes it from a better variant of the same collector."""
    alias = max(variant.selections, key=lambda one: len(one.group)).alias
    first = next(way for way in ways if way.selections[0].collector == variant.selections[0].collector)
    pairs = zip(variant.selections, first.selections, strict=True)
    paths = [(own.source.path, other.source.path) for own, other in pairs]
    differences = [_difference(own, other) for own, other in paths if own and other and own != other]
    return f"{alias} ({', '.join(differences)})" if differences else alias


def _difference(own: CounterPath, other: CounterPath) -> str:
    if own.object != other.object:
        return own.object
    return own.counter if own.counter != other.counter else str(own.instance)
