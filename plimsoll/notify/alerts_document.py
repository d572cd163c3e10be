"""Alerts as JSON for other programs: schema plimsoll.alerts/1. docs/alerts-json.md describes every field.

Within a version, fields are only added, never changed or removed.
"""

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll.alerting.alert import Alert, Ended, Kind
from plimsoll.alerting.host_inventory import Host
from plimsoll.alerting.silences import Silence
from plimsoll.alerting.wording import describe_end, describe_lasting
from plimsoll.model.times import SECOND, Zone, format_iso
from plimsoll.notify.notification_log import TargetState

SCHEMA = "plimsoll.alerts/1"
# An instant (UTC ns) as ISO 8601.
Instant = Annotated[str, BeforeValidator(lambda at: format_iso(at) if isinstance(at, int) else at)]
Number = Annotated[
    float | None, BeforeValidator(lambda value: value if value is not None and isfinite(value) else None)
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class AlertPart(_Part):
    """An alert that fires or has ended."""

    id: int
    kind: Kind = Field(
        description="rule: a limit is crossed; flapping: a rule fires again and again; host-silent, all-silent: no "
        "samples arrive; plimsoll: a problem of Plimsoll itself."
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
    limit: str = Field(description="The limit as text for people.")
    reduced: str = Field(description="How samples are reduced to a value: 1 min mean.")
    since: Instant | None = Field(description="The time from which the condition was true.")
    fired_at: Instant
    ended_at: Instant | None = Field(description="The time at which it ended; null while it fires.")
    ended_how: Ended | None
    value: Number = Field(description="The value when it fired; null if there was none.")
    worst: Number
    last: Number
    stale: bool = Field(description="Whether it fires without current data.")
    late: bool = Field(description="Whether it was found from late samples.")
    firings: int = Field(description="How often a flapping rule fired.")
    silenced: bool = Field(description="Whether it fires while an active silence matches it.")
    acked_at: Instant | None
    acked_by: str | None
    ack_note: str | None
    summary: str
    note: str = Field(description="What differs from the documented rule.")
    sources: Sequence[str] = Field(description="The documents of the limit, with the place in each.")
    look_at: Sequence[str] = Field(description="The titles of signals to look at next.")
    processes: Sequence[str] = Field(description="The processes that used most when it fired, one line per resource.")


class SilencePart(_Part):
    """An active or planned silence."""

    id: int
    rule: str = Field(description="A pattern, as are host and instance; * stands for any text.")
    host: str
    instance: str
    start: Instant
    until: Instant
    reason: str
    who: str


class TargetPart(_Part):
    """A target of notifications."""

    name: str
    address: str = Field(description="The address, without its secrets.")
    sent_at: Instant | None = Field(description="The time of the last successful message.")
    failing_since: Instant | None = Field(
        description="The time from which messages could not be sent; null if they arrive."
    )
    attempts: int = Field(description="The number of failed attempts since.")
    next_try: Instant | None
    error: str


class HostPart(_Part):
    """A host that has sent samples, or that up.toml lists."""

    host: str
    newest: Instant | None = Field(description="The time of the host's newest sample.")
    interval_s: float | None
    expected: bool = Field(description="Whether an alert fires if the host is silent.")
    retired_at: Instant | None


class AlertsDocument(_Part):
    """Alerts, silences, targets and hosts."""

    schema_: Literal["plimsoll.alerts/1"] = Field(default=SCHEMA, alias="schema")
    alerts: Sequence[AlertPart]
    silences: Sequence[SilencePart]
    targets: Sequence[TargetPart]
    hosts: Sequence[HostPart]


def build_document(
    alerts: Sequence[Alert],
    silences: Sequence[Silence],
    targets: Sequence[TargetState],
    hosts: Sequence[Host],
    zone: Zone,
    now: int,
) -> AlertsDocument:
    """Return the document with these alerts, silences, targets and hosts."""
    return AlertsDocument(
        alerts=[build_alert_part(alert, silences, zone, now) for alert in alerts],
        silences=[SilencePart.model_validate(silence) for silence in silences],
        targets=[TargetPart.model_validate(target) for target in targets],
        hosts=[
            HostPart.model_validate(
                {
                    **asdict(host),
                    "host": host.name,
                    "interval_s": host.interval / SECOND if host.interval else None,
                    "expected": host.is_expected,
                }
            )
            for host in hosts
        ],
    )


def build_alert_part(alert: Alert, silences: Sequence[Silence], zone: Zone, now: int) -> AlertPart:
    """Return an alert for the document; the active `silences` decide whether the alert counts as silenced."""
    return AlertPart.model_validate(
        {
            **asdict(alert.details),
            **alert._asdict(),
            "text": describe_lasting(alert, now) if alert.firing else describe_end(alert, zone),
            "silenced": alert.firing
            and any(silence.matches(alert.rule, alert.host, alert.instance) for silence in silences),
        }
    )
