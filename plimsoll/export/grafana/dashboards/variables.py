"""The variables at the top of a dashboard: the data source, hosts, instances, and numbers that limits scale with."""

from collections.abc import Iterable, Sequence

from plimsoll.dashboards.areas import PanelSpec
from plimsoll.dashboards.limits import Limits, scaled
from plimsoll.export.grafana.dashboards.targets import DATASOURCE, DISK_VARIABLE
from plimsoll.export.grafana.influxql import HOST_VARIABLE, INSTANCE_VARIABLE
from plimsoll.export.grafana.look import DATASOURCE_UID
from plimsoll.export.grafana.sdk import dashboard
from plimsoll.export.selections import Selection, drawn
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.field_types import Fact
from plimsoll.store.influx.quoting import identifier

ALL = "$__all"
_CHOICES = (1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64)
NOT_SYSTEM = "([^:]*|.*[^Cc]:)"
_NO_TOTALS = "/^(?!.*_Total$)(?!cpu-total$)(?!all$).+/"


def of_panels(panels: Sequence[PanelSpec], limits: Limits) -> list[dashboard.VariableModel]:
    """Return the variables of a dashboard with these panels."""
    return [source(), *choices(panels, limits)]


def choices(panels: Sequence[PanelSpec], limits: Limits) -> list[dashboard.VariableModel]:
    """Return the variables for hosts, instances, disks and numbers that these panels use."""
    marked = [spec for spec in panels if spec.drive]
    found = [hosts([spec.signal for spec in panels if not spec.drive])]
    if marked:
        # Other hosts have disks too, so "All" is written as a list of these.
        found[0].all_value = None
    if any(one.instance for spec in panels if not spec.drive for one in _selections([spec.signal])):
        found.append(_instances(panels))
    found += [_disks(spec) for spec in marked]
    facts: set[Fact] = {one.fact for spec in panels for one in scaled(limits.rules_of(spec))}
    return [*found, *(number(fact) for fact in sorted(facts))]


def source() -> dashboard.VariableModel:
    """Return the variable of the data source, by default Plimsoll's."""
    return dashboard.VariableModel(
        dashboard.VariableType.DATASOURCE,
        "datasource",
        "Data source",
        query="influxdb",
        current=dashboard.VariableOption(True, "Plimsoll", DATASOURCE_UID),
        options=[],
        refresh=dashboard.VariableRefresh.ON_DASHBOARD_LOAD,
    )


def hosts(signals: Iterable[str]) -> dashboard.VariableModel:
    """Return the variable of the hosts that have any of these signals in the range. "All" does not restrict them."""
    tags = {one.host for one in _selections(signals)}
    return _of_tags(HOST_VARIABLE, "Host", _measurements(_selections(signals)), tags)


def number(fact: Fact) -> dashboard.VariableModel:
    """Return the variable of a number that limits are multiplied by. Its default is what the documents assume."""
    default = f"{DEFAULTS[fact]:g}"
    options = [dashboard.VariableOption(str(one) == default, str(one), str(one)) for one in _CHOICES]
    return dashboard.VariableModel(
        dashboard.VariableType.CUSTOM,
        fact,
        fact.capitalize(),
        description=f"The limits that are for each of the {fact} are drawn for so many",
        query=",".join(map(str, _CHOICES)),
        current=dashboard.VariableOption(True, default, default),
        options=options,
    )


def query(name: str, label: str, influxql: str, **more: object) -> dashboard.VariableModel:
    """Return a variable whose values are queried from InfluxDB whenever the range changes."""
    made = dashboard.VariableModel(
        dashboard.VariableType.QUERY,
        name,
        label,
        query=influxql,
        definition=influxql,
        datasource=DATASOURCE,
        # With other settings Grafana does not pass the range of the dashboard to the query.
        refresh=dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED,
        sort=dashboard.VariableSort.ALPHABETICAL_CASE_INSENSITIVE_ASC,
    )
    for field, value in more.items():
        setattr(made, field, value)
    return made


def _instances(panels: Sequence[PanelSpec]) -> dashboard.VariableModel:
    selections = [one for one in _selections([spec.signal for spec in panels if not spec.drive]) if one.instance]
    tags = {one.instance for one in selections if one.instance}
    made = _of_tags(INSTANCE_VARIABLE, "Instance", _measurements(selections), tags, _host_of(selections))
    made.regex = _NO_TOTALS
    # Not in URLs: the next dashboard has other instances, and all of them would be filtered out.
    made.skip_url_sync = True
    return made


def _disks(spec: PanelSpec) -> dashboard.VariableModel:
    """Return the variable of the disks that hold such files. "All" are those without the system drive."""
    selections = [one for one in _selections([spec.signal]) if one.instance]
    tags = {one.instance for one in selections if one.instance}
    label = f"{(spec.drive or '').capitalize()} disk"
    name = DISK_VARIABLE.format(spec.drive)
    made = _of_tags(name, label, _measurements(selections), tags, _host_of(selections))
    made.all_value = NOT_SYSTEM
    made.regex = _NO_TOTALS
    return made


def _of_tags(
    name: str, label: str, measurements: Sequence[str], tags: Iterable[str], condition: str = ""
) -> dashboard.VariableModel:
    keys = ", ".join(identifier(tag) for tag in sorted(tags))
    where = f"$timeFilter AND {condition}" if condition else "$timeFilter"
    sources = ", ".join(map(identifier, measurements))
    return query(
        name,
        label,
        f"SHOW TAG VALUES FROM {sources} WITH KEY IN ({keys}) WHERE {where}",
        multi=True,
        include_all=True,
        all_value=".*",
        current=dashboard.VariableOption(True, ["All"], [ALL]),
    )


def _host_of(selections: Sequence[Selection]) -> str:
    tags = sorted({one.host for one in selections})
    either = " OR ".join(f"{identifier(tag)} =~ /^${HOST_VARIABLE}$/" for tag in tags)
    return f"({either})" if len(tags) > 1 else either


def _selections(signals: Iterable[str]) -> list[Selection]:
    return [one for signal in signals for way in drawn(signal, load_signals()) for one in way.selections]


def _measurements(selections: Iterable[Selection]) -> list[str]:
    return sorted({one.measurement for one in selections})
