"""Operations on what is watched now: the health of the whole, hosts, the limits that are judged, signals."""

from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from importlib.metadata import version
from math import isfinite
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from plimsoll.alerting.health import Health, HealthAnswer, HostHealth, HostState
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.model.series import HostKey, host_key
from plimsoll.model.times import iso
from plimsoll.notify.alerts_document import Instant
from plimsoll.pages.http_api.operation import Operation
from plimsoll.pages.http_api.parameters import ApiFault, Page, PageQuery, WatchedDependency
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.wording import SEVERITIES, limit_text

LimitState = Literal["ok", "pending", "firing", "no_data", "not_judged"]
_STATES: Sequence[LimitState] = ("ok", "pending", "firing", "no_data", "not_judged")
router = APIRouter(route_class=Operation)


class HealthPart(BaseModel):
    """Whether all hosts are well."""

    schema_: Literal["plimsoll.api/1"] = Field(default="plimsoll.api/1", alias="schema")
    version: str = Field(description="Of Plimsoll.")
    answer: HealthAnswer
    reason: str
    basis: str = Field(description="What the answer rests on.")
    hosts: Mapping[HostState, int] = Field(description="Hosts by state.")
    firing: Mapping[Severity, int] = Field(description="Alerts that fire, by severity.")
    problems: Sequence[str] = Field(description="What somebody has to mend in Plimsoll itself, or in its files.")
    evaluated: str | None = Field(description="The time of the last evaluation; null: there was none yet.")
    values_a_minute: int = Field(description="Values written in the last minute.")
    store: str
    store_bytes: int | None


class ApiHost(BaseModel):
    """A host that sends, or is expected to."""

    name: str
    state: HostState
    note: str = Field(description="A few words on the state.")
    newest: Instant | None = Field(description="The time of its newest sample.")
    firing: int = Field(description="Warnings and critical alerts that fire for it.")


class ApiLimit(BaseModel):
    """A limit that is judged for a host now."""

    rule: str
    severity: Severity
    signal: str
    title: str = Field(description="The title of the signal.")
    host: str
    instance: str | None
    healthy: str = Field(description='The limit as operator and number, such as "< 80".')
    limit: str = Field(description="The limit for people.")
    unit: str
    value: float | None = Field(description="What was judged last; null: no data.")
    state: LimitState
    since: str | None = Field(description="From when it is crossed, if it is pending or firing.")
    note: str = Field(description="What plimsoll.toml changes.")


class ApiSignal(BaseModel):
    """A quantity that rules judge and charts show."""

    name: str
    title: str
    unit: str
    meaning: str
    worse: Literal["higher", "lower", "either"] = Field(description="The direction in which values become bad.")
    each_instance: bool = Field(description="Whether each disk, processor, ... has its own.")


class HostsQuery(PageQuery):
    """Which hosts."""

    text: str = Field(default="", max_length=300, description="Only those whose names have this text.")
    state: HostState | None = Field(default=None, description="Only those in this state.")


class LimitsQuery(PageQuery):
    """Which limits."""

    host: str = Field(default="", max_length=300, description="Only those of this host.")
    state: LimitState | None = Field(default=None, description="Only those in this state.")
    severity: Severity | None = Field(default=None, description="Only those of this severity.")


class SignalsQuery(PageQuery):
    """Which signals."""

    text: str = Field(default="", max_length=300, description="Only those whose names or titles have this text.")


@router.get("/health", operation_id="health")
def show_health(watched: WatchedDependency) -> HealthPart:
    """Whether all hosts are well."""
    health = watched.health()
    states, firing = Counter(host.state for host in health.hosts), Counter(alert.severity for alert in health.alerts)
    firing["info"] = health.info
    return HealthPart(
        version=version("plimsoll"),
        answer=health.answer,
        reason=health.reason,
        basis=health.basis,
        hosts={state: states[state] for state in HostState},
        firing={severity: firing[severity] for severity in SEVERITIES},
        problems=[*health.problems, *health.warnings],
        evaluated=None if health.evaluated is None else iso(health.evaluated),
        values_a_minute=health.points_a_minute,
        store=health.store,
        store_bytes=health.store_bytes,
    )


@router.get("/hosts", operation_id="hosts")
def list_hosts(query: Annotated[HostsQuery, Query()], watched: WatchedDependency) -> Page[ApiHost]:
    """Hosts, by name."""
    health, text = watched.health(), query.text.casefold()
    firing = _count_firing(health)
    hosts = [host for host in health.hosts if text in host.name.casefold() and query.state in (None, host.state)]
    hosts.sort(key=lambda host: host_key(host.name))
    return Page[ApiHost].of(hosts, query, lambda host: _host_part(host, firing))


@router.get("/hosts/{host:path}", operation_id="host")
def show_host(
    host: Annotated[str, Path(description="The name of the host; case does not matter.")], watched: WatchedDependency
) -> ApiHost:
    """One host."""
    health, name = watched.health(), host_key(host)
    for host_health in health.hosts:
        if host_key(host_health.name) == name:
            return _host_part(host_health, _count_firing(health))
    raise ApiFault(HTTPStatus.NOT_FOUND, f"no host {name[:200]} is known", "host", "GET /api/v1/hosts lists them")


@router.get("/limits", operation_id="limits")
def list_limits(query: Annotated[LimitsQuery, Query()], watched: WatchedDependency) -> Page[ApiLimit]:
    """Limits that are judged now, with values and states."""
    states = [
        rule
        for rule in watched.judged()
        if (not query.host or rule.subject.key[0] == host_key(query.host))
        and query.severity in (None, rule.rule.severity)
        and query.state in (None, rule.state.name.lower())
    ]
    states.sort(key=lambda rule: (rule.subject.key[0], rule.rule.id, rule.subject.key[1] or ""))
    return Page[ApiLimit].of(states, query, lambda rule: _limit_part(rule, watched.site.catalogue.signals))


@router.get("/signals", operation_id="signals")
def list_signals(query: Annotated[SignalsQuery, Query()], watched: WatchedDependency) -> Page[ApiSignal]:
    """Signals, by name."""
    text, catalogue = query.text.casefold(), watched.site.catalogue
    names = sorted(name for name, signal in catalogue.signals.items() if text in f"{name} {signal.title}".casefold())
    return Page[ApiSignal].of(names, query, lambda name: _signal_part(name, catalogue.signals[name]))


def _count_firing(health: Health) -> Mapping[HostKey, int]:
    return Counter(host_key(alert.host) for alert in health.alerts)


def _host_part(host: HostHealth, firing: Mapping[HostKey, int]) -> ApiHost:
    newest = None if host.newest is None else iso(host.newest)
    return ApiHost(name=host.name, state=host.state, note=host.note, newest=newest, firing=firing[host_key(host.name)])


def _limit_part(state: RuleState, signals: Mapping[str, Signal]) -> ApiLimit:
    rule, signal = state.rule, signals[state.rule.signal]
    return ApiLimit(
        rule=rule.id,
        severity=rule.severity,
        signal=rule.signal,
        title=signal.title,
        host=state.subject.host,
        instance=state.subject.instance,
        healthy=str(state.healthy),
        limit=limit_text(state.healthy, signal.unit),
        unit=signal.unit,
        value=state.value if isfinite(state.value) else None,
        state=_STATES[state.state],
        since=None if state.since is None else iso(state.since),
        note=state.note,
    )


def _signal_part(name: str, signal: Signal) -> ApiSignal:
    return ApiSignal(
        name=name,
        title=signal.title,
        unit=signal.unit,
        meaning=signal.meaning,
        worse=signal.worse,
        each_instance=signal.instances == "each",
    )
