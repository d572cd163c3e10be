"""Operations on alerts: incidents, alerts and their histories, acknowledgements, silences, notes."""

import time
from collections.abc import Sequence
from http import HTTPStatus
from math import isfinite
from typing import Any

from plimsoll.alerting import actions, alert_queries, alert_search, audit_log, notes, silences
from plimsoll.alerting.alert import Alert
from plimsoll.alerting.audit_log import Actor
from plimsoll.alerting.causes import cause
from plimsoll.alerting.firing import firing
from plimsoll.alerting.incidents import incidents as grouped
from plimsoll.alerting.silences import Silence
from plimsoll.model.errors import Unusable
from plimsoll.model.times import Zone, iso, parse_duration
from plimsoll.notify.alerts_document import AlertPart, SilencePart, alert_part, silence_part
from plimsoll.pages.http_api.alert_parts import (
    NOBODY,
    Acknowledgement,
    AlertHistory,
    AlertsQuery,
    DeedPart,
    EventPart,
    IncidentPart,
    IncidentsQuery,
    NewNote,
    NewSilence,
    NotePart,
    NotesQuery,
    RecordQuery,
    SilencesQuery,
)
from plimsoll.pages.http_api.operation import (
    MOST_AT_ONCE,
    Call,
    Nothing,
    Operation,
    Page,
    Query,
    Refused,
    after,
)
from plimsoll.pages.http_api.ranges import instant
from plimsoll.pages.shared.asking import asking
from plimsoll.rules.severity import SEVERITIES
from plimsoll.up.watched import Watched

_UTC = Zone.parse("UTC")


def operations(watched: Watched) -> list[Operation[Any, Any]]:
    """The operations."""
    made = _Alerts(watched)
    alert = {"id": "The id of the alert."}
    silence, note = {"id": "The id of the silence."}, {"id": "The id of the note."}
    acked = "Acknowledge an alert that fires; the answer is the alert as it is then"
    return [
        Operation(
            "GET", "/incidents", "incidents", "Incidents that are open, the gravest first", Page[IncidentPart],
            made.incidents, IncidentsQuery, Nothing,
        ),
        Operation("GET", "/alerts", "alerts", "Alerts", Page[AlertPart], made.alerts, AlertsQuery, Nothing),
        Operation(
            "GET", "/alerts/{id:number}", "alert", "One alert and its history", AlertHistory, made.alert, Query,
            Nothing, path_names=alert,
        ),
        Operation(
            "POST", "/alerts/{id:number}/acknowledgement", "acknowledge", acked, AlertPart, made.acknowledge, Query,
            Acknowledgement, path_names=alert,
        ),
        Operation(
            "GET", "/silences", "silences", "Silences", Page[SilencePart], made.silences, SilencesQuery, Nothing
        ),
        Operation(
            "POST", "/silences", "silence", "Begin a silence", SilencePart, made.silence, Query, NewSilence,
            HTTPStatus.CREATED,
        ),
        Operation(
            "DELETE", "/silences/{id:number}", "end_silence", "End a silence, or take back a planned one", SilencePart,
            made.end_silence, Query, Nothing, path_names=silence,
        ),
        Operation("GET", "/notes", "notes", "Notes of a time", Page[NotePart], made.notes, NotesQuery, Nothing),
        Operation(
            "POST", "/notes", "note", "Add a note", NotePart, made.note, Query, NewNote, HTTPStatus.CREATED
        ),
        Operation(
            "DELETE", "/notes/{id:number}", "remove_note", "Remove a note", NotePart, made.remove_note, Query, Nothing,
            path_names=note,
        ),
        Operation(
            "GET", "/record", "record", "Actor did what, the latest first", Page[DeedPart], made.record, RecordQuery,
            Nothing,
        ),
    ]  # fmt: skip


