"""Models of Grafana's provisioning file for alerting, and how it is written as YAML.

Aliases are the names in the file. Grafana ignores unknown keys; these models reject them. Durations are in Grafana's
format (`1m30s`), ranges are in seconds.
"""

from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

EXPRESSION = "__expr__"
LONGEST_NAME = 190  # bytes: the columns of Grafana's database for a rule's title and a group's name

Evaluation = Literal["gt", "lt", "eq", "ne", "gte", "lte"]
RangeEvaluation = Literal["within_range", "outside_range", "within_range_included", "outside_range_included"]
Reducer = Literal["sum", "mean", "min", "max", "count", "last", "median"]


class Part(BaseModel):
    """Base of all models; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class DataSource(Part):
    """The data source of a query."""

    type: str
    uid: str


class InfluxModel(Part):
    """An InfluxQL query."""

    ref_id: str = Field(alias="refId")
    datasource: DataSource
    raw_query: Literal[True] = Field(alias="rawQuery")
    result_format: Literal["time_series", "table", "logs"] = Field(alias="resultFormat")
    query: str
    alias: str | None = None
    interval_ms: int | None = Field(default=None, alias="intervalMs")
    max_data_points: int | None = Field(default=None, alias="maxDataPoints")


class MathModel(Part):
    """An expression over other refIds."""

    ref_id: str = Field(alias="refId")
    datasource: DataSource
    type: Literal["math"]
    expression: str


class ReduceSettings(Part):
    """How null and NaN are treated."""

    mode: Literal["", "dropNN", "replaceNN"] = ""
    replace_with_value: float | None = Field(default=None, alias="replaceWithValue")


class ReduceModel(Part):
    """Reduces each series to one number."""

    ref_id: str = Field(alias="refId")
    datasource: DataSource
    type: Literal["reduce"]
    expression: str
    reducer: Reducer
    settings: ReduceSettings | None = None


class Evaluator(Part):
    """A comparison with one number, or with two for a range."""

    type: Evaluation | RangeEvaluation
    params: list[float]


class ThresholdCondition(Part):
    """A condition that, once true, stays true until `unloadEvaluator` is true."""

    evaluator: Evaluator
    unload_evaluator: Evaluator | None = Field(default=None, alias="unloadEvaluator")


class ThresholdModel(Part):
    """Gives 1 where the condition is true, else 0."""

    ref_id: str = Field(alias="refId")
    datasource: DataSource
    type: Literal["threshold"]
    expression: str
    conditions: list[ThresholdCondition] = Field(min_length=1, max_length=1)


def _kind(model: Any) -> str:
    kind = model.get("type") if isinstance(model, dict) else getattr(model, "type", None)
    return "influxql" if kind is None else str(kind)


Model = Annotated[
    Annotated[InfluxModel, Tag("influxql")]
    | Annotated[MathModel, Tag("math")]
    | Annotated[ReduceModel, Tag("reduce")]
    | Annotated[ThresholdModel, Tag("threshold")],
    Discriminator(_kind),
]


class TimeRange(Part):
    """Seconds before the evaluation."""

    from_: int = Field(alias="from")
    to: int


class Query(Part):
    """A query or an expression."""

    ref_id: str = Field(alias="refId")
    query_type: str | None = Field(default=None, alias="queryType")
    relative_time_range: TimeRange | None = Field(default=None, alias="relativeTimeRange")
    datasource_uid: str = Field(alias="datasourceUid")
    model: Model


class NotificationSettings(Part):
    """Where the notifications of one rule go, instead of through the policies."""

    receiver: str
    group_by: list[str] | None = None
    group_wait: str | None = None
    group_interval: str | None = None
    repeat_interval: str | None = None
    mute_time_intervals: list[str] | None = None
    active_time_intervals: list[str] | None = None


class AlertRule(Part):
    """One alert rule; `condition` is the refId whose value decides whether it fires."""

    uid: str
    title: str
    condition: str
    data: list[Query] = Field(min_length=1)
    dashboard_uid: str | None = Field(default=None, alias="dashboardUid")
    panel_id: int | None = Field(default=None, alias="panelId")
    no_data_state: Literal["Alerting", "NoData", "OK", "KeepLast"] = Field(alias="noDataState")
    exec_err_state: Literal["Alerting", "Error", "OK", "KeepLast"] = Field(alias="execErrState")
    for_: str = Field(alias="for")
    keep_firing_for: str | None = Field(default=None, alias="keepFiringFor")
    missing_series_evals_to_resolve: int | None = None
    annotations: dict[str, str] = {}
    labels: dict[str, str] = {}
    is_paused: bool | None = Field(default=None, alias="isPaused")
    notification_settings: NotificationSettings | None = None


class Group(Part):
    """Rules that are evaluated together."""

    org_id: int = Field(alias="orgId")
    name: str
    folder: str
    interval: str
    rules: list[AlertRule] = Field(min_length=1)


class Deleted(Part):
    """A rule or contact point that Grafana deletes."""

    org_id: int = Field(alias="orgId")
    uid: str


class DeletedByName(Part):
    """A mute time or template that Grafana deletes."""

    org_id: int = Field(alias="orgId")
    name: str


class Receiver(Part):
    """One channel of a contact point, such as e-mail."""

    uid: str
    type: str
    settings: dict[str, Any]
    disable_resolve_message: bool | None = Field(default=None, alias="disableResolveMessage")


class ContactPoint(Part):
    """A contact point: a name and its receivers."""

    org_id: int = Field(alias="orgId")
    name: str
    receivers: list[Receiver] = Field(min_length=1)


class Route(Part):
    """A notification policy: which notifications go to which contact point, and how often."""

    receiver: str | None = None
    object_matchers: list[tuple[str, Literal["=", "!=", "=~", "!~"], str]] | None = None
    group_by: list[str] | None = None
    group_wait: str | None = None
    group_interval: str | None = None
    repeat_interval: str | None = None
    continue_: bool | None = Field(default=None, alias="continue")
    mute_time_intervals: list[str] | None = None
    active_time_intervals: list[str] | None = None
    routes: "list[Route] | None" = None


class _OfOrg(Part):
    org_id: int = Field(alias="orgId")


class Policy(Route, _OfOrg):
    """The root of the tree of policies."""


class Named(Part):
    """A mute time, whose intervals are not checked."""

    org_id: int = Field(alias="orgId")
    name: str
    time_intervals: list[dict[str, Any]] = []


class Template(Part):
    """A notification template."""

    org_id: int = Field(alias="orgId")
    name: str
    template: str


class AlertingFile(Part):
    """The file as a whole."""

    api_version: Literal[1] = Field(alias="apiVersion")
    groups: list[Group] = []
    delete_rules: list[Deleted] = Field(default=[], alias="deleteRules")
    contact_points: list[ContactPoint] = Field(default=[], alias="contactPoints")
    delete_contact_points: list[Deleted] = Field(default=[], alias="deleteContactPoints")
    policies: list[Policy] = []
    reset_policies: list[int] = Field(default=[], alias="resetPolicies")
    mute_times: list[Named] = Field(default=[], alias="muteTimes")
    delete_mute_times: list[DeletedByName] = Field(default=[], alias="deleteMuteTimes")
    templates: list[Template] = []
    delete_templates: list[DeletedByName] = Field(default=[], alias="deleteTemplates")


def written(content: AlertingFile, provenance: str) -> str:
    """Return the file as text, with the provenance as a comment at the top."""
    data = content.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
    head = "".join(f"# {line}\n" for line in provenance.splitlines())
    return head + yaml.dump(
        {"apiVersion": 1, **data}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_NO_LINE_BREAKS
    )


def expanded(text: str) -> str:
    """Escape text for a field in which Grafana expands environment variables: `MSSQL$X` becomes `MSSQL$$X`."""
    return text.replace("$", "$$")


def plain(text: str) -> str:
    """Escape `{{` in text for an annotation, which Grafana executes as a template."""
    return text.replace("{{", '{{ "{{" }}')


_NO_LINE_BREAKS = 1_000_000
# Mappings with exactly these keys are written on one line.
_ON_ONE_LINE = (
    {"from", "to"},
    {"type", "uid"},
    {"mode"},
    {"type", "params"},
    {"orgId", "uid"},
)


class _Dumper(yaml.CSafeDumper):
    """Writes what a person takes in at a glance on one line."""


def _mapping(dumper: yaml.CSafeDumper, data: dict[str, Any]) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=set(data) in _ON_ONE_LINE or None)


def _sequence(dumper: yaml.CSafeDumper, data: list[Any]) -> yaml.Node:
    plain = all(isinstance(one, str | int | float) for one in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=plain)


def _number(dumper: yaml.CSafeDumper, value: float) -> yaml.Node:
    """Write a whole number without `.0`."""
    text = str(int(value)) if value == int(value) else f"{value:.15g}"
    return dumper.represent_scalar("tag:yaml.org,2002:int" if value == int(value) else "tag:yaml.org,2002:float", text)


_Dumper.add_representer(dict, _mapping)
_Dumper.add_representer(list, _sequence)
_Dumper.add_representer(tuple, lambda dumper, data: _sequence(dumper, list(data)))
_Dumper.add_representer(float, _number)
