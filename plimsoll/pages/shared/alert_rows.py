"""Alerts and incidents as rows, for the lists of several pages."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import Incident
from plimsoll.alerting.silences import Silence
from plimsoll.alerting.wording import describe_cause, describe_end, describe_firing, describe_state
from plimsoll.model.times import Zone, format_duration
from plimsoll.rules.schema.field_types import Healthy

Row = dict[str, Any]


def build_rows(alerts: Iterable[Alert], active: Sequence[Silence], zone: Zone) -> list[Row]:
    """Return a row for each alert, for the macro `parts.list`. `active` are the active silences.

    The field `lasted` is empty while an alert fires. `inside` and `cause` are empty: only rows of incidents have them.
    """
    return [
        {
            "id": alert.id,
            "severity": alert.severity,
            "sentence": describe_alert(alert, zone),
            "since": zone.clock(alert.begin),
            "fired": zone.clock(alert.fired_at),
            "lasted": "" if alert.ended_at is None else format_duration(alert.ended_at - alert.begin),
            "marks": [*list_marks(alert, active, zone)],
            "inside": (),
            "cause": "",
        }
        for alert in alerts
    ]


def build_incident_rows(incidents: Iterable[Incident], active: Sequence[Silence], zone: Zone) -> list[Row]:
    """Return the row of each incident's worst alert; `inside` contains the rows of the incident's further alerts."""
    pairs = [(incident.worst, build_rows(incident.alerts, active, zone)) for incident in incidents]
    return [
        {**row, "inside": rows, "cause": describe_cause(worst), "sentence": describe_state(worst)}
        for worst, (row, *rows) in pairs
    ]


def describe_alert(alert: Alert, zone: Zone) -> str:
    """Return a sentence with the value of an alert and its limit, or with how it ended."""
    return describe_firing(alert, zone) if alert.firing else describe_end(alert, zone)


def list_marks(alert: Alert, silenced: Sequence[Silence], zone: Zone) -> Iterator[str]:
    """Yield texts on the state of an alert: `acknowledged by joe: disk is ordered`, `silenced until 10:22:00`."""
    if alert.acked_at is not None:
        yield f"acknowledged by {alert.acked_by}{f': {alert.ack_note}' if alert.ack_note else ''}"
    until = [silence.until for silence in silenced if silence.matches(alert.rule, alert.host, alert.instance)]
    if alert.firing and until:
        yield f"silenced until {zone.clock(max(until))}"
    if alert.stale:
        yield "no data now"
    if alert.late:
        yield "samples came late"


def list_alert_times(alert: Alert, crossed_since: int | None, zone: Zone) -> Iterator[tuple[str, str]]:
    """Yield names and texts of an alert's times: when its limit was crossed, when it began, and when it fired.

    `crossed_since` is the time of the first sample past the limit (UTC ns); None leaves this time out.
    """
    if crossed_since is not None:
        is_floor = Healthy.parse(alert.healthy).worse == "lower"
        yield "Below since" if is_floor else "Above since", zone.clock(crossed_since)
    yield "Counts from", zone.clock(alert.begin)
    yield "Fired", zone.clock(alert.fired_at)
