"""An alert: a rule fires for a subject, a host is silent, a rule is flapping, or Plimsoll itself has a problem."""

import json
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from plimsoll.model.times import format_duration
from plimsoll.rules import crossings
from plimsoll.rules.schema.field_types import Healthy, Severity
from plimsoll.rules.schema.pack import Rule
from plimsoll.rules.schema.signal import Signal
from plimsoll.rules.subjects import Subject
from plimsoll.rules.wording import (
    describe_healthy,
    describe_reduction,
    is_sample,
    limit_text,
    name_reduction,
    should_text,
)

Key: TypeAlias = tuple[str, str, str | None]  # rule id, host and instance, both case-folded
IncidentKey: TypeAlias = tuple[str, str, str | None]  # host (case-folded), cause, and instance where each has its own
Kind = Literal["rule", "flapping", "host-silent", "all-silent", "plimsoll"]
Ended = Literal["recovered", "retired", "rule removed"]
_BY_INSTANCE = ("disk", "space")  # two disks of a host fail each by itself
_MEASURED_ON = "Measured on "


@dataclass(frozen=True, slots=True)
class Details:
    """The attributes of an alert that are shown but not searched; alerts.db stores them as JSON.

    Attributes:
        title: The title of the signal.
        cause: The resource that the signal measures; the rule's signal if it measures none.
        unit: The unit of the values.
        limit: The limit with its unit: `< 80 %`.
        should: The requirement: `should stay below 80 %`.
        reduced: How the value was computed: `1 min mean`.
        recovers: The values at which the alert ends, if the rule has a `recover` limit: `at most 75 %`.
        summary: What it means that the limit is crossed.
        note: What plimsoll.toml changes in the documented rule; for a silent host, why it is silent, if known.
        sources: The documents of the limit, each with the place in the document.
        look_at: The titles of the signals to look at next.
        processes: The processes that used most resources when the alert fired.
        usual: The values that are usual at the hour of the week at which it fired: `20 to 45 %`; empty if unknown.
    """

    title: str
    cause: str = ""
    unit: str = ""
    limit: str = ""
    should: str = ""
    reduced: str = ""
    recovers: str = ""
    summary: str = ""
    note: str = ""
    sources: tuple[str, ...] = ()
    look_at: tuple[str, ...] = ()
    processes: tuple[str, ...] = ()
    usual: str = ""

    def to_json(self) -> str:
        """Return the details as alerts.db stores them."""
        return json.dumps({name: value for name, value in asdict(self).items() if value}, ensure_ascii=False)

    @staticmethod
    @lru_cache(50_000)
    def from_json(text: str) -> "Details":
        """Parse the details of a row of alerts.db."""
        data: dict[str, Any] = json.loads(text)
        for name, value in data.items():
            data[name] = tuple(value) if isinstance(value, list) else value
        return Details(**data)


class Alert(NamedTuple):
    """A row of the alerts in alerts.db; docs/alerts-json.md explains the fields.

    Times are UTC ns; NaN means no value. The alert fires while `ended_at` is None. `since` is the first evaluation at
    which the condition was true. `firings` counts how often a flapping rule fired. `healthy` is the limit without its
    unit, such as `< 80`; empty if there is none.
    """

    id: int
    key: Key
    kind: Kind
    rule: str
    severity: Severity
    signal: str
    host: str
    instance: str | None
    since: int | None
    fired_at: int
    ended_at: int | None
    ended_how: Ended | None
    value: float
    healthy: str
    firings: int
    late: bool
    hold: bool
    hush: bool
    acked_at: int | None
    acked_by: str | None
    ack_note: str | None
    details: Details
    worst: float
    last: float
    stale: bool

    @property
    def firing(self) -> bool:
        """Whether the alert has not ended."""
        return self.ended_at is None

    @property
    def is_hint(self) -> bool:
        """Whether the alert only suggests its cause: a warning whose limit was measured on another machine."""
        return self.severity == "warning" and _MEASURED_ON in self.details.note

    @property
    def begin(self) -> int:
        """The time (UTC ns) from which the condition was true; when the alert fired if that is not known."""
        return self.fired_at if self.since is None else self.since

    @property
    def incident(self) -> IncidentKey:
        """The key of the alert's incident: the host, the cause, and the disk if the cause is a disk."""
        return _make_incident_key(self.details.cause or self.signal or self.rule, self.key)

    @property
    def place(self) -> str:
        """The host, and the instance if there is one: `SQLSRV01` or `SQLSRV01, 2 E:`."""
        return str(Subject(self.host, self.instance))


