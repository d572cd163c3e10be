"""Operations on alerts: incidents, alerts and their histories, acknowledgements, silences, notes, the audit log."""

import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field

from plimsoll.alerting import actions, alert_queries, silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.firing import group_incidents, load_firing
from plimsoll.alerting.wording import describe_cause
from plimsoll.model.errors import Unusable
from plimsoll.model.json_part import Instant, JsonPart, add_values, read_attribute
from plimsoll.model.times import parse_duration
from plimsoll.notify.alerts_document import AlertPart, Number, SilencePart, build_alert_part
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
from plimsoll.pages.shared.forms import ID, find_actor
from plimsoll.rules.schema.field_types import Severity
from plimsoll.rules.wording import SEVERITIES
from plimsoll.up.watched import Watched

router = APIRouter(route_class=Operation)
Result = TypeVar("Result")


class IncidentPart(JsonPart):
    """The alerts that fire on one host for one cause."""

    host: str = read_attribute("worst.host")
    severity: Severity
    cause: str = read_attribute(lambda incident: describe_cause(incident.worst), "What is wrong, in a sentence.")
    alerts: Sequence[AlertPart] = Field(description="The alerts, the most severe first.")


class EventPart(JsonPart):
    """An event in the history of an alert."""

    at: Instant = Field(description="The time of the evaluation.")
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
    host: str = Field(description="The host of the note; empty if it concerns all hosts.")
    who: str


class DeedPart(JsonPart):
    """An action in the audit log."""

    at: Instant
    who: str
    how: str = Field(description="How the actor was recognised: password, proxy, token ci, command, no login.")
    what: str


class RecordQuery(RangeQuery, PageQuery):
    """The requested actions of the audit log, by time and person."""

    who: str = Field(default="", max_length=actions.LONGEST_NAME, description="Only actions of this person or program.")


class IncidentsQuery(PageQuery):
    """The requested incidents, by host and severity."""

    host: str = Field(default="", max_length=300, description="Only of this host.")
    severity: Severity | None = Field(default=None, description="Only of this severity.")


class AlertsQuery(RangeQuery, PageQuery):
    """The requested alerts; the range applies only to alerts that have ended."""

    state: Literal["firing", "ended"] = Field(default="firing", description="Firing alerts, or alerts that have ended.")
    severity: Severity | None = Field(default=None, description="Only of this severity.")
    host: str = Field(default="*", max_length=300, description="The host; * stands for any text.")
    rule: str = Field(default="*", max_length=300, description="The id of the rule; * stands for any text.")


class SilencesQuery(PageQuery):
    """The requested silences, either active or planned."""

    state: Literal["active", "planned"] = Field(default="active", description="Active silences, or planned ones.")


class NotesQuery(RangeQuery, PageQuery):
    """The range of time from which notes are requested."""


class Acknowledgement(Body):
    """Who takes care of an alert, and a note; notifications of the alert are not repeated."""

    who: str = Field(default=PROGRAM, max_length=actions.LONGEST_NAME)
    note: str = Field(default="", max_length=actions.LONGEST_TEXT)


class NewSilence(Body):
    """A silence to begin."""

    rule: str = Field(max_length=actions.LONGEST_NAME, description="The rule ids to silence; * stands for any text.")
    host: str = Field(
        default="*", max_length=actions.LONGEST_NAME, description="The hosts to silence; * stands for any text."
    )
    instance: str = Field(
        default="*", max_length=actions.LONGEST_NAME, description="The instances to silence; * stands for any text."
    )
    length: str = Field(max_length=40, description="The length: 30m, 2h; at most 30 days.")
    start: str = Field(default="now", max_length=40, description="The time at which it begins.")
    reason: str = Field(max_length=actions.LONGEST_TEXT)
    who: str = Field(default=PROGRAM, max_length=actions.LONGEST_NAME)


class NewNote(Body):
    """A note to add."""

    text: str = Field(max_length=actions.LONGEST_NOTE, description="The text of the note, such as: deployed 4.2.")
    at: str = Field(default="now", max_length=40)
    host: str = Field(
        default="", max_length=actions.LONGEST_NOTE, description="The host of the note; empty for all hosts."
    )
    who: str = Field(default=PROGRAM, max_length=actions.LONGEST_NOTE)


AlertId = Annotated[int, Path(description="The id of the alert.")]


@router.get("/incidents", operation_id="incidents")
def list_incidents(query: Annotated[IncidentsQuery, Query()], watched: WatchedDependency) -> Page[IncidentPart]:
    """List the open incidents, the most severe first."""
    make_alert, host = _make_alert_encoder(watched), query.host.casefold()
    matches = [
        add_values(incident, alerts=[*map(make_alert, incident.alerts)])
        for incident in group_incidents(load_firing(watched.file).all_alerts)
        if (not host or incident.worst.host.casefold() == host) and query.severity in (None, incident.severity)
    ]
    return Page[IncidentPart].of(matches, query, IncidentPart.model_validate)


@router.get("/alerts", operation_id="alerts")
def list_alerts(query: Annotated[AlertsQuery, Query()], watched: WatchedDependency) -> Page[AlertPart]:
    """List the firing alerts, or the alerts that ended in a range."""
    severities = (query.severity,) if query.severity else SEVERITIES
    is_firing = query.state == "firing"
    span = (0, 0) if is_firing else query.range(time.time_ns())
    find = alert_queries.find_firing if is_firing else alert_queries.find_ended
    chosen = alert_queries.AlertFilter(severities, query.host, query.rule, *span)
    alerts, total = find(watched.file, chosen, query.offset, query.limit, exact=True)
    return Page[AlertPart].at(alerts, total, query, _make_alert_encoder(watched))


