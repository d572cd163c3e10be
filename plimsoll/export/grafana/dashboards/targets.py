"""The queries of panels: one for all sources of a signal, so that hosts of every kind are shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_uppercase

from plimsoll.dashboards.areas import Function, PanelSpec
from plimsoll.export.grafana.dashboards.computed import Computed, groups, naming_tags, operands
from plimsoll.export.grafana.dashboards.merged_queries import layers, mergeable, merged_query, tags_of
from plimsoll.export.grafana.influxql import TIME, by_interval, chosen, panel_parts, state
from plimsoll.export.grafana.sdk import Dataquery, common
from plimsoll.export.selections import OBJECT, POLLED, Selection, Variant, drawn
from plimsoll.rules.load import load_signals
from plimsoll.store.influx.quoting import identifier

DATASOURCE = common.DataSourceRef("influxdb", "${datasource}")
SHARED = common.DataSourceRef("datasource", "-- Dashboard --")
DISK_VARIABLE = "{}_disk"  # the variable with which the reader chooses the disks that hold databases, or logs
SEPARATOR = "|"
_HOST = "host"
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


@dataclass(frozen=True)
class SharedQuery(Dataquery):
    """The data of another panel of the dashboard, as that panel shows it with `transformed`."""

    ref_id: str
    panel: int
    transformed: bool = False

    def to_json(self) -> dict[str, object]:
        """As it stands in a dashboard."""
        shared: dict[str, object] = {"refId": self.ref_id, "datasource": SHARED, "panelId": self.panel}
        return {**shared, "withTransforms": self.transformed}


@dataclass
class Targets:
    """The targets of a panel, in order. Computed lines have labels but no alias."""

    all: list[Dataquery] = field(default_factory=list[Dataquery])
    computed: list[Computed] = field(default_factory=list[Computed])
    _hidden: dict[str, str] = field(default_factory=dict[str, str])

    def next_ref_id(self) -> str:
        """Return the next of A, B, ... Z, AA, AB, ..."""
        return ref_id(len(self.all))

    def ask(self, query: str, alias: str, hide: bool = False) -> str:
        """Add a query; return its refId."""
        own = self.next_ref_id()
        self.all.append(InfluxQuery(own, query, alias, hide=hide))
        return own

    def hidden(self, query: str, alias: str) -> str:
        """Return the refId of a query that only expressions use, adding it unless it is already there."""
        if query not in self._hidden:
            self._hidden[query] = self.ask(query, alias, hide=True)
        return self._hidden[query]

    def compute(self, expression: str, tags: tuple[str, ...], suffix: str) -> None:
        """Add an expression, whose lines are named by these tags and the suffix."""
        own = self.next_ref_id()
        self.all.append(MathQuery(own, expression))
        self.computed.append(Computed(own, tags, suffix))

    @property
    def chosen(self) -> bool:
        """Whether an alias has several tags that a transformation chooses from."""
        return any(isinstance(one, InfluxQuery) and SEPARATOR in one.alias for one in self.all)


def ref_id(at: int) -> str:
    """Return A, B, ... Z, AA, AB, ..."""
    tens, ones = divmod(at, len(ascii_uppercase))
    return (ascii_uppercase[tens - 1] if tens else "") + ascii_uppercase[ones]


def lines(spec: PanelSpec, value: str = "{}") -> Targets:
    """Return the targets of a panel of lines of the expression `value`, where `{}` is the value of the signal."""
    targets = Targets()
    ways = drawn(spec.signal, load_signals())

    def ask(one: Selection) -> tuple[str, str]:
        return panel_parts(one, spec.function, conditions(one, spec.drive))

    if all(map(mergeable, ways)):
        for at, layer in enumerate(layers(ways)):
            targets.ask(merged_query(layer, ask, value), alias(layer) + (_kinds(layer) if at else ""))
        return targets
    for alike, suffix in groups(ways):
        ref_ids = [targets.hidden(merged_query(one, ask, value), alias(one)) for one in operands(alike)]
        targets.compute(alike[0].expression(ref_ids), naming_tags(alike[0]), suffix)
    return targets


def last(spec: PanelSpec, value: str) -> Targets:
    """Return targets for the expression `value`, where `{}` is the last value of each subject in the range."""
    targets = Targets()
    for variant in drawn(spec.signal, load_signals()):
        for selection in variant.selections:
            targets.ask(state(selection, value, conditions(selection, spec.drive)), alias([variant]))
    return targets


def of_hosts(
    ways: Sequence[Variant],
    value: str,
    function: Function = "mean",
    keep: Callable[[Selection], tuple[str, ...]] = lambda _: (),
    where: Callable[[Selection], tuple[str, ...]] = lambda _: (),
    grown: bool = False,
) -> tuple[str, tuple[str, ...]]:
    """Return the query for the expression `value` of a signal of the chosen hosts, and the tags that it groups by.

    `{}` in the expression is the value of the signal. `keep` returns the tags to group by in addition to the host, and
    `where` further conditions. With `grown` the value is what a counter gained since the interval before. For a server
    that another host monitors, the host is the monitoring one.
    """

    def of_host(one: Selection) -> Selection:
        return replace(one, group=tuple(dict.fromkeys(("host", *keep(one)))))

    def ask(one: Selection) -> tuple[str, str]:
        selected, rest = panel_parts(one, function, (*chosen(one)[:1], *where(one)))
        return f"non_negative_difference({selected})" if grown else selected, rest

    hosted = [replace(way, selections=tuple(map(of_host, way.selections))) for way in ways]
    return merged_query(hosted, ask, value), tags_of(hosted)


def constant(signal: str, value: str) -> str:
    """Return the query for a constant value while hosts have the signal."""
    firsts = [way.selections[0] for way in reversed(drawn(signal, load_signals()))]
    asked: list[str] = []
    for one in {one.collector: one for one in firsts}.values():
        where = " AND ".join([*one.where, TIME, *conditions(one)])
        rest = f"FROM {identifier(one.measurement)} WHERE {where}{by_interval(())}"
        asked.append(f'(SELECT max({identifier(one.field)}) * 0 + {value} AS "value" {rest})')
    return f'SELECT max("value") FROM {", ".join(asked)} WHERE {TIME}{by_interval(())}'


def conditions(selection: Selection, drive: str | None = None) -> tuple[str, ...]:
    """Return the conditions for the subjects chosen with the variables of a dashboard."""
    if drive and selection.instance:
        host, _ = chosen(selection)
        return host, f"{identifier(selection.instance)} =~ /^${DISK_VARIABLE.format(drive)}$/"
    return chosen(selection)


def alias(ways: Sequence[Variant]) -> str:
    """Return the alias that names lines by their tags: `$tag_host $tag_instance`.

    Where the computer is in one of several tags, these are separated by SEPARATOR, and transformations of the panel
    choose the last one that is not empty.
    """
    every = [one for way in ways for one in way.selections]
    # InfluxDB returns the tag `host` of all sources where some are grouped by it, so others are preferred.
    hosts = sorted({one.host for one in every}, key=lambda tag: tag != _HOST)
    if all(POLLED in one.group for one in every):
        hosts = [POLLED]
    elif any(POLLED in one.group for one in every):
        hosts = [hosts[0], POLLED, *hosts[1:]]
    instances = dict.fromkeys(f"$tag_{one.instance}" for one in every if one.instance)
    objects = [f"$tag_{OBJECT}"] if OBJECT in tags_of(ways) else []
    # A subject has one of several tags for instances; the others are empty.
    parts = [SEPARATOR.join(f"$tag_{tag}" for tag in hosts), *objects, "".join(instances)]
    return " ".join(filter(None, parts))


def _kinds(ways: Sequence[Variant]) -> str:
    """Return what distinguishes lines from those of better sources: ` (LogicalDisk)`."""
    return f" ({', '.join(dict.fromkeys(one.kind for way in ways for one in way.selections))})"
