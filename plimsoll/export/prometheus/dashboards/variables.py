"""The variables at the top of a dashboard for a Prometheus data source. Those of numbers are the same as elsewhere."""

from collections.abc import Iterable, Sequence

from plimsoll.dashboards.areas import PanelSpec
from plimsoll.dashboards.limits import Limits, scaled
from plimsoll.export.grafana.dashboards import variables
from plimsoll.export.grafana.dashboards.targets import DISK_VARIABLE
from plimsoll.export.grafana.influxql import HOST_VARIABLE, INSTANCE_VARIABLE
from plimsoll.export.grafana.sdk import common, dashboard
from plimsoll.export.prometheus.dashboards.queries import HOST, INSTANCE
from plimsoll.export.prometheus.selectors import text
from plimsoll.export.selections import Selection, drawn
from plimsoll.rules.exporters.telegraf_names import plain_name
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.field_types import Fact
from plimsoll.store.influx.quoting import literal

TYPE = "prometheus"
DATASOURCE = common.DataSourceRef(TYPE, "${datasource}")
# Totals are no instances, as in `rules.subjects.is_total`.
_NO_TOTALS = f'/{INSTANCE}="(?!cpu-total"|all"|(?:.*[,/])?_Total")([^"]+)"/'


def of_panels(panels: Sequence[PanelSpec], limits: Limits) -> list[dashboard.VariableModel]:
    """Return the variables of a dashboard with these panels."""
    source = variables.source()
    source.query, source.current = TYPE, None
    plain = [spec for spec in panels if not spec.drive]
    found = [source, _hosts(_selections(spec.signal for spec in panels))]
    each = [one for one in _selections(spec.signal for spec in plain) if one.instance]
    if each:
        made = _instances(INSTANCE_VARIABLE, "Instance", each)
        # Not in URLs: the next dashboard has other instances, and all of them would be filtered out.
        made.skip_url_sync = True
        found.append(made)
    for spec in panels:
        if spec.drive:
            disks = [one for one in _selections([spec.signal]) if one.instance]
            made = _instances(DISK_VARIABLE.format(spec.drive), f"{spec.drive.capitalize()} disk", disks)
            made.all_value = variables.NOT_SYSTEM
            found.append(made)
    facts: set[Fact] = {one.fact for spec in panels for one in scaled(limits.rules_of(spec))}
    return [*found, *(variables.number(fact) for fact in sorted(facts))]


def _hosts(selections: Iterable[Selection]) -> dashboard.VariableModel:
    return _query(HOST_VARIABLE, "Host", f"label_values({{{_named(selections)}}}, {HOST})")


def _instances(name: str, label: str, selections: Sequence[Selection]) -> dashboard.VariableModel:
    """Return the variable of the instances at the end of the range, whatever label has them."""
    asked: list[str] = []
    for tag in dict.fromkeys(one.instance for one in selections if one.instance):
        having = [one for one in selections if one.instance == tag]
        found = f'group by ({tag}) ({{{_named(having)}, {HOST}=~"${HOST_VARIABLE}", {tag}!=""}})'
        asked.append(found if tag == INSTANCE else f'label_replace({found}, "{INSTANCE}", "$1", "{tag}", "(.+)")')
    made = _query(name, label, f"query_result(group by ({INSTANCE}) ({' or '.join(asked)}))")
    made.regex = _NO_TOTALS
    return made


def _query(name: str, label: str, promql: str) -> dashboard.VariableModel:
    return variables.query(
        name,
        label,
        promql,
        datasource=DATASOURCE,
        multi=True,
        include_all=True,
        all_value=".*",
        current=dashboard.VariableOption(True, ["All"], [variables.ALL]),
    )


def _named(selections: Iterable[Selection]) -> str:
    """The matcher for the metrics of some measurements: a name begins with that of its measurement."""
    names = {name for one in selections for name in (one.measurement, plain_name(one.measurement))}
    return f"__name__=~{text('(' + '|'.join(map(literal, sorted(names))) + ')_.+')}"


def _selections(signals: Iterable[str]) -> list[Selection]:
    return [one for signal in signals for way in drawn(signal, load_signals()) for one in way.selections]