@router.get(f"/alerts/{ID}", operation_id="alert")
def show_alert(id: AlertId, watched: WatchedDependency) -> AlertWithEvents:
    """Return one alert with its history."""
    alert = _make_alert_encoder(watched)(_find_alert(watched, id))
    return AlertWithEvents.model_validate(
        {"alert": alert, "events": alert_queries.read_events(watched.file, id)[-MOST_AT_ONCE:]}
    )


@router.post(f"/alerts/{ID}/acknowledgement", operation_id="acknowledge")
def acknowledge(id: AlertId, body: Acknowledgement, request: Request, watched: WatchedDependency) -> AlertPart:
    """Acknowledge a firing alert, and return it as changed."""
    _find_alert(watched, id)
    alert = actions.acknowledge(watched.file, id, find_actor(request, body.who), body.note, time.time_ns())
    return _make_alert_encoder(watched)(alert)


@router.get("/silences", operation_id="silences")
def list_silences(query: Annotated[SilencesQuery, Query()], watched: WatchedDependency) -> Page[SilencePart]:
    """List the active silences, or the planned silences."""
    read = silences.read_active_silences if query.state == "active" else silences.read_planned_silences
    return Page[SilencePart].of(read(watched.file, time.time_ns()), query, SilencePart.model_validate)


@router.post("/silences", operation_id="silence", status_code=HTTPStatus.CREATED)
def begin_silence(body: NewSilence, request: Request, watched: WatchedDependency) -> SilencePart:
    """Begin a silence, or plan one, and return it."""
    now = time.time_ns()
    start = None if body.start == "now" else parse_instant(body.start, now, "start")
    try:
        length = parse_duration(body.length)
    except ValueError as error:
        raise Unusable(f"length: {error}") from None
    actor, pattern = find_actor(request, body.who), (body.rule, body.host, body.instance)
    silence = actions.silence(watched.file, *pattern, length, body.reason, actor, now, start)
    return SilencePart.model_validate(silence)


@router.delete(f"/silences/{ID}", operation_id="end_silence")
def end_silence(
    id: Annotated[int, Path(description="The id of the silence.")], request: Request, watched: WatchedDependency
) -> SilencePart:
    """End an active silence, or cancel a planned one."""
    actor = find_actor(request, PROGRAM)
    silence = _remove(lambda: actions.end_silence(watched.file, id, actor, time.time_ns()), "silences")
    return SilencePart.model_validate(silence)


@router.get("/notes", operation_id="notes")
def list_notes(query: Annotated[NotesQuery, Query()], watched: WatchedDependency) -> Page[NotePart]:
    """List the notes in a range."""
    notes = actions.find_notes(watched.file, *query.range(time.time_ns()))
    return Page[NotePart].of(notes, query, NotePart.model_validate)


@router.post("/notes", operation_id="note", status_code=HTTPStatus.CREATED)
def add_note(body: NewNote, request: Request, watched: WatchedDependency) -> NotePart:
    """Add a note to the charts."""
    now = time.time_ns()
    at = parse_instant(body.at, now, "at")
    note = actions.add_note(watched.file, at, body.text, body.host, find_actor(request, body.who), now)
    return NotePart.model_validate(note)


@router.delete(f"/notes/{ID}", operation_id="remove_note")
def remove_note(
    id: Annotated[int, Path(description="The id of the note.")], request: Request, watched: WatchedDependency
) -> NotePart:
    """Remove a note from the charts."""
    note = _remove(lambda: actions.remove_note(watched.file, id, find_actor(request, PROGRAM), time.time_ns()), "notes")
    return NotePart.model_validate(note)


@router.get("/record", operation_id="record")
def list_actions(query: Annotated[RecordQuery, Query()], watched: WatchedDependency) -> Page[DeedPart]:
    """List the audit log: actions of people and programs, the latest first."""
    span = query.range(time.time_ns())
    entries, total = actions.find_audit_entries(watched.file, *span, query.who, query.offset, query.limit)
    return Page[DeedPart].at(entries, total, query, DeedPart.model_validate)


def _find_alert(watched: Watched, id_: int) -> Alert:
    alert = alert_queries.read_alert(watched.file, id_)
    if alert is None:
        hint = "alerts are kept for 400 days after they ended"
        raise ApiFault(HTTPStatus.NOT_FOUND, f"there is no alert {id_}", "id", hint)
    return alert


def _make_alert_encoder(watched: Watched) -> Callable[[Alert], AlertPart]:
    """Return a function that converts an alert to its JSON, with the silences that are active now."""
    now = time.time_ns()
    active = silences.read_active_silences(watched.file, now)
    return lambda alert: build_alert_part(alert, active, UTC, now)


def _remove(action: Callable[[], Result], kind: str) -> Result:
    """Return what `action`, which removes an object, returns. If it raises Unusable, raise ApiFault (404) instead."""
    try:
        return action()
    except Unusable as error:
        raise ApiFault(HTTPStatus.NOT_FOUND, str(error), "id", f"GET /api/v1/{kind} lists them") from None