class _Alerts:
    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._file = watched.file

    def incidents(self, call: Call[IncidentsQuery, Nothing]) -> Page[IncidentPart]:
        query, now = call.query, time.time_ns()
        held, host = silences.active(self._file, now), query.host.casefold()
        every = [
            one
            for one in grouped(firing(self._file).every)
            if (not host or one.worst.host.casefold() == host) and query.severity in (None, one.severity)
        ]
        return Page[IncidentPart].of(
            every,
            query,
            lambda one: IncidentPart(
                host=one.worst.host,
                severity=one.severity,
                cause=cause(one.worst),
                alerts=[self._part(alert, held, now) for alert in one.alerts],
            ),
        )

    def alerts(self, call: Call[AlertsQuery, Nothing]) -> Page[AlertPart]:
        query, now = call.query, time.time_ns()
        severities = (query.severity,) if query.severity else SEVERITIES
        if query.state == "firing":
            found = alert_search.firing(
                self._file, severities, query.offset, query.limit, host=query.host, rule=query.rule, exact=True
            )
        else:
            start, end = query.range(now)
            wanted = alert_search.AlertFilter(start, end, severities, query.host, query.rule)
            found = alert_search.ended(self._file, wanted, query.offset, query.limit, exact=True)
        held = silences.active(self._file, now)
        items = [self._part(one, held, now) for one in found.alerts]
        return Page[AlertPart](items=items, total=found.total, next=after(query, len(items), found.total))

    def alert(self, call: Call[Query, Nothing]) -> AlertHistory:
        number, now = call.name("id"), time.time_ns()
        found = alert_queries.alert(self._file, number)
        if found is None:
            error = f"there is no alert {number}"
            raise Refused(HTTPStatus.NOT_FOUND, error, "id", "alerts are kept for 400 days after they ended")
        events = alert_queries.events(self._file, number)[-MOST_AT_ONCE:]
        return AlertHistory(
            alert=self._part(found, silences.active(self._file, now), now),
            events=[
                EventPart(
                    at=iso(one.at),
                    recorded_at=iso(one.recorded_at),
                    what=one.what,
                    value=one.value if one.value is not None and isfinite(one.value) else None,
                    note=one.note,
                )
                for one in events
            ],
        )

    def acknowledge(self, call: Call[Query, Acknowledgement]) -> AlertPart:
        now, number = time.time_ns(), call.name("id")
        self.alert(Call(call.request, Query(), Nothing()))  # 404 if there is none
        done = actions.acknowledge(self._file, number, _who(call, call.body.who), call.body.note, now)
        return self._part(done, silences.active(self._file, now), now)

    def silences(self, call: Call[SilencesQuery, Nothing]) -> Page[SilencePart]:
        found = silences.active if call.query.state == "active" else silences.planned
        return Page[SilencePart].of(found(self._file, time.time_ns()), call.query, silence_part)

    def silence(self, call: Call[Query, NewSilence]) -> SilencePart:
        body, now = call.body, time.time_ns()
        start = None if body.start == "now" else instant(body.start, now, "start")
        try:
            length = parse_duration(body.length)
        except ValueError as error:
            raise Unusable(f"length: {error}") from None
        who = _who(call, body.who)
        return silence_part(
            actions.silence(self._file, body.rule, body.host, body.instance, length, body.reason, who, now, start)
        )

    def end_silence(self, call: Call[Query, Nothing]) -> SilencePart:
        try:
            return silence_part(actions.end_silence(self._file, call.name("id"), _who(call), time.time_ns()))
        except Unusable as error:
            raise Refused(HTTPStatus.NOT_FOUND, str(error), "id", "GET /api/v1/silences lists them") from None

    def notes(self, call: Call[NotesQuery, Nothing]) -> Page[NotePart]:
        return Page[NotePart].of(notes.between(self._file, *call.query.range(time.time_ns())), call.query, _note)

    def note(self, call: Call[Query, NewNote]) -> NotePart:
        body = call.body
        now = time.time_ns()
        at = instant(body.at, now, "at")
        return _note(actions.add_note(self._file, at, body.text, body.host, _who(call, body.who), now))

    def remove_note(self, call: Call[Query, Nothing]) -> NotePart:
        try:
            return _note(actions.remove_note(self._file, call.name("id"), _who(call), time.time_ns()))
        except Unusable as error:
            raise Refused(HTTPStatus.NOT_FOUND, str(error), "id", "GET /api/v1/notes lists them") from None

    def record(self, call: Call[RecordQuery, Nothing]) -> Page[DeedPart]:
        query = call.query
        found = audit_log.found(self._file, *query.range(time.time_ns()), query.who, query.offset, query.limit)
        items = [DeedPart(at=iso(one.at), who=one.who, how=one.how, what=one.what) for one in found.deeds]
        return Page[DeedPart](items=items, total=found.total, next=after(query, len(items), found.total))

    def _part(self, one: Alert, held: Sequence[Silence], now: int) -> AlertPart:
        return alert_part(one, held, _UTC, now)


def _who(call: Call[Any, Any], typed: str = NOBODY) -> Actor:
    return asking(call.request, typed, NOBODY)


def _note(one: notes.Note) -> NotePart:
    return NotePart(id=one.id, at=iso(one.at), text=one.text, host=one.host, who=one.who)
