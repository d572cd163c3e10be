"""Operations on alerts: incidents, alerts and their histories, acknowledgements, silences, notes, the audit log."""

import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from plimsoll.alerting import actions, alert_queries, silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import firing, incidents
from plimsoll.alerting.wording import cause
from plimsoll.model.errors import Unusable
from plimsoll.model.json_part import Instant, JsonPart, attribute, with_fields
from plimsoll.model.times import parse_duration
from plimsoll.notify.alerts_document import AlertPart, Number, SilencePart, alert_part
from plimsoll.pages.http_api.operation import (
    MOST_AT_ONCE,
    PROGRAM,
    UTC,
    ApiFault,
    Body,
    Operation,
    Page,
    PageQuery,
    RangeQuery,
    WatchedDependency,
    parse_instant,
)
from plimsoll.pages.shared.forms import ID, actor_of
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.wording import SEVERITIES
from plimsoll.up.watched import Watched

router = APIRouter(route_class=Operation)
Result = TypeVar("Result")


class IncidentPart(JsonPart):
    """The alerts that fire on one host for one cause."""

    host: str = attribute("worst.host")
    severity: Severity
    cause: str = attribute(lambda incident: cause(incident.worst), "What is wrong, in a sentence.")
    alerts: Sequence[AlertPart] = Field(description="The gravest first.")


class EventPart(JsonPart):
    """An event in the history of an alert."""

    at: Instant = Field(description="Of which evaluation.")
    recorded_at: Instant
    what: str
    value: Number
    note: str


class AlertWithEvents(JsonPart):
    """An alert, and its history."""

    alert: AlertPart
    events: Sequence[EventPart] = Field(description=f"The last {MOST_AT_ONCE:,}.")


class NotePart(JsonPart):
    """A note on the time axis of charts."""

    id: int
    at: Instant
    text: str
    host: str = Field(description="Empty where it concerns all.")
    who: str


class DeedPart(JsonPart):
    """An action in the audit log."""

    at: Instant
    who: str
    how: str = Field(description="By what they are known: password, proxy, token ci, command, no login.")
    what: str


class RecordQuery(RangeQuery, PageQuery):
    """Which part of the audit log."""

    who: str = Field(default="", max_length=actions.LONGEST_NAME, description="Only what this person did.")


class IncidentsQuery(PageQuery):
    """Which incidents."""

    host: str = Field(default="", max_length=300, description="Only those of this host.")
    severity: Severity | None = Field(default=None, description="Only those of this severity.")


class AlertsQuery(RangeQuery, PageQuery):
    """Which alerts; the range counts for those that have ended."""

    state: Literal["firing", "ended"] = Field(default="firing", description="Those that fire, or that have ended.")
    severity: Severity | None = Field(default=None, description="Only those of this severity.")
    host: str = Field(default="*", max_length=300, description="The host; * is any text.")
    rule: str = Field(default="*", max_length=300, description="The rule; * is any text.")


class SilencesQuery(PageQuery):
    """Which silences."""

    state: Literal["active", "planned"] = Field(default="active", description="Those that hold, or that begin later.")


class NotesQuery(RangeQuery, PageQuery):
    """Which notes."""


class Acknowledgement(Body):
    """Who looks after an alert. Its notifications are not repeated any more."""

    who: str = Field(default=PROGRAM, max_length=actions.LONGEST_NAME)
    note: str = Field(default="", max_length=actions.LONGEST_TEXT)


class NewSilence(Body):
    """A silence to begin."""

    rule: str = Field(max_length=actions.LONGEST_NAME, description="A pattern; * is any text.")
    host: str = Field(default="*", max_length=actions.LONGEST_NAME, description="A pattern.")
    instance: str = Field(default="*", max_length=actions.LONGEST_NAME, description="A pattern.")
    length: str = Field(max_length=40, description="For how long: 30m, 2h; at most 30 days.")
    start: str = Field(default="now", max_length=40, description="When it begins.")
    reason: str = Field(max_length=actions.LONGEST_TEXT)
    who: str = Field(default=PROGRAM, max_length=actions.LONGEST_NAME)


class NewNote(Body):
    """A note to add."""

    text: str = Field(max_length=actions.LONGEST_NOTE, description="Such as: deployed 4.2.")
    at: str = Field(default="now", max_length=40)
    host: str = Field(default="", max_length=actions.LONGEST_NOTE, description="Empty: it concerns all.")
    who: str = Field(default=PROGRAM, max_length=actions.LONGEST_NOTE)


AlertId = Annotated[int, Path(description="The id of the alert.")]


@router.get("/incidents", operation_id="incidents")
def list_incidents(query: Annotated[IncidentsQuery, Query()], watched: WatchedDependency) -> Page[IncidentPart]:
    """Incidents that are open, the gravest first."""
    make_alert, host = _alert_maker(watched), query.host.casefold()
    matches = [
        with_fields(incident, alerts=[*map(make_alert, incident.alerts)])
        for incident in incidents(firing(watched.file).every)
        if (not host or incident.worst.host.casefold() == host) and query.severity in (None, incident.severity)
    ]
    return Page[IncidentPart].of(matches, query, IncidentPart.model_validate)


