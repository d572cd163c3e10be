"""Alerts as JSON for other programs: schema plimsoll.alerts/1. docs/alerts-json.md describes every field.

Fields are added within a version, never changed or removed.
"""

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.alerting.alert import Alert, Ended, Kind
from plimsoll.alerting.host_inventory import Host
from plimsoll.alerting.silences import Silence
from plimsoll.alerting.wording import ended_sentence, still_sentence
from plimsoll.model.times import SECOND, Zone, iso
from plimsoll.notify.notification_log import TargetState

SCHEMA = "plimsoll.alerts/1"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class AlertPart(_Part):
    """One alert."""

    id: int
    kind: Kind = Field(
        description="rule: a limit is crossed; flapping: a rule fires again and again; host-silent, all-silent: no "
        "samples come; plimsoll: a trouble of Plimsoll itself."
    )
    text: str = Field(description="The alert in a sentence.")
    rule: str
    severity: str
    signal: str
    title: str = Field(description="The signal's title.")
    unit: str = Field(description="The unit of the values.")
    host: str
    instance: str | None
    healthy: str = Field(description='The limit as operator and number, such as "< 80"; empty if there is none.')
    limit: str = Field(description="The limit for people.")
    reduced: str = Field(description="How samples become a value: 1 min mean.")
    since: str | None = Field(description="From when the condition was true.")
    fired_at: str
    ended_at: str | None = Field(description="null: it is firing.")
    ended_how: Ended | None
    value: float | None = Field(description="When it fired; null: none.")
    worst: float | None
    last: float | None
    stale: bool = Field(description="Firing, and without data now.")
    late: bool = Field(description="It is known from samples that came late.")
    firings: int = Field(description="Of a rule that is flapping: how often it fired.")
    silenced: bool = Field(description="Firing, and a silence holds.")
    acked_at: str | None
    acked_by: str | None
    ack_note: str | None
    summary: str
    note: str = Field(description="What differs from the documented rule.")
    sources: Sequence[str] = Field(description="The documents of the limit, with the place in each.")
    look_at: Sequence[str] = Field(description="The titles of signals to look at next.")
    processes: Sequence[str] = Field(description="The processes that used most when it fired, a line a resource.")


class SilencePart(_Part):
    """A silence that holds."""

    id: int
    rule: str = Field(description="A pattern, as are host and instance; * is any text.")
    host: str
    instance: str
    start: str
    until: str
    reason: str
    who: str


class TargetPart(_Part):
    """A target of notifications."""

    name: str
    address: str = Field(description="Without its secrets.")
    sent_at: str | None = Field(description="When a message last arrived.")
    failing_since: str | None = Field(description="From when messages could not be sent; null: they arrive.")
    attempts: int = Field(description="How many have failed since.")
    next_try: str | None
    error: str


class HostPart(_Part):
    """A host that has sent, or that up.toml lists."""

    host: str
    newest: str | None = Field(description="The time of its newest sample.")
    interval_s: float | None
    expected: bool = Field(description="Whether its silence is an alert.")
    retired_at: str | None


class AlertsDocument(_Part):
    """Alerts, silences, targets and hosts."""

    schema_: Literal["plimsoll.alerts/1"] = Field(default=SCHEMA, alias="schema")
    alerts: Sequence[AlertPart]
    silences: Sequence[SilencePart]
    targets: Sequence[TargetPart]
    hosts: Sequence[HostPart]


def document(
    alerts: Sequence[Alert],
    silences: Sequence[Silence],
    targets: Sequence[TargetState],
    hosts: Sequence[Host],
    zone: Zone,
    now: int,
) -> AlertsDocument:
    """Alerts, silences, targets and hosts as a document."""
    return AlertsDocument(
        alerts=[alert_part(one, silences, zone, now) for one in alerts],
        silences=[silence_part(one) for one in silences],
        targets=[
            TargetPart(
                name=one.name,
                address=one.address,
                sent_at=_iso(one.sent_at),
                failing_since=_iso(one.failing_since),
                attempts=one.attempts,
                next_try=_iso(one.next_try),
                error=one.error,
            )
            for one in targets
        ],
        hosts=[
            HostPart(
                host=one.name,
                newest=_iso(one.newest),
                interval_s=one.interval / SECOND if one.interval else None,
                expected=one.is_expected,
                retired_at=_iso(one.retired_at),
            )
            for one in hosts
        ],
    )


def silence_part(one: Silence) -> SilencePart:
    """A silence as a document has it."""
    return SilencePart(
        id=one.id,
        rule=one.rule,
        host=one.host,
        instance=one.instance,
        start=iso(one.start),
        until=iso(one.until),
        reason=one.reason,
        who=one.who,
    )


def alert_part(one: Alert, silences: Sequence[Silence], zone: Zone, now: int) -> AlertPart:
    """An alert as a document has it; `silences` are those that hold."""
    details = one.details
    return AlertPart(
        id=one.id,
        kind=one.kind,
        text=still_sentence(one, zone, now) if one.firing else ended_sentence(one, zone),
        rule=one.rule,
        severity=one.severity,
        signal=one.signal,
        title=details.title,
        unit=details.unit,
        host=one.host,
        instance=one.instance,
        healthy=one.healthy,
        limit=details.limit,
        reduced=details.reduced,
        since=_iso(one.since),
        fired_at=iso(one.fired_at),
        ended_at=_iso(one.ended_at),
        ended_how=one.ended_how,
        value=_number(one.value),
        worst=_number(one.worst),
        last=_number(one.last),
        stale=one.stale,
        late=one.late,
        firings=one.firings,
        silenced=one.firing and any(silence.matches(one.rule, one.host, one.instance) for silence in silences),
        acked_at=_iso(one.acked_at),
        acked_by=one.acked_by,
        ack_note=one.ack_note,
        summary=details.summary,
        note=details.note,
        sources=details.sources,
        look_at=details.look_at,
        processes=details.processes,
    )


def _iso(moment: int | None) -> str | None:
    return None if moment is None else iso(moment)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
