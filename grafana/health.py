"""The Health dashboard: firing alerts, the distance of every host to its limits, and silent hosts."""

from collections.abc import Iterator, Mapping, Sequence

from dashboards.areas import WIDTH, PanelSpec, load_areas
from dashboards.limits import Limits, title
from grafana import describe, panels, targets, thresholds, variables
from grafana.look import Unit, load_look
from grafana.sdk import common, dashboard
from grafana.selections import variants
from grafana.subjects import chosen
from hosts.facts import DEFAULTS
from rules.field_types import Fact
from rules.load import load_packs, load_signals
from rules.pack_schema import Rule
from rules.wording import limit_text
from store.quoting import identifier, number

AREA = "health"
SILENT = 3  # the id of the panel with each host's last sample
_POINTS = 60
_NEAR = 80  # percent of a limit
_STATE = 1_000_000_000  # added to the shares in the column `State`, so that only these are mapped to words
_TINY = "0.000001"  # a division by 0 gives 0 in InfluxDB, which would look far from the limit
_SEPARATOR = "|"  # between limit and host in the names of lines that become rows
_LIMIT_AND_HOST = {"source": "Field", "format": "regexp", "regExp": r"/^(?<Limit>.*)\|(?<host>[^|]*)$/"}
_FIRST = "firstNotNull"


def health_variables(limits: Limits) -> list[dashboard.VariableModel]:
    """Return the variables: the data source, the hosts, and the numbers that the limits shown scale with."""
    shown = load_areas().health
    rules = [*_rules(limits)]
    signals = [*shown.hosts, *(rule.signal for rule in rules)]
    facts: list[Fact] = sorted({rule.scale for rule in rules if rule.scale})
    return [variables.source(), variables.hosts(signals), *map(variables.number, facts)]


def health_panels(limits: Limits) -> list[dashboard.Panel | dashboard.RowPanel]:
    """Return the panels: alerts, the distance to the limits, the last sample of each host, and hosts by signals."""
    return [*_alerts(), _distance([*_rules(limits)]), _silent(), _hosts(limits)]


def _alerts() -> Iterator[dashboard.Panel]:
    """Yield the list of warnings and critical alerts, and the list of notes."""
    yield _firing(
        1,
        "Firing",
        "Limits that are crossed and stay crossed, and hosts that fell silent. A rule leads to its page.",
        '{severity!="info"}',
        dashboard.GridPos(9, 9, 0, 0),
    )
    yield _firing(
        5,
        "Notes",
        "Beyond what the documents measured, which by itself is no trouble.",
        '{severity="info"}',
        dashboard.GridPos(5, 9, 0, 9),
    )


def _firing(number: int, title: str, about: str, labels: str, position: dashboard.GridPos) -> dashboard.Panel:
    options = {
        "viewMode": "list",
        "groupMode": "default",
        "groupBy": [],
        "maxItems": 50,
        "sortOrder": 3,  # by importance
        "dashboardAlerts": False,
        "alertName": "",
        "alertInstanceLabelFilter": labels,
        "datasource": "-- Grafana --",
        "showInactiveAlerts": False,
        "stateFilter": {
            "firing": True,
            "pending": True,
            "recovering": True,
            "noData": True,
            "error": True,
            "normal": False,
        },
    }
    return dashboard.Panel(
        "alertlist", id_val=number, title=title, description=about, grid_pos=position, options=options
    )


def _distance(rules: Sequence[Rule]) -> dashboard.Panel:
    """Return the table with a row for each host and limit, the nearest first: the state, and the share reached."""
    found = targets.Targets()
    for rule in rules:
        for query, alias in _shares(rule):
            found.ask(query, alias)
    look = load_look().severities
    steps = [dashboard.Threshold(None, look["info"].color), dashboard.Threshold(100, look["critical"].color)]
    gauge = {
        "custom.cellOptions": {"type": "gauge", "mode": "basic", "valueDisplayMode": "text"},
        "color": {"mode": "thresholds"},
        "thresholds": dashboard.ThresholdsConfig(dashboard.ThresholdsMode.ABSOLUTE, steps),
    }
    return dashboard.Panel(
        "table",
        id_val=2,
        title="Distance to the limits",
        description=(
            "How much of each limit a host or an instance of it had reached in the last interval in which it sent "
            "something, the nearest first: at 100 % the limit is crossed, for ceilings by rising and for floors by "
            "falling. An alert fires only once a limit stays crossed for as long as its rule says. Of a host that "
            "fell silent (see Last heard of) this is how it was then."
        ),
        grid_pos=dashboard.GridPos(20, 15, 9, 0),
        datasource=targets.DATASOURCE,
        targets=found.all,
        interval=panels.INTERVAL,
        max_data_points=_POINTS,
        transformations=[
            # With labels as columns `Field` would not have the names of lines, so the host is part of the name.
            panels.rows(["lastNotNull", "max"], labels=False),
            dashboard.DataTransformerConfig("extractFields", options=_LIMIT_AND_HOST),
            _calculated("State", panels.LAST, "+", str(_STATE)),
            _calculated("Left", "100", "-", panels.LAST),
            panels.organized(
                {
                    "host": "Host",
                    "Limit": "Limit",
                    "State": "State",
                    panels.LAST: "Reached",
                    "Left": "Left",
                    "Max": "Highest",
                },
                hidden=("Field",),
            ),
        ],
        options=panels.sorted_by("Reached", desc=True),
        field_config=dashboard.FieldConfigSource(
            dashboard.FieldConfig(
                unit="percent",
                decimals=0,
                min_val=0,
                max_val=150,
                no_value=panels.NO_DATA,
                mappings=_states(),
                links=_to_areas(),
                custom=common.TableFieldOptions(filterable=True),
            ),
            [
                panels.override("State", {"custom.cellOptions": {"type": "color-text"}}),
                panels.override("Reached", gauge),
            ],
        ),
    )


