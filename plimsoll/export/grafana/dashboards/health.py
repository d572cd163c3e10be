"""The Health dashboard: what was crossed, firing alerts, the distance to the limits, every host, and silent hosts."""

from collections.abc import Iterator

from plimsoll.dashboards.areas import WIDTH, load_areas
from plimsoll.dashboards.limits import Limits
from plimsoll.export.grafana.dashboards import distance_to_limits, hosts_table, panels, summary, targets, variables
from plimsoll.export.grafana.influxql import chosen
from plimsoll.export.grafana.sdk import common, dashboard
from plimsoll.export.selections import variants
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.field_types import Fact
from plimsoll.store.influx.quoting import identifier

AREA = "health"
SILENT = 3  # the id of the panel with each host's last sample
_DISTANCE = 2
_HOSTS = 4


def health_variables(limits: Limits) -> list[dashboard.VariableModel]:
    """Return the variables: the data source, the hosts, and the numbers that the limits shown scale with."""
    rules = [rule for row in distance_to_limits.rows(limits) for rule in row]
    signals = dict.fromkeys([*load_areas().health.hosts, *(rule.signal for rule in rules)])
    facts: set[Fact] = {rule.scale for rule in rules if rule.scale and rule.scale in DEFAULTS}
    return [variables.source(), variables.hosts(signals), *map(variables.number, sorted(facts))]


def health_panels(limits: Limits) -> list[dashboard.Panel | dashboard.RowPanel]:
    """Return the panels, from what was crossed to the last sample of each host."""
    return [
        *summary.panels_of(_DISTANCE, dashboard.GridPos(3, WIDTH, 0, 0)),
        distance_to_limits.panel(limits, _DISTANCE, dashboard.GridPos(13, 16, 0, 3)),
        *_alerts(),
        hosts_table.values(limits, _HOSTS, dashboard.GridPos(10, 13, 0, 16)),
        hosts_table.courses(limits, 6, _HOSTS, dashboard.GridPos(10, 11, 13, 16)),
        _silent(),
    ]


def _alerts() -> Iterator[dashboard.Panel]:
    """Yield the list of warnings and critical alerts, and the list of notes."""
    yield _firing(
        1,
        "Firing",
        "Limits that are crossed and stay crossed, and hosts that fell silent. A rule leads to its page.",
        '{severity!="info"}',
        dashboard.GridPos(13, 8, 16, 3),
    )
    yield _firing(
        5,
        "Notes",
        "Beyond what the documents measured, which by itself is no trouble.",
        '{severity="info"}',
        dashboard.GridPos(6, 12, 0, 26),
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
        grid_pos=dashboard.GridPos(6, 12, 12, 26),
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
