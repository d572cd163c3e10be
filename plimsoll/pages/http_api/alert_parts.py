"""What operations on alerts take and return."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from plimsoll.alerting import actions, notes
from plimsoll.notify.alerts_document import AlertPart
from plimsoll.pages.http_api.operation import MOST_AT_ONCE, Body, PageQuery
from plimsoll.pages.http_api.ranges import RangeQuery
from plimsoll.rules.schema.field_types import Severity

NOBODY = "a program"


class IncidentPart(BaseModel):
    """The alerts that fire on one host for one cause."""

    host: str
    severity: Severity
    cause: str = Field(description="What is wrong, in a sentence.")
    alerts: Sequence[AlertPart] = Field(description="The gravest first.")


class EventPart(BaseModel):
    """What happened to an alert."""

    at: str = Field(description="Of which evaluation.")
    recorded_at: str
    what: str
    value: float | None
    note: str


class AlertHistory(BaseModel):
    """An alert, and what happened to it."""

    alert: AlertPart
    events: Sequence[EventPart] = Field(description=f"The last {MOST_AT_ONCE:,}.")


class NotePart(BaseModel):
    """A note on the time axis of charts."""

    id: int
    at: str
    text: str
    host: str = Field(description="Empty where it concerns all.")
    who: str


class DeedPart(BaseModel):
    """Something that somebody did."""

    at: str
    who: str
    how: str = Field(description="By what they are known: password, proxy, token ci, command, no login.")
    what: str


class RecordQuery(RangeQuery, PageQuery):
    """Which part of the record."""

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

    who: str = Field(default=NOBODY, max_length=actions.LONGEST_NAME)
    note: str = Field(default="", max_length=actions.LONGEST_TEXT)


class NewSilence(Body):
    """A silence to begin."""

    rule: str = Field(max_length=actions.LONGEST_NAME, description="A pattern; * is any text.")
    host: str = Field(default="*", max_length=actions.LONGEST_NAME, description="A pattern.")
    instance: str = Field(default="*", max_length=actions.LONGEST_NAME, description="A pattern.")
    length: str = Field(max_length=40, description="For how long: 30m, 2h; at most 30 days.")
    start: str = Field(default="now", max_length=40, description="When it begins.")
    reason: str = Field(max_length=actions.LONGEST_TEXT)
    who: str = Field(default=NOBODY, max_length=actions.LONGEST_NAME)


class NewNote(Body):
    """A note to add."""

    text: str = Field(max_length=notes.LONGEST, description="Such as: deployed 4.2.")
    at: str = Field(default="now", max_length=40)
    host: str = Field(default="", max_length=notes.LONGEST, description="Empty: it concerns all.")
    who: str = Field(default=NOBODY, max_length=notes.LONGEST)
