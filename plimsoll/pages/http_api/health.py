"""Operations on the current state: health, hosts, the limits that are judged, and signals."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field

from plimsoll.alerting.health import Health, HealthAnswer, HostHealth, HostState
from plimsoll.model.json_part import JsonPart, OptionalInstant, add_values, read_attribute
from plimsoll.model.series import make_host_key
from plimsoll.notify.alerts_document import Number
from plimsoll.pages.http_api.operation import ApiFault, Operation, Page, PageQuery, WatchedDependency
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.wording import SEVERITIES, limit_text

LimitState = Literal["ok", "pending", "firing", "no_data", "not_judged"]
_STATES: Sequence[LimitState] = ("ok", "pending", "firing", "no_data", "not_judged")
router = APIRouter(route_class=Operation)


class HealthPart(JsonPart):
    """The health of all hosts."""

    schema_: Literal["plimsoll.api/1"] = Field(default="plimsoll.api/1", alias="schema")
    version: str = read_attribute(lambda _: version("plimsoll"), "Of Plimsoll.")
    answer: HealthAnswer
    reason: str
    basis: str = Field(description="The basis of the answer, in sentences.")
    hosts: Mapping[HostState, int] = read_attribute(
        lambda health: dict.fromkeys(HostState, 0) | Counter(host.state for host in health.hosts), "Hosts by state."
    )
    firing: Mapping[Severity, int] = read_attribute(
        lambda health: (
            dict.fromkeys(SEVERITIES, 0) | Counter(alert.severity for alert in health.alerts) | {"info": health.info}
        ),
        "Alerts that fire, by severity.",
    )
    problems: Sequence[str] = read_attribute(
        lambda health: [*health.problems, *health.warnings],
        "What somebody has to mend in Plimsoll itself, or in its files.",
    )
    evaluated: OptionalInstant = Field(description="The time of the last evaluation; null if there was none yet.")
    values_a_minute: int = read_attribute("points_a_minute", "Values written in the last minute.")
    store: str
    store_bytes: int | None


class ApiHost(JsonPart):
    """A host that sends samples, or is expected to."""

    name: str
    state: HostState
    note: str = Field(description="A note on the state.")
    newest: OptionalInstant = Field(description="The time of the host's newest sample.")
    firing: int = Field(description="The number of its firing alerts of severity warning and critical.")


class ApiLimit(JsonPart):
    """A limit that is judged for a host now."""

    rule: str = read_attribute("rule.id")
    severity: Severity = read_attribute("rule.severity")
    signal: str = read_attribute("rule.signal")
    title: str = read_attribute("of.title", "The title of the signal.")
    host: str = read_attribute("subject.host")
    instance: str | None = read_attribute("subject.instance")
    healthy: str = read_attribute(lambda state: str(state.healthy), 'The limit as operator and number, such as "< 80".')
    limit: str = read_attribute(lambda state: limit_text(state.healthy, state.of.unit), "The limit for people.")
    unit: str = read_attribute("of.unit")
    value: Number = Field(description="The last judged value; null without data.")
    state: LimitState = read_attribute(lambda state: _STATES[state.state])
    since: OptionalInstant = Field(description="The time from which it has been crossed, if it is pending or firing.")
    note: str = Field(description="The changes by plimsoll.toml.")


class ApiSignal(JsonPart):
    """A quantity that rules judge and charts show."""

    name: str
    title: str
    unit: str
    meaning: str
    worse: Literal["higher", "lower", "either"] = Field(description="The direction in which values become unhealthy.")
    each_instance: bool = read_attribute(
        lambda signal: signal.instances == "each", "Whether each disk, processor, ... has its own."
    )


class HostsQuery(PageQuery):
    """The requested hosts, by a part of the name and by state."""

    text: str = Field(default="", max_length=300, description="Only hosts whose names contain this text.")
    state: HostState | None = Field(default=None, description="Only in this state.")


class LimitsQuery(PageQuery):
    """The requested limits, by host, state and severity."""

    host: str = Field(default="", max_length=300, description="Only of this host.")
    state: LimitState | None = Field(default=None, description="Only in this state.")
    severity: Severity | None = Field(default=None, description="Only of this severity.")


class SignalsQuery(PageQuery):
    """The requested signals, by a part of the name or title."""

    text: str = Field(default="", max_length=300, description="Only signals whose names or titles contain this text.")


@router.get("/health", operation_id="health")
def show_health(watched: WatchedDependency) -> HealthPart:
    """Return the health of all hosts."""
    return HealthPart.model_validate(watched.health())


@router.get("/hosts", operation_id="hosts")
def list_hosts(query: Annotated[HostsQuery, Query()], watched: WatchedDependency) -> Page[ApiHost]:
    """List the hosts, by name."""
    health, text = watched.health(), query.text.casefold()
    hosts = [host for host in health.hosts if text in host.name.casefold() and query.state in (None, host.state)]
    hosts.sort(key=lambda host: make_host_key(host.name))
    return Page[ApiHost].of(hosts, query, _make_host_encoder(health))


@router.get("/hosts/{host:path}", operation_id="host")
def show_host(
    host: Annotated[str, Path(description="The name of the host; case does not matter.")], watched: WatchedDependency
) -> ApiHost:
    """Return one host."""
    health, name = watched.health(), make_host_key(host)
    for host_health in health.hosts:
        if make_host_key(host_health.name) == name:
            return _make_host_encoder(health)(host_health)
    raise ApiFault(HTTPStatus.NOT_FOUND, f"no host {name[:200]} is known", "host", "GET /api/v1/hosts lists them")


@router.get("/limits", operation_id="limits")
def list_limits(query: Annotated[LimitsQuery, Query()], watched: WatchedDependency) -> Page[ApiLimit]:
    """List the limits that are judged now, with their values and states."""
    signals = watched.site.catalogue.signals
    states = [
        state
        for state in watched.judged()
        if (not query.host or state.subject.key[0] == make_host_key(query.host))
        and query.severity in (None, state.rule.severity)
        and query.state in (None, state.state.name.lower())
    ]
    states.sort(key=lambda state: (state.subject.key[0], state.rule.id, state.subject.key[1] or ""))
    return Page[ApiLimit].of(
        states, query, lambda state: ApiLimit.model_validate(add_values(state, of=signals[state.rule.signal]))
    )


@router.get("/signals", operation_id="signals")
def list_signals(query: Annotated[SignalsQuery, Query()], watched: WatchedDependency) -> Page[ApiSignal]:
    """List the signals, by name."""
    text, signals = query.text.casefold(), watched.site.catalogue.signals
    names = sorted(name for name, signal in signals.items() if text in f"{name} {signal.title}".casefold())
    return Page[ApiSignal].of(names, query, lambda name: ApiSignal.model_validate(add_values(signals[name], name=name)))


def _make_host_encoder(health: Health) -> Callable[[HostHealth], ApiHost]:
    firing = Counter(make_host_key(alert.host) for alert in health.alerts)
    return lambda host: ApiHost.model_validate(add_values(host, firing=firing[make_host_key(host.name)]))
