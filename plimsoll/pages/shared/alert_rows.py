"""Alerts as rows of lists."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import Incident
from plimsoll.alerting.silences import Silence
from plimsoll.alerting.wording import cause, ended_sentence, still_sentence
from plimsoll.model.times import Zone, duration_text


@dataclass(frozen=True, slots=True)
class Row:
    """An alert in a list. `lasted` is empty while it fires: the sentence has it. `marks` are short remarks.

    `inside` are the other alerts of its incident, `cause` what is wrong.
    """

    id: int
    severity: str
    sentence: str
    since: str
    lasted: str
    host: str
    rule: str
    marks: Sequence[str]
    inside: Sequence["Row"] = ()
    cause: str = ""


def rows(alerts: Iterable[Alert], silenced: Sequence[Silence], zone: Zone, now: int) -> list[Row]:
    """The rows of alerts, of which some may be silenced."""
    return [
        Row(
            id=one.id,
            severity=one.severity,
            sentence=sentence(one, zone, now),
            since=zone.clock(one.begin),
            lasted="" if one.ended_at is None else duration_text(one.ended_at - one.begin),
            host=one.host,
            rule=one.rule,
            marks=[*marks(one, silenced, zone)],
        )
        for one in alerts
    ]


def incident_rows(found: Iterable[Incident], silenced: Sequence[Silence], zone: Zone, now: int) -> list[Row]:
    """The rows of incidents, each with the rows of its other alerts inside."""
    made = [(one, rows(one.alerts, silenced, zone, now)) for one in found]
    return [replace(worst, inside=others, cause=cause(one.worst)) for one, (worst, *others) in made]


def sentence(alert: Alert, zone: Zone, now: int) -> str:
    """The alert as it is now, or as it ended."""
    return still_sentence(alert, zone, now) if alert.firing else ended_sentence(alert, zone)


def marks(alert: Alert, silenced: Sequence[Silence], zone: Zone) -> Iterator[str]:
    """`acknowledged by joe: disk is ordered`, `silenced until 10:22:00`, `no data now`."""
    if alert.acked_at is not None:
        yield f"acknowledged by {alert.acked_by}{f': {alert.ack_note}' if alert.ack_note else ''}"
    until = [one.until for one in silenced if one.matches(alert.rule, alert.host, alert.instance)]
    if alert.firing and until:
        yield f"silenced until {zone.clock(max(until))}"
    if alert.stale:
        yield "no data now"
    if alert.late:
        yield "samples came late"
