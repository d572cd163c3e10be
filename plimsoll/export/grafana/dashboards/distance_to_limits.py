"""The table of the Health dashboard with how much of its limits each host had reached at worst.

Each row is a line of one query: its name has the limit, the host, the panel that draws the limit, and two numbers.
These turn the share of the limit reached, in percent, into the column `State`, whose values are mapped to words: each
kind of limit has its own range there, and a limit that is a warning first and critical further out is stretched.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.dashboards.areas import load_areas
from plimsoll.dashboards.limits import Limits, shortly
from plimsoll.export.grafana.dashboards import describe, panels, targets
from plimsoll.export.grafana.dashboards.merged_queries import mergeable
from plimsoll.export.grafana.influxql import is_other_subject, is_subject
from plimsoll.export.grafana.look import load_look
from plimsoll.export.grafana.sdk import common, dashboard
from plimsoll.export.rule_sources import is_for_pack
from plimsoll.export.selections import OBJECT, POLLED, Selection, Variant, variants
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.rules.load import load_packs, load_signals
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.severity import MARKS
from plimsoll.rules.subjects import Subject
from plimsoll.store.influx.quoting import number

Where = Callable[[Selection], tuple[str, ...]]

TITLE = "Distance to the limits"
_SUBJECT = ("Host", "Limit", "Panel")
CROSSED = 100  # percent of a limit
_POINTS = 60
_SEPARATOR = "|"
_INTERVAL = "5m"  # what most rules need to fire, so that a brief spike does not count
_NAME = r"/^(?<Slope>[^|]*)\|(?<Offset>[^|]*)\|(?<Panel>[^|]*)\|(?<Limit>.*?)(?: · )?\|(?<Host>[^|]*)$/"
# Where 100 % lies in the column `State`; a flat slope keeps each kind of limit in its range.
_NOTE, _BEYOND, _WARNING, _CRITICAL, _STRETCHED = 1_000, 2_000, 3_000, 4_000, 100_000
_FLAT = 1e-6
_WIDTH = 500  # of a range, more than any share on a flat slope
_MOST = 1e15
Range = tuple[float, float]
WARNING: Sequence[Range] = ((_WARNING, _WARNING + _WIDTH), (_STRETCHED, _STRETCHED + CROSSED))
CRITICAL: Sequence[Range] = ((_CRITICAL, _CRITICAL + _WIDTH), (_STRETCHED + CROSSED, _MOST))
_TINY = 1e-6  # of a limit, as a division by 0 gives 0 in InfluxDB
_OF_NONE = f"{CROSSED + 1} * {{0}} / ({{0}} + {_TINY:f})"  # the share where any value above 0 is too much


@dataclass(frozen=True)
class Level:
    """A limit of a host: its rule, what it is multiplied by, and where a crossing lies in the column `State`."""

    rule: Rule
    factor: str
    place: int

    @property
    def limit(self) -> str:
        """The limit as an expression."""
        return number(self.rule.healthy.limit) + (f" * {self.factor}" if self.factor else "")


def panel(limits: Limits, number_: int, position: dashboard.GridPos) -> dashboard.Panel:
    """Return the table with a row for each limit and host or instance, the worst first."""
    found = targets.Targets()
    for rules in rows(limits):
        for query, alias in _queries(rules, limits):
            found.ask(query, alias)
    return dashboard.Panel(
        "table",
        id_val=number_,
        title=TITLE,
        description=(
            "How much of each limit a host, or an instance of it, had reached at worst in the range, over five minutes "
            "or longer: beyond 100 % the limit is crossed, for ceilings by rising and for floors by falling. Where "
            "nothing is allowed, anything is 101 %. *beyond*: whether it is a breach depends on further conditions, or "
            "on facts of the host that are not known. A limit leads to its chart."
        ),
        grid_pos=position,
        datasource=targets.DATASOURCE,
        targets=found.all,
        interval=_INTERVAL,
        max_data_points=_POINTS,
        transformations=[*_transformations()],
        options=panels.sorted_by("At worst", desc=True),
        field_config=dashboard.FieldConfigSource(
            dashboard.FieldConfig(
                unit="currency:financial: %:suffix",
                decimals=0,
                no_value=panels.NOTHING,
                custom=common.TableFieldOptions(filterable=True),
            ),
            [*_columns()],
        ),
    )


def rows(limits: Limits) -> Iterator[tuple[Rule, ...]]:
    """Yield the rules of each row in areas.yaml, all of one signal. Raises ValueError if one has no share."""
    known = {rule.id: rule for pack in load_packs() for rule in pack.rules}
    for names in load_areas().health.limits:
        rules = tuple(known[name] for name in names)
        signals = {rule.signal for rule in rules}
        ways = [way for signal in signals for way in variants(signal, load_signals())]
        if len(signals) > 1 or any(rule.drive for rule in rules) or not all(map(mergeable, ways)):
            raise ValueError(f"areas.yaml: {', '.join(names)} have no common share of a limit")
        if any(_levels(rules, limits, host) for host in ("", *limits.site.hosts)):
            yield rules


def _transformations() -> Iterator[dashboard.DataTransformerConfig]:
    numbers = [{"targetField": name, "destinationType": "number"} for name in ("Slope", "Offset")]
    # With labels as columns `Field` would not have the names of lines, so the host is part of the name.
    yield panels.rows(["lastNotNull", "max"], labels=False)
    yield dashboard.DataTransformerConfig(
        "extractFields", options={"source": "Field", "format": "regexp", "regExp": _NAME}
    )
    yield dashboard.DataTransformerConfig("convertFieldType", options={"conversions": numbers})
    yield panels.calculated("Stretched", "Max", "*", "Slope")
    yield panels.calculated("State", "Stretched", "+", "Offset")
    # A host may have a signal from several objects or measurements.
    fields: dict[str, object] = {name: {"operation": "groupby", "aggregations": []} for name in _SUBJECT}
    fields |= {name: {"operation": "aggregate", "aggregations": ["max"]} for name in ("State", "Max", panels.LAST)}
    yield dashboard.DataTransformerConfig("groupBy", options={"fields": fields})
    names = {"State (max)": "State", "Host": "Host", "Limit": "Limit", "Max (max)": "At worst"}
    yield panels.organized({**names, f"{panels.LAST} (max)": "Last", "Panel": "Panel"})


def _columns() -> Iterator[dashboard.DashboardFieldConfigSourceOverrides]:
    look = load_look().severities
    gauge = {
        "custom.cellOptions": {"type": "gauge", "mode": "basic", "valueDisplayMode": "text"},
        "custom.width": 170,
        "min": 0,
        "max": 150,
        "color": {"mode": "fixed", "fixedColor": look["info"]},
    }
    link = {"title": "Chart", "url": "/d/${__data.fields.Panel:raw}&var-host=${__data.fields.Host}&${__url_time_range}"}
    yield panels.override(
        "State",
        {
            "custom.cellOptions": {"type": "color-text"},
            "custom.width": 100,
            "custom.align": "left",
            "mappings": states(),
        },
    )
    yield panels.override("Host", {"custom.width": 130})
    yield panels.override("Limit", {"links": [link], "custom.minWidth": 320})
    yield panels.override("At worst", gauge)
    yield panels.override("Last", {"custom.width": 80})
    yield panels.override("Panel", {"custom.hideFrom": {"viz": True, "legend": False, "tooltip": False}})


def states() -> list[dashboard.ValueMapping]:
    """Return the mappings of the column `State` to words."""
    look = load_look().severities
    words = [((_NOTE, _NOTE + _WIDTH), f"{MARKS['info']} note", look["info"])]
    words.append(((_BEYOND, _BEYOND + _WIDTH), "beyond", look["warning"]))
    # The ranges of criticals come first: where they meet those of warnings, a limit is crossed.
    words += [(one, f"{MARKS['critical']} critical", look["critical"]) for one in CRITICAL]
    words += [(one, f"{MARKS['warning']} warning", look["warning"]) for one in WARNING]
    words.append(((-_MOST, _MOST), "within", "text"))
    return [
        dashboard.RangeMap(
            dashboard.DashboardRangeMapOptions(start, end, dashboard.ValueMappingResult(text=text, color=color))
        )
        for (start, end), text, color in words
    ]


def _queries(rules: tuple[Rule, ...], limits: Limits) -> Iterator[tuple[str, str]]:
    """Yield the queries for the hosts in general, and for those whose limits differ, with their aliases."""
    own = {host: _levels(rules, limits, host) for host in ("", *limits.site.hosts)}
    different = [host for host, levels in own.items() if levels != own[""]]
    for host in ("", *different):
        if levels := own[host]:
            names = [host] if host else different

            def where(one: Selection, host: str = host, names: Sequence[str] = names) -> tuple[str, ...]:
                return (is_subject(one, host),) if host else tuple(is_other_subject(one, name) for name in names)

            yield _query(levels, where)


def _query(levels: Sequence[Level], where: Where) -> tuple[str, str]:
    rule = levels[0].rule
    query, tags = targets.of_hosts(
        _ways([level.rule for level in levels]),
        _share(levels[0]),
        "max" if rule.reduce == "increase" or not rule.for_ else "mean",
        keep=lambda one: one.group,
        where=where,
        grown=rule.reduce == "increase",
    )
    instances = "".join(f"$tag_{tag}" for tag in tags if tag not in ("host", POLLED, OBJECT))
    slope, offset = _line(levels)
    panel_id = panels.panel_of(rule.signal)
    if panel_id is None:
        raise ValueError(f"areas.yaml: {rule.signal} is on no dashboard")
    name = " · ".join(filter(None, (_limit(levels[0]), instances)))
    return query, _SEPARATOR.join(
        (f"{slope:.12g}", f"{offset:.12g}", describe.panel_path(*panel_id), name, "$tag_host")
    )


def _ways(rules: Sequence[Rule]) -> list[Variant]:
    """Return the variants of the signal that hosts have for which the packs of all rules are meant."""
    packs = [pack for pack in load_packs() if {rule.id for rule in rules} & {rule.id for rule in pack.rules}]
    return [way for way in variants(rules[0].signal, load_signals()) if all(is_for_pack(pack, way) for pack in packs)]


def _levels(rules: tuple[Rule, ...], limits: Limits, host: str) -> list[Level]:
    """Return the limits of these rules that a host has, or, without a name, the hosts that the site does not name."""
    found: list[Level] = []
    for rule in rules:
        held = limits.site.held(rule, host)
        if held.off or held.unknown:
            continue
        fact = held.rule.scale
        known = limits.site.facts.known(Subject(host), fact) if fact else None
        if fact and known is None and fact not in DEFAULTS:
            continue
        factor = "" if fact is None else f"${fact}" if known is None else number(known)
        found.append(Level(held.rule, factor, _place(held.rule, assumed=factor.startswith("$"))))
    return found


def _place(rule: Rule, *, assumed: bool) -> int:
    if rule.severity == "info":
        return _NOTE
    if rule.and_ or rule.when_phase_unknown or assumed:
        return _BEYOND
    return _CRITICAL if rule.severity == "critical" else _WARNING


def _line(levels: Sequence[Level]) -> tuple[float, float]:
    """Return slope and offset of the line from the share of the first limit to the column `State`."""
    first, *others = levels
    if others and first.place == _WARNING and others[0].place == _CRITICAL:
        low, high = first.rule.healthy.limit, others[0].rule.healthy.limit
        slope = 1 / ((low / high if first.rule.healthy.worse == "lower" else high / low) - 1)
        return slope, _STRETCHED - CROSSED * slope
    return _FLAT, first.place - CROSSED * _FLAT


def _share(level: Level) -> str:
    """Return the expression for the share of a limit reached, in percent, where `{}` is the value."""
    healthy = level.rule.healthy
    if not healthy.limit:
        return _OF_NONE
    if healthy.worse == "either":
        raise ValueError(f"areas.yaml: {level.rule.id} has no share of a limit")
    if healthy.worse == "lower":
        return f"{CROSSED} * {level.limit} / ({{}} + {number(healthy.limit * _TINY)})"
    return f"{CROSSED} * {{}} / ({level.limit})"


def _limit(level: Level) -> str:
    rule = level.rule
    signal = load_signals()[rule.signal]
    if level.factor.startswith("$"):
        per = f"{shortly(rule.healthy, signal.unit)} × {level.factor} {rule.scale}"
    else:
        per = shortly(rule.healthy.scaled(float(level.factor or 1)), signal.unit)
    return f"{signal.title} {per}" if rule.healthy.limit else f"{signal.title}, none allowed"