def _silent() -> dashboard.Panel:
    """Return the table with the time of each host's last sample, the oldest first."""
    found = targets.Targets()
    for variant in variants(load_areas().health.alive, load_signals()):
        selection = variant.selections[0]
        where = " AND ".join([*selection.where, "$timeFilter", *chosen(selection)])
        query = (
            f"SELECT last({identifier(selection.field)}) FROM {identifier(selection.measurement)} WHERE {where} "
            f'GROUP BY "host"'
        )
        found.all.append(targets.InfluxQuery(found.next_ref_id(), query, result_format="table"))
    return dashboard.Panel(
        "table",
        id_val=SILENT,
        title="Last heard of",
        description="The last sample of each host in the range. A host that is on no row sent nothing in all of it.",
        grid_pos=dashboard.GridPos(6, 9, 0, 14),
        datasource=targets.DATASOURCE,
        targets=found.all,
        transformations=[
            dashboard.DataTransformerConfig("merge", options={}),
            panels.organized({"host": "Host", "Time": "Last sample"}, hidden=("last",)),
        ],
        options=panels.sorted_by("Last sample", desc=False),
        field_config=dashboard.FieldConfigSource(
            dashboard.FieldConfig(no_value=panels.NO_DATA, custom=common.TableFieldOptions(filterable=True)),
            # Not for all columns: with a unit of time, Grafana reads host names as times and shows NaN.
            [panels.override("Last sample", {"unit": "dateTimeFromNow"})],
        ),
    )


def _hosts(limits: Limits) -> dashboard.Panel:
    """Return the table with a row for each host, and a sparkline with the last value for each signal."""
    found = targets.Targets()
    joined, renamed = list[dashboard.DataTransformerConfig](), list[dashboard.DataTransformerConfig]()
    columns, overrides = {"host": "Host"}, list[dashboard.DashboardFieldConfigSourceOverrides]()
    for signal in load_areas().health.hosts:
        unit = panels.unit_of(signal)
        value = "{}" if unit.scale == 1 else f"{{}} * {number(unit.scale)}"
        refs = [
            found.ask(targets.computed(query, value), "$tag_host")
            for _, query in targets.of_hosts(signal, lambda _: ())
        ]
        heading = _heading(signal, unit, limits)
        columns[f"{heading} ({_FIRST})"] = heading
        joined += _one_answer(refs)
        renamed.append(_named(refs, heading))
        overrides.append(panels.override(heading, _trend(signal, unit, limits)))
    return dashboard.Panel(
        "table",
        id_val=4,
        title="Hosts",
        description=(
            "Each host over the range, and its last value in the colour of the limit it is beyond. A cell leads to "
            "the charts of its host; an empty one is of a counter that the host does not have."
        ),
        grid_pos=dashboard.GridPos(14, WIDTH, 0, 20),
        datasource=targets.DATASOURCE,
        targets=found.all,
        interval=panels.INTERVAL,
        max_data_points=_POINTS,
        transformations=[
            *joined,
            dashboard.DataTransformerConfig("timeSeriesTable", options={}),
            dashboard.DataTransformerConfig("merge", options={}),
            *renamed,  # after merging, which drops display names
            _first_of_each([*columns.values()][1:]),
            panels.organized(columns),
        ],
        options=panels.sorted_by("Host", desc=False),
        field_config=dashboard.FieldConfigSource(
            dashboard.FieldConfig(
                decimals=1, no_value="", links=_to_areas(), custom=common.TableFieldOptions(filterable=True)
            ),
            overrides,
        ),
    )


def _one_answer(refs: Sequence[str]) -> Iterator[dashboard.DataTransformerConfig]:
    """Yield a transformation that joins the answers of a signal's variants, which would be separate columns."""
    if len(refs) > 1:
        made = dashboard.DataTransformerConfig("joinByField", options={"byField": "Time", "mode": "outer"})
        made.filter_val = dashboard.MatcherConfig("byRefId", f"/^(?:{'|'.join(refs)})$/")
        yield made