def find_incident_key(rule: Rule, signal: Signal, subject: Subject) -> IncidentKey:
    """Return the key of the incident to which an alert of this rule for this subject would belong."""
    return _make_incident_key(_find_cause(rule, signal), (rule.id, *subject.key))


def _make_incident_key(cause: str, key: Key) -> IncidentKey:
    return key[1], cause, key[2] if cause in _BY_INSTANCE else None


def _find_cause(rule: Rule, signal: Signal) -> str:
    return signal.resource or (signal.pressure.resource if signal.pressure else rule.signal)


COLUMNS = ", ".join(Alert._fields)  # what queries ask of the table `alerts` for `parse_alert`
_NUMBERS = [Alert._fields.index(name) for name in ("value", "worst", "last")]
_FLAGS = [Alert._fields.index(name) for name in ("late", "hold", "hush", "stale")]
_KEY, _DETAILS = Alert._fields.index("key"), Alert._fields.index("details")


def parse_alert(row: sqlite3.Row) -> Alert:
    """Return the alert in a row of a query for COLUMNS. Columns are read by position for speed."""
    values: list[Any] = [*row]
    values[_KEY], values[_DETAILS] = decode_key(values[_KEY]), Details.from_json(values[_DETAILS])
    for at in _NUMBERS:
        values[at] = math.nan if values[at] is None else values[at]
    for at in _FLAGS:
        values[at] = bool(values[at])
    return Alert._make(values)


def encode_key(key: Key) -> str:
    """Return the text that alerts.db stores for a key."""
    return json.dumps(key, ensure_ascii=False)


@lru_cache(100_000)
def decode_key(text: str) -> Key:
    """Parse a text that `encode_key` returned, and return its key."""
    rule, host, instance = json.loads(text)
    return rule, host, instance


def describe_alert(
    rule: Rule,
    healthy: Healthy,
    note: str,
    signals: Mapping[str, Signal],
    processes: tuple[str, ...] = (),
    covered: int | None = None,
) -> Details:
    """Return the details of an alert. `healthy` is the subject's limit; StateChange explains `note` and `covered`."""
    signal = signals[rule.signal]
    notes = [note] if note else []
    if rule.phase:
        notes.append(f"Documented for the {rule.phase} phase of a test; here it is judged at all times.")
    if rule.measured_on:
        notes.append(f"{_MEASURED_ON}{rule.measured_on}.")
    window = format_duration(rule.over) if rule.over else ""
    gained = f" gained in {window}" if rule.reduce == "increase" else ""
    reduced = describe_reduction(rule.reduce, window)
    if covered is not None:
        reduced = f"{name_reduction(rule.reduce)} of {f'up to {format_duration(covered)}' if covered else 'one sample'}"
    return Details(
        title=signal.title,
        cause=_find_cause(rule, signal),
        unit=signal.unit,
        limit=limit_text(healthy, signal.unit),
        should=f"{should_text(healthy, signal.unit)}{gained}",
        reduced="" if is_sample(rule.reduce, healthy) or not window else reduced,
        recovers=describe_healthy(rule.recover, signal.unit) if rule.recover and not rule.scale else "",
        summary=rule.summary,
        note=" ".join(notes),
        sources=tuple(f"{source.document}, {source.place}" for source in rule.sources),
        look_at=tuple(signals[name].title if name in signals else name for name in rule.look_at),
        processes=processes,
    )


_parsed = cache(Healthy.parse)


def is_healthy(healthy: str, value: float) -> bool:
    """Return whether a value is on the healthy side of a limit."""
    return bool(_parsed(healthy).holds(np.array([value]))[0])


def select_worst(healthy: str, *values: float) -> float:
    """Return the value closest to a limit, or furthest past it; NaN values are ignored."""
    return crossings.find_worst(_parsed(healthy), np.array(values))
