"""Operations on what is watched now: the health of the whole, hosts, the limits that are judged, signals."""

from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from importlib.metadata import version
from math import isfinite
from typing import Any, Literal

from pydantic import BaseModel, Field

from plimsoll.alerting.health import Answer, Health, HostHealth, HostState
from plimsoll.alerting.latest_evaluation import RuleState
from plimsoll.model.host_key import HostKey, host_key
from plimsoll.model.times import iso
from plimsoll.pages.http_api.operation import Call, Nothing, Operation, Page, PageQuery, Query, Refused
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.severity import SEVERITIES
from plimsoll.rules.wording import limit_text
from plimsoll.up.watched import Watched

LimitState = Literal["ok", "pending", "firing", "no_data", "not_judged"]


class HealthPart(BaseModel):
    """Whether all hosts are well."""

    schema_: Literal["plimsoll.api/1"] = Field(default="plimsoll.api/1", alias="schema")
    version: str = Field(description="Of Plimsoll.")
    answer: Answer
    reason: str
    basis: str = Field(description="What the answer rests on.")
    hosts: Mapping[HostState, int] = Field(description="Hosts by state.")
    firing: Mapping[Severity, int] = Field(description="Alerts that fire, by severity.")
    problems: Sequence[str] = Field(description="What somebody has to mend in Plimsoll itself.")
    evaluated: str | None = Field(description="The time of the last evaluation; null: there was none yet.")
    values_a_minute: int = Field(description="Values written in the last minute.")
    store: str
    store_bytes: int | None


class HostPart(BaseModel):
    """A host that sends, or is expected to."""

    name: str
    state: HostState
    note: str = Field(description="A few words on the state.")
    newest: str | None = Field(description="The time of its newest sample.")
    firing: int = Field(description="Warnings and critical alerts that fire for it.")


class LimitPart(BaseModel):
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


class SignalPart(BaseModel):
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


def operations(watched: Watched) -> list[Operation[Any, Any]]:
    """The operations."""

    def health(_: Call[Query, Nothing]) -> HealthPart:
        found = watched.health()
        states, firing = Counter(one.state for one in found.hosts), Counter(one.severity for one in found.alerts)
        firing["info"] = found.info
        return HealthPart(
            version=version("plimsoll"),
            answer=found.answer,
            reason=found.reason,
            basis=found.basis,
            hosts={state: states[state] for state in HostState},
            firing={severity: firing[severity] for severity in SEVERITIES},
            problems=found.problems,
            evaluated=None if found.evaluated is None else iso(found.evaluated),
            values_a_minute=found.points_a_minute,
            store=found.store,
            store_bytes=found.store_bytes,
        )

    def hosts(call: Call[HostsQuery, Nothing]) -> Page[HostPart]:
        text, state, found = call.query.text.casefold(), call.query.state, watched.health()
        firing = _firing(found)
        every = [one for one in found.hosts if text in one.name.casefold() and state in (None, one.state)]
        every.sort(key=lambda one: host_key(one.name))
        return Page[HostPart].of(every, call.query, lambda one: _host(one, firing))

    def host(call: Call[Query, Nothing]) -> HostPart:
        found, name = watched.health(), host_key(call.name("host"))
        for one in found.hosts:
            if host_key(one.name) == name:
                return _host(one, _firing(found))
        raise Refused(HTTPStatus.NOT_FOUND, f"no host {name[:200]} is known", "host", "GET /api/v1/hosts lists them")

    def limits(call: Call[LimitsQuery, Nothing]) -> Page[LimitPart]:
        query = call.query
        every = [
            one
            for one in watched.judged()
            if (not query.host or one.subject.key[0] == host_key(query.host))
            and query.severity in (None, one.rule.severity)
            and query.state in (None, one.state.name.lower())
        ]
        every.sort(key=lambda one: (one.subject.key[0], one.rule.id, one.subject.key[1] or ""))
        return Page[LimitPart].of(every, query, lambda one: _limit(one, watched.site.catalogue.signals))

    def signals(call: Call[SignalsQuery, Nothing]) -> Page[SignalPart]:
        text = call.query.text.casefold()
        known = watched.site.catalogue.signals.items()
        every = sorted((name, one) for name, one in known if text in f"{name} {one.title}".casefold())
        return Page[SignalPart].of(every, call.query, lambda one: _signal(*one))

    named = {"host": "The name of the host; case does not matter."}
    return [
        Operation("GET", "/health", "health", "Whether all hosts are well", HealthPart, health, Query, Nothing),
        Operation("GET", "/hosts", "hosts", "Hosts, by name", Page[HostPart], hosts, HostsQuery, Nothing),
        Operation("GET", "/hosts/{host:path}", "host", "One host", HostPart, host, Query, Nothing, path_names=named),
        Operation(
            "GET",
            "/limits",
            "limits",
            "Limits that are judged now, with values and states",
            Page[LimitPart],
            limits,
            LimitsQuery,
            Nothing,
        ),
        Operation("GET", "/signals", "signals", "Signals, by name", Page[SignalPart], signals, SignalsQuery, Nothing),
    ]


def _firing(health: Health) -> Mapping[HostKey, int]:
    return Counter(host_key(one.host) for one in health.alerts)


def _host(one: HostHealth, firing: Mapping[HostKey, int]) -> HostPart:
    newest = None if one.newest is None else iso(one.newest)
    return HostPart(name=one.name, state=one.state, note=one.note, newest=newest, firing=firing[host_key(one.name)])


def _limit(one: RuleState, signals: Mapping[str, Signal]) -> LimitPart:
    signal = signals[one.rule.signal]
    return LimitPart(
        rule=one.rule.id,
        severity=one.rule.severity,
        signal=one.rule.signal,
        title=signal.title,
        host=one.subject.host,
        instance=one.subject.instance,
        healthy=str(one.healthy),
        limit=limit_text(one.healthy, signal.unit),
        unit=signal.unit,
        value=one.value if isfinite(one.value) else None,
        state=_STATES[one.state],
        since=None if one.since is None else iso(one.since),
        note=one.note,
    )


_STATES: Sequence[LimitState] = ("ok", "pending", "firing", "no_data", "not_judged")


def _signal(name: str, one: Signal) -> SignalPart:
    return SignalPart(
        name=name,
        title=one.title,
        unit=one.unit,
        meaning=one.meaning,
        worse=one.worse,
        each_instance=one.instances == "each",
    )