def _named(refs: Sequence[str], heading: str) -> dashboard.DataTransformerConfig:
    """Return a transformation that renames the column of a signal, which Grafana names by its refIds."""
    one = f"(?:{'|'.join(refs)})"
    options = {"regex": f"/^Trend #(?:joinByField-)?{one}(?:-{one})*$/", "renamePattern": heading}
    return dashboard.DataTransformerConfig("renameByRegex", options=options)


def _first_of_each(headings: Sequence[str]) -> dashboard.DataTransformerConfig:
    """Return a transformation to one row per host, with the first value of each signal."""
    fields: dict[str, object] = {"host": {"operation": "groupby", "aggregations": []}}
    fields |= {heading: {"operation": "aggregate", "aggregations": [_FIRST]} for heading in headings}
    return dashboard.DataTransformerConfig("groupBy", options={"fields": fields})


def _heading(signal: str, unit: Unit, limits: Limits) -> str:
    """Return the heading of a column: the signal, its unit in the column, and its limits."""
    described = load_signals()[signal]
    spec = PanelSpec(id=1, signal=signal)
    name = described.title if described.unit == "ratio" else f"{described.title}, {unit.column or described.unit}"
    kept = title(spec, limits).partition(" · ")[2]
    return f"{name} · {kept}" if kept else name


def _trend(signal: str, unit: Unit, limits: Limits) -> Mapping[str, object]:
    spec = PanelSpec(id=1, signal=signal)
    return {
        "thresholds": thresholds.colored(limits.rules_of(spec), unit.scale),
        "color": {"mode": "thresholds"},
        "custom.cellOptions": {"type": "sparkline", "lineWidth": 1, "fillOpacity": 0, "hideValue": False},
    }


def _shares(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield, for each variant of the signal, a query for the share of the limit reached, and an alias.

    The share in percent is value / limit for a ceiling, and limit / value for a floor.
    """
    limit = number(rule.healthy.limit) + (f" * ${rule.scale}" if rule.scale else "")
    value = f"100 * {limit} / ({{}} + {_TINY})" if rule.healthy.worse == "lower" else f"100 * {{}} / ({limit})"
    for variant, query in targets.of_hosts(rule.signal, lambda selection: selection.group):
        instance = next((one.instance for one in variant.selections if one.instance), None)
        name = _name(rule) + (f" · $tag_{instance}" if instance else "")
        yield targets.computed(query, value), f"{name}{_SEPARATOR}$tag_host"


def _rules(limits: Limits) -> Iterator[Rule]:
    """Yield the rules whose distance is shown, except those that the site switches off or gives the limit 0.

    Raises ValueError if areas.yaml names a rule without a share, such as one with the limit 0 or on an increase.
    """
    known = {rule.id: rule for pack in load_packs() for rule in pack.rules}
    for name in load_areas().health.limits:
        rule = known[name]
        if not rule.healthy.limit or rule.reduce == "increase" or rule.and_ or rule.drive:
            raise ValueError(f"areas.yaml: the distance to {name} is not a share of its limit")
        held = limits.site.held(rule, "")
        if (
            not held.off
            and not held.unknown
            and held.rule.healthy.limit > 0
            and (held.rule.scale is None or held.rule.scale in DEFAULTS)
        ):
            yield held.rule


def _name(rule: Rule) -> str:
    mark = load_look().severities[rule.severity].mark
    limit = limit_text(rule.healthy, load_signals()[rule.signal].unit, rule.scale)
    return f"{mark} {load_signals()[rule.signal].title} {limit}"


def _states() -> list[dashboard.ValueMapping]:
    """Return mappings from shares to words. Mappings apply to all columns, so those of `State` are offset by _STATE."""
    look = load_look().severities

    def between(start: float, end: float | None, words: str, color: str) -> dashboard.RangeMap:
        result = dashboard.ValueMappingResult(text=words, color=color)
        to = None if end is None else _STATE + end
        return dashboard.RangeMap(dashboard.DashboardRangeMapOptions(_STATE + start, to, result))

    return [
        between(100, None, f"{look['critical'].mark} crossed", look["critical"].color),
        between(_NEAR, 100, f"{look['warning'].mark} near", look["warning"].color),
        between(0, _NEAR, "within", "text"),
    ]


def _to_areas() -> list[dashboard.DashboardLink]:
    """Return links to each dashboard, for the host of a row."""
    host = "var-host=${__data.fields.host}&${__url_time_range}"
    return [describe.link(area.title, f"/d/{area.uid}?{host}") for area in load_areas().areas]


def _calculated(name: str, left: str, operator: str, right: str) -> dashboard.DataTransformerConfig:
    binary = {"left": left, "operator": operator, "right": right}
    options = {"mode": "binary", "alias": name, "binary": binary, "replaceFields": False}
    return dashboard.DataTransformerConfig("calculateField", options=options)
