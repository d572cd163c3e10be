"""What messages say, for programs: an event for each incident, with a key that stays the same until it is resolved."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from plimsoll.alerting.alert import Alert
from plimsoll.model.times import iso
from plimsoll.notify.grouping import ENDED, Item
from plimsoll.rules.schema.field_types import Severity

State: TypeAlias = Literal["firing", "resolved"]
Value: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Event:
    """An incident that fires or is over.

    Attributes:
        key: The same for all events of the incident: `plimsoll:web01/cpu`.
        state: Whether it fires.
        title: The incident in a few words.
        text: The incident in full.
        link: Its page, or the command that shows it.
        alerts: What is said of its alerts, the gravest first.
    """

    key: str
    state: State
    title: str
    text: str
    link: str
    alerts: Sequence[Alert]

    @property
    def worst(self) -> Alert:
        """The alert that stands for the incident."""
        return self.alerts[0]

    @property
    def severity(self) -> Severity:
        """The severity of its gravest alert."""
        return self.worst.severity

    def fields(self) -> dict[str, Value]:
        """The fields of its gravest alert, as webhooks have them."""
        return alert_fields(self.worst, self.key, self.state, self.link)


def event(told: Sequence[Item], title: str, text: str, link: str) -> Event:
    """The event of an incident's items, which all fire or all ended."""
    state: State = "resolved" if told[0].what in ENDED else "firing"
    return Event(incident_key(told[0].alert), state, title, text, link, [one.alert for one in told])


def incident_key(alert: Alert) -> str:
    """The key of the incident of an alert, at most 255 characters, as pagers take."""
    parts = [part for part in alert.incident if part]
    key = f"plimsoll:{'/'.join(parts)}"
    if len(key) <= 255 and key.isprintable():
        return key
    return f"plimsoll:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"


def alert_fields(alert: Alert, key: str, state: State, link: str) -> dict[str, Value]:
    """An alert for other programs. Times are ISO 8601 in UTC, values in the signal's unit; null is none."""
    return {
        "id": alert.id,
        "key": key,
        "state": state,
        "severity": alert.severity,
        "kind": alert.kind,
        "host": alert.host,
        "instance": alert.instance,
        "rule": alert.rule,
        "signal": alert.signal,
        "signal_title": alert.details.title,
        "value": None if math.isnan(alert.last) else alert.last,
        "worst": None if math.isnan(alert.worst) else alert.worst,
        "unit": alert.details.unit,
        "limit": alert.details.limit,
        "since": iso(alert.begin),
        "fired_at": iso(alert.fired_at),
        "ended_at": None if alert.ended_at is None else iso(alert.ended_at),
        "late": alert.late,
        "link": link,
    }