@router.get("/alerts", operation_id="alerts")
def list_alerts(query: Annotated[AlertsQuery, Query()], watched: WatchedDependency) -> Page[AlertPart]:
    """Alerts."""
    severities = (query.severity,) if query.severity else SEVERITIES
    is_firing = query.state == "firing"
    span = (0, 0) if is_firing else query.range(time.time_ns())
    find = alert_queries.find_firing if is_firing else alert_queries.find_ended
    chosen = alert_queries.AlertFilter(severities, query.host, query.rule, *span)
    alerts, total = find(watched.file, chosen, query.offset, query.limit, exact=True)
    return Page[AlertPart].at(alerts, total, query, _alert_maker(watched))


@router.get(f"/alerts/{ID}", operation_id="alert")
def show_alert(id: AlertId, watched: WatchedDependency) -> AlertWithEvents:
    """One alert and its history."""
    alert = _alert_maker(watched)(_find_alert(watched, id))
    return AlertWithEvents.model_validate(
        {"alert": alert, "events": alert_queries.events(watched.file, id)[-MOST_AT_ONCE:]}
    )


@router.post(f"/alerts/{ID}/acknowledgement", operation_id="acknowledge")
def acknowledge(id: AlertId, body: Acknowledgement, request: Request, watched: WatchedDependency) -> AlertPart:
    """Acknowledge an alert that fires; the answer is the alert as it is then."""
    _find_alert(watched, id)
    alert = actions.acknowledge(watched.file, id, actor_of(request, body.who), body.note, time.time_ns())
    return _alert_maker(watched)(alert)


@router.get("/silences", operation_id="silences")
def list_silences(query: Annotated[SilencesQuery, Query()], watched: WatchedDependency) -> Page[SilencePart]:
    """Silences."""
    read = silences.active if query.state == "active" else silences.planned
    return Page[SilencePart].of(read(watched.file, time.time_ns()), query, SilencePart.model_validate)


@router.post("/silences", operation_id="silence", status_code=HTTPStatus.CREATED)
def begin_silence(body: NewSilence, request: Request, watched: WatchedDependency) -> SilencePart:
    """Begin a silence."""
    now = time.time_ns()
    start = None if body.start == "now" else parse_instant(body.start, now, "start")
    try:
        length = parse_duration(body.length)
    except ValueError as error:
        raise Unusable(f"length: {error}") from None
    actor, pattern = actor_of(request, body.who), (body.rule, body.host, body.instance)
    silence = actions.silence(watched.file, *pattern, length, body.reason, actor, now, start)
    return SilencePart.model_validate(silence)


@router.delete(f"/silences/{ID}", operation_id="end_silence")
def end_silence(
    id: Annotated[int, Path(description="The id of the silence.")], request: Request, watched: WatchedDependency
) -> SilencePart:
    """End a silence, or take back a planned one."""
    actor = actor_of(request, PROGRAM)
    silence = _remove(lambda: actions.end_silence(watched.file, id, actor, time.time_ns()), "silences")
    return SilencePart.model_validate(silence)


@router.get("/notes", operation_id="notes")
def list_notes(query: Annotated[NotesQuery, Query()], watched: WatchedDependency) -> Page[NotePart]:
    """Notes of a time."""
    notes = actions.find_notes(watched.file, *query.range(time.time_ns()))
    return Page[NotePart].of(notes, query, NotePart.model_validate)


@router.post("/notes", operation_id="note", status_code=HTTPStatus.CREATED)
def add_note(body: NewNote, request: Request, watched: WatchedDependency) -> NotePart:
    """Add a note."""
    now = time.time_ns()
    at = parse_instant(body.at, now, "at")
    note = actions.add_note(watched.file, at, body.text, body.host, actor_of(request, body.who), now)
    return NotePart.model_validate(note)


@router.delete(f"/notes/{ID}", operation_id="remove_note")
def remove_note(
    id: Annotated[int, Path(description="The id of the note.")], request: Request, watched: WatchedDependency
) -> NotePart:
    """Remove a note."""
    note = _remove(lambda: actions.remove_note(watched.file, id, actor_of(request, PROGRAM), time.time_ns()), "notes")
    return NotePart.model_validate(note)


@router.get("/record", operation_id="record")
def list_actions(query: Annotated[RecordQuery, Query()], watched: WatchedDependency) -> Page[DeedPart]:
    """Actions of people and programs, the latest first."""
    span = query.range(time.time_ns())
    entries, total = actions.find_audit_entries(watched.file, *span, query.who, query.offset, query.limit)
    return Page[DeedPart].at(entries, total, query, DeedPart.model_validate)


def _find_alert(watched: Watched, id_: int) -> Alert:
    alert = alert_queries.alert(watched.file, id_)
    if alert is None:
        hint = "alerts are kept for 400 days after they ended"
        raise ApiFault(HTTPStatus.NOT_FOUND, f"there is no alert {id_}", "id", hint)
    return alert


def _alert_maker(watched: Watched) -> Callable[[Alert], AlertPart]:
    """Return the function that makes an alert's part, with the silences that hold now."""
    now = time.time_ns()
    active = silences.active(watched.file, now)
    return lambda alert: alert_part(alert, active, UTC, now)


def _remove(action: Callable[[], Result], kind: str) -> Result:
    """Return the result of an action. Raises ApiFault if what it removes is not there."""
    try:
        return action()
    except Unusable as error:
        raise ApiFault(HTTPStatus.NOT_FOUND, str(error), "id", f"GET /api/v1/{kind} lists them") from None
