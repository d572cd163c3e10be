"""The variables at the top of a dashboard: the data source, hosts, instances, and numbers that multiply limits."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from plimsoll.dashboards.areas import PanelSpec
from plimsoll.dashboards.limits import PanelLimits, list_scaled
from plimsoll.export.grafana.dashboards.panel_queries import DISK_VARIABLE
from plimsoll.export.grafana.dashboards.parts import DATASOURCE, Json, build_part
from plimsoll.export.grafana.influxql import HOST_VARIABLE, INSTANCE_VARIABLE
from plimsoll.export.selections import Selection, list_drawn_variants
from plimsoll.hosts.facts import DEFAULTS
from plimsoll.rules.load import load_signals
from plimsoll.rules.schema.field_types import Fact
from plimsoll.store.quoting import quote_identifier

_NUMBERS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64)
NOT_SYSTEM = "([^:]*|.*[^Cc]:)"
_NO_TOTALS = "/^(?!.*_Total$)(?!cpu-total$)(?!all$).+/"


def list_influx_variables(panels: Sequence[PanelSpec], limits: PanelLimits) -> list[Json]:
    """Return the variables for the hosts, instances, disks and numbers of panels, with values from InfluxDB."""
    hosts = build_hosts_variable(spec.signal for spec in panels if not spec.drive)
    if any(spec.drive for spec in panels):
        # Other hosts have disks too, so "All" must be the list of these disks.
        del hosts["allValue"]
    return list_panel_variables(panels, limits, hosts, _build_instances_variable)


def list_panel_variables(
    panels: Sequence[PanelSpec],
    limits: PanelLimits,
    hosts: Json,
    instances_variable: Callable[[str, str, Sequence[Selection]], Json],
) -> list[Json]:
    """Return the variables of panels: `hosts`, then instances, disks, and the numbers that multiply limits.

    `instances_variable` makes the variable for a name, a label, and the selections from which it lists instances.
    """
    variables = [hosts]
    if instances := list_selections((spec.signal for spec in panels if not spec.drive), with_instance=True):
        # Not in URLs: other dashboards have other instances, which would all be filtered out.
        variables.append(instances_variable(INSTANCE_VARIABLE, "Instance", instances) | {"skipUrlSync": True})
    for spec in panels:
        if spec.drive:
            disks = list_selections([spec.signal], with_instance=True)
            name, label = DISK_VARIABLE.format(spec.drive), f"{spec.drive.capitalize()} disk"
            variables.append(instances_variable(name, label, disks) | {"allValue": NOT_SYSTEM})
    facts: set[Fact] = {limit.fact for spec in panels for limit in list_scaled(limits.rules_of(spec))}
    return [*variables, *map(number_variable, sorted(facts))]


def build_source_variable(**fields: Any) -> Json:
    """Return the variable by which the reader chooses the data source, by default Plimsoll's."""
    return build_part("variable", "datasource_variable", **fields)


def build_hosts_variable(signals: Iterable[str]) -> Json:
    """Return the variable that lists the hosts with samples of these signals in the time range.

    The choice "All" shows every host, even hosts that are not listed.
    """
    selections = list_selections(signals)
    return _build_tags_variable(HOST_VARIABLE, "Host", selections, {selection.host for selection in selections})


def number_variable(fact: Fact) -> Json:
    """Return the variable by which the reader chooses a fact that multiplies limits, such as the number of spindles."""
    default = f"{DEFAULTS[fact]:g}"
    texts = [str(number) for number in _NUMBERS]
    return build_part(
        "variable",
        type="custom",
        name=fact,
        label=fact.capitalize(),
        description=f"The limits that are for each of the {fact} are drawn for so many",
        query=",".join(texts),
        current={"selected": True, "text": default, "value": default},
        options=[{"selected": text == default, "text": text, "value": text} for text in texts],
    )


def query_variable(name: str, label: str, query: str, **options: Any) -> Json:
    """Return a variable whose values are queried again whenever the time range changes."""
    fields = {"name": name, "label": label, "query": query, "definition": query, "datasource": DATASOURCE}
    return build_part("variable", "query_variable", **fields, **options)


def list_selections(signals: Iterable[str], *, with_instance: bool = False) -> list[Selection]:
    """Return the selections that panels of signals draw; if `with_instance`, only selections with an instance tag."""
    variants = (variant for signal in signals for variant in list_drawn_variants(signal, load_signals()))
    selections = (selection for variant in variants for selection in variant.selections)
    return [selection for selection in selections if selection.instance or not with_instance]


def _build_instances_variable(name: str, label: str, selections: Sequence[Selection]) -> Json:
    hosts = sorted({selection.host for selection in selections})
    either = " OR ".join(f"{quote_identifier(tag)} =~ /^${HOST_VARIABLE}$/" for tag in hosts)
    tags = {selection.instance for selection in selections if selection.instance}
    condition = f"({either})" if len(hosts) > 1 else either
    return _build_tags_variable(name, label, selections, tags, condition) | {"regex": _NO_TOTALS}


def _build_tags_variable(
    name: str, label: str, selections: Sequence[Selection], tags: Iterable[str], condition: str = ""
) -> Json:
    sources = ", ".join(map(quote_identifier, sorted({selection.measurement for selection in selections})))
    keys = ", ".join(quote_identifier(tag) for tag in sorted(tags))
    where = f"$timeFilter AND {condition}" if condition else "$timeFilter"
    query = f"SHOW TAG VALUES FROM {sources} WITH KEY IN ({keys}) WHERE {where}"
    return query_variable(name, label, query, **build_part("choice"))
